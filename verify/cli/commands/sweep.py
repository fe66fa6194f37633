"""`hiddenstate sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from verify.cli.options import closing, emit, fail, fold, output_options

ABOUT = "what a run does"


@click.command("sweep", short_help="bounds, exact values and claims over many settings")
@click.argument("grid", metavar="GRID.toml")
@click.option("--jobs", type=click.IntRange(1, 256), default=None,
              help="parallel processes on this machine  [default: one a core]")  # fmt: skip
@click.option("--dask", "address", metavar="ADDRESS", help="a Dask scheduler, in place of --jobs")
@click.option("--out", metavar="FILE", help="[default: GRID.parquet in this folder]")
@output_options("no progress and no summary")
def command(
    grid: str, jobs: int | None, address: str | None, out: str | None, quiet: bool, as_json: bool
) -> None:
    """Evaluate bounds, exact values, estimates or claims over a grid or a random design.

    \b
    GRID.toml, in short:
      [setting]            what all points share, by the names of the flags
      n = 50
      [grid]               every combination; or [random]
      alpha = [2, 8, 32]
      epochs = { from = 1, to = 1000, points = 7, scale = "log" }
      [random]
      points = 1000000
      seed = 1
      sigma2 = { log-uniform = [0.01, 100] }
      eta = { uniform = [0.001, 0.1] }
      n = { integers = [10, 1000] }
      [evaluate]
      bounds = ["thm-3.3", "thm-4.2"]          # or "all"
      exact = ["shuffle-once"]                 # or true
      optimal = true
      estimate = { scheme = "shuffle-once", paths = 20000 }
      claims = ["thm-4.2 <= composition", "exact <= 0.5 * thm-3.3"]

    Results go to FILE as they are made. The same command goes on after an interrupt, and gives the
    same bytes whatever the number of workers. Exit status 1: a claim fails, or is undecided,
    somewhere.
    """
    import os

    from bounds.setting import InvalidInput
    from reports import terminal
    from verify.sweep import grid as grids
    from verify.sweep import run as runner
    from verify.sweep.store import Store
    from verify.sweep.summary import summarise

    if address is not None and jobs is not None:
        fail("--jobs and --dask both say who works; give one")
    target = Path(out) if out is not None else Path(Path(grid).stem + ".parquet")
    try:
        sweep = grids.load(grid)
        store = Store(target, sweep)
        complete = store.finished()
        if not complete:
            begun = store.begun()
            made = runner.plan(sweep)
            with runner.Workers(jobs or os.cpu_count() or 1, address) as workers:
                runner.refuse(made, workers.jobs, target)
                if not quiet:
                    click.echo(runner.describe(made, workers.jobs), err=True)
                    if begun is not None:
                        click.echo(f"going on with {store.folder}", err=True)
                with terminal.progress() as bar:
                    shown = bar.add_task("sweeping", total=sweep.count, visible=not quiet)
                    complete = runner.run(
                        store, begun or made.part(), workers, _progress(bar, shown)
                    )
        elif not quiet:
            click.echo(f"{target} is finished", err=True)
        if not complete:
            click.echo(
                f"hiddenstate: interrupted; what was finished is in {store.folder}, and the same "
                "command goes on", err=True,
            )  # fmt: skip
            raise SystemExit(3)
        found = summarise(store)
        if as_json:
            emit({"file": str(target), **found.as_json()})
        elif not quiet:
            _show(found)
            closing(str(target), "hiddenstate", "compare", *_worth_a_look(found))
    except InvalidInput as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or target} cannot be written: {error.strerror}")
    raise SystemExit(0 if found.good else 1)


def _progress(bar: Any, shown: Any) -> Any:
    """Progress, with the rate of this run alone where it goes on with another."""
    begun = False

    def report(done: int, total: int) -> None:
        nonlocal begun
        if begun:
            bar.update(shown, completed=done, total=total)
        else:
            bar.reset(shown, completed=done, total=total)
            begun = True

    return report


def _worth_a_look(found: Any) -> list[str]:
    """The flags of a point: the first that breaks a claim, or the largest ratio, or the first."""
    places = [item.first for item in found.claims if item.counts["fails"]]
    places += [item.worst.index for item in found.ratios if item.worst.index >= 0]
    values = {**found.as_json()["shared"], **found.where((places or [0])[0])}
    return [
        word for name, value in values.items()
        for word in (f"--{name.rstrip('_').replace('_', '-')}", value)
    ]  # fmt: skip


def _show(found: Any) -> None:
    from reports import terminal

    columns: list[tuple[str, Literal["left", "right"]]]
    click.echo(f"{found.points} points; {', '.join(found.sweep.varied)} vary.")
    rows = [
        [name, str(count), "; ".join(f"{n} {word}" for word, n in reasons.items())]
        for name, count in found.values.items()
        for reasons in [found.reasons.get(name, {})]
    ]  # fmt: skip
    terminal.table([("evaluated", "left"), ("values", "right"), ("not where", "left")], rows)
    ratios = [item for item in found.ratios if item.worst.index >= 0]
    if ratios:
        columns = [("largest ratio of", "left"), ("to", "left"), ("is", "right"), ("at", "left")]
        terminal.table(columns, [
            [item.bound, item.against, terminal.plain(item.worst.value, 4),
             _at(found.where(item.worst.index))]
            for item in ratios
        ])  # fmt: skip
    if found.wins:
        columns = [("least of its scheme", "left"), ("points", "right"), ("within", "left")]
        rows = []
        for scheme in dict.fromkeys(item.scheme for item in found.wins):
            of = [item for item in found.wins if item.scheme == scheme]
            rows += [
                [item.bound, str(item.points), "; ".join(
                    f"{name} {low:.4g} to {high:.4g}" for name, (low, high) in item.ranges.items()
                )]
                for item in sorted(of, key=lambda item: -item.points)
            ]  # fmt: skip
            if found.ties[scheme]:
                rows.append([f"(several, {scheme})", str(found.ties[scheme]), ""])
        terminal.table(columns, rows)
    for item in found.claims:
        _show_claim(found, item)
    if found.first_error is not None:
        index, said = found.first_error
        text = f"{found.errors} points have an error; the first is {index}: {said}"
        fold(text)


def _show_claim(found: Any, item: Any) -> None:
    counts = "; ".join(f"{word} at {n}" for word, n in item.counts.items() if n)
    fold(f"claim {item.claim.text}: {counts}")
    marks = [("first fails at", item.first), ("fails most at", item.worst.index)]
    if item.first == item.worst.index:
        del marks[1:]
    for words, index in marks:
        if index < 0:
            continue
        there = found.failure(item, index)
        sides = ", ".join(
            f"{word} in [{there[word]['lower']}, {there[word]['upper']}]"
            for word in ("left", "right") if word in there
        )  # fmt: skip
        text = f"{words} point {index} ({_at(there['at'])}): {sides}"
        fold(text, "  ", "    ")
    if item.undecided >= 0:
        text = f"first undecided at point {item.undecided} ({_at(found.where(item.undecided))})"
        fold(text, "  ", "    ")
    if item.closest.index >= 0 and not item.counts["fails"]:
        text = (
            f"the sides come nearest at point {item.closest.index} "
            f"({_at(found.where(item.closest.index))}): ratio {item.closest.value:.6g}"
        )
        fold(text, "  ", "    ")


def _at(values: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
