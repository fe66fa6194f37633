"""Theorem 4.2 at 150 orders, for few and for many batches.

What a practitioner asks for who wants the best order. The loop is in full for few batches; for
many, a part of the orders is timed, since each takes as long as the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import cycle

from benchmarks import HUNDRED, Row, apart, plain, race
from bounds.bound import find
from bounds.setting import Setting

BENCHMARK = "Theorem 4.2 at 150 orders, rounded outward, against a loop over orders and batches."
ORDERS = [1 + Fraction(k * k, 100) for k in range(1, 151)]
"""From 1.01 to 226, denser near 1."""
SIZES = (30, 10**4, 10**6)
FLAT = "0.000001"
"""A strong convexity at which no batch of an epoch is negligible beside the others."""
TABLES = 8
"""Step sizes in turn: more than there are tables of profiles kept, so that none is found again."""


def setting(batches: int, **changes: object) -> Setting:
    """A regularised problem of that many batches of one record."""
    return Setting.of(
        n=batches, b=1, epochs=1000, eta="0.02", lambda_=1, beta=4, sensitivity=4
    ).replace(**changes)


def spread(orders: Sequence[Fraction], count: int) -> list[Fraction]:
    """Some of the orders, evenly spaced."""
    return list(orders[:: max(1, len(orders) // count)][:count])


def measure(quick: bool) -> Iterator[Row]:
    """One row for each number of batches, and one where no term may be left out.

    No call finds what an earlier one left behind.
    """
    bound = find("thm-4.2")
    cases = [(size, "1") for size in SIZES] + [(SIZES[-1], FLAT)]
    for batches, lambda_ in cases[: 2 if quick else None]:
        some = ORDERS if batches < 1000 else spread(ORDERS, 3 if quick else 5)
        run = setting(batches, sigma2=4, lambda_=lambda_)
        numbers = [float(order) for order in some]
        steps = cycle([run.replace(eta=Fraction(2, 101 + k)) for k in range(TABLES)])
        formula = plain.at("thm-4.2", run)
        values = dict(zip(ORDERS, bound.float64(run, ORDERS), strict=True))
        many = batches > 10**5
        # The plain loop cancels in 1 - q, and loses digits where eta lambda is small.
        close = 1e-8 if lambda_ == FLAT else 1e-10
        yield Row(
            f"{len(ORDERS)} orders, n/b = {batches}" + ", all terms count" * (lambda_ == FLAT),
            "scalar loop" + ("" if some is ORDERS else f", timed on {len(some)} of them"),
            race(
                lambda: bound.float64(next(steps), ORDERS),  # noqa: B023
                lambda: [formula(x) for x in numbers],  # noqa: B023
                rounds=1 if quick or many else 5,
                part=len(some) / len(ORDERS),
            ),
            HUNDRED,
            disagreement=apart(
                [values[order] for order in some], [formula(x) for x in numbers], close
            ),
        )
