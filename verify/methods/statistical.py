"""Simulations against the exact law and against bounds, under one error budget for the audit.

Statistics can reject, never refute: a rejection leaves a statement open. With probability at least
1 - LEVEL no healthy simulation is rejected anywhere in an audit: each of the `family()` tests has
level LEVEL/family(), whatever their dependence (Bonferroni). The family is counted: the tests of
every form of every check of the registry that is a `Simulation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Protocol, runtime_checkable

import flint

from bounds.arith.ball import precision
from bounds.setting import Setting
from empirical.divergence import exact_divergence
from empirical.estimators import Estimate, Question
from empirical.estimators import find as find_estimator
from empirical.experiments import problem_of
from empirical.quadratic import Problem
from empirical.simulate import agreement, blocks
from verify.methods.enclosure import BITS
from verify.methods.truth import Claim
from verify.statement import Finding, Run

LEVEL = 1e-6
PATHS = {"quick": 40_000, "standard": 200_000, "full": 2_000_000}
DIGITS = 12

SETTING = Setting.of(
    n=4, b=2, epochs=2, eta="1/4", lambda_=1, beta=2, sensitivity=6, sigma2="1/2", alpha=2
)
Fault = Callable[[Any, Any], Any]


@runtime_checkable
class Simulation(Protocol):
    """A form that is put to statistical tests; `tests` says how many a run makes."""

    @property
    def tests(self) -> int:
        """Tests that share the budget."""
        ...


@cache
def family() -> int:
    """How many statistical tests an audit makes, over all its checks and forms."""
    from verify.registry import registry

    return sum(
        form.tests
        for checks in registry().checks.values()
        for made in checks
        for form in made.forms.values()
        if isinstance(form, Simulation)
    )


@dataclass(frozen=True)
class Literal:
    """Algorithm 1 run literally, batches drawn record by record, under each of some schemes."""

    schemes: tuple[str, ...]
    fault: Fault | None = None

    @property
    def tests(self) -> int:
        """One comparison of distributions for each scheme."""
        return len(self.schemes)


@dataclass(frozen=True)
class Sampled:
    """A claim and the runs whose last iterates are held against it.

    centre: where the pair sits beside the shared records, in S_g. A larger one gives the batches
    away and brings the divergence closer to its supremum, but hides the noise among the batches.
    """

    claim: Claim
    scheme: str
    settings: tuple[Setting, ...]
    centre: str = "1"
    fault: Fault | None = None

    @property
    def tests(self) -> int:
        """For each setting, the distribution, and a lower limit in each direction."""
        return 3 * len(self.settings)


def follows_the_law(form: Literal, run: Run) -> Finding:
    """Kolmogorov-Smirnov of the simulated last iterates against the exact law of each scheme."""
    said = []
    for scheme in form.schemes:
        found = _agreement(problem_of(SETTING, scheme), scheme, form.fault, run, literal=True)
        said.append(f"{scheme}: {found}")
        if found.rejected:
            return _found("fails", "; ".join(said), SETTING)
    return _found("holds", "; ".join(said), SETTING)


def stays_below(form: Sampled, run: Run) -> Finding:
    """Whether what samples prove of the divergence stays below the bound and the exact value.

    The simulated last iterates follow the exact law (Kolmogorov-Smirnov), and in each direction
    the lower confidence limit from events alone, which knows no law, exceeds neither.
    """
    said = []
    for setting in form.settings:
        problem = Problem.of(setting, centre=form.centre)
        found = _agreement(problem, form.scheme, form.fault, run)
        if found.rejected:
            return _found("fails", f"{form.scheme}: {found}", setting)
        claimed = form.claim.formula.enclose(setting, DIGITS)
        for name, estimate in zip(("forward", "backward"), _limits(form, problem, setting, run),
                                  strict=True):  # fmt: skip
            if not estimate.usable or estimate.lower is None:
                return _found("undecided", f"{name}: {estimate.undecided}", setting)
            truth = exact_divergence(
                problem, form.scheme, setting.alpha,
                "forward" if name == "forward" else "backward", digits=DIGITS,
            )  # fmt: skip
            with precision(BITS):
                least, high = flint.arb(estimate.lower), flint.arb(truth.upper)
                above = bool(least > claimed or least > high)
                bound = claimed.str(6, radius=False)
            text = (
                f"{form.scheme}, {name}: at least {estimate.lower:.6g} by {PATHS[run.effort]} "
                f"paths, exactly {truth.value:.6g}, bound {bound}"
            )
            if above:
                return _found("fails", text, setting)
            said.append(text)
        said.append(str(found))
    return _found("holds", "; ".join(said), *form.settings)


def _agreement(
    problem: Problem, scheme: str, fault: Fault | None, run: Run, *, literal: bool = False
) -> Any:
    return agreement(
        problem, scheme, PATHS[run.effort], run.seed, level=LEVEL, family=family(), workers=1,
        literal=literal, fault=fault,
    )  # fmt: skip


def _limits(form: Sampled, problem: Problem, setting: Setting, run: Run) -> tuple[Estimate, ...]:
    """The estimate of the divergence in each direction, from the same paths."""
    assert setting.alpha is not None
    confidence = 1 - Decimal(str(LEVEL)) / family()
    question = Question(setting.alpha, PATHS[run.effort], confidence, run.seed)
    forward, backward = (find_estimator("events").start(question) for _ in range(2))
    for block in blocks(problem, form.scheme, PATHS[run.effort], run.seed, workers=1,
                        fault=form.fault):  # fmt: skip
        forward.add(block.first, block.second)
        backward.add(block.second, block.first)
    return forward.result(), backward.result()


def _found(outcome: str, detail: str, *settings: Setting) -> Finding:
    domain = "; ".join(
        ", ".join(f"{k} = {v}" for k, v in setting.as_strings().items()) for setting in settings
    )
    budget = f"{family()} tests of the audit share the level {LEVEL:g}"
    return Finding(outcome, "statistical", domain, f"{detail}; {budget}")
