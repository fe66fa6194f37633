"""Bounds against exact divergences: what is asked, what is answered, and what is never a pass."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.bound import find
from bounds.setting import Setting
from verify.methods.quadratic import exact_ratio
from verify.methods.truth import (
    DESIGNED,
    Case,
    Claim,
    Tally,
    Truth,
    above_the_truth,
    at_designed_settings,
    at_random,
    cases,
    covering,
    designed,
)
from verify.statement import Run
from verify.statements.exact_laws import proved

POINT = Setting.of(n=2, b=1, epochs=1, eta="1/2", lambda_=1, beta=1, sensitivity=1, sigma2=1,
                   alpha=2)  # fmt: skip
QUICK = Run("quick", 0)
BOUNDS = [pytest.param(bound, id=name) for name, bound in proved().items()]


@pytest.mark.slow
@pytest.mark.parametrize("bound", BOUNDS)
def test_no_bound_is_below_the_truth_at_any_corner(bound):
    found = at_designed_settings(Claim.of(bound), Run("full", 0))
    assert found.outcome == "holds", found.detail


@pytest.mark.parametrize(
    "bound", [find(name) for name in ("thm-3.3", "thm-4.3", "thm-d.7", "sampled_gaussian")],
    ids=lambda bound: bound.name,
)  # fmt: skip
def test_designed_settings_hold_every_pair_of_corners_that_the_bound_allows(bound):
    claim = Claim.of(bound)
    few, all_of_them = designed(claim, QUICK), designed(claim, Run("full", 0))

    def pairs(points):
        found = set()
        for s in points:
            row = (("shape", s.n, s.b), ("K", s.epochs), ("loss", s.lambda_, s.beta, s.eta),
                   ("alpha", s.alpha), ("rate", s.rate), ("place", s.position))  # fmt: skip
            found |= set(combinations(row, 2))
        return found

    assert pairs(few) == pairs(all_of_them)
    assert len(few) < len(all_of_them)


def test_designed_settings_have_the_corners():
    fixed = designed(Claim.of(find("fixed_order")), QUICK)
    assert {s.batches for s in fixed} == {2, 3, 4}
    assert {s.divides for s in fixed} == {True, False}
    assert {s.epochs for s in fixed} == {1, 2, 3, 10}
    assert {1.1, 2.0, 10.0, 50.0} <= {float(s.alpha) for s in fixed}
    assert {s.place == 0 for s in fixed} == {True, False}
    assert min(s.eta_lambda for s in fixed) == Fraction(1, 10**6)
    assert max(s.eta_lambda for s in fixed) == 1 - Fraction(1, 10**6)
    closed = designed(Claim.of(find("bok_2024_cyclic")), QUICK)
    assert any(s.eta * (s.lambda_ + s.beta) == 2 for s in closed)
    linear = designed(Claim.of(find("thm-d.4")), QUICK)
    assert any(s.lambda_ == 0 for s in linear)
    assert any(s.n == s.b for s in linear)
    assert all(s.n == s.b for s in designed(Claim.of(find("thm-d.6")), QUICK))
    assert {s.epochs for s in designed(Claim.of(find("eq-099")), QUICK)} == {1}


@given(st.integers(1, 3), st.lists(st.integers(1, 3), min_size=3, max_size=4), st.randoms())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_covering_loses_no_combination(together, sizes, random):
    rows = [row for row in product(*(range(size) for size in sizes)) if random.random() < 0.8]
    chosen = covering(rows, together)

    def held(some):
        return {c for row in some for c in combinations(enumerate(row), together)}

    assert set(chosen) <= set(rows)
    assert held(chosen) == held(rows)


@given(cases(Claim.of(find("fixed_order"))))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_draws_satisfy_what_the_exact_law_needs(case):
    s = case.setting
    assert s.n // s.b >= 2
    assert 0 <= s.place < s.batches
    assert all(s.lambda_ <= h <= s.beta for h in case.curvatures)
    assert len(case.curvatures) in (0, s.batches)


def test_the_tightest_ratio_is_that_of_the_exact_value_in_fractions():
    claim = Claim.of(find("thm-3.3"))
    points = [s for s in designed(claim, QUICK) if exact_ratio(s)]
    found = above_the_truth(claim, points, DESIGNED)
    ratios = [claim.bound.enclose(s) / flint.arb(flint.fmpq(
        (s.alpha * exact_ratio(s)).numerator, (s.alpha * exact_ratio(s)).denominator))
        for s in points]  # fmt: skip
    least = min(float(r.mid()) for r in ratios)
    assert float(Fraction(found.certificate["tightest"])) == pytest.approx(least, rel=1e-12)
    assert found.certificate["count"] == 2 * len(points)


def test_a_bound_below_the_truth_is_refuted_by_a_point():
    claim = Claim.of(find("thm-3.3")).but(lambda p, ctx, e: e(p, ctx) * ctx.number("0.999999"))
    found = above_the_truth(claim, [POINT.replace(alpha=3, position=0)], "one point")
    assert (found.outcome, found.strength) == ("fails", "point")
    certificate = found.certificate
    truth = 3 * exact_ratio(POINT.replace(position=0))
    low, high = (Fraction(end) for end in certificate["left"])
    assert low <= truth <= high
    assert Fraction(certificate["right"][1]) < low
    assert certificate["relation"] == "<="
    assert certificate["parameters"]["alpha"] == "3"


def test_a_counterexample_that_is_drawn_is_shrunk_and_certified():
    claim = Claim.of(find("thm-3.3")).but(lambda p, ctx, e: e(p, ctx) / p.alpha)
    found = at_random(claim, QUICK)
    assert (found.outcome, found.strength) == ("fails", "point")
    parameters = found.certificate["parameters"]
    assert parameters["epochs"] == "1"
    assert parameters["b"] == "1"
    assert Fraction(found.certificate["right"][1]) < Fraction(found.certificate["left"][0])


def test_a_draw_with_curvatures_of_its_own_is_compared():
    case = Case(POINT.replace(beta=2, position=0), (Fraction(1), Fraction(2)))
    tally = Tally(Claim.of(find("optimal_fixed_order")), "one case")
    assert tally.face(case) is None
    # The second batch, of factor 1 - 2/2 = 0, forgets the first: the exact divergence is 0.
    assert tally.tightest[0] == float("inf")
    assert tally.found("point", "1 case").outcome == "undecided"
    assert "batch curvatures 1 2" in str(case)


def test_what_cannot_be_told_apart_is_not_a_pass():
    truth = float(2 * exact_ratio(POINT))
    wide = replace(Claim.of(find("thm-3.3")), epsilon=lambda p, ctx: flint.arb(truth, truth / 2))
    empty = replace(wide, epsilon=lambda p, ctx: flint.arb("nan"))
    for claim in (wide, empty):
        assert above_the_truth(claim, [POINT], "one point").outcome == "undecided"
    assert at_random(empty, QUICK).outcome == "undecided"


def test_a_point_below_counts_for_more_than_one_that_is_unclear():
    def form(p, ctx):
        return flint.arb("nan") if p.epochs == 1 else ctx.number(0)

    claim = replace(Claim.of(find("thm-3.3")), epsilon=form)
    assert above_the_truth(claim, [POINT, POINT.replace(epochs=2)], "two").outcome == "fails"


def test_no_setting_is_not_a_pass():
    claim = Claim.of(find("thm-3.3"), where=lambda s: False)
    assert at_designed_settings(claim, QUICK).outcome == "undecided"


def test_truths_beyond_reach_are_left_out():
    claim = replace(
        Claim.of(find("thm-4.3")), truths=(Truth("without-replacement", "far", ("forward",), 4),)
    )
    assert claim.applies(POINT.replace(epochs=2))
    assert not claim.applies(POINT.replace(epochs=3))


def test_half_a_bound_is_found_out_in_each_direction():
    for direction in ("forward", "backward"):
        truths = (Truth("shuffle-once", "3", (direction,)),)
        claim = replace(Claim.of(find("thm-4.2")), truths=truths)
        assert above_the_truth(claim, [POINT], "one point").outcome == "holds"
        low = claim.but(lambda p, ctx, e: e(p, ctx) / 10)
        found = above_the_truth(low, [POINT], "one point")
        assert found.outcome == "fails"
        assert f", {direction}, of" in found.detail
