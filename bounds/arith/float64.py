"""Float64: NumPy arrays, vectorised over orders.

Every word is accurate to a few units in the last place, relative to its value, wherever the value
is a normal double; `MARGIN` bounds what a whole formula may lose.
"""

from __future__ import annotations

import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
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
_UNMOVED = 3e-14
_CHUNK = 1 << 20
_SERIES_TERMS = 14
_FEW = 128
_LARGEST_KEPT, _MOST_KEPT = 1 << 21, 4
"""Tables of profiles are kept up to this length (16 MiB) and number."""
_SMALL = 0.25
_NEGLIGIBLE = 2.0**-60


@dataclass(frozen=True)
class Complement:
    """1 - x, with log(1 - x) correct to the last place at both ends."""

    value: float
    log: float


class NumPyWords:
    """The words that NumPy's functions are as they stand, elementwise."""

    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    sqrt = staticmethod(np.sqrt)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    le = staticmethod(np.less_equal)


class Float64(NumPyWords):
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
    def orders(cls, orders: Sequence[Fraction]) -> tuple[Array, Array]:
        """alpha and alpha - 1 as arrays [orders], each the nearest double of an exact one."""
        pairs = [order.as_integer_ratio() for order in orders]
        try:
            # The quotient of two integers is rounded once, and sooner had than by `number`.
            less = np.array([(over - under) / under for over, under in pairs])
            if less.size and less.min() >= sys.float_info.min:
                return np.array([over / under for over, under in pairs]), less
        except OverflowError:
            pass  # for the sentence
        less = np.array([cls.number(order - 1) for order in orders])
        return np.array([cls.number(order) for order in orders]), less

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

        Growth: time ~ (n/b)^1 * orders^1, memory 8 bytes a term, up to the terms behind which all
        together are negligible. With a `Profile` whose table is kept from the call before, only the
        terms that are not small count.
        """
        table = _table(profile, count)
        values = table.values
        scales = np.atleast_1d(np.asarray(scale, dtype=np.float64))
        top = scales * values[0]
        if count <= _FEW and len(scales) * count <= _CHUNK:
            out = _few(scales, values, top)
            return out if np.ndim(scale) else out[0]
        heads = table.heads(scales)
        distinct, which = np.unique(heads, return_inverse=True)
        tails = _tails(scales, np.array([table.sums(head) for head in distinct.tolist()])[which])
        small = top <= 30
        out, reach = np.empty_like(scales), heads
        if not small.all():
            # What is e^-750 of the largest term adds nothing.
            with np.errstate(all="ignore"):
                reach = np.minimum(heads, table.after((top - 750.0) / scales))
        for size, rows in _alike(reach, small):
            if size == 0:
                out[rows] = 0.0
                continue
            exponents = np.multiply.outer(scales[rows], values[:size])
            if small[rows[0]]:
                out[rows] = np.expm1(exponents, out=exponents).sum(axis=1)
            else:
                exponents -= top[rows, None]
                with np.errstate(under="ignore"):
                    out[rows] = np.exp(exponents, out=exponents).sum(axis=1)
        out[small] = np.log1p((out[small] + tails[small]) / count)
        large = ~small
        if large.any():
            # The terms left out are 1 each, and what the small ones are above 1.
            rest = (count - reach + np.where(reach == heads, tails, 0.0))[large]
            rest = rest * np.exp(-np.minimum(top[large], 745.0))
            out[large] = top[large] + np.log((out[large] + rest) / count)
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
            swing = 2 * (less + 1) * float(rate) - math.log(p) + 1
            # What half a unit in the last place of alpha - 1 can change is often nothing.
            felt = np.flatnonzero(2.0**-53 * less * swing > _UNMOVED).tolist()
            moved = [i for i in felt if exact[i].denominator > 1 or less[i] > 2.0**53]
            lost = np.array([float(exact[i] - 1 - Fraction(less[i])) for i in moved])
            if np.any(lost):
                # Over this step the exponent alpha^2 A changes by little.
                wide = np.minimum(less[moved], 1 / swing[moved]) * _STEP
                value[moved] += lost * (at(less[moved] + wide) - value[moved]) / wide
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


class _Table:
    """The values of a profile at 1, ..., count, and sums of their powers behind some places.

    The places are a few per octave, so that many orders share the sums; they depend on the profile
    alone, and so the answer for one order does not depend on the others asked for with it.
    """

    def __init__(self, profile: Callable[[Any], Any], count: int) -> None:
        self.values = np.concatenate(
            [
                np.asarray(profile(np.arange(low, min(low + _CHUNK, count + 1))))
                for low in range(1, count + 1, _CHUNK)
            ]
        )
        grid = np.ceil(1.25 ** np.arange(2 + math.ceil(math.log(count, 1.25))))
        self.falling = -self.values
        # A few terms are added sooner than they are sorted, however many orders there are.
        inner: Any = np.append(0, grid[grid < count]) if count > _FEW else []
        self.places = np.unique(np.append(inner, count)).astype(np.intp)
        self._sums: dict[int, Array] = {count: np.zeros(_SERIES_TERMS)}
        self._done = len(self.places) - 1

    def after(self, levels: Array) -> NDArray[np.intp]:
        """The first of the places behind which all values are below each level."""
        least = np.searchsorted(self.falling, -levels, side="right")
        places: NDArray[np.intp] = self.places[np.searchsorted(self.places, least)]
        return places

    def heads(self, scales: Array) -> NDArray[np.intp]:
        """How many leading terms of each order are not small, and some more."""
        with np.errstate(divide="ignore", over="ignore"):
            heads = self.after(_SMALL / scales)
        heads[scales > 1e20] = len(self.values)  # whose powers would overflow
        return heads

    def sums(self, place: int) -> Array:
        """Sums of values[place:]**k for k = 1.._SERIES_TERMS, found from the far end inwards."""
        while place not in self._sums:
            low, high = (int(end) for end in self.places[self._done - 1 : self._done + 1])
            total = self._sums[high].copy()
            for start in range(low, high, _CHUNK):
                piece = self.values[start : min(start + _CHUNK, high)]
                power = piece.copy()
                with np.errstate(under="ignore"):
                    for k in range(_SERIES_TERMS):
                        total[k] += power.sum()
                        power *= piece
            self._sums[low] = total
            self._done -= 1
        return self._sums[place]


_kept: OrderedDict[tuple[Any, int], _Table] = OrderedDict()


def _reach(profile: Callable[[Any], Any], count: int) -> int:
    """How many of the terms are not negligible together.

    With s f(j) = t s f(1), t <= 1, convexity gives expm1(s f(j)) <= t expm1(s f(1)): what lies
    behind place j adds at most (count - j) f(j)/f(1) times the first term, for any scale s.
    """
    if count <= _FEW:
        return count
    places = np.unique(np.minimum(np.ceil(1.1 ** np.arange(math.log(count, 1.1) + 1)), count))
    values = profile(places)
    enough = np.flatnonzero((count - places) * values <= _NEGLIGIBLE * values[0])
    return int(places[enough[0]])


def _table(profile: Callable[[Any], Any], count: int) -> _Table:
    """The table of a profile; kept for the next call where the profile says when it is the same.

    Raises:
        TooCostly: more terms than `MOST_TERMS`.
    """
    key = getattr(profile, "key", None)
    name = (key, count)
    if key is not None and name in _kept:
        _kept.move_to_end(name)
        return _kept[name]
    reach = _reach(profile, count)
    if reach > MOST_TERMS:
        raise TooCostly(
            f"an average over {count} terms would take about {reach * 8 / 2**30:.2g} GiB in double "
            f"precision, where at most {MOST_TERMS} are tried; use balls, which add the first "
            "terms and integrate over the others"
        )
    found = _Table(profile, reach)
    if key is None or reach > _LARGEST_KEPT:
        return found
    _kept[name] = found
    while len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return found


def _few(scales: Array, values: Array, top: Array) -> Array:
    """`log_mean_exp` where few terms make sorting them useless; e^x - 1 in both forms [orders].

    Beyond m = 30 the exponents are taken less m: the sum less `count` is then between -count and 0,
    and its error is relative to a sum of exponentials of at least 1.
    """
    count, shift = len(values), np.where(top <= 30, 0.0, top)
    exponents = np.multiply.outer(scales, values)
    exponents -= shift[:, None]
    total = np.expm1(exponents, out=exponents).sum(axis=1)
    small = shift == 0
    out: Array = np.log1p(np.where(small, total, 0.0) / count)
    if not small.all():
        out = np.where(small, out, shift + np.log((np.where(small, 0.0, total) + count) / count))
    return out


def _alike(sizes: NDArray[np.intp], small: NDArray[np.bool_]) -> Iterator[tuple[int, Any]]:
    """(size, orders) with that many terms in one form, at most `_CHUNK` numbers at a time."""
    for form in (True, False):
        chosen = np.flatnonzero(small == form)
        for size in np.unique(sizes[chosen]).tolist():
            rows = chosen[sizes[chosen] == size]
            many = max(1, _CHUNK // max(size, 1))
            for start in range(0, len(rows), many):
                yield size, rows[start : start + many]


def _tails(scales: Array, moments: Array) -> Array:
    """sum of expm1(scale v) over the small terms, from their power sums [orders]."""
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
