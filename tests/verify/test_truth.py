"""Every proved upper bound of the registry, wherever it is from, against exact divergences."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.bound import registry
from bounds.setting import AssumptionViolated, Setting
from verify.comparison import SCHEMES
from verify.methods.properties import small_settings
from verify.methods.statistical import FAMILY
from verify.methods.truth import above_the_truth, designed
from verify.registry import registry as statements
from verify.statement import Run

PROVED = [
    bound for bound in registry().values()
    if bound.quantity == "renyi-divergence" and bound.direction == "upper"
    and bound.scheme in {**SCHEMES, "Poisson": None}
]  # fmt: skip
WHERE = {**SCHEMES, "Poisson": ("poisson", 0)}
FALSE = {"ryffel_2022"}


def applicable(bound, run):
    labels = {assumption.label for assumption in bound.assumptions}
    for setting in designed(run, full_batch="full-batch" in labels):
        if "one-epoch" in labels:
            setting = setting.replace(epochs=1)
        try:
            bound.check(setting)
        except AssumptionViolated:
            continue
        yield setting


def against_truth(bound, points):
    scheme, centre = WHERE[bound.scheme]
    return above_the_truth(
        bound, bound.epsilon, scheme, points, centre=centre, what=bound.name, domain="designed"
    )


@pytest.mark.parametrize("bound", PROVED, ids=lambda bound: bound.name)
def test_no_bound_is_below_the_truth(bound):
    found = against_truth(bound, applicable(bound, Run("quick", 0)))
    assert found.outcome == ("fails" if bound.name in FALSE else "holds"), found.detail


@pytest.mark.slow
@pytest.mark.parametrize("bound", PROVED, ids=lambda bound: bound.name)
def test_no_bound_is_below_the_truth_at_any_designed_setting(bound):
    found = against_truth(bound, applicable(bound, Run("full", 0)))
    assert found.outcome == ("fails" if bound.name in FALSE else "holds"), found.detail


@settings(max_examples=25, deadline=None, derandomize=True)
@given(small_settings(most_batches=3, most_epochs=3), st.sampled_from(PROVED))
def test_no_bound_is_below_the_truth_at_random(setting, bound):
    try:
        bound.check(setting)
    except AssumptionViolated:
        return
    if setting.alpha > 40 or bound.name in FALSE:
        return
    assert against_truth(bound, [setting]).outcome == "holds"


def test_half_a_bound_is_found_out():
    point = Setting.of(n=2, b=1, epochs=1, eta="1/2", lambda_=1, beta=1, sensitivity=1, sigma2=1,
                       alpha=2)  # fmt: skip
    for bound in PROVED:
        try:
            bound.check(point)
        except AssumptionViolated:
            continue
        scheme, centre = WHERE[bound.scheme]
        low = above_the_truth(
            bound, lambda p, ctx, b=bound: b.epsilon(p, ctx) * ctx.number(Fraction(1, 10)), scheme,
            [point], centre=centre, what=bound.name, domain="one point",
        )  # fmt: skip
        assert low.outcome == "fails", bound.name


def test_statistical_checks_share_one_budget():
    used = sum(
        2 * len(made.forms)
        for checks in statements().checks.values()
        for made in checks
        if "simulation" in made.method
    )
    assert 0 < used <= FAMILY
