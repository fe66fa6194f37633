"""Conversions and calibrations as subjects are asked about them.

What a bound and a setting are to the other vectors, a `Conversion` and an `Inquiry` are to those of
`conversion`, `conversion_of_bound` and `calibration`: what is asked for, and one point of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from bounds.arith.ball import Ball, decimal_bounds, precision
from bounds.bound import find
from bounds.setting import InvalidInput, Setting, exact, show
from verify.conformance import answers
from verify.conformance.compare import Case
from verify.conformance.conversions import NAMED
from verify.conformance.translate import Terms
from verify.conformance.vectors import OTHERS

ANSWERS = {
    "conversion": answers.of_conversion,
    "conversion_of_bound": answers.of_conversion_of_bound,
    "calibration": answers.of_calibration,
}
BITS = 160


@dataclass(frozen=True)
class Inquiry:
    """One question: a Renyi curve, and what is wanted of it.

    delta, target: of (epsilon, delta)-DP [-]; target only where noise is asked for. rule: a name of
    `bounds.conversion.RULES`. orders: alpha [-], None for all real ones above 1.
    The curve is a table (epsilons: the divergence at each order [-]) or that of a bound, by name,
    at a setting, which may have more than the bound reads.
    """

    delta: Fraction
    rule: str
    orders: tuple[Fraction, ...] | None
    epsilons: tuple[Fraction, ...] | None = None
    bound: str = ""
    setting: Setting = field(default_factory=Setting)
    target: Fraction | None = None

    def as_strings(self) -> dict[str, str]:
        """The input of a vector."""
        given: dict[str, str] = {}
        if self.bound:
            texts = self.setting.as_strings()
            wanted = [key for key in NAMED[self.bound].split() if key in texts]
            given["bound"] = self.bound
            given |= {key: texts[key] for key in wanted if key != "sigma2" or self.target is None}
        for name in ("orders", "epsilons"):
            listed = getattr(self, name)
            if listed is not None:
                given[name] = ",".join(show(number) for number in listed)
        given["delta"] = show(self.delta)
        if self.target is not None:
            given["target_epsilon"] = show(self.target)
        return {**given, "rule": self.rule}


@dataclass(frozen=True)
class Conversion:
    """One of the three kinds of questions that are not about a bound alone."""

    name: str

    def case(self, given: Mapping[str, str], ident: str = "drawn") -> Case:
        """An input with its true answer, or the refusal that it wants.

        Raises:
            InvalidInput: a part of it is unreadable, or its answer is not known.
        """
        reply = _reply(self.name, tuple(given.items()))
        return Case(
            ident, given, reply.label is None, reply.lower, reply.upper, reply.label, (), self.name
        )

    def adapted(self, inquiry: Inquiry, terms: Terms) -> Inquiry | None:
        """A drawn inquiry with what a subject takes for granted; None where that does not fit."""
        fixed = dict(terms.fixed)
        made = replace(inquiry, rule=fixed.pop("rule", inquiry.rule))
        if "orders" not in terms.names.values() and made.bound:
            made = replace(made, orders=None)
        if made.bound:
            made = replace(made, bound=fixed.pop("bound", made.bound))
        if fixed.get("position") == "last":
            fixed["position"] = str(made.setting.batches - 1)
        if "delta" in fixed:
            made = replace(made, delta=exact(fixed.pop("delta")))
        if "target_epsilon" in fixed:
            made = replace(made, target=exact(fixed.pop("target_epsilon")))
        try:
            made = replace(made, setting=made.setting.replace(**fixed))
        except (InvalidInput, KeyError):
            return None
        return made if terms.agrees(made.as_strings()) else None


@lru_cache(maxsize=10_000)
def _reply(name: str, given: tuple[tuple[str, str], ...]) -> answers.Reply:
    try:
        return ANSWERS[name](dict(given))
    except answers.Unsuitable as error:
        raise InvalidInput(str(error)) from error


def conversion_of(case: Case) -> Conversion | None:
    """The kind of a case; None where it is about a bound alone."""
    return Conversion(case.bound) if case.bound in OTHERS else None


# --- what no conversion can be below or above ---


def floor_of(given: Mapping[str, str]) -> Decimal | None:
    """Epsilon of a Gaussian query whose Renyi curve is nowhere above the one that is converted.

    Every valid conversion is at least that, and so is every rule. None where it is not known.
    """
    with precision(BITS):
        rho = _least_slope(given)
        if rho is None:
            return None
        return gaussian_epsilon(rho, exact(given["delta"]))


def _least_slope(given: Mapping[str, str]) -> Any:
    """The largest rho with rho alpha at most the curve, as a ball; None where it is not known."""
    if "orders" not in given:
        bound, setting = find(given["bound"]), answers.setting_of(given)
        return answers.linear_in_order(bound, setting.replace(alpha=2))
    orders = answers.orders_of(given)
    if "epsilons" in given:
        values = [Ball.number(exact(text)) for text in given["epsilons"].split(",")]
    else:
        bound, setting = find(given["bound"]), answers.setting_of(given)
        values = [bound.enclose(setting.replace(alpha=order), 25) for order in orders]
    slopes = [value / Ball.number(order) for value, order in zip(values, orders, strict=True)]
    least = slopes[0]
    for slope in slopes[1:]:
        least = least.min(slope)
    return least


def gaussian_epsilon(rho: Any, delta: Fraction) -> Decimal:
    """Epsilon at delta of a Gaussian query with Renyi divergence rho alpha, from below.

    Source: Balle and Wang 2018, "Improving the Gaussian mechanism", Theorem 8, whose mean over
    standard deviation mu has rho = mu^2/2.

    >>> import flint
    >>> gaussian_epsilon(flint.arb("0.5"), Fraction(1, 10**5)).quantize(Decimal("0.0001"))
    Decimal('4.3772')
    """
    mu = (2 * rho).sqrt()
    share = Ball.number(delta)

    def missed(epsilon: Any) -> bool:
        """Whether delta is certainly too small for this epsilon."""
        root = Ball.number(2).sqrt()
        here, there = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        needed = ((here / root).erfc() - epsilon.exp() * (there / root).erfc()) / 2
        return bool(needed > share)

    if not mu > 0 or not missed(Ball.number(0)):
        return Decimal(0)
    low, high = Fraction(0), Fraction(1)
    while missed(Ball.number(high)):
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(Ball.number(middle)) else (low, middle)
    return Decimal(decimal_bounds(Ball.number(low), 20)[0])


def ceiling_of(given: Mapping[str, str]) -> Decimal | None:
    """Epsilon by the classical rule, from above; None where it is not known."""
    name = "conversion" if "epsilons" in given else "conversion_of_bound"
    try:
        upper = Conversion(name).case({**given, "rule": "classical"}).upper
    except InvalidInput:
        return None
    return None if upper is None else Decimal(upper)


def epsilon_at(given: Mapping[str, str], sigma2: Fraction) -> tuple[Decimal, Decimal] | None:
    """The epsilon that noise buys, enclosed, for an input of a calibration.

    None where the bound has no value there.
    """
    known = {key: text for key, text in given.items() if key != "target_epsilon"}
    try:
        case = Conversion("conversion_of_bound").case({**known, "sigma2": show(sigma2)})
    except InvalidInput:
        return None
    if case.lower is None or case.upper is None:
        return None
    return Decimal(case.lower), Decimal(case.upper)
