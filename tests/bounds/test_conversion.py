"""Conversion and calibration against closed forms, grids, golden values and wrong versions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds import conversion
from bounds.arith import NotRational
from bounds.arith.ball import Ball, precision
from bounds.arith.exact import Exact
from bounds.arith.float64 import Float64
from bounds.arith.multiprecision import Multiprecision
from bounds.arith.symbolic import Symbolic
from bounds.bound import find
from bounds.conversion import (
    CANONNE_KAMATH_STEINKE_2020,
    CLASSICAL,
    RULES,
    Calibration,
    Rule,
    best_order,
    calibrate,
    convert,
    convert_many,
    find_rule,
    formula,
    gaussian_queries,
    log_of,
)
from bounds.setting import AssumptionViolated, InvalidInput, MissingParameter, NotExact, Setting

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "conversions.json").read_text(encoding="utf-8")
)["cases"]
SINGLE = [case for case in GOLDEN if case["conversion"] in RULES]
MINIMA = [case for case in GOLDEN if case["conversion"].endswith("_minimum")]
DELTAS = ("1e-5", "1e-12", "0.1", "0.999", "1e-300", "1e-2000", "0.9999999999999999999999")
BOTH = tuple(RULES)
RUN = Setting.of(n=60, b=6, epochs=5, eta="0.1", lambda_="0.5", beta=2, sensitivity=2, sigma2=1)
QUICK = settings(max_examples=25, deadline=None)


def gaussian(rho: Fraction) -> Setting:
    """A setting at which `one_update` is rho alpha."""
    return Setting.of(n=1, b=1, epochs=1, eta=1, sensitivity=1, sigma2=1 / (4 * rho))


def golden_rule(case: dict[str, Any]) -> str:
    return "classical" if "classical" in case["conversion"] else "canonne_kamath_steinke_2020"


def near(text: str, golden: str, digits: int) -> bool:
    """Whether two decimals agree to so many digits."""
    with localcontext() as context:
        context.prec = 80
        return abs(Decimal(text) - Decimal(golden)) <= abs(Decimal(golden)).scaleb(-digits)


def log_uniform(low: float, high: float) -> st.SearchStrategy[Fraction]:
    return st.floats(math.log10(low), math.log10(high)).map(lambda x: Fraction(f"{10**x:.6e}"))


deltas = log_uniform(1e-14, 0.5) | st.sampled_from([Fraction(text) for text in DELTAS])
orders_above_one = log_uniform(1e-6, 1e6).map(lambda less: 1 + less)
divergences = st.just(Fraction(0)) | log_uniform(1e-12, 1e6)
rules = st.sampled_from(BOTH)


# One order


@pytest.mark.parametrize("case", SINGLE, ids=lambda case: f"{case['conversion']} {case['why']}")
def test_convert_agrees_with_the_golden_values(case: dict[str, Any]) -> None:
    given_ = case["setting"]
    answer = convert(given_["epsilon"], given_["alpha"], given_["delta"], case["conversion"])
    assert near(answer.formula_lower, case["value"], 38)
    assert near(answer.formula_upper, case["value"], 38)
    true = max(Fraction(case["value"]), Fraction(0))
    assert Fraction(answer.lower) <= Fraction(answer.upper) <= Fraction(answer.epsilon)
    assert abs(Fraction(answer.upper) - true) <= true / 10**38
    assert answer.epsilon <= float(true) * (1 + 1e-15)
    assert answer.clipped == (Fraction(case["value"]) < 0)
    many = convert_many([float(Fraction(given_["epsilon"]))], [given_["alpha"]],
                        given_["delta"], case["conversion"])  # fmt: skip
    assert float(many[0]) >= float(true)
    assert float(many[0]) <= float(true) + 1e-12 * (float(true) + 12)


MUTANT_RULES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "1/(alpha - 1) dropped": lambda alpha, less, log_delta, ctx: -log_delta,
    "1/alpha for 1/(alpha - 1)": lambda alpha, less, log_delta, ctx: -log_delta / alpha,
    "binary logarithm": lambda alpha, less, log_delta, ctx: -log_delta / less / ctx.log(2.0),
    "delta ignored": lambda alpha, less, log_delta, ctx: 0 * less,
    "delta for 1/delta": lambda alpha, less, log_delta, ctx: log_delta / less,
    "log((alpha-1)/alpha) over alpha - 1": lambda alpha, less, log_delta, ctx: (
        -ctx.log1p(1 / less) - log_delta - ctx.log1p(less)
    ) / less,
    "sign of log alpha": lambda alpha, less, log_delta, ctx: (
        -ctx.log1p(1 / less) - (log_delta - ctx.log1p(less)) / less
    ),
    "log alpha lost": lambda alpha, less, log_delta, ctx: (
        -ctx.log1p(1 / less) - log_delta / less
    ),
}  # fmt: skip


def agrees_with_golden(rule: Rule, name: str) -> bool:
    for case in SINGLE:
        if case["conversion"] == name:
            text = case["setting"]
            numbers = (Fraction(text[key]) for key in ("alpha", "epsilon", "delta"))
            alpha, value, delta = numbers
            got = formula(float(value), alpha, delta, Float64, rule)
            if abs(got - float(case["value"])) > 1e-11 * (1 + abs(float(case["value"]))):
                return False
    return True


@pytest.mark.parametrize("name", BOTH)
def test_the_golden_values_reject_wrong_rules(name: str) -> None:
    assert agrees_with_golden(RULES[name], name)
    for what, overhead in MUTANT_RULES.items():
        assert not agrees_with_golden(replace(RULES[name], overhead=overhead), name), what


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_formula_is_the_printed_one(rule: Rule) -> None:
    alpha, value, delta = sp.symbols("alpha epsilon delta", positive=True)
    ours = formula(value, alpha, delta, Symbolic, rule)
    theirs = rule.printed(value, alpha, delta, Symbolic)
    for point in ((sp.Rational(3, 2), 1), (7, sp.Rational(1, 3)), (1000, 0)):
        at = {alpha: point[0], value: point[1], delta: sp.Rational(1, 100)}
        assert abs(sp.N((ours - theirs).subs(at), 50, maxn=400, chop=False)) < sp.Float("1e-45")
    with precision(300):
        for order in (Fraction(3, 2), Fraction(7), Fraction(1000), 1 + Fraction(1, 10**9)):
            share, eps = Fraction(1, 10**5), Ball.number(Fraction(1, 7))
            left = formula(eps, order, share, Ball, rule)
            right = rule.printed(eps, Ball.number(order), Ball.number(share), Ball)
            assert left.overlaps(right)
            assert (left - right).abs_upper() < Ball.number(Fraction(1, 10**60))


@pytest.mark.parametrize("rule", BOTH)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("alpha", ["1.000000001", "2", "1e6", "1e18"])
def test_number_systems_agree(rule: str, delta: str, alpha: str) -> None:
    order, share = Fraction(alpha), Fraction(delta)
    fine = Multiprecision(60)
    true = formula(fine.number(1), order, share, fine, rule)
    with precision(260):
        ball = formula(Ball.number(1), order, share, Ball, rule)
    assert near(str(fine.mp.nstr(true, 50)), ball.mid().str(50, radius=False), 40)
    assert formula(1.0, order, share, Float64, rule) == pytest.approx(float(true), rel=1e-14)


def test_exact_arithmetic_refuses_logarithms() -> None:
    with pytest.raises(NotRational):
        formula(Fraction(1), Fraction(2), Fraction(1, 10), Exact, "classical")


def test_logarithms_near_one_and_far_below_doubles() -> None:
    assert log_of(1 - Fraction(1, 10**30), Float64) == pytest.approx(-1e-30, rel=1e-15)
    assert log_of(Fraction(1, 10**5000), Float64) == pytest.approx(-5000 * math.log(10))


@QUICK
@given(divergences, orders_above_one, deltas)
@example(Fraction(0), Fraction(5), Fraction(1, 2))
@example(Fraction(1), Fraction(10) ** 18, Fraction(1, 10**300))
@example(Fraction(1), 1 + Fraction(1, 10**18), Fraction(1, 10))
def test_the_tighter_rule_is_never_above(value: Fraction, alpha: Fraction, delta: Fraction) -> None:
    loose, tight = (convert(value, alpha, delta, rule) for rule in BOTH)
    assert Fraction(tight.formula_upper) <= Fraction(loose.formula_lower)
    assert tight.epsilon <= loose.epsilon


@QUICK
@given(divergences, orders_above_one, deltas, deltas, rules)
@example(Fraction(1), Fraction(2), Fraction(1, 10**2000), Fraction(1, 10**1999), "classical")
def test_more_delta_costs_less(
    value: Fraction, alpha: Fraction, one: Fraction, other: Fraction, rule: str
) -> None:
    small, large = sorted((one, other))
    assert convert(value, alpha, large, rule).epsilon <= convert(value, alpha, small, rule).epsilon


@QUICK
@given(st.lists(st.tuples(divergences, orders_above_one), min_size=1, max_size=6), deltas, rules)
def test_many_orders_are_never_below(
    pairs: list[tuple[Fraction, Fraction]], delta: Fraction, rule: str
) -> None:
    values = [float(value) for value, _ in pairs]
    answers = convert_many(values, [order for _, order in pairs], delta, rule)
    for value, (_, order), answer in zip(values, pairs, answers, strict=True):
        assert Fraction(float(answer)) >= Fraction(
            convert(Fraction(value), order, delta, rule).lower
        )


def test_a_negative_value_is_reported_as_zero() -> None:
    answer = convert(0, 5, "1/2")
    assert answer.clipped
    assert (answer.epsilon, answer.lower, answer.upper) == (0.0, "0", "0")
    assert answer.formula_upper.startswith("-")


def test_convert_takes_a_ball() -> None:
    with precision(200):
        ball = Ball.number(Fraction(1, 20))
    assert convert(ball, 10, "1e-5").order == 10
    assert convert(ball, 10, "1e-5").upper[:30] == convert("0.05", 10, "1e-5").upper[:30]


# The best order


@pytest.mark.parametrize("case", MINIMA, ids=lambda case: str(case["setting"]))
def test_best_order_agrees_with_the_golden_minima(case: dict[str, Any]) -> None:
    rho, delta = Fraction(case["setting"]["rho"]), case["setting"]["delta"]
    answer = best_order("one_update", gaussian(rho), delta, golden_rule(case))
    true, at = Fraction(case["value"]), float(case["alpha"])
    assert Fraction(answer.formula_upper) >= true - abs(true) / 10**50
    assert float(answer.formula_upper) == pytest.approx(float(true), rel=1e-13)
    assert float(answer.order) - 1 == pytest.approx(at - 1, rel=1e-4 if true < 0 else 1e-6)
    assert answer.clipped == (true < 0)
    assert answer.gap is not None
    assert float(answer.gap) < 1e-11
    assert not answer.at_edge
    assert answer.setting.alpha == answer.order
    assert len(str(answer.order)) < 30


CLOSED = ("one_update", "fixed_order", "shuffle_partition", "bok_2024_cyclic", "recursion_combined")


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(CLOSED), log_uniform(1e-4, 1e4), deltas, rules)
@example("one_update", Fraction(10) ** 30, Fraction(1, 10**5), "classical")
@example("one_update", Fraction(1, 10**30), Fraction(1, 10**5), "classical")
@example("shuffle_partition", Fraction(1, 10**6), Fraction(1, 10**12), "classical")
def test_no_grid_value_is_below_the_best(
    name: str, sigma2: Fraction, delta: Fraction, rule: str
) -> None:
    run = RUN.replace(sigma2=sigma2)
    answer = best_order(name, run, delta, rule)
    assert grid_is_not_below(float(answer.formula_upper), name, run, delta, rule)
    assert answer.gap is not None
    assert float(answer.gap) < 1e-5
    assert Fraction(answer.lower) <= Fraction(answer.upper) <= Fraction(answer.epsilon)


def grid_is_not_below(value: float, name: str, run: Setting, delta: Fraction, rule: str) -> bool:
    less = [Fraction(2) ** k * (1 + Fraction(j, 5)) for k in range(-60, 120, 4) for j in range(5)]
    orders = [1 + s for s in less]
    curve = find(name).raw(run, orders)
    total = np.array([
        formula(float(eps), order, delta, Float64, rule)
        for eps, order in zip(curve, orders, strict=True)
    ])  # fmt: skip
    return bool(np.all(value <= total + 1e-10 * np.abs(total) + 1e-13))


def test_a_narrow_grid_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    run, delta = gaussian(Fraction(1, 10**6)), Fraction(1, 10**5)
    wide = best_order("one_update", run, delta)
    assert grid_is_not_below(float(wide.upper), "one_update", run, delta, wide.rule)
    monkeypatch.setattr(conversion, "FIRST_OCTAVES", (0, 6))
    monkeypatch.setattr(conversion, "LAST_OCTAVES", (0, 6))
    narrow = best_order("one_update", run, delta)
    assert not grid_is_not_below(float(narrow.upper), "one_update", run, delta, narrow.rule)
    assert narrow.at_edge
    assert narrow.gap is None or float(narrow.gap) > 0.1


def test_a_curve_with_a_wall_is_minimised_before_it() -> None:
    run = RUN.replace(n=50, b=5, epochs=200, sigma2="0.05")
    answer = best_order("without_replacement", run, "1e-5")
    assert not answer.at_edge
    assert answer.gap is not None
    assert float(answer.gap) < 1e-9
    for factor in ("0.5", "0.9", "0.99", "1.01", "1.1", "2"):
        order = 1 + (answer.order - 1) * Fraction(factor)
        there = find("without_replacement").enclose(run.replace(alpha=order))
        assert float(convert(there, order, "1e-5").lower) >= float(answer.upper)


def test_several_dips_and_failing_orders() -> None:
    base = find("one_update")
    for height, side in ((0.5, "low"), (0.01, "high")):

        def curve(p: Any, ctx: Any, height: float = height) -> Any:
            jump = Fraction(height)
            if ctx.name == "float64":
                if np.any(np.asarray(p.alpha) > 1e5):
                    raise OverflowError("too large an order")
                return p.alpha * p.rate + np.where(p.alpha > 20, float(jump), 0.0)
            return p.alpha * p.rate + (ctx.number(jump) if p.order > 20 else ctx.number(0))

        answer = best_order(
            replace(base, epsilon=curve), gaussian(Fraction(1, 1000)), "1e-5", "classical"
        )
        low = 0.02 + math.log(1e5) / 19
        high = 0.001 * 108.298301 + 0.107298301 + height
        assert answer.epsilon == pytest.approx(min(low, high), rel=1e-6)
        assert (answer.order <= 20) == (side == "low")


def test_nothing_to_convert_is_said() -> None:
    empty = replace(find("one_update"), epsilon=lambda p, ctx: p.alpha * math.inf)
    with pytest.raises(InvalidInput, match="no finite value at any order"):
        best_order(empty, gaussian(Fraction(1)), "1e-5")
    with pytest.raises(InvalidInput, match="no finite value at any order of the list"):
        best_order(empty, gaussian(Fraction(1)), "1e-5", orders=[2, 3])


def test_a_curve_that_is_zero_has_its_best_order_at_the_edge() -> None:
    nothing = replace(find("one_update"), epsilon=lambda p, ctx: p.alpha * 0)
    answer = best_order(nothing, gaussian(Fraction(1)), "1e-5", "classical")
    assert answer.at_edge
    assert 0 < answer.epsilon < 1e-100
    assert best_order(nothing, gaussian(Fraction(1)), "1e-5").epsilon == 0


@pytest.mark.parametrize("rule", BOTH)
def test_the_best_order_is_among_those_searched(rule: str) -> None:
    """At an edge, rounding the order to few digits may lead outside."""
    answer = best_order("one_update", gaussian(Fraction(25, 10) * 10**199), "1e-5", rule)
    assert answer.searched is not None
    assert answer.at_edge
    assert answer.searched[0] <= answer.order <= answer.searched[1]
    inside = best_order("one_update", gaussian(Fraction(1)), "1e-5", rule)
    assert inside.searched is not None
    assert inside.searched[0] < inside.order < inside.searched[1]


def test_a_delta_that_no_double_tells_from_one() -> None:
    """Its logarithm is no double either; that is no reason to refuse."""
    delta = 1 - Fraction(1, 10**400)
    assert log_of(delta, Float64) < 0
    assert log_of(Fraction(1), Float64) == 0
    for rule in BOTH:
        answer = best_order("one_update", gaussian(Fraction(1)), delta, rule, orders=[2, 3])
        exact = convert(2, 2, delta, rule)
        assert answer.upper == exact.upper
        many = convert_many([2.0], [2], delta, rule)
        assert Fraction(exact.lower) <= Fraction(float(many[0]))
        assert many[0] <= exact.epsilon + 1e-12
        free = best_order("one_update", gaussian(Fraction(1)), delta, rule)
        assert Fraction(free.upper) <= Fraction(answer.upper)
        noise = calibrate("one_update", gaussian(Fraction(1)), 1, delta, rule, orders=[2, 3])
        assert is_sound(noise)
        assert noise.slack == "1e-10"


def test_a_list_of_orders() -> None:
    run, all_orders = gaussian(Fraction(1, 1000)), [1 + Fraction(x, 10) for x in range(1, 2000)]
    free = best_order("one_update", run, "1e-5")
    listed = best_order("one_update", run, "1e-5", orders=all_orders)
    assert Fraction(free.upper) <= Fraction(listed.upper)
    assert abs(listed.order - free.order) <= Fraction(1, 10)
    assert not listed.at_edge
    for orders, at in (([2, 3, 8], 8), ([200, 300], 200), ([50], 50)):
        answer = best_order("one_update", run, "1e-5", orders=orders)
        assert answer.order == at
        assert answer.at_edge
    assert best_order("one_update", run, "1e-5", orders=[8, "85.1", 100]).order == Fraction("85.1")
    tie = best_order("one_update", run, "1e-5", orders=[85, 85, "85.0", 2, 1000])
    assert tie.gap is not None
    assert float(tie.gap) < 1e-30
    assert "of the 3 orders" in tie.certificate


def test_an_extra_curve_is_added() -> None:
    run = gaussian(Fraction(1, 100))
    double = best_order("one_update", gaussian(Fraction(1, 50)), "1e-5")
    by_call = best_order("one_update", run, "1e-5", extra=lambda alpha: alpha / 100)
    assert by_call.order == double.order
    assert near(by_call.upper, double.upper, 38)
    assert "an extra Renyi curve was added to the bound" in by_call.notes
    queries = best_order("one_update", run, "1e-5", extra=gaussian_queries(10, 2))
    assert queries.upper == by_call.upper
    pairs = [(order, Fraction(order, 100)) for order in range(2, 90)]
    by_table = best_order("one_update", run, "1e-5", extra=pairs)
    whole = best_order(
        "one_update", run, "1e-5", orders=range(2, 90), extra=gaussian_queries(10, 2)
    )
    assert by_table.upper == whole.upper
    assert by_table.order == whole.order
    by_ball = best_order("one_update", run, "1e-5", extra=lambda a: Ball.number(a / 100))
    assert near(by_ball.upper, double.upper, 30)


UPPER = (
    "balle_2019_composed", "bok_2024_cyclic", "convex_fixed_order", "feldman_2018_epochs",
    "fixed_order", "fixed_order_composition", "naive_extension", "one_update",
    "recursion_combined", "recursion_composition", "recursion_postprocessing",
    "shuffle_partition", "without_replacement",
)  # fmt: skip


@pytest.mark.parametrize("name", UPPER)
def test_the_certificate_rests_on_convexity_that_bounds_have(name: str) -> None:
    bound, less = find(name), [Fraction(2) ** k for k in range(-12, 13)]
    curve = [bound.enclose(RUN.replace(alpha=1 + s)) for s in less]
    with precision(200):
        scaled = [Ball.number(s) * eps for s, eps in zip(less, curve, strict=True)]
        for i in range(1, len(less) - 1):
            part = (less[i + 1] - less[i]) / (less[i + 1] - less[i - 1])
            chord = Ball.number(part) * scaled[i - 1] + Ball.number(1 - part) * scaled[i + 1]
            assert scaled[i] <= chord
            assert curve[i] <= curve[i + 1]


def test_the_certified_gap_holds_against_a_finer_search() -> None:
    for case in MINIMA[::3]:
        true = Fraction(case["value"])
        answer = best_order(
            "one_update", gaussian(Fraction(case["setting"]["rho"])), case["setting"]["delta"],
            golden_rule(case),
        )  # fmt: skip
        if true > 0:
            assert answer.gap is not None
            assert true >= Fraction(answer.upper) * (1 - Fraction(answer.gap))


# The published recipe


RECIPE = Setting.of(
    n=60000, b=2048, epochs=1200, eta="0.75", lambda_="0.08", beta="2.58", sensitivity=4,
    noise_multiplier="3.08",
)  # fmt: skip
RECIPE_ORDERS = [1 + Fraction(x, 10) for x in range(1, 100)] + [Fraction(x) for x in range(12, 64)]


def test_the_published_recipe_is_reproduced() -> None:
    answer = best_order(
        "shuffle_partition", RECIPE, "1e-5", "classical", orders=RECIPE_ORDERS,
        extra=gaussian_queries(8, 2),
    )  # fmt: skip
    assert f"{answer.epsilon:.3f}" == "2.995"
    assert answer.order == 7
    assert not answer.at_edge
    free = best_order(
        "shuffle_partition", RECIPE, "1e-5", "classical", extra=gaussian_queries(8, 2)
    )
    assert Fraction(free.upper) <= Fraction(answer.upper)


# Calibration


def least_noise(target: float, delta: Fraction) -> float:
    """The least sigma^2 of `one_update` by the classical rule: rho + 2 sqrt(rho L) = target."""
    size = -log_of(delta, Float64)
    root = target / (math.sqrt(size + target) + math.sqrt(size))
    return 1 / (4 * root * root)


def is_sound(answer: Calibration) -> bool:
    """The converted epsilon, computed anew, is within the target."""
    order, run = answer.conversion.order, answer.setting
    there = find(answer.conversion.bound).enclose(run.replace(sigma2=answer.sigma2, alpha=order))
    anew = convert(there, order, answer.conversion.delta, answer.conversion.rule)
    return Fraction(anew.upper) <= answer.target and Fraction(anew.epsilon) <= answer.target


def is_tight(answer: Calibration) -> bool:
    """With 1e-9 less noise the best order misses the target."""
    less = answer.setting.replace(sigma2=answer.sigma2 * (1 - Fraction(1, 10**9)))
    there = best_order(
        answer.conversion.bound, less, answer.conversion.delta, answer.conversion.rule
    )
    return Fraction(there.lower) > answer.target


@settings(max_examples=12, deadline=None)
@given(log_uniform(1e-3, 100), deltas, rules)
@example(Fraction(1, 10), Fraction(1, 10**5), "classical")
@example(Fraction(1, 10**30), Fraction(1, 10**5), "classical")
@example(Fraction(10) ** 9, Fraction(1, 10**12), "canonne_kamath_steinke_2020")
def test_calibration_never_overspends_and_is_tight(
    target: Fraction, delta: Fraction, rule: str
) -> None:
    answer = calibrate(
        "one_update", gaussian(Fraction(1)).replace(sigma2=None), target, delta, rule
    )
    assert is_sound(answer)
    assert is_tight(answer)
    assert Fraction(answer.conversion.epsilon) <= target
    assert answer.slack is not None
    assert float(answer.slack) <= 1e-9
    if rule == "classical":
        assert float(answer.sigma2) == pytest.approx(least_noise(float(target), delta), rel=1e-9)
    z2 = 8 * answer.sigma2
    low, high = Fraction(answer.noise_multiplier_lower), Fraction(answer.noise_multiplier_upper)
    assert low**2 <= z2 <= high**2
    assert high - low <= low / 10**38


def test_too_little_and_too_much_noise_are_seen() -> None:
    good = calibrate("one_update", gaussian(Fraction(1)), 1, "1e-5")
    assert is_sound(good)
    assert is_tight(good)
    assert not is_sound(replace(good, sigma2=good.sigma2 * (1 - Fraction(1, 10**9))))
    assert not is_tight(replace(good, sigma2=good.sigma2 * (1 + Fraction(1, 10**8))))


@pytest.mark.parametrize("name", ["fixed_order", "shuffle_partition", "recursion_composition"])
@pytest.mark.parametrize("rule", BOTH)
def test_calibration_of_bounds(name: str, rule: str) -> None:
    answer = calibrate(name, RUN.replace(sigma2=None), 1, "1e-5", rule)
    assert is_sound(answer)
    assert is_tight(answer)
    assert answer.slack == "1e-10"
    assert len(str(answer.sigma2.numerator)) <= 14
    again = best_order(name, answer.setting, "1e-5", rule)
    assert Fraction(again.epsilon) <= 1


def test_the_calibrated_noise_multiplier_of_the_recipe() -> None:
    answer = calibrate(
        "shuffle_partition", RECIPE, "2.995", "1e-5", "classical", orders=RECIPE_ORDERS,
        extra=gaussian_queries(8, 2),
    )  # fmt: skip
    assert answer.noise_multiplier_lower.startswith("3.080")
    assert "orders of the list" in answer.certificate
    assert answer.slack == "1e-10"
    used = answer.setting.with_noise_multiplier(Fraction(answer.noise_multiplier_upper))
    assert used.sigma2 is not None
    assert used.sigma2 >= answer.sigma2


def test_calibration_with_a_tiny_target_and_negative_conversions() -> None:
    answer = calibrate("one_update", gaussian(Fraction(1)), "1e-200", "1e-5")
    assert is_sound(answer)
    assert answer.conversion.epsilon == 0
    assert answer.slack is not None


# Bad input


def refused(message: str, call: Callable[[], object], kind: type[Exception] = InvalidInput) -> None:
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert message in text
    assert "\n" not in text


def test_bad_numbers_are_refused_in_a_sentence() -> None:
    run = gaussian(Fraction(1))
    for delta in (0, 1, "-0.1", "1.5"):
        refused("strictly between 0 and 1", partial(convert, 1, 2, delta))
        refused("strictly between 0 and 1", partial(best_order, "one_update", run, delta))
        refused("strictly between", partial(calibrate, "one_update", run, 1, delta))
    refused("binary float", lambda: convert(1, 2, 1e-5), NotExact)
    refused("alpha > 1", lambda: convert(1, 1, "1e-5"))
    refused("not negative", lambda: convert("-0.1", 2, "1e-5"))
    refused("no conversion rule called 'best'", lambda: convert(1, 2, "1e-5", "best"))
    refused("one for each", lambda: convert_many([1.0], [2, 3], "1e-5"))
    refused("alpha > 1", lambda: best_order("one_update", run, "1e-5", orders=[2, 1]))
    refused("is empty", lambda: best_order("one_update", run, "1e-5", orders=[]))
    refused("no value at order 3", lambda: best_order(
        "one_update", run, "1e-5", orders=[2, 3], extra={2: 1}))  # fmt: skip
    refused("not negative", lambda: best_order("one_update", run, "1e-5", extra=lambda a: -1))
    refused("binary float", lambda: best_order("one_update", run, "1e-5", extra=lambda a: 0.5))
    refused("positive numbers", lambda: gaussian_queries(0))
    assert find_rule("classical") is CLASSICAL
    assert find_rule(CANONNE_KAMATH_STEINKE_2020) is CANONNE_KAMATH_STEINKE_2020


def test_bounds_that_promise_nothing_are_refused() -> None:
    for name in ("lsi_convex", "lsi_strongly_convex"):
        refused("cannot be converted", partial(best_order, name, RUN, "1e-5"))
        refused("cannot be converted", partial(calibrate, name, RUN, 1, "1e-5"))
    lower = replace(find("one_update"), direction="lower")
    refused("promises no privacy", lambda: best_order(lower, RUN, "1e-5"))
    refused("is an estimate", lambda: calibrate("composition_per_step", RUN, 1, "1e-5"))
    estimate = best_order("composition_per_step", RUN, "1e-5")
    assert estimate.direction == "estimate"
    assert any("promises no privacy" in note for note in estimate.notes)
    claim = best_order("logistic_regression", RUN, "1e-5")
    assert any("disputed" in note for note in claim.notes)


def test_unreachable_targets_are_refused_in_a_sentence() -> None:
    run = gaussian(Fraction(1))
    for target in (0, "-1"):
        refused("a positive number", partial(calibrate, 
            "one_update", run, target, "1e-5"))  # fmt: skip
    refused("from 1e-250 to 1e250", lambda: calibrate("one_update", run, "1e-300", "1e-5"))
    refused("no noise reaches epsilon = 0.1", lambda: calibrate(
        "one_update", run, "0.1", "1e-5", "classical", orders=range(2, 65)))  # fmt: skip
    refused("with the extra Renyi curve", lambda: calibrate(
        "one_update", run, "0.1", "1e-5", extra=lambda alpha: alpha))  # fmt: skip
    nothing = replace(find("one_update"), epsilon=lambda p, ctx: p.alpha * 0)
    refused("no smallest noise", lambda: calibrate(nothing, run, 1, "1e-5"))
    refused("binary float", lambda: calibrate("one_update", run, 0.5, "1e-5"), NotExact)
    refused("binary float", lambda: calibrate(
        "one_update", run, 1, "1e-5", extra=lambda a: 0.5), NotExact)  # fmt: skip


def test_settings_outside_the_bound_are_refused() -> None:
    refused("--sensitivity", lambda: best_order("one_update", Setting.of(
        n=1, b=1, epochs=1, eta=1, sigma2=1), "1e-5"), MissingParameter)  # fmt: skip
    refused("step-size", lambda: best_order(
        "fixed_order", RUN.replace(eta=5), "1e-5"), AssumptionViolated)  # fmt: skip
    refused("step-size", lambda: calibrate(
        "fixed_order", RUN.replace(eta=5), 1, "1e-5"), AssumptionViolated)  # fmt: skip


def test_results_are_plain_data() -> None:
    answer = calibrate("fixed_order", RUN, 1, "1e-5")
    data = json.loads(json.dumps(answer.as_json()))
    assert data["target_epsilon"] == "1"
    assert data["conversion"]["bound"] == "fixed_order"
    assert Decimal(data["conversion"]["lower"]) <= Decimal(data["conversion"]["upper"]) <= 1
    assert json.loads(json.dumps(convert(1, 2, "1e-5").as_json()))["searched"] is None
