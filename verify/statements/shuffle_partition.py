"""Theorem 4.2: privacy dynamics under "shuffle and partition"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy as sp

from bounds.bound import find
from verify.methods.symbolic import all_hold, identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "thm-4.2",
        printed="eps <= eps_0^m(alpha) (1 - c^(2(K-1)(l-m)))/(1 - c^(2(l-m))) + log(Avg over "
        "0 <= j0 < l of exp((alpha-1) eps_0^(l-j0)(alpha)))/(alpha-1), with c, l, m, eps_0^j as "
        "in Theorem 3.3",
        rests_on=("thm-3.3", "lem-4.1"),
        reading="Section 4.1; the restatement in E.1 prints the step-size condition as "
        "eta < 2/(lambda + eta), where beta is meant",
    ),
)

BOUND = find("shuffle_partition")


@dataclass(frozen=True)
class Mixing:
    """Steps (138)-(140) and (135): how the orders of the batches are averaged.

    placed(n, b): probability that the record falls into a given batch.
    average(common, values, weight): what (140) makes of exp((alpha-1) eps) = common * value.
    dropped(mean, share): the average when a record is dropped with probability 1 - share.
    """

    placed: Callable[[int, int], Fraction]
    average: Callable[[Any, Any, Any], Any]
    dropped: Callable[[Any, Any], Any]


MIXING = Mixing(
    placed=lambda n, b: Fraction(b, n),
    average=lambda common, values, weight: common * sum(weight * v for v in values),
    dropped=lambda mean, share: share * mean + 1 - share,
)


@check(
    "thm-4.2", "derived", "symbolic, and counting",
    form=MIXING,
    mutants={
        "probability of one record, not of a batch": replace(
            MIXING, placed=lambda n, b: Fraction(1, n)
        ),
        "common factor lost": replace(MIXING, average=lambda c, v, w: sum(w * x for x in v)),
        "sum for average": replace(MIXING, average=lambda c, v, w: c * sum(v)),
        "dropped records counted as certain": replace(MIXING, dropped=lambda m, s: s * m + 2 - s),
    },
)  # fmt: skip
def orders_are_averaged(form: Mixing, run: Run) -> Finding:
    """(138) by Lemma 4.1; each batch holds the record with probability b/n; (140) factors.

    With y_j = exp((alpha-1) eps_0^j) >= 1 and l b/n = s <= 1, a record dropped with probability
    1 - s has average s mean + 1 - s, which is at most the mean: the difference is (1-s)(mean-1).
    """
    domain = "every n/b >= 2, K >= 1, alpha > 1, eta < 2/(lambda + beta)"
    for n, b in ((4, 2), (5, 2), (6, 3), (6, 2)):
        first = sum(0 in order[:b] for order in permutations(range(n)))
        total = sum(1 for _ in permutations(range(n)))
        if Fraction(first, total) != form.placed(n, b):
            return Finding(
                "fails", "point", domain,
                f"of the orders of {n} records {first}/{total} put a record into a batch of {b}, "
                f"not {form.placed(n, b)}",
                certificate={"kind": "point", "parameters": {"n": str(n), "b": str(b)},
                             "left": [str(Fraction(first, total))] * 2,
                             "right": [str(form.placed(n, b))] * 2, "relation": "="},
            )  # fmt: skip
    common, mean, share = sp.symbols("X mean s", positive=True)
    values = sp.symbols("y1:6", positive=True)
    weight = sp.Rational(1, len(values))
    direct = sum(weight * common * v for v in values)
    n, b = sp.symbols("n b", positive=True)
    return all_hold([
        identity(form.average(common, values, weight), direct, domain,
                 "(140): the common factor leaves the average", seed=run.seed),
        identity(
            mean - form.dropped(mean, share), (1 - share) * (mean - 1), domain,
            "dropping a record with probability 1 - s lowers the average by (1 - s)(mean - 1)",
            seed=run.seed,
        ),
        identity(lambda: b / n, lambda: (n - 1 - (n - 1 - b)) / n, domain,
                 "C(n-1, b-1)/C(n, b) = b/n", seed=run.seed),
    ])  # fmt: skip


@check(
    "thm-4.2", "transcribed", "balls at 200 bits, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "factor 1/(alpha-1) lost": lambda p, ctx: BOUND.epsilon(p, ctx) * p.alpha_minus_one,
        "K for K - 1": lambda p, ctx: BOUND.epsilon(replace(p, epochs=p.epochs + 1), ctx),
        "one batch too many in the average": lambda p, ctx: BOUND.epsilon(
            replace(p, batches=p.batches + 1), ctx
        ),
        "alpha for alpha - 1": lambda p, ctx: BOUND.epsilon(
            replace(p, alpha_minus_one=p.alpha), ctx
        ),
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals equation (5) with its average written out."""
    return same_formula(BOUND, form, run, what="equation (5) against the library's formula")
