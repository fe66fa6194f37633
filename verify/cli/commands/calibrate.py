"""`hiddenstate calibrate`."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from verify.cli.options import emit, fail, read_delta, read_setting, setting_options


@click.command("calibrate", short_help="the least noise for a target (epsilon, delta)")
@click.argument("name")
@setting_options
@click.option("--target-epsilon", required=True, metavar="E", help="epsilon not to exceed")
@click.option("--delta", required=True, metavar="D", help="delta of (epsilon, delta)-DP")
@click.option("--rule", default="canonne_kamath_steinke_2020", show_default=True,
              type=click.Choice(["classical", "canonne_kamath_steinke_2020"]),
              help="how Renyi DP is converted")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="for programs")
def command(
    name: str, target_epsilon: str, delta: str, rule: str, as_json: bool, **values: Any
) -> None:
    """Find the least noise with which a bound gives (E, D)-differential privacy."""
    from bounds.bound import find
    from bounds.conversion import calibrate as solve
    from bounds.setting import InvalidInput, show

    setting = read_setting(values)
    try:
        found = solve(find(name), setting, target_epsilon, read_delta(delta), rule)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(found.as_json())
        return
    click.echo(f"{found.conversion.bound}: sigma^2 = {show(found.sigma2)}")
    click.echo(f"  noise multiplier  {found.noise_multiplier_upper[:12]}")
    click.echo(
        f"  epsilon           {found.conversion.epsilon:.12g} <= {target_epsilon} at delta {delta}"
    )
    click.echo(f"  order             {show(found.conversion.order)}")
    text = f"  {found.certificate}"
    click.echo(textwrap.fill(text, 80, subsequent_indent="  "))
