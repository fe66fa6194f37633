"""The simulator: seeds, memory, interruption, and agreement with the exact laws."""

from __future__ import annotations

import math
import threading
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from bounds.arith import TooCostly
from bounds.setting import InvalidInput, Setting
from empirical.estimators._common import binomial_lower, binomial_upper
from empirical.laws import enumerate_patterns, grid_pair
from empirical.quadratic import Loss, Problem
from empirical.schemes import SCHEMES
from empirical.simulate import (
    BLOCK,
    FAULTS,
    Interrupted,
    Plan,
    agreement,
    blocks,
    collect,
    generator_for,
    init,
    last_iterate,
    run,
    step,
)

LEVEL = 1e-6  # of all tests below together that test a healthy simulator
FAMILY = 32
PATHS = 60_000

SMALL = Setting.of(
    n=6, b=2, epochs=2, eta="0.3", lambda_=1, beta=2, sensitivity=4, sigma2="0.5", position=0
)  # fmt: skip
MANY = Setting.of(n=17, b=2, epochs=1, eta="0.2", lambda_="0.5", beta=2, sensitivity=9, sigma2=1)


def small(scheme: str, setting: Setting = SMALL, centre: str = "1") -> Problem:
    return Problem.of(setting, centre=centre, per="batch" if scheme == "poisson" else "record")


def epochs(scheme: str) -> int:
    """Few, where every update has many kinds of batches."""
    return 1 if SCHEMES[scheme].afresh == "update" else 2


def unlike(scheme: str) -> Problem:
    records = [Loss.at("1", x) for x in ("0", "3", "-2", "5")] + [Loss.at("0.5", "4")]
    return Problem.from_records(
        records, Loss.at("1", "-4"), 1, b=2, epochs=epochs(scheme), eta="0.3", sigma2="0.5",
        start_mean=1, start_variance="0.4",
    )  # fmt: skip


def alike_but_pulling(scheme: str) -> Problem:
    records = [Loss.at("1", x) for x in ("2", "2", "2", "-3", "2")]
    return Problem.from_records(
        records, Loss.at("1", "4"), 3, b=2, epochs=epochs(scheme), eta="0.3", sigma2="0.5"
    )  # fmt: skip


HEALTHY = [
    *(pytest.param(small(s), s, False, id=f"{s}") for s in SCHEMES),
    *(pytest.param(small(s), s, True, id=f"{s}-literal") for s in SCHEMES if s != "fixed-order"),
    *(pytest.param(small(s, MANY), s, False, id=f"{s}-8-batches") for s in SCHEMES),
    *(pytest.param(unlike(s), s, False, id=f"{s}-unlike") for s in SCHEMES),
    *(pytest.param(alike_but_pulling(s), s, False, id=f"{s}-pulling") for s in SCHEMES),
]


