"""What `bounds/conversion.py` is tried by: the golden vectors and properties of its three kinds.

Each vector is asked of every function that answers it, and what a result says of itself is checked:
its enclosure, its order, its certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any

import flint

from bounds.arith.ball import Ball, precision
from bounds.arith.float64 import Float64
from bounds.arith.symbolic import Symbolic
from bounds.bound import find
from bounds.setting import AssumptionViolated, InvalidInput, exact
from verify.conformance import answers
from verify.conformance.compare import TOLERANCE, Case, Judged, judge
from verify.conformance.inquiries import Conversion
from verify.conformance.judge import OTHER_TOLERANCE, cases_of
from verify.conformance.properties import all_properties, attempt
from verify.conformance.subjects import Answer
from verify.conformance.trials import Trial
from verify.conformance.vectors import OTHERS

Given = Mapping[str, str]
Check = Callable[[ModuleType], bool]
NEAR = Fraction(1, 10**8)
BITS = 200


def trials() -> Iterator[Trial]:
    """All trials, vectors first."""
    for name in OTHERS:
        for case in cases_of(name):
            for what, check in CHECKS[name].items():
                yield _trial(f"{case.id}, {what}", "vectors", _or_refusal(case, check))
    for name in OTHERS:
        yield from _drawn(name, None)


def further() -> Iterator[Trial]:
    """More properties, for code that is said to be equivalent."""
    for seed in range(3):
        for name in OTHERS:
            yield from _drawn(name, seed)


def _trial(name: str, kind: str, check: Check) -> Trial:
    return Trial(name, kind, lambda loaded: check(loaded.module))


def _or_refusal(case: Case, check: Callable[[ModuleType, Case], bool]) -> Check:
    def passes(m: ModuleType) -> bool:
        if case.valid:
            return check(m, case)
        try:
            check(m, case)
        except AssumptionViolated as error:
            return error.label == case.assumption
        except InvalidInput:
            return True
        return False

    return passes


def _listed(given: Given, key: str) -> list[str] | None:
    if key not in given:
        return None
    return given[key].split(",") if given[key] else []


def _ends(case: Case) -> tuple[Fraction, Fraction]:
    # A refusal has no ends, and is seen before they are used.
    return Fraction(case.lower or 0), Fraction(case.upper or 0)


# Tables


def _in_doubles(m: ModuleType, case: Case) -> bool:
    given, (low, high) = case.input, _ends(case)
    values = [float(exact(text)) for text in _listed(given, "epsilons") or []]
    if not values:
        raise InvalidInput("no order is given")
    found = m.convert_many(values, _listed(given, "orders"), given["delta"], given["rule"])
    least = Fraction(float(min(found)))
    if min(values) < 0:
        raise InvalidInput("convert_many leaves that to what gives the values")
    return bool(low <= least <= high * (1 + NEAR) + Fraction(1, 10**12))


def _one_by_one(m: ModuleType, case: Case) -> bool:
    given, (low, high) = case.input, _ends(case)
    pairs = zip(_listed(given, "orders") or [], _listed(given, "epsilons") or [], strict=False)
    if len(_listed(given, "orders") or []) != len(_listed(given, "epsilons") or []):
        raise InvalidInput("the lists differ in length")
    made = [m.convert(value, order, given["delta"], given["rule"]) for order, value in pairs]
    if not made:
        raise InvalidInput("no order is given")
    best = min(made, key=lambda item: Fraction(item.upper))
    return _encloses(best, low, high) and all(map(_consistent, made))


def _encloses(found: Any, low: Fraction, high: Fraction) -> bool:
    """Whether a result's ends are narrow, and meet an enclosure."""
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    return lower <= high and upper >= low and upper - lower <= upper * Fraction(1, 10**35)


