"""Tables and summaries for the terminal: 80 columns, colour only where there is a terminal."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import IO, Any, Literal

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from reports import wording
from reports.records import Audit

Justify = Literal["left", "right"]
WIDTH = 80
STYLE = {
    "proved": "green", "certified": "green", "supported": "yellow", "refuted": "bold red",
    "definition": "cyan", "cited": "cyan", "open": "dim",
}  # fmt: skip


def console(file: IO[str] | None = None) -> Console:
    """A console no wider than 80 columns when the output is not a terminal."""
    stream = file if file is not None else sys.stdout
    wide = None if stream.isatty() else WIDTH
    return Console(file=stream, width=wide, highlight=False, soft_wrap=False, emoji=False,
                   markup=False)  # fmt: skip


def table(
    columns: Sequence[tuple[str, Justify]],
    rows: Iterable[Sequence[str]],
    file: IO[str] | None = None,
    styles: Sequence[str] | None = None,
) -> None:
    """Print a table; `columns` holds names and justifications."""  # fmt: skip
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for index, (name, justify) in enumerate(columns):
        made.add_column(name, justify=justify, overflow="fold", no_wrap=index < len(columns) - 1)
    for index, row in enumerate(rows):
        made.add_row(*row, style=styles[index] if styles else None)
    console(file).print(made)


def progress(file: IO[str] | None = None) -> Progress:
    """A progress bar on standard error, with rate of progress and time left."""
    stream = file if file is not None else sys.stderr
    return Progress(
        TextColumn("{task.description:<24}"), BarColumn(bar_width=20), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=Console(file=stream), disable=not stream.isatty(),
    )  # fmt: skip


def summary(audit: Audit, file: IO[str] | None = None) -> None:
    """How many statements stand at each verdict, then the refuted ones in a sentence each."""
    out = console(file)
    tally = wording.counts(audit.statements)
    unchecked = sum(wording.not_checked(record) for record in audit.statements)
    rows: list[list[str]] = []
    styles = []
    for name, number in tally.items():
        said = wording.MEANING[name]
        if name == "open" and unchecked:
            said = f"{unchecked} of these have no checks yet; the others say what was tried"
        rows.append([name, str(number), said])
        styles.append(STYLE[name])
    table([("verdict", "left"), ("statements", "right"), ("meaning", "left")], rows, file, styles)
    rejected = wording.mutants(audit.statements)
    if rejected:
        out.print(_fold(rejected, "", ""))
    refuted = wording.by_impact(audit.statements)
    if refuted:
        out.print("Refuted as printed:", style="bold")
        for record in refuted:
            out.print(_fold(wording.headline(record), "  ", "    "), style=STYLE["refuted"])
            fix = wording.correction(record)
            if fix:
                out.print(_fold(f"correction: {fix}", "    ", "      "))
    errors = [
        (record.id, item) for record in audit.statements for item in record.evidence
        if item.outcome == "error"
    ]  # fmt: skip
    for name, item in errors:
        out.print(_fold(f"{name}: {item.check}: {item.detail}", "  ", "    "), style="magenta")


def _fold(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest)


def plain(value: Any, digits: int = 6) -> str:
    """A float for a table."""
    return f"{float(value):.{digits}g}"
