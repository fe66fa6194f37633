"""Ball: python-flint's Arb balls; every result is an enclosure."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import flint

from bounds.arith import Undecided


class precision:
    """Set Arb's precision [bits], which is state of the process, and put it back."""

    __slots__ = ("before", "bits")

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before = flint.ctx.prec
        flint.ctx.prec = self.bits

    def __exit__(self, *_: object) -> None:
        flint.ctx.prec = self.before


def rational(x: int | Fraction) -> Any:
    """An exact rational of python-flint."""
    if not isinstance(x, Fraction | int):
        x = Fraction(x)
    return flint.fmpq(x.numerator, x.denominator)


class Complement(NamedTuple):
    """1 - x as a ball, with its logarithm; `empty` when x = 1."""

    value: Any
    log: Any
    empty: bool
    whole: bool


class Ball:
    """Arb at `bits` of working precision; use it inside `precision(bits)`."""

    name = "ball"
    symbolic = False
    exact = False

    def __init__(self, bits: int = 128) -> None:
        self.bits = bits

    @staticmethod
    def number(x: int | Fraction) -> Any:
        """A ball around the exact number."""
        return flint.arb(rational(x))

    @classmethod
    def complement(cls, x: Fraction) -> Complement:
        """1 - x for exact x in [0, 1]."""
        if x == 1:
            return Complement(flint.arb(0), flint.arb(0), True, False)
        small = 2 * x < 1
        log = (-cls.number(x)).log1p() if small else cls.number(1 - x).log()
        return Complement(cls.number(1 - x), log, False, x == 0)

    @staticmethod
    def power(c: Complement, m: Any) -> Any:
        """c**m for a count m >= 0; m may be an acb or an arb_series."""
        if c.empty:
            return flint.arb(1 if m == 0 else 0)
        return (c.log * m).exp()

    @staticmethod
    def one_minus_power(c: Complement, m: Any) -> Any:
        """1 - c**m; m may be an acb or an arb_series."""
        if c.empty:
            return flint.arb(0 if m == 0 else 1)
        if isinstance(m, flint.arb_series):
            return 1 - (c.log * m).exp()
        return -(c.log * m).expm1()

    @classmethod
    def geometric(cls, c: Complement, m: int) -> Any:
        """1 + c + ... + c**(m-1)."""
        if c.whole:
            return flint.arb(m)
        return cls.one_minus_power(c, m) / cls.one_minus_power(c, 1)

    @staticmethod
    def exp(x: Any) -> Any:
        """e^x."""
        return x.exp()

    @staticmethod
    def expm1(x: Any) -> Any:
        """e^x - 1."""
        return x.expm1()

    @staticmethod
    def log(x: Any) -> Any:
        """log x."""
        return x.log()

    @staticmethod
    def log1p(x: Any) -> Any:
        """log(1 + x)."""
        return x.log1p()

    @staticmethod
    def sqrt(x: Any) -> Any:
        """Square root."""
        return x.sqrt()

    @staticmethod
    def maximum(x: Any, y: Any) -> Any:
        """The larger of two."""
        return flint.arb(x).max(y)

    @staticmethod
    def minimum(x: Any, y: Any) -> Any:
        """The smaller of two."""
        return flint.arb(x).min(y)

    @staticmethod
    def le(x: Any, y: Any) -> bool:
        """x <= y; raises `Undecided` when the balls overlap."""
        if x <= y:
            return True
        if x > y:
            return False
        raise Undecided(f"{x} and {y} overlap")

    @staticmethod
    def total(f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        out = flint.arb(0)
        for j in range(first, last + 1):
            out += f(j)
        return out

    @staticmethod
    def log_mean_exp(scale: Any, profile: Callable[[Any], Any], count: int) -> Any:
        """log((1/count) sum_j exp(scale profile(j))), j = 1..count, profile completely monotone."""
        from bounds.arith.averaging import sum_expm1

        return (sum_expm1(scale, profile, count) / count).log1p()

    @staticmethod
    def small(x: Any, y: Any) -> bool:
        """Whether x > 0 no longer shows against y > 0."""
        return bool(x <= y * flint.arb(2) ** (-flint.ctx.prec))

    @staticmethod
    def cut(x: Any, rest: Any) -> Any:
        """x plus an unknown amount between 0 and `rest`."""
        return between(x, x + rest)

    @classmethod
    def log_gamma_ratio(cls, x: int | Fraction, y: int | Fraction) -> Any:
        """log(Gamma(x)/Gamma(y)) for exact x, y > 0."""
        return cls.number(x).lgamma() - cls.number(y).lgamma()

    @classmethod
    def attenuated_sum(cls, a: Any, c: Complement, size: int, held: int, count: int) -> Any:
        """u after `count` epochs; see `bounds.arith.attenuation`."""
        from bounds.arith.attenuation import attenuated_sum

        return attenuated_sum(cls, a, c, size, held, count, flint.ctx.prec)

    @staticmethod
    def resampling(s: Any, p: Fraction, h: Fraction, steps: int) -> Any:
        """log S after `steps` of S <- p e^s S + (1-p) S^(1-h), S_0 = 1 (Theorem 4.3)."""
        from bounds.arith.resampling import log_moment_ball

        gain = Ball.number(s) if isinstance(s, Fraction) else s
        return log_moment_ball(gain, Ball.number(p), Ball.number(h), steps, flint.ctx.prec)

    @staticmethod
    def sampled_gaussian(alpha: Any, alpha_minus_one: Any, p: Fraction, rate: Fraction) -> Any:
        """Renyi divergence of one sampled Gaussian step (Mironov et al. 2019).

        `alpha` is handed over as a Fraction, so that whole orders are recognised.
        """
        from bounds.arith.subsampling import sampled_gaussian_ball

        return sampled_gaussian_ball(
            rational(alpha), rational(p), Ball.number(rate), flint.ctx.prec
        )


def between(low: Any, high: Any) -> Any:
    """The smallest ball that holds both."""
    return flint.arb(low).union(high)


def accuracy(x: Any) -> int:
    """Bits of relative accuracy; very large for an exact ball."""
    if x.is_exact():
        return 1 << 30
    return int(x.rel_accuracy_bits())


_EXACT_EXPONENT = 5000
_EXACT = Context(prec=10**6, Emax=10**17, Emin=-(10**17))
_WIDE = Context(prec=80, Emax=10**17, Emin=-(10**17))


def decimal_bounds(x: Any, digits: int = 40) -> tuple[str, str]:
    """Decimal strings below and above every number in the ball, `digits` digits each."""
    with precision(4 * digits + 64):
        return _decimal(x.lower(), digits, ROUND_FLOOR), _decimal(x.upper(), digits, ROUND_CEILING)


def _decimal(x: Any, digits: int, rounding: str) -> str:
    if not x.is_finite():
        return "Infinity" if x > 0 else "-Infinity"
    mantissa, exponent = (int(part) for part in x.mid().man_exp())
    if abs(exponent) <= _EXACT_EXPONENT:
        scale = max(-exponent, 0)
        value = Decimal((mantissa << max(exponent, 0)) * 5**scale).scaleb(-scale, _EXACT)
    else:
        value = _WIDE.multiply(
            _WIDE.create_decimal(mantissa), _WIDE.power(Decimal(2), Decimal(exponent))
        )
        # Three half-even roundings at 80 digits lose less than 1e-78 of the value.
        slack = abs(value).scaleb(-77, _WIDE)
        value = (_WIDE.subtract if rounding == ROUND_FLOOR else _WIDE.add)(value, slack)
    short = Context(prec=digits, rounding=rounding, Emax=10**17, Emin=-(10**17))
    return str(short.plus(value).normalize(short)) if value else "0"
