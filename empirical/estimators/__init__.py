"""Estimators of the divergence of last iterates from simulated paths, one file each.

A file defines NAME (as in results), SOURCE, SIDES ("two-sided", "lower" or "none": what ends its
interval can have) and `start(question)`, which makes an `Accumulator`. The registry finds it; files
whose name begins with an underscore are not estimators.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from bounds.setting import InvalidInput
from empirical.estimators._common import Accumulator, Estimate, Floats, Question

SIDES = ("two-sided", "lower", "none")


@dataclass(frozen=True)
class Estimator:
    """One estimator: its name, where it is from, the ends it can give, and how to begin."""

    name: str
    source: str
    sides: str
    start: Callable[[Question], Accumulator]


@cache
def registry() -> dict[str, Estimator]:
    """All estimators by name, found among the files of this package."""
    found: dict[str, Estimator] = {}
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        if entry.name.startswith("_"):
            continue
        module = importlib.import_module(f"{__name__}.{entry.name}")
        item = Estimator(module.NAME, module.SOURCE, module.SIDES, module.start)
        if item.name in found or item.sides not in SIDES:
            raise InvalidInput(
                f"{module.__name__} wants a NAME of its own and SIDES among {', '.join(SIDES)}"
            )
        found[item.name] = item
    return found


def find(name: str) -> Estimator:
    """An estimator by name. Raises `InvalidInput` when there is none."""
    known = registry()
    if name not in known:
        raise InvalidInput(f"there is no estimator called {name!r}; there are: {', '.join(known)}")
    return known[name]


def apply(name: str, question: Question, parts: Iterable[tuple[Floats, Floats]]) -> Estimate:
    """One estimate from all the paths at hand, in parts: (first, second) [parameter]."""
    making = find(name).start(question)
    for first, second in parts:
        making.add(first, second)
    return making.result()


__all__ = [
    "SIDES", "Accumulator", "Estimate", "Estimator", "Question", "apply", "find", "registry",
]  # fmt: skip
