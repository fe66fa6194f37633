"""What `bounds/conversion.py` is tried by: the golden vectors and properties of its three kinds.

Each vector is asked of every function that answers it, and what a result says of itself is checked:
its enclosure, its order, its certificate.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any

import flint
import numpy as np

from bounds.arith.ball import Ball, decimal_bounds, precision
from bounds.arith.float64 import Float64
from bounds.arith.symbolic import Symbolic
from bounds.bound import Bound, find
from bounds.setting import AssumptionViolated, InvalidInput, Setting, exact, show
from verify.conformance import answers
from verify.conformance.compare import TOLERANCE, Case, Judged, judge
from verify.conformance.conversions import UNIT
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
    for what, passes in CURVES.items():
        yield _trial(what, "vectors", passes)
    for what, call in REFUSED.items():
        yield _trial(f"refuses {what}", "vectors", _refuses(call))
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
    return (
        _encloses(best, low, high)
        and all(map(_consistent, made))
        and _as_ball(m, made[0])
        and _cancels(m, made[0])
    )


def _as_ball(m: ModuleType, made: Any) -> bool:
    """Whether a ball is converted as the number that it is about."""
    with precision(BITS):
        ball = flint.arb(made.renyi_lower).union(flint.arb(made.renyi_upper))
    again = m.convert(ball, made.order, made.delta, made.rule)
    low, high = Fraction(again.formula_lower), Fraction(again.formula_upper)
    return bool(low <= Fraction(made.formula_upper) and Fraction(made.formula_lower) <= high)


def _cancels(m: ModuleType, made: Any) -> bool:
    """Whether digits are raised for a curve that all but makes up for a negative overhead."""
    with precision(4 * BITS):
        overhead = _overhead(made.rule, made.order, made.delta)
        if not overhead < 0 or not made.order < 10**20:
            return True
        value = Fraction(str(Decimal(decimal_bounds(-overhead, 30)[1])))
        right = Ball.number(value) + _overhead(made.rule, made.order, made.delta)
        low, high = (Fraction(end) for end in decimal_bounds(right, 40))
    return _encloses(m.convert(value, made.order, made.delta, made.rule), low, high)


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
        and most <= Fraction(found.epsilon)
        and (most == 0 or Fraction(math.nextafter(found.epsilon, 0.0)) < most)
        and _plain(found)
    )


def _plain(found: Any) -> bool:
    """Whether a result's plain data say what it does."""
    data = json.loads(json.dumps(found.as_json()))
    texts = ("rule", "source", "lower", "upper", "clipped", "at_edge", "gap", "certificate")
    return bool(
        all(data[key] == getattr(found, key) for key in texts)
        and (data["bound"] or "", data["statement"] or "") == (found.bound, found.statement)
        and (data["bound"] is None) == (not found.bound)
        and (exact(data["order"]), exact(data["delta"])) == (found.order, found.delta)
        and float(data["epsilon"]) == found.epsilon
        and data["renyi"] == {"lower": found.renyi_lower, "upper": found.renyi_upper}
        and list(map(exact, data["searched"] or ())) == list(found.searched or ())
    )


def _of_its_bound(found: Any) -> bool:
    """Whether the curve at the order is that of the bound at the setting."""
    with precision(BITS):
        renyi = flint.arb(found.renyi_lower).union(flint.arb(found.renyi_upper))
        return bool(find(found.bound).enclose(found.setting, 50).overlaps(renyi))


def _overhead(rule: str, order: Fraction, delta: Fraction) -> Any:
    """g by definition, in balls: by the formulas as printed."""
    alpha, share = Ball.number(order), Ball.number(delta)
    if rule == "classical":
        return -share.log() / (alpha - 1)
    return ((alpha - 1) / alpha).log() - (share.log() + alpha.log()) / (alpha - 1)