def _consistent(found: Any) -> bool:
    """Whether the parts of a result say the same."""
    lower, upper = Fraction(found.formula_lower), Fraction(found.formula_upper)
    least, most = max(lower, Fraction(0)), max(upper, Fraction(0))
    with precision(BITS):
        renyi = flint.arb(found.renyi_lower).union(flint.arb(found.renyi_upper))
        total = flint.arb(found.formula_lower).union(flint.arb(found.formula_upper))
        overhead = _overhead(found.rule, found.order, found.delta)
        same = (renyi + overhead).overlaps(total)
    return bool(
        same
        and found.clipped == (lower < 0)
        and Fraction(found.lower) == least
        and Fraction(found.upper) == most
        and most <= Fraction(found.epsilon) <= most * (1 + NEAR / 10**7)
        and set(found.as_json()) >= {"order", "delta", "lower", "upper", "renyi", "rule"}
    )


def _overhead(rule: str, order: Fraction, delta: Fraction) -> Any:
    """g by definition, in balls: by the formulas as printed."""
    alpha, share = Ball.number(order), Ball.number(delta)
    if rule == "classical":
        return -share.log() / (alpha - 1)
    return ((alpha - 1) / alpha).log() - (share.log() + alpha.log()) / (alpha - 1)


def _formulas(m: ModuleType, case: Case) -> bool:
    """Both forms of the rule at each order, in every number system that has them."""
    given = case.input
    delta = m._delta(given["delta"])
    orders = [m._order(text) for text in _listed(given, "orders") or []]
    values = [exact(text) for text in _listed(given, "epsilons") or []]
    if not orders or len(orders) != len(values) or min(values) < 0:
        raise InvalidInput("no such table")
    rule = m.find_rule(given["rule"])
    for order, value in list(zip(orders, values, strict=True))[:4]:
        with precision(BITS):
            right = Ball.number(value) + _overhead(rule.name, order, delta)
            ball = m.formula(Ball.number(value), order, delta, Ball, rule.name)
            printed = rule.printed(Ball.number(value), Ball.number(order), Ball.number(delta), Ball)
            if not (ball.overlaps(right) and printed.overlaps(right)):
                return False
            double = m.formula(float(value), order, delta, Float64, rule)
            size = float(value) + float(abs(right).upper()) + 1
            if abs(double - float(right.mid())) > 1e-12 * size:
                return False
        if order.denominator < 100 and value == values[0]:
            letters = m.formula(Symbolic.number(value), order, delta, Symbolic, rule)
            with precision(BITS):
                if not flint.arb(f"{letters.evalf(40)} +/- 1e-30").overlaps(right):
                    return False
    return True


# A bound at a setting


def _best(m: ModuleType, case: Case) -> bool:
    given, (low, high) = case.input, _ends(case)
    orders = _listed(given, "orders")
    found = m.best_order(
        given["bound"], answers.setting_of(given), given["delta"], given["rule"], orders=orders
    )
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    listed = None if orders is None else sorted(map(exact, orders))
    ends = found.searched
    return bool(
        low <= upper <= high * (1 + NEAR)
        and lower <= high * (1 + NEAR)
        and _consistent(found)
        and found.gap is not None
        and Fraction(found.gap) <= NEAR
        and found.bound == given["bound"]
        and found.setting.alpha == found.order
        and ends[0] <= found.order <= ends[1]
        and (
            listed is None
            or (
                found.order in listed
                and found.at_edge == (found.order in (listed[0], listed[-1]))
                and ends == (listed[0], listed[-1])
            )
        )
    )


