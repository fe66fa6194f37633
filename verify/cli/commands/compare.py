"""`hiddenstate compare`."""

from __future__ import annotations

import textwrap
from typing import Any, Literal

import click

from verify.cli.options import brief, conversion_options, emit, fail, read_run, setting_options

ABOUT = "the bounds"


@click.command("compare", short_help="every bound at one setting")
@setting_options
@conversion_options
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(as_json: bool, **values: Any) -> None:
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
    others = [row for row in made.rows if not row.answer.applicable]
    lines += [["NOT APPLICABLE", *blank]] * bool(others)
    lines += [[row.bound.name, *blank[:-1], "(below)"] for row in others]
    styles += ["bold"] * bool(others) + ["dim"] * len(others)
    terminal.table(columns, lines, styles=styles)
    legend = "; ".join(f"{letter}: {condition}" for condition, letter in letters.items())
    click.echo(textwrap.fill(f"assumes {legend}", 80, subsequent_indent="  "))
    for row in others:
        text = f"{row.bound.name}: {row.answer.reason}"
        click.echo(textwrap.fill(text, 80, subsequent_indent="  "))
    if made.exact is not None:
        truth = terminal.plain(made.exact.value)
        click.echo(f"exact, fixed order: {truth}. /exact: over the slowest quadratic, same scheme;")
        click.echo("/best: over the least proved bound there. (?) claimed only; (~) an estimate.")
    if made.order_from is not None:
        order = show(made.setting.alpha)
        text = f"epsilon is at order {order}, the best of {made.order_from} for the conversion"
        click.echo(textwrap.fill(text, 80, subsequent_indent="  "))
    if run.delta is not None:
        click.echo(textwrap.fill(_how(run), 80, subsequent_indent="  "))
    if made.answer is not None:
        found = made.answer.converted
        text = (
            f"this run ({run.title}): epsilon = {terminal.plain(found.epsilon)} at delta = "
            f"{brief(run.delta)}, by {found.bound} at order {show(found.order)}"
        )
        click.echo(textwrap.fill(text, 80, subsequent_indent="  "))
    for said in made.warnings:
        word = "note" if said in made.remarks else "warning"
        click.echo(textwrap.fill(f"{word}: {said}", 80, subsequent_indent="  "))


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
