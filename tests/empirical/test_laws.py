"""The law of the last iterate: enumeration, recursion, sums of shifts and propagation agree."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from bounds.arith import TooCostly
from bounds.arith.ball import Ball, precision
from bounds.setting import AssumptionViolated, InvalidInput, Setting
from empirical.laws import (
    GridLaw,
    Mixture,
    PatternLaw,
    SumLaw,
    enumerate_patterns,
    fixed_law,
    geometric,
    grid_pair,
    law,
)
from empirical.quadratic import Loss, Problem, Side
from empirical.schemes import SCHEMES, find

SIDES: tuple[Side, Side] = ("first", "second")


def setting(n: int, b: int, epochs: int, **more: object) -> Setting:
    values: dict[str, object] = {
        "eta": "0.1", "lambda": 1, "beta": 4, "sensitivity": 3, "sigma2": 1, "alpha": 3, **more,
    }  # fmt: skip
    return Setting.of(n=n, b=b, epochs=epochs, **values)


def run_by_hand(problem: Problem, batches: list[tuple[int, ...]], side: Side) -> tuple[Any, Any]:
    """Mean and variance after the given batches of record indices, from Algorithm 1."""
    records = problem.records(side)
    mean, variance = problem.start_mean, problem.start_variance
    for number, batch in enumerate(batches):
        ridge = problem.ridge_at(number % problem.batches)
        slope = ridge + sum((records[i].curvature for i in batch), Fraction(0)) / problem.b
        pull = sum((records[i].gradient for i in batch), Fraction(0)) / problem.b
        mean = mean - problem.eta * (slope * mean + pull)
        variance = (1 - problem.eta * slope) ** 2 * variance + 2 * problem.eta * problem.sigma2
    return mean, variance


def all_runs(problem: Problem, scheme: str) -> list[tuple[Fraction, list[tuple[int, ...]]]]:
    """Every sequence of batches with its probability, following the definition of the scheme."""
    n, b, epochs, count = problem.n, problem.b, problem.epochs, problem.batches
    cut = [tuple(range(j * b, (j + 1) * b)) for j in range(count)]
    if scheme == "fixed-order":
        return [(Fraction(1), cut * epochs)]
    orders = list(permutations(range(n)))
    shuffled = [[tuple(order[j] for j in batch) for batch in cut] for order in orders]
    if scheme == "shuffle-once":
        return [(Fraction(1, len(orders)), part * epochs) for part in shuffled]
    if scheme == "reshuffle":
        weight = Fraction(1, len(orders) ** epochs)
        return [(weight, list(chain(*parts))) for parts in product(shuffled, repeat=epochs)]
    if scheme == "without-replacement":
        draws = list(combinations(range(n), b))
        weight = Fraction(1, len(draws) ** problem.steps)
        return [(weight, list(run)) for run in product(draws, repeat=problem.steps)]
    rate = Fraction(b, n)
    subsets = [s for size in range(n + 1) for s in combinations(range(n), size)]
    chance = {s: rate ** len(s) * (1 - rate) ** (n - len(s)) for s in subsets}
    return [
        (math.prod((chance[s] for s in run), start=Fraction(1)), list(run))
        for run in product(subsets, repeat=problem.steps)
    ]


def by_definition(problem: Problem, scheme: str, side: Side) -> Mixture:
    return Mixture.of(
        (weight, *run_by_hand(problem, run, side)) for weight, run in all_runs(problem, scheme)
    )


MIXED = [Loss.at(1, 2), Loss.at(2, "1/2"), Loss.at("1/2", -1)]
CASES = [
    Problem.of(setting(3, 1, 1)),
    Problem.of(setting(4, 2, 1), centre=2, start_variance="1/3", start_mean=1),
    Problem.of(setting(3, 2, 2), centre="1/2"),
    Problem.from_records(MIXED, Loss.at(1, 5), 0, b=1, epochs=1, eta="0.3", sigma2=2),
    Problem.from_records(MIXED, Loss.at("3/2", 0), 1, b=2, epochs=2, eta="0.3", sigma2=2),
    Problem.of(setting(2, 1, 2), batch_curvatures=["1/2", 3], centre=1),
]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_enumeration_is_the_definition(scheme: str, case: int) -> None:
    problem = CASES[case]
    patterns = enumerate_patterns(problem, scheme)
    for side in SIDES:
        assert patterns.mixture(side) == by_definition(problem, scheme, side)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "shape", [(5, 2, 2), (4, 2, 2), (4, 1, 1), (3, 1, 2), (2, 2, 3), (1, 1, 2)]
)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"centre": 2},
        {"start_variance": 2, "start_mean": 1},
        {"curvature": 12},
        "linear",
        "batch",
    ],
)
def test_sum_of_shifts_is_the_enumeration(scheme: str, shape: Any, kind: Any) -> None:
    given = setting(*shape)
    per: Any = "batch" if scheme == "poisson" else "record"
    if kind == "linear":
        problem = Problem.of(given, curvature=0)
    elif kind == "batch":
        problem = Problem.of(given, batch_curvatures=[Fraction(2, j + 1) for j in range(shape[0] // shape[1])])  # fmt: skip # noqa: E501
    else:
        problem = Problem.of(given, per=per, **kind)
    one = SumLaw(problem, find(scheme)).patterns()
    assert set(one.patterns) == set(enumerate_patterns(problem, scheme).patterns)


def test_shared_records_with_a_gradient() -> None:
    records = [Loss.at(1, 3)] + [Loss.at(1, 2)] * 3
    problem = Problem.from_records(records, Loss.at(1, -1), 0, b=2, epochs=2, eta="0.1", sigma2=1)
    for scheme in ("fixed-order", "shuffle-once", "reshuffle", "without-replacement"):
        one = SumLaw(problem, find(scheme)).patterns()
        assert set(one.patterns) == set(enumerate_patterns(problem, scheme).patterns)


def relative_gap(patterns: PatternLaw, side: Any, grid: GridLaw) -> float:
    exact = np.zeros_like(grid.nodes)
    for weight, mean, variance in patterns.mixture(side).components:
        v = float(variance)
        bell = np.exp(-((grid.nodes - float(mean)) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
        exact += float(weight) * bell
    return float(np.max(np.abs(grid.density / exact - 1)))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shape", [(5, 2, 2), (6, 1, 1), (3, 1, 3)])
@pytest.mark.parametrize(
    "kind", [{}, {"centre": 2}, {"start_variance": 2, "start_mean": 1}, {"curvature": 0}]
)
def test_propagation_is_the_enumeration(scheme: str, shape: Any, kind: Any) -> None:
    problem = Problem.of(setting(*shape), per="batch", **kind)
    patterns = enumerate_patterns(problem, scheme)
    for side, grid in zip(SIDES, grid_pair(problem, scheme, alpha=3), strict=True):
        gap = relative_gap(patterns, side, grid)
        assert gap <= grid.error
        assert gap <= 1e-10
        assert grid.proved
        assert abs(grid.mass() - 1) < 1e-12


def test_propagation_of_batches_that_contract_differently() -> None:
    problem = Problem.of(setting(4, 1, 1), centre=1)
    patterns = enumerate_patterns(problem, "poisson")
    for side, grid in zip(SIDES, grid_pair(problem, "poisson"), strict=True):
        assert relative_gap(patterns, side, grid) < 1e-10
        assert not grid.proved


@pytest.mark.parametrize("position", [0, 1, 2])
def test_fixed_order_is_the_recursion(position: int) -> None:
    problem = Problem.of(
        setting(7, 2, 5, position=position), start_mean=1, start_variance="1/7",
        batch_curvatures=[1, 3, 12],
    )  # fmt: skip
    batches: list[tuple[int, ...]] = [(0, 1), (2, 3), (4, 5)] * 5
    for side in SIDES:
        expected = run_by_hand(problem, batches, side)
        assert fixed_law(problem, side, Fraction) == expected
        (component,) = enumerate_patterns(problem, "fixed-order").mixture(side).components
        assert component == (Fraction(1), *expected)


def test_fixed_order_of_many_epochs() -> None:
    problem = Problem.of(setting(4, 2, 10**12, **{"lambda": "1e-9"}), centre=1)
    with precision(200):
        mean, variance = fixed_law(problem, "first", Ball.number)
        one = SumLaw(problem, find("fixed-order"))
        ((((_, uses),)),) = list(one.blocks(Ball.number))
        assert (one.base(Ball.number) + Ball.number(one.shift("first")) * uses).overlaps(mean)
        assert one.variance(Ball.number).overlaps(variance)
        assert mean.rel_accuracy_bits() > 100


def test_geometric() -> None:
    for ratio in (Fraction(1), Fraction(2, 3), Fraction(-1, 2), Fraction(0)):
        for count in range(9):
            terms = (ratio**k for k in range(count))
            assert geometric(ratio, count, Fraction) == sum(terms, Fraction(0))


def test_shuffle_once_by_hand() -> None:
    # n/b = 2, K = 2, c = 1/2, eta = b = 1, sigma^2 = 1/2: noise 1, the record pulls -g, others 0.
    given = Setting.of(
        n=2, b=1, epochs=2, eta=1, lambda_="1/2", beta=1, sensitivity=2, sigma2="1/2", alpha=2
    )
    problem = Problem.of(given)
    early, late = Fraction(1, 8) + Fraction(1, 2), Fraction(1, 4) + Fraction(1)
    variance = 1 + Fraction(1, 4) + Fraction(1, 16) + Fraction(1, 64)
    assert problem.noise == 1
    for side, sign in (("first", -1), ("second", 1)):
        expected = Mixture.of(
            [(Fraction(1, 2), sign * early, variance), (Fraction(1, 2), sign * late, variance)]
        )
        assert law(problem, "shuffle-once").mixture(side) == expected  # type: ignore[union-attr, arg-type]


def test_linear_losses_do_not_forget() -> None:
    problem = Problem.of(setting(6, 2, 4, **{"lambda": 0, "sigma2": 2}))
    for scheme in ("fixed-order", "shuffle-once", "reshuffle"):
        mixture = enumerate_patterns(problem, scheme).mixture("first")
        ((weight, mean, variance),) = mixture.components
        assert weight == 1
        assert mean == -4 * problem.eta * Fraction(3, 2) / 2
        assert variance == 12 * problem.noise


def test_dropped_record_is_never_used() -> None:
    problem = Problem.of(setting(5, 2, 1))
    weights = {m: w for w, m, _ in enumerate_patterns(problem, "shuffle-once").mixture("first").components}  # fmt: skip # noqa: E501
    assert weights[Fraction(0)] == Fraction(1, 5)


def test_too_many_patterns_become_a_sum() -> None:
    problem = Problem.of(setting(50, 2, 1))
    assert isinstance(law(problem, "without-replacement", most=1000), SumLaw)
    with pytest.raises(TooCostly, match="patterns"):
        enumerate_patterns(problem, "without-replacement", most=1000)
    with pytest.raises(InvalidInput, match="contract alike"):
        SumLaw(problem, find("poisson"))


# --- projection --------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_projection_keeps_mass_and_has_atoms(scheme: str) -> None:
    problem = Problem.of(setting(5, 2, 3), per="batch", diameter="0.8", start_variance="1/9")
    for grid in grid_pair(problem, scheme):
        assert abs(grid.mass() - 1) < 1e-12
        assert min(grid.atoms) > 0.05
        assert not grid.proved
        assert grid.error < 1e-10
    with pytest.raises(InvalidInput, match="projected"):
        enumerate_patterns(problem, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_wide_interval_is_no_projection(scheme: str) -> None:
    given = setting(4, 2, 2)
    free = grid_pair(Problem.of(given, per="batch"), scheme)
    problem = Problem.of(given, per="batch", diameter=16)
    patterns = enumerate_patterns(Problem.of(given, per="batch"), scheme)
    for side, wide in zip(SIDES, grid_pair(problem, scheme), strict=True):
        assert len(wide.atoms) == 2
        near = np.abs(wide.nodes) < 2
        part = replace(wide, nodes=wide.nodes[near], density=wide.density[near])
        assert relative_gap(patterns, side, part) < 1e-10
    for none, huge in zip(
        free, grid_pair(Problem.of(given, per="batch", diameter=1000), scheme), strict=True
    ):
        assert np.allclose(none.density, huge.density, rtol=1e-12, atol=0)


def test_projected_law_against_small_steps_of_monte_carlo() -> None:
    problem = Problem.of(setting(4, 2, 2), centre=1, diameter=1)
    generator = np.random.Generator(np.random.PCG64(7))
    paths = 200_000
    uses = SCHEMES["reshuffle"].uses(generator, 4, 2, 2, 0, paths)
    theta = np.zeros(paths)
    for t in range(4):
        pull = uses[:, t] * float(problem.first.gradient) / 2
        noise = generator.normal(size=paths) * math.sqrt(float(problem.noise))
        theta = np.clip(theta - 0.1 * (theta + pull) + noise, -0.5, 0.5)
    grid, _ = grid_pair(problem, "reshuffle")
    for end, mass in zip((-0.5, 0.5), grid.atoms, strict=True):
        seen = float(np.mean(theta == end))
        assert abs(seen - mass) < 5 * math.sqrt(mass / paths)
    mean = float(grid.weights @ (grid.nodes * grid.density)) + 0.5 * (grid.atoms[1] - grid.atoms[0])
    assert abs(float(theta.mean()) - mean) < 0.005


# --- schemes and problems ----------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_draws_follow_the_blocks(scheme: str) -> None:
    n, b, epochs, paths = 5, 2, 2, 40_000
    how = SCHEMES[scheme]
    expected: Counter[tuple[int, ...]] = Counter()
    for choice in product(*how.blocks(n, b, epochs, 1)):
        used = tuple(sorted(t for use in choice for t in use.updates(n // b)))
        expected[used] += math.prod(float(use.probability) for use in choice)  # type: ignore[assignment]
    assert sum(expected.values()) == pytest.approx(1)
    generator = np.random.Generator(np.random.PCG64(1))
    drawn = how.uses(generator, n, b, epochs, 1, paths)
    assert drawn.shape == (paths, 4)
    seen = Counter(tuple(np.flatnonzero(row).tolist()) for row in drawn)
    assert set(seen) == set(expected)
    for used, chance in expected.items():
        assert abs(seen[used] / paths - chance) < 5 * math.sqrt(chance / paths) + 1e-12
    counts: Counter[int] = Counter()
    for _ in range(300):
        run = list(how.batches(generator, n, b, epochs))
        assert len(run) == 4
        assert how.random_size or all(len(set(batch.tolist())) == b for batch in run)
        counts.update(i for batch in run for i in batch.tolist())
    if scheme != "fixed-order":
        assert all(abs(counts[i] / 1200 - 0.4) < 0.1 for i in range(n))


def test_names_of_schemes() -> None:
    assert find("Shuffle once") is SCHEMES["shuffle-once"]
    assert find("reshuffle every epoch") is SCHEMES["reshuffle"]
    assert find("full batch") is SCHEMES["fixed-order"]
    with pytest.raises(InvalidInput, match="there are: fixed-order"):
        find("sorted")


def test_problem_refuses() -> None:
    with pytest.raises(AssumptionViolated, match="noise"):
        Problem.of(setting(4, 2, 1, sigma2=0))
    with pytest.raises(AssumptionViolated, match="position"):
        Problem.of(setting(4, 2, 1, position=2))
    with pytest.raises(AssumptionViolated, match="projection"):
        Problem.of(setting(4, 2, 1), diameter=0)
    with pytest.raises(InvalidInput, match="batch curvatures"):
        Problem.of(setting(6, 2, 1), batch_curvatures=[1, 2])
    with pytest.raises(InvalidInput, match="no batch"):
        Problem.from_records([Loss.linear(0)] * 5, Loss.linear(1), 4, b=2, epochs=1, eta=1, sigma2=1)  # fmt: skip # noqa: E501
    moved = Problem.from_records(MIXED, Loss.at(3, 0), 0, b=1, epochs=1, eta=1, sigma2=1)
    with pytest.raises(InvalidInput, match="without bound"):
        _ = moved.sensitivity
    assert Problem.of(setting(4, 2, 1), centre=5).sensitivity == 3
