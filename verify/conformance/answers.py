"""The library's answers to the questions of golden vectors, as enclosures or as refusals.

Everything is exact or in balls, so that a vector does not depend on the machine. Two things are
not: `optimal_without_replacement` is defined by a computation in double precision, and the least
over all real orders is found by a search in doubles and then certified. Their ends are rounded
outward to few digits, and the vector says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from bounds.arith import TooCostly
from bounds.arith.ball import Ball, accuracy, decimal_bounds, precision
from bounds.bound import Bound, find
from bounds.conversion import best_order, calibrate, find_rule, formula, log_of
from bounds.setting import (
    PARAMETERS,
    AssumptionViolated,
    InvalidInput,
    NotExact,
    Setting,
    exact,
    require,
)
from verify.conformance.vectors import DIGITS

BITS = 500
"""Working precision of conversions."""
NARROW = 130
"""Bits of relative accuracy that forty digits want, nearly."""
SETTING_KEYS = tuple(parameter.flag[2:] for parameter in PARAMETERS.values())

IN_DOUBLES: dict[str, tuple[int, str]] = {
    "optimal_without_replacement": (
        6,
        "the bound is defined by a moment computed in double precision and rounded upward; the "
        "ends are rounded outward to 6 digits",
    ),
}
SEARCHED = "the least over all real orders, certified and rounded outward to 9 digits"
LEAST_NOISE = "the least noise, certified and rounded outward to 9 digits"
SEARCH_DIGITS = 9


class Unsuitable(Exception):
    """No vector can be made of this question: too costly, or no narrow enclosure."""


@dataclass(frozen=True)
class Reply:
    """An enclosure, or the label of the violated assumption; the setting where there is one."""

    label: str | None = None
    lower: str | None = None
    upper: str | None = None
    setting: Setting | None = None
    wide: str = ""


LABELS = {
    "not-a-number": "every parameter is an exact finite number",
    "whole-number": "counts and positions are whole numbers",
    "delta": "0 < delta < 1",
    "orders": "at least one order, every order above 1",
    "lengths": "as many values as orders",
    "divergence": "no value of the curve is negative",
    "target": "target epsilon > 0",
    "unreachable": "some noise reaches the target epsilon at delta with these orders",
    "quantity": "the bound is an upper bound of a Renyi divergence (an estimate may be converted, "
    "but not calibrated)",
}
"""Conditions that the library states in words only."""


def unreadable(given: Mapping[str, str]) -> str | None:
    """The label where a parameter of the setting is no number, or no whole one."""
    for parameter in PARAMETERS.values():
        text = given.get(parameter.flag[2:])
        if text is None:
            continue
        try:
            number = exact(text)
        except NotExact:
            return "not-a-number"
        if parameter.kind == "integer" and number.denominator != 1:
            return "whole-number"
    return None


def setting_of(given: Mapping[str, str]) -> Setting:
    """The setting in an input."""
    return Setting.of(**{key: given[key] for key in SETTING_KEYS if key in given})


def narrow(ball: Any) -> tuple[str, str]:
    """The ends of a ball that is narrow to forty digits.

    Raises:
        Unsuitable: it is not.
    """
    if not ball.is_finite() or accuracy(ball) < NARROW:
        raise Unsuitable("the enclosure is not narrow")
    return decimal_bounds(ball, DIGITS)


def outward(lower: Fraction, upper: Fraction, digits: int) -> tuple[str, str]:
    """Decimals of few digits around an interval of positive numbers, with an ulp to spare."""
    ends = []
    for number, rounding in ((lower, ROUND_FLOOR), (upper, ROUND_CEILING)):
        context = Context(prec=digits, rounding=rounding, Emax=10**17, Emin=-(10**17))
        value = context.divide(Decimal(number.numerator), Decimal(number.denominator))
        spare = value.scaleb(1 - digits, context)
        away = context.subtract if rounding == ROUND_FLOOR else context.add
        ends.append(str(away(value, spare).normalize(context)))
    return ends[0], ends[1]


def of_bound(name: str, given: Mapping[str, str]) -> Reply:
    """The answer of a bound at a setting.

    Raises:
        Unsuitable: see there.
    """
    label = unreadable(given)
    if label is not None:
        return Reply(label)
    bound, setting = find(name), setting_of(given)
    try:
        checked = bound.check(setting)
    except AssumptionViolated as error:
        return Reply(error.label, setting=setting)
    try:
        ball = bound.enclose(checked, DIGITS + 4)
    except TooCostly as error:
        raise Unsuitable(str(error)) from error
    lower, upper = narrow(ball)
    wide = ""
    if name in IN_DOUBLES and checked.b != checked.n:
        digits, wide = IN_DOUBLES[name]
        lower, upper = outward(Fraction(lower), Fraction(upper), digits)
    return Reply(None, lower, upper, checked, wide)


# Conversion and calibration


def orders_of(given: Mapping[str, str]) -> list[Fraction]:
    """The orders of an input, in its own order."""
    return [exact(text) for text in given["orders"].split(",")]


def _refused(given: Mapping[str, str]) -> str | None:
    """What is wrong with the parts that all three conversions share."""
    for key in ("delta", "target_epsilon", "orders", "epsilons"):
        for text in given.get(key, "").split(","):
            if text.lower() == "nan":
                return "not-a-number"
    if not 0 < exact(given["delta"]) < 1:
        return "delta"
    if "orders" in given and (given["orders"] == "" or min(orders_of(given)) <= 1):
        return "orders"
    return None


def _overhead(order: Fraction, given: Mapping[str, str]) -> Any:
    """What the rule adds at one order; call it inside `precision`."""
    return formula(Ball.number(0), order, exact(given["delta"]), Ball, given["rule"])


def _clipped(total: Any) -> tuple[str, str]:
    if total <= 0:
        return "0", "0"
    return narrow(total)


def _least(balls: list[Any]) -> Any:
    out = balls[0]
    for ball in balls[1:]:
        out = out.min(ball)
    return out


def of_conversion(given: Mapping[str, str]) -> Reply:
    """The least epsilon of a table of Renyi divergences."""
    label = _refused(given)
    if label is not None:
        return Reply(label)
    values = [exact(text) for text in given["epsilons"].split(",")]
    if len(values) != len(orders_of(given)):
        return Reply("lengths")
    if min(values) < 0:
        return Reply("divergence")
    with precision(BITS):
        return Reply(None, *_clipped(_least(_table(given))))


def _table(given: Mapping[str, str]) -> list[Any]:
    """The rule's value at each order of the list; call it inside `precision`."""
    delta = exact(given["delta"])
    values: list[Any]
    if "epsilons" in given:
        values = [Ball.number(exact(text)) for text in given["epsilons"].split(",")]
    else:
        bound, setting = find(given["bound"]), setting_of(given)
        values = [bound.enclose(setting.replace(alpha=x), 80) for x in orders_of(given)]
    return [
        formula(value, order, delta, Ball, given["rule"])
        for value, order in zip(values, orders_of(given), strict=True)
    ]


