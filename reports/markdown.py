"""An audit as one Markdown page."""

from __future__ import annotations

import re
from decimal import Decimal
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from reports import wording
from reports.records import Audit, Series

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_ROWS = 12


def escape(text: object) -> str:
    """Text that Markdown and HTML will show as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split())).replace("&", "&amp;")


def rows(series: Series) -> list[list[str]]:
    """At most a dozen rows of a figure, rounded to five digits for reading."""
    step = max(1, -(-len(series.x) // _ROWS))
    kept = sorted({*range(0, len(series.x), step), len(series.x) - 1})
    return [[series.x[i], *(_short(curve.epsilon[i]) for curve in series.curves)] for i in kept]


def _short(value: str) -> str:
    return f"{Decimal(value):.5g}"


def render(audit: Audit) -> str:
    """The page."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=False, autoescape=False)
    environment.filters["md"] = escape
    environment.filters["cell"] = escape
    source = resources.files("reports").joinpath("templates/audit.md.j2").read_text("utf-8")
    context: dict[str, Any] = {
        "audit": audit,
        "counts": wording.counts(audit.statements),
        "meaning": wording.MEANING,
        "severity": wording.SEVERITY_MEANING,
        "refuted": wording.by_impact(audit.statements),
        "checked": [r for r in audit.statements if not wording.not_checked(r)],
        "unchecked": [r.id for r in audit.statements if wording.not_checked(r)],
        "mutants": wording.mutants(audit.statements),
        "rows": rows,
    }
    text = environment.from_string(source).render(context)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
