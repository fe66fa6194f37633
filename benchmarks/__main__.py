"""The command line of the benchmarks."""

from __future__ import annotations

import inspect
import os
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks import HEADER, Row, discovered
from bounds.setting import InvalidInput

WIDTHS = (26, 22, 12, 9, 7)
"""With a space between columns: 80."""


def lines(cells: tuple[str, ...], markdown: bool) -> Iterator[str]:
    """One row, as lines of the table."""
    if markdown:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
        return
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    for width in WIDTHS:
        table.add_column(width=width, justify="left", overflow="fold")
    table.add_row(*cells)
    console = Console(width=80, color_system=None, highlight=False, markup=False)
    with console.capture() as text:
        console.print(table)
    yield from (line.rstrip() for line in text.get().splitlines())


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME ...]")
@click.option("--quick", is_flag=True, help="Small sizes and few rounds, to see that it runs.")
@click.option("--markdown", is_flag=True, help="The table that the README shows.")
@click.option(
    "--audit", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Read the times of this audit.json in place of running one.",
)  # fmt: skip
def main(names: tuple[str, ...], quick: bool, markdown: bool, audit: Path | None) -> None:
    """Run all benchmarks, or those named, and print a row as soon as it is measured.

    Exit status: 0 done; 1 answers disagree with a baseline; 2 the request was wrong; 3 interrupted.
    """
    found = discovered()
    unknown = [name for name in names if name not in found]
    if unknown:
        click.echo(
            f"there is no benchmark called {unknown[0]!r}; there are: {', '.join(found)}", err=True
        )
        sys.exit(2)
    start, rows = time.perf_counter(), 0
    missed, wrong = 0, 0
    try:
        for name in names or found:
            module = found[name]
            if markdown:
                click.echo(f"### {name}\n\n{module.BENCHMARK}\n")
            else:
                click.echo(textwrap.fill(f"{name}: {module.BENCHMARK}", 80))
            for line in lines(HEADER, markdown):
                click.echo(line)
            if markdown:
                click.echo("|---|---|---:|---:|---|")
            # An option is for the benchmarks that take it.
            wanted = inspect.signature(module.measure).parameters
            more = {"audit": audit} if "audit" in wanted else {}
            row: Row
            for row in module.measure(quick, **more):
                for line in lines(row.cells(), markdown):
                    click.echo(line)
                rows, missed = rows + 1, missed + (row.reached == "no")
                wrong += bool(row.disagreement)
            click.echo()
    except InvalidInput as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo(f"interrupted; {rows} rows were finished", err=True)
        sys.exit(3)
    click.echo(
        f"{rows} rows in {time.perf_counter() - start:.0f} s on {os.cpu_count()} cores; "
        f"{missed} aims missed, {wrong} disagreements",
        err=True,
    )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
