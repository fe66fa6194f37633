"""Theorem 3.3: privacy dynamics of fixed-order noisy mini-batch SGD."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.arith.exact import Exact
from bounds.bound import Bound, find
from bounds.setting import Setting
from verify.methods.properties import small_settings, try_to_break
from verify.methods.quadratic import below_truth, exact_ratio
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "thm-3.3",
        printed="eps <= eps_0^m(alpha) (1 - c^(2(K-1)(l-m)))/(1 - c^(2(l-m))) + "
        "eps_0^(l-j0)(alpha), c = 1 - eta lambda, l = n/b >= 2, m = floor(l/2), eps_0^j(alpha) = "
        "(alpha eta Sg^2/(4 sigma^2 b^2)) c^(2(j-1)) / sum_(s<j) c^(2s)",
        rests_on=("lem-3.2", "lem-d.3", "eq-092", "eq-095", "eq-100", "eq-101"),
        reading="fixed batches; the start may have any law, since a common start is conditioned on",
    ),
)

BOUND = find("fixed_order")
ALL = "eta < 2/(lambda + beta), every n/b >= 2, K >= 1, alpha > 1 and batch"


@dataclass(frozen=True)
class Chain:
    """The steps of the proof, each as a function that a mutant can change.

    factor(q, W): what Lemma 3.2 makes of an update without the record, W = 1 + q + ... + q^(t-1).
    share(Q, W): eps_0^j/(alpha A) with Q = q^(j-1), W = 1 + ... + q^(j-1).
    series(rho, R): what K - 1 epochs leave over E, rho the factor of an epoch, R = rho^(K-1).
    """

    factor: Callable[[Any, Any], Any]
    share: Callable[[Any, Any], Any]
    series: Callable[[Any, Any], Any]


CHAIN = Chain(
    factor=lambda q, w: 1 / (1 + 1 / (q * w)),
    share=lambda power, w: power / w,
    series=lambda rho, end: (1 - end) / (1 - rho),
)


@check(
    "thm-3.3", "derived", "symbolic induction",
    form=CHAIN,
    mutants={
        "share one power of q too small": replace(CHAIN, share=lambda p, w: p**2 / w),
        "share without the sum": replace(CHAIN, share=lambda p, w: p),
        "series of K - 2 epochs": replace(CHAIN, series=lambda r, e: (1 - e / r) / (1 - r)),
        "series below the recursion": replace(
            CHAIN, series=lambda r, e: r**2 * (1 - e) / (1 - r)
        ),
        "factor without the contraction": replace(CHAIN, factor=lambda q, w: 1 / (1 + 1 / w)),
    },
)  # fmt: skip
def follows_from_the_recursions(form: Chain, run: Run) -> Finding:
    """(95) to (99) by induction on j; (101) to (108) by induction on k; the dropped factor."""
    q, w, power, gain = sp.symbols("q W Q E", positive=True)
    longer = 1 + q * w
    links = [
        (Equation(form.factor(q, w), q * w / longer),
         "Lemma 3.2 with 1/c_t = 2 eta sigma^2 W_t and L^2 = q multiplies by q W_t/W_(t+1)"),
        (Equation(lambda: form.share(sp.Integer(1), sp.Integer(1)), 1), "(99) at j = 1"),
        (Equation(form.share(power, w) * form.factor(q, w), form.share(power * q, longer)),
         "(99), step from j to j + 1"),
    ]  # fmt: skip
    rho, end = sp.symbols("rho R", positive=True)
    after = gain * form.series(rho, end)
    slack = gain * form.series(rho, end * rho) - (after + gain) * rho
    findings = [rational_identity(d, ALL, what, seed=run.seed) for d, what in links]
    findings.append(
        identity(
            slack,
            gain * (1 - rho),
            ALL,
            seed=run.seed,
            what="(107) exceeds the step (104) of the recursion by E (1 - rho) > 0, rho = q^(l-m)",
        )
    )
    findings.append(identity(lambda: form.series(rho, sp.Integer(1)), 0, ALL, "(108) at K = 1"))
    return all_hold(findings)


def _ratio(bound: Bound, setting: Setting, epsilon: Callable[..., Any] | None = None) -> Fraction:
    made = bound if epsilon is None else replace(bound, epsilon=epsilon)
    value: Fraction = made.in_system(setting, Exact) / (setting.alpha or 1)
    return value


@check(
    "thm-3.3", "transcribed", "exact rational arithmetic, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "ceil for floor": lambda p, ctx: BOUND.epsilon(
            replace(p, half=p.batches - p.half), ctx
        ),
        "K for K - 1": lambda p, ctx: BOUND.epsilon(replace(p, epochs=p.epochs + 1), ctx),
        "first batch for the last": lambda p, ctx: BOUND.epsilon(
            replace(p, position=p.batches - 1 - p.position), ctx
        ),
        "order lost": lambda p, ctx: BOUND.epsilon(p, ctx) / p.alpha,
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals equation (3) with its sums written out."""

    return same_formula(BOUND, form, run, what="equation (3) against the library's formula")


@check(
    "thm-3.3", "valid", "exact law of quadratics, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "four in the denominator doubled": lambda p, ctx: BOUND.epsilon(p, ctx) / 2,
        "last term of the wrong end": lambda p, ctx: BOUND.epsilon(replace(p, position=0), ctx),
        "noise standard deviation for variance": lambda p, ctx: BOUND.epsilon(
            replace(p, rate=p.rate / 16), ctx
        ),
    },
)  # fmt: skip
def above_the_truth_on_quadratics(form: Callable[..., Any], run: Run) -> Finding:
    """Never below the exact divergence of the slowest quadratic, at any batch."""

    def holds(setting: Setting) -> bool:
        return not below_truth(setting, _ratio(BOUND, setting, form))

    return try_to_break(
        small_settings(), holds, run, domain="random quadratics with curvature lambda, exact",
        what="Theorem 3.3 above the exact divergence", certify=lambda s: _witness(s, form),
    )  # fmt: skip


def _witness(setting: Setting, epsilon: Callable[..., Any]) -> Finding:
    truth, claimed = exact_ratio(setting), _ratio(BOUND, setting, epsilon)
    return Finding(
        "fails", "point", "one exact setting",
        f"exact divergence over alpha {truth} exceeds {claimed} at {setting.as_strings()}",
        certificate={
            "kind": "point", "parameters": setting.as_strings(), "left": [str(truth)] * 2,
            "right": [str(claimed)] * 2, "relation": "<=",
        },
    )  # fmt: skip
