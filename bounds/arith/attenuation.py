"""The recursion of both multi-epoch proofs, (95) and (101), for runs of any length.

One step is an epoch of l updates, of which the last l - h do not gain:

    u <- (u + a) f_k,  f_k = q^(l-h) W_(kl+h)/W_(kl+l),  u_0 = 0,

with q = c^2 and W_t = 1 + q + ... + q^(t-1). Short runs are stepped. For long ones write Q = q^l,
p = q^h, r = q^(l-h), z = Q^k, so that f_k = r (1 - p z)/(1 - Q z) and rp = Q. The equation
u(Qz)(1 - Qz) = r (1 - pz)(u(z) + a) has two particular solutions, found by comparing coefficients,
one in the products (Qz; Q)_n and one in powers of z:

    early(z) = a (-1 + sum_(n>=1) t_n),  t_1 = Q (1 - Qz)/(1 - Q^2/p),
                                       t_(n+1) = t_n Q (1 - Q^n)(1 - Q^(n+1) z)/(1 - Q^(n+2)/p);
    late(z)  = a (r/(1 - r) + p/(1 - p) (S(z) - T(z))),
                   S(z) = z sum_(n>=0) (Q; Q)_n/(pQ; Q)_n (pz)^n,
                   T(z) = r^k sum_(n>=0) B_n (pz)^n,  B_n = (r; Q)_n/(Q; Q)_n.

T solves the equation without a (q-binomial theorem). It is taken off because S and T grow alike as
p -> 1, where late would lose digits without it. Their coefficients have the quotient exp(-g_n),
g_n = k log(1/p) + sum_(i=1..n) log(1 - d_i), d_i = Q^i (1 - p)^2/(p (1 - Q^i)^2), so that
S - T = -r^k sum B_n (pz)^n (1 - exp(-g_n)) without cancellation.

All t_n are positive. Since p > Q, the factor from t_n to t_(n+1) is below Q, so what is cut off
after t_n is below t_n Q/(1 - Q). With h <= l/2 and x = log(1/Q)/2, d_i = (sinh(hx/l)/sinh(ix))^2
is at most 1/(2i)^2, so exp(-g_n) <= pi/2 and |1 - exp(-g_n)| < 1; and B_n falls with n.

Early serves while z > 1/2, late after that. Two solutions of the recursion differ by a multiple of
the product of the f_k, so one known value fixes the rest:

    u_j = s(j) + (u_i - s(i)) f_i ... f_(j-1),  s = early or late.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint


def factor(ctx: Any, c: Any, size: int, held: int, k: int) -> Any:
    """f_k [-], without cancellation."""
    return kept(ctx, c, k * size, held, size)


def kept(ctx: Any, c: Any, t: Any, m: Any, i: Any) -> Any:
    """q^(i-m) W_(t+m)/W_(t+i) [-]: what the updates m + 1, ..., i of an epoch leave."""
    share = ctx.one_minus_power(c, 2 * (t + m)) / ctx.one_minus_power(c, 2 * (t + i))
    return ctx.power(c, 2 * (i - m)) * share


def step_by_step(ctx: Any, a: Any, c: Any, size: int, held: int, count: int) -> Any:
    """u_count, from the definition."""
    u = ctx.number(0)
    for k in range(count):
        u = (u + a) * factor(ctx, c, size, held, k)
    return u


def attenuated_sum(ctx: Any, a: Any, c: Any, size: int, held: int, count: int, bits: int) -> Any:
    """u_count, in about `bits` operations however large the count; 0 < c < 1.

    ctx is a system that approximates or encloses: beside the words of a formula it has
    `small(x, y)`, `cut(x, rest)` and `log_gamma_ratio(x, y)`.

    Growth: time ~ K^0 * digits^2.
    """
    if held == size:
        return a * ctx.number(count)
    sigma = -2 * size * float(c.log)
    turn = count if sigma * count <= math.log(2) else min(count, int(math.log(2) / sigma) + 1)
    if turn <= max(512, 8 * bits):
        u = step_by_step(ctx, a, c, size, held, turn)
    else:
        fading = _early(ctx, c, size, held, 0) * ctx.exp(_early_product(ctx, c, size, held, turn))
        u = a * (_early(ctx, c, size, held, turn) - fading)
    if turn == count:
        return u
    ahead = u - a * _late(ctx, c, size, held, turn)
    left = ctx.exp(_late_product(ctx, c, size, held, turn, count))
    return a * _late(ctx, c, size, held, count) + ahead * left


def _early(ctx: Any, c: Any, size: int, held: int, k: int) -> Any:
    """early(Q^k)/a."""

    def less(m: int) -> Any:
        return ctx.one_minus_power(c, 2 * m)

    ratio = ctx.power(c, 2 * size)
    term = ratio * less(size * (k + 1)) / less(2 * size - held)
    total, n = term, 1
    while not ctx.small(term, total * less(size)):
        term = (
            term * ratio * less(size * n) * less(size * (k + 1 + n)) / less(size * (n + 2) - held)
        )
        total, n = total + term, n + 1
    return ctx.cut(total, term * ratio / less(size)) - 1


def _late(ctx: Any, c: Any, size: int, held: int, k: int) -> Any:
    """late(Q^k)/a, for Q^k not above 0.6."""

    def less(m: int) -> Any:
        return ctx.one_minus_power(c, 2 * m)

    weight, gap, n = ctx.number(1), c.log * (-2 * held * k), 0
    first = total = -ctx.expm1(-gap)
    while not ctx.small(weight, first):
        n += 1
        delta = less(held) / less(size * n)
        delta = delta * delta * ctx.power(c, 2 * (size * n - held))
        gap = gap + ctx.log1p(-delta)
        weight = weight * ctx.power(c, 2 * (held + size * k)) * less(size * n - held)
        weight = weight / less(size * n)
        total = total - weight * ctx.expm1(-gap)
    rest = 2 * weight
    series = ctx.cut(total - rest, 2 * rest) * ctx.power(c, 2 * (held + (size - held) * k))
    return ctx.power(c, 2 * (size - held)) / less(size - held) - series / less(held)


def _early_product(ctx: Any, c: Any, size: int, held: int, count: int) -> Any:
    """log(f_0 ... f_(count-1)), for Q^count not below 0.4.

    f_k = phi(k + mu)/phi(k + 1) with mu = h/l and phi(y) = e^(sigma y) - 1, sigma = -log Q, and
    log phi(y) = log(sigma y) + sigma y/2 + sum_(j>=1) B_2j (sigma y)^2j/(2j (2j)!): a quotient of
    Gamma functions, and power sums. With x = sigma count < 1, the terms beyond j - 1 come to less
    than 2 (x/6)^(2j), since |B_2j|/(2j)! < 3.3/(2 pi)^(2j).
    """
    mu = Fraction(held, size)
    sigma = c.log * (-2 * size)
    out = ctx.log_gamma_ratio(count + mu, count + 1) - ctx.log_gamma_ratio(mu, 1)
    out = out - sigma * ctx.number((1 - mu) * count / 2)
    x, j = sigma * count, 1
    bound = 2 * (x / 6) ** 2
    while not ctx.small(bound, ctx.number(1)):
        gap = _power_sum(mu, count, 2 * j) - _power_sum(Fraction(1), count, 2 * j)
        weight = flint.fmpq.bernoulli(2 * j) / (2 * j * flint.fmpz.fac_ui(2 * j))
        share = weight * gap / flint.fmpz(count) ** (2 * j)
        out = out + ctx.number(Fraction(int(share.p), int(share.q))) * x ** (2 * j)
        j += 1
        bound = bound * (x / 6) ** 2
    return ctx.cut(out - bound, 2 * bound)


def _power_sum(start: Fraction, count: int, power: int) -> Any:
    """start^m + (start + 1)^m + ... + (start + count - 1)^m, exactly."""
    bernoulli = flint.fmpq_poly.bernoulli_poly(power + 1)
    low = flint.fmpq(start.numerator, start.denominator)
    return (bernoulli(low + count) - bernoulli(low)) / (power + 1)


def _late_product(ctx: Any, c: Any, size: int, held: int, low: int, high: int) -> Any:
    """log(f_low ... f_(high-1)), for z = Q^low not above 0.6.

    = (high - low) log r - sum_(n>=1) p^n (1 - r^n)/(1 - Q^n) z^n (1 - Q^((high-low) n))/n, where
    the coefficients of z^n are at most 1/n.
    """
    count = high - low
    out = c.log * (2 * (size - held) * count)
    total, n = ctx.number(0), 1
    bound = ctx.power(c, 2 * low * size)
    while not ctx.small(bound, ctx.number(1)):
        share = ctx.power(c, 2 * n * (held + low * size)) / n
        share = share * ctx.one_minus_power(c, 2 * n * (size - held))
        share = share / ctx.one_minus_power(c, 2 * n * size)
        total = total + share * ctx.one_minus_power(c, 2 * n * size * count)
        n += 1
        bound = ctx.power(c, 2 * n * low * size)
    return out - ctx.cut(total, 3 * bound)
