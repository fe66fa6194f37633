"""How fast a bound is over a million settings at once.

    python benchmarks/settings.py [--settings N] [--rounds N]

Six real parameters differ from setting to setting; n, b, K and the position are common. Measured in
one run, in processor time, medians over the rounds:

    loop    the same bound, setting by setting, through `Bound.float64` on exact settings
    plain   the printed formula in a plain loop over floats, with `math` and without any check
    floor   what NumPy needs to read the six arrays and write one, once, and to take as many
            exponentials and logarithms of each kind as the formula does, block by block

The loops run over a part of the settings. A million settings in columns are wanted at most twice
as long as the floor, and a hundred times as fast as the loop. Time grows with the settings to the
power that the last line fits.

Exit status 1 when columns and loops disagree.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from bounds.arith import columns
from bounds.arith.columns import BLOCK, Settings
from bounds.bound import find

COUNTS = {"n": 50, "b": 2, "epochs": 20, "position": 10}
RANGES = {
    "eta": (0.001, 0.1), "lambda_": (0.5, 1.0), "beta": (1.0, 8.0), "sensitivity": (1.0, 4.0),
    "sigma2": (0.1, 10.0), "alpha": (1.1, 64.0),
}  # fmt: skip
BOUNDS = ("thm-3.3", "thm-4.2", "thm-2.1", "optimal_fixed_order", "fixed_order_composition")
PART = 2000
WORDS = ("exp", "expm1", "log", "log1p", "sqrt")


def draw(size: int) -> Settings:
    """Settings that satisfy every assumption."""
    rng = np.random.default_rng(1)
    return Settings.of(
        {**COUNTS, **{name: rng.uniform(*ends, size) for name, ends in RANGES.items()}}
    )


def timed(work: Callable[[], Any], rounds: int) -> float:
    """Median processor time [s]."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def counted(bound: Any) -> Counter[str]:
    """How many of each elementary function a setting takes, found by running one block."""
    found: Counter[str] = Counter()
    real = columns.np

    class Counting:
        """NumPy, counting."""

        def __getattr__(self, name: str) -> Any:
            work = getattr(real, name)
            if name not in WORDS:
                return work

            def counts(*arguments: Any, **options: Any) -> Any:
                # What is common to all settings is taken once, and not once for each.
                found[name] += np.ndim(arguments[0]) > 0
                return work(*arguments, **options)

            return counts

    spy = Counting()
    kept = {word: getattr(columns.Columns, word) for word in WORDS}
    try:
        columns.np = spy  # type: ignore[assignment]
        for word in WORDS:
            setattr(columns.Columns, word, staticmethod(getattr(spy, word)))
        bound.columns(draw(BLOCK))
    finally:
        columns.np = real
        for word, work in kept.items():
            setattr(columns.Columns, word, staticmethod(work))
    return found


def floor(settings: Settings, words: Counter[str]) -> Callable[[], Any]:
    """Reading, writing and the elementary functions alone, in blocks that fit a cache."""
    arrays = [settings.reals[name].high for name in RANGES]
    out = np.empty(settings.size)
    # Arguments like those of a formula: neither 0 nor all alike.
    base = np.random.default_rng(2).uniform(0.05, 2.0, BLOCK)

    def work() -> None:
        room = np.empty(BLOCK)
        for start in range(0, settings.size, BLOCK):
            rows = slice(start, min(start + BLOCK, settings.size))
            size = rows.stop - start
            total = room[:size]
            np.copyto(total, arrays[0][rows])
            for array in arrays[1:]:
                np.add(total, array[rows], out=total)
            out[rows] = total
            for word, times in words.items():
                function = getattr(np, word)
                for _ in range(times):
                    function(base[:size], out=room[:size])

    return work


