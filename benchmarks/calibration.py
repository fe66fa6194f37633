"""Noise for a target (epsilon, delta), against bisection over the plain loop.

The bisection brackets sigma^2 by doubling and halves to 10 digits, over the same 150 orders and
with the same conversion rule. A step of it costs a loop over all orders; where that takes minutes,
one step is timed on a part of the orders and counted as often as the bisection takes steps. The
library's answer comes with its certificate: the target is met in balls, and just below it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from benchmarks import HUNDRED, Row, apart, plain, race
from benchmarks.orders import ORDERS, SIZES, setting, spread
from bounds.conversion import calibrate
from bounds.setting import Setting

BENCHMARK = "Noise for epsilon = 1, delta = 1e-5, certified, against bisection over a plain loop."
TARGET, DELTA = 1.0, 1e-5
MOST_TERMS = 10**5
"""Terms of one loop over all orders and steps up to which the bisection is run in full."""


def bisection(excess: Callable[[float], float]) -> tuple[float, int]:
    """sigma^2 [parameter * gradient] at which a falling function is 0, and the steps it took."""
    low, high, steps = 1.0, 1.0, 0
    while excess(high) > 0:
        low, high, steps = high, 2 * high, steps + 1
    while excess(low) <= 0:
        low, high, steps = low / 2, low, steps + 1
    while high > low * (1 + 1e-10):
        middle = (low + high) / 2
        steps += 1
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return high, steps + 2


def converted(name: str, run: Setting, orders: list[float]) -> Callable[[float], float]:
    """Epsilon at the best of some orders minus the target, as a function of sigma^2.

    The rule is the tighter one (Canonne, Kamath and Steinke 2020).
    """
    extra = [math.log((x - 1) / x) - (math.log(DELTA) + math.log(x)) / (x - 1) for x in orders]

    def excess(sigma2: float) -> float:
        formula = plain.at(name, run.replace(sigma2=repr(sigma2)))
        return min(formula(x) + more for x, more in zip(orders, extra, strict=True)) - TARGET

    return excess


def measure(quick: bool) -> Iterator[Row]:
    """Theorem 4.2 for each number of batches, then Theorem 4.3."""
    cases = [("thm-4.2", setting(size)) for size in SIZES[: 2 if quick else None]]
    cases += [("thm-4.3", setting(size).replace(epochs=3)) for size in SIZES[: 1 if quick else 2]]
    for name, run in cases:
        terms = run.batches if name == "thm-4.2" else run.steps
        numbers = [float(order) for order in ORDERS]
        made = calibrate(name, run, int(TARGET), "1e-5", orders=ORDERS)
        best = float(made.conversion.order)
        full = terms * len(ORDERS) <= MOST_TERMS
        some = numbers if full else [float(x) for x in spread(ORDERS, 2 if quick else 5)]
        whole, part = converted(name, run, some), converted(name, run, [best])
        # At the best order alone it takes as many steps, and finds the same noise.
        found, steps = bisection(whole if full else part) if terms <= MOST_TERMS else (1.0, 40)
        sigma2 = float(made.sigma2)
        work = (lambda: bisection(whole)) if full else (lambda: whole(sigma2))  # noqa: B023
        differs = (
            apart(sigma2, found, 1e-9) if terms <= MOST_TERMS
            else apart(part(sigma2) + TARGET, TARGET, 1e-9)
        )  # fmt: skip
        yield Row(
            f"{'Theorem ' + name[4:]}, n/b = {run.batches}",
            "bisection" + ("" if full else f", {steps} times a step timed on {len(some)} orders"),
            race(
                lambda: calibrate(name, run, int(TARGET), "1e-5", orders=ORDERS),  # noqa: B023
                work,
                rounds=1 if quick or not full else 3,
                part=1.0 if full else len(some) / len(ORDERS) / steps,
            ),
            HUNDRED,
            disagreement=differs,
        )
