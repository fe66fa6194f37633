"""Sampling without replacement: optimal shift bounds averaged over which updates use the record.

Setting: b of n records drawn afresh without replacement at every update; lambda-strongly convex
beta-smooth losses, eta < 2/(lambda + beta).
Statement: eps <= log(M)/(alpha-1), where M is the smallest of S_T of Theorem 4.3, exp(gamma W_T),
and the moment of `bounds.arith.hitting.log_moment`; T = K floor(n/b), c = 1 - eta lambda,
gamma = (alpha-1) alpha A, W_T = (1-c^T)(1+c)/((1+c^T)(1-c)).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; T [updates]; alpha, W_T [-].
Direction: upper. Finite as K grows for every order: at most alpha A (1+c)/(1-c). Never above
Theorem 4.3.
Source: derived here, by Lemma 4.1 of Ye and Shokri 2022 and `bounds.optimal`.

Proof.
1. Let H in {0,1}^T say which updates use the record; its entries are independent, 1 with
   probability p = b/n. Given the batches, `bounds.optimal` bounds the divergence by alpha A V(H),
   V(H) the optimum with s_t = H_t and v_t = 1. By Lemma 4.1,
   exp((alpha-1) R_alpha) <= E exp(gamma V(H)).
2. V(H) grows with H, since V = max over slopes m_1 <= ... <= m_T of sum 2 m_t w_t s_t - m_t^2 w_t^2
   v_t (isotonic regression, with multipliers m >= 0). So V(H) <= V(1, ..., 1): one chord,
   (1 + ... + c^(T-1))^2/(1 + ... + c^(2(T-1))) = W_T.
3. E exp(gamma V(H)) <= S_T. A hit adds at most 1 to V (take a = 1). A miss multiplies it by at most
   c^2 O_t/O_(t+1) <= c^2, O_t = 1 + ... + c^(2(t-1)): keep the fraction x of the multipliers and
   let the new noise absorb the rest, at cost x^2 V + (1-x)^2 c^2 P^2 with P^2 <= V O_t, and take
   x = c^2 O_t/O_(t+1). So E exp(gamma V_(t+1)) <= p e^gamma E exp(gamma V_t) +
   (1-p) E exp(gamma c^2 V_t), and the last mean is at most (E exp(gamma V_t))^(c^2) by Jensen.
   This proves Theorem 4.3 anew, without log-Sobolev constants of mixtures.
4. Nothing needs to be given up one update at a time. Given the value V before the last hit, tau
   updates ago, the value now is at most a concave function F_tau(V), which is below
   c^(2(tau-1)) (V+1); and exp(gamma F_tau) is a concave function of exp(gamma V), so that laws may
   be replaced by laws of few atoms. The module `bounds.arith.hitting` does this and proves it.
Equality: for b = n it is Bok, Su and Altschuler's full-batch bound; for T = 1 it is Theorem 4.3.
Note: M is a mean over patterns, each bounded by its own worst run. The true law is one mixture for
all, and subsampled single updates gain a factor b/n more than Lemma 4.1 sees: the gap is open. The
moment is computed in double precision and rounded upward; that number is the definition, the same
in every number system.

>>> from bounds.arith.float64 import Float64
>>> from bounds.bound import bind
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(epsilon(bind(s, Float64), Float64)), 6)
0.019338
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.arith import TooCostly
from bounds.bound import Parameters, Source
from bounds.derived import DERIVED
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

SOURCE = Source(DERIVED, "optimal_without_replacement", "optimal shift bound, without replacement")
SCHEME = "without replacement"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
)  # fmt: skip


_MOST_WRITTEN_OUT = 3


def every_update(p: Parameters, ctx: Any) -> Any:
    """W_T [-], the value when every update uses the record."""
    c, steps = p.contraction, p.steps
    over = ctx.one_minus_power(c, steps) * (1 + ctx.power(c, 1))
    return over / ((1 + ctx.power(c, steps)) * ctx.one_minus_power(c, 1))


def pattern_moment(p: Parameters, ctx: Any, gain: Any) -> Any:
    """The logarithm of the mean over patterns [-], rounded upward; an array where alpha is one."""
    from bounds.arith.hitting import log_moment

    given = p.given
    sampling = Fraction(int(given.b), int(given.n))

    def one(scale: Any) -> float:
        return log_moment(float(scale), sampling, given.eta_lambda, p.steps)

    if ctx.name == "float64":
        import numpy as np

        return np.vectorize(one, otypes=[np.float64])(gain)[()]
    exact = (given.alpha - 1) * given.alpha * given.rate
    if ctx.symbolic and not (
        ctx.number(exact).is_number and 0 < ctx.number(p.steps) <= _MOST_WRITTEN_OUT
    ):
        raise TooCostly(
            "the moment over all patterns is a number, and the least of three expressions is told "
            f"only for numbers and at most {_MOST_WRITTEN_OUT} updates; use balls"
        )
    return ctx.number(Fraction(one(exact)))


def epsilon(p: Parameters, ctx: Any) -> Any:
    """log(M)/(alpha - 1) [-]."""
    gain = p.alpha_minus_one * p.alpha * p.rate
    lost = p.given.eta_lambda * (2 - p.given.eta_lambda)
    sampling = ctx.number(p.b) / ctx.number(p.n) if ctx.symbolic else Fraction(p.b, p.n)
    best = gain * every_update(p, ctx)
    if p.n != p.b:
        best = ctx.minimum(best, pattern_moment(p, ctx, gain))
        best = ctx.minimum(best, ctx.resampling(gain, sampling, lost, p.steps))
    return best / p.alpha_minus_one


def printed(p: Parameters, ctx: Any) -> Any:
    """The three candidates: every update, Theorem 4.3 step by step, the moment."""
    front = p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    gain = (p.alpha - 1) * p.alpha * front
    rise = ctx.total(lambda t: ctx.power(p.contraction, t), 0, p.steps - 1)
    noise = ctx.total(lambda t: ctx.power(p.contraction, 2 * t), 0, p.steps - 1)
    best = gain * rise**2 / noise
    if p.n != p.b:
        best = ctx.minimum(best, pattern_moment(p, ctx, gain))
        sampling, moment = ctx.number(p.b) / ctx.number(p.n), ctx.number(1)
        for _ in range(p.steps):
            kept = ctx.exp(ctx.power(p.contraction, 2) * ctx.log(moment))
            moment = sampling * ctx.exp(gain) * moment + (1 - sampling) * kept
        best = ctx.minimum(best, ctx.log(moment))
    return best / (p.alpha - 1)
