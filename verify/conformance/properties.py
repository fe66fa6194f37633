"""What a right implementation does whatever the input: properties, drawn by Hypothesis.

Each property is one decorated function: from a drawn setting to the settings that it compares, and
a relation between the answers there. `holds_for` says of which bounds it is true; the tests run
every property against every bound of our own for which it is declared.

A relation is broken only when it fails by more than the tolerance of the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from bounds.arith import TooCostly
from bounds.bound import Bound
from bounds.setting import InvalidInput, Setting
from verify.conformance.compare import DIVIDE, FINE, Case, Judged, enclosed

EXAMPLES = {"quick": 5, "standard": 20, "full": 100}
MOST_CALLS = {"quick": 60, "standard": 300, "full": 2000}

Relation = Callable[[Sequence[Decimal], Decimal], bool]
Related = Callable[[Bound, Setting], list[Setting]]


@dataclass(frozen=True)
class Property:
    """A relation between answers.

    related: the settings beside the drawn one. relation: of the answers and a slack, the drawn
    setting's first. floor: a value from elsewhere that the first answer must not be below.
    """

    name: str
    says: str
    holds_for: Callable[[Bound], bool]
    related: Callable[[Bound, Setting], list[Setting]]
    relation: Relation | None = None
    against: Callable[[Bound, Setting], Decimal | None] | None = None


_PROPERTIES: list[Property] = []


def all_properties(bound: Bound | None = None) -> tuple[Property, ...]:
    """Every property, or those that are true of a bound."""
    return tuple(item for item in _PROPERTIES if bound is None or item.holds_for(bound))


def labels(bound: Bound) -> set[str]:
    """The labels of what a bound assumes."""
    return {assumption.label for assumption in bound.assumptions}


def _divergence(bound: Bound) -> bool:
    return bound.quantity == "renyi-divergence"


def _several_epochs(bound: Bound) -> bool:
    return "one-epoch" not in labels(bound) and "epochs" in labels(bound)


NOT_LINEAR = {
    "shuffle_partition", "logistic_regression", "without_replacement", "sampled_gaussian",
    "optimal_shuffle", "optimal_without_replacement",
}  # fmt: skip
"""Bounds that average exponentials, so that they are not linear in the order nor in A."""
COMPOSED = {
    "fixed_order_composition", "convex_fixed_order", "recursion_composition",
    "recursion_postprocessing", "feldman_2018_epochs", "feldman_2018_one_epoch", "first_epoch",
    "optimal_fixed_order", "optimal_shuffle", "bok_2024_cyclic", "bok_2024_full_batch",
}  # fmt: skip
"""Bounds that are never above composition, K alpha A."""
CONVERGING = {
    "fixed_order", "shuffle_partition", "logistic_regression", "full_batch", "naive_extension",
    "chourasia_2021", "lsi_strongly_convex", "bok_2024_cyclic", "bok_2024_full_batch",
    "optimal_fixed_order", "optimal_shuffle", "ryffel_2022",
}  # fmt: skip
"""Bounds that hardly change once eta lambda K is large."""


def prop(
    holds_for: Callable[[Bound], bool],
    relation: Relation | None = None,
    against: Callable[[Bound, Setting], Decimal | None] | None = None,
) -> Callable[[Related], Related]:
    """Register a property; the function gives the related settings, its docstring the sentence."""

    def register(function: Related) -> Related:
        name = function.__name__.strip("_").replace("_", "-")
        says = " ".join((function.__doc__ or "").split())
        _PROPERTIES.append(Property(name, says, holds_for, function, relation, against))
        return function

    return register


def _size(values: Sequence[Decimal]) -> Decimal:
    return max(abs(value) for value in values)


def rising(values: Sequence[Decimal], slack: Decimal) -> bool:
    """No answer is below the one before."""
    return all(DIVIDE.subtract(b, a) >= -slack * _size((a, b)) for a, b in pairwise(values))


def falling(values: Sequence[Decimal], slack: Decimal) -> bool:
    """No answer is above the one before."""
    return rising(values[::-1], slack)


def equal(values: Sequence[Decimal], slack: Decimal) -> bool:
    """All answers are the same."""
    return max(values) - min(values) <= slack * _size(values)


@prop(lambda bound: True)
def agrees_with_the_bound(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is the bound's value at any setting"""
    return []


