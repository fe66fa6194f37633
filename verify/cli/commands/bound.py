"""`hiddenstate bound`."""

from __future__ import annotations

from typing import Any

import click

from verify.cli.options import (
    BY_JSON,
    closing,
    complete_bound,
    emit,
    fail,
    fold,
    given,
    output_options,
    read_setting,
    setting_options,
)

ABOUT = "the bounds"


@click.command("bound", short_help="one bound at one setting, with its enclosure")
@click.argument("name", shell_complete=complete_bound)
@setting_options
@output_options("the number alone")
def command(name: str, as_json: bool, quiet: bool, **values: Any) -> None:
    """Evaluate one bound at one setting; NAME is a bound or a statement id (thm-4.2)."""
    from bounds.bound import find
    from bounds.setting import InvalidInput

    setting = read_setting(values)
    try:
        made = find(name)
        answer = made.answer(setting)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(answer.as_json())
    if not answer.applicable:
        fail(f"{made.name} does not apply: {answer.reason}")
    if as_json:
        return
    shown = "beyond double precision" if answer.epsilon is None else f"{answer.epsilon:.17g}"
    if quiet:
        click.echo(answer.upper if answer.epsilon is None else shown)
        return
    kind = "log-Sobolev constant" if made.quantity == "lsi-constant" else "epsilon"
    fold(f"{made.name}: {made.source}")
    click.echo(f"  {kind} = {shown}  ({made.direction}, rounded outward)")
    click.echo(f"  enclosed in [{answer.lower},")
    click.echo(f"               {answer.upper}]")
    for remark in answer.notes:
        fold(f"note: {remark}", "  ", "    ")
    closing(BY_JSON, "hiddenstate", "compare", *given())