def plain(name: str) -> Callable[..., float] | None:
    """The printed formula as someone writes it who has no library."""

    def share(front: float, q: float, j: int) -> float:
        return front * q ** (j - 1) * (1 - q) / (1 - q**j)

    def fixed(eta: float, lam: float, s: float, sigma2: float, alpha: float) -> float:
        q, size = (1 - eta * lam) ** 2, COUNTS["n"] // COUNTS["b"]
        half = size // 2
        rest, front = size - half, alpha * eta * s * s / (4 * sigma2 * COUNTS["b"] ** 2)
        series = (1 - q ** ((COUNTS["epochs"] - 1) * rest)) / (1 - q**rest)
        return share(front, q, half) * series + share(front, q, size - COUNTS["position"])

    def shuffled(eta: float, lam: float, s: float, sigma2: float, alpha: float) -> float:
        q, size = (1 - eta * lam) ** 2, COUNTS["n"] // COUNTS["b"]
        half = size // 2
        rest, front = size - half, alpha * eta * s * s / (4 * sigma2 * COUNTS["b"] ** 2)
        series = (1 - q ** ((COUNTS["epochs"] - 1) * rest)) / (1 - q**rest)
        exponents = [(alpha - 1) * share(front, q, j) for j in range(1, size + 1)]
        top, total = exponents[0], 0.0
        for exponent in exponents:
            total += math.expm1(exponent) if top < 30 else math.exp(exponent - top)
        mean = math.log1p(total / size) if top < 30 else top + math.log(total / size)
        return share(front, q, half) * series + mean / (alpha - 1)

    return {"thm-3.3": fixed, "thm-4.2": shuffled}.get(name)


def main_row(name: str, settings: Settings, rounds: int) -> tuple[list[float], float]:
    """Nanoseconds a setting (columns, loop, plain, floor), and the largest difference."""
    bound = find(name)
    words = counted(bound)
    made = bound.columns(settings)
    fast = timed(lambda: bound.columns(settings), rounds) / settings.size
    least = timed(floor(settings, words), rounds) / settings.size
    exact = [settings.setting(i) for i in range(PART)]
    bound.float64(exact[0])
    loop = timed(lambda: [bound.float64(item) for item in exact], 1) / PART
    values = np.array([bound.float64(item) for item in exact])
    apart = float(np.max(np.abs(made.epsilon[:PART] / values - 1)))
    bare, formula = math.nan, plain(name)
    if formula is not None:
        names = ("eta", "lambda_", "sensitivity", "sigma2", "alpha")
        lists = [settings.reals[item].high[:PART].tolist() for item in names]
        bare = timed(lambda: [formula(*row) for row in zip(*lists, strict=True)], 3) / PART
        same = np.array([formula(*row) for row in zip(*lists, strict=True)])
        apart = max(apart, float(np.max(np.abs(made.epsilon[:PART] / same - 1))) * 1e-2)
    return [1e9 * seconds for seconds in (fast, loop, bare, least)], apart


@click.command()
@click.option("--settings", "size", default=10**6, show_default=True, help="How many at once.")
@click.option("--rounds", default=5, show_default=True, help="Measurements of each.")
def main(size: int, rounds: int) -> None:
    """Print nanoseconds a setting and the ratios."""
    settings = draw(size)
    click.echo(f"{size} settings; nanoseconds a setting, and ratios to columns")
    click.echo(
        f"{'bound':26}{'columns':>9}{'loop':>10}{'plain':>9}{'floor':>8}"
        f"{'loop/':>8}{'plain/':>8}{'/floor':>8}"
    )
    worst = 0.0
    for name in BOUNDS:
        (fast, loop, bare, least), apart = main_row(name, settings, rounds)
        worst = max(worst, apart)
        click.echo(
            f"{name:26}{fast:9.0f}{loop:10.0f}{bare:9.0f}{least:8.0f}"
            f"{loop / fast:8.0f}{bare / fast:8.1f}{fast / least:8.2f}"
        )
    bound, sizes = find("thm-3.3"), [size // 16, size // 4, size]
    tables = [settings.take(slice(0, count)) for count in sizes]
    times = [timed(partial(bound.columns, table), rounds) for table in tables]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    click.echo(f"largest relative difference {worst:.1e}; time grows as settings^{slope:.2f}")
    sys.exit(0 if worst < 1e-11 else 1)


if __name__ == "__main__":
    main()
