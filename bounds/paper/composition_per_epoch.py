"""The paper's stand-in for sub-sampled composition, by epochs (Section E.1, caption of Figure 2).

Setting: Poisson sub-sampling of rate b/n at every update, released after each.
Statement: K epochs cost about K (b/n) alpha A; E.1 says they cost more.
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: estimate (of a composition bound, which E.1 says is larger).
Source: Ye and Shokri 2022, Section E.1, first item, and the caption of Figure 2.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("composition_per_epoch").float64(s)), 6)
0.1
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import EPOCHS, NOISE, ORDER, SENSITIVITY, STEP_POSITIVE

SOURCE = Source(PAPER, "txt-e.1-per-epoch", "Section E.1 and Figure 2", "", "E.1")
SCHEME = "Poisson"
DIRECTION = "estimate"
STANDING = "estimate"
ASSUMPTIONS = (ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """K (b/n) alpha A [-]."""
    return p.alpha * p.rate * p.epochs * p.b / p.n


def printed(p: Parameters, ctx: Any) -> Any:
    """(b/n) alpha eta S_g^2/(4 sigma^2 b^2) K, as in the caption of Figure 2."""
    front = p.alpha * p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    return ctx.number(p.b) / ctx.number(p.n) * front * p.epochs
