"""Every bound of the registry at 50 digits, enclosed, against mpmath at 50 digits.

The last two rows are geometric means over all bounds: of the rows, and of the same formulas alone,
with parameters at hand, no check and no second look at the precision.

The baseline is the faster of the stable formula and the printed one, in an mpmath context of its
own, from the same exact parameters, without any check. What it prints beyond the digits that its
rounding leaves is not compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from benchmarks import TEN, Row, cost, race
from bounds.arith import TooCostly
from bounds.arith.ball import Ball, decimal_bounds, precision
from bounds.arith.multiprecision import Multiprecision
from bounds.bound import Bound, bind, registry
from bounds.setting import InvalidInput, Setting

BENCHMARK = (
    "Every bound at 50 digits with its error, assumptions checked, against mpmath's formula."
)
DIGITS, GUARD = 50, 12


class Plain(Multiprecision):
    """mpmath alone: what the library's context takes from balls is not mpmath's."""

    def sampled_gaussian(self, *_: Any) -> Any:
        """The printed sum is taken in its place."""
        raise TooCostly("not by mpmath")


def fitting(bound: Bound) -> Setting | None:
    """A setting at which the bound applies, the same for all as far as they allow."""
    for b, epochs, eta in product((2, 50), (50, 1), ("0.02", "0.25")):
        setting = Setting.of(
            n=50, b=b, epochs=epochs, eta=eta, lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
        )
        try:
            return bound.check(setting)
        except InvalidInput:
            continue
    return None


def fastest(
    bound: Bound, checked: Setting
) -> tuple[Callable[[], Any], Callable[[Any, Any], Any], str] | None:
    """The faster of both formulas in mpmath: run, itself, and which it is."""
    ctx = Plain(DIGITS)
    found: list[tuple[float, Callable[[], Any], Callable[[Any, Any], Any], str]] = []
    for formula, name in ((bound.epsilon, "stable form"), (bound.printed, "printed form")):
        try:
            formula(bind(checked, ctx), ctx)
        except (TooCostly, NotImplementedError, AttributeError, TypeError):
            continue
        work = lambda formula=formula: formula(bind(checked, ctx), ctx)  # noqa: E731
        found.append((cost(work), work, formula, name))
    return min(found, key=lambda item: item[0])[1:] if found else None


def alone(bound: Bound, checked: Setting, formula: Callable[[Any, Any], Any], rounds: int) -> float:
    """The ratio for the formulas themselves, in both number systems."""
    bits = int(DIGITS * 3.33) + GUARD
    balls, plain = Ball(bits), Plain(DIGITS)
    with precision(bits):
        p, q = bind(checked, balls), bind(checked, plain)
        return race(lambda: bound.epsilon(p, balls), lambda: formula(q, plain), rounds)


def outside(ball: Any, value: Any) -> str:
    """Whether mpmath's value lies outside the enclosure by more than its own rounding."""
    low, high = (Fraction(end) for end in decimal_bounds(ball, DIGITS))
    number = Fraction(str(value))
    slack = abs(high) / 10 ** (DIGITS - GUARD)
    inside = low - slack <= number <= high + slack
    return "" if inside else f"mpmath gives {value}, outside of the enclosure"


def measure(quick: bool) -> Iterator[Row]:
    """One row for each bound, and their means."""
    bounds = list(registry().values())
    rounds = 1 if quick else 5
    whole: list[float] = []
    formulas: list[float] = []
    for bound in bounds[:: 5 if quick else 1]:
        setting = fitting(bound)
        if setting is None:
            continue
        found = fastest(bound, setting)
        if found is None:
            yield Row(bound.name, "mpmath", float("nan"), TEN, note="has no formula in mpmath")
            continue
        work, formula, form = found
        whole.append(race(lambda: bound.enclose(setting, DIGITS), work, rounds))  # noqa: B023
        formulas.append(alone(bound, setting, formula, rounds))
        yield Row(
            bound.name,
            f"mpmath, {form}",
            whole[-1],
            TEN,
            disagreement=outside(bound.enclose(setting, DIGITS), work()),
        )
    mean = statistics.geometric_mean
    yield Row(f"mean of {len(whole)} bounds", "mpmath", mean(whole), TEN)
    yield Row("the same, formulas alone", "mpmath", mean(formulas), TEN)
