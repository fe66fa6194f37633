"""Every bound against the golden values, which come from the definitions in another arithmetic."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import flint
import mpmath
import numpy as np
import pytest

from bounds.arith import NotRational, TooCostly
from bounds.arith.ball import accuracy, decimal_bounds, precision
from bounds.arith.exact import Exact
from bounds.arith.multiprecision import Multiprecision
from bounds.bound import Bound, find, registry
from bounds.setting import InvalidInput, Setting
from tests.bounds.points import GOLDEN, golden, golden_ball, labels

# (bound, why) of golden cases outside a bound's own assumptions: none at present.
REFUSED: set[tuple[str, str]] = set()

# Bounds without golden values of their own, and the bound whose values at K = 1 are theirs:
# one epoch leaves only the last term of (100), which is (99).
AT_ONE_EPOCH = {"first_epoch": "recursion_composition"}

# What has no rational value anywhere.
TRANSCENDENTAL = {
    "naive_extension", "chourasia_2021", "ryffel_2022", "shuffle_partition", "logistic_regression",
    "without_replacement", "sampled_gaussian",
}  # fmt: skip

# What is derived here has no source outside to take golden values from, and tests of its own.
PUBLISHED = [
    name
    for name, bound in registry().items()
    if not bound.epsilon.__module__.startswith("bounds.derived")
]

LEAST_NORMAL = float(np.finfo(np.float64).tiny)
BITS_OF_38_DIGITS = 127


def cases_of(name: str) -> list[dict[str, Any]]:
    """The golden cases of a bound that it does not refuse."""
    source = AT_ONE_EPOCH.get(name, name)
    cases = [case for case in golden()[source] if (source, case["why"]) not in REFUSED]
    if name in AT_ONE_EPOCH:
        cases = [case for case in cases if case["setting"]["epochs"] == "1"]
    return cases


def settings_of(name: str) -> Iterator[tuple[Setting, Any, str]]:
    """Setting, golden ball, and a description."""
    for case in cases_of(name):
        yield Setting.of(**case["setting"]), golden_ball(case), f"{name}, {case['why']}"


def misses_ball(bound: Bound, setting: Setting, value: Any) -> str:
    """What is wrong with the enclosure, if anything; call it at 400 bits."""
    ball = bound.enclose(setting, 45)
    if not ball.overlaps(value):
        return f"{ball} misses {value}"
    if accuracy(ball) < BITS_OF_38_DIGITS:
        return f"{ball} is too wide"
    low, high = (flint.arb(text) for text in decimal_bounds(ball, 42))
    if low > value or high < value:
        return f"the decimals {low} and {high} miss {value}"
    return ""


def misses_float(bound: Bound, setting: Setting, value: Any) -> str:
    """What is wrong with the float64 answer, if anything; call it at 400 bits."""
    answer = float(bound.float64(setting))
    got = flint.arb(answer)
    if bound.direction == "upper" and not got > value:
        return f"{answer} is below {value}"
    if bound.direction == "lower" and not got < value:
        return f"{answer} is above {value}"
    if not abs(got - value) < value * 1e-12 + 2 * LEAST_NORMAL:
        return f"{answer} is far from {value}"
    return ""


@pytest.fixture(autouse=True)
def many_bits() -> Iterator[None]:
    with precision(400):
        yield


def test_every_published_bound_has_golden_values() -> None:
    assert set(golden()) | set(AT_ONE_EPOCH) == set(PUBLISHED)
    assert sum(len(cases) for cases in golden().values()) >= 930
    assert all(len(cases_of(name)) >= 3 for name in PUBLISHED)


def test_refusals_are_the_listed_ones() -> None:
    refused = set()
    for name, cases in golden().items():
        for case in cases:
            try:
                find(name).check(Setting.of(**case["setting"]))
            except InvalidInput:
                refused.add((name, case["why"]))
    assert refused == REFUSED


@pytest.mark.parametrize("name", PUBLISHED)
def test_balls(name: str) -> None:
    for setting, value, what in settings_of(name):
        assert misses_ball(find(name), setting, value) == "", what


@pytest.mark.parametrize("name", PUBLISHED)
def test_float64(name: str) -> None:
    for setting, value, what in settings_of(name):
        assert misses_float(find(name), setting, value) == "", what


@pytest.mark.parametrize("name", PUBLISHED)
def test_float64_over_orders(name: str) -> None:
    """An array of orders gives what each order gives alone."""
    by_rest = groupby(settings_of(name), key=lambda item: item[0].replace(alpha=2))
    for setting, group in by_rest:
        orders = [alpha for item in group if (alpha := item[0].alpha) is not None]
        # The same order and others around it: the answer must not depend on the company.
        together = find(name).raw(setting, [*orders, Fraction(5), Fraction(11, 10), *orders])
        alone = [find(name).raw(setting.replace(alpha=order)) for order in orders]
        if labels(find(name)) & {"order"}:
            np.testing.assert_allclose(together[: len(orders)], alone, rtol=1e-14, atol=0)
            np.testing.assert_array_equal(together[: len(orders)], together[-len(orders) :])


@pytest.mark.parametrize("name", PUBLISHED)
def test_multiprecision(name: str) -> None:
    """50 digits, where it is not the time that decides."""
    ctx = Multiprecision(50)
    done = 0
    for setting, value, what in settings_of(name):
        if setting.batches > 100 or setting.steps > 130 or value < 1e-300:
            continue
        try:
            got = find(name).in_system(setting, ctx)
        except TooCostly:
            continue
        near = flint.arb(ctx.mp.nstr(got, 50)) / value - 1
        assert abs(near) < 1e-38, what
        done += 1
    assert done >= min(10, len(cases_of(name)) // 2)


@pytest.mark.parametrize("name", PUBLISHED)
def test_exact(name: str) -> None:
    """Fractions, where the number system takes the formula and the fractions stay short."""
    done = 0
    for setting, value, what in settings_of(name):
        if setting.steps > 300:
            continue
        try:
            got = find(name).in_system(setting, Exact)
        except (NotRational, TooCostly):
            continue
        assert isinstance(got, Fraction)
        assert value.overlaps(flint.arb(flint.fmpq(got.numerator, got.denominator))), what
        done += 1
    assert (done == 0) == (name in TRANSCENDENTAL - {"without_replacement"}), done


@pytest.fixture
def oracle() -> Iterator[ModuleType]:
    """The module that wrote the golden values; it sets mpmath's global precision."""
    before = mpmath.mp.dps
    path = Path(GOLDEN).with_name("oracle.py")
    spec = importlib.util.spec_from_file_location("golden_oracle", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["golden_oracle"] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["golden_oracle"]
        mpmath.mp.dps = before


def test_oracle_regenerates_a_sample(oracle: ModuleType) -> None:
    """Every ninth short case of every bound comes out digit for digit."""
    cases = iter(case for group in golden().values() for case in group)
    count = 0
    for i, (name, setting) in enumerate(
        pair for pair in oracle.chosen() if oracle.BOUNDS[pair[0]].applies(pair[1])
    ):
        case = next(cases)
        assert case["bound"] == name
        assert case["why"] == setting.why
        if i % 9 or setting.batches * min(setting.passes, 10**6) > 1500:
            continue
        if name == "sampled_gaussian" and setting.order > 3:
            continue
        assert oracle.written(oracle.BOUNDS[name].value(setting)) == case["value"], (name, case)
        count += 1
    assert count > 50


def test_no_golden_value_fits_a_wrong_bound() -> None:
    """The check itself can fail: a value one part in 10^30 away is refused."""
    setting, value, _ = next(settings_of("fixed_order"))
    wrong = value * (1 + flint.arb(10) ** -30)
    assert "misses" in misses_ball(find("fixed_order"), setting, wrong)
    assert "below" in misses_float(find("fixed_order"), setting, value * (1 + flint.arb("1e-12")))
    assert "far" in misses_float(find("fixed_order"), setting, value * (1 - flint.arb("2e-12")))