def _formulas(m: ModuleType, case: Case) -> bool:
    """Both forms of the rule at each order, in every number system that has them.

    Beyond the deltas of the vectors, also at those that no double tells from 0 or from 1.
    """
    given = case.input
    delta = m._delta(given["delta"])
    orders = [m._order(text) for text in _listed(given, "orders") or []]
    values = [exact(text) for text in _listed(given, "epsilons") or []]
    if not orders or len(orders) != len(values) or min(values) < 0:
        raise InvalidInput("no such table")
    rule = m.find_rule(given["rule"])
    rows = list(zip(orders, values, strict=True))[:4]
    farther = (delta**8, 1 - delta**8)
    for order, value, share in [(*row, d) for row in rows[:1] for d in farther]:
        with precision(4 * BITS):
            sure = Ball.number(value) + _overhead(rule.name, order, share)
            true = float(sure.mid())
        double = float(m.convert_many([float(value)], [order], share, rule)[0])
        size = float(value) + abs(true) + 1
        if not max(true, 0) * (1 - 1e-15) <= double <= max(true, 0) + 1e-12 * size:
            return False
    for share in (delta, *farther):
        with precision(50 * BITS):
            true = float(Ball.number(share).log().mid())
        if abs(m.log_of(share, Float64) - true) > 1e-14 * abs(true) + 1e-299:
            return False
    for order, value in rows:
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
        and _of_its_bound(found)
        and found.gap is not None
        and Fraction(found.gap) <= NEAR
        and upper * (1 - Fraction(found.gap)) <= high
        and found.bound == given["bound"]
        and found.setting.alpha == found.order
        and ends[0] <= found.order <= ends[1]
        and (listed is not None or found.at_edge == (found.order in ends))
        and (
            listed is None
            or (
                _encloses(found, low, high)
                and found.order in listed
                and found.at_edge == (found.order in (listed[0], listed[-1]))
                and ends == (listed[0], listed[-1])
            )
        )
    )


def _extra(m: ModuleType, case: Case) -> bool:
    """A second run of the same mechanism, as an extra curve of either form, doubles the curve."""
    given = case.input
    orders = _listed(given, "orders")
    if not case.valid:
        return _best(m, case)
    if orders is None and given["bound"] == "one_update":
        return _queries(m, given)
    if orders is None or len(orders) > 20:
        return True
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


