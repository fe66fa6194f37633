"""The catalogue of known mistakes: what a subject that makes one would answer.

Each mistake is one decorated function, found by `catalogue`. The decorator says how it is written:

    @of_setting   setting -> the setting that is used in its place, by bounds, conversions of
                  bounds and calibrations
    @of_terms     (bound parameters, number system) -> the parameters that are used in their place
    @of_words     (bound parameters, words) -> words of the number system that are done wrongly
    @of_answer    (bound, setting, right value) -> the wrong value
    @of_curve     curve with delta and rule -> epsilon, for conversions and calibrations
    @of_noise     (setting, sigma^2) -> the wrong answer of a calibration
    @of_checks    cases that were wrongly accepted -> whether this is why
    @of_refusals  cases that were wrongly refused -> whether this is why

The docstring is what the diagnosis says. Its name is the function's, with hyphens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any

import flint
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln, log_ndtr

from bounds.arith.averaging import TERM_BY_TERM
from bounds.arith.ball import Ball, decimal_bounds, precision
from bounds.arith.ball import Complement as BallComplement
from bounds.arith.float64 import Float64
from bounds.bound import Bound, Parameters, bind, find
from bounds.conversion import formula
from bounds.setting import InvalidInput, Setting, exact
from verify.conformance.compare import Case
from verify.conformance.translate import root, setting_of

BITS = 160
MOST_TERMS = 3000


class NoPrediction(Exception):
    """The mistake says nothing here: it divides by zero, or would take too long to follow."""


@dataclass(frozen=True)
class Mistake:
    """One entry.

    predict: the answer to a case, for mistakes in numbers. explains: whether the cases that were
    accepted (or refused) are all due to it. about: "bound", "conversion", "conversion_of_bound",
    "calibration", "checks" or "refusals".
    """

    name: str
    says: str
    about: str
    predict: Callable[[Case], Decimal] | None = None
    explains: Callable[[Sequence[Case]], bool] | None = None


_CATALOGUE: list[Mistake] = []


@lru_cache(maxsize=20_000)
def predicted(mistake: Mistake, case: Case) -> Decimal | None:
    """The answer to a case of a subject that makes the mistake; None where that is not known."""
    assert mistake.predict is not None
    try:
        return mistake.predict(case)
    except NoPrediction:
        return None


def catalogue(about: str | None = None) -> tuple[Mistake, ...]:
    """All mistakes, or those of one kind, in the order of this file."""
    return tuple(item for item in _CATALOGUE if about in (None, item.about))


def _title(function: Any) -> tuple[str, str]:
    return function.__name__.strip("_").replace("_", "-"), " ".join(function.__doc__.split())


def _add(function: Any, about: str, **what: Any) -> Any:
    name, says = _title(function)
    _CATALOGUE.append(Mistake(name, says, about, **what))
    return function


def _decimal(ball: Any) -> Decimal:
    if not ball.is_finite():
        raise NoPrediction
    low, _ = decimal_bounds(ball, 20)
    if not Decimal(low).is_finite() or (not ball.rel_accuracy_bits() > 30 and not ball.is_exact()):
        raise NoPrediction
    return Decimal(low)


def _evaluate(bound: Bound, setting: Setting, change: Any = None, words: Any = None) -> Decimal:
    """The bound's formula in balls, unchecked, with changed parameters or words."""
    try:
        with precision(BITS):
            ctx = Ball(BITS)
            p = bind(setting, ctx)
            if words is not None:
                for name, word in words(p, ctx).items():
                    setattr(ctx, name, word)
            if change is not None:
                p = change(p, ctx)
            return _decimal(bound.epsilon(p, ctx))
    except (ArithmeticError, InvalidInput, ValueError, AssertionError, TypeError) as error:
        raise NoPrediction from error


def _usual(case: Case) -> tuple[Bound, Setting]:
    bound = find(case.bound)
    if case.setting is None:
        raise NoPrediction
    try:
        return bound, bound.check(case.setting)
    except InvalidInput as error:
        raise NoPrediction from error


