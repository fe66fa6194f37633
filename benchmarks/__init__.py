"""Benchmarks: how fast this is, against what a user would do instead.

    python -m benchmarks [NAME ...] [--quick] [--markdown] [--audit FILE]

A benchmark is a module here that has

    BENCHMARK          what it measures, in a sentence
    measure(quick)     yields rows, each as soon as it is measured

Both sides of a ratio are timed in turn, in the same run, and medians over rounds are shown:
processor time where one thread works, so that a busy machine slows both alike. Every benchmark
compares its answers with those of its baseline; a disagreement is the only failure.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

LEAST = 0.01
"""A measurement repeats its work until it has taken so long [s]."""


@dataclass(frozen=True)
class Aim:
    """What a row should reach: a number from `least` to `most`."""

    least: float = -math.inf
    most: float = math.inf

    def __str__(self) -> str:
        if self.most == math.inf:
            return f">= {self.least:g}"
        if self.least == -math.inf:
            return f"<= {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def holds(self, value: float) -> bool:
        """Whether it is reached; never by NaN."""
        return self.least <= value <= self.most


TEN, HUNDRED = Aim(least=10), Aim(least=100)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    value: a ratio, or what `unit` says (" s", " %", "", with " times" for ratios); NaN where it
    could not be measured, and `note` says why. disagreement: how the answers of both sides differ
    where they should not, else empty.
    """

    what: str
    against: str
    value: float
    aim: Aim | None = None
    unit: str = " times"
    note: str = ""
    disagreement: str = ""

    @property
    def reached(self) -> str:
        """Yes or no; a dash where there is no aim or no value."""
        if self.aim is None or math.isnan(self.value):
            return "-"
        return "yes" if self.aim.holds(self.value) else "no"

    def cells(self) -> tuple[str, ...]:
        """What is measured, against what, value, aim, whether reached."""
        said = [self.what]
        said += [f"({self.note})"] if self.note else []
        said += [f"DISAGREES: {self.disagreement}"] if self.disagreement else []
        value = "-" if math.isnan(self.value) else rounded(self.value) + self.unit
        aim = "-" if self.aim is None else str(self.aim) + self.unit.replace(" times", "")
        return " ".join(said), self.against, value, aim, self.reached


HEADER = ("measured", "against", "value", "aim", "reached")


def rounded(value: float) -> str:
    """Three significant digits, without an exponent where that is short."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def discovered() -> dict[str, ModuleType]:
    """Every benchmark, by name."""
    modules = (
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    )
    return {
        module.__name__.rpartition(".")[2]: module
        for module in modules
        if hasattr(module, "BENCHMARK")
    }


def cost(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds a call, from as many calls as take `LEAST` seconds."""
    times = 1
    while True:
        start = clock()
        for _ in range(times):
            work()
        spent = clock() - start
        if spent >= LEAST:
            return spent / times
        times *= 2 if spent < LEAST / 100 else math.ceil(1.2 * LEAST / spent)


def race(
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    rounds: int = 5,
    part: float = 1.0,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """How many times longer theirs takes: the median over rounds of both in turn.

    part: the share of the work that one call of `theirs` does.
    """
    ours()  # imports, and tables that are kept
    return statistics.median(
        [cost(theirs, clock) / cost(ours, clock) / part for _ in range(rounds)]
    )


def apart(ours: Any, theirs: Any, most: float) -> str:
    """How two answers differ by more than the relative tolerance `most`; else nothing."""
    mine, other = (np.asarray(side, dtype=np.float64) for side in (ours, theirs))
    with np.errstate(all="ignore"):
        gap = np.max(np.abs(mine - other) / np.maximum(np.abs(other), 1e-300), initial=0.0)
    # NaN is a disagreement too.
    return "" if gap <= most else f"relative difference {gap:.1e}, at most {most:.0e} is expected"


def exponent(sizes: Any, seconds: Any) -> float:
    """The slope of log seconds over log sizes, by least squares."""
    return float(np.polyfit(np.log(np.asarray(sizes, float)), np.log(seconds), 1)[0])
