"""What plain double arithmetic loses: the formulas as one would type them, without care.

`1 - c**m` for 1 - c^m, `exp(x) - 1` for expm1, a sum of exponentials without shifting. Where this
loses digits, an implementation that loses them too is imprecise rather than wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.arith.ball import decimal_bounds
from bounds.bound import Bound, bind, find
from bounds.setting import InvalidInput, Setting

MOST = 10**5


class Unknown(Exception):
    """Plain arithmetic would take too long here, so what it loses is not known."""


@dataclass(frozen=True)
class Complement:
    """1 - x in doubles."""

    value: float

    @property
    def log(self) -> float:
        """log(1 - x)."""
        return math.log(self.value)


class Plain:
    """Double precision as it comes."""

    name = "float64"
    symbolic = False
    exact = False

    @staticmethod
    def number(x: Any) -> float:
        """The nearest double."""
        return float(x)

    @staticmethod
    def complement(x: Any) -> Complement:
        """1 - x, after x was rounded."""
        return Complement(1.0 - float(x))

    @staticmethod
    def power(c: Complement, m: Any) -> Any:
        """c**m."""
        return c.value**m

    @staticmethod
    def one_minus_power(c: Complement, m: Any) -> Any:
        """1 - c**m."""
        return 1.0 - c.value**m

    @staticmethod
    def geometric(c: Complement, m: Any) -> Any:
        """(1 - c**m)/(1 - c)."""
        return (1.0 - c.value**m) / (1.0 - c.value)

    @staticmethod
    def exp(x: Any) -> float:
        """e^x."""
        return math.exp(x)

    @staticmethod
    def expm1(x: Any) -> float:
        """e^x - 1."""
        return math.exp(x) - 1.0

    @staticmethod
    def log(x: Any) -> float:
        """log x."""
        return math.log(x)

    @staticmethod
    def log1p(x: Any) -> float:
        """log(1 + x)."""
        return math.log(1.0 + x)

    sqrt = staticmethod(math.sqrt)
    maximum = staticmethod(max)
    minimum = staticmethod(min)

    @staticmethod
    def le(x: Any, y: Any) -> bool:
        """x <= y."""
        return bool(x <= y)

    @staticmethod
    def total(f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        if last - first > MOST:
            raise Unknown
        return sum(f(j) for j in range(first, last + 1))

    @staticmethod
    def log_mean_exp(scale: Any, profile: Callable[[Any], Any], count: int) -> float:
        """log(mean of exp(scale profile(j)))."""
        if count > MOST:
            raise Unknown
        j = np.arange(1, count + 1, dtype=np.float64)
        with np.errstate(all="ignore"):
            return float(np.log(np.mean(np.exp(scale * profile(j)))))

    @staticmethod
    def small(x: Any, y: Any) -> bool:
        """Whether x no longer shows against y."""
        return bool(x <= y * 2.0**-60)

    @staticmethod
    def cut(x: Any, rest: Any) -> Any:
        """x."""
        return x

    @classmethod
    def attenuated_sum(cls, a: Any, c: Any, size: int, held: int, count: int) -> Any:
        """The recursion, epoch by epoch."""
        from bounds.arith.attenuation import step_by_step

        if count > MOST:
            raise Unknown
        return step_by_step(cls, a, c, size, held, count)

    @staticmethod
    def resampling(s: Any, p: Any, h: Any, steps: int) -> float:
        """The recursion of Theorem 4.3, step by step."""
        if steps > MOST:
            raise Unknown
        moment, gain, sampling, kept = 1.0, math.exp(float(s)), float(p), 1.0 - float(h)
        for _ in range(steps):
            moment = sampling * gain * moment + (1.0 - sampling) * moment**kept
        return math.log(moment)

    @staticmethod
    def sampled_gaussian(alpha: Any, less: Any, p: Any, rate: Any) -> float:
        """The binomial sum, for whole orders."""
        if Fraction(alpha).denominator != 1 or alpha > 1000:
            raise Unknown
        order, q, a = int(alpha), float(p), float(rate)
        moment = math.fsum(
            math.comb(order, k) * (1.0 - q) ** (order - k) * q**k * math.exp(a * k * (k - 1))
            for k in range(order + 1)
        )
        return math.log(moment) / float(less)


def evaluate(bound: Bound, setting: Setting) -> float:
    """The bound in plain double arithmetic at a checked setting; NaN where it breaks down.

    Raises:
        Unknown: it would take too long, or the formula wants words that `Plain` has not.
    """
    try:
        p = bind(setting, Plain)
        if p.alpha is not None:
            p = replace(p, alpha_minus_one=p.alpha - 1.0)
        if p.contraction is not None:
            p = replace(p, contraction=Complement(1.0 - p.eta * p.lambda_))
        with np.errstate(all="ignore"):
            return float(bound.epsilon(p, Plain))
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise Unknown from error
        return math.nan
    except (TypeError, AttributeError) as error:
        raise Unknown from error


def loss(bound: Bound, setting: Setting) -> Decimal | None:
    """Relative error of plain double arithmetic at a setting; infinite where it breaks down.

    None where it is not known. One more rounding of 1 - eta lambda counts as well, since there
    are many ways to type a formula.
    """
    return _loss(bound.name, setting)


@lru_cache(maxsize=20_000)
def _loss(name: str, setting: Setting) -> Decimal | None:
    from verify.conformance.compare import difference

    bound = find(name)
    try:
        checked = bound.check(setting)
        low, high = (Decimal(end) for end in decimal_bounds(bound.enclose(checked, 20), 20))
    except (InvalidInput, ValueError):
        return None
    found = Decimal(0)
    try:
        value = evaluate(bound, checked)
        if not math.isfinite(value):
            return Decimal("Infinity")
        found = abs(difference(Decimal(value), low, high))
    except Unknown:
        found = Decimal(0)
    if checked.eta is not None and checked.lambda_:
        nudge = Fraction(1, 1 << 53) / checked.eta
        for sign in (1, -1):
            try:
                moved = bound.enclose(replace(checked, lambda_=checked.lambda_ + sign * nudge), 20)
            except (InvalidInput, ValueError):
                continue
            other = Decimal(decimal_bounds(moved, 20)[0])
            if other.is_finite():
                found = max(found, abs(difference(other, low, high)))
    return found
