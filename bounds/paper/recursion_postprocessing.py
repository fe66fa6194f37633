"""Recursion (95): post-processing in every update without the record, over all epochs.

Setting: fixed batches, lambda-strongly convex beta-smooth losses.
Statement: with t = k n/b + j updates done and W_t = 1 + q + ... + q^(t-1), the ratio
u = eps/alpha gains A when the record is used and is multiplied by q W_t/W_(t+1) otherwise.
Symbols: q = (1 - eta lambda)^2 [-]; A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: upper.
Source: Ye and Shokri 2022, equations (94), (95), (97).
Note: an epoch is taken in one step, since the factors telescope:
u <- (u + A) q^(l-1) W_(kl+1)/W_((k+1)l).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=2, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=2)
>>> find("eq-095").in_system(s, Exact)
Fraction(6, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.arith.attenuation import kept
from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.paper.one_update import with_record, without_record
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
)

SOURCE = Source(PAPER, "eq-095", "proof of Theorem 3.3", "(95)", "D.5")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha u after K - 1 epochs and n/b - j_0 updates of batch 0's recursion [-]."""
    c, size, rest = p.contraction, p.batches, p.batches - p.position
    before = ctx.attenuated_sum(p.rate, c, size, 1, p.epochs - 1)
    return p.alpha * (before + p.rate) * kept(ctx, c, (p.epochs - 1) * size, 1, rest)


def printed(p: Parameters, ctx: Any) -> Any:
    """(94), (95), (97), update by update, through the one-step maps of Lemma 3.2."""
    c, size = p.contraction, p.batches
    noise = 2 * p.eta * p.sigma2
    lipschitz = ctx.power(c, 1)
    ratio = ctx.number(0)
    for t in range((p.epochs - 1) * size + size - p.position):
        if t % size == 0:
            ratio = with_record(ratio, p)
        else:
            spread = noise * ctx.total(lambda s: ctx.power(c, 2 * s), 0, t - 1)
            ratio = without_record(ratio, 1 / spread, lipschitz, noise)
    return p.alpha * ratio
