"""`hiddenstate compare`."""

from __future__ import annotations

from typing import Any, Literal

import click

from verify.cli.options import (
    BY_JSON,
    brief,
    closing,
    conversion_options,
    emit,
    fail,
    fold,
    given,
    output_options,
    read_run,
    setting_options,
)

ABOUT = "the bounds"


@click.command("compare", short_help="every bound at one setting")
@setting_options
@conversion_options
@output_options("the table alone")
def command(as_json: bool, quiet: bool, **values: Any) -> None:
    """Evaluate every bound at one setting; those that do not apply say why.

    With --delta each bound is also converted to epsilon there, and --alpha may be left out.
    """
    from bounds.setting import InvalidInput, show

    run = read_run(values)
    from verify import comparison

    try:
        made = comparison.compare_run(run)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(made.as_json())
        return
    from reports import terminal

    columns: list[tuple[str, Literal["left", "right"]]] = [
        ("bound", "left"),
        ("epsilon", "right"),
        ("/best", "right"),
        ("/exact", "right"),
    ]
    if run.delta is not None:
        columns.append((f"at {brief(run.delta)}", "right"))
    columns.append(("needs", "left"))
    blank = [""] * (len(columns) - 1)
    lines: list[list[str]] = []
    styles: list[str] = []
    letters: dict[str, str] = {}
    applicable = [row for row in made.rows if row.answer.applicable]
    for scheme in dict.fromkeys(row.bound.scheme for row in applicable):
        chosen = [row for row in applicable if row.bound.scheme == scheme]
        chosen.sort(key=lambda row: float(row.answer.epsilon or 0))
        lines.append([scheme.upper(), *blank])
        lines += [_line(row, run.delta is not None, letters) for row in chosen]
        styles += ["bold", *[""] * len(chosen)]
    terminal.table(columns, lines, styles=styles)
    if quiet:
        return
    legend = "; ".join(f"{letter}: {condition}" for condition, letter in letters.items())
    fold(f"needs {legend}")
    others = [row for row in made.rows if not row.answer.applicable]
    if others:
        click.echo("NOT APPLICABLE")
    for row in others:
        fold(f"{row.bound.name}: {row.answer.reason}", "  ", "    ")
    if made.exact is not None:
        truth = terminal.plain(made.exact.value)
        click.echo(f"exact, fixed order: {truth}. /exact: over the slowest quadratic, same scheme;")
        click.echo("/best: over the least proved bound there. (?) claimed only; (~) an estimate.")
    if made.order_from is not None:
        order = show(made.setting.alpha)
        fold(f"epsilon is at order {order}, the best of {made.order_from} for the conversion")
    if run.delta is not None:
        fold(_how(run))
    if made.answer is not None:
        found = made.answer.converted
        fold(
            f"this run ({run.title}): epsilon = {terminal.plain(found.epsilon)} at delta = "
            f"{brief(run.delta)}, by {found.bound} at order {show(found.order)}"
        )
    for said in made.warnings:
        fold(f"{'note' if said in made.remarks else 'warning'}: {said}")
    again = given()
    if made.order_from is not None:
        again = [*given(but=("alpha",)), "--alpha", show(made.setting.alpha)]
    closing(BY_JSON, "hiddenstate", "bound", _least(made), *again)


def _least(made: Any) -> str:
    """The bound that answers for the run's scheme, else the least theorem that applies."""
    if made.answer is not None:
        return str(made.answer.converted.bound)
    there = [row for row in made.rows if row.answer.applicable]
    proved = [row for row in there if row.bound.standing == "theorem"]
    return str(min(proved or there, key=lambda row: float(row.answer.epsilon or 0)).bound.name)


def _how(run: Any) -> str:
    """How the last column was converted."""
    which = "over all real orders" if run.orders is None else f"over {len(run.orders)} orders"
    if run.extra is not None and run.orders is None and "curve" in run.normalisation:
        which = "over the orders of [normalisation]"
    more = "; the Renyi curve of [normalisation] is added" if run.extra is not None else ""
    return f"at {brief(run.delta)}: by the rule {run.rule}, {which}{more}"


def _line(row: Any, with_delta: bool, letters: dict[str, str]) -> list[str]:
    """One row; assumptions are letters, which `letters` explains and grows by."""
    from reports import terminal

    def ratio(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    mark = {"claim": " (?)", "estimate": " (~)"}.get(row.bound.standing, "")
    line = [
        row.bound.name + mark, terminal.plain(row.answer.epsilon), ratio(row.ratio_to_best),
        ratio(row.ratio_to_exact),
    ]  # fmt: skip
    if with_delta:
        line.append("" if row.converted is None else terminal.plain(row.converted.epsilon))
    for condition in row.assumes:
        letters.setdefault(condition, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)])
    return [*line, " ".join(letters[condition] for condition in row.assumes)]
