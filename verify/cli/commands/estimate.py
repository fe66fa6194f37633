"""`hiddenstate estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from verify.choices import SIMULATED
from verify.cli.options import (
    BY_JSON,
    closing,
    emit,
    fail,
    fold,
    given,
    output_options,
    read_setting,
    setting_options,
)

ABOUT = "what a run does"


@click.command("estimate", short_help="simulate, beside exact values and bounds")
@setting_options
@click.option("--scheme", required=True, type=click.Choice(SIMULATED), help="how batches are drawn")
@click.option("--paths", type=click.IntRange(100), default=200_000, show_default=True,
              help="runs simulated on each of the two data sets")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="parallel workers")
@click.option("--figure", metavar="FILE.svg",
              help="also draw the divergence against epochs, with bands")  # fmt: skip
@output_options("the table alone, and no progress")
def command(
    scheme: str,
    paths: int,
    seed: int,
    jobs: int | None,
    figure: str | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Simulate noisy SGD on a 1-D quadratic and estimate the Renyi divergence of its last iterate.

    The table sets each estimator's interval beside the exact value and every bound that applies.
    """
    import os

    from bounds.setting import InvalidInput
    from empirical.experiments import estimate as run
    from reports import terminal
    from verify import comparison

    setting = read_setting(values)
    workers = jobs or os.cpu_count() or 1
    drawn = ""
    try:
        with terminal.progress() as bar:
            task = bar.add_task("simulating", total=paths, visible=not quiet)
            found = run(
                setting, scheme, paths, seed, workers=workers,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
            if figure is not None and not found.interrupted:
                drawn = _draw_epochs(setting, found, workers, Path(figure), bar)
        rows = comparison.about(setting, found.scheme.title)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(found.as_json([comparison.row_json(row) for row in rows]))
    else:
        _show_estimate(found, rows, quiet)
        if not quiet:
            closing(f"{BY_JSON}{drawn and f', and {drawn}'}", "hiddenstate", "compare", *given())
    raise SystemExit(3 if found.interrupted else 0)


MOST_POINTS = 10


def _draw_epochs(setting: Any, found: Any, workers: int, path: Path, bar: Any) -> str:
    """Estimate at up to ten numbers of epochs and draw them; says where the figure is.

    found: the estimate at the last of them, which is not simulated again.
    """
    from bounds.setting import InvalidInput
    from empirical.experiments import estimate as run
    from reports import figures
    from verify import comparison

    last = setting.epochs
    ratio = last ** (1 / (MOST_POINTS - 1))
    grid = sorted({*(round(ratio**i) for i in range(MOST_POINTS)), last})
    if last <= MOST_POINTS:
        grid = list(range(1, last + 1))
    task = bar.add_task("epochs", total=len(grid))
    results, rows = [], []
    for epochs in grid:
        there = setting.replace(epochs=epochs)
        results.append(
            found if epochs == last
            else run(there, found.scheme, found.paths, found.seed, workers=workers)
        )  # fmt: skip
        about = comparison.about(there, results[-1].scheme.title)
        rows.append({row.bound.name: row for row in about})
        bar.advance(task)
    lines = [figures.Line("exact", tuple(
        None if result.exact is None else result.exact.value for result in results
    ))]  # fmt: skip
    lines += [
        figures.Line(name, tuple(
            row[name].answer.epsilon if name in row else None for row in rows
        ))
        for name in rows[-1]
    ]  # fmt: skip
    kept = ("tilted-mixture", "gaussian-moments", "events")
    bands = []
    for name in kept:
        found = [next(e for e in result.estimates if e.estimator == name) for result in results]
        if any(item.lower is not None for item in found):
            bands.append(figures.Band(
                name, tuple(item.lower for item in found), tuple(item.upper for item in found)
            ))  # fmt: skip
    title = f"{results[-1].scheme.title}, order {setting.as_strings()['alpha']}"
    made = figures.Figure(
        title, "epochs", "Renyi divergence", tuple(grid), tuple(lines), tuple(bands)
    )
    try:
        figures.save(made, path)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the figure cannot be written: {error}") from None
    return str(path)


def _show_estimate(found: Any, rows: Any, quiet: bool) -> None:
    from reports import terminal

    letters: dict[str, str] = {}

    def noted(text: str) -> str:
        """The letter that stands for a remark."""
        return letters.setdefault(text, "abcdefghijklmnopqrstuvwxyz"[len(letters)])

    def number(value: float | None) -> str:
        return "" if value is None else terminal.plain(value)

    columns: list[tuple[str, Literal["left", "right"]]] = [
        ("estimator", "left"), ("value", "right"), ("lower", "right"), ("upper", "right"),
        ("note", "left"),
    ]  # fmt: skip
    lines = [
        [item.estimator, number(item.value), number(item.lower), number(item.upper),
         noted(f"undecided: {item.undecided}" if item.undecided else item.void)]
        for item in found.estimates
    ]  # fmt: skip
    if found.exact is not None:
        ends = (float(found.exact.lower), float(found.exact.upper))
        lines.append(["EXACT", number(found.exact.value), *map(number, ends),
                      noted(found.exact.method)])  # fmt: skip
    lines += [[row.bound.name, number(row.answer.epsilon), "", "", "bound"] for row in rows]
    terminal.table(columns, lines)
    if quiet:
        return
    for text, letter in letters.items():
        fold(f"{letter}: {text}", rest="   ")
    level = found.estimates[0].confidence if found.estimates else ""
    fold(f"{found.scheme.title}: {found.problem}")
    click.echo(f"{found.paths} paths a side, seed {found.seed}, each interval at {level}.")
    if found.unknown and found.exact is None:
        fold(f"no exact value: {found.unknown}")
    if found.interrupted:
        click.echo("Interrupted; the finished paths are used.")
