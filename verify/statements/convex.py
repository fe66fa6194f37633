"""Theorem D.4: privacy dynamics for convex smooth losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from bounds.arith.exact import Exact
from bounds.bound import find
from bounds.setting import Setting, show
from verify.methods.properties import fractions, small_settings, try_to_break
from verify.methods.symbolic import all_hold, identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "thm-d.4",
        printed="fixed batches, convex beta-smooth losses, eta < 2/beta: eps <= (alpha eta Sg^2/"
        "(4 sigma^2 b^2)) (b/n) (K - 1) + (alpha eta Sg^2/(4 sigma^2 b^2))/(n/b - j0) for a "
        "record of batch j0",
        rests_on=("lem-3.2", "lem-d.2", "txt-d.2-point-start", "txt-d.5-shift"),
        reading="any start, since a common start is conditioned on; every n/b >= 1; the subscript "
        "of eps in (80) means nothing. In (87) c is c_k^j and L = 1. Cited: adaptive composition "
        "of Renyi divergences over the epochs (Mironov 2017, Proposition 1)",
    ),
)

BOUND = find("thm-d.4")
ALL = "eta < 2/beta, every n/b >= 1, K >= 1, alpha > 1 and batch"


@dataclass(frozen=True)
class Chain:
    """The steps of the proof, over A = eta Sg^2/(4 sigma^2 b^2).

    lsi(noise, t): c after t = k n/b + j updates, (84). factor(t): what (86) multiplies by.
    share(j): eps_0^j/(alpha A), (90). total(K, l, j0): the bound over alpha A, l = n/b.
    """

    lsi: Callable[[Any, Any], Any]
    factor: Callable[[Any], Any]
    share: Callable[[Any], Any]
    total: Callable[[Any, Any, Any], Any]


CHAIN = Chain(
    lsi=lambda noise, t: 1 / (noise * t),
    factor=lambda t: t / (t + 1),
    share=lambda j: 1 / j,
    total=lambda epochs, size, place: (epochs - 1) / size + 1 / (size - place),
)


@check(
    "thm-d.4", "derived", "symbolic induction",
    form=CHAIN,
    mutants={
        "noise eta sigma^2": replace(CHAIN, lsi=lambda noise, t: 2 / (noise * t)),
        "factor of the next update": replace(CHAIN, factor=lambda t: (t + 1) / (t + 2)),
        "share 1/(j + 1)": replace(CHAIN, share=lambda j: 1 / (j + 1)),
        "share squared": replace(CHAIN, share=lambda j: 1 / j**2),
        "K for K - 1": replace(CHAIN, total=lambda k, size, j: k / size + 1 / (size - j)),
        "batch counted from the other end": replace(
            CHAIN, total=lambda k, size, j: (k - 1) / size + 1 / (j + 1)
        ),
        "batches counted from 1": replace(
            CHAIN, total=lambda k, size, j: (k - 1) / size + 1 / (size - j + 1)
        ),
    },
)  # fmt: skip
def follows_from_the_recursions(form: Chain, run: Run) -> Finding:
    """(84) to (90) by induction on j, (82) and (83) by induction on K.

    The ratio eps_0^j(alpha)/alpha does not depend on alpha, so the change of order in (86) is
    harmless. Batch j0 after K epochs is batch 0 after K - 1 epochs and n/b - j0 updates, from a
    start that both runs share; each epoch is bounded from its worst start.
    """
    t, j, noise, size, place, epochs = sp.symbols("t j v l j0 K", positive=True)
    return all_hold([
        identity(
            form.factor(t), 1 / (1 + form.lsi(noise, t) * noise), ALL,
            "(86): Lemma 3.2 with L = 1 and (84) multiplies by t/(t+1)", seed=run.seed),
        identity(lambda: form.share(sp.Integer(1)), 1, ALL, "(90) at j = 1", seed=run.seed),
        identity(lambda: form.share(j) * form.factor(j), lambda: form.share(j + 1), ALL,
                 "(89)-(90), step from j to j + 1", seed=run.seed),
        identity(
            lambda: form.total(sp.Integer(1), size, place), lambda: form.share(size - place), ALL,
            "(82) at K = 1", seed=run.seed),
        identity(
            form.total(epochs + 1, size, place) - form.total(epochs, size, place),
            form.share(size), ALL, "(83): another epoch adds eps_0^(n/b)", seed=run.seed),
    ])  # fmt: skip


@check(
    "thm-d.4", "transcribed", "exact rational arithmetic, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "K for K - 1": lambda p, ctx: BOUND.epsilon(replace(p, epochs=p.epochs + 1), ctx),
        "first batch for the last": lambda p, ctx: BOUND.epsilon(
            replace(p, position=p.batches - 1 - p.position), ctx
        ),
        "order lost": lambda p, ctx: BOUND.epsilon(p, ctx) / p.alpha,
        "n for n/b": lambda p, ctx: BOUND.epsilon(replace(p, batches=p.batches * (p.b + 1)), ctx),
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals (80)."""
    return same_formula(BOUND, form, run, what="equation (80) against the library's formula")


