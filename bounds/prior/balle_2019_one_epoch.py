"""Privacy amplification by mixing over one pass (Balle, Barthe, Gaboardi and Geumlek 2019).

Setting: fixed batches, one epoch, lambda-strongly convex beta-smooth losses,
eta <= 2/(lambda + beta).
Statement: eps = alpha A for the last batch, else
alpha A/(n/b - j_0 - 1) (1 - 2 eta beta lambda/(beta + lambda))^((n/b - j_0)/2).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-], with S_g/2 for the Lipschitz constant of a record.
Direction: upper.
Source: Balle et al. 2019, Theorem 5; restated as Theorem D.5, equation (111).
Note: (111) has 2(L/b)^2/(2 eta sigma^2), where the noise of the source is multiplied by the step
size; D.6 then substitutes L = eta S_g/2 and arrives at A, which is used here.

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=4, b=1, epochs=1, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=3, position=0)
>>> find("thm-d.5").in_system(s, Exact)
Fraction(1, 8)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import (
    NOISE,
    ONE_EPOCH,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
)

SOURCE = Source("Balle et al. 2019", "thm-d.5", "Theorem 5", "(111)", "D.6")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, ONE_EPOCH, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED, POSITION,
)  # fmt: skip


def share(p: Parameters, ctx: Any, position: Any) -> Any:
    """The one-pass bound over alpha for a record of batch `position` [-]."""
    after = p.batches - position - 1
    if after == 0:
        return p.rate
    s = p.given
    mixing = ctx.complement(2 * s.eta * s.beta * s.lambda_ / (s.beta + s.lambda_))
    return p.rate * half_power(ctx, mixing, after + 1) / after


def half_power(ctx: Any, base: Any, m: Any) -> Any:
    """base^(m/2), rational where m is even; base^m itself might underflow."""
    whole = ctx.power(base, m // 2)
    return whole if m % 2 == 0 else whole * ctx.sqrt(ctx.power(base, 1))


def epsilon(p: Parameters, ctx: Any) -> Any:
    """The one-pass bound at j_0 [-]."""
    return p.alpha * share(p, ctx, p.position)


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (111) with L = eta S_g/2 as in Section D.6."""
    lipschitz = p.eta * p.sensitivity / 2
    front = p.alpha * 2 * (lipschitz / p.b) ** 2 / (2 * p.eta * p.sigma2)
    rest = p.batches - p.position
    if rest == 1:
        return front
    base = 1 - 2 * p.eta * p.beta * p.lambda_ / (p.beta + p.lambda_)
    mixed = base ** (rest // 2) if rest % 2 == 0 else ctx.sqrt(base**rest)
    return front / (rest - 1) * mixed
