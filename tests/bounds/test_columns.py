"""Columns agree with the bounds setting by setting: values, direction and applicability."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from bounds.arith import TooCostly, columns
from bounds.arith.ball import precision, rational
from bounds.arith.columns import Column, Settings, Twofold, decide
from bounds.arith.float64 import MARGIN
from bounds.bound import Bound, find, registry
from bounds.setting import (
    PARAMETERS,
    Assumption,
    AssumptionViolated,
    InvalidInput,
    MissingParameter,
    NotExact,
    Setting,
)
from tests.bounds.points import COSTLY, corners, draws, fit, labels

SHARED = {
    "n": 6, "b": 2, "epochs": 3, "eta": "0.1", "lambda_": 1, "beta": 4, "sensitivity": 4,
    "sigma2": 1,
}  # fmt: skip
BLOCKS = {"eta": 4 * ["0.1"], "alpha": 4 * [2], "epochs": 4 * [3], "position": 4 * [1]}
ALL = [bound for bound in registry().values() if bound.name not in COSTLY]
IDS = [bound.name for bound in ALL]
# What needs more than elementary functions of the settings goes one by one.
ONE_BY_ONE = {"without_replacement", "sampled_gaussian", *COSTLY}


def table(settings: list[Setting]) -> Settings:
    """Settings with the same parameters given, as columns."""
    values = {
        name: [getattr(setting, name) for setting in settings]
        for name in PARAMETERS
        if getattr(settings[0], name) is not None
    }
    return Settings.of(values)


def moderate(count: int, seed: int) -> list[Setting]:
    """Settings of a practitioner's size, some of them outside what bounds assume."""
    source = random.Random(seed)
    made = []
    for _ in range(count):
        b = source.randint(1, 4)
        batches = source.randint(1, 40)
        beta = Fraction(source.randint(1, 2000), 100)
        made.append(Setting(
            n=b * batches + source.randrange(b), b=b, epochs=source.choice((1, 2, 7, 300)),
            eta=Fraction(source.randint(1, 400), 1000), beta=beta,
            lambda_=beta * Fraction(source.choice((0, 1, 30, 70, 100, 101)), 100),
            sensitivity=Fraction(source.randint(1, 90), 7),
            alpha=Fraction(source.randint(9, 900), 9),
            sigma2=Fraction(source.randint(1, 900), 37), position=source.randrange(batches + 1),
        ))  # fmt: skip
    return made


def limits() -> list[Setting]:
    """At a step-size limit, and a hair to either side, with decimals that no double holds."""
    made = []
    for eta, (over, under), part in itertools.product(
        (Fraction(1, 10), Fraction(3, 70)), ((2, 1), (1, 1), (1, 2)), (0, 1, -1)
    ):
        hair = Fraction(part, 10**25)
        for lambda_ in (Fraction(1, 10), Fraction(1, 3)):
            total = Fraction(over, under) / eta + hair
            made += [
                Setting(n=6, b=2, epochs=3, eta=eta, lambda_=lambda_, beta=beta,
                        sensitivity=Fraction(4), sigma2=Fraction(1), alpha=1 + abs(hair) * over,
                        position=1)
                for beta in (total - lambda_, total, lambda_ + hair)
            ]  # fmt: skip
    return made


SETS = {
    "corners": [point.setting() for point in corners()],
    "draws": [point.setting() for point in draws(120, 11)],
    "moderate": moderate(400, 12),
    "limits": limits(),
}


