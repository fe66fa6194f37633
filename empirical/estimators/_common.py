"""What estimators share: the question, the answer, and intervals for means that need no model.

Intervals here are finite-sample: their confidence is a guarantee for every sample size, and not a
limit. Where an estimator spends its error budget on several of them, it is shared by the union
bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from bounds.setting import ORDER, InvalidInput, Setting
from empirical.laws import PatternLaw

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

PILOT = 1 << 16
SLACK = 1e-11


@dataclass(frozen=True)
class Question:
    """What is to be estimated: R_alpha(first || second) [-], from paths of both data sets.

    paths: how many will come from each data set; what is chosen on a half is chosen on half of it.
    confidence: in (0, 1), of each estimator's interval by itself.
    seed: of the streams that an estimator draws from beside the paths.
    patterns: both laws, where they are known mixtures.
    gaussian: whether both laws are known to be Gaussian (True), known not to be (False), or neither
        (None). equal_variance: whether they are then known to have one variance.

    Raises:
        AssumptionViolated: alpha <= 1. InvalidInput: paths or confidence out of range.
    """

    alpha: Fraction
    paths: int
    confidence: Decimal = Decimal("0.99")
    seed: int = 0
    patterns: PatternLaw | None = None
    gaussian: bool | None = None
    equal_variance: bool = False

    def __post_init__(self) -> None:
        ORDER.check(Setting(alpha=self.alpha))
        if self.paths < 1:
            raise InvalidInput(f"paths is {self.paths}; at least 1 is wanted")
        if not 0 < self.confidence < 1:
            raise InvalidInput(f"the confidence is {self.confidence}; between 0 and 1 is wanted")

    @property
    def order(self) -> float:
        """alpha [-] in float64."""
        return float(self.alpha)

    @property
    def error(self) -> float:
        """1 - confidence [-]: the error budget."""
        return float(1 - self.confidence)


@dataclass(frozen=True)
class Estimate:
    """A divergence estimated: value, interval, confidence, and what would void them.

    value, lower, upper [-]: None where there is none. With probability at least `confidence` the
    divergence is at least `lower` and at most `upper`, as far as they are given.
    void: what the interval takes for granted. undecided: why there is no evidence here, or None.
    """

    estimator: str
    value: float | None
    lower: float | None
    upper: float | None
    confidence: Decimal
    void: str
    undecided: str | None

    @classmethod
    def of(
        cls,
        estimator: str,
        question: Question,
        value: float | None,
        lower: float | None,
        upper: float | None,
        void: str,
        undecided: str | None = None,
    ) -> Estimate:
        """Put the numbers in order: NaN, infinite and vacuous ends become None, and are undecided.

        A divergence is never negative, so a lower end of at most 0 says nothing by itself; beside a
        finite upper end it stands as 0. Ends are moved outward by 1e-11 (1 + |end|), far more than
        rounding.
        """
        low, high = _finite(lower), _finite(upper)
        if undecided is None and (_is_nan(lower) or _is_nan(upper)):
            undecided = "the interval is not a number"
        if low is not None and high is not None and low > high:
            undecided = undecided or "the interval is empty"
        low = None if low is None else max(0.0, low - SLACK * (1 + abs(low)))
        high = None if high is None else max(0.0, high) + SLACK * (1 + abs(high))
        if low == 0.0 and high is None:
            low = None
        if undecided is None and low is None and high is None:
            undecided = "the interval is vacuous: no divergence is outside it"
        if undecided is not None:
            low = high = None
        elif low is None and high is not None:
            low = 0.0
        return cls(
            estimator, _finite(value), low, high, question.confidence, void, undecided
        )  # fmt: skip

    @property
    def usable(self) -> bool:
        """Whether the interval may be used as evidence."""
        return self.undecided is None

    @property
    def state(self) -> str:
        """ "usable" or "undecided"."""
        return "usable" if self.usable else "undecided"

    def as_json(self) -> dict[str, str | None]:
        """The contract of `hiddenstate estimate --json`; both ends are null where undecided."""
        return {
            "estimator": self.estimator, "value": _decimal(self.value),
            "lower": _decimal(self.lower), "upper": _decimal(self.upper),
            "confidence": str(self.confidence),
            "void": self.void if self.usable else f"undecided: {self.undecided}; {self.void}",
        }  # fmt: skip


def _finite(x: float | None) -> float | None:
    return None if x is None or not math.isfinite(x) else float(x)


def _is_nan(x: float | None) -> bool:
    return x is not None and math.isnan(x)


def _decimal(x: float | None) -> str | None:
    return None if x is None else repr(float(x))


class Accumulator(Protocol):
    """An estimate in the making, in constant memory."""

    def add(self, first: Floats, second: Floats) -> None:
        """Take in last iterates of the two data sets [parameter]; independent, identical paths."""
        ...

    def result(self) -> Estimate:
        """The estimate from what was taken in so far."""
        ...


# --- intervals ---------------------------------------------------------------------------------


def binomial_lower(count: Counts, trials: int, error: float) -> Floats:
    """Lower confidence limit of a probability [-], one-sided, elementwise.

    Source: Clopper and Pearson 1934.
    """
    with np.errstate(invalid="ignore"):
        value = betaincinv(np.maximum(count, 1), trials - count + 1.0, error)
    return np.where(count > 0, value, 0.0)


def binomial_upper(count: Counts, trials: int, error: float) -> Floats:
    """Upper confidence limit of a probability [-], one-sided, elementwise.

    Source: Clopper and Pearson 1934.
    """
    return 1.0 - binomial_lower(trials - count, trials, error)


def bernstein_radius(variance: float, size: int, error: float) -> float:
    """r with P(mean > sample mean + r) <= error for samples in [0, 1]; the other side alike.

    variance: sample variance with divisor size - 1.

    Source: Maurer and Pontil 2009, Theorem 4.
    """
    if size < 2:
        return math.inf
    log = math.log(2 / error)
    return math.sqrt(2 * max(variance, 0.0) * log / size) + 7 * log / (3 * (size - 1))


@dataclass
class Mean:
    """Sum and sum of squares of numbers in [0, 1]."""

    size: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: Floats) -> None:
        """Take in numbers, [any]."""
        self.size += len(values)
        self.total += float(values.sum())
        self.squares += float(values @ values)

    @property
    def mean(self) -> float:
        """[-]; NaN before there is any number."""
        return self.total / self.size if self.size else math.nan

    @property
    def variance(self) -> float:
        """Sample variance with divisor size - 1 [-]."""
        if self.size < 2:
            return math.nan
        return max(0.0, (self.squares - self.total * self.mean) / (self.size - 1))

    def lower(self, error: float) -> float:
        """Lower confidence limit of the mean, in [0, 1]."""
        if self.size < 2:
            return 0.0
        return max(0.0, self.mean - bernstein_radius(self.variance, self.size, error))

    def upper(self, error: float) -> float:
        """Upper confidence limit of the mean, in [0, 1]."""
        if self.size < 2:
            return 1.0
        return min(1.0, self.mean + bernstein_radius(self.variance, self.size, error))


# --- a pilot half ------------------------------------------------------------------------------


class Halves:
    """Paths in two parts: the first chooses what to look at, and never counts; the rest counts.

    The pilot is half of the paths that were promised, at most 65 536 of each data set, so that
    memory is constant.
    """

    def __init__(
        self,
        paths: int,
        choose: Callable[[Floats, Floats], None],
        count: Callable[[Floats, Floats], None],
    ) -> None:
        self.wanted = min(paths // 2, PILOT)
        self.held_out = 0
        self._choose, self._count = choose, count
        self._pilot: list[tuple[Floats, Floats]] | None = []
        self._have = 0

    @property
    def chosen(self) -> bool:
        """Whether the pilot is over."""
        return self._pilot is None

    def add(self, first: Floats, second: Floats) -> None:
        """Take in as many paths of the one data set as of the other."""
        if len(first) != len(second):
            raise InvalidInput(
                f"{len(first)} and {len(second)} paths came; as many of the one as of the other "
                "are wanted"
            )
        if self._pilot is not None:
            cut = min(self.wanted - self._have, len(first))
            self._pilot.append((first[:cut].copy(), second[:cut].copy()))
            self._have += cut
            if self._have < self.wanted:
                return
            pilot, self._pilot = self._pilot, None
            self._choose(*(np.concatenate(part) for part in zip(*pilot, strict=True)))
            first, second = first[cut:], second[cut:]
        if len(first):
            self.held_out += len(first)
            self._count(first, second)
