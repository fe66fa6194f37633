"""Simulation against the exact law, under one error budget for the whole audit.

Statistics can reject, never refute: a rejection leaves a statement open. With probability at least
1 - LEVEL no healthy simulation is rejected anywhere in an audit, since at most FAMILY tests share
LEVEL by Bonferroni; a test asserts that the checks stay within FAMILY.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bounds.setting import Setting
from empirical.experiments import problem_of
from empirical.simulate import agreement
from verify.statement import Finding, Run

LEVEL = 1e-6
FAMILY = 10
PATHS = {"quick": 40_000, "standard": 200_000, "full": 2_000_000}

SETTING = Setting.of(
    n=4, b=2, epochs=2, eta="1/4", lambda_=1, beta=2, sensitivity=6, sigma2="1/2", alpha=2
)


def follows_the_law(
    scheme: str, fault: Callable[[Any, Any], Any] | None, run: Run, *, literal: bool = False
) -> Finding:
    """Kolmogorov-Smirnov of the simulated last iterates against the exact law of a scheme."""
    found = agreement(
        problem_of(SETTING, scheme), scheme, PATHS[run.effort], run.seed, level=LEVEL,
        family=FAMILY, workers=1, literal=literal, fault=fault,
    )  # fmt: skip
    return Finding(
        "fails" if found.rejected else "holds", "statistical",
        "n = 4, b = 2, K = 2, eta lambda = 1/4, S_g = 6, sigma^2 = 1/2", f"{scheme}: {found}",
    )  # fmt: skip
