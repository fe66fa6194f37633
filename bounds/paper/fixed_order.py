"""Privacy dynamics of fixed-order noisy mini-batch SGD (Theorem 3.3), for a record of any batch.

Setting: fixed batches, lambda-strongly convex beta-smooth losses, eta < 2/(lambda + beta).
Statement: eps <= eps_0^m (1 - c^(2(K-1)(l-m)))/(1 - c^(2(l-m))) + eps_0^(l-j_0), with
c = 1 - eta lambda, l = n/b >= 2, m = floor(l/2), eps_0^j = alpha A c^(2(j-1))/sum_{s<j} c^(2s).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; j_0 [-], the record's batch, from 0.
Direction: upper.
Source: Ye and Shokri 2022, Theorem 3.3, equation (3).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-3.3").float64(s)), 6)
0.058086
"""

from __future__ import annotations

from typing import Any

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

SOURCE = Source(PAPER, "thm-3.3", "Theorem 3.3", "(3)", "3.2")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    TWO_BATCHES, POSITION,
)  # fmt: skip


def earlier_epochs(p: Parameters, ctx: Any) -> Any:
    """The first term of (3) over alpha [-]: what the first K - 1 epochs leave behind."""
    c, rest = p.contraction, p.batches - p.half
    series = ctx.one_minus_power(c, 2 * (p.epochs - 1) * rest) / ctx.one_minus_power(c, 2 * rest)
    return share(p, ctx, p.half) * series


def printed_earlier_epochs(p: Parameters, ctx: Any) -> Any:
    """The first term of (3) over alpha, as printed."""
    c, rest = p.contraction, p.batches - p.half
    over = 1 - ctx.power(c, 2 * (p.epochs - 1) * rest)
    return printed_share(p, ctx, p.half) * over / (1 - ctx.power(c, 2 * rest))


def epsilon(p: Parameters, ctx: Any) -> Any:
    """The right side of (3) [-]."""
    last = share(p, ctx, p.batches - p.position)
    return p.alpha * (earlier_epochs(p, ctx) + last)


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (3)."""
    last = printed_share(p, ctx, p.batches - p.position)
    return p.alpha * printed_earlier_epochs(p, ctx) + p.alpha * last
