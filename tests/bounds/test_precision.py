"""Precision is state of the process: whatever is evaluated leaves it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint
import mpmath
import pytest

from bounds.arith.ball import Ball, decimal_bounds, precision
from bounds.arith.multiprecision import Multiprecision
from bounds.bound import find, registry
from bounds.setting import InvalidInput
from tests.bounds.points import Point, fit

SETTING = Point(
    batches=2000, epochs=5, loss=Fraction(1, 1000), order=Fraction(3), rate=Fraction(1, 7)
).setting()


def state() -> tuple[int, ...]:
    """What the libraries keep globally."""
    return (
        flint.ctx.prec,
        flint.ctx.cap,
        flint.ctx.dps,
        mpmath.mp.dps,
        mpmath.mp.prec,
        mpmath.iv.dps,
    )


@pytest.fixture(params=[53, 217])
def unusual(request: pytest.FixtureRequest) -> Iterator[tuple[int, ...]]:
    """Libraries at a precision that nobody else would choose."""
    before = flint.ctx.prec, mpmath.mp.dps, flint.ctx.cap
    flint.ctx.prec, mpmath.mp.dps, flint.ctx.cap = request.param, 23, 11
    yield state()
    flint.ctx.prec, mpmath.mp.dps, flint.ctx.cap = before


@pytest.mark.parametrize("name", registry())
def test_evaluation_leaves_precision_alone(name: str, unusual: tuple[int, ...]) -> None:
    bound = find(name)
    setting = fit(bound, SETTING)
    small = fit(bound, SETTING.replace(n=4, position=3))
    bound.answer(setting)
    decimal_bounds(bound.enclose(setting, 60))
    bound.in_system(small, Multiprecision(77))
    bound.float64(setting)
    assert state() == unusual
    with pytest.raises(InvalidInput):
        bound.enclose(setting.replace(sigma2=0))
    assert state() == unusual


def test_precision_is_put_back_after_an_error() -> None:
    before = state()
    with pytest.raises(ZeroDivisionError), precision(999):
        raise ZeroDivisionError
    assert state() == before


def test_an_answer_does_not_depend_on_the_precision_around_it() -> None:
    bound = find("shuffle_partition")
    answers = []
    for bits in (30, 53, 500):
        with precision(bits):
            answers.append(bound.answer(SETTING).as_json())
    assert answers[0] == answers[1] == answers[2]


def test_nesting() -> None:
    with precision(100):
        with precision(200):
            assert Ball.number(1).log1p().rel_accuracy_bits() > 190
        assert flint.ctx.prec == 100
