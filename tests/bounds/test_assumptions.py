"""Every assumption is refused by name, at its limit and beyond, and nothing else is."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from bounds.arith.ball import Ball, precision
from bounds.arith.exact import Exact
from bounds.arith.float64 import Float64
from bounds.arith.multiprecision import Multiprecision
from bounds.bound import Bound, bind, find, registry, symbolic_parameters
from bounds.setting import (
    PARAMETERS,
    Assumption,
    AssumptionViolated,
    InvalidInput,
    MissingParameter,
    NotExact,
    Setting,
)
from tests.bounds.points import fit, labels

GOOD = Setting.of(
    n=12, b=3, epochs=4, eta="0.1", lambda_=1, beta=4, sensitivity=2, sigma2=3, alpha=5, position=1
)
EVERY_BOUND = {"data-size", "batch-size"}

Changes = tuple[dict[str, Any], ...]
TINY = Fraction(1, 10**30)

# By label and condition: settings changed so that this condition fails, and so that it just holds.
BREAKS: dict[tuple[str, str], Changes] = {
    ("order", "alpha > 1"): ({"alpha": 1}, {"alpha": 1 - TINY}, {"alpha": 0}, {"alpha": -3}),
    ("data-size", "n >= 1"): ({"n": 0, "b": 0}, {"n": -1, "b": 1}),
    ("batch-size", "1 <= b <= n"): ({"b": 0}, {"b": -1}, {"b": 13}),
    ("epochs", "K >= 1"): ({"epochs": 0}, {"epochs": -1}),
    ("one-epoch", "K = 1"): ({"epochs": 2}, {"epochs": 0}),
    ("noise", "sigma^2 > 0"): ({"sigma2": 0}, {"sigma2": -1}),
    ("sensitivity", "S_g > 0"): ({"sensitivity": 0}, {"sensitivity": -1}),
    ("convexity", "lambda >= 0"): ({"lambda_": -TINY},),
    ("strong-convexity", "lambda > 0"): ({"lambda_": 0}, {"lambda_": -1}),
    ("smoothness", "beta >= lambda, beta > 0"): ({"beta": 1 - TINY}, {"beta": -2}),
    ("smoothness", "beta > 0"): ({"beta": 0}, {"beta": -2}),
    ("step-size", "eta > 0"): ({"eta": 0}, {"eta": -1}),
    ("step-size", "eta < 2/(lambda + beta)"): ({"eta": "0.4"}, {"eta": 1}),
    ("step-size", "eta <= 2/(lambda + beta)"): ({"eta": Fraction(2, 5) + TINY}, {"eta": 1}),
    ("step-size", "eta < 2/beta"): ({"eta": "0.5"}, {"eta": 1}),
    ("step-size", "eta <= 2/beta"): ({"eta": Fraction(1, 2) + TINY}, {"eta": 1}),
    ("step-size", "eta < 1/beta"): ({"eta": "0.25"}, {"eta": 1}),
    ("at-least-two-batches", "n/b >= 2"): ({"b": 7, "position": 0}, {"b": 12, "position": 0}),
    ("full-batch", "b = n"): ({"b": 3, "position": 0}, {"b": 11}),
    ("position", "0 <= j_0 < floor(n/b)"): ({"position": 4}, {"position": -1}, {"position": 10**9}),
}
HOLDS: dict[tuple[str, str], Changes] = {
    ("order", "alpha > 1"): ({"alpha": 1 + TINY}, {"alpha": 10**6}),
    ("epochs", "K >= 1"): ({"epochs": 1},),
    ("convexity", "lambda >= 0"): ({"lambda_": 0},),
    ("strong-convexity", "lambda > 0"): ({"lambda_": TINY},),
    ("smoothness", "beta >= lambda, beta > 0"): ({"beta": 1},),
    ("step-size", "eta > 0"): ({"eta": TINY},),
    ("step-size", "eta < 2/(lambda + beta)"): ({"eta": Fraction(2, 5) - TINY},),
    ("step-size", "eta <= 2/(lambda + beta)"): ({"eta": "0.4"},),
    ("step-size", "eta < 2/beta"): ({"eta": Fraction(1, 2) - TINY},),
    ("step-size", "eta <= 2/beta"): ({"eta": "0.5"},),
    ("step-size", "eta < 1/beta"): ({"eta": Fraction(1, 4) - TINY},),
    ("at-least-two-batches", "n/b >= 2"): ({"b": 6, "position": 0}, {"n": 7}),
    ("position", "0 <= j_0 < floor(n/b)"): ({"position": 0}, {"position": 3}),
}


def good(bound: Bound) -> Setting:
    """A setting that the bound accepts, with everything given."""
    return fit(bound, GOOD)


def key(assumption: Assumption) -> tuple[str, str]:
    """Label and condition, which together say what is assumed."""
    return assumption.label, assumption.condition


PAIRS = [
    pytest.param(bound, key(assumption), id=f"{name}-{assumption.condition}")
    for name, bound in registry().items()
    for assumption in bound.assumptions
]


@pytest.mark.parametrize(("bound", "which"), PAIRS)
def test_a_broken_assumption_is_named(bound: Bound, which: tuple[str, str]) -> None:
    for change in BREAKS[which]:
        broken = good(bound).replace(**change)
        calls: tuple[Callable[..., Any], ...] = (bound.check, bound.float64, bound.enclose)
        for call in calls:
            with pytest.raises(AssumptionViolated) as caught:
                call(broken)
            error = caught.value
            expected = {which[0]}
            if "b" in change or "n" in change:
                expected |= EVERY_BOUND | {"full-batch", "at-least-two-batches", "position"}
            if "eta" in change:
                expected |= {"step-size"}
            if "lambda_" in change or "beta" in change:
                expected |= {"smoothness"}
            assert error.label in expected, change
            assert error.label in str(error)
            assert "found" in str(error)
        answer = bound.answer(broken)
        assert not answer.applicable
        assert answer.epsilon is None
        assert answer.lower is None
        assert answer.upper is None
        assert answer.as_json()["reason"] == str(error)


@pytest.mark.parametrize(("bound", "which"), PAIRS)
def test_the_limit_itself_is_on_the_right_side(bound: Bound, which: tuple[str, str]) -> None:
    for change in HOLDS.get(which, ()):
        if "full-batch" in labels(bound) and ("b" in change or "n" in change):
            continue
        if "one-epoch" in labels(bound) and "epochs" in change:
            continue
        for assumption in bound.assumptions:
            if key(assumption) == which:
                assumption.check(good(bound).replace(**change))


@pytest.mark.parametrize("name", registry())
def test_sizes_are_refused_by_every_bound(name: str) -> None:
    bound = find(name)
    for which in (("data-size", "n >= 1"), ("batch-size", "1 <= b <= n")):
        for change in BREAKS[which]:
            with pytest.raises(AssumptionViolated) as caught:
                bound.check(good(bound).replace(**change))
            assert caught.value.label in EVERY_BOUND


def test_every_assumption_in_use_is_broken_somewhere() -> None:
    used = {key(a) for bound in registry().values() for a in bound.assumptions}
    assert used <= set(BREAKS)


@pytest.mark.parametrize("name", registry())
def test_a_good_setting_is_accepted(name: str) -> None:
    answer = find(name).answer(good(find(name)))
    assert answer.applicable
    assert answer.epsilon is not None
    assert answer.epsilon > 0


@pytest.mark.parametrize("name", registry())
def test_a_missing_parameter_is_named_by_its_flag(name: str) -> None:
    bound = find(name)
    for needed in bound.needs:
        if needed == "b" and "full-batch" in labels(bound):
            continue  # b = n is what the bound is about
        with pytest.raises(MissingParameter) as caught:
            bound.check(replace(good(bound), **{needed: None}))
        assert needed in caught.value.names
        assert PARAMETERS[needed].flag in str(caught.value)
        assert name in str(caught.value)
    assert bound.check(replace(good(bound), position=None)).place == good(bound).batches - 1


@pytest.mark.parametrize("name", registry())
def test_a_mini_batch_bound_at_b_equal_n_names_the_one_that_serves(name: str) -> None:
    bound = find(name)
    if "at-least-two-batches" not in labels(bound):
        return
    with pytest.raises(AssumptionViolated) as caught:
        bound.check(GOOD.replace(b=12, position=0))
    other = find(bound.full_batch or "full_batch")
    assert other.name in str(caught.value)
    assert "full-batch" in labels(other)


def test_the_limit_is_in_the_message() -> None:
    with pytest.raises(AssumptionViolated, match=r"the limit is eta < 0\.4$"):
        find("thm-3.3").check(GOOD.replace(eta="0.4"))
    with pytest.raises(AssumptionViolated, match="positions run from 0 to 3"):
        find("thm-3.3").check(GOOD.replace(position=4))
    with pytest.raises(AssumptionViolated, match=r"found n = 12, b = 7$"):
        find("thm-3.3").check(GOOD.replace(b=7, position=0))


def test_a_remainder_is_said() -> None:
    for name, bound in registry().items():
        if "full-batch" in labels(bound):
            continue
        notes = bound.answer(fit(bound, GOOD.replace(n=14))).notes
        assert any("does not divide" in note and "14/3" in note for note in notes), name
        notes = bound.answer(fit(bound, GOOD)).notes
        assert not any("does not divide" in note for note in notes), name


@pytest.mark.parametrize(
    "value",
    [0.02, float("nan"), float("inf"), True, "1/0", "", "1e", "0,02", "nan", "inf", "0x10", "1_000",
     "1e999999", "one", "1 2", "٣", "1" * 5000, b"1", [1], 1j],
)  # fmt: skip
def test_what_is_not_exact_is_refused(value: Any) -> None:
    for name in ("eta", "n", "alpha"):
        with pytest.raises(NotExact):
            Setting.of(**{name: value})
        with pytest.raises(NotExact):
            GOOD.replace(**{name: value})


def test_a_float_is_told_what_to_type() -> None:
    with pytest.raises(NotExact, match=r"--eta is the binary float 0\.02.*'0\.02'"):
        Setting.of(eta=0.02)
    with pytest.raises(NotExact, match=r"--n is 2\.5; an integer is wanted"):
        Setting.of(n="2.5")
    with pytest.raises(InvalidInput, match="learning"):
        Setting.of(learning_rate=1)
    with pytest.raises(InvalidInput, match="give one"):
        Setting.of(b=1, eta=1, sensitivity=1, sigma2=1, noise_multiplier=1)
    with pytest.raises(AssumptionViolated, match="noise"):
        Setting.of(b=1, eta=1, sensitivity=1, noise_multiplier=0)
    with pytest.raises(MissingParameter, match="--eta"):
        Setting.of(b=1, sensitivity=1, noise_multiplier=1)


def test_a_decimal_string_is_that_number_in_every_system() -> None:
    setting = Setting.of(n=2, b=1, epochs=1, eta="0.02")
    assert setting.eta == Fraction(1, 50)
    assert bind(setting, Exact).eta == Fraction(1, 50)
    assert symbolic_parameters(eta="0.02").eta * 50 == 1
    assert bind(setting, Float64).eta == 0.02
    many = Multiprecision(50)
    assert abs(bind(setting, many).eta * 50 - 1) < many.mp.mpf(10) ** -49
    with precision(200):
        ball = bind(setting, Ball(200)).eta * 50
        assert ball.contains(1)
        assert ball.rel_accuracy_bits() > 190
    for text in ("0.02", "2e-2", "1/50", ".02", "+0.020", " 1 / 50 "):
        assert Setting.of(eta=text).eta == Fraction(1, 50)


def test_errors_survive_a_process_boundary() -> None:
    with pytest.raises(AssumptionViolated) as caught:
        find("thm-3.3").check(GOOD.replace(eta=1))
    back = pickle.loads(pickle.dumps(caught.value))
    assert type(back) is AssumptionViolated
    assert (str(back), back.label, back.values) == (
        str(caught.value), caught.value.label, caught.value.values,
    )  # fmt: skip
    with pytest.raises(MissingParameter) as missing:
        find("thm-3.3").check(Setting.of(n=4))
    assert str(pickle.loads(pickle.dumps(missing.value))) == str(missing.value)


def test_a_bound_is_found_by_name_and_by_statement() -> None:
    for name, bound in registry().items():
        assert find(name) is bound
        assert find(bound.statement).statement == bound.statement
    with pytest.raises(InvalidInput, match="no bound called 'thm-9'"):
        find("thm-9")


def test_doubles_that_would_overflow_are_refused_in_words() -> None:
    setting = GOOD.replace(epochs=10**400, position=0)
    with pytest.raises(InvalidInput, match="balls"):
        find("fixed_order_composition").float64(setting)
    assert find("fixed_order_composition").enclose(setting) > 10**398
    with pytest.raises(InvalidInput, match="smaller than double precision"):
        find("thm-3.3").float64(GOOD.replace(sigma2="1e320"))
