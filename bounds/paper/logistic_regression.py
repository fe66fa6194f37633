"""Privacy dynamics of DP-SGD on regularised logistic regression (Corollary 5.3).

Setting: Algorithm 2: features clipped to norm L, unregularised gradients clipped to norm S_g/2,
one random partition; beta = (L^2 + 1)/2 + lambda is the smoothness of the regularised loss, so
that eta < 2/((L^2 + 1)/2 + 2 lambda) reads eta < 2/(lambda + beta).
Statement: Theorem 4.2 with eps_0^j <= (2 alpha/M^2) c^(2(j-1))/sum_(s<j) c^(2s), M the noise
multiplier; the Renyi divergence of a private normalisation of the features comes on top.
Symbols: M = sigma_mul [-], noise standard deviation over clip norm S_g/2, before averaging.
Direction: upper.
Source: Ye and Shokri 2022, Corollary 5.3, equations (12), (13); Section F.1.
Note: holds for two classes; for three or more its conclusion is false as printed (see the audit's
cor-5.3), since Proposition 5.2 is.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("cor-5.3").float64(s)), 6)
0.015459
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER, shuffle_partition
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

SOURCE = Source(PAPER, "cor-5.3", "Corollary 5.3", "(12)", "5.2")
SCHEME = "shuffle once"
STANDING = "claim"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    TWO_BATCHES,
)  # fmt: skip


def noise_multiplier_squared(p: Parameters, ctx: Any) -> Any:
    """M^2 = 8 b^2 sigma^2/(eta S_g^2) [-], so that 2/M^2 = A (Section F.1)."""
    return 8 * p.b**2 * p.sigma2 / (p.eta * p.sensitivity**2)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """The right side of (12) [-]."""
    return shuffle_partition.epsilon(p, ctx)


def printed(p: Parameters, ctx: Any) -> Any:
    """(12) with the shares of (13)."""
    c = p.contraction
    front = 2 * p.alpha / noise_multiplier_squared(p, ctx)

    def share(j: Any) -> Any:
        below = ctx.total(lambda s: ctx.power(c, 2 * s), 0, j - 1)
        return front * ctx.power(c, 2 * (j - 1)) / below

    rest = p.batches - p.half
    over = 1 - ctx.power(c, 2 * (p.epochs - 1) * rest)
    first = share(p.half) * over / (1 - ctx.power(c, 2 * rest))
    mean = ctx.total(lambda j0: ctx.exp((p.alpha - 1) * share(p.batches - j0)), 0, p.batches - 1)
    return first + 1 / (p.alpha - 1) * ctx.log(mean / p.batches)