def of_setting(function: Callable[[Setting], Setting]) -> Any:
    """A mistake in the setting, wherever a bound is evaluated."""

    def predict(case: Case) -> Decimal:
        bound, setting = _usual(case)
        return _changed(function, bound, setting)

    _add(
        function, "conversion_of_bound", predict=lambda case: _of_curve(case, change=function)
    )  # fmt: skip
    _add(function, "calibration", predict=lambda case: _of_noise(case, change=function))
    return _add(function, "bound", predict=predict)


def _changed(
    function: Callable[[Setting], Setting] | None, bound: Bound, setting: Setting
) -> Decimal:
    """The bound at the setting that a mistake makes of one."""
    try:
        return _evaluate(bound, setting if function is None else function(setting))
    except (ArithmeticError, ValueError, AssertionError, TypeError) as error:
        raise NoPrediction from error


def of_terms(function: Callable[[Parameters, Any], Parameters]) -> Any:
    """A mistake in the terms of the formula."""
    return _add(function, "bound", predict=lambda case: _evaluate(*_usual(case), change=function))


def of_words(function: Callable[[Parameters, Any], dict[str, Any]]) -> Any:
    """A mistake in a step of the formula."""

    def predict(case: Case) -> Decimal:
        bound, setting = _usual(case)
        if bound.name == "optimal_shuffle" and setting.batches > TERM_BY_TERM:
            raise NoPrediction  # long means are taken in parts there, past the word
        return _evaluate(bound, setting, words=function)

    return _add(function, "bound", predict=predict)


def of_answer(function: Callable[[Bound, Setting, Decimal], Decimal]) -> Any:
    """A mistake in what is returned."""

    def predict(case: Case) -> Decimal:
        bound, setting = _usual(case)
        assert case.lower is not None
        return function(bound, setting, Decimal(case.lower))

    return _add(function, "bound", predict=predict)


def of_checks(function: Callable[[Sequence[Case]], bool]) -> Any:
    """A missing check."""
    return _add(function, "checks", explains=function)


def of_refusals(function: Callable[[Sequence[Case]], bool]) -> Any:
    """A needless check."""
    return _add(function, "refusals", explains=function)


def _noise(setting: Setting, factor: Any) -> Setting:
    assert setting.sigma2 is not None
    return replace(setting, sigma2=setting.sigma2 * factor)


# --- K, n/b and the position ---


@of_setting
def epochs_plus_one(s: Setting) -> Setting:
    """K + 1 where K belongs, or K where K - 1 does: one epoch too many."""
    assert s.epochs is not None
    return replace(s, epochs=s.epochs + 1)


@of_setting
def epochs_minus_one(s: Setting) -> Setting:
    """K - 1 where K belongs: one epoch too few."""
    assert s.epochs is not None
    return replace(s, epochs=s.epochs - 1)


@of_terms
def updates_for_epochs(p: Parameters, ctx: Any) -> Parameters:
    """The number of updates K floor(n/b) where the number of epochs K belongs."""
    return replace(p, epochs=p.steps)


@of_terms
def epochs_for_updates(p: Parameters, ctx: Any) -> Parameters:
    """The number of epochs K where the number of updates K floor(n/b) belongs."""
    return replace(p, steps=p.epochs)


@of_setting
def epochs_read_as_updates(s: Setting) -> Setting:
    """K is read as a number of updates, so that there are K/(n/b) epochs."""
    assert s.epochs is not None
    whole, rest = divmod(s.epochs, s.batches)
    if rest or not whole:
        raise ValueError("no whole epochs")
    return replace(s, epochs=whole)


@of_setting
def one_epoch_only(s: Setting) -> Setting:
    """The first K - 1 epochs are forgotten: the answer is the one for K = 1."""
    return replace(s, epochs=1)


