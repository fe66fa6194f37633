"""What a right implementation does whatever the input: properties, drawn by Hypothesis.

Each property is one decorated function: from a drawn point to the points that it compares, and a
test of the answers there. A point is a setting, of a bound, or an inquiry, of a conversion or a
calibration. `holds_for` says of which it is true; the tests run every property against every bound
of our own for which it is declared, and against our own conversions.

A property is broken only when it fails by more than the tolerance of the answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from bounds.arith import TooCostly
from bounds.bound import Bound, find
from bounds.conversion import RULES
from bounds.setting import InvalidInput, Setting
from verify.conformance import inquiries
from verify.conformance.compare import DIVIDE, FINE, Case, Judged, enclosed
from verify.conformance.conversions import CHEAP, NAMED
from verify.conformance.inquiries import Conversion, Inquiry
from verify.conformance.vectors import OTHERS

EXAMPLES = {"quick": 5, "standard": 20, "full": 100}
MOST_CALLS = {"quick": 60, "standard": 300, "full": 2000}

About = Bound | Conversion
Relation = Callable[[Sequence[Decimal], Decimal], bool]
Related = Callable[[Any, Any], list[Any]]
Test = Callable[[Any, Any, Sequence[Decimal], Decimal], bool]


@dataclass(frozen=True)
class Property:
    """What holds of the answers at a drawn point and at those beside it.

    related: the points beside the drawn one. test: of what is asked about, the drawn point, the
    answers, the drawn point's first, and a slack; None where the answers at the related points, or
    at the drawn one where there are none, are each judged by itself.
    """

    name: str
    says: str
    holds_for: Callable[[About], bool]
    related: Related
    test: Test | None = None


_PROPERTIES: list[Property] = []


def all_properties(about: About | None = None) -> tuple[Property, ...]:
    """Every property, or those that are true of a bound, of a conversion or of a calibration."""
    return tuple(item for item in _PROPERTIES if about is None or item.holds_for(about))


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


def _register(
    holds_for: Callable[[About], bool], test: Test | None
) -> Callable[[Related], Related]:
    """The function gives the related points, its name the name and its docstring the sentence."""

    def register(function: Related) -> Related:
        name = function.__name__.strip("_").replace("_", "-")
        says = " ".join((function.__doc__ or "").split())
        _PROPERTIES.append(Property(name, says, holds_for, function, test))
        return function

    return register


def prop(
    holds_for: Callable[[Bound], bool], test: Test | None = None
) -> Callable[[Related], Related]:
    """Register a property of those bounds."""
    return _register(lambda about: isinstance(about, Bound) and holds_for(about), test)


def of(*names: str, test: Test | None = None) -> Callable[[Related], Related]:
    """Register a property of conversions or calibrations, by their names."""
    return _register(lambda about: isinstance(about, Conversion) and about.name in names, test)


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


def compared(relation: Relation) -> Test:
    """A test that looks at the answers alone."""
    return lambda about, point, values, slack: relation(values, slack)


def at_least(floor: Callable[[Any, Any], Decimal | None]) -> Test:
    """A test that the first answer is not below a value from elsewhere, where there is one."""

    def test(about: Any, point: Any, values: Sequence[Decimal], slack: Decimal) -> bool:
        least = floor(about, point)
        return least is None or values[0] >= least - slack * abs(least)

    return test


def at_most(ceiling: Callable[[Any, Any], Decimal | None]) -> Test:
    """A test that the first answer is not above a value from elsewhere, where there is one."""

    def test(about: Any, point: Any, values: Sequence[Decimal], slack: Decimal) -> bool:
        most = ceiling(about, point)
        return most is None or values[0] <= most + slack * abs(most)

    return test


@prop(lambda bound: True)
def agrees_with_the_bound(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is the bound's value at any setting"""
    return []


