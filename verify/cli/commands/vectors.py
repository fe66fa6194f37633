"""`hiddenstate vectors`."""

from __future__ import annotations

from pathlib import Path

import click

from verify.cli.options import closing, emit, fail, output_options

ABOUT = "your code"


@click.command("vectors", short_help="export the golden vectors and their schema")
@click.option(
    "--out", default="vectors-out", show_default=True, metavar="DIR", help="where to write them"
)
@click.option("--check", is_flag=True, help="compute them anew, and compare byte for byte")
@output_options("say nothing when done")
def command(out: str, check: bool, as_json: bool, quiet: bool) -> None:
    """Write the golden vectors, one JSON file a bound, and their JSON schema to a directory.

    A vector is a question with its answer: exact inputs with an enclosure of the value, or with
    the assumption that they violate. Its flags say why it exists and which bug it catches.

    --check writes nothing. It computes all vectors anew and compares them with the committed ones;
    status 1 when any byte differs.
    """
    if check:
        _check(as_json, quiet)
    from verify.conformance.vectors import FOLDER, OTHERS, SCHEMA, load, names

    folder = Path(out)
    counts = {name: len(load(name)) for name in (*names(), *OTHERS)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in (*(FOLDER / f"{name}.json" for name in counts), SCHEMA):
            (folder / path.name).write_bytes(path.read_bytes())
    except OSError as error:
        fail(f"{out} cannot be written: {error.strerror}")
    if as_json:
        emit({"out": out, "schema": SCHEMA.name, "vectors": counts})
        return
    if not quiet:
        for name, count in counts.items():
            click.echo(f"{count:5} {name}")
        click.echo(f"{sum(counts.values())} vectors in {len(counts)} files, and their schema")
        closing(str(folder), "hiddenstate", "check", "FILE.py:FUNCTION", "--bound", "NAME")


def _check(as_json: bool, quiet: bool) -> None:
    """Compare with the committed files, and end."""
    from verify.conformance.generate import differing
    from verify.conformance.vectors import FOLDER

    found = list(differing(FOLDER))
    if as_json:
        emit({"differing": found})
    else:
        for file in found:
            click.echo(f"{file} differs from what is generated")
        if not quiet:
            click.echo(
                f"{len(found)} files differ from what is generated"
                if found
                else "the committed vectors are what is generated, byte for byte"
            )
    raise SystemExit(1 if found else 0)
