"""An audit as one Markdown page."""

from __future__ import annotations

import re
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from reports import jsonfile, plots, wording
from reports.records import Audit, Curve, Evidence, Series, StatementRecord

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
SUFFIX = ".md"
_ROWS = 12
FIGURES = "figures"


def escape(text: object) -> str:
    """Text that Markdown and HTML will show as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split())).replace("&", "&amp;")


def rows(series: Series) -> list[list[str]]:
    """At most a dozen rows of a figure, rounded to five digits for reading."""
    step = max(1, -(-len(series.x) // _ROWS))
    kept = sorted({*range(0, len(series.x), step), len(series.x) - 1})
    return [[_short(series.x[i]), *(_cell(curve, i) for curve in series.curves)] for i in kept]


def _cell(curve: Curve, at: int) -> str:
    return escape(curve.labels[at]) if curve.labels else _short(curve.epsilon[at])


def _short(value: str) -> str:
    return f"{Decimal(value):.5g}"


def found(item: Evidence) -> str:
    """What a piece of evidence found, link by link where it has links."""
    if not item.links:
        return escape(item.detail)
    return "<br>".join(
        f"{number}. {escape(link.reason)} ({escape(', '.join(filter(None, told)))})"
        for number, link in enumerate(item.links, 1)
        for told in [(link.relation, link.outcome, link.strength)]
    )


def _rests(group: list[StatementRecord]) -> list[str]:
    """What rests on any of a group, and is not of it."""
    own = {record.id for record in group}
    return [name for name in dict.fromkeys(i for r in group for i in r.impact) if name not in own]


def write(audit: Audit, path: Path) -> list[Path]:
    """Write the page and, in a folder `figures` beside it, the figures that it shows.

    Raises:
        OSError: a file cannot be written.
    """
    folder = path.parent / FIGURES
    made = [path]
    for series in audit.series:
        made.append(folder / f"{series.id}.svg")
        jsonfile.write_text(made[-1], plots.svg(series) + "\n")
    jsonfile.write_text(path, render(audit))
    return made


def render(audit: Audit) -> str:
    """The page; its figures are files of the folder `figures` beside it, which `write` makes."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=False, autoescape=False)
    environment.filters["md"] = escape
    environment.filters["cell"] = escape
    environment.filters |= {
        "title": wording.title, "finding": wording.finding, "corrections": wording.corrections,
    }  # fmt: skip
    source = resources.files("reports").joinpath("templates/audit.md.j2").read_text("utf-8")
    context: dict[str, Any] = {
        "audit": audit,
        "counts": wording.counts(audit.statements),
        "meaning": wording.MEANING,
        "severity": wording.SEVERITY_MEANING,
        "groups": wording.together(wording.by_impact(audit.statements)),
        "rests": _rests,
        "letters": wording.LETTERS,
        "checked": [r for r in audit.statements if not wording.not_checked(r)],
        "unchecked": [r.id for r in audit.statements if wording.not_checked(r)],
        "mutants": wording.mutants(audit.statements),
        "rows": rows,
        "found": found,
        "figures": wording.figures(audit),
        "again": wording.again,
        "folder": FIGURES,
    }
    text = environment.from_string(source).render(context)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
