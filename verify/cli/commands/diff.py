"""`hiddenstate diff`."""

from __future__ import annotations

from pathlib import Path

import click

from verify.cli.options import emit, fail


@click.command("diff", short_help="which verdicts changed between two audits")
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(old: str, new: str, as_json: bool) -> None:
    """Show which verdicts changed between two audits; status 1 when any did."""
    from reports import jsonfile

    try:
        audits = [jsonfile.read(Path(name)) for name in (old, new)]
    except jsonfile.NotAnAudit as error:
        fail(str(error))
    before, after = ({s.id: s for s in audit.statements} for audit in audits)
    changed = []
    for name in sorted({*before, *after}):
        pair = [
            None if name not in side else (side[name].verdict, side[name].severity)
            for side in (before, after)
        ]
        if pair[0] != pair[1]:
            changed.append({"id": name, "old": _worded(pair[0]), "new": _worded(pair[1])})
    if as_json:
        emit(changed)
    else:
        for item in changed:
            click.echo(f"{item['id']}: {item['old']} -> {item['new']}")
        click.echo(f"{len(changed)} verdicts changed between {old} and {new}")
    raise SystemExit(1 if changed else 0)


def _worded(found: tuple[str, str | None] | None) -> str:
    if found is None:
        return "absent"
    return found[0] if found[1] is None else f"{found[0]} ({found[1]})"