@prop(lambda bound: _several_epochs(bound) and _divergence(bound), compared(rising))
def grows_with_epochs(bound: Bound, s: Setting) -> list[Setting]:
    """more epochs never lower the answer"""
    assert s.epochs is not None
    return [replace(s, epochs=s.epochs + 1), replace(s, epochs=2 * s.epochs + 1)]


@prop(lambda bound: not _divergence(bound), compared(falling))
def falls_with_epochs(bound: Bound, s: Setting) -> list[Setting]:
    """more epochs never raise a log-Sobolev constant"""
    assert s.epochs is not None
    return [replace(s, epochs=s.epochs + 1), replace(s, epochs=2 * s.epochs + 1)]


@prop(lambda bound: True, compared(falling))
def falls_with_noise(bound: Bound, s: Setting) -> list[Setting]:
    """more noise never raises the answer"""
    assert s.sigma2 is not None
    return [replace(s, sigma2=s.sigma2 * Fraction(3, 2)), replace(s, sigma2=s.sigma2 * 10)]


@prop(_divergence, compared(rising))
def grows_with_the_order(bound: Bound, s: Setting) -> list[Setting]:
    """a higher order never lowers the answer"""
    assert s.alpha is not None
    return [replace(s, alpha=s.alpha + Fraction(1, 2)), replace(s, alpha=2 * s.alpha)]


