"""Renyi divergence of one sampled Gaussian step, against its definition and its golden values."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
from mpmath.ctx_mp import MPContext

from bounds.arith import TooCostly
from bounds.arith import subsampling as sub
from bounds.arith.float64 import MARGIN, Float64
from bounds.setting import InvalidInput

GOLDEN = Path(__file__).parents[1] / "golden" / "bounds.json"
TOLERANCE = 2e-13
Q = flint.fmpq


def fmpq(x: Any) -> Any:
    return Q(*Fraction(x).as_integer_ratio())


def ball(x: Any, prec: int = 300) -> Any:
    with sub.precision(prec):
        return flint.arb(fmpq(x))


def definition(alpha: Fraction, p: Fraction, a: Fraction, add: bool, dps: int = 40) -> Any:
    """The divergence straight from its definition, by mpmath's quadrature."""
    mp = MPContext()
    mp.dps = dps
    number = lambda x: mp.mpf(x.numerator) / x.denominator  # noqa: E731
    s = number(alpha) if add else 1 - number(alpha)
    p, t = number(p), mp.sqrt(2 * number(a))
    f = lambda x: (1 - p + p * mp.exp(t * x - t * t / 2)) ** s * mp.npdf(x)  # noqa: E731
    low, high = min(0, s * t) - 14, max(0, s * t) + 14
    pieces = mp.linspace(low, high, 3 + int((high - low) * (1 + t) / 8))
    return mp.log(mp.quad(f, pieces, method="gauss-legendre", maxdegree=6)) / (number(alpha) - 1)


CASES = [
    (Fraction(5, 2), Fraction(1, 25), Fraction(1, 200)),
    (Fraction(2), Fraction(1, 2), Fraction(1, 3)),
    (Fraction(11, 10), Fraction(1, 3), Fraction(2)),
    (Fraction(17, 5), Fraction(9, 10), Fraction(3)),
    (Fraction(41, 2), Fraction(1, 1000), Fraction(1, 10)),
]


@pytest.mark.parametrize(("alpha", "p", "a"), CASES)
def test_balls_hold_the_definition(alpha: Fraction, p: Fraction, a: Fraction) -> None:
    balls = sub.sampled_gaussian_directions_ball(fmpq(alpha), fmpq(p), ball(a), 160)
    for found, add in zip(balls, (True, False), strict=True):
        assert found.rel_accuracy_bits() > 150
        with sub.precision(160):
            wanted = flint.arb(str(definition(alpha, p, a, add)))
            assert abs((found - wanted) / wanted) < flint.arb(10) ** -32
    assert balls[0] > balls[1]


@pytest.mark.parametrize("alpha", [2, 3, 7, 64, 500, 2000])
@pytest.mark.parametrize("p", [Q(1, 10**5), Q(1, 25), Q(1, 2), Q(9, 10)])
@pytest.mark.parametrize("a", [Q(1, 10**9), Q(1, 100), Q(1), Q(7)])
def test_whole_orders_two_ways(alpha: int, p: Any, a: Any) -> None:
    with sub.precision(200):
        exact = flint.arb(a)
        total = sub._binomial(alpha, p, exact, 200).log1p() / (alpha - 1)
        integral = sub._integral(Q(alpha), p, exact, 100, True)
        assert integral.overlaps(total)
        assert integral.rel_accuracy_bits() > 96 and total.rel_accuracy_bits() > 150


@pytest.mark.parametrize("a", [40, 120, 200, 300])
@pytest.mark.parametrize("p", [Q(1, 10**6), Q(1, 50), Q(1, 2)])
@pytest.mark.parametrize("alpha", [Q(3, 2), Q(10**6), 1 + Q(1, 1000)])
def test_far_apart_and_quadrature_agree(alpha: Any, p: Any, a: int) -> None:
    rate = flint.arb(a)
    for add in (True, False):
        quick = sub._far_apart(alpha, p, rate, 4, add)
        with sub.precision(100):
            slow = sub._integral(alpha, p, rate, 60, add)
            assert slow.rel_accuracy_bits() > 55
            assert quick is None or quick.overlaps(slow)
            assert quick is not None or a < 150


def relative_error(
    p: float, a: float, less: list[float], f: Callable[..., Any] = sub.sampled_gaussian_float
) -> float:
    """The largest relative error over the orders, for the arguments as they stand."""
    orders = np.array(less)
    rest = 1 - Fraction(p)
    found = f(1 + orders, orders, p, float(rest), a)
    exact = fmpq(p) if p <= 0.5 else 1 - fmpq(float(rest))
    worst = 0.0
    for beta, value in zip(less, found, strict=True):
        truth = sub.sampled_gaussian_ball(1 + fmpq(beta), exact, ball(a), 70)
        assert truth.rel_accuracy_bits() > 60
        with sub.precision(100):
            worst = max(worst, float(abs((flint.arb(float(value)) - truth) / truth).upper()))
    return worst


