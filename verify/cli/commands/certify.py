"""`hiddenstate certify`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from verify.cli.options import emit, fail

ABOUT = "the paper"


@click.command("certify", short_help="re-check an audit's certificates")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(file: str, as_json: bool) -> None:
    """Re-check the certificates of an audit with code that the audit does not use."""
    from verify.certificates import checker

    try:
        report = checker.certify(Path(file))
    except checker.Malformed as error:
        fail(str(error))
    if as_json:
        emit({
            "passed": dict(report.passed), "not_rechecked": dict(report.left),
            "failed": report.failed, "alone": report.alone, "statements": report.statements,
            "certificates_alone": report.certificates_alone, "sympy_too": report.sympy_too,
        })  # fmt: skip
    else:
        for kind, number in sorted(report.passed.items()):
            click.echo(f"{number:5} {kind} certificates re-checked")
        for kind, number in sorted(report.left.items()):
            click.echo(f"{number:5} {kind} certificates say what was done, and are not re-checked")
        for line in report.failed:
            click.echo(f"FAILED {line}")
        for name, why in report.sympy_too.items():
            text = f"{name} rests on the prover too: {'; '.join(why)}"
            click.echo(textwrap.fill(text, 80, subsequent_indent="    "))
        text = (
            f"{report.alone} of {report.statements} proved, certified or refuted statements rest "
            f"on certificates that were re-checked here, {len(report.sympy_too)} on the prover "
            f"too; {len(report.failed)} certificates failed. What a certificate says: "
            "verify/certificates/GRAMMAR.md."
        )
        click.echo(textwrap.fill(text, 80))
    raise SystemExit(1 if report.failed else 0)
