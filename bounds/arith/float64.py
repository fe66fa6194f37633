"""Float64: NumPy arrays, vectorised over orders.

Every word is accurate to a few units in the last place, relative to its value, wherever the value
is a normal double; `MARGIN` bounds what a whole formula may lose.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.arith import TooCostly
from bounds.setting import InvalidInput

MARGIN = 4e-13
"""Relative width added outward to a published float64 bound.

The largest relative error of a formula comes from `power`: exp(x) with |x| <= 745 and three
roundings in x, at most 745 * 3 * 2**-53 < 2.5e-13.
"""

MOST_TERMS = 5 * 10**7

Array = NDArray[np.float64]
NEAR = 0.05
"""Distance of log(p e^s) from 0 within which Theorem 4.3 is evaluated in balls."""
_STEP = 2.0**-12
_CHUNK = 1 << 20
_SERIES_TERMS = 14
_SMALL = 0.25


@dataclass(frozen=True)
class Complement:
    """1 - x, with log(1 - x) correct to the last place at both ends."""

    value: float
    log: float


class Float64:
    """The double precision number system."""

    name = "float64"
    symbolic = False
    exact = False

    @staticmethod
    def number(x: int | Fraction) -> float:
        """The nearest double. Raises `InvalidInput` beyond the range of normal doubles."""
        try:
            nearest = float(x)
        except OverflowError:
            raise InvalidInput(
                "a quantity of this setting is larger than double precision holds; use balls"
            ) from None
        if x and abs(nearest) < sys.float_info.min:
            raise InvalidInput(
                "a quantity of this setting is smaller than double precision holds; use balls"
            )
        return nearest

    @classmethod
    def complement(cls, x: Fraction) -> Complement:
        """1 - x for exact x in [0, 1]."""
        rest = 1 - x
        if rest == 0:
            return Complement(0.0, -math.inf)
        small = 2 * x < 1
        return Complement(cls.number(rest), math.log1p(-cls.number(x)) if small else math.log(rest))

    @staticmethod
    def power(c: Complement, m: Any) -> Any:
        """c**m for m >= 0, a count or an array of counts."""
        if c.value == 0:
            return np.where(np.asarray(m) == 0, 1.0, 0.0)[()]
        with np.errstate(under="ignore"):
            return np.exp(np.asarray(m, dtype=np.float64) * c.log)[()]

    @staticmethod
    def one_minus_power(c: Complement, m: Any) -> Any:
        """1 - c**m."""
        if c.value == 0:
            return np.where(np.asarray(m) == 0, 0.0, 1.0)[()]
        return -np.expm1(np.asarray(m, dtype=np.float64) * c.log)[()]

    @classmethod
    def geometric(cls, c: Complement, m: Any) -> Any:
        """1 + c + ... + c**(m-1)."""
        if c.log == 0:
            return np.asarray(m, dtype=np.float64)[()]
        return cls.one_minus_power(c, m) / cls.one_minus_power(c, 1)

    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    sqrt = staticmethod(np.sqrt)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)

    @staticmethod
    def le(x: Any, y: Any) -> Any:
        """x <= y, elementwise."""
        return np.less_equal(x, y)

    @staticmethod
    def total(f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        return sum((f(j) for j in range(first, last + 1)), start=np.float64(0))

    @classmethod
    def log_mean_exp(cls, scale: Any, profile: Callable[[Any], Any], count: int) -> Any:
        """log((1/count) sum_j exp(scale profile(j))), j = 1..count, for scale >= 0 [orders].

        `profile` takes an array of j and is positive and decreasing. With m = scale profile(1):
        where m <= 30 the answer is log1p of a mean of expm1, all terms positive; beyond, it is
        m plus the log of a mean of exponentials that are at most 1, and is at least m - log(count).
        Terms below 1/4 are summed for all orders at once through power sums of the profile,
        since expm1(x) = x + x^2/2! + ...: what is cut off is below 1e-17 of what is kept.
        """
        if count > MOST_TERMS:
            raise TooCostly(f"an average over {count} terms, at most {MOST_TERMS}; use balls")
        scales = np.atleast_1d(np.asarray(scale, dtype=np.float64))
        values = np.concatenate(
            [
                np.asarray(profile(np.arange(low, min(low + _CHUNK, count + 1))))
                for low in range(1, count + 1, _CHUNK)
            ]
        )
        top = scales * values[0]
        heads = _heads(scales, values)
        out = _tails(scales, heads, _power_sums(values, heads))
        small = top <= 30
        for i in np.flatnonzero(small):
            out[i] += np.expm1(scales[i] * values[: heads[i]]).sum()
        out[small] = np.log1p(out[small] / count)
        for i in np.flatnonzero(~small):
            s, head = scales[i], values[: heads[i]]
            reach = np.searchsorted(-s * head, -(top[i] - 750.0))
            with np.errstate(under="ignore"):
                kept = np.sum(np.exp(s * head[:reach] - top[i]))
                rest = (count - reach) * math.exp(-min(top[i], 745.0)) if reach < count else 0.0
            out[i] = top[i] + np.log((kept + rest) / count)
        return out if np.ndim(scale) else out[0]

    @staticmethod
    def small(x: Any, y: Any) -> bool:
        """Whether x > 0 no longer shows against y > 0."""
        return bool(x <= y * 2.0**-60)

    @staticmethod
    def cut(x: Any, rest: Any) -> Any:
        """x plus a negligible amount."""
        return x

    @staticmethod
    def log_gamma_ratio(x: int | Fraction, y: int | Fraction) -> float:
        """log(Gamma(x)/Gamma(y)) for exact x, y > 0, to an absolute error of 1e-15 x log x."""
        return math.lgamma(x) - math.lgamma(y)

    @classmethod
    def attenuated_sum(cls, a: Any, c: Complement, size: int, held: int, count: int) -> Any:
        """u after `count` epochs; see `bounds.arith.attenuation`."""
        from bounds.arith.attenuation import attenuated_sum

        return attenuated_sum(cls, a, c, size, held, count, 53)

    @staticmethod
    def resampling(s: Any, p: Fraction, h: Fraction, steps: int) -> Any:
        """log S after `steps` of S <- p e^s S + (1-p) S^(1-h), S_0 = 1 (Theorem 4.3) [orders].

        s: exact, one Fraction or a tuple of them, or doubles. Where p e^s is within `NEAR` of 1
        the answer magnifies the rounding of s and p, so exact gains are then taken through balls.
        """
        from bounds.arith.resampling import log_moment_float

        scales = np.atleast_1d(_doubles(s))
        if not np.all(np.isfinite(scales)):
            raise InvalidInput("(alpha - 1) alpha A is beyond double precision; use balls")
        out = log_moment_float(scales, float(p), float(1 - p), float(h), steps)
        exact = s if isinstance(s, tuple) else (s,) * scales.size
        for i in np.flatnonzero(np.abs(math.log(p) + scales) < NEAR):
            if isinstance(exact[i], Fraction):
                out[i] = _critical(exact[i], p, h, steps)
        return out if np.ndim(s) else out[0]

    @staticmethod
    def sampled_gaussian(alpha: Any, alpha_minus_one: Any, p: Fraction, rate: Fraction) -> Any:
        """Renyi divergence of one sampled Gaussian step (Mironov et al. 2019) [orders].

        alpha: exact, one Fraction or a tuple of them, or doubles. Near alpha A = log(1/p) the
        answer magnifies a relative change of the order by up to alpha log(1/p), so that what
        rounding takes from an exact order is given back to first order.
        """
        from bounds.arith.subsampling import sampled_gaussian_float

        less = np.atleast_1d(np.asarray(alpha_minus_one, dtype=np.float64))

        def at(lesser: Array) -> Array:
            out: Array = sampled_gaussian_float(lesser + 1, lesser, p, 1 - p, rate)
            return out

        value = at(less)
        exact = alpha if isinstance(alpha, tuple) else (alpha,)
        if all(isinstance(order, Fraction) for order in exact):
            lost = np.array(
                [float(order - 1 - Fraction(x)) for order, x in zip(exact, less, strict=True)]
            )
            if np.any(lost):
                # Over this step the exponent alpha^2 A changes by little.
                swing = 2 * (less + 1) * float(rate) - math.log(p) + 1
                wide = np.minimum(less, 1 / swing) * _STEP
                value = value + lost * (at(less + wide) - value) / wide
        return value if np.ndim(alpha) else value[0]


def _doubles(x: Any) -> Array:
    if isinstance(x, tuple):
        return np.array([Float64.number(item) for item in x])
    return np.asarray(Float64.number(x) if isinstance(x, Fraction) else x, dtype=np.float64)


def _critical(s: Fraction, p: Fraction, h: Fraction, steps: int) -> float:
    """`resampling` through a ball of 100 bits."""
    from bounds.arith.ball import Ball, precision

    with precision(100):
        return float(Ball.resampling(s, p, h, steps).mid())


def _heads(scales: Array, values: Array) -> NDArray[np.intp]:
    """How many leading terms of each order are not small, and some more.

    Rounded up to a few per octave, so that many orders share the power sums of the rest.
    """
    with np.errstate(divide="ignore", over="ignore"):
        least = np.searchsorted(-values, -_SMALL / scales, side="right")
    least[scales > 1e20] = len(values)  # whose powers would overflow
    grid = np.ceil(1.25 ** np.arange(2 + math.ceil(math.log(len(values), 1.25))))
    grid = np.append(0, grid).astype(np.intp)
    heads: NDArray[np.intp] = np.minimum(grid[np.searchsorted(grid, least)], len(values))
    return heads


def _power_sums(values: Array, cuts: NDArray[np.intp]) -> dict[int, Array]:
    """Sums of values[cut:]**k for k = 1.._SERIES_TERMS, one vector for each distinct cut."""
    borders = np.unique(np.append(cuts, len(values)))
    sums: dict[int, Array] = {int(borders[-1]): np.zeros(_SERIES_TERMS)}
    for low, high in zip(borders[-2::-1], borders[:0:-1], strict=True):
        total = sums[int(high)].copy()
        for start in range(int(low), int(high), _CHUNK):
            piece = values[start : min(start + _CHUNK, int(high))]
            power = piece.copy()
            with np.errstate(under="ignore"):
                for k in range(_SERIES_TERMS):
                    total[k] += power.sum()
                    power *= piece
        sums[int(low)] = total
    return sums


def _tails(scales: Array, heads: NDArray[np.intp], sums: dict[int, Array]) -> Array:
    """sum of expm1(scale v) over the small terms, from their power sums [orders]."""
    moments = np.array([sums[int(head)] for head in heads]).reshape(len(scales), _SERIES_TERMS)
    with np.errstate(under="ignore"):
        factors = np.cumprod(
            np.minimum(scales, 1e20)[:, None] / np.arange(1, _SERIES_TERMS + 1), axis=1
        )
        tails: Array = (factors * moments).sum(axis=1)
    return tails


def outward(value: Any, direction: str) -> Any:
    """Round away from the truth: up for an upper bound, down for a lower one.

    A positive bound too small for a double becomes the smallest normal one, or 0 if lower.
    """
    least = np.finfo(np.float64).tiny
    if direction == "upper":
        return np.where(value < least / MARGIN, value + least, value * (1 + MARGIN))[()]
    if direction == "lower":
        return np.where(value < least, 0.0, value * (1 - MARGIN))[()]
    return value
