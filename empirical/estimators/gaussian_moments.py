"""The closed law with estimated moments; for Gaussian laws, and for nothing else.

With r = v_1/v_2 and E = (m_1 - m_2)^2/v_2,

    R_alpha(r, E) = alpha E/(2 (alpha - (alpha - 1) r)) - log(r)/2
                    - log(alpha - (alpha - 1) r)/(2 (alpha - 1)),

infinite where alpha <= (alpha - 1) r. The interval is the range of R over a box that holds the
moments with the stated confidence: chi-squared limits for the variances, and normal limits for the
difference of the means given the variances. It is exact for every sample size, not asymptotic.

The range. R increases in E. Its derivative in r has the sign of
(alpha - 1) E + (r - 1)(alpha/r - (alpha - 1)), which is concave in r, tends to -inf at 0, and is
positive where alpha = (alpha - 1) r unless E = 0: so R falls and then rises in r, its maximum over
an interval is at an end, and its minimum at the smaller root r* of
(alpha - 1) r^2 - ((2 alpha - 1) + (alpha - 1) E) r + alpha = 0, or at the end nearest to it.

Where the two laws are known to have one variance, r = 1 and R = alpha E/2.

Beside it stands a test of the third and fourth moments against the Gaussian ones, at 1e-9: it can
void the estimate and cannot support it.

Source: Gil, Alajaji and Linder 2013 for the closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import chdtri, ndtri

from empirical.estimators._common import Accumulator, Estimate, Floats, Question

NAME = "gaussian-moments"
SOURCE = "Gil, Alajaji and Linder 2013; box of normal and chi-squared limits"
SIDES = "two-sided"
VOID = "void unless both last iterates are Gaussian (a fixed order, no projection)"
NORMALITY = 1e-9
FEW = 64


@dataclass
class _Moments:
    """Central moments of one sample, merged block by block (Pebay 2008)."""

    size: int = 0
    mean: float = 0.0
    second: float = 0.0
    third: float = 0.0
    fourth: float = 0.0

    def add(self, values: Floats) -> None:
        m = len(values)
        if m == 0:
            return
        centre = float(values.mean())
        gap = values - centre
        square = gap * gap
        b2, b3, b4 = float(square.sum()), float((square * gap).sum()), float(square @ square)
        n, total = self.size, self.size + m
        d = centre - self.mean
        r, s = n / total, m / total
        a2, a3 = self.second, self.third
        self.fourth += b4 + d**4 * n * s * (r * r - r * s + s * s)
        self.fourth += 6 * d * d * (r * r * b2 + s * s * a2) + 4 * d * (r * b3 - s * a3)
        self.third += b3 + d**3 * n * s * (r - s) + 3 * d * (r * b2 - s * a2)
        self.second += b2 + d * d * n * s
        self.mean += d * s
        self.size = total

    @property
    def variance(self) -> float:
        return self.second / (self.size - 1)

    def normality(self) -> float:
        """The larger of the standardised skewness and excess kurtosis [-], about N(0, 1) each."""
        n = self.size
        spread = self.second / n
        skew = self.third / n / (spread * math.sqrt(spread))
        excess = self.fourth / n / spread**2 - 3
        return max(abs(skew) * math.sqrt(n / 6), abs(excess) * math.sqrt(n / 24))


class _Making:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.moments = (_Moments(), _Moments())

    def add(self, first: Floats, second: Floats) -> None:
        self.moments[0].add(first)
        self.moments[1].add(second)

    def result(self) -> Estimate:
        question = self.question
        one, two = self.moments
        few = min(one.size, two.size) < 2 or not (one.second > 0 and two.second > 0)
        why = None
        if few:
            return Estimate.of(
                NAME, question, None, None, None, VOID, "too few paths for a variance"
            )
        if question.gaussian is False:
            why = "the last iterate is a mixture over batches, or projected, and not Gaussian"
        elif min(one.size, two.size) >= FEW:
            # The kurtosis approaches its limit slowly, so the test is only meant to see gross
            # departures; its level is not part of the confidence.
            z = max(one.normality(), two.normality())
            if z > 2 * -float(ndtri(NORMALITY)):
                why = f"skewness or kurtosis is {z:.0f} standard errors from a Gaussian's"
        value, lower, upper = _interval(question, one, two)
        return Estimate.of(NAME, question, value, lower, upper, VOID, why)


def _interval(question: Question, one: _Moments, two: _Moments) -> tuple[float, float, float]:
    alpha, error = question.order, question.error
    gap = abs(one.mean - two.mean)
    if question.equal_variance:
        freedom = one.size + two.size - 2
        pooled = (one.second + two.second) / freedom
        low, high = _variance_limits(pooled, freedom, error / 2)
        reach = -float(ndtri(error / 4)) * math.sqrt(1 / one.size + 1 / two.size)
        # d = |m_1 - m_2|/s lies within `reach` of gap/s for the true s, and s within its limits.
        least = max(0.0, gap / math.sqrt(high) - reach)
        most = gap / math.sqrt(low) + reach
        return alpha * gap**2 / pooled / 2, alpha * least**2 / 2, alpha * most**2 / 2
    box = [_variance_limits(m.variance, m.size - 1, error / 3) for m in (one, two)]
    (v1, w1), (v2, w2) = box
    z = -float(ndtri(error / 6))
    reach = z * math.sqrt(w1 / one.size + w2 / two.size)
    value = renyi(alpha, one.variance / two.variance, gap**2 / two.variance)
    low_gap, high_gap = max(0.0, gap - reach) ** 2 / w2, (gap + reach) ** 2 / v2
    low_ratio, high_ratio = v1 / w2, w1 / v2
    upper = max(renyi(alpha, r, high_gap) for r in (low_ratio, high_ratio))
    best = min(max(_turning(alpha, low_gap), low_ratio), high_ratio)
    return value, renyi(alpha, best, low_gap), upper


def _variance_limits(variance: float, freedom: int, error: float) -> tuple[float, float]:
    """Two-sided limits of a Gaussian's variance [parameter^2], `error` for both sides together."""
    spread = variance * freedom
    return spread / float(chdtri(freedom, error / 2)), spread / float(
        chdtri(freedom, 1 - error / 2)
    )


def renyi(alpha: float, ratio: float, gap: float) -> float:
    """R_alpha of two Gaussians [-]: ratio v_1/v_2 [-], gap (m_1 - m_2)^2/v_2 [-].

    >>> renyi(3.0, 1.0, 0.5)
    0.75
    """
    blend = alpha - (alpha - 1) * ratio
    if blend <= 0:
        return math.inf
    # blend = 1 - (alpha - 1)(ratio - 1): both logarithms are small near ratio = 1.
    logs = math.log1p(-(alpha - 1) * (ratio - 1)) / (alpha - 1) + math.log(ratio)
    return alpha * gap / (2 * blend) - logs / 2


def _turning(alpha: float, gap: float) -> float:
    """The variance ratio at which R is least, for a given gap."""
    middle = (2 * alpha - 1) + (alpha - 1) * gap
    root = math.sqrt(max(0.0, middle**2 - 4 * alpha * (alpha - 1)))
    return 2 * alpha / (middle + root)


def start(question: Question) -> Accumulator:
    """Begin an estimate."""
    return _Making(question)
