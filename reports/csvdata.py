"""The data of an audit's figures as CSV, one row a point, so that anyone can redraw them.

Columns: series, statement, title, the x axis's name, x, curve, bound, epsilon [-] (the float64
answer, rounded outward), and lower and upper [-], which enclose the exact value.
"""

from __future__ import annotations

import csv
import io

from reports.records import Audit, Series

SUFFIX = ".csv"
COLUMNS = (
    "series", "statement", "title", "x_name", "x", "curve", "bound", "epsilon", "lower", "upper",
)  # fmt: skip


def rows(series: Series) -> list[tuple[str, ...]]:
    """The rows of one figure, curve by curve."""
    return [
        (series.id, series.statement, series.title, series.x_name, x, curve.name, curve.bound,
         epsilon, lower, upper)
        for curve in series.curves
        for x, epsilon, lower, upper in zip(
            series.x, curve.epsilon, curve.lower, curve.upper, strict=True
        )
    ]  # fmt: skip


def render(audit: Audit) -> str:
    """Every figure of the audit in one table; a header alone where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for series in audit.series:
        writer.writerows([_inert(cell) for cell in row] for row in rows(series))
    return out.getvalue()


def _inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay as they are."""
    return f"'{cell}" if cell[:1] in "=+@\t\r" or (cell[:1] == "-" and not _number(cell)) else cell


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
