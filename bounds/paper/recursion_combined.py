"""Recursion (101): composition in the first half of an epoch, post-processing in the second.

Setting: fixed batches, lambda-strongly convex beta-smooth losses.
Statement: with m = floor(n/(2b)), l = n/b, W_t = 1 + q + ... + q^(t-1) and u = eps/alpha,
u <- (u + E_m) q^(l-m) W_(kl+m)/W_((k+1)l) over an epoch, E_m = eps_0^m/alpha.
Symbols: q = (1 - eta lambda)^2 [-]; K [epochs].
Direction: upper.
Source: Ye and Shokri 2022, equation (101), before its factors are bounded in (104).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=2, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=2)
>>> find("eq-101").in_system(s, Exact)
Fraction(6, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.arith.attenuation import kept
from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.paper.first_epoch import printed_share, share
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
    TWO_BATCHES,
)

SOURCE = Source(PAPER, "eq-101", "proof of Theorem 3.3", "(101)", "D.5")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    TWO_BATCHES, POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha u after K - 1 epochs and n/b - j_0 updates of batch 0's recursion [-]."""
    c, size, half, rest = p.contraction, p.batches, p.half, p.batches - p.position
    gain = share(p, ctx, half)
    before = ctx.attenuated_sum(gain, c, size, half, p.epochs - 1)
    if rest <= half:
        return p.alpha * (before + share(p, ctx, rest))
    return p.alpha * (before + gain) * kept(ctx, c, (p.epochs - 1) * size, half, rest)


def printed(p: Parameters, ctx: Any) -> Any:
    """(101), update by update."""
    c, size = p.contraction, p.batches
    start = ratio = ctx.number(0)
    for t in range((p.epochs - 1) * size + size - p.position):
        j = t % size
        if j == 0:
            start = ratio
        if j < p.half:
            ratio = start + printed_share(p, ctx, j + 1)
        else:
            shorter = ctx.total(lambda s: ctx.power(c, 2 * s), 0, t - 1)
            longer = ctx.total(lambda s: ctx.power(c, 2 * s), 0, t)
            ratio = ratio * ctx.power(c, 2) * shorter / longer
    return p.alpha * ratio
