"""Path-steps per second of the simulation.

Beside what one core fills with `Generator.standard_normal`, in buffers of one block (an update of a
path takes one normal number at least, so two cores give a ratio of 2 where nothing else costs
anything), and beside the loop over updates that a user writes in NumPy, on one core. The simulation
has a worker per core, up to two, so time here is on the wall.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks import TEN, Aim, Row, race
from bounds.setting import Setting
from empirical.experiments import problem_of
from empirical.quadratic import Problem
from empirical.schemes import SCHEMES
from empirical.simulate import BLOCK, blocks, collect

BENCHMARK = "Monte Carlo path-steps a second, on two workers."
SETTING = Setting.of(
    n=50, b=2, epochs=4, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
)  # fmt: skip
WORKERS = min(2, os.cpu_count() or 1)
DEVIATIONS = 6.0
"""Standard errors by which the moments of two simulations may differ."""

Floats = NDArray[np.float64]


def fill(numbers: int) -> None:
    """Fill a buffer of one block again and again, on one core."""
    generator, buffer = np.random.default_rng(0), np.empty(BLOCK)
    for _ in range(numbers // BLOCK):
        generator.standard_normal(out=buffer)


def simulate(problem: Problem, scheme: str, paths: int) -> None:
    """Run both data sets and throw the paths away."""
    for _ in blocks(problem, scheme, paths, 1, workers=WORKERS):
        pass


def numpy_loop(problem: Problem, scheme: str, paths: int, seed: int = 2) -> Floats:
    """Last iterates of the first data set [paths]: a loop over updates, over arrays of paths."""
    rng, batches = np.random.default_rng(seed), problem.batches
    other, record = problem.shared[0][1], problem.record("first")
    size = 0 if SCHEMES[scheme].random_size else problem.b
    without = problem.update(0, size * other.curvature, size * other.gradient)
    beside = max(size - 1, 0)
    within = problem.update(
        0,
        beside * other.curvature + record.curvature,
        beside * other.gradient + record.gradient,
    )
    factors = np.array([float(without.factor), float(within.factor)])
    drifts = np.array([float(without.drift), float(within.drift)])
    noise, afresh = float(problem.noise) ** 0.5, SCHEMES[scheme].afresh
    theta = np.full(paths, float(problem.start_mean))
    place = np.full(paths, problem.position)
    if afresh == "once":
        place = rng.integers(batches, size=paths)
    for _ in range(problem.epochs):
        if afresh == "epoch":
            place = rng.integers(batches, size=paths)
        for j in range(batches):
            drawn = afresh == "update"
            held = rng.random(paths) < problem.b / problem.n if drawn else place == j
            chosen = held.astype(np.intp)
            theta = factors[chosen] * theta + drifts[chosen] + noise * rng.standard_normal(paths)
    return theta


def moments_differ(one: Floats, other: Floats) -> str:
    """How the mean or the variance of two samples differ by more than chance; else nothing."""
    for name, f, spread in (("mean", np.mean, 1.0), ("variance", np.var, 2.0)):
        scale = float(np.var(other)) ** (0.5 if name == "mean" else 1.0)
        error = scale * (spread * (1 / len(one) + 1 / len(other))) ** 0.5
        gap = abs(float(f(one)) - float(f(other)))
        if not gap <= DEVIATIONS * error:
            return f"the {name}s differ by {gap / error:.1f} standard errors"
    return ""


def measure(quick: bool) -> Iterator[Row]:
    """Two rows for each scheme."""
    paths, rounds = (BLOCK // 4, 1) if quick else (4 * BLOCK, 5)
    for scheme in list(SCHEMES)[: 2 if quick else None]:
        problem = problem_of(SETTING, scheme)
        numbers = max(2 * paths * problem.steps // BLOCK, 1) * BLOCK
        differs = moments_differ(
            collect(problem, scheme, paths, 1)[0], numpy_loop(problem, scheme, paths)
        )
        share = numbers / (2 * paths * problem.steps)
        yield Row(
            f"{scheme}, path-steps a second",
            "normal numbers a second, one core",
            race(
                lambda: simulate(problem, scheme, paths),  # noqa: B023
                lambda: fill(numbers),  # noqa: B023
                rounds, share, time.perf_counter,
            ),
            Aim(least=2),
        )  # fmt: skip
        yield Row(
            f"{scheme}, the same",
            "a NumPy loop over updates, one core",
            race(
                lambda: simulate(problem, scheme, paths),  # noqa: B023
                lambda: numpy_loop(problem, scheme, paths),  # noqa: B023
                rounds, 0.5, time.perf_counter,
            ),
            TEN,
            disagreement=differs,
        )  # fmt: skip
