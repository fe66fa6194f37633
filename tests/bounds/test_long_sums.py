"""The two shortcuts, for long recursions and for long averages, against doing every step."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from bounds.arith import attenuation
from bounds.arith.attenuation import attenuated_sum, step_by_step
from bounds.arith.averaging import sum_expm1
from bounds.arith.ball import Ball, accuracy, precision
from bounds.arith.exact import Exact
from bounds.arith.float64 import Float64
from bounds.arith.multiprecision import Multiprecision

LOSSES = [
    Fraction(text) for text in ("1e-18", "1e-9", "1e-7", "3e-6", "1e-4", "0.003", "0.5", "0.999999")
]
SHAPES = [(2, 1), (3, 1), (7, 3), (1000, 1), (1000, 500), (10**6, 1)]


def runs(loss: Fraction, size: int, held: int, count: int) -> tuple[Any, Any, float]:
    """All the steps at high precision, the shortcut in balls, and in doubles."""
    with precision(320):
        c = Ball.complement(loss)
        steps = step_by_step(Ball, Ball.number(1), c, size, held, count)
    with precision(200):
        short = attenuated_sum(Ball, Ball.number(1), Ball.complement(loss), size, held, count, 0)
    return (
        steps,
        short,
        float(attenuated_sum(Float64, 1.0, Float64.complement(loss), size, held, count, 53)),
    )


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_recursion(loss: Fraction) -> None:
    """Counts on both sides of where early hands over to late; `bits` 0 takes steps up to 512."""
    for (size, held), count in product(SHAPES, (1, 2, 511, 513, 1500)):
        steps, short, double = runs(loss, size, held, count)
        with precision(200):
            assert short.overlaps(steps), (size, held, count)
            assert accuracy(short) > 120, (size, held, count)
            assert abs(short - double) <= 2e-13 * steps + 1e-300, (size, held, count)


def test_multiprecision_takes_the_same_shortcut() -> None:
    ctx = Multiprecision(50)
    for loss, count in product(LOSSES[:4], (700, 3000)):
        c = ctx.complement(loss)
        steps = step_by_step(ctx, ctx.number(1), c, 7, 3, count)
        assert abs(attenuated_sum(ctx, ctx.number(1), c, 7, 3, count, 0) / steps - 1) < 1e-44


def test_balls_and_fractions_agree() -> None:
    for loss, (size, held) in product((Fraction(1, 3), Fraction(1, 50)), SHAPES[:3]):
        exact = Exact.attenuated_sum(Fraction(2, 7), Exact.complement(loss), size, held, 9)
        with precision(200):
            ball = Ball.attenuated_sum(
                Ball.number(Fraction(2, 7)), Ball.complement(loss), size, held, 9
            )
            assert ball.overlaps(Ball.number(exact))


def test_one_batch_an_epoch_composes() -> None:
    assert Float64.attenuated_sum(0.5, Float64.complement(Fraction(1, 9)), 1, 1, 10**12) == 5e11


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_early", lambda f: lambda ctx, c, size, held, k: f(ctx, c, size, held, k + 1)),
        ("_late", lambda f: lambda ctx, c, size, held, k: f(ctx, c, size, held, k + 1)),
        ("_early_product", lambda f: lambda *a: f(*a[:-1], a[-1] + 1)),
        ("_late_product", lambda f: lambda *a: f(*a[:-1], a[-1] - 1)),
    ],
)
def test_a_wrong_term_is_seen(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attenuation, name, wrong(getattr(attenuation, name)))
    cases = [(Fraction(1, 10**9), 1500), (Fraction(1, 10**4), 2000)]
    found = [runs(loss, 7, 3, count)[:2] for loss, count in cases]
    with precision(200):
        assert not all(steps.overlaps(short) for steps, short in found)


def profile(loss: Fraction) -> Any:
    """The profile of Theorem 4.2."""
    c = Ball.complement(loss)
    return lambda j: (
        Ball.power(c, 2 * (j - 1)) * Ball.one_minus_power(c, 2) / Ball.one_minus_power(c, 2 * j)
    )


def term_by_term(scale: Any, f: Any, count: int) -> Any:
    """The sum from its definition."""
    return Ball.total(lambda j: (scale * f(j)).expm1(), 1, count)


@pytest.mark.parametrize("loss", ["1e-18", "1e-7", "1e-3", "0.2", "0.9"])
@pytest.mark.parametrize("scale", ["1e-20", "1", "30", "200", "1e6"])
def test_average(loss: str, scale: str) -> None:
    count = 3000
    with precision(400):
        plain = term_by_term(Ball.number(Fraction(scale)), profile(Fraction(loss)), count)
    with precision(180):
        fast = sum_expm1(Ball.number(Fraction(scale)), profile(Fraction(loss)), count)
        assert fast.overlaps(plain)
        assert accuracy(fast) > 110


def test_a_profile_that_is_not_completely_monotone_is_summed_when_short() -> None:
    with precision(180):
        f = profile(Fraction(1, 100))

        def bent(j: Any) -> Any:
            return f(j) if j < 100 else f(j) / 2

        fast = sum_expm1(Ball.number(3), bent, 500)
        assert fast.overlaps(term_by_term(Ball.number(3), bent, 500))
