"""The concurrent work's bound as Appendix C quotes it: Theorem 2.1 with n^2 in place of b^2.

Setting: stochastic gradient Langevin dynamics, as quoted; lambda-strongly convex losses.
Statement: eps <= alpha S_g^2/(lambda sigma^2 n^2) (1 - exp(-lambda eta K/2)).
Symbols: K [epochs]; alpha, eta lambda [-].
Direction: upper, as claimed by its source.
Source: Ryffel, Bach and Pointcheval 2022, Corollary 3.3, as quoted in Appendix C of Ye and Shokri
2022, who say that it rests on a log-Sobolev constant that a mixture does not have.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("ryffel_2022").float64(s)), 6)
0.006296
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
)

SOURCE = Source("Ryffel et al. 2022, as quoted", "fn-2", "Corollary 3.3", "", "C")
SCHEME = "without replacement"
STANDING = "claim"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """4 alpha A (b/n)^2 (1 - exp(-eta lambda K/2))/(eta lambda) [-]."""
    decay = -ctx.expm1(-(p.eta_lambda * p.epochs / 2))
    return p.alpha * p.rate * 4 * decay / p.eta_lambda * p.b**2 / p.n**2


def printed(p: Parameters, ctx: Any) -> Any:
    """Theorem 2.1 with n^2 for b^2."""
    front = p.alpha * p.sensitivity**2 / (p.lambda_ * p.sigma2 * p.n**2)
    return front * (1 - ctx.exp(-(p.lambda_ * p.eta * p.epochs / 2)))
