"""Throughput of the simulation, beside what one core fills with `Generator.standard_normal`.

    python benchmarks/monte_carlo.py [--rounds N] [--workers N]

Both are measured in turn, in the same run, so that a busy machine slows both. The target is a ratio
of 2 on two cores: path-steps per second, over numbers per second that one core fills with
`np.random.default_rng().standard_normal(out=...)`, in buffers of one block.

    wall   the target itself; means what it says where two cores are free
    cpu    the same per second of processor time, times the workers: what two free cores would give,
           as far as sharing caches with others does not slow one of the two more

Medians over the rounds are printed.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import click
import numpy as np

from bounds.setting import Setting
from empirical.experiments import problem_of
from empirical.schemes import SCHEMES
from empirical.simulate import BLOCK, blocks

TARGET = 2.0
SETTING = Setting.of(
    n=50, b=2, epochs=4, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
)  # fmt: skip


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the wall, and of processor time in all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def fill(numbers: int) -> None:
    """Fill a buffer of one block again and again, on one core."""
    generator, buffer = np.random.default_rng(0), np.empty(BLOCK)
    for _ in range(-(-numbers // BLOCK)):
        generator.standard_normal(out=buffer)


def simulate(scheme: str, paths: int, workers: int) -> None:
    """Run the setting and throw the paths away."""
    for _ in blocks(problem_of(SETTING, scheme), scheme, paths, 1, workers=workers):
        pass


def measure(scheme: str, rounds: int, workers: int, paths: int) -> dict[str, float]:
    """Numbers per second, path-steps per second, and the two ratios; medians over rounds."""
    steps = 2 * paths * problem_of(SETTING, scheme).steps
    rows = []
    for _ in range(rounds):
        numbers = -(-steps // (2 * BLOCK)) * BLOCK
        before = timed(lambda count=numbers // 2: fill(count))  # type: ignore[misc]
        wall, cpu = timed(lambda: simulate(scheme, paths, workers))
        after = timed(lambda count=numbers // 2: fill(count))  # type: ignore[misc]
        # `fill` rounds up to whole blocks.
        filled = 2 * (-(-(numbers // 2) // BLOCK) * BLOCK)
        fill_wall, fill_cpu = before[0] + after[0], before[1] + after[1]
        rows.append(
            (filled / fill_wall, steps / wall, (steps / wall) / (filled / fill_wall),
             workers * (steps / cpu) / (filled / fill_cpu))
        )  # fmt: skip
    names = ("numbers", "path_steps", "wall", "cpu")
    return {
        name: statistics.median(column)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


@click.command()
@click.option("--rounds", default=7, show_default=True, help="Measurements of each scheme.")
@click.option("--workers", default=2, show_default=True, help="Threads of the simulation.")
def main(rounds: int, workers: int) -> None:
    """Print the throughput of every scheme and its ratio to filling with normal numbers."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    click.echo(f"{cores} cores, load {load:.1f}; {workers} workers; target ratio {TARGET:g}")
    click.echo(f"{'scheme':22}{'numbers/s':>12}{'path-steps/s':>14}{'wall':>7}{'cpu':>7}")
    for scheme in SCHEMES:
        row = measure(scheme, rounds, workers, 4 * BLOCK)
        click.echo(
            f"{scheme:22}{row['numbers']:12.3g}{row['path_steps']:14.3g}"
            f"{row['wall']:7.2f}{row['cpu']:7.2f}"
        )


if __name__ == "__main__":
    main()
