"""`hiddenstate report`."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from verify.cli.options import fail

# A format is a module of `reports` with SUFFIX and `render(audit)`, which returns text or bytes, or
# with `write(audit, path)`.
MODULES = {
    "html": "html", "md": "markdown", "junit": "junit", "csv": "csvdata", "pdf": "pdf",
    "json": "jsonfile",
}  # fmt: skip
ABOUT = "the paper"


@click.command("report", short_help="an audit as a page, or for other programs")
@click.argument("audit", type=click.Path(dir_okay=False), metavar="AUDIT.json")
@click.option("--format", "kind", type=click.Choice(tuple(MODULES)), default="html",
              show_default=True, help="html is one file to read or to send")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False), metavar="PATH",
              help="where to write (default: beside the audit)")  # fmt: skip
@click.option("--quiet", is_flag=True, help="say nothing when done")
def command(audit: str, kind: str, out: str | None, quiet: bool) -> None:
    """Turn an audit.json into a page to read or a file for other programs."""
    from reports import jsonfile

    given = Path(audit)
    try:
        record = jsonfile.read(given)
    except jsonfile.NotAnAudit as error:
        fail(str(error))
    module = importlib.import_module(f"reports.{MODULES[kind]}")
    target = given.with_suffix(module.SUFFIX) if out is None else Path(out)
    if target.resolve() == given.resolve():
        fail(f"{target} is the audit itself; name another file with --out")
    try:
        if hasattr(module, "write"):
            module.write(record, target)
        else:
            _save(module.render(record), target)
    except ValueError as error:
        fail(f"{audit} cannot be made into {kind}: {error}")
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}")
    if not quiet:
        hint = f"Open it in a browser: {target.resolve().as_uri()}" if kind == "html" else ""
        size = target.stat().st_size / 1e6
        click.echo(f"{len(record.statements)} statements, {size:.2f} MB: {target}")
        if hint:
            click.echo(hint)


def _save(made: str | bytes, target: Path) -> None:
    from reports import jsonfile

    if isinstance(made, str):
        jsonfile.write_text(target, made)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(made)
