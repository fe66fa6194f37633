"""The recursion of Theorem 4.3 against its definition, closed forms and itself."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import flint
import mpmath
import numpy as np
import pytest

from bounds.arith import resampling
from bounds.arith.resampling import (
    log_moment_ball,
    log_moment_float,
    log_moment_mp,
    log_moment_upper_ball,
)

FLOAT_TOLERANCE = 2e-13
MOST_STEPS = 10**18

Point = tuple[float, float, float, int]  # s, p, h, steps


@pytest.fixture(autouse=True)
def _restored_precision() -> Iterator[None]:
    before = flint.ctx.prec
    yield
    assert flint.ctx.prec == before


def direct_mp(s: Any, p: Any, h: Any, steps: int, digits: int = 60) -> Any:
    """log S_T from S <- p e^s S + (1-p) S^q as it is written, for the logarithm of S."""
    with mpmath.mp.workdps(digits):
        s, p, q = mpmath.mpf(s), mpmath.mpf(p), 1 - mpmath.mpf(h)
        y = mpmath.mpf(0)
        log_a, log_b = s + mpmath.log(p), mpmath.log(1 - p)
        for _ in range(steps):
            top = log_a + y
            y = top + mpmath.log(1 + mpmath.exp(log_b + q * y - top))
        return y


def direct_ball(point: Point, prec: int) -> Any:
    """The same in balls; the radii are added up, since the map does not expand."""
    s, p, h, steps = point
    with flint.ctx.workprec(prec):
        a, b, q = flint.arb(p) * flint.arb(s).exp(), 1 - flint.arb(p), 1 - flint.arb(h)
        y, error = flint.arb(0), flint.arb(0)
        for _ in range(steps):
            new = (a * y.exp() + b * (q * y).exp()).log()
            y, error = new.mid(), error + new.rad()
        return y + flint.arb(0, error.upper())


def enclosure(point: Point, prec: int = 160) -> Any:
    s, p, h, steps = point
    return log_moment_ball(flint.arb(s), flint.arb(p), flint.arb(h), steps, prec)


def in_float(point: Point) -> float:
    s, p, h, steps = point
    return float(log_moment_float(np.array([s]), p, 1 - p, h, steps)[0])


def width(ball: Any) -> float:
    return float(ball.rad() / abs(ball.mid()))


def to_mp(x: Any) -> Any:
    man, exponent = x.mid().man_exp()
    return mpmath.ldexp(mpmath.mpf(int(man)), int(exponent))


def holds_mp(ball: Any, value: Any, relative: float) -> bool:
    """Whether the ball, widened by what the value may be off, contains the value."""
    with mpmath.mp.workdps(90):
        slack = to_mp(ball.rad().upper()) + abs(value) * mpmath.mpf(relative)
        return bool(abs(to_mp(ball) - value) <= slack)


def random_point(rng: random.Random, most_steps: int = MOST_STEPS) -> Point:
    """All of the range, with much weight near the critical s = -log p and at the corners."""

    def spread(low: float, high: float) -> float:
        return float(10.0 ** rng.uniform(low, high))

    h = rng.choice([spread(-17.7, 0), spread(-3, 0), spread(-1, 0), 1.0, 2e-18])
    p = rng.choice([spread(-6, -0.31), rng.uniform(0.01, 0.999), 0.5, 0.25, 1e-6, 0.999])
    top = math.log10(most_steps)
    steps = rng.choice([int(spread(0, top)), int(spread(2, top)), most_steps])
    critical = -math.log(p)
    sign = rng.choice([-1, 1])
    s = rng.choice(
        [
            spread(-24, 18),
            spread(-3, 3),
            critical,
            critical * (1 + sign * spread(-16, -1)),
            critical * rng.uniform(0.3, 3),
            spread(-24, 0),
        ]
    )
    return s, p, h, steps


NASTY: list[Point] = [
    (1.0, 0.25, 1.0, 900),
    (math.log(4), 0.25, 1.0, 900),
    (math.log(4), 0.25, 0.03, 900),
    (math.log(2), 0.5, 1e-6, 900),
    (math.log(4) * (1 + 1e-9), 0.25, 0.5, 900),
    (math.log(4) * (1 - 1e-9), 0.25, 0.5, 900),
    (0.3, 0.999, 1e-3, 900),
    (13.9, 1e-6, 0.02, 900),
    (1e-9, 1e-6, 2e-18, 900),
    (1e-9, 0.3, 0.001, 900),
    (40.0, 0.01, 1e-3, 900),
    (3e5, 0.1, 1e-7, 600),
    (1e18, 0.3, 1.0, 600),
    (0.7, 1e-6, 1.0, 600),
]


def agrees_with_definition(candidate: Callable[[Any, Any, Any, int], Any]) -> bool:
    """The check of the enclosure against the definition; also applied to broken variants."""
    for s, p, h, steps in NASTY[:7]:
        ball = candidate(flint.arb(s), flint.arb(p), flint.arb(h), steps)
        if not holds_mp(ball, direct_mp(s, p, h, steps), 1e-30) or width(ball) > 1e-30:
            return False
    return True


def test_ball_contains_the_definition() -> None:
    assert agrees_with_definition(lambda s, p, h, steps: log_moment_ball(s, p, h, steps, 160))


@pytest.mark.parametrize(
    "broken",
    [
        lambda s, p, h, steps: log_moment_ball(s, p, 1 - h if h < 1 else h / 2, steps, 160),
        lambda s, p, h, steps: log_moment_ball(s, p, h, steps + 1, 160),
        lambda s, p, h, steps: log_moment_ball(s, 1 - p, h, steps, 160),
        lambda s, p, h, steps: log_moment_upper_ball(s, p, h, steps, 160),
        lambda s, p, h, steps: log_moment_ball(s, p, h, steps, 160) * (1 + flint.arb(2) ** -80),
    ],
    ids=["q for h", "one step too many", "p and 1-p swapped", "upper bound", "off by 2^-80"],
)
def test_the_same_check_rejects_broken_variants(broken: Callable[..., Any]) -> None:
    assert not agrees_with_definition(broken)


@pytest.mark.parametrize("point", NASTY[7:])
def test_ball_and_float_against_the_definition_at_corners(point: Point) -> None:
    value = direct_mp(*point, digits=80)
    ball = enclosure(point)
    assert holds_mp(ball, value, 1e-40)
    assert width(ball) < 1e-45
    assert abs(in_float(point) / float(value) - 1) <= FLOAT_TOLERANCE


def test_ball_and_float_against_the_definition_at_random() -> None:
    rng = random.Random(20220)
    for _ in range(30):
        s, p, h, steps = random_point(rng, 1000)
        # 1 + 1e-30 is what 60 digits can still tell from 1 with 30 digits to spare.
        value = direct_mp(s, p, h, steps, digits=60 if s > 1e-12 else 90)
        ball = enclosure((s, p, h, steps))
        assert holds_mp(ball, value, 1e-25), (s, p, h, steps)
        assert width(ball) < 1e-45, (s, p, h, steps)
        assert abs(in_float((s, p, h, steps)) / float(value) - 1) <= FLOAT_TOLERANCE


@pytest.mark.parametrize(
    "point",
    [
        (math.log(4), 0.25, 0.7, 100_000),
        (1.0, 0.2, 1e-5, 100_000),
        (math.log(2) * (1 + 1e-6), 0.5, 3e-4, 200_000),
        (1.0, 0.3, 1e-2, 100_000),
    ],
)
def test_long_runs_step_by_step(point: Point) -> None:
    value = direct_ball(point, 200)
    ball = enclosure(point)
    assert ball.overlaps(value)
    assert width(ball) < 1e-45
    assert width(value) < 1e-45


@pytest.mark.parametrize("p", [0.25, 1e-6, 0.999])
@pytest.mark.parametrize("shift", [0.0, 1e-17, -1e-17, 1e-3, -1e-3, 3.0])
def test_closed_form_for_h_1(p: float, shift: float) -> None:
    # S <- a S + b
    steps = MOST_STEPS
    s = -math.log(p) * (1 + shift)
    with flint.ctx.workprec(400):
        a = flint.arb(p) * flint.arb(s).exp()
        log_power = steps * a.log()
        if log_power < 10**6:
            power = log_power.exp()
            value = (power + (1 - flint.arb(p)) * (power - 1) / (a - 1)).log()
        else:
            # a^-T, which is left out, does not show.
            value = log_power + (1 + (1 - flint.arb(p)) / (a - 1)).log() + flint.arb(0, 1e-99)
    ball = enclosure((s, p, 1.0, steps))
    assert ball.overlaps(value)
    assert width(ball) < 1e-45
    upper = log_moment_upper_ball(flint.arb(s), flint.arb(p), flint.arb(1), steps, 160)
    assert upper >= ball.mid()
    with flint.ctx.workprec(200):
        assert shift < 0 or abs(upper / ball - 1) < 1e-40


LONG: list[Point] = [
    (math.log(4), 0.25, 1.0, MOST_STEPS),
    (math.log(4), 0.25, 0.1, MOST_STEPS),
    (math.log(2), 0.5, 2e-18, MOST_STEPS),
    (1.0, 0.3, 1e-17, MOST_STEPS),
    (1.0, 0.3, 1e-17, 10**24),
    (1.0, 1e-6, 1e-18, MOST_STEPS),
    (1e-3, 0.01, 3e-18, MOST_STEPS),
    (1e-24, 0.1, 2e-18, MOST_STEPS),
    (1.3, 0.3, 1e-16, MOST_STEPS),
    (math.log(4) * (1 + 3e-14), 0.25, 1e-4, MOST_STEPS),
]


@pytest.mark.parametrize("point", LONG)
def test_semigroup(point: Point) -> None:
    # A further 20 steps from the enclosure of y_T, by the definition, give y_{T+20}.
    s, p, h, steps = point
    first, last = enclosure(point, 260), enclosure((s, p, h, steps + 20), 260)
    with flint.ctx.workprec(400):
        a, b = flint.arb(p) * flint.arb(s).exp(), 1 - flint.arb(p)
        y = first
        for _ in range(20):
            y = y + (a + b * (-flint.arb(h) * y).exp()).log()
        assert y.overlaps(last)
        # The enclosures are narrow enough for the 20 steps to show, unless they have come to rest.
        rise = last - first
        settled = flint.arb(h) * steps * -a.log() > 500
        assert settled or (rise > 0 and width(rise) < 1e-15)
    assert width(last) < 1e-70


def test_fixed_point() -> None:
    for s, p, h in [(1.0, 0.3, 1e-15), (1e-20, 0.01, 0.5), (0.1, 0.9, 1e-3), (1.0, 0.3, 1.0)]:
        with flint.ctx.workprec(300):
            a = flint.arb(p) * flint.arb(s).exp()
            fixed = ((1 - flint.arb(p)) / (1 - a)).log() / flint.arb(h)
        ball = enclosure((s, p, h, 10**21))
        assert ball.overlaps(fixed)
        assert width(ball) < 1e-45


def test_linear_growth() -> None:
    for s, p, h in [(2.0, 0.3, 1e-3), (1e6, 0.3, 1e-12), (2.0, 0.9, 1e-15), (1e18, 1e-6, 0.3)]:
        once, twice = (enclosure((s, p, h, k * MOST_STEPS), 200) for k in (1, 2))
        with flint.ctx.workprec(300):
            slope = flint.arb(s) + flint.arb(p).log()
            assert ((twice - once) / MOST_STEPS).overlaps(slope)
            assert not once / MOST_STEPS < slope


def test_monotone() -> None:
    rng = random.Random(4)
    for _ in range(10):
        s, p, h, steps = random_point(rng)
        low = enclosure((s, p, h, steps), 80)
        assert enclosure((s, p, h, 2 * steps), 80).upper() >= low.lower()
        assert enclosure((s * (1 + 1e-6), p, h, steps), 80) > low
    point = (math.log(4), 0.25, 0.1)
    runs = [enclosure((*point, 10**k), 80) for k in range(19)]
    assert all(a < b for a, b in itertools.pairwise(runs))
    grid = np.geomspace(1e-24, 1e18, 400)
    assert np.all(np.diff(log_moment_float(grid, 0.25, 0.75, 0.01, MOST_STEPS)) > 0)


def test_float_agrees_with_ball_over_the_whole_range() -> None:
    rng = random.Random(43)
    for _ in range(200):
        point = random_point(rng)
        ball = enclosure(point, 80)
        assert width(ball) < 1e-23, point
        assert abs(in_float(point) / float(ball) - 1) <= FLOAT_TOLERANCE, point


def test_float_is_a_function_of_each_s() -> None:
    # What the orbits next to it do must not matter.
    s = np.concatenate([np.geomspace(1e-24, 1e18, 100), -np.log(0.25) * np.linspace(0.5, 2, 51)])
    for h, steps in [(1.0, MOST_STEPS), (0.05, 10**6), (2e-18, MOST_STEPS), (0.3, 50)]:
        together = log_moment_float(s, 0.25, 0.75, h, steps)
        alone = [in_float((float(x), 0.25, h, steps)) for x in s[::10]]
        np.testing.assert_allclose(together[::10], alone, rtol=1e-14)


def test_float_near_p_equal_to_1() -> None:
    # p rounds to 1; only 1-p tells.
    b, h, s, steps = 1e-20, 0.5, 1e-20, 10**20
    with flint.ctx.workprec(300):
        p = 1 - flint.arb(b)
    ball = log_moment_ball(flint.arb(s), p, flint.arb(h), steps, 128)
    value = log_moment_float(np.array([s]), 1.0, b, h, steps)[0]
    assert abs(value / float(ball) - 1) <= FLOAT_TOLERANCE


def test_shapes_and_trivial_cases() -> None:
    s = np.array([[0.0, 1e-3, 1.0], [1.4, 5.0, 1e18]])
    assert log_moment_float(s, 0.3, 0.7, 0.1, 1000).shape == (2, 3)
    assert log_moment_float(np.array(1.0), 0.3, 0.7, 0.1, 10).shape == ()
    assert log_moment_float(np.zeros(0), 0.3, 0.7, 0.1, 10).shape == (0,)
    assert not log_moment_float(s, 0.3, 0.7, 0.1, 0).any()
    assert log_moment_float(s, 0.3, 0.7, 0.1, 9)[0, 0] == 0
    assert enclosure((1.0, 0.3, 0.1, 0)) == 0
    assert enclosure((0.0, 0.3, 0.1, 10**9)) == 0
    for x in (1e-24, 1e-3, 1.0, 30.0):
        once = math.log1p(0.3 * math.expm1(x))
        assert in_float((x, 0.3, 0.1, 1)) == pytest.approx(once, rel=1e-15)
        assert float(enclosure((x, 0.3, 0.1, 1))) == pytest.approx(once, rel=1e-15)


def test_input_balls() -> None:
    # Every value inside the balls is inside the result, and it is not much wider than that.
    s, p, h = flint.arb(1.0, 0.01), flint.arb(0.3, 0.001), flint.arb(0.1, 0.001)
    ball = log_moment_ball(s, p, h, 10**6, 128)
    rng = random.Random(1)
    for _ in range(5):
        u, v, w = (rng.uniform(-1, 1) for _ in range(3))
        assert ball.contains(
            enclosure((1.0 + 0.0099 * u, 0.3 + 9.9e-4 * v, 0.1 + 9.9e-4 * w, 10**6))
        )
    assert width(ball) < 0.1
    third = flint.arb(flint.fmpq(1, 3))
    # prec is also the precision of the input here, so this is as narrow as it can be.
    assert width(log_moment_ball(flint.arb(1), third, third / 3, MOST_STEPS, 128)) < 1e-14
    assert log_moment_ball(flint.arb(0, 1e-3), third, third, 1000, 128).contains(0)


def test_sign_of_alpha_undecided() -> None:
    with flint.ctx.workprec(900):
        s = flint.arb(2).log().mid()
    for h in (1.0, 0.125, 2.0**-58):
        rough, fine = (
            log_moment_ball(s, flint.arb(0.5), flint.arb(h), 10**24, prec) for prec in (100, 200)
        )
        assert rough.contains(fine)
        assert width(rough) < 1e-28


def test_upper_bound_is_above() -> None:
    rng = random.Random(9)
    for _ in range(30):
        s, p, h, steps = random_point(rng)
        upper = log_moment_upper_ball(flint.arb(s), flint.arb(p), flint.arb(h), steps, 128)
        assert upper.is_exact()
        assert upper >= enclosure((s, p, h, steps), 80).lower(), (s, p, h, steps)
        with flint.ctx.workprec(300):
            first = (flint.arb(p) * flint.arb(s).expm1()).log1p() if s < 1e6 else flint.arb(s)
            assert upper <= (steps * first * (1 + flint.arb(2) ** -100)).upper()


def test_a_bad_density_widens_the_ball_but_keeps_it_true(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = resampling._collocate_ball

    def spoilt(orbit: Any, top: Any, terms: int) -> Any:
        good = honest(orbit, top, terms)
        level = (good.level * (1 + flint.arb(2) ** -40)).mid()
        return resampling._Density(orbit, top, level, good.slope, good.coef)

    points = [(1.0, 0.3, 1e-3), (math.log(4), 0.25, 0.5), (1.3, 0.3, 1e-16), (1.6, 0.25, 1e-4)]
    for s, p, h in points:
        point = (s, p, h, 10**9)
        narrow = enclosure(point)
        with monkeypatch.context() as patch:
            patch.setattr(resampling, "_collocate_ball", spoilt)
            wide = enclosure(point)
            patch.setattr(resampling, "_density", lambda *_: None)
            fallback = enclosure(point)
        assert wide.contains(narrow)
        assert width(wide) < 1e-10
        assert fallback.overlaps(narrow)
        assert fallback.is_finite()
        if (s, p, h) != points[0]:
            # The first has come to rest, where errors of time no longer show.
            assert width(wide) > 1e-15


@pytest.mark.parametrize(
    ("s", "p", "h", "steps"),
    [("1.2", "0.3", "0.01", 700), ("1e-9", "0.3", "1", 50), ("9", "0.3", "1", 9)],
)
def test_mpmath_step_by_step(s: str, p: str, h: str, steps: int) -> None:
    with mpmath.mp.workdps(40):
        x, y, z = (mpmath.mpf(text) for text in (s, p, h))
        value = log_moment_mp(mpmath.mp, x, y, z, steps)
        assert mpmath.almosteq(value, direct_mp(x, y, z, steps, digits=80), 1e-38)
        assert log_moment_mp(mpmath.mp, x, y, z, 0) == 0


def test_mpmath_beyond_that() -> None:
    with mpmath.mp.workdps(40):
        x, y, z = mpmath.mpf("1.25"), mpmath.mpf("0.3125"), mpmath.mpf(2) ** -50
        value = log_moment_mp(mpmath.mp, x, y, z, MOST_STEPS)
    assert holds_mp(enclosure((1.25, 0.3125, 2.0**-50, MOST_STEPS), 250), value, 1e-39)


@pytest.mark.parametrize(
    ("s", "p", "h", "steps"),
    [
        (-1.0, 0.3, 0.1, 5),
        (math.inf, 0.3, 0.1, 5),
        (math.nan, 0.3, 0.1, 5),
        (1.0, 0.0, 0.1, 5),
        (1.0, 1.5, 0.1, 5),
        (1.0, 0.3, 0.0, 5),
        (1.0, 0.3, 1.5, 5),
        (1.0, 0.3, 0.1, -1),
    ],
)
def test_parameters_out_of_range(s: float, p: float, h: float, steps: int) -> None:
    with pytest.raises(ValueError, match=r"s|p|h"):
        log_moment_float(np.array([s]), p, 1 - p, h, steps)
    for function in (log_moment_ball, log_moment_upper_ball):
        with pytest.raises(ValueError, match=r"s|p|h"):
            function(flint.arb(s), flint.arb(p), flint.arb(h), steps, 128)
    with pytest.raises(ValueError, match=r"s|p|h"):
        log_moment_mp(mpmath.mp, mpmath.mpf(s), mpmath.mpf(p), mpmath.mpf(h), steps)
    with pytest.raises(ValueError, match="1-p"):
        log_moment_float(np.array([1.0]), 0.3, 0.6, 0.1, 5)
