"""`hiddenstate compare`."""

from __future__ import annotations

import textwrap
from typing import Any, Literal

import click

from verify.cli.options import emit, fail, read_delta, read_setting, setting_options


@click.command("compare", short_help="every bound at one setting")
@setting_options
@click.option("--delta", metavar="D", help="also convert each bound to epsilon at this delta")
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(delta: str | None, as_json: bool, **values: Any) -> None:
    """Evaluate every bound at one setting; those that do not apply say why."""
    from bounds.setting import InvalidInput
    from verify import comparison

    setting = read_setting(values)
    try:
        made = comparison.compare(setting, None if delta is None else read_delta(delta))
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
    if delta is not None:
        columns.append((f"at {delta}", "right"))
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
        lines += [_line(row, delta is not None, letters) for row in chosen]
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
    for warning in made.warnings:
        click.echo(textwrap.fill(f"note: {warning}", 80, subsequent_indent="      "))


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
