"""Named, seeded experiments as data, and the estimates of one setting.

>>> result = estimate(find("two-updates").setting, "shuffle-once", paths=2000, seed=1, workers=1)
>>> result.paths, [item.estimator for item in result.estimates][:2]
(2000, ['events', 'gaussian-moments'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bounds.arith import TooCostly
from bounds.setting import InvalidInput, Setting, exact
from empirical import estimators
from empirical.divergence import Enclosure, exact_divergence
from empirical.estimators import Estimate, Question
from empirical.laws import PatternLaw, law
from empirical.quadratic import Problem
from empirical.schemes import Scheme
from empirical.schemes import find as find_scheme
from empirical.simulate import blocks

PATHS = 200_000
CONFIDENCE = Decimal("0.99")
MOST_FACTORS = 3000
MOST_PATTERNS = 500
EXACT_DIGITS = 6

Progress = Callable[[int, int], None]


# --- experiments -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Experiment:
    """A simulation that anyone can repeat: what is run, on how many paths, from which seed.

    centre [-]: where the pair sits beside the shared records, in units of S_g (`Problem.of`).
    """

    name: str
    title: str
    setting: Setting
    schemes: tuple[str, ...]
    paths: int
    seed: int
    centre: str = "0"

    def runs(self, **options: Any) -> Iterator[Result]:
        """The estimates under every scheme, in turn; options as for `estimate`."""
        for scheme in self.schemes:
            yield estimate(
                self.setting, scheme, self.paths, self.seed, centre=self.centre, **options
            )


def _figure(alpha: int, epochs: int, position: int | None = None) -> Setting:
    """The setting of Figures 1 and 2."""
    return Setting.of(
        n=50, b=2, epochs=epochs, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
        alpha=alpha, position=position,
    )  # fmt: skip


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment("figure-1a", "Figure 1 (a): first mini-batch of a fixed order",
                   _figure(10, 20, 0), ("fixed-order",), PATHS, 101),
        Experiment("figure-1b", "Figure 1 (b): last mini-batch of a fixed order",
                   _figure(10, 20, 24), ("fixed-order",), PATHS, 102),
        Experiment("figure-2a", "Figure 2 (a): shuffle and partition",
                   _figure(10, 20), ("shuffle-once", "reshuffle"), PATHS, 103),
        Experiment("figure-2b", "Figure 2 (b): sampling without replacement",
                   _figure(10, 20), ("without-replacement",), PATHS, 104),
        Experiment("figure-2a-15", "Figure 2 (a) at order 15",
                   _figure(15, 20), ("shuffle-once", "reshuffle"), PATHS, 105),
        Experiment("schemes", "five ways of drawing batches, records that give batches away",
                   Setting.of(n=6, b=2, epochs=2, eta="0.1", lambda_=1, beta=4, sensitivity=4,
                              sigma2=2, alpha=2),
                   ("fixed-order", "shuffle-once", "reshuffle", "without-replacement", "poisson"),
                   PATHS, 106, "2"),
        Experiment("two-updates", "the smallest shuffled run: two records, one epoch",
                   Setting.of(n=2, b=1, epochs=1, eta="0.5", lambda_=1, beta=1, sensitivity=1,
                              sigma2="0.5", alpha=2),
                   ("fixed-order", "shuffle-once"), PATHS, 107),
    )
}  # fmt: skip


def find(name: str) -> Experiment:
    """An experiment by name. Raises `InvalidInput` when there is none."""
    if name not in EXPERIMENTS:
        raise InvalidInput(
            f"there is no experiment called {name!r}; there are: {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


# --- estimates ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What was estimated at one setting under one scheme.

    paths: finished on each data set; fewer than were asked for where `interrupted`.
    exact: the divergence enclosed, or None where `unknown` says why there is none.
    estimates: one for each estimator. problem: one sentence on what was run.
    """

    setting: Setting
    scheme: Scheme
    paths: int
    seed: int
    exact: Enclosure | None
    unknown: str | None
    estimates: tuple[Estimate, ...]
    problem: str
    interrupted: bool = False

    def as_json(self, bounds: Sequence[object] = ()) -> dict[str, object]:
        """The contract of `hiddenstate estimate --json`; `bounds` as the caller has them."""
        return {
            "setting": self.setting.as_strings(),
            "scheme": self.scheme.name,
            "paths": self.paths,
            "seed": self.seed,
            "exact": None if self.exact is None else self.exact.as_json(),
            "estimates": [item.as_json() for item in self.estimates],
            "bounds": list(bounds),
        }


