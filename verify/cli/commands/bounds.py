"""`hiddenstate bounds`."""

from __future__ import annotations

import textwrap

import click

from verify.cli.options import emit

ABOUT = "the bounds"


@click.command("bounds", short_help="list the bounds there are")
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(as_json: bool) -> None:
    """List the bounds: name, statement, source, direction, assumptions."""
    from bounds.bound import registry

    made = [
        {
            "name": item.name,
            "statement": item.statement,
            "source": str(item.source),
            "direction": item.direction,
            "quantity": item.quantity,
            "standing": item.standing,
            "scheme": item.scheme,
            "assumptions": [{"label": a.label, "condition": a.condition} for a in item.assumptions],
            "needs": list(item.needs),
            "summary": item.summary,
        }
        for item in registry().values()
    ]
    if as_json:
        emit(made)
        return
    for item in registry().values():
        known = "" if item.statement == item.name else f"  ({item.statement})"
        standing = "" if item.standing == "theorem" else f", {item.standing}"
        click.secho(f"{item.name}{known}", bold=True)
        for line in (
            item.summary,
            f"{item.scheme}, {item.direction}{standing}; {item.source}",
            "assumes " + "; ".join(a.condition for a in item.assumptions),
        ):
            click.echo(textwrap.fill(line, 80, initial_indent="    ", subsequent_indent="    "))
    click.echo("`hiddenstate bound NAME --help` lists the setting flags; --json says all.")
