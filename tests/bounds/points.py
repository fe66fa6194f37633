"""Points at which the bounds are tested: log-uniform draws and nasty corners, all exact.

A point is given by the quantities that the formulas depend on, n/b, K, eta lambda, alpha and
A = eta S_g^2/(4 sigma^2 b^2), and turned into a setting that satisfies every step-size condition.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import flint

from bounds.bound import Bound, registry
from bounds.setting import Setting

GOLDEN = Path(__file__).parent.parent / "golden" / "bounds.json"

LEAST_LOSS, MOST_LOSS = Fraction(1, 10**18), 1 - Fraction(1, 10**15)
LEAST_RATE, MOST_RATE = Fraction(1, 10**12), Fraction(10**6)
LEAST_ORDER, MOST_ORDER = 1 + Fraction(1, 10**9), Fraction(10**6)
MOST_EPOCHS, MOST_BATCHES = 10**12, 10**6

ALL = tuple(registry().values())
UPPER = tuple(bound for bound in ALL if bound.direction == "upper")
# A moment that takes up to a second at one setting: the quick runs look at a few of its points.
COSTLY = {"optimal_without_replacement"}


def labels(bound: Bound) -> set[str]:
    """The labels of what a bound assumes."""
    return {assumption.label for assumption in bound.assumptions}


@dataclass(frozen=True)
class Point:
    """What the formulas depend on; `position` is first, middle or last; `spare` is n mod b."""

    batches: int
    epochs: int
    loss: Fraction
    order: Fraction
    rate: Fraction
    position: str = "last"
    b: int = 1
    spare: int = 0
    eta: Fraction = Fraction(1, 50)
    condition: Fraction = Fraction(1, 2)

    def setting(self) -> Setting:
        """A setting with these values; `condition` places beta between lambda and 1/eta."""
        place = {"first": 0, "middle": self.batches // 2, "last": self.batches - 1}
        lambda_ = self.loss / self.eta
        beta = (self.loss + self.condition * (1 - self.loss) * Fraction(99, 100)) / self.eta
        return Setting(
            n=self.batches * self.b + self.spare, b=self.b, epochs=self.epochs, eta=self.eta,
            lambda_=lambda_, beta=beta, sensitivity=Fraction(3), alpha=self.order,
            sigma2=self.eta * 9 / (4 * self.rate * self.b**2), position=place[self.position],
        )  # fmt: skip


def fit(bound: Bound, setting: Setting) -> Setting:
    """The setting changed to what the bound is about, with A kept."""
    wanted = labels(bound)
    if "full-batch" in wanted:
        assert setting.sigma2 is not None and setting.b is not None and setting.n is not None
        sigma2 = setting.sigma2 * setting.b**2 / setting.n**2
        setting = replace(setting, b=setting.n, sigma2=sigma2, position=0)
    if "one-epoch" in wanted:
        setting = replace(setting, epochs=1)
    return setting


def reads_position(bound: Bound) -> bool:
    """Whether the bound depends on where the record is."""
    return "position" in labels(bound)


def corners(batch_counts: tuple[int, ...] = (2, 3, 7)) -> Iterator[Point]:
    """All combinations of extreme values."""
    for batches, epochs, loss, order, rate, position in product(
        batch_counts,
        (1, 2, MOST_EPOCHS),
        (LEAST_LOSS, MOST_LOSS),
        (LEAST_ORDER, MOST_ORDER),
        (LEAST_RATE, MOST_RATE),
        ("first", "middle", "last"),
    ):
        yield Point(batches, epochs, loss, order, rate, position, b=3, spare=2)


def long_runs() -> Iterator[Point]:
    """Runs whose recursions settle late or never, and the many batches of a large data set."""
    two, one = Fraction(2), Fraction(1)
    for batches, epochs, loss in (
        (2, MOST_EPOCHS, Fraction(1, 10**12)),
        (1001, 10**6, Fraction(1, 10**9)),
        (10**4, 10**9, Fraction(1, 10**13)),
        (25, 5000, Fraction(1, 10**5)),
    ):
        for position in ("first", "middle", "last"):
            yield Point(batches, epochs, loss, two, one, position)
    for loss, order, rate in (
        (LEAST_LOSS, LEAST_ORDER, LEAST_RATE),
        (LEAST_LOSS, Fraction(20), one),
        (Fraction(1, 10**6), Fraction(7), Fraction(3, 2)),
        (Fraction(1, 3), MOST_ORDER, MOST_RATE),
    ):
        for epochs in (1, MOST_EPOCHS):
            yield Point(MOST_BATCHES, epochs, loss, order, rate, "middle")


def draws(count: int, seed: int) -> Iterator[Point]:
    """Log-uniform points over the whole range, short decimals, the same for the same seed."""
    source = random.Random(seed)

    def spread(low: float, high: float) -> Fraction:
        return Fraction(f"{10 ** source.uniform(math.log10(low), math.log10(high)):.6e}")

    for _ in range(count):
        b = int(spread(1, 100))
        loss = spread(1e-18, 1)
        if source.random() < 0.25:
            loss = 1 - spread(1e-15, 1) * Fraction(99, 100)
        yield Point(
            batches=int(spread(2, 3e4)), epochs=int(spread(1, 1e12)),
            loss=min(loss, MOST_LOSS), order=1 + spread(1e-9, 1e6 - 1), rate=spread(1e-12, 1e6),
            position=source.choice(("first", "middle", "last")), b=b, spare=source.randrange(b),
            eta=spread(1e-6, 10), condition=Fraction(source.randrange(101), 100),
        )  # fmt: skip


@cache
def golden() -> dict[str, list[dict[str, Any]]]:
    """The cases of bounds.json by bound."""
    by_bound: dict[str, list[dict[str, Any]]] = {}
    for case in json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]:
        by_bound.setdefault(case["bound"], []).append(case)
    return by_bound


def golden_ball(case: dict[str, Any]) -> Any:
    """The golden value, which is rounded to 60 digits, as a ball; call it at 400 bits or more."""
    mantissa, exponent = case["value"].split("e") if "e" in case["value"] else (case["value"], "0")
    value = flint.arb(flint.fmpq(*Fraction(mantissa).as_integer_ratio())) * flint.arb(10) ** int(
        exponent
    )
    return value * flint.arb(1, 6e-60)