@prop(lambda bound: "position" in labels(bound), compared(rising))
def grows_with_the_position(bound: Bound, s: Setting) -> list[Setting]:
    """a record of a later batch is never hidden better"""
    places = range(s.place, s.batches)
    return [replace(s, position=place) for place in (places[len(places) // 2], places[-1])]


@prop(
    lambda bound: _divergence(bound) and bound.name not in NOT_LINEAR,
    compared(lambda v, slack: equal((v[0] * 2, v[1]), slack) and equal((v[0] * 5, v[2]), slack)),
)
def linear_in_the_order(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is proportional to the order"""
    assert s.alpha is not None
    return [replace(s, alpha=s.alpha * 2), replace(s, alpha=s.alpha * 5)]


@prop(_divergence, compared(equal))
def depends_on_sensitivity_over_sigma(bound: Bound, s: Setting) -> list[Setting]:
    """only the ratio of S_g to sigma matters"""
    assert s.sensitivity is not None and s.sigma2 is not None
    return [replace(s, sensitivity=s.sensitivity * 4, sigma2=s.sigma2 * 16)]


@prop(_divergence, compared(equal))
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
    compared(
        lambda v, slack: all(
            DIVIDE.multiply(value, Decimal(by)) <= v[0] * (1 + slack)
            for value, by in zip(v[1:], (4, 10**6), strict=True)
        )
    ),
)
def vanishes_with_noise(bound: Bound, s: Setting) -> list[Setting]:
    """t times the noise sigma^2 leaves at most 1/t of the answer"""
    assert s.sigma2 is not None
    return [replace(s, sigma2=s.sigma2 * 4), replace(s, sigma2=s.sigma2 * 10**6)]


@prop(
    lambda bound: bound.name in CONVERGING,
    compared(lambda v, slack: equal(v[1:], max(slack, Decimal("1e-9")))),
)
def converges(bound: Bound, s: Setting) -> list[Setting]:
    """the answer hardly changes once eta lambda K is large"""
    settled = int(100 / s.eta_lambda) + 1
    return [replace(s, epochs=settled), replace(s, epochs=10 * settled)]


def _composition(bound: Bound, s: Setting) -> Decimal:
    assert s.alpha is not None and s.epochs is not None
    value = s.alpha * s.rate * s.epochs
    return DIVIDE.divide(Decimal(value.numerator), Decimal(value.denominator))


@prop(lambda bound: bound.name in COMPOSED, at_most(_composition))
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


@prop(_above_the_truth, at_least(truth))
def not_below_the_exact_divergence(bound: Bound, s: Setting) -> list[Setting]:
    """the answer is at least the exact divergence of a quadratic problem"""
    return []


# --- conversions and calibrations ---

CONVERSIONS = ("conversion", "conversion_of_bound")


@of(*OTHERS)
def agrees_with_the_definition(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """the answer is the defined value at any input, and a refusal where there is none"""
    return []


@of(*OTHERS)
def refuses_what_is_outside(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """a delta, orders, values or a target out of range are refused"""
    out = [replace(q, delta=delta) for delta in (Fraction(0), Fraction(1), -q.delta, 1 + q.delta)]
    if q.orders is not None:
        none = None if q.epsilons is None else ()
        out.append(replace(q, orders=(), epsilons=none))
        out += [
            replace(q, orders=(order, *q.orders[1:]))
            for order in (Fraction(1), Fraction(1, 2), Fraction(-2))
        ]
    if q.epsilons is not None:
        out.append(replace(q, epsilons=(*q.epsilons, Fraction(1))))
        out.append(replace(q, epsilons=(Fraction(-1, 8), *q.epsilons[1:])))
    if q.target is not None:
        out += [replace(q, target=Fraction(0)), replace(q, target=-q.target)]
    elif q.bound:
        out.append(replace(q, setting=replace(q.setting, sigma2=Fraction(0))))
    return out


@of(*OTHERS, test=compared(rising))
def grows_as_delta_falls(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """a smaller delta never lowers the answer"""
    return [replace(q, delta=q.delta / 2), replace(q, delta=q.delta / 1000)]


@of(*OTHERS, test=compared(rising))
def fewer_orders_never_help(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """leaving out orders never lowers the answer"""
    if q.orders is None:
        lists = [(Fraction(3, 2), Fraction(4), Fraction(16)), (Fraction(4),)]
        return [replace(q, orders=some) for some in lists]
    keep = len(q.orders) // 2 or 1
    values = None if q.epsilons is None else q.epsilons[:keep]
    return [replace(q, orders=q.orders[:keep], epsilons=values)]


@of(*OTHERS, test=compared(equal))
def does_not_depend_on_the_order_of_the_list(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """the orders may come in any sequence"""
    out = []
    for turn in (slice(None, None, -1), slice(1, None)):
        orders = None if q.orders is None else q.orders[turn] + q.orders[: turn.start or 0]
        values = None if q.epsilons is None else q.epsilons[turn] + q.epsilons[: turn.start or 0]
        out.append(replace(q, orders=orders, epsilons=values))
    return out


@of("conversion", test=compared(rising))
def grows_with_the_divergence(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """a larger Renyi divergence never lowers the answer"""
    assert q.epsilons is not None
    first = (q.epsilons[0] * 2 + 1, *q.epsilons[1:])
    return [replace(q, epsilons=first), replace(q, epsilons=tuple(2 * x + 1 for x in q.epsilons))]


@of(
    "conversion",
    test=compared(lambda v, slack: not v[0] > 0 or equal((DIVIDE.add(v[0], 1), v[1]), slack)),
)
def shifts_with_the_divergence(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """a constant added to every Renyi divergence is added to a positive epsilon"""
    assert q.epsilons is not None
    return [replace(q, epsilons=tuple(value + 1 for value in q.epsilons))]


@of(
    "conversion",
    test=compared(lambda v, slack: DIVIDE.multiply(v[2], Decimal(1000)) <= v[1] * (1 + slack)),
)
def vanishes_at_large_orders(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """without divergence, t times the order less 1 leaves at most 1/t of epsilon"""
    assert q.orders is not None
    less = q.orders[0] - 1
    return [replace(q, orders=(1 + times * less,), epsilons=(Fraction(0),)) for times in (1, 1000)]


@of(*CONVERSIONS, test=at_least(lambda about, q: inquiries.floor_of(q.as_strings())))
def not_below_the_exact_epsilon(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """the answer is at least the exact epsilon of a Gaussian query with no larger divergence"""
    return []


@of(*CONVERSIONS, test=at_most(lambda about, q: inquiries.ceiling_of(q.as_strings())))
def not_above_the_classical_rule(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """the answer is at most that of the classical rule"""
    return []


@of("conversion_of_bound", test=compared(falling))
def epsilon_falls_with_noise(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """more noise never raises epsilon"""
    return _with_setting(q, falls_with_noise)


@of("conversion_of_bound", "calibration", test=compared(rising))
def rises_with_epochs(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """more epochs never lower epsilon, nor the noise that is needed"""
    return _with_setting(q, grows_with_epochs)


@of("conversion_of_bound", test=compared(equal))
def epsilon_depends_on_sensitivity_over_sigma(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """only the ratio of S_g to sigma matters to epsilon"""
    return _with_setting(q, depends_on_sensitivity_over_sigma)


def _with_setting(q: Inquiry, related: Related) -> list[Inquiry]:
    return [replace(q, setting=setting) for setting in related(find(q.bound), q.setting)]


@of("calibration", test=compared(falling))
def noise_falls_with_the_target(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """a larger target never needs more noise"""
    assert q.target is not None
    return [replace(q, target=q.target * Fraction(3, 2)), replace(q, target=q.target * 10)]


@of("calibration", test=compared(lambda v, slack: equal((v[0] * 16, v[1]), slack)))
def noise_scales_with_the_sensitivity(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """sigma is proportional to S_g"""
    assert q.setting.sensitivity is not None
    return [replace(q, setting=replace(q.setting, sensitivity=q.setting.sensitivity * 4))]


@of("calibration", test=compared(lambda v, slack: equal((v[0] * 4, v[1]), slack)))
def noise_has_its_unit(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """in another unit of the parameters the noise is the same"""
    setting = replace(q.setting, sigma2=Fraction(1))
    (other,) = does_not_depend_on_units(find(q.bound), setting)
    return [replace(q, setting=replace(other, sigma2=None))]


def _meets(about: Conversion, q: Inquiry, values: Sequence[Decimal], slack: Decimal) -> bool:
    assert q.target is not None
    if values[0] <= 0:
        return False
    found = inquiries.epsilon_at(q.as_strings(), Fraction(values[0]) * (1 + Fraction(slack)))
    return found is None or Fraction(found[0]) <= q.target


@of("calibration", test=_meets)
def noise_meets_the_target(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """with the noise that is returned, epsilon is at most the target"""
    return []


def _least(about: Conversion, q: Inquiry, values: Sequence[Decimal], slack: Decimal) -> bool:
    assert q.target is not None
    if values[0] <= 0:
        return True
    found = inquiries.epsilon_at(q.as_strings(), Fraction(values[0]) * (1 - Fraction(slack)))
    return found is None or Fraction(found[1]) >= q.target


@of("calibration", test=_least)
def less_noise_misses_the_target(about: Conversion, q: Inquiry) -> list[Inquiry]:
    """with slightly less noise than is returned, epsilon exceeds the target"""
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


@st.composite
def asked(draw: st.DrawFn, about: Conversion) -> Inquiry:
    """An inquiry within the range of what is asked about, in short decimals."""
    order = st.builds(
        lambda k, e: 1 + Fraction(k, 10**e), st.integers(1, 90), st.integers(0, 1)
    )  # fmt: skip
    orders = tuple(draw(st.lists(order, min_size=1, max_size=4, unique=True)))
    made = Inquiry(
        Fraction(draw(st.integers(1, 9)), 10 ** draw(st.integers(1, 10))),
        draw(st.sampled_from(tuple(RULES))), orders,
    )  # fmt: skip
    value = st.builds(lambda k, e: Fraction(k, 10**e), st.integers(1, 99), st.integers(0, 3))
    if about.name == "conversion":
        count = len(orders)
        values = draw(st.lists(value, min_size=count, max_size=count))
        return replace(made, epsilons=tuple(values))
    # What satisfies Theorem 3.3 satisfies all these bounds.
    setting = replace(draw(drawn(find("fixed_order"))), alpha=None)
    made = replace(made, bound=draw(st.sampled_from(tuple(NAMED))), setting=setting)
    if about.name == "calibration":
        if made.bound == "sampled_gaussian":
            made = replace(made, bound="shuffle_partition")
        made = replace(made, setting=replace(setting, sigma2=None), target=draw(value))
    every = made.bound in CHEAP and draw(st.integers(0, 3)) == 3
    return replace(made, orders=None) if every else made


def points(about: About) -> st.SearchStrategy[Any]:
    """What is drawn: settings of a bound, or inquiries."""
    return drawn(about) if isinstance(about, Bound) else asked(about)


def case_at(about: About, point: Any) -> Case:
    """A drawn point with its true answer.

    Raises:
        InvalidInput: it is not known.
    """
    if isinstance(about, Bound):
        return enclosed(about, point)
    return about.case(point.as_strings())


@dataclass(frozen=True)
class Tried:
    """What came of one property.

    broken: the smallest point that breaks it, as Hypothesis shrank it, with the answers there.
    """

    name: str
    says: str
    examples: int
    broken: Setting | Inquiry | None = None
    answers: tuple[str, ...] = ()


class Enough(BaseException):
    """So much was asked that drawing and shrinking end here; Hypothesis lets it through."""


class Broken(AssertionError):
    """A property that does not hold at a setting."""


def attempt(
    which: Property,
    about: About,
    ask: Callable[[Case], Judged],
    adapt: Callable[[Any], Any],
    tolerance: Decimal,
    effort: str = "quick",
    start: int | None = None,
) -> Tried:
    """Draw points and see whether a property holds of what `ask` says about them.

    ask: judges the subject's answer to a case. adapt: the point changed to what the subject
    takes for granted, or None. start: a seed; the same examples every time without one.
    """
    calls, examples = 0, 0
    broken: dict[Any, tuple[str, ...]] = {}

    def check(point: Any) -> None:
        nonlocal calls, examples
        if point not in broken:
            if calls >= MOST_CALLS[effort]:
                raise Enough
            adapted = adapt(point)
            if adapted is None:
                return
            try:
                cases = [case_at(about, item) for item in (adapted, *which.related(about, adapted))]
            except InvalidInput:
                return
            calls += len(cases)
            examples += 1
            found = [ask(case) for case in cases]
            if holds(which, about, adapted, found, tolerance):
                return
            broken[point] = tuple(str(item.answer) for item in found)
        raise Broken(which.name)

    run: Any = given(point=points(about))(check)
    run = settings(
        max_examples=EXAMPLES[effort], derandomize=start is None, database=None, deadline=None,
        phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False, verbosity=Verbosity.quiet, print_blob=False,
    )(run)  # fmt: skip
    if start is not None:
        run = seed(start)(run)
    with contextlib.suppress(Broken, Enough):
        run()
    if not broken:
        return Tried(which.name, which.says, examples)
    # Hypothesis goes from one that fails to a simpler one, so that the last is the simplest.
    last = list(broken)[-1]
    return Tried(which.name, which.says, examples, adapt(last), broken[last])


def holds(
    which: Property, about: About, point: Any, found: Sequence[Judged], tolerance: Decimal
) -> bool:
    """Whether a property holds of the answers; those that were not asked break nothing."""
    if which.test is None:
        return all(item.outcome in FINE for item in found[1:] or found)
    values = [item.answer.value for item in found if item.answer.value is not None]
    if any(item.outcome == "unasked" for item in found) or len(values) < len(found):
        return True
    if not all(value.is_finite() for value in values):
        return True
    return which.test(about, point, values, 4 * tolerance)


# --- refusals ------------------------------------------------------------


def violations(about: About) -> list[Case]:
    """Settings outside each assumption of a bound, one step and far away.

    None of a conversion or a calibration, for which these are drawn.
    """
    if isinstance(about, Conversion):
        return []
    bound = about
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
