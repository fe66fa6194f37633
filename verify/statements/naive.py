"""Theorem 2.1: the full-batch bound read with b records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from bounds.arith.ball import precision
from bounds.bound import find
from bounds.setting import STEP_SIZE, STEP_SIZE_SMALL, Setting
from verify.methods.elementary import exponential_above_tangent
from verify.methods.enclosure import BITS, compare
from verify.methods.symbolic import all_hold, identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "thm-2.1",
        printed='under "shuffle and partition" and eta < 2/(lambda + beta), eps <= alpha Sg^2/'
        "(lambda sigma^2 b^2) (1 - exp(-lambda eta K/2))",
        rests_on=("thm-d.7", "eq-092", "eq-106", "lem-4.1"),
        reading="any start; K counts epochs of n/b updates",
        finding="The bound that it extends needs eta < 1/beta and a Gaussian start, while the "
        "theorem asks for eta < 2/(lambda + beta) only, so it does not follow as claimed. It "
        "holds all the same: the paper's own recursion (106) stays below it term by term.",
    ),
)

BOUND = find("naive_extension")
DOMAIN = "0 < eta lambda < 1, every n/b >= 1, K >= 1, alpha > 1"


@check(
    "thm-2.1", "derived", "exact witness",
    form=(STEP_SIZE, STEP_SIZE_SMALL),
    readings={"with the step size of its source": (STEP_SIZE_SMALL, STEP_SIZE_SMALL)},
    mutants={"the source taken to need no step-size condition but a smaller one still": (
        STEP_SIZE, replace(STEP_SIZE_SMALL, holds=lambda s: s.eta * s.beta < Fraction(1, 2)))},
)  # fmt: skip
def source_covers_the_step_sizes(form: tuple[Any, Any], run: Run) -> Finding:
    """Whether eta < 2/(lambda + beta) implies what Chourasia et al. 2021, Corollary 1, assumes."""
    asked, needed = form
    for eta in ("1/10", "1/5", "3/10"):
        setting = Setting.of(eta=eta, lambda_=1, beta=4)
        if asked.holds(setting) and not needed.holds(setting):
            return Finding(
                "fails", "point", "step sizes up to 2/(lambda + beta)",
                f"eta = {eta}, lambda = 1, beta = 4: {asked.condition} holds, "
                f"{needed.condition} does not",
                certificate={"kind": "point", "parameters": setting.as_strings(),
                             "left": [str(setting.eta)] * 2, "right": ["0.25", "0.25"],
                             "relation": "<"},
            )  # fmt: skip
    return Finding("holds", "point", "three step sizes", "the two conditions agree there")


@dataclass(frozen=True)
class TermByTerm:
    """The comparison of A (1 + sum of E rho^(i+1)) with the printed bound.

    exponent(u, v, w): power of q in the i-th term, m = 1 + u, l - m = 1 + v, i = w, less w + 1.
    first: what the 0-th term of the printed bound's lower sum is, over A, at eta lambda = 1.
    rate(i): exponent of e^(-gamma) in q^i <= e^(-2 gamma i), less that of e^(-gamma (i+1)/2).
    integral(g): 4/gamma (1 - e^(-gamma K/2)) over 2 sum e^(-gamma k/2), numerator difference.
    """

    exponent: Callable[[Any, Any, Any], Any]
    first: Callable[[], Any]
    rate: Callable[[Any], Any]


PROOF = TermByTerm(
    exponent=lambda u, v, w: u + (1 + v) * (w + 1) - (w + 1),
    first=lambda: 2 * (-flint.arb(1) / 2).exp(),
    rate=lambda i: 2 * i - (i + 1) / 2,
)


@check(
    "thm-2.1", "valid", "symbolic chain with one ball",
    form=PROOF,
    mutants={
        "bound halved": replace(PROOF, first=lambda: (-flint.arb(1) / 2).exp()),
        "decay twice as fast": replace(PROOF, rate=lambda i: 2 * i - 5 * (i + 1) / 2),
        "gaps of no update": replace(PROOF, exponent=lambda u, v, w: u + v * (w + 1) - (w + 1)),
    },
)  # fmt: skip
def above_the_recursion(form: TermByTerm, run: Run) -> Finding:
    """(92) and (106) give eps <= alpha A (1 + sum_{i<K-1} E rho^(i+1)); each term is below 2.1's.

    E rho^(i+1) <= q^(i+1), because E = q^(m-1) (1-q)/(1-q^m) <= q^(m-1) and rho = q^(l-m). The
    printed bound is 4 alpha A/gamma (1 - e^(-gamma K/2)) >= 2 alpha A sum_{k=1..K} e^(-gamma k/2),
    since e^(gamma/2) - 1 >= gamma/2. And 1 <= 2 e^(-gamma/2), q^i <= e^(-2 gamma i) <=
    2 e^(-gamma (i+1)/2) for i >= 1. Shuffling does not exceed the worst order (Lemma 4.1). For
    n/b = 1 Theorem D.6, whose proof needs eta lambda <= 1 only, takes the place of (106).
    """
    u, v, w = sp.symbols("u v w", nonnegative=True)
    expanded = sp.Poly(sp.expand(form.exponent(u, v, w)), u, v, w)
    if not all(c >= 0 for c in expanded.coeffs()):
        return Finding(
            "fails", "point", DOMAIN, "a term of (106) has a smaller power of q than q^(i+1): "
            f"exponent {expanded.as_expr()} at u = v = w = 0",
            certificate={"kind": "point", "parameters": {"u": "0", "v": "0", "w": "0"},
                         "left": [str(expanded.eval((0, 0, 0)))] * 2, "right": ["0", "0"],
                         "relation": ">="},
        )  # fmt: skip
    i = sp.Symbol("i", positive=True)
    shifted = sp.Poly(sp.expand(form.rate(i).subs(i, i + 1)), i)
    if not all(c >= 0 for c in shifted.coeffs()):
        return Finding(
            "fails", "point", DOMAIN, f"the decay rates cross: {form.rate(sp.Integer(1))} at i = 1",
            certificate={"kind": "point", "parameters": {"i": "1"},
                         "left": [str(form.rate(sp.Integer(1)))] * 2, "right": ["0", "0"],
                         "relation": ">="},
        )  # fmt: skip
    with precision(BITS):
        first = compare(flint.arb(1), form.first(), parameters={"eta lambda": Fraction(1)},
                        relation="<=", domain=DOMAIN,
                        what="1 against 2 e^(-gamma/2), least at gamma = 1")  # fmt: skip
    if first.outcome != "holds":
        return first
    q, power = sp.symbols("q Q", positive=True)
    links = all_hold([
        exponential_above_tangent(DOMAIN, seed=run.seed),
        identity((1 - q * power) - (1 - q), q * (1 - power), DOMAIN,
                 "1 - q^m exceeds 1 - q by q (1 - q^(m-1)) >= 0", seed=run.seed),
    ])  # fmt: skip
    return replace(links, detail=f"{links.detail}; {first.detail}; powers of q compared as "
                   "polynomials with non-negative coefficients")  # fmt: skip


@check(
    "thm-2.1", "transcribed", "balls at 200 bits, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "exponent without the half": lambda p, ctx: BOUND.epsilon(
            replace(p, epochs=2 * p.epochs), ctx
        ),
        "order lost": lambda p, ctx: BOUND.epsilon(p, ctx) / p.alpha,
        "n for b": lambda p, ctx: BOUND.epsilon(p, ctx) * p.b**2 / p.n**2,
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals the display of Theorem 2.1."""
    return same_formula(BOUND, form, run, what="Theorem 2.1 against the library's formula")
