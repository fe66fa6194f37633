"""`hiddenstate diff`."""

from __future__ import annotations

from pathlib import Path

import click

from verify.cli.options import BY_JSON, closing, emit, fail, fold, output_options

ABOUT = "the paper"


@click.command("diff", short_help="which verdicts changed between two audits")
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@click.option("--markdown", "as_markdown", is_flag=True, help="as a table for a pull request")
@output_options("the changes alone, without the checks behind them")
def command(old: str, new: str, as_markdown: bool, as_json: bool, quiet: bool) -> None:
    """Show which verdicts changed between two audits, and the checks behind it.

    Exit status 1 when any did.
    """
    from reports import difference, jsonfile

    try:
        before, after = (jsonfile.read(Path(name)) for name in (old, new))
    except jsonfile.NotAnAudit as error:
        fail(str(error))
    found = difference.changes(before, after)
    if as_json:
        emit([change.as_json() for change in found])
    elif as_markdown:
        click.echo(difference.markdown(found, old, new), nl=False)
    else:
        for change in found:
            click.echo(f"{change.id}: {change.old} -> {change.new}")
            if change.why and not quiet:
                fold(change.why, "    ", "    ")
        if not quiet:
            fold(f"{len(found)} verdicts changed between {old} and {new}")
            closing(BY_JSON, "hiddenstate", "report", new)
    raise SystemExit(1 if found else 0)
