"""Cyclic noisy SGD for the worst batch (Bok, Su and Altschuler 2024).

Setting: fixed batches in a fixed cycle, lambda-strongly convex beta-smooth losses,
eta <= 2/(lambda + beta); the record in the worst batch, which is the last.
Statement: mu-Gaussian DP, hence eps = alpha mu^2/2, with l = n/b, c = 1 - eta lambda and
mu^2 = 2A [1 + c^(2l-2) (1 - c^2)/(1 - c^l)^2 (1 - c^(l(K-1)))/(1 + c^(l(K-1)))].
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: upper.
Source: Bok, Su and Altschuler 2024, strongly convex cyclic theorem.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("bok_2024_cyclic").float64(s)), 6)
0.054775
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.prior.bok_2024_full_batch import spread
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
    TWO_BATCHES,
)

SOURCE = Source("Bok et al. 2024", "bok_2024_cyclic", "cyclic, strongly convex")
SCHEME = "fixed order"
FULL_BATCH = "bok_2024_full_batch"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED, TWO_BATCHES,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha mu^2/2 [-]."""
    c, size = p.contraction, p.batches
    cycle = ctx.one_minus_power(c, size)
    gain = ctx.power(c, 2 * size - 2) * ctx.one_minus_power(c, 2) / cycle / cycle
    return p.alpha * p.rate * (1 + gain * spread(ctx, c, size * (p.epochs - 1)))


def printed(p: Parameters, ctx: Any) -> Any:
    """alpha mu^2/2 with mu_0^2 = eta S_g^2/(2 sigma^2 b^2)."""
    c, size = p.contraction, p.batches
    start = p.eta * p.sensitivity**2 / (2 * p.sigma2 * p.b**2)
    end = ctx.power(c, size * (p.epochs - 1))
    gain = ctx.power(c, 2 * size - 2) * (1 - ctx.power(c, 2)) / (1 - ctx.power(c, size)) ** 2
    return p.alpha * (start * (1 + gain * (1 - end) / (1 + end))) / 2
