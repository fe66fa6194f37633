"""Shuffle once: the optimal fixed-order values, averaged over the record's batch.

Setting: one random partition into batches, reused in every epoch; lambda-strongly convex
beta-smooth losses, eta <= 2/(lambda + beta).
Statement: eps <= log(mean over r = 1..l of exp((alpha-1) alpha A V_r))/(alpha-1), where alpha A V_r
is `optimal_fixed_order` at j_0 = l - r, l = floor(n/b).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; alpha, V_r [-].
Direction: upper.
Source: derived here, by Lemma 4.1 of Ye and Shokri 2022 and `bounds.optimal`.

Proof. Given the partition the divergence is at most alpha A V_r. exp((alpha-1) R_alpha) is jointly
convex (Lemma 4.1) and the record's batch is uniform. A record that is dropped because b does not
divide n adds a term 1, which only lowers the mean.
Never above Theorem 4.2. With q = c^2, m = floor(l/2), k = K-1 and g = c^l, Theorem 4.2 has
E + q^(r-1)/(1 + ... + q^(r-1)) in place of V_r, where
E = c^(2m-2) (1-c^2)/(1-c^(2m)) (1-c^(2k(l-m)))/(1-c^(2(l-m))). One chord is worth less than two, so
V_r <= G + q^(r-1)/(1 + ... + q^(r-1)), G = c^(2l-2) (1-c^2)/(1-g)^2 (1-g^k)/(1+g^k), and it remains
to see that G <= E. Let x = c^(2m), y = c^(2(l-m)): xy = g^2 and x >= g >= y, so
1 - y^k >= 1 - g^k, (1-x)(1-y) = 1 + g^2 - (x+y) <= (1-g)^2, and
E >= c^-2 (1-c^2) g (1-g^k)/(1-g)^2 = G (1+g^k)/g >= G/g. So the first term of (5) is at least
1/g = c^-l times what is needed, for every K. Equality with Theorem 4.2 holds only for K = 1.
Note: V_r falls with r. Beyond r = l/2, where the corner of the minorant goes away, it changes from
one completely monotone function of r to another; a ball sum takes the two parts separately.

>>> from bounds.arith.float64 import Float64
>>> from bounds.bound import bind
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(epsilon(bind(s, Float64), Float64)), 6)
0.011893
"""

from __future__ import annotations

import math
from typing import Any

from bounds.arith import Profile
from bounds.arith.averaging import TERM_BY_TERM
from bounds.bound import Parameters, Source
from bounds.derived import DERIVED
from bounds.derived.optimal_fixed_order import chord, corner, printed_value, value
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
)

SOURCE = Source(DERIVED, "optimal_shuffle", "optimal shift bound, shuffle once")
SCHEME = "shuffle once"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED,
)  # fmt: skip


def last_corner(p: Parameters) -> int:
    """About the largest r with a corner, (l - log(1 + g^(K-1) (1-g))/log c)/2, g = c^l.

    The true one is this or one of the next two: the double is off by far less than 1. Where K = 1
    there is nothing to bend, and every r does.
    """
    size, log_c = int(p.batches), math.log1p(-p.given.eta_lambda)
    extra = math.log1p(math.exp(size * (p.epochs - 1) * log_c) * -math.expm1(size * log_c))
    return min(size, math.floor((size - extra / log_c) / 2) - 1)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """The logarithm of the mean over alpha - 1 [-]."""
    scale, count = p.alpha_minus_one * p.alpha * p.rate, p.batches
    if ctx.name != "ball" or count <= TERM_BY_TERM or p.given.eta_lambda == 1:
        key = ("optimal shift", p.contraction, count, p.epochs)
        values = Profile(key, lambda r: value(p, ctx, r))
        return ctx.log_mean_exp(scale, values, count) / p.alpha_minus_one
    low = last_corner(p)
    high = min(count, low + 4)
    head = ctx.log_mean_exp(scale, lambda r: corner(p, ctx, r), low)
    whole = low * ctx.expm1(head)
    whole += ctx.total(lambda r: ctx.expm1(scale * value(p, ctx, r)), low + 1, high)
    if high < count:
        rest = ctx.log_mean_exp(scale, lambda r: chord(p, ctx, r + high), count - high)
        whole += (count - high) * ctx.expm1(rest)
    return ctx.log1p(whole / count) / p.alpha_minus_one


def printed(p: Parameters, ctx: Any) -> Any:
    """The mean of the exponentials, position by position."""
    front = p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    exponents = ctx.total(
        lambda r: ctx.exp((p.alpha - 1) * p.alpha * front * printed_value(p, ctx, r)),
        1,
        p.batches,
    )
    return 1 / (p.alpha - 1) * ctx.log(exponents / p.batches)
