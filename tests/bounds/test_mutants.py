"""Wrong formulas that the golden values and the survey must reject, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from bounds.arith.ball import precision
from bounds.bound import Bound, Parameters, find, registry
from bounds.paper import first_epoch, fixed_order
from tests.bounds.points import draws
from tests.bounds.test_conformance import survey
from tests.bounds.test_golden import PUBLISHED, misses_ball, misses_float, settings_of

Formula = Callable[[Parameters, Any], Any]
Change = Callable[[Parameters, Any], Parameters]


def scaled_rate(p: Parameters, by: Fraction) -> Parameters:
    """The parameters with A changed, in the rounded and in the exact copy."""
    assert p.rate is not None
    noise = p.given.sigma2 / by
    given = replace(p.given, sigma2=noise)
    return replace(p, given=given, rate=p.rate * by.numerator / by.denominator)


def rounded_up(p: Parameters, ctx: Any) -> Parameters:
    """n/b rounded up in place of down."""
    batches = -(-p.n // p.b)
    return replace(p, batches=batches, half=batches // 2, steps=p.epochs * batches)


def whole_data(p: Parameters, ctx: Any) -> Parameters:
    """n in place of b where a mean gradient is formed."""
    return scaled_rate(p, Fraction(p.b**2, p.n**2))


def lost_square(p: Parameters, ctx: Any) -> Parameters:
    """(1 - eta lambda) in place of its square, everywhere."""
    lost = p.given.eta_lambda / 2
    given = replace(p.given, lambda_=p.given.lambda_ / 2)
    return replace(p, given=given, contraction=ctx.complement(lost), eta_lambda=ctx.number(lost))


# Mistakes in what a formula is given, and the parameters that it must read for them to matter.
MISTAKES: dict[str, tuple[set[str], Change]] = {
    "K + 1 for K": (
        {"epochs", "steps"},
        lambda p, ctx: replace(p, epochs=p.epochs + 1, steps=p.steps + p.batches),
    ),
    "K - 1 for K": (
        {"epochs", "steps"},
        lambda p, ctx: replace(p, epochs=p.epochs - 1, steps=p.steps - p.batches),
    ),
    "updates for epochs": ({"epochs"}, lambda p, ctx: replace(p, epochs=p.steps)),
    "epochs for updates": ({"steps"}, lambda p, ctx: replace(p, steps=p.epochs)),
    "ceil(n/2b) for floor": ({"half"}, lambda p, ctx: replace(p, half=p.batches - p.half)),
    "ceil(n/b) for floor": ({"batches", "steps"}, rounded_up),
    "position from 1": ({"position"}, lambda p, ctx: replace(p, position=p.position - 1)),
    "last batch always": ({"position"}, lambda p, ctx: replace(p, position=p.batches - 1)),
    "factor 2": ({"rate"}, lambda p, ctx: scaled_rate(p, Fraction(2))),
    "factor 4": ({"rate"}, lambda p, ctx: scaled_rate(p, Fraction(1, 4))),
    "n for b": ({"rate"}, whole_data),
    "sigma for sigma^2": (
        {"rate"}, lambda p, ctx: scaled_rate(p, Fraction(math.sqrt(p.given.sigma2))),
    ),
    "alpha lost": (
        {"alpha"},
        lambda p, ctx: replace(p, alpha=ctx.number(1), order=Fraction(2)),
    ),
    "alpha for alpha - 1": (
        {"alpha_minus_one"}, lambda p, ctx: replace(p, alpha_minus_one=p.alpha),
    ),
    "c for c^2": ({"contraction", "eta_lambda"}, lost_square),
}  # fmt: skip


# Where a change has no effect on a formula that reads the parameter: with b = n an epoch is one
# update and n is b; where K = 1 and lambda > 0 there is no golden value with a remainder of n/b;
# the enclosure of the sampled Gaussian forms alpha - 1 from alpha.
HARMLESS: set[tuple[str, str]] = {
    ("full_batch", "updates for epochs"),
    ("chourasia_2021", "updates for epochs"),
    ("bok_2024_full_batch", "updates for epochs"),
    ("full_batch", "n for b"),
    ("chourasia_2021", "n for b"),
    ("bok_2024_full_batch", "n for b"),
    ("sampled_gaussian", "alpha for alpha - 1"),
    ("first_epoch", "ceil(n/b) for floor"),
    ("balle_2019_one_epoch", "ceil(n/b) for floor"),
}


class Watch:
    """Parameters that note which of them a formula reads."""

    def __init__(self, p: Parameters) -> None:
        self.p, self.read = p, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self.p, name)


@cache
def reads(name: str) -> frozenset[str]:
    """The parameters that a formula reads at any of a few settings."""
    found: set[str] = set()
    bound = find(name)

    def watched(p: Parameters, ctx: Any) -> Any:
        watch: Any = Watch(p)
        value = bound.epsilon(watch, ctx)
        found.update(watch.read)
        return value

    for setting, _, _ in short_cases(name):
        replace(bound, epsilon=watched).enclose(setting, 20)
    return frozenset(found)


def short_cases(name: str) -> Iterator[tuple[Any, Any, str]]:
    """Golden cases that cost little, with a remainder of n/b and odd numbers of batches."""
    cases = [case for case in settings_of(name) if case[0].batches <= 30 and case[0].steps <= 1500]
    figures, awkward = (
        [case for case in cases if ("figure" in case[2]) == kind] for kind in (True, False)
    )
    yield from (*figures[:4], *awkward)


def golden_rejects(bound: Bound, formula: Formula) -> bool:
    """Whether some short golden case refuses the formula, in balls and, by itself, in doubles."""
    wrong = replace(bound, epsilon=formula)

    def refuses(misses: Callable[[Bound, Any, Any], str], setting: Any, value: Any) -> bool:
        try:
            return misses(wrong, setting, value) != ""
        except (ZeroDivisionError, RuntimeWarning):  # such as a series over no epochs
            return True

    return all(
        any(refuses(misses, setting, value) for setting, value, _ in short_cases(bound.name))
        for misses in (misses_ball, misses_float)
    )


def mistaken(bound: Bound, change: Change) -> Formula:
    """The formula, given changed parameters."""
    return lambda p, ctx: bound.epsilon(change(p, ctx), ctx)


@pytest.mark.parametrize("name", PUBLISHED)
def test_golden_values_reject_every_mistake_that_matters(name: str) -> None:
    bound = find(name)
    read = reads(name)
    killed = 0
    with precision(400):
        assert not golden_rejects(bound, bound.epsilon)
        for mistake, (needed, change) in MISTAKES.items():
            if needed & read and (name, mistake) not in HARMLESS:
                assert golden_rejects(bound, mistaken(bound, change)), mistake
                killed += 1
    assert killed >= 3


def test_every_mistake_is_rejected_for_some_bound() -> None:
    for mistake, (needed, _) in MISTAKES.items():
        concerned = [
            name for name in PUBLISHED if needed & reads(name) and (name, mistake) not in HARMLESS
        ]
        assert concerned, mistake


def series_from_one(p: Parameters, ctx: Any) -> Any:
    """The geometric series of (3) begun at its second term."""
    c, rest = p.contraction, p.batches - p.half
    last = first_epoch.share(p, ctx, p.batches - p.position)
    return p.alpha * (fixed_order.earlier_epochs(p, ctx) * ctx.power(c, 2 * rest) + last)


def halves_swapped(p: Parameters, ctx: Any) -> Any:
    """floor(n/2b) where n/b - floor(n/2b) belongs."""
    c = p.contraction
    series = ctx.one_minus_power(c, 2 * (p.epochs - 1) * p.half)
    series = series / ctx.one_minus_power(c, 2 * p.half)
    last = first_epoch.share(p, ctx, p.batches - p.position)
    return p.alpha * (first_epoch.share(p, ctx, p.half) * series + last)


def mean_of_first_powers(p: Parameters, ctx: Any) -> Any:
    """exp(eps) averaged in place of exp((alpha - 1) eps)."""
    mean = ctx.log_mean_exp(p.alpha * p.rate, lambda j: first_epoch.profile(p, ctx, j), p.batches)
    return p.alpha * fixed_order.earlier_epochs(p, ctx) + mean


def mean_undivided(p: Parameters, ctx: Any) -> Any:
    """The logarithm not divided by alpha - 1."""
    scale = p.alpha_minus_one * p.alpha * p.rate
    mean = ctx.log_mean_exp(scale, lambda j: first_epoch.profile(p, ctx, j), p.batches)
    return p.alpha * fixed_order.earlier_epochs(p, ctx) + mean


def jensen_wrong_way(p: Parameters, ctx: Any) -> Any:
    """The mean of the divergences, which is below the bound."""
    mean = ctx.total(lambda j: first_epoch.share(p, ctx, j), 1, p.batches) / p.batches
    return p.alpha * (fixed_order.earlier_epochs(p, ctx) + mean)


def one_batch_short(p: Parameters, ctx: Any) -> Any:
    """The average over all batches but the first."""
    scale = p.alpha_minus_one * p.alpha * p.rate
    mean = ctx.log_mean_exp(scale, lambda j: first_epoch.profile(p, ctx, j), p.batches - 1)
    return p.alpha * fixed_order.earlier_epochs(p, ctx) + mean / p.alpha_minus_one


def series_from_zero(p: Parameters, ctx: Any) -> Any:
    """The sum of Theorem D.6 from k = 0 to K - 1."""
    return 2 * p.alpha * p.rate * ctx.geometric(ctx.complement(p.given.eta_lambda / 2), p.epochs)


def rate_unhalved(p: Parameters, ctx: Any) -> Any:
    """exp(-eta lambda K) for exp(-eta lambda K/2)."""
    return p.alpha * p.rate * 4 * -ctx.expm1(-(p.eta_lambda * p.epochs)) / p.eta_lambda


def last_term_lost(p: Parameters, ctx: Any) -> Any:
    """The epochs but the last only."""
    return p.alpha * fixed_order.earlier_epochs(p, ctx)


def power_off_by_one(p: Parameters, ctx: Any) -> Any:
    """q^j in place of q^(j-1)."""
    j = p.batches - p.position
    return p.alpha * first_epoch.share(p, ctx, j) * ctx.power(p.contraction, 2)


WRONG_FORMULAS: list[tuple[str, Formula]] = [
    ("fixed_order", series_from_one),
    ("fixed_order", halves_swapped),
    ("fixed_order", last_term_lost),
    ("first_epoch", power_off_by_one),
    ("shuffle_partition", mean_of_first_powers),
    ("shuffle_partition", mean_undivided),
    ("shuffle_partition", jensen_wrong_way),
    ("shuffle_partition", one_batch_short),
    ("logistic_regression", jensen_wrong_way),
    ("full_batch", series_from_zero),
    ("naive_extension", rate_unhalved),
    ("chourasia_2021", rate_unhalved),
]


@pytest.mark.parametrize(
    ("name", "formula"), WRONG_FORMULAS, ids=[f"{n}-{f.__name__}" for n, f in WRONG_FORMULAS]
)
def test_golden_values_reject_a_wrong_formula(name: str, formula: Formula) -> None:
    with precision(400):
        assert golden_rejects(find(name), formula)


@pytest.mark.parametrize("name", registry())
def test_the_survey_rejects_a_double_that_is_off(name: str) -> None:
    """One part in 10^11 too high, or in 10^12 too low, in float64 alone."""
    bound = find(name)
    for error, said in ((1e-11, "far"), (-1e-12, "below" if bound.direction == "upper" else "far")):
        if bound.direction == "lower" and error < 0:
            continue

        def off(p: Parameters, ctx: Any, error: float = error) -> Any:
            value = bound.epsilon(p, ctx)
            return value * (1 + error) if ctx.name == "float64" else value

        if bound.direction == "estimate" and said == "far" and error < 0:
            continue
        found = survey(replace(bound, epsilon=off), draws(4, seed=6))
        assert any(said in fault or "above" in fault for fault in found.faults), said
