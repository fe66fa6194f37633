"""Composition of the sub-sampled Gaussian mechanism (Mironov, Talwar and Zhang 2019).

Setting: every record enters a batch independently with probability b/n; every iterate released.
Statement: eps <= K floor(n/b) times the Renyi divergence, the larger of its two directions,
between (1 - b/n) N(0, v) + (b/n) N(d, v) and N(0, v), where d^2/(2v) = A.
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: upper.
Source: Mironov et al. 2019, Section 3.3.
Note: adding or removing a record is the adjacency there; the shift S_g is kept, as E.1 does.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("sampled_gaussian").float64(s)), 6)
0.100813
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import EPOCHS, NOISE, ORDER, SENSITIVITY, STEP_POSITIVE

SOURCE = Source("Mironov et al. 2019", "sampled_gaussian", "Section 3.3")
SCHEME = "Poisson"
ASSUMPTIONS = (ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """K floor(n/b) steps of the sampled Gaussian mechanism [-]."""
    sampling = ctx.number(p.b) / ctx.number(p.n) if ctx.symbolic else Fraction(p.b, p.n)
    step = ctx.sampled_gaussian(p.order, p.alpha_minus_one, sampling, p.given.rate)
    return p.steps * step


def printed(p: Parameters, ctx: Any) -> Any:
    """The binomial sum of Section 3.3 for whole orders."""
    order = p.given.alpha
    if order.denominator != 1:
        return epsilon(p, ctx)
    sampling = ctx.number(p.b) / ctx.number(p.n)
    choose, moment = 1, ctx.number(0)
    for k in range(order.numerator + 1):
        weight = choose * (1 - sampling) ** (order.numerator - k) * sampling**k
        moment = moment + weight * ctx.exp(p.rate * (k * k - k))
        choose = choose * (order.numerator - k) // (k + 1)
    return p.steps * (ctx.log(moment) / (p.alpha - 1))
