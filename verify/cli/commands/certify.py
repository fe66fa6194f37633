"""`hiddenstate certify`."""

from __future__ import annotations

from pathlib import Path

import click

from verify.cli.options import BY_JSON, closing, emit, fail, fold, output_options

ABOUT = "the paper"


@click.command("certify", short_help="re-check an audit's certificates")
@click.argument("file", type=click.Path(dir_okay=False))
@output_options("failures alone")
def command(file: str, as_json: bool, quiet: bool) -> None:
    """Re-check the certificates of an audit with code that the audit does not use."""
    from reports import terminal
    from verify.certificates import checker

    try:
        with terminal.progress() as bar:
            task = bar.add_task("re-checking", total=None, visible=not quiet)
            report = checker.certify(
                Path(file), lambda done, total: bar.update(task, completed=done, total=total)
            )
    except checker.Malformed as error:
        fail(str(error))
    if as_json:
        emit({
            "passed": dict(report.passed), "not_rechecked": dict(report.left),
            "failed": report.failed, "alone": report.alone, "statements": report.statements,
            "certificates_alone": report.certificates_alone, "sympy_too": report.sympy_too,
        })  # fmt: skip
        raise SystemExit(1 if report.failed else 0)
    for line in report.failed:
        fold(f"FAILED {line}")
    if not quiet:
        for kind, number in sorted(report.passed.items()):
            click.echo(f"{number:5} {kind} certificates re-checked")
        for kind, number in sorted(report.left.items()):
            click.echo(
                f"{number:5} checks left no certificate"
                if kind == "none"
                else f"{number:5} {kind} certificates say what was done, and are not re-checked"
            )
        reasons: dict[str, list[str]] = {}
        for name, why in report.sympy_too.items():
            reasons.setdefault("; ".join(why), []).append(name)
        for reason, names in reasons.items():
            fold(f"resting on the prover too ({reason}): {', '.join(names)}", rest="    ")
        fold(
            f"{report.alone} of {report.statements} proved, certified or refuted statements rest "
            f"on certificates that were re-checked here, {len(report.sympy_too)} on the prover "
            f"too; {len(report.failed)} certificates failed. What a certificate says: "
            "verify/certificates/GRAMMAR.md.", rest="",
        )  # fmt: skip
        closing(BY_JSON, "hiddenstate", "report", file)
    raise SystemExit(1 if report.failed else 0)