def test_float_at_random_points() -> None:
    rng = np.random.default_rng(20190828)
    for k in range(120):
        p = float(10 ** rng.uniform(-6, math.log10(0.5)))
        if k % 8 == 0:
            p = float(1 - 10 ** rng.uniform(-12, -0.3))
        beta, a = float(10 ** rng.uniform(-9, 6)), float(10 ** rng.uniform(-12, 6))
        if k % 4 == 1:  # the integrand is flat or has two peaks
            a = float(2 / (1 + beta) * rng.uniform(0.5, 2))
        if k % 4 == 2:  # both peaks count
            a = float(-math.log(p) / (1 + beta) * 10 ** rng.uniform(-0.01, 0.01))
        assert relative_error(p, a, [beta]) < TOLERANCE, (p, a, beta)


@pytest.mark.parametrize("p", [1e-6, 0.04, 0.5, 1 - 2.0**-40])
@pytest.mark.parametrize("a", [1e-12, 2e-6, 5e-3, 2.0, 13.9, 60.0, 170.0, 230.0, 1e6])
def test_float_in_the_corners(p: float, a: float) -> None:
    less = [1e-9, 1e-3, 1.0, 1e6 - 0.5, 1e6]
    less += [b for b in (2 / a, -math.log(p) / a) if 1e-9 < b < 1e6]
    assert relative_error(p, a, less) < TOLERANCE


def test_float_is_fast() -> None:
    less = np.geomspace(1e-3, 1e6, 150)
    start = time.perf_counter()
    sub.sampled_gaussian_float(1 + less, less, 0.04, 0.96, 5e-3)
    assert time.perf_counter() - start < 2  # 0.05 s on an idle core


def swapped(al: Any, less: Any, p: float, q: float, a: float) -> Any:
    return sub.sampled_gaussian_float(al, less, q, p, a)


def order_off_by_one(al: Any, less: Any, p: float, q: float, a: float) -> Any:
    return sub.sampled_gaussian_float(al + 1, al, p, q, a)


def rate_doubled(al: Any, less: Any, p: float, q: float, a: float) -> Any:
    return sub.sampled_gaussian_float(al, less, p, q, 2 * a)


@pytest.mark.parametrize("broken", [swapped, order_off_by_one, rate_doubled])
def test_the_check_rejects_broken_variants(broken: Callable[..., Any]) -> None:
    assert relative_error(0.04, 5e-3, [1.5, 9.0]) < TOLERANCE
    assert relative_error(0.04, 5e-3, [1.5, 9.0], broken) > 1e-3


def golden() -> list[Any]:
    cases = json.loads(GOLDEN.read_text())["cases"]
    return [c for c in cases if c["bound"] == "sampled_gaussian"]


