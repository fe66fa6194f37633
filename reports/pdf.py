"""A one-page PDF summary of an audit: the verdicts as one picture, and the findings that matter."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from reports import wording
from reports.records import Audit, StatementRecord

SUFFIX = ".pdf"
MARGIN = 16.0
SHADES = {
    "proved": (0, 114, 178), "certified": (86, 180, 233), "supported": (240, 228, 66),
    "refuted": (213, 94, 0), "definition": (190, 190, 190), "cited": (225, 225, 225),
    "open": (255, 255, 255),
}  # fmt: skip


def render(audit: Audit) -> bytes:
    """The page, A4. What does not fit is counted on its last line, never cut in silence."""
    from fpdf import FPDF

    page: Any = FPDF(format="A4", unit="mm")
    page.set_auto_page_break(False)
    page.set_margin(MARGIN)
    page.set_title("Audit summary")
    page.set_lang("en")
    # The fonts that matplotlib brings have the letters of mathematics.
    fonts = Path(str(resources.files("matplotlib"))) / "mpl-data" / "fonts" / "ttf"
    page.add_font("body", "", fonts / "DejaVuSans.ttf")
    page.add_font("body", "B", fonts / "DejaVuSans-Bold.ttf")
    # A fixed date: the same audit gives the same file.
    page.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))
    page.add_page()
    _head(page, audit)
    _bar(page, audit)
    _findings(page, wording.by_impact(audit.statements))
    return bytes(page.output())


def _write(page: Any, text: str, size: float, *, bold: bool = False, line: float = 1.3) -> None:
    page.set_font("body", "B" if bold else "", size)
    page.multi_cell(0, size * 0.3528 * line, text, new_x="LMARGIN", new_y="NEXT", align="L")


def _head(page: Any, audit: Audit) -> None:
    _write(page, "Differentially Private Learning Needs Hidden State: audit", 15, bold=True)
    told = f"Ye and Shokri (2022). Effort {audit.effort}, seed {audit.seed}"
    if not audit.complete:
        told += "; interrupted, only what was finished is here"
    if audit.only:
        told += f"; only {', '.join(audit.only[:8])}{' and others' * (len(audit.only) > 8)}"
    versions = ", ".join(f"{name} {number}" for name, number in audit.versions.items())
    _write(page, f"{told}. {versions}.", 7)
    page.ln(2)


def _bar(page: Any, audit: Audit) -> None:
    """Verdicts as one bar, each part labelled below, so that no colour is needed to read it."""
    counts = wording.counts(audit.statements)
    total = sum(counts.values())
    if not total:
        _write(page, "The audit holds no statement.", 9)
        return
    width = page.w - 2 * MARGIN
    x, y = MARGIN, page.get_y()
    page.set_line_width(0.25)
    page.set_draw_color(0)
    for name, number in counts.items():
        page.set_fill_color(*SHADES[name])
        page.rect(x, y, width * number / total, 7, style="DF")
        x += width * number / total
    page.set_y(y + 8.5)
    for name, number in counts.items():
        page.set_fill_color(*SHADES[name])
        page.rect(MARGIN, page.get_y() + 0.6, 3, 2.6, style="DF")
        page.set_x(MARGIN + 4.5)
        page.set_font("body", "B", 8)
        page.cell(28, 3.8, f"{name}  {number}")
        page.set_font("body", "", 8)
        page.cell(0, 3.8, wording.MEANING[name], new_x="LMARGIN", new_y="NEXT")
    rejected = wording.mutants(audit.statements)
    if rejected:
        page.ln(1)
        _write(page, rejected, 8)
    page.ln(2)


def _findings(page: Any, refuted: list[StatementRecord]) -> None:
    _write(page, "Refuted as printed, the gravest first", 10, bold=True)
    if not refuted:
        _write(page, "None.", 8)
    limit = page.h - MARGIN - 5
    groups = wording.together(refuted)
    for done, group in enumerate(groups):
        text = " ".join([wording.headline(group), *(
            f"{fix[0].upper()}{fix[1:]}." for fix in wording.corrections(group)[:1]
        )])  # fmt: skip
        page.set_font("body", "", 7)
        size = 7 * 0.3528 * 1.25
        height = page.multi_cell(0, size, text, align="L", dry_run=True, output="HEIGHT")
        if page.get_y() + height + 1 > limit:
            left = sum(map(len, groups[done:]))
            _write(page, f"{left} more are in the full report.", 7, bold=True)
            return
        page.multi_cell(0, size, text, align="L", new_x="LMARGIN", new_y="NEXT")
        page.ln(0.8)
