"""Estimators: coverage against exact answers, refusal of vacuous intervals, and experiments."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from bounds.setting import AssumptionViolated, InvalidInput, Setting
from empirical import estimators, experiments
from empirical.divergence import exact_divergence, renyi_gaussian, renyi_mixture_float
from empirical.estimators import Estimate, Question, events, gaussian_moments, variational
from empirical.estimators._common import Halves, Mean, binomial_lower, binomial_upper
from empirical.estimators.tilted_mixture import Envelope
from empirical.experiments import estimate, question_of
from empirical.laws import Mixture, Pattern, PatternLaw, law
from empirical.quadratic import Problem
from empirical.simulate import BLOCK, SIDES, Floats, collect, distribution

ORDERS = ("1.1", "2", "10", "50")
DIVERGENCES = (1e-4, 1e-2, 1.0, 10.0)
SCHEMES = ("fixed-order", "shuffle-once")
CONFIDENCE = "0.9"
# Probability, for every test of coverage by itself, that intervals which keep their promise fail.
LEVEL = 1e-6


def allowed(repetitions: int, error: float = 0.1) -> int:
    """The most misses that intervals of this error show, but for LEVEL."""
    return int(binom.isf(LEVEL, repetitions, error))


# --- coverage ----------------------------------------------------------------------------------


def small(sigma2: Fraction) -> Problem:
    return Problem.of(
        Setting.of(n=2, b=1, epochs=1, eta="0.5", lambda_=1, beta=1, sensitivity=1, sigma2=sigma2),
        centre="0.5",
    )


@dataclass(frozen=True)
class Case:
    """A problem of known divergence: lower <= R <= upper."""

    problem: Problem
    scheme: str
    order: Fraction
    lower: float
    upper: float

    def question(self, paths: int, seed: int = 0, confidence: str = CONFIDENCE) -> Question:
        return question_of(
            self.problem, self.scheme, self.order, paths, confidence=confidence, seed=seed
        )


@cache
def case(scheme: str, order: str, divergence: float) -> Case:
    """The noise is chosen for the divergence wanted; then the divergence is enclosed."""
    alpha = Fraction(order)

    def off(log: float) -> float:
        problem = small(Fraction(repr(math.exp(log))))
        if scheme == "fixed-order":
            return math.log(float(exact_divergence(problem, scheme, alpha).value) / divergence)
        mixtures = law(problem, scheme)
        assert isinstance(mixtures, PatternLaw)
        value = renyi_mixture_float(mixtures.mixture("first"), mixtures.mixture("second"), alpha)
        return math.log(value / divergence)

    sigma2 = Fraction(f"{math.exp(brentq(off, -9, 14, xtol=1e-3)):.6g}")
    enclosed = exact_divergence(small(sigma2), scheme, alpha)
    assert 0.99 < enclosed.value / divergence < 1.01
    return Case(small(sigma2), scheme, alpha, float(enclosed.lower), float(enclosed.upper))


def misses(item: Estimate, lower: float, upper: float) -> bool:
    return (item.lower is not None and item.lower > upper) or (
        item.upper is not None and item.upper < lower
    )


GRID = pytest.mark.parametrize(
    ("scheme", "order", "divergence"),
    [(s, a, r) for s in SCHEMES for a in ORDERS for r in DIVERGENCES],
)
# A few repetitions can only tell a promise that is hardly ever broken.
SAMPLED = pytest.param(4, 2500, "0.9999", id="sampled")
FULL = pytest.param(
    200, 4000, CONFIDENCE, id="full", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]
)


@GRID
@pytest.mark.parametrize(("repetitions", "paths", "confidence"), [SAMPLED, FULL])
def test_intervals_cover_the_exact_divergence(
    scheme: str, order: str, divergence: float, repetitions: int, paths: int, confidence: str
) -> None:
    counts = coverage(case(scheme, order, divergence), repetitions, paths, confidence)
    most = allowed(repetitions, 1 - float(confidence))
    assert most < repetitions / 3
    assert all(missed <= most and beyond <= most for missed, beyond, _ in counts.values()), counts
    assert counts["plug-in"][2] == 0
    assert counts["gaussian-moments"][2] == (repetitions if scheme == "fixed-order" else 0)
    assert counts["tilted-mixture"][2] == repetitions


def coverage(
    at: Case, repetitions: int, paths: int, confidence: str
) -> dict[str, tuple[int, int, int]]:
    """For each estimator: misses of R, misses of what could be attained, usable intervals.

    One-sided limits are far below R, so R alone would hardly test them: they are also below what
    exactly the events or the function that were chosen could show.
    """
    question = at.question(paths, 0, confidence)
    counts = dict.fromkeys(estimators.registry(), (0, 0, 0))
    for seed in range(repetitions):
        first, second = collect(at.problem, at.scheme, paths, 1000 + seed, workers=1)
        for name, (missed, beyond, usable) in counts.items():
            making: Any = estimators.find(name).start(replace(question, seed=seed))
            making.add(first, second)
            found = making.result()
            missed += misses(found, at.lower, at.upper)
            if name in ("events", "variational") and found.lower is not None:
                beyond += found.lower > attainable(at, making)
            counts[name] = missed, beyond, usable + found.usable
    return counts


def attainable(at: Case, making: Any) -> float:
    """The exact value of what the estimator bounds from below."""
    found = law(at.problem, at.scheme)
    assert isinstance(found, PatternLaw)
    mixtures = [found.mixture(side) for side in SIDES]
    alpha = float(at.order)
    if hasattr(making, "events"):
        cells = [
            np.diff(distribution(mixture, making.edges), prepend=0.0, append=1.0)
            for mixture in mixtures
        ]
        return max(
            events.coins(float(cells[0][event].sum()), float(cells[1][event].sum()), alpha)
            for event in making.events
        )
    scale = math.sqrt(float(mixtures[0].components[0][2]))
    means = [float(mean) for mixture in mixtures for _, mean, _ in mixture.components]
    x = np.linspace(min(means) - 12 * scale, max(means) + 12 * scale, 8_001)
    up, down = (np.diff(distribution(mixture, x)) for mixture in mixtures)
    g = making.witness.at((x[1:] + x[:-1]) / 2)
    value = variational.functional(
        float(up @ np.exp((alpha - 1) * g)), float(down @ np.exp(alpha * g)), alpha
    )
    return 1.003 * value + 1e-6  # of the quadrature, where the function jumps


def test_coverage_can_fail() -> None:
    at = case("fixed-order", "10", 1e-2)
    too_sure, plug_in = 0, 0
    for seed in range(60):
        paths = collect(at.problem, at.scheme, 2000, seed, workers=1)
        hasty = question_of(at.problem, at.scheme, at.order, 2000, confidence="0.05")
        too_sure += misses(estimators.apply("gaussian-moments", hasty, [paths]), at.lower, at.upper)
        value = estimators.apply("plug-in", at.question(2000), [paths]).value
        assert value is not None
        plug_in += value > at.upper
    assert too_sure > allowed(60)
    assert plug_in > allowed(60)


@pytest.mark.parametrize(
    ("order", "ratio", "gap"),
    [("1.1", "1.3", "0.4"), ("2", "0.5", "0"), ("2", "1.2", "0.01"), ("10", "1.05", "0.3"),
     ("10", "1", "0"), ("50", "0.9", "0.2")],
)  # fmt: skip
def test_gaussians_of_two_variances_are_covered(order: str, ratio: str, gap: str) -> None:
    alpha, v, m = Fraction(order), Fraction(ratio), Fraction(gap)
    exact = float(renyi_gaussian(m, v, Fraction(0), Fraction(1), alpha))
    question = Question(alpha, 4000, Decimal(CONFIDENCE), gaussian=True)
    missed = two_sided = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        first = float(m) + math.sqrt(v) * generator.standard_normal(4000)
        found = estimators.apply(
            "gaussian-moments", question, [(first, generator.standard_normal(4000))]
        )
        missed += misses(found, exact, exact)
        two_sided += found.upper is not None
    assert missed <= allowed(200)
    assert two_sided or order == "50" or ratio == "1.05" or order == "10"


def test_the_range_of_the_gaussian_divergence_over_a_box() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        alpha = 1 + float(np.exp(generator.uniform(-3, 4)))
        top = alpha / (alpha - 1)
        gap = float(generator.choice([0.0, np.exp(generator.uniform(-8, 2))]))
        ratios = np.linspace(1e-3, 1, 4001)[:-1] * top
        values = np.array([gaussian_moments.renyi(alpha, float(r), gap) for r in ratios])
        least = gaussian_moments.renyi(alpha, gaussian_moments._turning(alpha, gap), gap)
        assert least <= values.min() + 1e-12
        steps = np.sign(np.diff(values))
        assert np.all(np.diff(steps[steps != 0]) >= 0), "falls, then rises"


def test_clopper_and_pearson_keep_their_word_for_every_probability() -> None:
    trials, error = 25, 0.05
    counts = np.arange(trials + 1)
    lower = binomial_lower(counts, trials, error)
    upper = binomial_upper(counts, trials, error)
    for p in np.linspace(0.001, 0.999, 400):
        chance = binom.pmf(counts, trials, p)
        assert chance[lower > p].sum() <= error + 1e-12
        assert chance[upper < p].sum() <= error + 1e-12
    assert lower[0] == 0 and upper[-1] == 1


@pytest.mark.parametrize("p", [1e-3, 0.1, 0.9])
def test_bernstein_limits_cover(p: float) -> None:
    missed = [0, 0]
    for seed in range(400):
        made = Mean()
        made.add((np.random.default_rng(seed).random(300) < p).astype(np.float64))
        missed[0] += made.lower(0.1) > p
        missed[1] += made.upper(0.1) < p
    assert max(missed) <= allowed(400)
    assert (Mean().lower(0.1), Mean().upper(0.1)) == (0.0, 1.0)
    assert math.isnan(Mean().mean) and math.isnan(Mean().variance)


# --- what is no evidence -----------------------------------------------------------------------


QUESTION = Question(Fraction(2), 1000)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(math.nan, None), (None, math.nan), (math.nan, 1.0), (0.0, None), (-1.0, None), (None, None),
     (None, math.inf), (0.0, math.inf), (-math.inf, math.inf), (2.0, 1.0)],
)  # fmt: skip
def test_no_interval_is_undecided(lower: float | None, upper: float | None) -> None:
    found = Estimate.of("x", QUESTION, 1.0, lower, upper, "void if wrong")
    assert not found.usable and found.state == "undecided"
    assert found.lower is None and found.upper is None
    assert found.as_json()["lower"] is None and found.as_json()["upper"] is None
    assert str(found.as_json()["void"]).startswith("undecided: ")


@pytest.mark.parametrize(
    ("lower", "upper", "want"),
    [(-1.0, 2.0, (0.0, 2.0)), (0.0, 0.0, (0.0, 0.0)), (1.0, math.inf, (1.0, None)),
     (None, 3.0, (0.0, 3.0)), (1.0, 2.0, (1.0, 2.0))],
)  # fmt: skip
def test_ends_are_kept_where_they_say_something(
    lower: float | None, upper: float, want: tuple[float, float | None]
) -> None:
    found = Estimate.of("x", QUESTION, math.nan, lower, upper, "void if wrong")
    assert found.usable and found.state == "usable" and found.value is None
    assert found.lower == pytest.approx(want[0], abs=1e-10)
    assert found.lower is not None and found.lower <= want[0]
    if want[1] is None:
        assert found.upper is None
    else:
        assert found.upper is not None and found.upper > want[1]


def test_the_plug_in_is_silently_low_and_never_evidence() -> None:
    at = case("fixed-order", "50", 10.0)
    for paths in (2000, 40_000):
        found = estimators.apply(
            "plug-in", at.question(paths), [collect(at.problem, at.scheme, paths, 3)]
        )
        assert found.value is not None and found.value < at.lower / 2
        assert not found.usable and found.lower is None and found.upper is None
        assert "never evidence" in found.void


def test_moments_are_void_where_the_law_is_no_gaussian() -> None:
    at = case("shuffle-once", "2", 10.0)
    paths = collect(at.problem, at.scheme, 8000, 3)
    known = estimators.apply("gaussian-moments", at.question(8000), [paths])
    assert known.undecided is not None and "mixture" in known.undecided
    # Not told what the law is, it can still see a gross departure.
    generator = np.random.default_rng(0)
    two = np.where(generator.random(8000) < 0.1, 8.0, 0.0) + generator.standard_normal(8000)
    told = estimators.apply("gaussian-moments", QUESTION, [(two, two + 1)])
    assert told.undecided is not None and "kurtosis" in told.undecided


def test_moments_do_not_depend_on_how_paths_are_cut() -> None:
    generator = np.random.default_rng(4)
    x, y = generator.gamma(3, size=5000), generator.gamma(4, size=5000)
    whole, pieces = gaussian_moments._Moments(), gaussian_moments._Moments()
    whole.add(x)
    for part in np.split(x, [0, 1, 700, 701, 3000]):
        pieces.add(part)
    for name in ("size", "mean", "second", "third", "fourth"):
        assert getattr(pieces, name) == pytest.approx(getattr(whole, name), rel=1e-10)
    parts = list(zip(np.split(x, 5), np.split(y, 5), strict=True))
    for name in ("events", "variational"):
        question = Question(Fraction(2), 5000)
        one, five = (estimators.apply(name, question, cut) for cut in ([(x, y)], parts))
        assert five.value == pytest.approx(one.value, rel=1e-10)
        assert five.lower == pytest.approx(one.lower, rel=1e-10)


@pytest.mark.parametrize("name", ["events", "variational"])
def test_equal_laws_give_a_vacuous_bound(name: str) -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        paths = generator.standard_normal(4000), generator.standard_normal(4000)
        found = estimators.apply(name, Question(Fraction(3), 4000), [paths])
        assert found.undecided is not None and "vacuous" in found.undecided


@pytest.mark.parametrize("name", ["events", "variational"])
def test_too_few_paths_are_undecided(name: str) -> None:
    for paths in (1, 2, 3, 8):
        some = np.arange(paths, dtype=np.float64)
        found = estimators.apply(name, Question(Fraction(3), paths), [(some, some + 9)])
        assert not found.usable or paths == 8
    half = np.zeros(500)
    found = estimators.apply(name, Question(Fraction(3), 1000), [(half[:400], half[:400])])
    assert not found.usable and found.value is None


@pytest.mark.parametrize("name", ["events", "variational", "gaussian-moments", "plug-in"])
def test_constant_paths_and_laws_that_are_apart(name: str) -> None:
    still = np.zeros(1000)
    assert not estimators.apply(name, QUESTION, [(still, still)]).usable
    apart = estimators.apply(name, QUESTION, [(still, still + 1)])
    # Events see that two points differ, and bound the divergence by what 500 paths can show.
    assert apart.usable == (name in ("events", "variational"))


def test_halves_want_as_many_of_the_one_as_of_the_other() -> None:
    halves = Halves(10, lambda a, b: None, lambda a, b: None)
    with pytest.raises(InvalidInput, match="as many"):
        halves.add(np.zeros(3), np.zeros(4))
    assert not halves.chosen


def test_the_half_that_chooses_does_not_count() -> None:
    seen: list[tuple[str, Floats]] = []
    halves = Halves(
        10, lambda a, b: seen.append(("choose", a)), lambda a, b: seen.append(("count", a))
    )
    numbers = np.arange(10.0)
    for part in np.split(numbers, [3, 7]):
        halves.add(part, part)
    assert seen[0][0] == "choose" and np.array_equal(seen[0][1], numbers[:5])
    assert np.array_equal(np.concatenate([x for _, x in seen[1:]]), numbers[5:])
    assert halves.held_out == 5


@pytest.mark.parametrize("bad", [{"alpha": Fraction(1)}, {"paths": 0}, {"confidence": Decimal(1)}])
def test_questions_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, AssumptionViolated)):
        Question(**({"alpha": Fraction(2), "paths": 10} | bad))


# --- the envelope of Lemma 4.1 -----------------------------------------------------------------


@pytest.mark.parametrize("order", ["1.1", "2", "10", "50"])
def test_the_acceptance_is_the_looseness_of_the_lemma(order: str) -> None:
    alpha = Fraction(order)
    problem = small(Fraction(2))
    found = law(problem, "shuffle-once")
    assert isinstance(found, PatternLaw)
    envelope = Envelope(found, float(order))
    # Both sides of (4), by formulas that share nothing with the envelope.
    right = math.log(
        sum(
            float(p.probability)
            * math.exp(
                float(alpha - 1)
                * float(
                    renyi_gaussian(
                        p.first_mean, p.first_variance, p.second_mean, p.second_variance, alpha
                    )
                )
            )
            for p in found.patterns
        )
    )
    assert envelope.log_integral == pytest.approx(right, rel=1e-12)
    left = float(alpha - 1) * renyi_mixture_float(
        found.mixture("first"), found.mixture("second"), alpha
    )
    assert left < right
    x = envelope.draw(np.random.default_rng(2), 40_000)
    logs = envelope.log_acceptance(x)
    assert logs.max() <= 0
    made = Mean()
    made.add(np.exp(logs))
    assert made.lower(1e-8) <= math.exp(left - right) <= made.upper(1e-8)
    # The draws have the density that they should.
    share = np.diff(envelope.share, prepend=0.0)
    grid = np.linspace(x.min(), x.max(), 500)
    want = sum(w * ndtr((grid - m) / s) for w, m, s in zip(share, envelope.mean, envelope.scale,
                                                         strict=True))  # fmt: skip
    have = np.searchsorted(np.sort(x), grid, side="right") / len(x)
    assert np.abs(want - have).max() < math.sqrt(math.log(2 / 1e-8) / (2 * len(x)))


def test_one_pattern_leaves_nothing_to_estimate() -> None:
    at = case("fixed-order", "10", 1.0)
    found = estimators.apply(
        "tilted-mixture", at.question(1000), [collect(at.problem, at.scheme, 1000, 1)]
    )
    assert found.value == pytest.approx(at.lower, rel=1e-9)
    assert found.upper == pytest.approx(at.upper, rel=1e-9)


def test_the_tilted_mixture_says_when_it_cannot() -> None:
    one = Fraction(1)
    wide = PatternLaw((Pattern(one, Fraction(0), one, Fraction(3), one),))
    some = np.zeros(100)
    for patterns, why in ((wide, "infinite"), (None, "not known")):
        question = Question(Fraction(2), 100, patterns=patterns)
        found = estimators.apply("tilted-mixture", question, [(some, some)])
        assert found.undecided is not None and why in found.undecided
    many = Question(Fraction(2), 10**10, patterns=wide)
    assert "fewer paths" in str(estimators.apply("tilted-mixture", many, []).undecided)
    narrow = PatternLaw((Pattern(one, Fraction(0), one, one, one),))
    question = Question(Fraction(2), 100, patterns=narrow)
    assert not estimators.apply("tilted-mixture", question, []).usable


# --- registry and experiments ------------------------------------------------------------------


def test_estimators_are_found() -> None:
    found = estimators.registry()
    assert {"events", "gaussian-moments", "plug-in", "tilted-mixture", "variational"} <= set(found)
    assert all(item.source and item.sides in estimators.SIDES for item in found.values())
    with pytest.raises(InvalidInput, match="there are: events"):
        estimators.find("guess")


def quick(scheme: str, **options: Any) -> experiments.Result:
    setting = experiments.find("two-updates").setting
    return estimate(setting, scheme, **({"paths": 5000, "seed": 1} | options))


@pytest.mark.parametrize("scheme", ["fixed-order", "shuffle-once", "reshuffle", "poisson"])
def test_estimates_agree_with_the_exact_divergence(scheme: str) -> None:
    result = quick(scheme)
    assert result.exact is not None
    for item in result.estimates:
        assert not misses(item, float(result.exact.lower), float(result.exact.upper)), item
    assert sum(item.usable for item in result.estimates) >= 3


def test_the_json_contract() -> None:
    answer = json.loads(json.dumps(quick("shuffle-once").as_json(bounds=[{"bound": "x"}])))
    assert list(answer) == ["setting", "scheme", "paths", "seed", "exact", "estimates", "bounds"]
    assert answer["scheme"] == "shuffle-once" and answer["paths"] == 5000 and answer["seed"] == 1
    assert answer["setting"]["alpha"] == "2" and answer["bounds"] == [{"bound": "x"}]
    for item in answer["estimates"]:
        assert list(item) == ["estimator", "value", "lower", "upper", "confidence", "void"]
        assert item["confidence"] == "0.99" and isinstance(item["void"], str)
        for key in ("value", "lower", "upper"):
            assert item[key] is None or math.isfinite(float(item[key]))


def test_results_do_not_depend_on_workers() -> None:
    paths = 2 * BLOCK + 100
    one, two = (quick("shuffle-once", paths=paths, workers=w).as_json() for w in (1, 2))
    assert one == two
    assert one != quick("shuffle-once", paths=paths, seed=2).as_json()


def test_an_interrupted_estimate_keeps_what_is_finished() -> None:
    seen: list[tuple[int, int]] = []

    def stop(done: int, paths: int) -> None:
        seen.append((done, paths))
        if len(seen) == 3:
            raise KeyboardInterrupt

    result = quick("fixed-order", paths=5 * BLOCK, progress=stop)
    assert result.interrupted and result.paths == 3 * BLOCK
    assert seen == [(k * BLOCK, 5 * BLOCK) for k in (1, 2, 3)]
    assert result.exact is None
    assert next(x for x in result.estimates if x.estimator == "gaussian-moments").usable
    # The exact answer costs nothing here and checks the partial one.
    whole = exact_divergence(result.setting, "fixed-order")
    assert not any(misses(x, float(whole.lower), float(whole.upper)) for x in result.estimates)


def test_requests_are_checked() -> None:
    setting = experiments.find("two-updates").setting
    with pytest.raises(InvalidInput, match="alpha"):
        estimate(setting.replace(alpha=None), "fixed-order", 10)
    with pytest.raises(InvalidInput, match="experiment"):
        experiments.find("figure-9")
    with pytest.raises(InvalidInput, match="estimator"):
        estimate(setting, "fixed-order", 10, names=["guess"])
    only = quick("fixed-order", names=["plug-in"], with_exact=False)
    assert [x.estimator for x in only.estimates] == ["plug-in"] and only.exact is None
    long = estimate(
        setting.replace(epochs=2000), "without-replacement", 16, names=["plug-in"], workers=1
    )
    assert long.exact is None and long.unknown is not None and "drawn 4000 times" in long.unknown


def test_experiments_are_distinct_and_run() -> None:
    seeds = [item.seed for item in experiments.EXPERIMENTS.values()]
    assert len(set(seeds)) == len(seeds)
    item = experiments.find("two-updates")
    small_one = experiments.Experiment("x", "x", item.setting, item.schemes, 500, 3)
    results = list(small_one.runs(workers=1, names=["events"]))
    assert [result.scheme.name for result in results] == list(item.schemes)


def test_mixtures_are_known_where_they_are_few() -> None:
    figure = experiments.find("figure-2a").setting
    problem = experiments.problem_of(figure, "shuffle-once")
    assert question_of(problem, "shuffle-once", 10, 10).patterns is not None
    problem = experiments.problem_of(figure, "reshuffle")
    assert question_of(problem, "reshuffle", 10, 10).patterns is None
    assert question_of(problem, "fixed-order", 10, 10).gaussian is True
    assert isinstance(law(problem, "fixed-order"), PatternLaw)
    assert isinstance(law(problem, "fixed-order").mixture("first"), Mixture)  # type: ignore[union-attr]