def _checked(given: Mapping[str, str], **fill: object) -> tuple[Bound, Setting, Reply | None]:
    """The bound and the setting, with `fill` for what the question leaves open, or a refusal."""
    bound = find(given["bound"])
    label = _refused(given) or unreadable(given)
    if label is None and (bound.quantity != "renyi-divergence" or bound.direction == "lower"):
        label = "quantity"
    if label is not None:
        return bound, Setting(), Reply(label)
    setting = setting_of(given).replace(alpha=2, **fill)
    try:
        return bound, bound.check(setting), None
    except AssumptionViolated as error:
        return bound, setting, Reply(error.label, setting=setting)


def of_conversion_of_bound(given: Mapping[str, str]) -> Reply:
    """The least epsilon of a bound at a setting, over a list or over all real orders."""
    bound, setting, refusal = _checked(given)
    if refusal is not None:
        return refusal
    if "orders" in given:
        with precision(BITS):
            return Reply(None, *_clipped(_least(_table(given))), setting)
    rho = linear_in_order(bound, setting)
    with precision(BITS):
        if rho is not None:
            return Reply(None, *_clipped(_gaussian(rho, given)), setting)
    found = best_order(bound, setting, given["delta"], given["rule"])
    if found.upper == "0":
        return Reply(None, "0", "0", setting)
    if found.gap is None:
        raise Unsuitable("the best order is not certified")
    low = Fraction(found.lower) * (1 - Fraction(found.gap))
    ends = outward(low, Fraction(found.upper), SEARCH_DIGITS)
    return Reply(None, *ends, setting, SEARCHED)


def linear_in_order(bound: Bound, setting: Setting) -> Any:
    """rho where the bound is rho alpha, as far as three orders show; else None."""
    with precision(BITS):
        found = [
            bound.enclose(setting.replace(alpha=order), 80) / Ball.number(Fraction(order))
            for order in ("2", "7/2", "30")
        ]
        same = found[0].overlaps(found[1]) and found[0].overlaps(found[2])
        return found[0] if same else None