@prop(lambda bound: _several_epochs(bound) and _divergence(bound), rising)
def grows_with_epochs(bound: Bound, s: Setting) -> list[Setting]:
    """more epochs never lower the answer"""
    assert s.epochs is not None
    return [replace(s, epochs=s.epochs + 1), replace(s, epochs=2 * s.epochs + 1)]


@prop(lambda bound: not _divergence(bound), falling)
def falls_with_epochs(bound: Bound, s: Setting) -> list[Setting]:
    """more epochs never raise a log-Sobolev constant"""
    assert s.epochs is not None
    return [replace(s, epochs=s.epochs + 1), replace(s, epochs=2 * s.epochs + 1)]


@prop(lambda bound: True, falling)
def falls_with_noise(bound: Bound, s: Setting) -> list[Setting]:
    """more noise never raises the answer"""
    assert s.sigma2 is not None
    return [replace(s, sigma2=s.sigma2 * Fraction(3, 2)), replace(s, sigma2=s.sigma2 * 10)]


@prop(_divergence, rising)
def grows_with_the_order(bound: Bound, s: Setting) -> list[Setting]:
    """a higher order never lowers the answer"""
    assert s.alpha is not None
    return [replace(s, alpha=s.alpha + Fraction(1, 2)), replace(s, alpha=2 * s.alpha)]


