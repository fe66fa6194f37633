"""Independent numeric checks behind the proof of Theorem 4.3 and Section 4.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from bounds.arith.ball import precision
from bounds.bound import find
from verify.derivations.resampling_proof import CAPTION, bounded_ratio, exact_ratio, three_updates

Map = Callable[[np.ndarray], np.ndarray]


def log_law(mean: np.ndarray, weight: np.ndarray, variance: float, at: np.ndarray) -> np.ndarray:
    """Log density of N(mean, variance) mixed with log weights."""
    parts = weight[None, :] - (at[:, None] - mean[None, :]) ** 2 / (2 * variance)
    return logsumexp(parts, axis=1) - 0.5 * math.log(2 * math.pi * variance)


def log_moment(p: np.ndarray, other: np.ndarray, order: float, step: float) -> float:
    return float(logsumexp(order * p + (1 - order) * other) + math.log(step))


def test_the_run_that_breaks_157_by_quadrature() -> None:
    """log E_120 before and after the missing update, against the estimates in balls."""

    def theirs(x: np.ndarray) -> np.ndarray:
        return np.clip((x - 3) / 2, 0, 2)

    def ours(x: np.ndarray) -> np.ndarray:
        return np.maximum(1, theirs(x))

    h = 1 / 40
    x = np.arange(-9, 16, h)
    weight = -(x**2) / 2 - 0.5 * math.log(2 * math.pi) + math.log(h)
    t = np.arange(-12, 45, h)
    before = [log_law(m(x), weight, 1.0, t) for m in (ours, theirs)]
    after = [log_law(m(x) / 2, weight, 1.25, t) for m in (ours, theirs)]
    measured_before = log_moment(before[0], before[1], 120, h)
    measured_after = log_moment(after[0], after[1], 120, h)
    with precision(128):
        high_before, low_after, high_after = (float(v) for v in three_updates())
    assert measured_before <= high_before
    assert low_after <= measured_after <= high_after
    assert measured_after > measured_before / 4 + 100
    slopes = np.diff(ours(x)) / h, np.diff(theirs(x)) / h
    assert all(s.min() >= 0 and s.max() <= 0.5 + 1e-9 for s in slopes)
    assert (ours(x) - theirs(x)).min() >= 0 and (ours(x) - theirs(x)).max() <= 1


@pytest.mark.parametrize("c", [Fraction(1, 2), Fraction(9, 10)])
def test_bounds_for_fixed_sequences_are_above_exact_laws(c: Fraction) -> None:
    for hits in product((True, False), repeat=5):
        assert exact_ratio(hits, c) <= bounded_ratio(hits, c)


def test_the_recursion_passes_order_25_and_not_order_26() -> None:
    long, longer = (replace(CAPTION, epochs=k) for k in (400, 800))
    bound = find("without_replacement")

    def growth(alpha: int) -> float:
        at = [float(bound.float64(replace(s, alpha=Fraction(alpha)))) for s in (long, longer)]
        return at[1] / at[0]

    assert growth(25) == pytest.approx(1, abs=1e-9)
    assert growth(26) > 1.7


def test_limit_of_the_recursion() -> None:
    p, growth, q, s = 0.5, 1.5, 0.25, 1.0
    for _ in range(500):
        s = p * growth * s + (1 - p) * s**q
    assert s == pytest.approx(((1 - p) / (1 - p * growth)) ** (1 / (1 - q)), rel=1e-12)


def test_one_update_is_quadratic_in_the_rate() -> None:
    """The sampled Gaussian at rates 1/100 and 1/200."""
    one = [
        float(find("sampled_gaussian").float64(
            replace(CAPTION, n=n, b=1, epochs=1, sigma2=Fraction(64), alpha=Fraction(3))
        )) / n
        for n in (1000, 2000)
    ]  # fmt: skip
    assert one[0] / one[1] == pytest.approx(4, rel=0.02)