def test_golden_values() -> None:
    cases = golden()
    assert len(cases) > 30
    for case in cases:
        s = {k: Fraction(v) for k, v in case["setting"].items()}
        p, alpha = s["b"] / s["n"], s["alpha"]
        a = s["eta"] * s["sensitivity"] ** 2 / (4 * s["sigma2"] * s["b"] ** 2)
        steps = int(s["epochs"]) * (int(s["n"]) // int(s["b"]))
        found = sub.sampled_gaussian_ball(fmpq(alpha), fmpq(p), ball(a), 220)
        orders = np.array([float(alpha)]), np.array([float(alpha - 1)])
        value = steps * sub.sampled_gaussian_float(*orders, float(p), float(1 - p), float(a))[0]
        mp = MPContext()
        mp.dps = 50
        args = [mp.mpf(x.numerator) / x.denominator for x in (alpha, alpha - 1, p, a)]
        middle = sub.sampled_gaussian_mp(mp, *args) * steps
        assert abs(middle / mp.mpf(case["value"]) - 1) < mp.mpf(10) ** -46
        with sub.precision(220):
            wanted = flint.arb(case["value"])
            assert abs((found * steps - wanted) / wanted) < flint.arb(10) ** -56
            assert abs((flint.arb(value) - wanted) / wanted) < TOLERANCE


def test_lower_bound_order_of_directions_and_monotonicity() -> None:
    """p^2 alpha a <= D(mu || mu0) <= alpha a, and D(mu0 || mu) <= D(mu || mu0)."""
    grid: dict[tuple[int, int, int], Any] = {}
    alphas = [1 + Q(1, 10**9), Q(4, 3), Q(33, 2), Q(5000)]
    ps = [Q(1, 10**6), Q(1, 30), Q(1, 2), Q(99, 100)]
    rates = [Q(1, 10**12), Q(1, 1000), Q(1, 2), Q(5), Q(10**6)]
    for i, alpha in enumerate(alphas):
        for j, p in enumerate(ps):
            for k, a in enumerate(rates):
                pair = sub.sampled_gaussian_directions_ball(alpha, p, ball(Fraction(str(a))), 90)
                grid[i, j, k] = pair[0]
                assert pair[0] > pair[1] > 0
                assert p * p * alpha * a < pair[0] < alpha * a
    for (i, j, k), value in grid.items():
        for other in ((i + 1, j, k), (i, j + 1, k), (i, j, k + 1)):
            assert other not in grid or value < grid[other]


def test_full_sampling_and_trivial_arguments() -> None:
    less = np.array([1e-9, 0.5, 1e6])
    assert np.array_equal(sub.sampled_gaussian_float(1 + less, less, 1.0, 0.0, 3.0), 3 * (1 + less))
    assert not sub.sampled_gaussian_float(1 + less, less, 0.5, 0.5, 0.0).any()
    assert sub.sampled_gaussian_ball(Q(7, 2), Q(1), flint.arb(2), 90) == 7
    assert sub.sampled_gaussian_ball(Q(7, 2), Q(1, 2), flint.arb(0), 90) == 0


def test_exact_arguments_where_rounding_them_costs_digits() -> None:
    alpha, p = Fraction(10**6), Fraction(1, 10**4)
    a = Fraction(92102, 10**10)  # alpha a is close to log(1/p)
    orders = np.array([float(alpha)]), np.array([float(alpha - 1)])
    value = sub.sampled_gaussian_float(*orders, p, 1 - p, a)[0]
    with sub.precision(120):
        truth = sub.sampled_gaussian_ball(fmpq(alpha), fmpq(p), ball(a), 100)
        assert abs((flint.arb(value) - truth) / truth) < TOLERANCE


def test_an_inexact_rate_is_enclosed() -> None:
    with sub.precision(90):
        wide = flint.arb("0.3 +/- 1e-10")
    for alpha in (Q(5, 2), Q(3), Q(7, 3)):
        found = sub.sampled_gaussian_directions_ball(alpha, Q(1, 20), wide, 90)
        with sub.precision(200):
            rates = wide.lower(), wide.mid(), wide.upper()
        for rate in rates:
            inner = sub.sampled_gaussian_directions_ball(alpha, Q(1, 20), rate, 90)
            assert all(x.overlaps(y) for x, y in zip(found, inner, strict=True))
        assert all(x.rel_accuracy_bits() > 25 for x in found)


def test_huge_whole_and_fractional_orders() -> None:
    low, high = (
        sub.sampled_gaussian_ball(alpha, Q(1, 25), ball(Fraction(1, 200)), 128)
        for alpha in (Q(10**6), Q(10**6) + Q(1, 2))
    )
    assert low < high and min(low.rel_accuracy_bits(), high.rel_accuracy_bits()) > 120


def test_errors_and_the_precision_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    before = flint.ctx.prec
    for bad in ((Q(1), Q(1, 2), 1), (Q(2), Q(3, 2), 1), (Q(2), Q(1, 2), -1)):
        with pytest.raises(InvalidInput):
            sub.sampled_gaussian_ball(bad[0], bad[1], flint.arb(bad[2]), 64)
    with pytest.raises(InvalidInput):
        sub.sampled_gaussian_float(np.array([1.0]), np.array([0.0]), 0.5, 0.5, 1.0)
    monkeypatch.setattr(sub, "MOST_POINTS", 50)
    with pytest.raises(TooCostly, match="points of quadrature"):
        sub.sampled_gaussian_ball(Q(5, 2), Q(1, 25), flint.arb(3), 64)
    assert flint.ctx.prec == before
    assert mpmath.mp.dps == 15


@pytest.mark.parametrize("third", [10**3, 10**5, 10**6])
def test_what_rounding_takes_from_an_order_is_given_back(third: int) -> None:
    """At alpha A = log(1/p), where the last place of the order shows."""
    order, p = Fraction(third, 3), Fraction(1, 10**6)
    rate = Fraction("13.815510558") / (order - 1)
    less = np.array([float(order - 1)])
    made = float(Float64.sampled_gaussian((order,), less, p, rate)[0])
    with sub.precision(200):
        true = sub.sampled_gaussian_ball(fmpq(order), fmpq(p), flint.arb(fmpq(rate)), 200)
        assert abs(made / true - 1) < MARGIN
