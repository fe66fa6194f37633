"""Exact: Fractions, for rational recursions and closed forms; refuses transcendentals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

from bounds.arith import NotRational, TooCostly

LARGEST_POWER = 20_000
LARGEST_RECURSION = 500_000


def _refuse(word: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any) -> NoReturn:
        raise NotRational(f"{word} has no rational value; use balls instead of exact arithmetic")

    return refuse


class Exact:
    """The rational number system."""

    name = "exact"
    symbolic = False
    exact = True

    exp, expm1 = _refuse("exp"), _refuse("expm1")
    log, log1p = _refuse("log"), _refuse("log1p")
    sqrt = _refuse("sqrt")
    log_mean_exp = _refuse("the mean of exponentials")
    resampling = _refuse("the recursion of Theorem 4.3")
    sampled_gaussian = _refuse("the sampled Gaussian")
    maximum, minimum = staticmethod(max), staticmethod(min)

    @staticmethod
    def number(x: int | Fraction) -> Fraction:
        """The number itself."""
        return Fraction(x)

    @staticmethod
    def complement(x: Fraction) -> Fraction:
        """1 - x."""
        return 1 - Fraction(x)

    @staticmethod
    def power(c: Fraction, m: int) -> Fraction:
        """c**m. Raises `TooCostly` where the fraction would have millions of digits."""
        size = max(c.numerator.bit_length(), c.denominator.bit_length())
        if c.denominator != 1 and m * size > 64 * LARGEST_POWER:
            raise TooCostly(
                f"an exact power with exponent {m} has about {m * size} bits; use balls"
            )
        return c**m

    @classmethod
    def one_minus_power(cls, c: Fraction, m: int) -> Fraction:
        """1 - c**m."""
        return 1 - cls.power(c, m)

    @classmethod
    def geometric(cls, c: Fraction, m: int) -> Fraction:
        """1 + c + ... + c**(m-1)."""
        return Fraction(m) if c == 1 else cls.one_minus_power(c, m) / (1 - c)

    @staticmethod
    def total(f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        return sum((f(j) for j in range(first, last + 1)), start=Fraction(0))

    @classmethod
    def attenuated_sum(cls, a: Any, c: Fraction, size: int, held: int, count: int) -> Any:
        """u after `count` epochs, one by one; see `bounds.arith.attenuation`."""
        bits = count * count * size * c.denominator.bit_length()
        if bits > LARGEST_RECURSION:
            raise TooCostly(
                f"after {count} epochs of {size} updates the fraction has about {bits} bits; "
                "use balls"
            )
        from bounds.arith.attenuation import step_by_step

        return step_by_step(cls, a, c, size, held, count)

    @staticmethod
    def le(x: Fraction, y: Fraction) -> bool:
        """x <= y."""
        return x <= y