def _queries(m: ModuleType, given: Given) -> bool:
    """Gaussian queries add to the slope of a curve that is proportional to the order."""
    setting = answers.setting_of(given)
    delta, rule, rho = given["delta"], given["rule"], setting.replace(alpha=1).rate
    for extra, slope in (
        (m.gaussian_queries("0.5", 3), 6),
        (m.gaussian_queries(1), Fraction(1, 2)),
    ):
        found = m.best_order("one_update", setting, delta, rule, extra=extra)
        assert setting.sigma2 is not None
        less = setting.sigma2 * rho / (rho + slope)
        right = answers.of_conversion_of_bound({**given, "sigma2": show(less)})
        low, high = Fraction(right.lower or 0), Fraction(right.upper or 0)
        upper = Fraction(found.upper)
        if not (low <= upper <= high * (1 + NEAR) and found.notes and found.gap is not None):
            return False
        if not (Fraction(found.gap) <= NEAR and upper * (1 - Fraction(found.gap)) <= high):
            return False
    return True


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
        and Fraction(found.conversion.upper) <= target
        and len(str(found.sigma2.numerator * 10**400 // found.sigma2.denominator).rstrip("0")) <= 13
        and _consistent(found.conversion)
        and _of_its_bound(found.conversion)
        and found.conversion.setting.sigma2 == found.sigma2
        and found.slack is not None
        and Fraction(found.slack) <= NEAR
        and found.sigma2 * (1 - Fraction(found.slack)) <= high
        and found.setting.sigma2 == found.sigma2
        and Fraction(found.noise_multiplier_lower) ** 2 <= square
        and square <= Fraction(found.noise_multiplier_upper) ** 2
        and set(found.as_json()) >= {"sigma2", "slack", "conversion"}
    )


# Curves of no bound, and what is refused

ONE = find("one_update")
RUN = Setting.of(**UNIT, sigma2=250)
"""A curve alpha/1000."""


def _jump(height: float) -> Any:
    """alpha/1000, higher beyond order 20, and no doubles beyond 100000."""

    def curve(p: Any, ctx: Any) -> Any:
        if ctx.name == "float64":
            if np.any(np.asarray(p.alpha) > 1e5):
                raise OverflowError("too large an order")
            return p.alpha * p.rate + np.where(p.alpha > 20, height, 0.0)
        return p.alpha * p.rate + ctx.number(Fraction(height) if p.order > 20 else 0)

    return replace(ONE, epsilon=curve)


def _jumps(m: ModuleType) -> bool:
    """The lower of two dips is found, on either side."""
    for height, side in ((0.5, "low"), (0.01, "high")):
        found = m.best_order(_jump(height), RUN, "1e-5", "classical")
        low, loss = 0.02 + math.log(1e5) / 19, math.log(1e5)
        high = 0.001 + 2 * math.sqrt(0.001 * loss) + height
        if abs(found.epsilon / min(low, high) - 1) > 1e-6 or (found.order <= 20) != (side == "low"):
            return False
    listed = m.best_order(_jump(0.5), RUN, "1e-5", "classical", orders=[18, 20, 21, "1e6"])
    return bool(listed.order == 20 and "3 orders of the list at which" in listed.certificate)


def _wall(m: ModuleType) -> bool:
    """A curve that is infinite from some order on is minimised right before that."""
    setting = Setting.of(
        n=50, b=5, epochs=200, eta="0.1", lambda_="0.5", beta=2, sensitivity=2, sigma2="0.05"
    )
    bound = find("without_replacement")
    found = m.best_order(bound, setting, "1e-5")
    if found.at_edge or found.gap is None or Fraction(found.gap) > NEAR:
        return False
    for factor in ("0.5", "0.9", "0.99", "0.9999", "1.0001", "1.01", "1.1", "2"):
        order = 1 + (found.order - 1) * Fraction(factor)
        value = bound.enclose(setting.replace(alpha=order), 50)
        with precision(BITS):
            other = value + _overhead(found.rule, order, found.delta)
            if other.is_finite() and not other > Ball.number(Fraction(found.lower)):
                return False
    return True


def _no_loss(m: ModuleType) -> bool:
    """A curve that is 0 is best at the largest order that is tried."""
    zero = replace(ONE, epsilon=lambda p, ctx: p.alpha * 0)
    found = m.best_order(zero, RUN, "1e-5", "classical")
    other = m.best_order(zero, RUN, "1e-5")
    return bool(found.at_edge and 0 < found.epsilon < 1e-100 and other.epsilon == 0)


def _misled(m: ModuleType) -> bool:
    """Where doubles lead a little aside, balls lead back: the answer is 1e-9 too large else."""
    found = m.best_order(
        replace(ONE, epsilon=lambda p, ctx: (
            p.alpha * p.rate * (1.0001 if ctx.name == "float64" else 1)
        )),
        RUN, "1e-5", "classical",
    )  # fmt: skip
    with precision(BITS):
        rho, loss = Ball.number(Fraction(1, 1000)), -Ball.number(Fraction(1, 10**5)).log()
        true = Fraction(decimal_bounds(rho + 2 * (rho * loss).sqrt(), 50)[1])
    upper = Fraction(found.upper)
    return bool(
        true <= upper <= true * (1 + Fraction(1, 10**10))
        and found.gap is not None
        and upper * (1 - Fraction(found.gap)) <= true
    )


GROWTHS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[float], float]]] = {
    "as usual": (lambda rate, ctx: rate, lambda slope: slope),
    "fast": (lambda rate, ctx: rate * rate * rate, lambda slope: slope ** (1 / 3)),
    "slowly": (lambda rate, ctx: ctx.log1p(rate), math.expm1),
}
"""The slope in the order as a function of the rate 1/(4 sigma^2), and the inverse."""


def _sloping(slope: Callable[[Any, Any], Any]) -> Bound:
    return replace(ONE, epsilon=lambda p, ctx: p.alpha * slope(p.rate, ctx))


