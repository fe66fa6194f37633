"""Privacy dynamics under "shuffle and partition" (Theorem 4.2).

Setting: one random partition into batches, reused in every epoch; lambda-strongly convex
beta-smooth losses, eta < 2/(lambda + beta).
Statement: eps <= eps_0^m (1 - c^(2(K-1)(l-m)))/(1 - c^(2(l-m)))
+ log(mean over j of exp((alpha - 1) eps_0^j(alpha)))/(alpha - 1), j = 1, ..., l, with
c = 1 - eta lambda, l = n/b >= 2, m = floor(l/2).
Symbols: eps_0^j [-] as in Theorem 3.3; K [epochs]; alpha [-].
Direction: upper.
Source: Ye and Shokri 2022, Theorem 4.2, equation (5).
Note: where b does not divide n a record is dropped with some probability; counting it as never
dropped only raises the mean (footnote 3).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-4.2").float64(s)), 6)
0.015459
"""

from __future__ import annotations

from typing import Any

from bounds.arith import Profile
from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.paper.first_epoch import printed_share, profile
from bounds.paper.fixed_order import earlier_epochs, printed_earlier_epochs
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
    TWO_BATCHES,
)

SOURCE = Source(PAPER, "thm-4.2", "Theorem 4.2", "(5)", "4.1")
SCHEME = "shuffle once"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    TWO_BATCHES,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """The right side of (5) [-]."""
    scale = p.alpha_minus_one * p.alpha * p.rate
    shares = Profile(("first epoch", p.contraction), lambda j: profile(p, ctx, j))
    mean = ctx.log_mean_exp(scale, shares, p.batches)
    return p.alpha * earlier_epochs(p, ctx) + mean / p.alpha_minus_one


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (5), with the average over j_0 as printed."""
    exponents = ctx.total(
        lambda j0: ctx.exp((p.alpha - 1) * p.alpha * printed_share(p, ctx, p.batches - j0)),
        0,
        p.batches - 1,
    )
    first = p.alpha * printed_earlier_epochs(p, ctx)
    return first + 1 / (p.alpha - 1) * ctx.log(exponents / p.batches)
