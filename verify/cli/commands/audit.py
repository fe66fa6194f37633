"""`hiddenstate audit`."""

from __future__ import annotations

from pathlib import Path

import click

from verify.cli.options import complete_statement, emit, fail

ABOUT = "the paper"


@click.command("audit", short_help="check the paper's statements, write the verdicts")
@click.argument("more", nargs=-1, metavar="")
@click.option("--only", multiple=True, metavar="ID ...", help="only these statements",
              shell_complete=complete_statement)  # fmt: skip
@click.option("--effort", type=click.Choice(["quick", "standard", "full"]), default="quick",
              show_default=True, help="how hard to look")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="parallel processes")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=click.Path(file_okay=False), default="audit-out", show_default=True,
              help="folder for audit.json and audit.md")  # fmt: skip
@click.option("--mutants/--no-mutants", default=None,
              help="also run the checks on wrong forms  [default: unless quick]")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="the verdicts, for programs")
@click.option("--quiet", is_flag=True, help="no summary and no progress")
def command(
    more: tuple[str, ...],
    only: tuple[str, ...],
    effort: str,
    jobs: int | None,
    seed: int,
    out: str,
    mutants: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check the paper's statements and write the verdicts with their evidence."""
    import os

    from reports import jsonfile, markdown, terminal
    from verify import run as runner
    from verify.registry import registry
    from verify.statement import Run

    known = registry()
    if more and not only:
        fail(f"{more[0]!r} is not an option; to check one statement, write --only {more[0]}")
    only = (*only, *more)
    for name in only:
        if name not in known.inventory:
            import difflib

            near = difflib.get_close_matches(name, known.inventory, 3)
            hint = f"; perhaps {', '.join(near)}" if near else ""
            fail(f"there is no statement {name!r} in the inventory of {len(known.inventory)}{hint}")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{out} cannot be made a folder: {error.strerror}")
    with terminal.progress() as bar:
        task = bar.add_task("auditing", total=None, visible=not quiet)

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=f"auditing {name}")

        result = runner.audit(
            only,
            run=Run(effort, seed),
            jobs=jobs or os.cpu_count() or 1,
            progress=report,
            mutants=effort != "quick" if mutants is None else mutants,
        )
    target = folder / "audit.json"
    jsonfile.write(result, target)
    markdown.write(result, folder / "audit.md")
    if as_json:
        emit({
            "complete": result.complete, "seconds": round(result.seconds, 1),
            "audit": str(target), "page": str(folder / "audit.md"),
            "verdicts": {record.id: record.verdict for record in result.statements},
        })  # fmt: skip
    elif not quiet:
        terminal.summary(result)
        if not result.complete:
            click.echo("Interrupted; what was finished is saved.")
        click.echo(
            f"{len(result.statements)} statements, {result.seconds:.0f} s. "
            f"Full result: {target} and {folder / 'audit.md'}\n"
            f"next: hiddenstate report {target}"
        )
    if not result.complete:
        raise SystemExit(3)
    wrong = any(e.outcome == "error" for s in result.statements for e in s.evidence)
    raise SystemExit(1 if wrong else 0)
