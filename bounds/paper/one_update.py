"""One update that holds the differing record, from equal parameters (Lemma 3.2, second row).

Setting: one noisy update theta - eta g + N(0, 2 eta sigma^2) whose mean gradient over b records
moves by at most S_g / b.
Statement: R_alpha <= alpha eta S_g^2/(4 sigma^2 b^2); an update without the record shrinks a
divergence R_alpha'/alpha' that is present by the factor (1 + 2 c eta sigma^2/L^2)^(-1).
Symbols: c [1/variance], log-Sobolev constant before the update; L [-], Lipschitz constant of the
deterministic update; alpha' = 1 + (alpha - 1)/(1 + 2 c eta sigma^2/L^2) [-].
Direction: upper.
Source: Ye and Shokri 2022, Lemma 3.2, equations (2) and (70).
Note: (70) prints the middle expression without its factor alpha; the end of (70) and (2) have it.

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=1, eta=1, sensitivity=2, sigma2=1, alpha=3)
>>> find("one_update").in_system(s, Exact)
Fraction(3, 1)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import NOISE, ORDER, SENSITIVITY, STEP_POSITIVE

SOURCE = Source(PAPER, "lem-3.2", "Lemma 3.2", "(2), second row", "3.1")
SCHEME = "one update"
ASSUMPTIONS = (ORDER, NOISE, SENSITIVITY, STEP_POSITIVE)


def with_record(ratio: Any, p: Parameters) -> Any:
    """R_alpha/alpha after an update that holds the record, from R_alpha/alpha = `ratio` [-]."""
    return ratio + p.rate


def shrinking(lsi: Any, lipschitz: Any, noise: Any) -> Any:
    """The factor 1 + c (2 eta sigma^2)/L^2 [-] of Lemma 3.2; `noise` is 2 eta sigma^2.

    The order moves to alpha' = 1 + (alpha - 1)/factor.
    """
    return 1 + lsi * noise / lipschitz**2


def without_record(ratio: Any, lsi: Any, lipschitz: Any, noise: Any) -> Any:
    """R_alpha/alpha after an update without the record, from R_alpha'/alpha' = `ratio` [-]."""
    return ratio / shrinking(lsi, lipschitz, noise)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A [-]."""
    return p.alpha * with_record(ctx.number(0), p)


def printed(p: Parameters, ctx: Any) -> Any:
    """The second row of (2) from equal parameters."""
    return p.alpha * (p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2))
