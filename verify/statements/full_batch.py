"""Theorems D.6 and D.7: noisy full-batch gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from bounds.arith.exact import Exact
from bounds.bound import find
from bounds.setting import Setting
from verify.methods.elementary import exponential_above_tangent
from verify.methods.properties import small_settings, try_to_break
from verify.methods.quadratic import below_truth, exact_ratio
from verify.methods.symbolic import all_hold, identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "thm-d.6",
        printed="for eta < 1/beta, eps <= (alpha eta Sg^2/(2 sigma^2 n^2)) sum_(k=1..K) "
        "(1 - eta lambda/2)^k",
        rests_on=("lem-3.2", "lem-d.3", "eq-119", "eq-122", "eq-125"),
        reading="the proof needs eta < 2/(lambda + beta) only, which is weaker than eta < 1/beta",
    ),
    Statement(
        "thm-d.7",
        printed="for eta < 1/beta and theta_0 ~ N(0, 2 sigma^2/lambda I), eps <= alpha Sg^2/"
        "(lambda sigma^2 n^2) (1 - exp(-lambda eta K/2))",
        cited=True,
        reading="Chourasia, Ye and Shokri 2021, Corollary 1; what it claims is implied by "
        "Theorem D.6, which is checked on its own",
    ),
)

OURS, SOURCE = find("full_batch"), find("chourasia_2021")
DOMAIN = "0 < eta lambda < 1, every K >= 1 and alpha > 1"


@dataclass(frozen=True)
class Split:
    """The proof of Theorem D.6: half of the noise, then the other half.

    gain(A): what the composed half adds; `A` is the rate with all of the noise.
    kept(W): factor of the pure noise half step, W = sum_{s<=k} q^s.
    limit(q): the factor in the limit of W. relaxed(gamma): the printed factor.
    """

    gain: Callable[[Any], Any]
    kept: Callable[[Any, Any], Any]
    limit: Callable[[Any], Any]
    relaxed: Callable[[Any], Any]


SPLIT = Split(
    gain=lambda rate: 2 * rate,
    kept=lambda earlier, noise: 1 / (1 + noise / 2 / (noise * earlier + noise / 2)),
    limit=lambda q: 1 - (1 - q) / 2,
    relaxed=lambda gamma: 1 - gamma / 2,
)


@check(
    "thm-d.6", "derived", "symbolic induction",
    form=SPLIT,
    mutants={
        "all of the noise composed": replace(SPLIT, gain=lambda rate: rate),
        "noise doubled in the half step": replace(
            SPLIT, kept=lambda w, v: 1 / (1 + v / (v * w + v / 2))
        ),
        "factor 1 - eta lambda": replace(SPLIT, relaxed=lambda g: 1 - g),
        "limit without the half": replace(SPLIT, limit=lambda q: q),
    },
)  # fmt: skip
def follows_by_splitting_the_noise(form: Split, run: Run) -> Finding:
    """(117) to (126): the two half steps, the limit of the factor, the geometric sum."""
    w, noise, q, gamma = sp.symbols("W v q gamma", positive=True)
    shift = sp.Symbol("Delta", positive=True)
    r, end, gain = sp.symbols("r R a", positive=True)
    earlier = q * w  # sum_{s=1..k} q^s, when w = sum_{s<k} q^s
    total = 1 + q * w
    solved = gain * r * (1 - end) / (1 - r)
    return all_hold([
        identity(
            lambda: form.gain(shift**2 / (2 * noise)), lambda: shift**2 / (2 * (noise / 2)), DOMAIN,
            "(119): half of the noise doubles the divergence of the shift", seed=run.seed),
        identity(form.kept(earlier, noise), 1 - 1 / (2 * total), DOMAIN,
                 "(117), (120) and (122)", seed=run.seed),
        identity(lambda: 1 - (1 - q) / 2, lambda: form.limit(q), DOMAIN,
                 "(124): W grows to 1/(1-q), and 1 - 1/(2W) grows with W", seed=run.seed),
        identity(
            form.relaxed(gamma) - form.limit((1 - gamma) ** 2), gamma * (1 - gamma) / 2, DOMAIN,
            "(125): the printed factor exceeds the limit by gamma (1 - gamma)/2 >= 0",
            seed=run.seed),
        identity((solved + gain) * r, solved.subs(end, end * r), DOMAIN,
                 "(126): the geometric sum solves the recursion", seed=run.seed),
    ])  # fmt: skip


def _full(setting: Setting) -> Setting:
    return replace(setting, b=setting.n)


@check(
    "thm-d.6", "valid", "exact law of quadratics, Hypothesis",
    form=OURS.epsilon,
    mutants={
        "half of the bound": lambda p, ctx: OURS.epsilon(p, ctx) / 2,
        "one update too few": lambda p, ctx: OURS.epsilon(
            replace(p, epochs=p.epochs - 1), ctx
        ),
    },
)  # fmt: skip
def above_the_truth_on_quadratics(form: Callable[..., Any], run: Run) -> Finding:
    """Never below the exact divergence of the slowest quadratic."""

    def ratio(setting: Setting) -> Any:
        made = replace(OURS, epsilon=form)
        return made.in_system(setting, Exact) / (setting.alpha or 1)

    def certify(setting: Setting) -> Finding:
        truth, claimed = exact_ratio(setting), ratio(setting)
        return Finding(
            "fails", "point", "one exact setting",
            f"exact divergence over alpha {truth} exceeds {claimed}",
            certificate={"kind": "point", "parameters": setting.as_strings(),
                         "left": [str(truth)] * 2, "right": [str(claimed)] * 2,
                         "relation": "<="},
        )  # fmt: skip

    return try_to_break(
        small_settings(full_batch=True).map(_full),
        lambda s: not below_truth(s, ratio(s)), run, certify=certify,
        domain="random full-batch quadratics, exact",
        what="Theorem D.6 above the exact divergence",
    )  # fmt: skip


@check(
    "thm-d.6", "transcribed", "exact rational arithmetic, Hypothesis",
    form=OURS.epsilon,
    mutants={
        "sum from k = 0": lambda p, ctx: OURS.epsilon(p, ctx)
        + 2 * p.alpha * p.rate * (1 - ctx.power(ctx.complement(p.given.eta_lambda / 2), p.epochs)),
        "order lost": lambda p, ctx: OURS.epsilon(p, ctx) / p.alpha,
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals (112) term by term."""
    return same_formula(
        OURS, form, run, what="equation (112) against the library's formula",
        strategy=small_settings(full_batch=True, most_epochs=8).map(_full),
    )  # fmt: skip