def _noise(m: ModuleType) -> bool:
    """The least noise where the slope in the order depends on it in several ways."""
    for slope, inverse in GROWTHS.values():
        bound = _sloping(slope)
        for target in (0.25, 80.0):
            loss, text = math.log(1e5), str(target)
            right = 1 / (4 * inverse((math.sqrt(loss + target) - math.sqrt(loss)) ** 2))
            found = m.calibrate(bound, RUN, text, "1e-5", "classical")
            if found.slack is None or abs(float(found.sigma2) / right - 1) > 1e-8:
                return False
            # Gaussian queries beside it take a part of what each order leaves.
            orders = (2.0, 8.0, 32.0, 512.0)
            slopes = [(target - loss / (order - 1)) / order - 1e-5 for order in orders]
            right = 1 / (4 * inverse(max(slopes)))
            found = m.calibrate(
                bound, RUN, text, "1e-5", "classical", orders=[512, 8, 2, 32],
                extra=lambda order: order / 10**5,
            )  # fmt: skip
            if found.slack is None or abs(float(found.sigma2) / right - 1) > 1e-8:
                return False
            best = orders[slopes.index(max(slopes))]
            if found.conversion.order != best or "4 orders of the list" not in found.certificate:
                return False
    return True


def _words(m: ModuleType) -> bool:
    """Numbers in sentences are short, and right to six digits."""
    numbers = [Fraction(text) for text in ("1/2", "7", "1/3", "-2e-9", f"1/{3**80}", f"{7**60}")]
    numbers.append(Fraction("0." + "3" * 39))
    return all(
        len(m._short(x)) <= 40 and abs(Fraction(m._short(x)) / x - 1) < Fraction(1, 10**5)
        for x in numbers
    ) and all(m._short(x) == show(x) for x in numbers if len(show(x)) <= 40)  # fmt: skip


CURVES: dict[str, Check] = {
    "two dips": _jumps, "a wall": _wall, "no loss": _no_loss, "doubles led aside": _misled,
    "noise for three slopes": _noise, "numbers in sentences": _words,
}  # fmt: skip

REFUSED: dict[str, Callable[[ModuleType], object]] = {
    "no such rule": lambda m: m.convert(1, 2, "0.1", "best"),
    "queries without noise": lambda m: m.gaussian_queries(0),
    "no query": lambda m: m.gaussian_queries(1, 0),
    "a negative value": lambda m: m.convert(-1, 2, "0.1"),
    "one value for two orders": lambda m: m.convert_many([1.0], [2, 3], "0.1"),
    "a negative extra curve": lambda m: m.best_order(ONE, RUN, "0.1", extra=lambda order: -order),
    "a negative extra value": lambda m: m.best_order(ONE, RUN, "0.1", extra={2: -1}),
    "no extra value at an order": lambda m: m.best_order(
        ONE, RUN, "0.1", orders=[2, 3], extra={2: 1}
    ),
    "an empty extra curve": lambda m: m.best_order(ONE, RUN, "0.1", extra={}),
    "a lower bound": lambda m: m.best_order(replace(ONE, direction="lower"), RUN, "0.1"),
    "no finite value": lambda m: m.best_order(
        replace(ONE, epsilon=lambda p, ctx: p.alpha * math.inf), RUN, "0.1"
    ),
    "no finite value of a list": lambda m: m.best_order(
        replace(ONE, epsilon=lambda p, ctx: p.alpha * math.inf), RUN, "0.1", orders=[2, 3]
    ),
    "a target beyond doubles": lambda m: m.calibrate(ONE, RUN, "1e400", "0.1"),
    "a target below doubles": lambda m: m.calibrate(ONE, RUN, "1e-300", "0.1"),
    "a target below the extra curve": lambda m: m.calibrate(
        ONE, RUN, "0.5", "0.1", extra=lambda order: order
    ),
    "a target that is always met": lambda m: m.calibrate(
        replace(ONE, epsilon=lambda p, ctx: p.alpha * 0), RUN, 1, "0.1"
    ),
}


def _refuses(call: Callable[[ModuleType], object]) -> Check:
    """Whether a call is refused in one line."""

    def passes(m: ModuleType) -> bool:
        try:
            call(m)
        except InvalidInput as error:
            return len(str(error)) > 10 and "\n" not in str(error)
        return False

    return passes


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
        if not values or min(values) < 0:
            raise InvalidInput("no divergence, or a negative one")
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
