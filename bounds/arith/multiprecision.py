"""Multiprecision: mpmath in a context of its own, never the global one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from bounds.arith import TooCostly

MOST_TERMS = 10**6


@dataclass(frozen=True)
class Complement:
    """1 - x with its logarithm."""

    value: Any
    log: Any


class Multiprecision:
    """mpmath at `digits` significant decimal digits."""

    name = "multiprecision"
    symbolic = False
    exact = False

    def __init__(self, digits: int = 50) -> None:
        self.mp: Any = MPContext()
        self.mp.dps = digits
        self.exp, self.expm1 = self.mp.exp, self.mp.expm1
        self.log, self.log1p = self.mp.log, self.mp.log1p
        self.sqrt = self.mp.sqrt
        self.maximum, self.minimum = max, min

    def number(self, x: int | Fraction) -> Any:
        """The exact number, rounded once."""
        x = Fraction(x)
        return self.mp.mpf(x.numerator) / x.denominator

    def complement(self, x: Fraction) -> Complement:
        """1 - x for exact x in [0, 1]."""
        if x == 1:
            return Complement(self.mp.zero, -self.mp.inf)
        small = 2 * x < 1
        log = self.mp.log1p(-self.number(x)) if small else self.mp.log(self.number(1 - x))
        return Complement(self.number(1 - x), log)

    def power(self, c: Complement, m: int) -> Any:
        """c**m for a count m >= 0."""
        if m == 0:
            return self.mp.one
        return self.mp.exp(m * c.log)

    def one_minus_power(self, c: Complement, m: int) -> Any:
        """1 - c**m."""
        if m == 0:
            return self.mp.zero
        return -self.mp.expm1(m * c.log) if c.value else self.mp.one

    def geometric(self, c: Complement, m: int) -> Any:
        """1 + c + ... + c**(m-1)."""
        if c.log == 0:
            return self.mp.mpf(m)
        return self.one_minus_power(c, m) / self.one_minus_power(c, 1)

    def le(self, x: Any, y: Any) -> bool:
        """x <= y."""
        return bool(x <= y)

    def total(self, f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        return self.mp.fsum(f(j) for j in range(first, last + 1))

    def log_mean_exp(self, scale: Any, profile: Callable[[int], Any], count: int) -> Any:
        """log((1/count) sum_j exp(scale profile(j))), j = 1..count."""
        if count > MOST_TERMS:
            raise TooCostly(f"an average over {count} terms, at most {MOST_TERMS}; use balls")
        top = scale * profile(1)
        if top <= 1:
            mean = self.mp.fsum(self.mp.expm1(scale * profile(j)) for j in range(1, count + 1))
            return self.mp.log1p(mean / count)
        mean = self.mp.fsum(self.mp.exp(scale * profile(j) - top) for j in range(1, count + 1))
        return top + self.mp.log(mean / count)

    def small(self, x: Any, y: Any) -> bool:
        """Whether x > 0 no longer shows against y > 0."""
        return bool(x <= self.mp.ldexp(y, -self.mp.prec))

    @staticmethod
    def cut(x: Any, rest: Any) -> Any:
        """x plus a negligible amount."""
        return x

    def log_gamma_ratio(self, x: int | Fraction, y: int | Fraction) -> Any:
        """log(Gamma(x)/Gamma(y)) for exact x, y > 0."""
        with self.mp.extraprec(96):
            return self.mp.loggamma(self.number(x)) - self.mp.loggamma(self.number(y))

    def attenuated_sum(self, a: Any, c: Complement, size: int, held: int, count: int) -> Any:
        """u after `count` epochs; see `bounds.arith.attenuation`."""
        from bounds.arith.attenuation import attenuated_sum

        return attenuated_sum(self, a, c, size, held, count, self.mp.prec)

    def resampling(self, s: Any, p: Fraction, h: Fraction, steps: int) -> Any:
        """log S after `steps` of S <- p e^s S + (1-p) S^(1-h), S_0 = 1 (Theorem 4.3)."""
        from bounds.arith.resampling import log_moment_mp

        gain = self.number(s) if isinstance(s, Fraction) else s
        return log_moment_mp(self.mp, gain, self.number(p), self.number(h), steps)

    def sampled_gaussian(
        self, alpha: Any, alpha_minus_one: Any, p: Fraction, rate: Fraction
    ) -> Any:
        """Renyi divergence of one sampled Gaussian step (Mironov et al. 2019)."""
        from bounds.arith.subsampling import sampled_gaussian_mp

        return sampled_gaussian_mp(
            self.mp, alpha, alpha_minus_one, self.number(p), self.number(rate)
        )