@pytest.mark.parametrize(("problem", "scheme", "literal"), HEALTHY)
def test_simulation_follows_the_exact_law(problem: Problem, scheme: str, literal: bool) -> None:
    assert len(HEALTHY) <= FAMILY
    found = agreement(
        problem, scheme, PATHS, 11, level=LEVEL, family=FAMILY, literal=literal
    )  # fmt: skip
    assert not found.rejected, str(found)
    assert str(found).startswith("not rejected")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("literal", [False, True], ids=["counted", "literal"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_broken_simulators_are_detected(scheme: str, fault: str, literal: bool) -> None:
    found = agreement(
        small(scheme), scheme, PATHS // 2, 12, level=LEVEL, family=FAMILY, literal=literal,
        fault=FAULTS[fault],
    )  # fmt: skip
    assert found.rejected, f"{fault}: {found}"


def test_noise_that_is_a_tenth_too_strong_is_detected() -> None:
    setting = Setting.of(n=1, b=1, epochs=2, eta="0.5", lambda_=1, sensitivity=1, sigma2=1)
    found = agreement(
        Problem.of(setting), "fixed-order", 400_000, 13, level=LEVEL, family=FAMILY,
        fault=lambda problem, plan: replace(plan, noise=math.sqrt(1.1)),
    )  # fmt: skip
    assert found.rejected, str(found)


def test_projected_iterates_have_the_mass_at_the_ends_that_the_law_has() -> None:
    problem = Problem.of(SMALL, centre="1", diameter="2", per="batch")
    law = grid_pair(problem, "shuffle-once")
    for values, side in zip(collect(problem, "shuffle-once", PATHS, 14), law, strict=True):
        for end, mass in zip((-1.0, 1.0), side.atoms, strict=True):
            count = np.array(np.count_nonzero(values == end))
            low = float(binomial_lower(count, PATHS, LEVEL / 8))
            high = float(binomial_upper(count, PATHS, LEVEL / 8))
            assert low - 1e-9 <= mass <= high + 1e-9
        assert np.abs(values).max() <= 1.0


def test_a_start_outside_the_interval_is_projected() -> None:
    problem = replace(
        small("fixed-order"), radius=small("fixed-order").noise, start_mean=Fraction(99)
    )
    plan = Plan.of(problem, "fixed-order", "first")
    state = init(plan, generator_for(0, 0, 0), 3)
    assert np.all(last_iterate(plan, state) == pytest.approx(float(problem.noise)))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_do_not_depend_on_workers(scheme: str) -> None:
    setting = SMALL.replace(epochs=1)
    paths = 3 * BLOCK + 17
    one = collect(small(scheme, setting), scheme, paths, 5, workers=1)
    for workers in (2, 3):
        more = collect(small(scheme, setting), scheme, paths, 5, workers=workers)
        assert all(np.array_equal(a, b) for a, b in zip(one, more, strict=True))
    other = collect(small(scheme, setting), scheme, paths, 6, workers=2)
    assert not np.array_equal(one[0], other[0])


def test_a_longer_run_begins_with_a_shorter_one() -> None:
    problem = small("reshuffle")
    short = collect(problem, "reshuffle", 2 * BLOCK, 5)
    long = collect(problem, "reshuffle", 2 * BLOCK + 1000, 5)
    assert all(np.array_equal(a, b[: 2 * BLOCK]) for a, b in zip(short, long, strict=True))


def test_streams_of_blocks_and_data_sets_are_unrelated() -> None:
    draws = [
        generator_for(3, block, side).standard_normal(20_000) for block in (0, 1) for side in (0, 1)
    ]
    off = np.asarray(np.corrcoef(draws))[np.triu_indices(4, 1)]
    assert np.abs(off).max() < 6 / math.sqrt(20_000)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_paths_of_one_block_are_in_no_order(scheme: str) -> None:
    # Paths that share a batch stand together inside, and must not come out so.
    values = run(Plan.of(small(scheme), scheme, "first"), generator_for(4, 0, 0), BLOCK)
    lag = float(np.corrcoef(values[:-1], values[1:])[0, 1])
    trend = float(np.corrcoef(np.arange(BLOCK), values)[0, 1])
    assert max(abs(lag), abs(trend)) < 6 / math.sqrt(BLOCK)


def test_stepping_by_hand_is_running() -> None:
    plan = Plan.of(small("shuffle-once"), "shuffle-once", "second")
    state = init(plan, generator_for(8, 0, 1), 500)
    for _ in range(plan.steps):
        state = step(plan, state)
    assert state.number == plan.steps
    assert np.array_equal(last_iterate(plan, state), run(plan, generator_for(8, 0, 1), 500))


def test_memory_does_not_grow_with_the_paths() -> None:
    problem = small("shuffle-once", SMALL.replace(epochs=1))

    def peak(paths: int) -> int:
        tracemalloc.start()
        try:
            for _ in blocks(problem, "shuffle-once", paths, 1):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(40 * BLOCK) < 1.5 * peak(8 * BLOCK)


def test_an_iterator_that_is_closed_leaves_no_thread() -> None:
    before = threading.active_count()
    made = blocks(small("reshuffle"), "reshuffle", 1000 * BLOCK, 1)
    assert [block.index for block in islice(made, 2)] == [0, 1]
    made.close()
    assert threading.active_count() == before


def test_long_runs_are_abandoned_between_updates() -> None:
    plan = Plan.of(small("fixed-order", SMALL.replace(epochs=10**9)), "fixed-order", "first")
    answers = iter([False, False, True])
    with pytest.raises(Interrupted):
        run(plan, generator_for(0, 0, 0), 10, lambda: next(answers))


@pytest.mark.parametrize(
    ("paths", "seed", "workers", "name"),
    [(0, 1, 1, "paths"), (1, -1, 1, "seed"), (1, 1, 0, "workers")],
)
def test_requests_out_of_range_are_refused(paths: int, seed: int, workers: int, name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        blocks(small("fixed-order"), "fixed-order", paths, seed, workers=workers)


def test_too_much_is_refused_in_a_sentence() -> None:
    big = Problem.of(SMALL.replace(n=10**6))
    with pytest.raises(TooCostly, match="one by one"):
        Plan.of(big, "reshuffle", "first", literal=True)
    full = Problem.of(SMALL.replace(b=6))
    with pytest.raises(InvalidInput, match="one batch"):
        FAULTS["a batch drawn twice"](full, Plan.of(full, "reshuffle", "first"))
    with pytest.raises(InvalidInput, match="level"):
        agreement(full, "fixed-order", 10, 1, level=0.0)
    exact = enumerate_patterns(full, "fixed-order")
    assert agreement(full, "fixed-order", 10, 1, exact=exact).limit > 0.5
