"""`hiddenstate bounds`."""

from __future__ import annotations

import click

from verify.cli.options import BY_JSON, closing, emit, fold, output_options

ABOUT = "the bounds"


@click.command("bounds", short_help="list the bounds there are")
@output_options("the names alone")
def command(as_json: bool, quiet: bool) -> None:
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
    if quiet:
        for item in registry().values():
            click.echo(item.name)
        return
    for item in registry().values():
        known = "" if item.statement == item.name else f"  ({item.statement})"
        standing = "" if item.standing in ("theorem", item.direction) else f", {item.standing}"
        click.secho(f"{item.name}{known}", bold=True)
        for line in (
            item.summary,
            f"{item.scheme}, {item.direction}{standing}; {item.source}",
            "assumes " + "; ".join(a.condition for a in item.assumptions),
        ):
            fold(line, "    ", "    ")
    closing(BY_JSON, "hiddenstate", "compare", "--help")
