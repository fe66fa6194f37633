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
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

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
    out = console(file)
    if out.is_terminal:
        out.print(made)
        return
    with out.capture() as shown:
        out.print(made)
    out.file.write("".join(f"{line.rstrip()}\n" for line in shown.get().splitlines()))


class Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.3g}/s", justify="right")


def progress(file: IO[str] | None = None) -> Progress:
    """A progress bar on standard error, with the rate and the time left, within 80 columns."""
    stream = file if file is not None else sys.stderr
    name = Column(width=22, no_wrap=True, overflow="ellipsis")
    return Progress(
        TextColumn("{task.description}", table_column=name), BarColumn(bar_width=10),
        MofNCompleteColumn(), Rate(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
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
            said = "not checked in this run"
            if unchecked < number:
                said = f"{unchecked} {said}; the others say what was tried"
        rows.append([name, str(number), said])
        styles.append(STYLE[name])
    table([("verdict", "left"), ("statements", "right"), ("meaning", "left")], rows, file, styles)
    rejected = wording.mutants(audit.statements)
    if rejected:
        out.print(_fold(rejected, "", ""))
    refuted = wording.by_impact(audit.statements)
    if refuted:
        out.print("Refuted as printed:", style="bold")
        for group in wording.together(refuted):
            out.print(_fold(wording.headline(group), "  ", "    "), style=STYLE["refuted"])
            for fix in wording.corrections(group):
                out.print(_fold(fix, "    ", "      "))
    errors = [
        (record.id, item) for record in audit.statements for item in record.evidence
        if item.outcome == "error"
    ]  # fmt: skip
    for name, item in errors:
        out.print(_fold(f"{name}: {item.check}: {item.detail}", "  ", "    "), style="magenta")


def _fold(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest)


def plain(value: Any, digits: int = 6) -> str:
    """A float for a table; None is a value that no double holds."""
    if value is None:
        return "> 1e308"
    return f"{float(value):.{digits}g}"
