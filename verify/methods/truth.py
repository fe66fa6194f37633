"""Bounds against the exact divergence of the last iterate on 1-D quadratics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from bounds.arith.ball import decimal_bounds, precision
from bounds.bound import Bound
from bounds.setting import Setting, show
from empirical.divergence import Direction, exact_divergence
from verify.methods.enclosure import BITS
from verify.statement import Finding, Run

DIGITS = 18
BOTH: tuple[Direction, ...] = ("forward", "backward")
BATCHES = ((2, 1), (3, 1), (5, 2))
EPOCHS = (1, 2, 3)
LOST = ("1/1000", "1/2", "99/100")
ORDERS = ("1.000001", "2", "30")
RATES = ("1/10000", "1")
DESIGNED = (
    "quadratics at designed settings: n/b in {2, 3, 5/2}, K to 3, eta lambda from 0.001 to 0.99, "
    "order from 1 + 1e-6 to 30"
)
STRIDE = {"quick": 13, "standard": 4, "full": 1}


def designed(run: Run, *, full_batch: bool = False, linear: bool = False) -> Iterator[Setting]:
    """Settings with the corners that a wrong bound would show at; all of them at full effort.

    n/b in {2, 3, 5/2}, K in {1, 2, 3}, eta lambda in {1/1000, 1/2, 99/100}, alpha in
    {1 + 1e-6, 2, 30}, alpha A over alpha in {1e-4, 1}; lambda = beta = 1, or lambda = 0 (linear).
    """
    cross = list(product(BATCHES, EPOCHS, LOST, ORDERS, RATES))
    for (n, b), epochs, eta, alpha, rate in cross[:: STRIDE[run.effort]]:
        size = n if full_batch else b
        step = Fraction(eta)
        yield Setting(
            n=n, b=size, epochs=epochs, eta=step, lambda_=Fraction(0 if linear else 1),
            beta=Fraction(1), sensitivity=Fraction(1),
            sigma2=step / (4 * Fraction(rate) * size**2), alpha=Fraction(alpha),
        )  # fmt: skip


def above_the_truth(
    bound: Bound,
    epsilon: Callable[..., Any],
    scheme: str,
    settings: Iterator[Setting],
    *,
    centre: object = 0,
    directions: tuple[Direction, ...] = BOTH,
    what: str,
    domain: str,
) -> Finding:
    """Whether a bound is at least the exact divergence at every setting, by enclosures.

    The detail names the tightest ratio and where it is attained; a failure is a certified point.
    """
    made, count = replace(bound, epsilon=epsilon), 0
    tightest: tuple[float, str] | None = None
    for setting in settings:
        claimed = made.enclose(setting, DIGITS)
        for direction in directions:
            truth = exact_divergence(setting, scheme, direction=direction, centre=centre,
                                     digits=DIGITS)  # fmt: skip
            count += 1
            with precision(BITS):
                low, high = flint.arb(truth.lower), flint.arb(truth.upper)
                if claimed < low:
                    return Finding(
                        "fails", "point", domain,
                        f"{what}: below the exact divergence, {direction}, of {truth.problem}",
                        certificate={
                            "kind": "point", "parameters": setting.as_strings(),
                            "left": [truth.lower, truth.upper],
                            "right": list(decimal_bounds(claimed, DIGITS)), "relation": "<=",
                        },
                    )  # fmt: skip
                # Where a bound is attained the two enclosures cannot be told apart.
                attained = bool(abs(claimed - low) < high * flint.arb("1e-15"))
                if not attained and not claimed >= high:
                    return Finding("undecided", "point", domain, f"{what}: the balls overlap")
                ratio = float((claimed / high).mid()) if high > 0 else float("inf")
            if tightest is None or ratio < tightest[0]:
                tightest = (ratio, ", ".join(
                    f"{k} = {v}" for k, v in setting.as_strings().items()
                ))  # fmt: skip
    if tightest is None:
        return Finding("undecided", "point", domain, f"{what}: no setting was tried")
    return Finding(
        "holds", "point", domain,
        f"{what}: at {count} settings and directions; tightest ratio {tightest[0]:.6g} at "
        f"{tightest[1]}",
        certificate={"kind": "points", "count": count, "tightest": show(Fraction(tightest[0]))},
    )  # fmt: skip
