"""`hiddenstate report`."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from verify.cli.options import closing, emit, fail, output_options

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
@output_options("say nothing when done")
def command(audit: str, kind: str, out: str | None, as_json: bool, quiet: bool) -> None:
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
            made = module.render(record)
            jsonfile.write_bytes(target, made.encode() if isinstance(made, str) else made)
    except ValueError as error:
        fail(f"{audit} cannot be made into {kind}: {error}")
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}")
    size = target.stat().st_size
    if as_json:
        emit({
            "file": str(target), "format": kind, "bytes": size,
            "statements": len(record.statements),
        })  # fmt: skip
    elif not quiet:
        click.echo(f"{len(record.statements)} statements, {size / 1e6:.2f} MB as {kind}")
        if kind == "html":
            click.echo(f"Full result: {target}\nnext: open {target.resolve().as_uri()}")
        else:
            closing(str(target), "hiddenstate", "certify", audit)