@prop(lambda bound: "position" in labels(bound), rising)
def grows_with_the_position(bound: Bound, s: Setting) -> list[Setting]:
    """a record of a later batch is never hidden better"""
    places = range(s.place, s.batches)
    return [replace(s, position=place) for place in (places[len(places) // 2], places[-1])]


@prop(
    lambda bound: _divergence(bound) and bound.name not in NOT_LINEAR,
    lambda v, slack: equal((v[0] * 2, v[1]), slack) and equal((v[0] * 5, v[2]), slack),
)
def linear_in_the_order(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is proportional to the order"""
    assert s.alpha is not None
    return [replace(s, alpha=s.alpha * 2), replace(s, alpha=s.alpha * 5)]


@prop(_divergence, equal)
def depends_on_sensitivity_over_sigma(bound: Bound, s: Setting) -> list[Setting]:
    """only the ratio of S_g to sigma matters"""
    assert s.sensitivity is not None and s.sigma2 is not None
    return [replace(s, sensitivity=s.sensitivity * 4, sigma2=s.sigma2 * 16)]


@prop(_divergence, equal)
def does_not_depend_on_units(bound: Bound, s: Setting) -> list[Setting]:
    """the unit of the parameters does not matter"""
    assert s.eta is not None and s.lambda_ is not None and s.beta is not None
    assert s.sensitivity is not None and s.sigma2 is not None
    return [
        replace(
            s, eta=s.eta / 4, lambda_=s.lambda_ * 4, beta=s.beta * 4,
            sensitivity=s.sensitivity * 4, sigma2=s.sigma2 * 4,
        )
    ]  # fmt: skip


@prop(
    _divergence,
    lambda v, slack: all(
        DIVIDE.multiply(value, Decimal(by)) <= v[0] * (1 + slack)
        for value, by in zip(v[1:], (4, 10**6), strict=True)
    ),
)
def vanishes_with_noise(bound: Bound, s: Setting) -> list[Setting]:
    """t times the noise sigma^2 leaves at most 1/t of the answer"""
    assert s.sigma2 is not None
    return [replace(s, sigma2=s.sigma2 * 4), replace(s, sigma2=s.sigma2 * 10**6)]


@prop(
    lambda bound: bound.name in CONVERGING,
    lambda v, slack: equal(v[1:], max(slack, Decimal("1e-9"))),
)
def converges(bound: Bound, s: Setting) -> list[Setting]:
    """the answer hardly changes once eta lambda K is large"""
    settled = int(100 / s.eta_lambda) + 1
    return [replace(s, epochs=settled), replace(s, epochs=10 * settled)]


def _composition(bound: Bound, s: Setting) -> Decimal:
    assert s.alpha is not None and s.epochs is not None
    value = s.alpha * s.rate * s.epochs
    return -DIVIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


@prop(lambda bound: bound.name in COMPOSED, None, _composition)
def not_above_composition(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is at most that of composition, K alpha A"""
    return []


def truth(bound: Bound, s: Setting) -> Decimal | None:
    """The exact divergence of a run that the bound is about, from below; None if not affordable."""
    from empirical.divergence import exact_divergence
    from verify.comparison import SCHEMES

    if bound.scheme not in SCHEMES or s.steps > 60:
        return None
    scheme, centre = SCHEMES[bound.scheme]
    try:
        return Decimal(exact_divergence(s, scheme, centre=centre).lower)
    except (InvalidInput, TooCostly, ValueError):
        return None


def _above_the_truth(bound: Bound) -> bool:
    from verify.comparison import SCHEMES

    valid = bound.direction == "upper" and bound.standing == "theorem" and _divergence(bound)
    return valid and bound.scheme in SCHEMES


@prop(_above_the_truth, None, truth)
def not_below_the_exact_divergence(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is at least the exact divergence of a quadratic problem"""
    return []


# --- drawing ------------------------------------------------------------


@st.composite
def drawn(draw: st.DrawFn, bound: Bound) -> Setting:
    """A setting that satisfies the bound's assumptions, in short decimals."""
    wanted = labels(bound)
    batches, b = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    spare = draw(st.integers(0, b - 1))
    eta = Fraction(draw(st.integers(1, 9)), 10 ** draw(st.integers(0, 3)))
    lost = Fraction(draw(st.integers(1, 44)), 10 ** draw(st.integers(2, 3)))
    # A short decimal lambda with eta lambda at most `lost`.
    lambda_ = Fraction(f"{float(lost / eta):.1e}") if lost / eta < 10**9 else lost / eta
    while eta * lambda_ > Fraction(45, 100):
        lambda_ /= 2
    beta = lambda_ * (1 + Fraction(draw(st.integers(0, 10)), 10))
    alpha = 1 + Fraction(draw(st.integers(1, 90)), 10 ** draw(st.integers(0, 1)))
    ratio = Fraction(draw(st.integers(1, 99)), 10 ** draw(st.integers(0, 4)))
    sensitivity = Fraction(draw(st.integers(1, 40)), 10)
    sigma2 = eta * sensitivity**2 / (4 * ratio * b**2)
    sigma2 = Fraction(f"{float(sigma2):.1e}")
    made = Setting(
        n=batches * b + spare, b=b, epochs=draw(st.integers(1, 12)), eta=eta, lambda_=lambda_,
        beta=beta, sensitivity=sensitivity, sigma2=sigma2, alpha=alpha,
        position=draw(st.integers(0, batches - 1)),
    )  # fmt: skip
    if "full-batch" in wanted:
        made = replace(made, b=made.n, sigma2=sigma2 * b * b / (made.n or 1) ** 2, position=0)
    return replace(made, epochs=1) if "one-epoch" in wanted else made


@dataclass(frozen=True)
class Tried:
    """What came of one property.

    broken: the smallest setting that breaks it, as Hypothesis shrank it, with the answers there.
    """

    name: str
    says: str
    examples: int
    broken: Setting | None = None
    answers: tuple[str, ...] = ()


class Broken(AssertionError):
    """A property that does not hold at a setting."""


def attempt(
    which: Property,
    bound: Bound,
    ask: Callable[[Case], Judged],
    adapt: Callable[[Setting], Setting | None],
    tolerance: Decimal,
    effort: str = "quick",
    start: int | None = None,
) -> Tried:
    """Draw settings and see whether a property holds of what `ask` says about them.

    ask: judges the subject's answer to a case. adapt: the setting changed to what the subject
    takes for granted, or None. start: a seed; the same examples every time without one.
    """
    calls, examples = 0, 0
    broken: dict[Setting, tuple[str, ...]] = {}

    def check(setting: Setting) -> None:
        nonlocal calls, examples
        if setting not in broken:
            if calls >= MOST_CALLS[effort]:
                return
            adapted = adapt(setting)
            if adapted is None:
                return
            asked = [adapted, *which.related(bound, adapted)]
            try:
                cases = [enclosed(bound, item) for item in asked]
            except InvalidInput:
                return
            calls += len(cases)
            examples += 1
            found = [ask(case) for case in cases]
            if holds(which, bound, adapted, found, tolerance):
                return
            broken[setting] = tuple(str(item.answer) for item in found)
        raise Broken(which.name)

    run: Any = given(setting=drawn(bound))(check)
    run = settings(
        max_examples=EXAMPLES[effort], derandomize=start is None, database=None, deadline=None,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False, verbosity=Verbosity.quiet, print_blob=False,
    )(run)  # fmt: skip
    if start is not None:
        run = seed(start)(run)
    try:
        run()
    except Broken:
        last = list(broken)[-1]
        return Tried(which.name, which.says, examples, adapt(last), broken[last])
    return Tried(which.name, which.says, examples)


def holds(
    which: Property, bound: Bound, setting: Setting, found: Sequence[Judged], tolerance: Decimal
) -> bool:
    """Whether a property holds of the answers; those that were not asked break nothing."""
    if any(item.outcome == "unasked" for item in found):
        return True
    if which.relation is None and which.against is None:
        return all(item.outcome in FINE for item in found)
    values = [item.answer.value for item in found if item.answer.value is not None]
    if len(values) < len(found) or not all(value.is_finite() for value in values):
        return True
    slack = 4 * tolerance
    if which.against is not None:
        other = which.against(bound, setting)
        if other is None:
            return True
        # Negative stands for a ceiling, see `_composition`.
        first = values[0] if other >= 0 else -values[0]
        return first >= other - slack * abs(other)
    assert which.relation is not None
    return which.relation(values, slack)


# --- refusals ------------------------------------------------------------


def violations(bound: Bound) -> list[Case]:
    """Settings outside each assumption of a bound, one step and far away."""
    base = Setting.of(
        n=12, b=3, epochs=2, eta="0.25", lambda_="1", beta="1.5", sensitivity=1, sigma2=1, alpha=3,
        position=1,
    )  # fmt: skip
    if "full-batch" in labels(bound):
        base = replace(base, b=12, position=0)
    if "one-epoch" in labels(bound):
        base = replace(base, epochs=1)
    changes: list[dict[str, Any]] = [
        {"alpha": 1}, {"alpha": "0.5"}, {"epochs": 0}, {"epochs": -1}, {"epochs": 2},
        {"sigma2": 0}, {"sigma2": -1}, {"sensitivity": 0}, {"eta": 0}, {"eta": "-0.25"},
        {"eta": 1}, {"eta": 3}, {"lambda": 0}, {"lambda": -1}, {"beta": "0.5"}, {"beta": 0},
        {"b": 12, "position": 0}, {"b": 13}, {"b": 0}, {"b": 4, "n": 13, "position": 7},
        {"position": 4}, {"position": -1},
    ]  # fmt: skip
    found = []
    for change in changes:
        setting = base.replace(**change)
        try:
            bound.check(setting)
        except InvalidInput as error:
            label = getattr(error, "label", None)
            if label is not None:
                given = {k.replace("-", "_"): v for k, v in setting.as_strings().items()}
                name = "outside-" + "-".join(f"{k}={v}" for k, v in change.items())
                found.append(Case(name, given, False, None, None, label, (), bound.name))
    return found