def problem_of(setting: Setting, scheme: str | Scheme, centre: object = 0) -> Problem:
    """The problem that `exact_divergence` takes for a setting; per batch under Poisson sampling."""
    how = find_scheme(scheme)
    return Problem.of(setting, centre=centre, per="batch" if how.random_size else "record")


def question_of(
    problem: Problem,
    scheme: str | Scheme,
    alpha: object,
    paths: int,
    *,
    confidence: object = CONFIDENCE,
    seed: int = 0,
) -> Question:
    """What estimators are asked, with what is known of the laws.

    Raises:
        AssumptionViolated: alpha <= 1. InvalidInput, NotExact.
    """
    how = find_scheme(scheme)
    patterns: PatternLaw | None = None
    if problem.radius is None:
        try:
            found = law(problem, how, most=MOST_PATTERNS)
            patterns = found if isinstance(found, PatternLaw) else None
        except TooCostly:
            patterns = None
    level = exact(confidence, "the confidence")
    return Question(
        alpha=exact(alpha, "--alpha"), paths=paths,
        confidence=Decimal(level.numerator) / Decimal(level.denominator), seed=seed,
        patterns=patterns, gaussian=how.afresh == "never" and problem.radius is None,
        equal_variance=problem.first.curvature == problem.second.curvature,
    )  # fmt: skip


def estimate(
    setting: Setting,
    scheme: str | Scheme,
    paths: int = PATHS,
    seed: int = 0,
    progress: Progress | None = None,
    workers: int = 2,
    *,
    centre: object = 0,
    confidence: object = CONFIDENCE,
    names: Sequence[str] | None = None,
    with_exact: bool = True,
) -> Result:
    """Simulate Algorithm 1 at a setting and estimate R_alpha(first || second).

    setting: with --alpha; its canonical problem is run (`Problem.of`).
    paths: on each data set. seed: a non-negative integer; equal seeds give equal results, whatever
        `workers` is.
    progress: called with the paths done and asked for, after every block.
    confidence: of each interval by itself.
    names: estimators, by default all. with_exact: whether to enclose the divergence as well.

    A keyboard interrupt ends the simulation, and the result of the finished blocks is returned with
    `interrupted` set; it is raised where no block is finished.

    Raises:
        InvalidInput, MissingParameter, AssumptionViolated, TooCostly: the request makes no run.
    """
    how = find_scheme(scheme)
    if setting.alpha is None:
        raise InvalidInput("an estimate needs --alpha, which was not given")
    problem = problem_of(setting, how, centre)
    question = question_of(
        problem, how, setting.alpha, paths, confidence=confidence, seed=seed
    )  # fmt: skip
    chosen = list(estimators.registry()) if names is None else list(names)
    making = [estimators.find(name).start(question) for name in chosen]
    done, interrupted = 0, False
    made = blocks(problem, how, paths, seed, workers=workers)
    try:
        with closing(made):
            for block in made:
                for item in making:
                    item.add(block.first, block.second)
                done += len(block.first)
                if progress is not None:
                    progress(done, paths)
    except KeyboardInterrupt:
        if done == 0:
            raise
        interrupted = True
    enclosure: Enclosure | None = None
    unknown: str | None = "not asked for"
    if with_exact and not interrupted:
        enclosure, unknown = _exact(problem, how, setting.alpha)
    return Result(
        setting=setting, scheme=how, paths=done, seed=seed, exact=enclosure, unknown=unknown,
        estimates=tuple(item.result() for item in making), problem=problem.describe(),
        interrupted=interrupted,
    )  # fmt: skip


def _exact(problem: Problem, how: Scheme, alpha: object) -> tuple[Enclosure | None, str | None]:
    draws = problem.steps if how.afresh == "update" else problem.epochs
    if how.afresh in ("update", "epoch") and draws > MOST_FACTORS:
        return None, f"batches are drawn {draws} times; at most {MOST_FACTORS} are enclosed here"
    try:
        return exact_divergence(problem, how, alpha, digits=EXACT_DIGITS), None
    except TooCostly as error:
        return None, str(error)