def _extra(m: ModuleType, case: Case) -> bool:
    """A second run of the same mechanism, as an extra curve of either form, doubles the curve."""
    given = case.input
    orders = _listed(given, "orders")
    if orders is None or len(orders) > 20 or not case.valid:
        return _best(m, case)
    bound, setting = find(given["bound"]), answers.setting_of(given)

    def curve(order: Fraction) -> Any:
        return bound.enclose(setting.replace(alpha=order), 60)

    table = {order: curve(exact(order)) for order in orders}
    found = [
        m.best_order(bound, setting, given["delta"], given["rule"], orders=orders, extra=curve),
        m.best_order(bound, setting, given["delta"], given["rule"], extra=table),
        m.best_order(bound, setting, given["delta"], given["rule"], extra=list(table.items())),
    ]
    with precision(BITS):
        least = min(
            (
                2 * value + _overhead(given["rule"], exact(order), exact(given["delta"]))
                for order, value in table.items()
            ),
            key=lambda ball: ball.mid(),
        )
        right = max(Fraction(str(Decimal(float(least.mid())))), Fraction(0))
    return all(
        abs(Fraction(item.upper) - right) <= NEAR * (1 + right) and len(item.notes)
        for item in found
    )


# Calibration


def _calibrated(m: ModuleType, case: Case) -> bool:
    given, (low, high) = case.input, _ends(case)
    setting = answers.setting_of(given)
    found = m.calibrate(
        given["bound"], setting, given["target_epsilon"], given["delta"], given["rule"],
        orders=_listed(given, "orders"),
    )  # fmt: skip
    assert setting.b is not None and setting.eta is not None and setting.sensitivity is not None
    square = 8 * setting.b**2 * found.sigma2 / (setting.eta * setting.sensitivity**2)
    target = exact(given["target_epsilon"])
    return bool(
        low <= found.sigma2 <= high * (1 + NEAR)
        and found.target == target
        and target * (1 - NEAR) <= Fraction(found.conversion.upper) <= target
        and _consistent(found.conversion)
        and found.slack is not None
        and Fraction(found.slack) <= NEAR
        and found.setting.sigma2 == found.sigma2
        and Fraction(found.noise_multiplier_lower) ** 2 <= square
        and square <= Fraction(found.noise_multiplier_upper) ** 2
        and set(found.as_json()) >= {"sigma2", "slack", "conversion"}
    )


CHECKS: dict[str, dict[str, Callable[[ModuleType, Case], bool]]] = {
    "conversion": {
        "in doubles": _in_doubles, "order by order": _one_by_one, "formulas": _formulas,
    },
    "conversion_of_bound": {"best order": _best, "with an extra curve": _extra},
    "calibration": {"least noise": _calibrated},
}  # fmt: skip


# Properties


def answer(m: ModuleType, name: str, given: Given) -> Decimal:
    """What the code says to a question."""
    orders, rule = _listed(given, "orders"), given["rule"]
    if name == "conversion":
        values = [float(exact(text)) for text in _listed(given, "epsilons") or []]
        if min(values) < 0:
            raise InvalidInput("a negative divergence")
        return Decimal(float(min(m.convert_many(values, orders, given["delta"], rule))))
    setting = answers.setting_of(given)
    if name == "conversion_of_bound":
        best = m.best_order(given["bound"], setting, given["delta"], rule, orders=orders)
        return Decimal(best.upper)
    found = m.calibrate(
        given["bound"], setting, given["target_epsilon"], given["delta"], rule, orders=orders
    )
    return Decimal(found.sigma2.numerator) / Decimal(found.sigma2.denominator)


def _drawn(name: str, seed: int | None) -> Iterator[Trial]:
    about, tolerance = Conversion(name), OTHER_TOLERANCE.get(name, TOLERANCE)
    for which in all_properties(about):

        def passes(m: ModuleType, which: Any = which) -> bool:
            def ask(case: Case) -> Judged:
                try:
                    found = Answer("value", "", answer(m, name, case.input))
                except InvalidInput as error:
                    found = Answer("refused", str(error))
                except Exception as error:
                    found = Answer("crashed", repr(error), fatal=True)
                return judge(case, found, case.setting, tolerance, True)

            return attempt(which, about, ask, lambda q: q, tolerance, "quick", seed).broken is None

        yield _trial(f"{name}: {which.name}", "properties", passes)
