"""`hiddenstate calibrate`."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from typing import Any

import click

from verify.cli.options import (
    BY_JSON,
    brief,
    closing,
    complete_bound,
    conversion_options,
    emit,
    fail,
    fold,
    given,
    output_options,
    read_run,
    setting_options,
)

ABOUT = "the bounds"


@click.command("calibrate", short_help="the least noise for a target (epsilon, delta)")
@click.argument("name", shell_complete=complete_bound)
@setting_options
@click.option("--target-epsilon", metavar="E", help="epsilon not to exceed")
@conversion_options
@output_options("sigma^2 alone")
def command(name: str, as_json: bool, quiet: bool, **values: Any) -> None:
    """Find the least noise with which a bound gives (E, D)-differential privacy.

    A noise in the setting is not looked at. --target-epsilon and --delta may be keys of the file.
    """
    from bounds.bound import find
    from bounds.conversion import calibrate
    from bounds.setting import InvalidInput, show
    from verify import practice

    run = read_run(values)
    for what, value in (("target-epsilon", run.target_epsilon), ("delta", run.delta)):
        if value is None:
            fail(f"calibrate needs --{what}, or {what} in the file of --setting")
    try:
        bound = find(name)
        found = calibrate(
            bound, run.setting, run.target_epsilon, run.delta, run.rule, orders=run.orders,
            extra=run.extra,
        )  # fmt: skip
        # The noise of the file is not used, and so not judged.
        judged = practice.without_noise(run)
        odd = practice.warnings(judged, [bound], [found.conversion])
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit({**found.as_json(), "warnings": list(odd), "run": run.as_json()})
        return
    if quiet:
        click.echo(show(found.sigma2))
        return
    conversion = found.conversion
    click.echo(f"{conversion.bound}: sigma^2 = {show(found.sigma2)}")
    # Upward: with the printed multiplier the target is met.
    multiplier = Context(prec=12, rounding=ROUND_CEILING).create_decimal(
        found.noise_multiplier_upper
    )
    click.echo(f"  noise multiplier  {multiplier}")
    click.echo(
        f"  epsilon           {conversion.epsilon:.12g} <= {show(run.target_epsilon)} "
        f"at delta {brief(run.delta)}"
    )
    click.echo(f"  order             {show(conversion.order)}")
    click.echo(f"  rule              {conversion.rule}")
    fold(found.certificate, "  ", "  ")
    for warning in odd:
        fold(f"warning: {warning}", rest="         ")
    for note in conversion.notes:
        if not note.startswith("b does not divide n"):
            fold(f"note: {note}", rest="      ")
    again = given("rule", "orders", "scheme", but=("sigma2", "noise-multiplier", "alpha"))
    again += ["--sigma2", show(found.sigma2), "--delta", brief(run.delta)]
    closing(BY_JSON, "hiddenstate", "compare", *again)
