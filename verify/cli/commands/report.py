"""`hiddenstate report`."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

import click

from verify.cli.options import fail

# A format is a module of `reports` with `render(audit)`, which returns text or bytes. Add a line
# here for a new one; a module that is not there is not offered.
MODULES = {
    "html": "html", "md": "markdown", "junit": "junit", "csv": "csvdata", "pdf": "pdf",
    "json": "jsonfile",
}  # fmt: skip
SUFFIXES = {"html": ".html", "md": ".md", "junit": ".xml", "csv": ".csv", "pdf": ".pdf",
            "json": ".json"}  # fmt: skip
FORMATS = [
    name for name, module in MODULES.items() if importlib.util.find_spec(f"reports.{module}")
]


ABOUT = "the paper"


@click.command("report", short_help="an audit as a page, or for other programs")
@click.argument("audit", type=click.Path(dir_okay=False), metavar="AUDIT.json")
@click.option("--format", "kind", type=click.Choice(FORMATS), default="html", show_default=True,
              help="html is one file to read or to send")  # fmt: skip
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
    suffix = SUFFIXES[kind]
    target = given.with_suffix(suffix) if out is None else Path(out)
    if target.resolve() == given.resolve():
        fail(f"{target} is the audit itself; name another file with --out")
    module = importlib.import_module(f"reports.{MODULES[kind]}")
    try:
        made = module.dumps(record) if kind == "json" else module.render(record)
    except ValueError as error:
        fail(f"{audit} cannot be made into {kind}: {error}")
    try:
        if isinstance(made, bytes):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(made)
        else:
            jsonfile.write_text(target, made)
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}")
    if not quiet:
        hint = f"Open it in a browser: {target.resolve().as_uri()}" if kind == "html" else ""
        size = target.stat().st_size / 1e6
        click.echo(f"{len(record.statements)} statements, {size:.2f} MB: {target}")
        if hint:
            click.echo(hint)