def by_itself(bound: Bound, setting: Setting) -> tuple[float | None, str]:
    """The answer of `Bound.float64`, and the label where there is none."""
    try:
        return float(bound.float64(setting)), ""
    except AssumptionViolated as error:
        return None, error.label
    except TooCostly:
        return None, "too-costly"
    except InvalidInput:
        return None, "beyond"


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("bound", ALL, ids=IDS)
def test_columns_agree_setting_by_setting(bound: Bound, kind: str) -> None:
    settings = SETS[kind]
    if bound.name in ONE_BY_ONE or kind in ("corners", "draws"):
        settings = settings[::5]  # a few milliseconds each
    if kind in ("corners", "draws"):
        settings = [fit(bound, setting) for setting in settings]
    elif "full-batch" in labels(bound):
        settings = [replace(setting, n=setting.b, position=0) for setting in settings]
    found = bound.columns(table(settings))
    assert not np.any(np.isnan(found.epsilon))
    applied = 0
    for i, setting in enumerate(settings):
        value, label = by_itself(bound, setting)
        if label == "beyond":
            continue  # columns take the enclosure there, as `answer` does
        assert found.label[i] == label, setting
        if value is None:
            assert found.epsilon[i] == (0 if bound.direction == "lower" else np.inf)
            continue
        applied += 1
        tiny = float(np.finfo(np.float64).tiny)
        assert abs(found.epsilon[i] - value) <= 2 * (columns.MARGIN + MARGIN) * value + tiny
    assert applied or kind == "limits"


@pytest.mark.parametrize("bound", ALL, ids=IDS)
def test_columns_never_cross_the_enclosure(bound: Bound) -> None:
    settings = moderate(60, 13)
    if "full-batch" in labels(bound):
        settings = [replace(setting, n=setting.b, position=0) for setting in settings]
    found = bound.columns(table(settings))
    looked = 0
    for i in np.flatnonzero(found.applicable)[:12]:
        ball = bound.enclose(settings[i], 25)
        with precision(300):
            value = rational(Fraction(float(found.epsilon[i])))
            if bound.direction == "upper":
                assert value >= ball
            elif bound.direction == "lower":
                assert value <= ball
        looked += 1
    assert looked or "one-epoch" in labels(bound)


