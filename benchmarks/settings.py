"""How fast a bound is over a million settings at once.

Six real parameters differ from setting to setting; n, b, K and the position are common. Beside it:

    the same bound, setting by setting, through `Bound.float64` on exact settings
    the plain formula in a loop over floats, with `math` and without any check
    the floor: what NumPy needs to read the six arrays and write one, once, and to take as many
    exponentials and logarithms of each kind as the formula does, block by block

The loops run over a part of the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import HUNDRED, Aim, Row, apart, plain, race
from bounds.arith import columns
from bounds.arith.columns import BLOCK, Settings
from bounds.bound import find

BENCHMARK = "A million settings at once, against loops over them and against the floor."
COUNTS = {"n": 50, "b": 2, "epochs": 20, "position": 10}
RANGES = {
    "eta": (0.001, 0.1), "lambda_": (0.5, 1.0), "beta": (1.0, 8.0), "sensitivity": (1.0, 4.0),
    "sigma2": (0.1, 10.0), "alpha": (1.1, 64.0),
}  # fmt: skip
BOUNDS = ("thm-3.3", "thm-4.2", "thm-2.1", "optimal_fixed_order", "fixed_order_composition")
WORDS = ("exp", "expm1", "log", "log1p", "sqrt")


def draw(size: int) -> Settings:
    """Settings that satisfy every assumption."""
    rng = np.random.default_rng(1)
    return Settings.of(
        {**COUNTS, **{name: rng.uniform(*ends, size) for name, ends in RANGES.items()}}
    )


def counted(bound: Any) -> Counter[str]:
    """How many of each elementary function a setting takes, found by running one block."""
    found: Counter[str] = Counter()
    real = np

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
        vars(columns)["np"] = spy
        for word in WORDS:
            setattr(columns.Columns, word, staticmethod(getattr(spy, word)))
        bound.columns(draw(BLOCK))
    finally:
        vars(columns)["np"] = real
        for word, work in kept.items():
            setattr(columns.Columns, word, staticmethod(work))
    return found


def floor(settings: Settings, words: Counter[str]) -> Callable[[], Any]:
    """Reading, writing and the elementary functions alone, in blocks that fit a cache."""
    arrays = [settings.reals[name].high for name in RANGES]
    # Arguments like those of a formula: neither 0 nor all alike.
    base = np.random.default_rng(2).uniform(0.05, 2.0, BLOCK)

    def work() -> None:
        # The answers need memory that was not touched before, here as there.
        out, room = np.empty(settings.size), np.empty(BLOCK)
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


def loops(name: str, settings: Settings) -> Callable[[], list[float]] | None:
    """The plain formula, setting by setting over floats, at all of `settings`."""
    batches = COUNTS["n"] // COUNTS["b"]
    names = ("eta", "lambda_", "sensitivity", "sigma2", "alpha")
    lists = [settings.reals[item].high.tolist() for item in names]

    def rate(eta: float, s: float, sigma2: float) -> float:
        return eta * s * s / (4 * sigma2 * COUNTS["b"] ** 2)

    if name == "thm-3.3":
        return lambda: [
            plain.fixed_order(
                batches, COUNTS["epochs"], COUNTS["position"], eta * lam, rate(eta, s, v), alpha
            )
            for eta, lam, s, v, alpha in zip(*lists, strict=True)
        ]
    if name == "thm-4.2":
        return lambda: [
            plain.shuffle_once(batches, COUNTS["epochs"], eta * lam, rate(eta, s, v), alpha)
            for eta, lam, s, v, alpha in zip(*lists, strict=True)
        ]
    return None


def measure(quick: bool) -> Iterator[Row]:
    """Up to three rows for each bound."""
    size, part, rounds = (10**5, 200, 1) if quick else (10**6, 2000, 5)
    settings = draw(size)
    few = settings.take(slice(0, part))
    exact = [settings.setting(i) for i in range(part)]
    for name in BOUNDS[: 2 if quick else None]:
        bound = find(name)
        spent = partial(bound.columns, settings)
        made = bound.columns(settings).epsilon[:part]
        share = part / size

        def one_by_one(bound: Any = bound) -> list[float]:
            return [float(bound.float64(item)) for item in exact]

        yield Row(
            f"{name}, {size:.0e} settings at once",
            f"Bound.float64 in a loop, timed on {part}",
            race(spent, one_by_one, 1, share),
            HUNDRED,
            disagreement=apart(made, one_by_one(), 1e-12),
        )
        loop = loops(name, few)
        if loop is not None:
            yield Row(
                f"{name}, the same",
                f"scalar loop, timed on {part}",
                race(spent, loop, rounds, share),
                HUNDRED,
                # The plain form cancels, and loses digits where eta lambda is small.
                disagreement=apart(made, loop(), 1e-9),
            )
        yield Row(
            f"{name}, the same",
            "the floor: arrays and elementary functions alone",
            1 / race(spent, floor(settings, counted(bound)), rounds),
            Aim(most=2),
        )
