"""Every upper bound of the registry against exact laws, at the statement that it belongs to.

Bounds are found, not listed: one of the paper's is checked as the printed form of its statement,
any other as a reading of the statement that quotes it or that speaks of the same scheme, so that
it never decides a verdict. Estimates are left out, which are not bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from bounds.bound import Bound, registry
from bounds.setting import Setting
from verify.methods.truth import TRUTHS, Claim, at_designed_settings, at_random, everywhere
from verify.registry import inventory
from verify.statement import Finding, Run, check

# Where a bound that is not in the inventory is quoted; else the statement on its scheme.
QUOTED = {
    "feldman_2018_one_epoch": "txt-d.4-feldman-23",
    "feldman_2018_epochs": "txt-d.4-feldman-35",
    "fixed_order_composition": "txt-0-linear",
    "sampled_gaussian": "txt-e.1-per-iteration",
}
BY_SCHEME = {
    "fixed order": "thm-3.3",
    "full batch": "thm-d.6",
    "shuffle once": "thm-4.2",
    "without replacement": "thm-4.3",
    "Poisson": "txt-e.1-per-iteration",
    "one update": "txt-4.1-one-step",
}
# Bounds of the inventory that are not what their statement prints.
READINGS = {
    "logistic_regression": "on quadratics, where its value is Theorem 4.2's",
    "balle_2019_one_epoch": "with L = eta Sg/2, as Section D.6 reads it",
    "one_update": "one update from equal parameters",
}
# Bounds that other checks face: Footnote 2 and Appendix C refute the quoted one by its witness.
ELSEWHERE = {"ryffel_2022": "fn-2"}


def _last(setting: Setting) -> bool:
    return setting.place == setting.batches - 1


def _first(setting: Setting) -> bool:
    return setting.place == 0


def _remainder(setting: Setting) -> bool:
    return not setting.divides


# Statements that print a bound for some settings only: statement, bound, settings.
RESTRICTED = (
    ("txt-d.6-first-batch", "balle_2019_composed", _first),
    ("txt-d.6-last-batch", "balle_2019_composed", _last),
    ("fn-3", "shuffle_partition", _remainder),
    ("txt-4.1-one-step", "one_update", everywhere),
)
# What the bounds of a statement may be divided by before they fall below the truth at a corner,
# rounded up; the others are attained.
MARGINS = {"thm-2.1": "1.574", "thm-d.7": "1.574", "fn-3": "1.121"}
ATTAINED = "1.00001"


def proved() -> dict[str, Bound]:
    """The upper bounds of Renyi divergence for schemes whose law is known."""
    return {
        name: bound for name, bound in registry().items()
        if bound.quantity == "renyi-divergence" and bound.direction == "upper"
        and bound.scheme in TRUTHS and name not in ELSEWHERE
    }  # fmt: skip


def home(bound: Bound) -> str:
    """The statement at which a bound is checked."""
    if bound.statement in inventory():
        return bound.statement
    return QUOTED.get(bound.name, BY_SCHEME[bound.scheme])


def claims() -> dict[str, dict[str, Claim]]:
    """What is checked at each statement: the printed form, and readings by name."""
    found: dict[str, dict[str, Claim]] = {}
    for statement, name, where in RESTRICTED:
        found[statement] = {"printed": Claim.of(registry()[name], where)}
    for name, bound in proved().items():
        about = bound.source.paper + ", " + bound.source.number
        if bound.statement in inventory():
            about = READINGS.get(name, "printed")
        if about == "printed" and "printed" in found.get(home(bound), {}):
            about = "for every batch"
        found.setdefault(home(bound), {})[about] = Claim.of(bound)
    return found


def mutants(statement: str, about: str, claim: Claim) -> dict[str, Claim]:
    """Claims that a check at corners has to reject."""
    margin = Fraction(MARGINS.get(statement, ATTAINED))
    made = {
        f"divided by {float(margin)}": claim.but(lambda p, ctx, e: e(p, ctx) / ctx.number(margin)),
        "order lost": claim.but(lambda p, ctx, e: e(p, ctx) / p.alpha),
        "alpha - 1 for alpha": claim.but(
            lambda p, ctx, e: e(p, ctx) * p.alpha_minus_one / p.alpha
        ),
    }  # fmt: skip
    if "epochs" in claim.labels:
        made["K - 1 for K"] = claim.but(lambda p, ctx, e: e(_shorter(p), ctx))
    if "position" in claim.labels and claim.where is everywhere:
        made["batches counted from the other end"] = claim.but(
            lambda p, ctx, e: e(_mirrored(p), ctx)
        )
    return {f"{about}: {title}": mutant for title, mutant in made.items()}


def _shorter(p: Any) -> Any:
    return replace(p, epochs=p.epochs - 1, steps=p.steps - p.batches)


def _mirrored(p: Any) -> Any:
    return replace(p, position=p.batches - 1 - p.position)


def above_the_truth_at_corners(form: Claim, run: Run) -> Finding:
    """Never below the exact divergence, in both directions, at designed settings."""
    return at_designed_settings(form, run)


def above_the_truth_at_random(form: Claim, run: Run) -> Finding:
    """Never below the exact divergence, in both directions, at draws of Hypothesis."""
    return at_random(form, run)


def _attach(function: Callable[[Claim, Run], Finding], obligation: str, method: str) -> None:
    for statement, forms in claims().items():
        readings = {about: claim for about, claim in forms.items() if about != "printed"}
        wrong: dict[str, Claim] = {}
        for about, claim in forms.items():
            wrong |= mutants(statement, about, claim)
        if function is above_the_truth_at_random:
            # Shrinking takes its time, and corners see the rest.
            title = next(title for title in wrong if title.endswith("order lost"))
            wrong = {title: wrong[title]}
        check(statement, obligation, method, form=forms.get("printed"), readings=readings,
              mutants=wrong)(function)  # fmt: skip


_attach(above_the_truth_at_corners, "valid", "exact laws of quadratics at corners, enclosed")
_attach(above_the_truth_at_random, "valid", "exact laws of quadratics, enclosed, Hypothesis")