@pytest.mark.parametrize("bound", ALL, ids=IDS)
def test_what_can_run_on_arrays_does(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    """No bound falls back in silence: only those that need more do, and extreme settings."""
    alone = []
    monkeypatch.setattr(columns, "_one", lambda *arguments: alone.append(arguments))
    size = 300
    values = {
        "n": 50, "b": 2, "epochs": 20, "position": 7, "lambda_": 1, "beta": 4, "sensitivity": 4,
        "sigma2": np.linspace(1, 9, size), "eta": np.linspace(0.001, 0.02, size),
        "alpha": np.linspace(2, 30, size),
    }  # fmt: skip
    if "full-batch" in labels(bound):
        values |= {"n": 2, "position": 0}
    if "one-epoch" in labels(bound):
        values["epochs"] = 1
    found = bound.columns(values)
    assert np.all(found.applicable)
    assert bool(alone) == (bound.name in ONE_BY_ONE)


@pytest.mark.parametrize("bound", ALL, ids=IDS)
def test_an_answer_does_not_depend_on_its_neighbours(bound: Bound) -> None:
    settings = moderate(60 if bound.name in ONE_BY_ONE else 240, 14)
    whole = bound.columns(table(settings))
    rng = np.random.default_rng(3)
    order = rng.permutation(len(settings))
    for rows in (order, order[:7], order[7:8], np.arange(3, 20)):
        part = bound.columns(table([settings[i] for i in rows]))
        assert np.array_equal(part.epsilon, whole.epsilon[rows])
        assert np.array_equal(part.code, whole.code[rows])


@pytest.mark.parametrize("name", ["sigma2", "sensitivity", "eta", "alpha", "b", "beta", "lambda_"])
@pytest.mark.parametrize("value", ["0", "-1", "1e-300", "1e300"])
def test_a_setting_out_of_range_takes_no_other_with_it(name: str, value: str) -> None:
    """Ranges that settle an assumption say nothing where a neighbour is out of all range."""
    if name == "b" and "e" in value:
        pytest.skip("counts are integers below 2^63")
    rows = 40
    good = {"n": 50, "b": 2, "epochs": 50, "eta": "0.02", "lambda_": 1, "beta": 4,
            "sensitivity": 4, "sigma2": 4, "alpha": 10}  # fmt: skip
    for bound in (find("thm-3.3"), find("thm-4.2"), find("optimal_fixed_order")):
        alone = bound.columns(Settings.of({**good, name: rows * [good[name]]}))
        mixed = bound.columns(Settings.of({**good, name: [value, *(rows * [good[name]])]}))
        assert np.array_equal(mixed.code[1:], alone.code)
        assert np.array_equal(mixed.epsilon[1:], alone.epsilon)
        assert np.all(np.isfinite(alone.epsilon))


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = table(moderate(500, 15))
    bound = find("optimal_shuffle")
    whole = bound.columns(settings)
    monkeypatch.setattr(columns, "BLOCK", 37)
    assert np.array_equal(bound.columns(settings).epsilon, whole.epsilon)


# --- twofold numbers and columns ---------------------------------------------------------------

numbers = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


def twofold(x: Fraction) -> Twofold:
    return Column.table((x,), np.zeros(1, dtype=np.intp)).twofold


def value(x: Twofold) -> Fraction:
    low = np.broadcast_to(x.low, 1)
    return Fraction(float(x.high[0])) + Fraction(float(low[0]))


@effort(deadline=None)
@given(numbers, numbers)
def test_twofold_arithmetic_is_accurate(x: Fraction, y: Fraction) -> None:
    a, b = twofold(x), twofold(y)
    for made, truth, scale in (
        (a + b, x + y, x + y), (a - b, x - y, x + y), (a * b, x * y, x * y),
        (a / b, x / y, x / y), (2 - a, 2 - x, 2 + x), (3 * a, 3 * x, 3 * x), (a / 3, x / 3, x),
    ):  # fmt: skip
        assert abs(value(made) - truth) <= scale / 2**100


@effort(deadline=None)
@given(
    st.integers(1, 10**15), st.integers(1, 10**15), st.integers(0, 3), st.integers(-20, 0)
)  # fmt: skip
def test_the_complement_is_accurate_at_both_ends(p: int, q: int, less: int, size: int) -> None:
    """1 - eta lambda where it nearly vanishes, and its logarithm where eta lambda does."""
    eta = Fraction(p, 10**15)
    lambda_ = (
        (1 - Fraction(less, 10**13)) / eta if less else Fraction(q, 10**15) * Fraction(10) ** size
    )
    if not 0 < eta * lambda_ < 1:
        return
    c = columns.Complement(twofold(eta) * twofold(lambda_))
    truth = 1 - eta * lambda_
    assert abs(Fraction(float(c.value[0])) - truth) <= truth * Fraction(1, 2**52)
    with precision(200):
        log = flint.arb(rational(-eta * lambda_)).log1p()
        ratio = flint.arb(float(np.broadcast_to(c.log, 1)[0])) / log
        assert abs(float(ratio.mid()) - 1) < 6 * 2.0**-53


def test_a_contraction_too_near_to_zero_is_left_to_exact_arithmetic() -> None:
    shared = {**SHARED, "alpha": 2, "beta": "10", "eta": "0.1"}
    near = ["10", "9.9999999999999999999", "9.99999999999999", "9.9"]
    bound = find("bok_2024_cyclic")
    found = bound.columns({**shared, "lambda_": near})
    assert np.all(found.applicable)
    for i, lambda_ in enumerate(near):
        alone = bound.float64(Setting.of(**{**shared, "lambda_": lambda_}))
        assert found.epsilon[i] == pytest.approx(float(alone), rel=2e-12)
    c = columns.Complement(Twofold(np.array([1.0, 1 - 2.0**-50, 0.5, 0.0])))
    assert np.isnan(c.log).tolist() == [True, True, False, False]
    assert columns.Columns.power(c, 3)[2:].tolist() == [pytest.approx(0.125), 1]
    with np.errstate(invalid="ignore"):
        assert columns.Columns.geometric(c, 5)[3] == 5


@effort(deadline=None)
@given(st.integers(-(2**53) + 1, 2**53 - 1), st.integers(-22, 22))
def test_decimals_are_the_nearest_doubles(m: int, e: int) -> None:
    column = Column.decimals(np.array([m]), np.array([e]))
    number = column.exact(0)
    assert number == Fraction(m) * Fraction(10) ** e and column.high[0] == float(number)
    low = 0 if column.low is None else Fraction(float(column.low[0]))
    assert abs(Fraction(float(column.high[0])) + low - number) <= abs(number) / 2**104


# --- assumptions -------------------------------------------------------------------------------


def test_conditions_are_explored_along_every_way() -> None:
    values = {"n": np.array([1, 2, 3, 4]), "b": np.array([4, 3, 2, 1]), "epochs": 2}
    settings = Settings.of(values)

    def odd(s):  # type: ignore[no-untyped-def]
        return (s.n >= 2 and not s.b >= 3) or s.n == 1

    holding, doubt = decide(odd, settings)
    assert holding.tolist() == [True, False, True, True] and not np.any(doubt)


def test_a_setting_at_the_limit_is_decided_exactly() -> None:
    """0.1 (0.7 + 19.3) = 2 in decimals; in doubles it falls on either side."""
    bound = find("bok_2024_cyclic")  # eta <= 2/(lambda + beta)
    shared = {**SHARED, "lambda_": "0.7", "alpha": 2}
    betas = ["19.3", "19.3000000000000000001", "19.2999999999999999999"]
    found = bound.columns({**shared, "beta": betas})
    assert found.label.tolist() == ["", "step-size", ""]
    open_ended = find("thm-3.3").columns({**shared, "beta": betas})
    assert open_ended.label.tolist() == ["step-size", "step-size", ""]


def test_a_new_assumption_is_found_out_and_not_listed() -> None:
    """A condition that columns cannot read sends the settings one by one."""
    odd = Assumption("odd", "K is odd", ("epochs",), lambda s: int(s.epochs) % 2 == 1)
    plain = find("composition_per_epoch")
    bound = replace(plain, assumptions=(*plain.assumptions, odd))
    found = bound.columns({**SHARED, "alpha": 2, "epochs": [1, 2, 3]})
    assert found.label.tolist() == ["", "odd", ""]


# --- what is asked -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"alpha": np.array([2.0, np.nan])}, InvalidInput, "finite"),
        ({"alpha": [2.0, 3.0]}, NotExact, "binary float"),
        ({"alpha": [2, 3], "eta": ["1", "2", "3"]}, InvalidInput, "unequal length"),
        ({"gamma": 1, "alpha": 2}, InvalidInput, "not a parameter"),
        ({"alpha": np.ones((2, 2))}, InvalidInput, "one-dimensional"),
        ({"alpha": 2, "n": np.array([6.5])}, NotExact, "n is"),
        ({}, MissingParameter, "--alpha"),
    ],
)
def test_a_wrong_table_is_a_sentence(values, error, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=words):
        find("thm-3.3").columns({**SHARED, **values})