def _gaussian(rho: Any, given: Mapping[str, str]) -> Any:
    """The least over alpha > 1 of rho alpha + g(alpha), as a ball.

    The derivative changes sign once: rho - L/(alpha-1)^2 in the classical rule, L = log(1/delta),
    and rho - (L - log alpha)/(alpha-1)^2 in the other. A ball around the root gives the minimum.
    """
    loss = -log_of(exact(given["delta"]), Ball)
    if find_rule(given["rule"]).name == "classical":
        return rho + 2 * (rho * loss).sqrt()
    low, high = Fraction(0), Fraction(decimal_bounds((loss / rho).sqrt(), 20)[1])

    def rising(less: Fraction) -> bool:
        s = Ball.number(less)
        slope = rho * s * s - loss + Ball.number(1 + less).log()
        if slope > 0 or slope < 0:
            return bool(slope > 0)
        raise Unsuitable("the derivative is not told from 0")

    for _ in range(220):
        middle = (low + high) / 2
        if rising(middle):
            high = middle
        else:
            low = middle
    less = Ball.number(low).union(Ball.number(high))
    rule = find_rule(given["rule"])
    return rho * (1 + less) + rule.overhead(1 + less, less, -loss, Ball)


def of_calibration(given: Mapping[str, str]) -> Reply:
    """The least sigma^2 for which the converted epsilon is at most the target."""
    bound, setting, refusal = _checked(given, sigma2=1)
    if refusal is not None:
        return refusal
    if bound.direction != "upper":
        return Reply("quantity")
    target = exact(given["target_epsilon"])
    if target <= 0:
        return Reply("target")
    if linear_in_noise(bound, setting):
        with precision(BITS):
            if "orders" in given:
                levels = [level for level in _levels(given) if level is not None]
                return Reply(None, *narrow(_least(levels))) if levels else Reply("unreachable")
            rho = linear_in_order(bound, setting)
            if rho is not None and given["rule"] == "classical":
                loss = -log_of(exact(given["delta"]), Ball)
                root = (loss + Ball.number(target)).sqrt() - loss.sqrt()
                return Reply(None, *narrow(rho / (root * root)))
    orders = orders_of(given) if "orders" in given else None
    try:
        found = calibrate(bound, setting, target, given["delta"], given["rule"], orders=orders)
    except AssumptionViolated as error:
        return Reply(error.label, setting=setting)
    except InvalidInput as error:
        if "no noise reaches" in str(error):
            return Reply("unreachable")
        raise
    if found.slack is None:
        raise Unsuitable("the least noise is not certified")
    low = found.sigma2 * (1 - Fraction(found.slack))
    return Reply(None, *outward(low, found.sigma2, SEARCH_DIGITS), None, LEAST_NOISE)


@cache
def _linear_in_noise(bound: Bound, setting: Setting) -> bool:
    with precision(BITS):
        one, four = (bound.enclose(setting.replace(sigma2=size), 80) for size in (1, 4))
        return bool((4 * four).overlaps(one))


def linear_in_noise(bound: Bound, setting: Setting) -> bool:
    """Whether the bound is proportional to 1/sigma^2, as far as two values show."""
    require(setting, bound.needs, bound.name)
    return _linear_in_noise(bound, setting)


def _levels(given: Mapping[str, str]) -> list[Any]:
    """For a bound proportional to 1/sigma^2: the noise that each order of the list needs.

    None where the order does not reach the target. Call it inside `precision`.
    """
    bound, setting = find(given["bound"]), setting_of(given).replace(sigma2=1)
    target = Ball.number(exact(given["target_epsilon"]))
    out: list[Any] = []
    for order in orders_of(given):
        room = target - _overhead(order, given)
        if room > 0:
            out.append(bound.enclose(setting.replace(alpha=order), 80) / room)
        elif room < 0:
            out.append(None)
        else:
            raise Unsuitable("the target is not told from what the rule adds")
    return out


def best_of_list(given: Mapping[str, str]) -> tuple[int, int]:
    """The place of the best order in the sorted list, and the length of the list.

    Raises:
        InvalidInput: two orders are not told apart, or it is a calibration by search.
    """
    orders = orders_of(given)
    with precision(BITS):
        if "target_epsilon" in given:
            setting = setting_of(given).replace(sigma2=1, alpha=2)
            if not linear_in_noise(find(given["bound"]), setting):
                raise InvalidInput("only a bound proportional to 1/sigma^2 tells its best order")
            values = [(order, x) for order, x in zip(orders, _levels(given), strict=True) if x]
        else:
            values = list(zip(orders, _table(given), strict=True))
        for order, value in values:
            if all(value < other or order == its for its, other in values):
                return sorted(orders).index(order), len(orders)
    raise InvalidInput("no order of the list is told to be the best")