@dataclass(frozen=True)
class Slopes:
    """A setting with the factor 1 - eta h of each batch, h its curvature, 0 <= h <= beta."""

    setting: Setting
    factors: tuple[Fraction, ...]


def exact_ratio(case: Slopes) -> Fraction:
    """R_alpha/alpha [-] of the last iterate, the same for every order: one Gaussian each.

    An update multiplies the gap and the standard deviation by its factor, adds the noise, and in
    batch j0 shifts the runs apart by eta Sg/b.
    """
    made = case.setting
    assert made.eta is not None and made.sigma2 is not None
    assert made.sensitivity is not None and made.b is not None
    gap, spread = Fraction(0), Fraction(0)
    for _ in range(made.epochs or 1):
        for index, factor in enumerate(case.factors):
            gap, spread = factor * gap, factor**2 * spread + 2 * made.eta * made.sigma2
            if index == made.place:
                gap += made.eta * made.sensitivity / made.b
    return gap**2 / (2 * spread)


@st.composite
def _slopes(draw: Any) -> Slopes:
    made: Any = draw(
        small_settings(full_batch=draw(st.booleans()), most_epochs=5, most_batches=4)
    )  # fmt: skip
    close = draw(st.one_of(st.just(1 - Fraction(1, 10**6)), fractions("1/1000", "999/1000")))
    made = replace(made, lambda_=Fraction(0), eta=2 * close / made.beta)
    place = st.one_of(
        st.just(Fraction(1)), st.just(1 - made.eta * made.beta), st.just(Fraction(0)),
        fractions("0", "1"),
    )  # fmt: skip
    factors = [draw(place) for _ in range(made.batches)]
    least = 1 - made.eta * made.beta
    return Slopes(made, tuple(max(factor, least) for factor in factors))


def _ratio(setting: Setting, epsilon: Callable[..., Any]) -> Fraction:
    value: Fraction = replace(BOUND, epsilon=epsilon).in_system(setting, Exact)
    return value / (setting.alpha or 1)


@check(
    "thm-d.4", "valid", "exact laws of linear and quadratic losses, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "half of the bound": lambda p, ctx: BOUND.epsilon(p, ctx) / 2,
        "K - 1 for K": lambda p, ctx: BOUND.epsilon(replace(p, epochs=p.epochs - 1), ctx),
        "last term of the first batch": lambda p, ctx: BOUND.epsilon(replace(p, position=0), ctx),
        "noise standard deviation for variance": lambda p, ctx: BOUND.epsilon(
            replace(p, rate=p.rate / 16), ctx
        ),
    },
)  # fmt: skip
def above_the_truth(form: Callable[..., Any], run: Run) -> Finding:
    """Never below the exact divergence, with a curvature in [0, beta] of its own for each batch."""

    def certify(case: Slopes) -> Finding:
        truth, claimed = exact_ratio(case), _ratio(case.setting, form)
        return Finding(
            "fails", "point", "one exact run",
            f"exact divergence over alpha {truth} exceeds {claimed} at "
            f"{case.setting.as_strings()}",
            certificate={
                "kind": "point",
                "parameters": {
                    **case.setting.as_strings(), "factors": " ".join(map(show, case.factors)),
                },
                "left": [show(truth)] * 2, "right": [show(claimed)] * 2, "relation": "<=",
            },
        )  # fmt: skip

    return try_to_break(
        _slopes(), lambda case: exact_ratio(case) <= _ratio(case.setting, form), run,
        domain="random linear and quadratic losses, a curvature per batch, exact",
        what="(80) above the exact divergence", certify=certify,
    )  # fmt: skip


@check(
    "thm-d.4", "tight", "exact laws, symbolic",
    form=CHAIN,
    mutants={
        "bound doubled": replace(CHAIN, total=lambda k, size, j: 2 * CHAIN.total(k, size, j)),
        "K for K - 1": replace(CHAIN, total=lambda k, size, j: k / size + 1 / (size - j)),
    },
)  # fmt: skip
def attained_in_two_families(form: Chain, run: Run) -> Finding:
    """First batch, any K, linear losses: K shifts of s against the noise of K n/b updates.

    One epoch, any batch j0: curvature 1/eta in that batch, linear losses in the others; what came
    before is forgotten and one shift stands against the noise of n/b - j0 updates.
    """
    size, place, epochs, shift, noise = sp.symbols("l j0 K s v", positive=True)
    rate = shift**2 / (2 * noise)
    return all_hold([
        identity(
            (epochs * shift) ** 2 / (2 * epochs * size * noise),
            rate * form.total(epochs, size, sp.Integer(0)),
            "linear losses, batch 0", "equality for batch 0 and every K", whole=False,
            seed=run.seed),
        identity(
            shift**2 / (2 * (size - place) * noise), rate * form.total(sp.Integer(1), size, place),
            "one epoch", "equality for K = 1 and every batch", whole=False, seed=run.seed),
    ])  # fmt: skip
