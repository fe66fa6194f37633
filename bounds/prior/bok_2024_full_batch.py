"""Noisy full-batch gradient descent, exactly in the worst case (Bok, Su and Altschuler 2024).

Setting: b = n, lambda-strongly convex beta-smooth losses, eta <= 2/(lambda + beta).
Statement: mu-Gaussian DP, hence eps = alpha mu^2/2, with
mu^2 = 2A (1 - c^K)(1 + c)/((1 + c^K)(1 - c)), c = 1 - eta lambda.
Symbols: A = eta S_g^2/(4 sigma^2 n^2) [-]; K [updates, which are epochs].
Direction: upper.
Source: Bok, Su and Altschuler 2024, strongly convex full-batch theorem.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("bok_2024_full_batch").float64(s)), 6)
0.003691
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import (
    EPOCHS,
    FULL_BATCH,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
)

SOURCE = Source("Bok et al. 2024", "bok_2024_full_batch", "full batch, strongly convex")
SCHEME = "full batch"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED, FULL_BATCH,
)  # fmt: skip


def spread(ctx: Any, c: Any, m: Any) -> Any:
    """(1 - c^m)/(1 + c^m) [-]."""
    return ctx.one_minus_power(c, m) / (1 + ctx.power(c, m))


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A (1 - c^K)(1 + c)/((1 + c^K)(1 - c)) [-]."""
    c = p.contraction
    return p.alpha * p.rate * spread(ctx, c, p.epochs) / spread(ctx, c, 1)


def printed(p: Parameters, ctx: Any) -> Any:
    """alpha mu^2/2 with mu_0^2 = eta S_g^2/(2 sigma^2 b^2)."""
    c, end = ctx.power(p.contraction, 1), ctx.power(p.contraction, p.epochs)
    start = p.eta * p.sensitivity**2 / (2 * p.sigma2 * p.b**2)
    return p.alpha * (start * (1 - end) * (1 + c) / ((1 + end) * (1 - c))) / 2