@dataclass(frozen=True)
class Relaxation:
    """From Theorem D.6 to Chourasia et al.: 2 sum (1-g)^k against (2/g)(1 - e^(-gK)), g = gamma/2.

    step(g): what (1-g)/(1-e^(-g)) is bounded by, times g. decay(k): exponent of e^(-g) for
    (1-g)^k. front: factor of the printed bound over alpha A/gamma.
    """

    decay: Callable[[Any], Any]
    front: Callable[[Any], Any]


RELAXATION = Relaxation(decay=lambda k: k, front=lambda g: 2 / g)


@check(
    "thm-d.7", "restated", "symbolic chain",
    form=RELAXATION,
    mutants={
        "constant halved": replace(RELAXATION, front=lambda g: 1 / g),
        "decay twice as fast": replace(RELAXATION, decay=lambda k: 2 * k),
    },
)  # fmt: skip
def implied_by_theorem_d6(form: Relaxation, run: Run) -> Finding:
    """2 sum_{k=1..K} (1-g)^k <= 2 (1-g) (1-e^(-gK))/(1-e^(-g)) <= (2/g)(1-e^(-gK)).

    First (1-g)^k <= e^(-gk), then g (1-g) <= g e^(-g) <= 1 - e^(-g); both are e^x >= 1 + x.
    """
    g, k = sp.symbols("g k", positive=True)
    rest = sp.Symbol("R", positive=True)
    return all_hold([
        exponential_above_tangent(DOMAIN, seed=run.seed),
        identity(lambda: form.decay(k), k, DOMAIN, "(1-g)^k <= e^(-gk)", seed=run.seed),
        identity(form.front(g) * (1 - rest), 2 * (1 - rest) / g, DOMAIN,
                 "the printed constant is 2/g = 4/(eta lambda), over alpha A",
                 seed=run.seed),
    ])  # fmt: skip


@check(
    "thm-d.7", "transcribed", "balls at 200 bits, Hypothesis",
    form=SOURCE.epsilon,
    mutants={
        "exponent without the half": lambda p, ctx: SOURCE.epsilon(
            replace(p, epochs=2 * p.epochs), ctx
        ),
        "order lost": lambda p, ctx: SOURCE.epsilon(p, ctx) / p.alpha,
    },
)  # fmt: skip
def restated_formula_is_the_librarys(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals (127)."""
    return same_formula(
        SOURCE, form, run, what="equation (127) against the library's formula",
        strategy=small_settings(full_batch=True, most_epochs=40).map(_full),
    )  # fmt: skip
