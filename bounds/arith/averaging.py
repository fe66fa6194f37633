"""Sums of exp(s f(j)) - 1 over many j, enclosed without going through them (Theorem 4.2).

Let f be completely monotone and s >= 0: then so is g = exp(s f) - 1, that is,
g(x) = int e^(-xt) dm(t) with a measure m >= 0. For a <= b, summing over e^(-jt),

    sum_(a <= j < b) g(j) = int_a^b g - (g(b) - g(a))/2
        + sum_(k=1..m) B_2k/(2k)! (g^(2k-1)(b) - g^(2k-1)(a)) + R,

and R lies between 0 and the next term of the sum: 1/(e^t - 1) - 1/t + 1/2 is the sum of
2t/(t^2 + 4 pi^2 n^2) over n >= 1, whose geometric series in t^2 alternate, and the weight
e^(-at) - e^(-bt) is not negative. The integral is enclosed by Arb.

The profile of Theorem 4.2 is (1-q)/q times q^x/(1 - q^x) = q^x + q^2x + ..., so it qualifies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint

TERM_BY_TERM = 512
"""Up to this count every term is added, whatever the profile, at every precision."""


def sum_expm1(scale: Any, profile: Callable[[Any], Any], count: int) -> Any:
    """The sum of exp(scale profile(j)) - 1 over j = 1, ..., count, as a ball.

    profile: positive, falling and, for counts beyond TERM_BY_TERM, completely monotone; takes an
    int, an acb or an arb_series. The sum goes term by term until the rest is negligible, or, where
    there are many terms, to j = precision in bits, whence it is smooth.

    Growth: time ~ (n/b)^0 * digits^1.8, beyond TERM_BY_TERM terms.
    """
    bits = flint.ctx.prec
    head = count if count <= max(TERM_BY_TERM, 4 * bits) else bits
    whole = flint.arb(0)
    for j in range(1, head + 1):
        term = (scale * profile(j)).expm1()
        whole += term
        rest = term * (count - j)
        if rest < whole * flint.arb(2) ** (-bits):
            return whole.union(whole + rest)
    return whole if head == count else whole + _smooth_sum(scale, profile, head + 1, count + 1)


def _smooth_sum(scale: Any, profile: Callable[[Any], Any], low: int, high: int) -> Any:
    """The sum over low <= j < high."""
    bits = flint.ctx.prec
    terms = bits // 8
    start, end = (_derivatives(scale, profile, x, 2 * terms) for x in (low, high))
    integral = flint.acb.integral(
        lambda x, _: (scale * profile(x)).expm1(),
        low, high, abs_tol=start[0] * flint.arb(2) ** (-bits),
    ).real  # fmt: skip
    out = integral + (start[0] - end[0]) / 2
    for k in range(1, terms + 1):
        weight = flint.arb(flint.fmpq.bernoulli(2 * k) / (2 * k))
        last = weight * (end[2 * k - 1] - start[2 * k - 1])
        out = out + last if k < terms else out.union(out + last)
    return out


def _derivatives(scale: Any, profile: Callable[[Any], Any], x: int, count: int) -> list[Any]:
    """g(x), g'(x), g''(x)/2!, ... (`count` of them)."""
    before = flint.ctx.cap
    flint.ctx.cap = count
    try:
        shape = profile(flint.arb_series([x, 1]))
        coefficients: list[Any] = ((shape * scale).exp() - 1).coeffs()
    finally:
        flint.ctx.cap = before
    coefficients[0] = (scale * profile(x)).expm1()
    return coefficients