@of_terms
def ceil_for_floor(p: Parameters, ctx: Any) -> Parameters:
    """n/b is rounded up in place of down."""
    batches = -(-p.n // p.b)
    moved = batches - p.batches if p.given.position is None else 0
    return replace(
        p, batches=batches, half=batches // 2, steps=p.epochs * batches, position=p.position + moved
    )


@of_terms
def updates_plus_one(p: Parameters, ctx: Any) -> Parameters:
    """One update too many in an epoch: n/b + 1 where n/b belongs."""
    return replace(p, batches=p.batches + 1, position=p.position + 1)


@of_terms
def updates_minus_one(p: Parameters, ctx: Any) -> Parameters:
    """One update too few in an epoch: n/b - 1 where n/b belongs."""
    if p.batches < 3:
        raise NoPrediction
    return replace(p, batches=p.batches - 1, position=p.position - 1)


@of_terms
def half_rounded_up(p: Parameters, ctx: Any) -> Parameters:
    """Half of n/b is rounded up in place of down."""
    return replace(p, half=p.batches - p.half)


@of_terms
def last_batch_always(p: Parameters, ctx: Any) -> Parameters:
    """The position is ignored: the record is always taken to be in the last batch."""
    return replace(p, position=p.batches - 1)


@of_terms
def first_batch_always(p: Parameters, ctx: Any) -> Parameters:
    """The position is ignored: the record is always taken to be in the first batch."""
    return replace(p, position=0)


@of_terms
def position_from_the_end(p: Parameters, ctx: Any) -> Parameters:
    """Positions are counted from the last batch in place of the first."""
    return replace(p, position=p.batches - 1 - p.position)


@of_terms
def position_from_one(p: Parameters, ctx: Any) -> Parameters:
    """Positions are counted from 1 in place of 0."""
    return replace(p, position=p.position - 1)


# --- the noise and the sensitivity: A = eta S_g^2/(4 sigma^2 b^2) ---


@of_setting
def sigma_for_sigma_squared(s: Setting) -> Setting:
    """sigma where sigma^2 belongs."""
    assert s.sigma2 is not None
    return replace(s, sigma2=root(s.sigma2))


@of_setting
def sigma_squared_twice(s: Setting) -> Setting:
    """sigma^2 is taken for sigma and squared once more."""
    assert s.sigma2 is not None
    return replace(s, sigma2=s.sigma2**2)


@of_setting
def noise_on_the_sum(s: Setting) -> Setting:
    """Noise on the sum of the gradients in place of their mean: the factor 1/b^2 is missing."""
    assert s.b is not None
    return _noise(s, Fraction(1, s.b**2))


@of_setting
def batch_size_not_squared(s: Setting) -> Setting:
    """b where b^2 belongs."""
    assert s.b is not None
    return _noise(s, Fraction(1, s.b))


@of_setting
def data_size_for_batch_size(s: Setting) -> Setting:
    """n where the batch size b belongs: the gradient is averaged over all records."""
    assert s.n is not None and s.b is not None
    return _noise(s, Fraction(s.n**2, s.b**2))


@of_setting
def half_the_sensitivity(s: Setting) -> Setting:
    """Half the sensitivity: a clip norm, or adding or removing a record where replacing one is
    meant.
    """
    return _noise(s, 4)


@of_setting
def twice_the_sensitivity(s: Setting) -> Setting:
    """Twice the sensitivity: S_g is doubled once more as if it were a clip norm."""
    return _noise(s, Fraction(1, 4))


@of_setting
def sensitivity_not_squared(s: Setting) -> Setting:
    """S_g where S_g^2 belongs."""
    assert s.sensitivity is not None
    return _noise(s, s.sensitivity)


@of_setting
def noise_doubled(s: Setting) -> Setting:
    """eta is doubled in the noise: a variance of 4 eta sigma^2 an update in place of 2."""
    return _noise(s, 2)


@of_setting
def noise_halved(s: Setting) -> Setting:
    """A variance of eta sigma^2 an update in place of 2 eta sigma^2."""
    return _noise(s, Fraction(1, 2))


@of_setting
def noise_without_step_size(s: Setting) -> Setting:
    """A variance of 2 sigma^2 an update, without the step size eta."""
    assert s.eta is not None
    return _noise(s, 1 / s.eta)


@of_setting
def noise_times_step_size(s: Setting) -> Setting:
    """The update's noise is multiplied by the step size: variance 2 eta^2 sigma^2."""
    assert s.eta is not None
    return _noise(s, s.eta)


# --- the order ---


@of_terms
def alpha_dropped(p: Parameters, ctx: Any) -> Parameters:
    """The factor alpha is missing."""
    given = replace(p.given, sigma2=p.given.sigma2 * p.given.alpha)
    return replace(p, alpha=ctx.number(1), given=given)


@of_terms
def alpha_minus_one_for_alpha(p: Parameters, ctx: Any) -> Parameters:
    """alpha - 1 where the factor alpha belongs."""
    given = replace(p.given, sigma2=p.given.sigma2 * p.given.alpha / (p.given.alpha - 1))
    return replace(p, alpha=p.alpha_minus_one, given=given)


@of_words
def division_by_alpha_minus_one_dropped(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The logarithm of the moment is not divided by alpha - 1."""
    return _scaled_logs(ctx, p.alpha_minus_one)


@of_words
def division_by_alpha(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The logarithm of the moment is divided by alpha in place of alpha - 1."""
    return _scaled_logs(ctx, p.alpha_minus_one / p.alpha)


@of_words
def binary_logarithm(p: Parameters, ctx: Any) -> dict[str, Any]:
    """A binary logarithm where a natural one belongs."""
    return _scaled_logs(ctx, 1 / flint.arb(2).log())


def _scaled_logs(ctx: Any, factor: Any) -> dict[str, Any]:
    def scaled(word: Any) -> Any:
        return lambda *args: word(*args) * factor

    return {
        name: scaled(getattr(ctx, name))
        for name in ("log_mean_exp", "resampling", "sampled_gaussian")
    }


@of_words
def mean_of_exponents(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The mean of the divergences in place of the logarithm of the mean of their exponentials."""

    def mean(scale: Any, profile: Any, count: int) -> Any:
        if count > MOST_TERMS:
            raise NoPrediction
        return scale * ctx.total(profile, 1, count) / count

    return {"log_mean_exp": mean}


@of_words
def sum_of_exponentials(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The sum of the exponentials in place of their average over the n/b batches."""
    right = ctx.log_mean_exp
    return {
        "log_mean_exp": lambda scale, profile, count: (
            right(scale, profile, count) + flint.arb(count).log()
        )
    }


@of_words
def largest_exponential(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The largest exponential, that of the last batch, in place of their average."""
    return {"log_mean_exp": lambda scale, profile, count: scale * profile(1)}


@of_words
def signs_of_the_binomial_series_dropped(p: Parameters, ctx: Any) -> dict[str, Any]:
    """The terms of the binomial series for a fractional order are added without their signs."""
    right = ctx.sampled_gaussian

    def unsigned(alpha: Any, less: Any, q: Any, rate: Any) -> Any:
        if alpha.denominator == 1:
            return right(alpha, less, q, rate)
        sigma = math.sqrt(1 / (2 * float(rate)))
        moment = _unsigned_moment(float(alpha), float(q), sigma)
        return flint.arb(moment / float(alpha - 1))

    return {"sampled_gaussian": unsigned}


def _unsigned_moment(alpha: float, q: float, sigma: float) -> float:
    """The logarithm of the series of Mironov et al. 2019, Section 3.3, of absolute values."""
    if alpha < 1 + 1e-6 or not 0 < q < 1:
        raise NoPrediction
    middle = sigma**2 * math.log(1 / q - 1) + 0.5
    total = before = -math.inf
    for i in range(MOST_TERMS):
        j = alpha - i
        binomial = gammaln(alpha + 1) - gammaln(i + 1) - gammaln(j + 1)
        terms = [
            binomial + k * math.log(q) + (alpha - k) * math.log1p(-q)
            + k * (k - 1) / (2 * sigma**2) + log_ndtr(side * (middle - k) / sigma)
            for k, side in ((i, 1), (j, -1))
        ]  # fmt: skip
        total = np.logaddexp.reduce([total, *terms])
        largest = max(terms)
        if largest < min(before, total - 30):
            return float(total)
        before = largest
    raise NoPrediction


# --- the contraction c = 1 - eta lambda ---


@of_terms
def contraction_not_squared(p: Parameters, ctx: Any) -> Parameters:
    """c^j where c^(2j) belongs, c = 1 - eta lambda: a square is missing."""
    c = p.contraction
    if c is None:
        raise NoPrediction
    half = BallComplement(c.value.sqrt(), c.log / 2, c.empty, c.whole)
    lost = p.given.eta_lambda
    kept = root(1 - lost)
    given = replace(p.given, lambda_=(1 - kept) / p.given.eta)
    return replace(p, contraction=half, given=given)


@of_setting
def beta_for_lambda(s: Setting) -> Setting:
    """The smoothness beta where the strong convexity lambda belongs."""
    assert s.eta is not None and s.beta is not None
    # Powers are even, so 1 - eta beta may have either sign.
    return replace(s, lambda_=(1 - abs(1 - s.eta * s.beta)) / s.eta)


@of_setting
def twice_lambda(s: Setting) -> Setting:
    """2 lambda where lambda belongs, as for a regulariser lambda |theta|^2."""
    assert s.eta is not None and s.lambda_ is not None
    return replace(s, lambda_=(1 - abs(1 - 2 * s.eta * s.lambda_)) / s.eta)


@of_setting
def half_lambda(s: Setting) -> Setting:
    """lambda/2 where lambda belongs."""
    assert s.lambda_ is not None
    return replace(s, lambda_=s.lambda_ / 2)


@of_terms
def exponential_for_contraction(p: Parameters, ctx: Any) -> Parameters:
    """exp(-eta lambda) in place of the contraction 1 - eta lambda."""
    if p.contraction is None:
        raise NoPrediction
    shrink = (-p.eta_lambda).exp()
    return replace(p, contraction=BallComplement(shrink, -p.eta_lambda, False, False))


@of_setting
def step_size_forgotten_in_contraction(s: Setting) -> Setting:
    """lambda where eta lambda belongs."""
    assert s.eta is not None and s.lambda_ is not None
    return replace(s, lambda_=(1 - abs(1 - s.lambda_)) / s.eta)


# --- the answer ---


@of_answer
def square_root_of_the_answer(bound: Bound, s: Setting, value: Decimal) -> Decimal:
    """The square root of the answer, as for a mu of Gaussian DP."""
    return value.sqrt()


@of_answer
def sampled_once_an_epoch(bound: Bound, s: Setting, value: Decimal) -> Decimal:
    """The amplification by sampling is applied twice: one more factor b/n."""
    assert s.n is not None and s.b is not None
    return value * s.b / s.n


@of_answer
def average_over_epochs(bound: Bound, s: Setting, value: Decimal) -> Decimal:
    """The losses of the epochs are averaged where they are to be summed: divided by K."""
    assert s.epochs is not None
    return value / s.epochs


# --- conversions ---


@lru_cache(maxsize=10_000)
def _overhead(order: Fraction, delta: Fraction, rule: str) -> float:
    return float(formula(0.0, order, delta, Float64, rule))


@dataclass(frozen=True)
class Curve:
    """A Renyi curve in doubles, and what is asked of it.

    orders: exact, None for all real ones above 1. at: the divergence at one. delta, rule: of the
    conversion.
    """

    orders: tuple[Fraction, ...] | None
    at: Callable[[Fraction], float]
    delta: Fraction
    rule: str

    @property
    def listed(self) -> tuple[Fraction, ...]:
        """The orders, where they are listed."""
        if self.orders is None:
            raise NoPrediction
        return self.orders

    @property
    def values(self) -> tuple[float, ...]:
        """The divergence at each of them."""
        return tuple(self.at(order) for order in self.listed)

    @property
    def log_delta(self) -> float:
        """log(1/delta)."""
        return math.log(self.delta.denominator) - math.log(self.delta.numerator)

    def converted(self, order: Fraction) -> float:
        """The rule at one order; it may be negative."""
        return self.at(order) + _overhead(order, self.delta, self.rule)

    def least(self, converted: Callable[[Fraction], float] | None = None) -> float:
        """The least over the orders of what `converted` gives, by default the rule."""
        value = converted or self.converted
        if self.orders is not None:
            return min(value(order) for order in self.orders)

        def far(octave: float) -> float:
            return value(1 + Fraction(2.0**octave))

        near = min(range(-12, 30), key=far)
        found = minimize_scalar(far, bounds=(near - 1, near + 1), options={"xatol": 1e-6})
        return float(found.fun)

    def best(self, **changes: Any) -> float:
        """The least epsilon, not below 0, of the curve with some things changed."""
        return max(replace(self, **changes).least(), 0.0)


GRID = tuple(Fraction(k) for k in range(2, 65))
"""A common grid of orders."""


def curve_of(
    case: Case, change: Callable[[Setting], Setting] | None = None, sigma2: int = 0
) -> Curve:
    """The curve in an input, of the bound at the changed setting.

    sigma2: noise where the input has none.

    Raises:
        NoPrediction: there is none.
    """
    given = case.input
    try:
        delta, rule = exact(given["delta"]), given.get("rule", "canonne_kamath_steinke_2020")
        orders = None
        if "orders" in given:
            orders = tuple(exact(part.strip()) for part in given["orders"].split(","))
        if "epsilons" in given:
            values = [float(exact(part.strip())) for part in given["epsilons"].split(",")]
            table = dict(zip(orders or (), values, strict=True))
            return Curve(orders, table.__getitem__, delta, rule)
        bound, setting = find(given["bound"]), setting_of(given)
        if sigma2:
            setting = replace(setting, sigma2=Fraction(sigma2))
        setting = bound.check(replace(setting, alpha=Fraction(2)))
    except (KeyError, InvalidInput, ArithmeticError, ValueError) as error:
        raise NoPrediction from error

    @cache
    def at(order: Fraction) -> float:
        return float(_changed(change, bound, replace(setting, alpha=order)))

    two, seven = at(Fraction(2)), at(Fraction(7))
    if abs(two / 2 - seven / 7) <= 1e-13 * two:
        return Curve(orders, lambda order: two / 2 * float(order), delta, rule)
    return Curve(orders, at, delta, rule)


def _of_curve(
    case: Case, epsilon: Callable[[Curve], float] = Curve.best, change: Any = None
) -> Decimal:
    """What a mistake in a conversion returns."""
    try:
        value = epsilon(curve_of(case, change))
    except (ArithmeticError, InvalidInput, ValueError) as error:
        raise NoPrediction from error
    if not math.isfinite(value):
        raise NoPrediction
    return Decimal(value)


def _of_noise(
    case: Case, epsilon: Callable[[Curve], float] = Curve.best, change: Any = None
) -> Decimal:
    """The noise for which a mistaken epsilon is the target, for curves like a power of sigma^2."""
    try:
        one, four = curve_of(case, change, 1), curve_of(case, change, 4)
        order = Fraction(2) if one.orders is None else one.orders[0]
        power = round(4 * math.log(one.at(order) / four.at(order), 4)) / 4
        same = one.at(order) / four.at(order) / 4**power
        target = float(exact(case.input["target_epsilon"]))
        if power <= 0 or abs(same - 1) > 1e-9:
            raise NoPrediction

        def excess(octave: float) -> float:
            factor = 2.0**octave
            return epsilon(replace(one, at=lambda order: one.at(order) / factor)) - target

        low = high = math.log2(one.at(order) / target)
        step = 1.0
        while excess(low) < 0 or excess(high) > 0:
            step *= 2
            if step > 500:
                raise NoPrediction
            low, high = low - step, high + step
        octave = float(brentq(excess, low, high, xtol=1e-13))
        return Decimal(2.0 ** (octave / power))
    except (ArithmeticError, InvalidInput, ValueError, KeyError) as error:
        raise NoPrediction from error


def of_curve_in(*about: str) -> Callable[[Any], Any]:
    """A mistake in a conversion, or in the conversion that is calibrated for, of these kinds."""

    def register(function: Callable[[Curve], float]) -> Any:
        for kind in about:
            made = _of_noise if kind == "calibration" else _of_curve
            _add(function, kind, predict=partial(made, epsilon=function))
        return function

    return register


of_curve = of_curve_in("conversion", "conversion_of_bound", "calibration")


@of_curve
def delta_ignored(c: Curve) -> float:
    """delta is ignored: the least Renyi divergence is returned as if it were epsilon."""
    return min(c.values)


@of_curve
def delta_of_one_in_a_hundred_thousand(c: Curve) -> float:
    """delta is ignored: it is always taken to be 1e-5."""
    return c.best(delta=Fraction(1, 10**5))


@of_curve
def classical_rule(c: Curve) -> float:
    """The classical conversion where the tighter one is meant."""
    return c.best(rule="classical")


@of_curve
def tighter_rule(c: Curve) -> float:
    """The tighter conversion where the classical one is meant."""
    return c.best(rule="canonne_kamath_steinke_2020")


@of_curve
def conversion_by_alpha(c: Curve) -> float:
    """log(1/delta) is divided by alpha in place of alpha - 1."""
    if c.rule != "classical":
        raise NoPrediction
    return c.least(lambda order: c.at(order) + c.log_delta / float(order))


@of_curve
def conversion_in_binary_logarithm(c: Curve) -> float:
    """A binary logarithm of 1/delta where a natural one belongs."""
    if c.rule != "classical":
        raise NoPrediction
    return c.least(lambda order: c.at(order) + c.log_delta / math.log(2) / float(order - 1))


@of_curve
def first_order_only(c: Curve) -> float:
    """Only the first order is converted, and no minimum is taken."""
    return c.best(orders=c.listed[:1])


@of_curve
def last_order_only(c: Curve) -> float:
    """Only the last order is converted, and no minimum is taken."""
    return c.best(orders=c.listed[-1:])


@of_curve
def worst_order(c: Curve) -> float:
    """The largest over the orders in place of the least."""
    return max(c.best(orders=(order,)) for order in c.listed)


@of_curve_in("conversion", "conversion_of_bound")
def order_of_least_divergence(c: Curve) -> float:
    """The order is chosen before the conversion, where the divergence is least."""
    return c.best(orders=(min(c.listed, key=c.at),))


@of_curve_in("conversion")
def orders_sorted_without_their_values(c: Curve) -> float:
    """The orders are sorted, and the values are left in the sequence in which they came."""
    moved = dict(zip(sorted(c.listed), c.values, strict=True))
    return c.best(at=moved.__getitem__)


@of_curve_in("conversion", "conversion_of_bound")
def not_clipped_at_zero(c: Curve) -> float:
    """A negative epsilon is returned in place of 0."""
    return c.least()


@of_curve_in("conversion_of_bound", "calibration")
def order_grid_too_narrow(c: Curve) -> float:
    """The orders are a grid, 2 to 64, that is too narrow or too coarse for the best one."""
    if c.orders is not None:
        raise NoPrediction
    return c.best(orders=GRID)


# --- calibration ---


def of_noise(function: Callable[[Setting, Decimal], Decimal]) -> Any:
    """A mistake in what a calibration returns."""

    def predict(case: Case) -> Decimal:
        try:
            setting = setting_of(case.input)
            assert case.lower is not None
            return function(setting, Decimal(case.lower))
        except (InvalidInput, AssertionError, TypeError, ArithmeticError) as error:
            raise NoPrediction from error

    return _add(function, "calibration", predict=predict)


@of_noise
def sigma_returned(s: Setting, sigma2: Decimal) -> Decimal:
    """sigma is returned where sigma^2 is asked for."""
    return sigma2.sqrt()


@of_noise
def noise_multiplier_returned(s: Setting, sigma2: Decimal) -> Decimal:
    """The noise multiplier is returned where sigma^2 is asked for."""
    assert s.b is not None and s.eta is not None and s.sensitivity is not None
    square = 8 * s.b**2 / (s.eta * s.sensitivity**2)
    return (sigma2 * square.numerator / square.denominator).sqrt()


@of_noise
def update_variance_returned(s: Setting, sigma2: Decimal) -> Decimal:
    """The variance 2 eta sigma^2 of an update is returned where sigma^2 is asked for."""
    assert s.eta is not None
    return 2 * sigma2 * s.eta.numerator / s.eta.denominator


# --- checks ---


def _labels(cases: Sequence[Case]) -> set[str]:
    return {str(case.assumption) for case in cases}


def _at_the_limit(case: Case) -> bool:
    """Whether eta is exactly at the limit of its step-size condition."""
    s = case.setting
    bound = find(case.bound)
    if s is None or s.eta is None or s.eta <= 0:
        return False
    below = replace(s, eta=s.eta * (1 - Fraction(1, 10**40)))
    above = replace(s, eta=s.eta * (1 + Fraction(1, 10**40)))

    def fits(setting: Setting) -> bool:
        try:
            bound.check(setting)
        except InvalidInput:
            return False
        return True

    return fits(below) and not fits(above)


@of_checks
def limit_of_the_step_size_included(cases: Sequence[Case]) -> bool:
    """The step size is checked, but its limit is accepted where it must be below it."""
    return _labels(cases) == {"step-size"} and all(_at_the_limit(case) for case in cases)


@of_checks
def step_size_check_missing(cases: Sequence[Case]) -> bool:
    """The condition on the step size is not checked."""
    return _labels(cases) == {"step-size"}


@of_checks
def smoothness_check_missing(cases: Sequence[Case]) -> bool:
    """That beta is positive and not below lambda is not checked."""
    return _labels(cases) == {"smoothness"}


@of_checks
def step_size_and_smoothness_check_missing(cases: Sequence[Case]) -> bool:
    """Neither the step size nor the smoothness is checked, as where beta is not a parameter."""
    return _labels(cases) == {"step-size", "smoothness"}


@of_checks
def convexity_check_missing(cases: Sequence[Case]) -> bool:
    """The sign of lambda is not checked."""
    return _labels(cases) <= {"strong-convexity", "convexity"}


@of_checks
def order_check_missing(cases: Sequence[Case]) -> bool:
    """Orders of at most 1 are accepted."""
    return _labels(cases) == {"order"}


@of_checks
def epochs_check_missing(cases: Sequence[Case]) -> bool:
    """A number of epochs below 1, or other than 1 where one is meant, is accepted."""
    return _labels(cases) <= {"epochs", "one-epoch"}


@of_checks
def batch_check_missing(cases: Sequence[Case]) -> bool:
    """Batches that the bound is not about are accepted: of no records, or of too many."""
    return _labels(cases) <= {"batch-size", "data-size", "at-least-two-batches", "full-batch"}


@of_checks
def position_check_missing(cases: Sequence[Case]) -> bool:
    """Positions that do not exist are accepted."""
    return _labels(cases) == {"position"}


@of_checks
def noise_check_missing(cases: Sequence[Case]) -> bool:
    """Noise or sensitivity that is not positive is accepted."""
    return _labels(cases) <= {"noise", "sensitivity"}


@of_refusals
def divisibility_required(cases: Sequence[Case]) -> bool:
    """b is required to divide n, which the bound does not need (footnote 3)."""
    return all(case.setting is not None and not case.setting.divides for case in cases)


@of_refusals
def whole_orders_only(cases: Sequence[Case]) -> bool:
    """Only whole orders are accepted."""
    found = [case.setting for case in cases]
    return all(s is not None and s.alpha is not None and s.alpha.denominator > 1 for s in found)


@of_refusals
def limit_of_the_step_size_refused(cases: Sequence[Case]) -> bool:
    """A step size at its limit, or beyond one that is tighter than the bound's, is refused."""
    return all(_at_the_limit(case) for case in cases)


@of_refusals
def single_epoch_refused(cases: Sequence[Case]) -> bool:
    """K = 1 is refused."""
    return all(case.setting is not None and case.setting.epochs == 1 for case in cases)


@of_refusals
def full_batch_refused(cases: Sequence[Case]) -> bool:
    """b = n is refused, which this bound allows."""
    return all(case.setting is not None and case.setting.n == case.setting.b for case in cases)
