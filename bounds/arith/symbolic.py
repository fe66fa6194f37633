"""Symbolic: sympy expressions, with counts that may be symbols."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.arith import TooCostly

LONGEST_RECURSION = 64


class Symbolic:
    """The sympy number system."""

    name = "symbolic"
    symbolic = True
    exact = False

    exp = staticmethod(sp.exp)
    log = staticmethod(sp.log)
    sqrt = staticmethod(sp.sqrt)
    maximum, minimum = staticmethod(sp.Max), staticmethod(sp.Min)

    @staticmethod
    def number(x: Any) -> Any:
        """An exact number, or the expression itself."""
        return sp.Rational(x.numerator, x.denominator) if isinstance(x, Fraction) else sp.sympify(x)

    @classmethod
    def complement(cls, x: Any) -> Any:
        """1 - x."""
        return 1 - cls.number(x)

    @staticmethod
    def expm1(x: Any) -> Any:
        """e^x - 1."""
        return sp.exp(x) - 1

    @staticmethod
    def log1p(x: Any) -> Any:
        """log(1 + x)."""
        return sp.log(1 + x)

    @staticmethod
    def power(c: Any, m: Any) -> Any:
        """c**m."""
        return c**m

    @staticmethod
    def one_minus_power(c: Any, m: Any) -> Any:
        """1 - c**m."""
        return 1 - c**m

    @staticmethod
    def geometric(c: Any, m: Any) -> Any:
        """(1 - c**m)/(1 - c), the closed form for c != 1."""
        return (1 - c**m) / (1 - c)

    @staticmethod
    def total(f: Callable[[Any], Any], first: Any, last: Any) -> Any:
        """f(first) + ... + f(last), left unevaluated when a limit is a symbol."""
        if all(sp.sympify(end).is_Integer for end in (first, last)):
            return sum((f(sp.Integer(j)) for j in range(int(first), int(last) + 1)), sp.Integer(0))
        index = sp.Dummy("s", integer=True)
        return sp.Sum(f(index), (index, first, last))

    @classmethod
    def log_mean_exp(cls, scale: Any, profile: Callable[[Any], Any], count: Any) -> Any:
        """log((1/count) sum_j exp(scale profile(j)))."""
        return sp.log(cls.total(lambda j: sp.exp(scale * profile(j)), sp.Integer(1), count) / count)

    @classmethod
    def attenuated_sum(cls, a: Any, c: Any, size: Any, held: Any, count: Any) -> Any:
        """u after `count` epochs, one by one; see `bounds.arith.attenuation`."""
        if not sp.sympify(count).is_Integer or int(count) > LONGEST_RECURSION:
            raise TooCostly(
                f"{count} steps one by one, at most {LONGEST_RECURSION} are taken; use balls"
            )
        from bounds.arith.attenuation import step_by_step

        return step_by_step(cls, a, c, size, held, int(count))

    @classmethod
    def resampling(cls, s: Any, p: Any, h: Any, steps: Any) -> Any:
        """log S after `steps` of S <- p e^s S + (1-p) S^(1-h) (Theorem 4.3), written out."""
        if not sp.sympify(steps).is_Integer or int(steps) > LONGEST_RECURSION:
            raise TooCostly(
                f"the recursion of Theorem 4.3 has no closed form; {steps} steps of it are not "
                f"written out as an expression (at most {LONGEST_RECURSION} are)"
            )
        p, h, moment = cls.number(p), cls.number(h), sp.Integer(1)
        for _ in range(int(steps)):
            moment = p * sp.exp(s) * moment + (1 - p) * moment ** (1 - h)
        return sp.log(moment)

    @classmethod
    def sampled_gaussian(cls, alpha: Any, alpha_minus_one: Any, p: Any, rate: Any) -> Any:
        """The binomial sum for a whole order, else the defining integral (Mironov et al. 2019)."""
        alpha, p, rate = cls.number(alpha), cls.number(p), cls.number(rate)
        if alpha.is_Integer:
            k = sp.Dummy("k", integer=True)
            moment: Any = sp.Sum(
                sp.binomial(alpha, k) * (1 - p) ** (alpha - k) * p**k * sp.exp(rate * k * (k - 1)),
                (k, 0, alpha),
            ).doit()
        else:
            x = sp.Dummy("x", real=True)
            ratio = 1 - p + p * sp.exp(sp.sqrt(2 * rate) * x - rate)
            density = sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi)
            moment = sp.Integral(ratio**alpha * density, (x, -sp.oo, sp.oo))
        return sp.log(moment) / alpha_minus_one

    @staticmethod
    def le(x: Any, y: Any) -> Any:
        """x <= y as a relation."""
        return sp.Le(x, y)