def test_settings_come_back_exactly() -> None:
    made = moderate(20, 16)
    rows = table(made)
    assert [rows.setting(i) for i in range(20)] == made
    part = rows.take(np.array([3, 9])).take(slice(1, 2))
    assert part.setting(0) == made[9] and part.size == 1


def test_extreme_values_have_a_label_and_no_nan() -> None:
    found = find("fixed_order_composition").columns(
        {**SHARED, "alpha": 2, "sigma2": ["1e-400", "1e-330", "1e-300", "1", "1e300"]}
    )
    assert found.label.tolist() == ["beyond-double", "beyond-double", "", "", ""]
    assert np.isinf(found.epsilon[:2]).all() and np.isfinite(found.epsilon[2:]).all()


@pytest.mark.parametrize(
    ("name", "value", "label"),
    [("eta", "0.41", "step-size"), ("alpha", 1, "order"), ("epochs", 0, "epochs"),
     ("position", 3, "position"), ("eta", "0.4", "step-size"), ("alpha", "1.01", "")],
)  # fmt: skip
def test_what_one_block_settles_holds_for_no_other(
    name: str, value: object, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BLOCK", 2)
    given = {**SHARED, **BLOCKS, name: [*BLOCKS[name][:3], value]}
    made = find("thm-3.3").columns(given)
    assert made.label.tolist() == ["", "", "", label]
    asked = columns._Asked(find("thm-3.3"))
    known = [item.label for item in asked.open_at(Settings.of({**SHARED, **BLOCKS}))]
    assert "order" not in known and len(known) < len(asked._all)
