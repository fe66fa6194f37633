"""Renyi DP to (epsilon, delta): two rules, the best order, and the noise for a target epsilon.

A mechanism whose Renyi divergence of order alpha is at most eps(alpha) is (epsilon, delta)-DP with
epsilon = eps(alpha) + g(alpha), for any one order alpha > 1 and any delta in (0, 1):

    classical                     g = log(1/delta)/(alpha - 1)
    canonne_kamath_steinke_2020   g = log((alpha - 1)/alpha) - (log delta + log alpha)/(alpha - 1)

The second is never above the first. A negative result means (0, delta)-DP, and 0 is reported.

Every order gives a valid guarantee, so the search for the best one may use float64: only its
result, a short exact fraction called the witness, is evaluated in balls, and what is published is
the upper end. That the witness is nearly the best is certified by balls too. The function
(alpha - 1) eps(alpha) of a Renyi divergence is convex in alpha, and so is (alpha - 1) g(alpha) for
both rules. Three values of a convex function bound it from below everywhere, hence also
eps + g.

Sources: Mironov 2017, "Renyi differential privacy", Proposition 3; Canonne, Kamath and Steinke
2020, "The discrete Gaussian for differential privacy", Proposition 12; van Erven and Harremoes
2014, "Renyi divergence and Kullback-Leibler divergence", Theorem 3 (eps is nondecreasing in the
order) and Corollary 2 ((alpha - 1) eps is convex).

>>> from bounds.setting import Setting
>>> s = Setting.of(n=1, b=1, epochs=1, eta=1, sensitivity=1, sigma2=25)
>>> round(best_order("one_update", s, "1e-5", rule="classical").epsilon, 6)
0.688614
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bounds.arith import TooCostly
from bounds.arith.ball import Ball, accuracy, decimal_bounds, precision
from bounds.arith.float64 import MARGIN, Float64
from bounds.bound import Bound, Parameters, Source, bind, find
from bounds.setting import InvalidInput, Setting, exact, require, show

Array = NDArray[np.float64]
Extra = (
    Callable[[Fraction], Any] | Mapping[Any, Any] | Sequence[tuple[object, object]]
)  # fmt: skip

DIGITS = 40
"""Decimal digits of the enclosures."""
FIRST_OCTAVES = (-8, 12)
"""alpha - 1 = 2**low to 2**high is scanned first."""
LAST_OCTAVES = (-500, 500)
"""The scan is carried on until nothing outside can be better, at most to here."""
NOISE_OCTAVES = 1000
"""Calibration tries noise 2**-NOISE_OCTAVES to 2**NOISE_OCTAVES times its natural size."""
NOISE_DIGITS = 12
"""Significant digits of a calibrated sigma^2."""


# --------------------------------------------------------------------------------------------
# Rules


@dataclass(frozen=True)
class Rule:
    """A conversion rule epsilon = eps(alpha) + g(alpha).

    overhead(alpha, alpha - 1, log delta, ctx): g [-] over a number system, without cancellation;
    printed(eps, alpha, delta, ctx): the whole right side as printed.
    """

    name: str
    source: Source
    overhead: Callable[[Any, Any, Any, Any], Any]
    printed: Callable[[Any, Any, Any, Any], Any]


def _classical(alpha: Any, less: Any, log_delta: Any, ctx: Any) -> Any:
    return -log_delta / less


def _classical_printed(value: Any, alpha: Any, delta: Any, ctx: Any) -> Any:
    return value + ctx.log(1 / delta) / (alpha - 1)


def _canonne_kamath_steinke(alpha: Any, less: Any, log_delta: Any, ctx: Any) -> Any:
    # log((alpha - 1)/alpha) = -log(1 + 1/(alpha - 1)) is accurate at both ends.
    return -ctx.log1p(1 / less) - (log_delta + ctx.log1p(less)) / less


def _canonne_kamath_steinke_printed(value: Any, alpha: Any, delta: Any, ctx: Any) -> Any:
    front = value + ctx.log((alpha - 1) / alpha)
    return front - (ctx.log(delta) + ctx.log(alpha)) / (alpha - 1)


CLASSICAL = Rule(
    "classical",
    Source("Mironov 2017", "rdp-to-dp-classical", "Proposition 3"),
    _classical,
    _classical_printed,
)
CANONNE_KAMATH_STEINKE_2020 = Rule(
    "canonne_kamath_steinke_2020",
    Source("Canonne et al. 2020", "rdp-to-dp-tighter", "Proposition 12"),
    _canonne_kamath_steinke,
    _canonne_kamath_steinke_printed,
)
RULES = {rule.name: rule for rule in (CLASSICAL, CANONNE_KAMATH_STEINKE_2020)}
DEFAULT_RULE = CANONNE_KAMATH_STEINKE_2020.name


def find_rule(rule: str | Rule) -> Rule:
    """A rule by name.

    Raises:
        InvalidInput: there is none of that name.
    """
    if isinstance(rule, Rule):
        return rule
    if rule in RULES:
        return RULES[rule]
    raise InvalidInput(
        f"there is no conversion rule called {rule!r}; there are: {', '.join(RULES)}"
    )


def log_of(x: Any, ctx: Any) -> Any:
    """log x of an exact x in (0, 1] in a number system, accurate near 1 and far below doubles."""
    if ctx.symbolic:
        return ctx.log(ctx.number(x))
    if 2 * x > 1:
        # Below doubles: a little farther from 0, so that epsilon is not too small.
        tiny = ctx.name == "float64" and 1 - _TINY < x < 1
        return ctx.log1p(-ctx.number(_TINY if tiny else 1 - x))
    if ctx.name == "float64":
        if x > _TINY:
            return math.log(x)
        return math.log(x.numerator) - math.log(x.denominator)
    return ctx.log(ctx.number(x))


def formula(value: Any, alpha: Any, delta: Any, ctx: Any, rule: str | Rule = DEFAULT_RULE) -> Any:
    """eps(alpha) + g(alpha) [-] in the number system `ctx`; it may be negative.

    value: eps(alpha) [-], already in the number system; alpha [-] and delta [-]: exact numbers
    (or sympy expressions in the symbolic system).
    Source: see `RULES`.

    >>> round(formula(1.0, Fraction(2), Fraction(1, 10), Float64, "classical"), 12)
    3.302585092994
    """
    chosen = find_rule(rule)
    number = ctx.number
    return value + chosen.overhead(number(alpha), number(alpha - 1), log_of(delta, ctx), ctx)


def convert_many(
    values: Sequence[float] | Array,
    orders: Sequence[object],
    delta: object,
    rule: str | Rule = DEFAULT_RULE,
) -> Array:
    """The rule at many orders in float64 [orders], rounded upward and not below 0.

    values: eps at each order [-], upper bounds; orders: exact alpha > 1 [-]; delta in (0, 1) [-].

    Raises:
        InvalidInput: delta or an order is out of range, or the lengths differ.
    """
    share = _delta(delta)
    exact_orders = [_order(order) for order in orders]
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(exact_orders),):
        raise InvalidInput(
            f"{array.size} values were given for {len(exact_orders)} orders; one for each is wanted"
        )
    less = np.array([Float64.number(order - 1) for order in exact_orders])
    total, slack = _float_rule(find_rule(rule), array, less, log_of(share, Float64))
    return np.maximum(total + slack, 0.0)


def _float_rule(rule: Rule, values: Array, less: Array, log_delta: float) -> tuple[Array, Array]:
    """The rule in float64, and a bound on what rounding did to it."""
    with np.errstate(all="ignore"):
        total = values + rule.overhead(1 + less, less, log_delta, Float64)
        parts = -log_delta / less + np.log1p(1 / less) + np.log1p(less) / less
        return total, MARGIN * np.abs(values) + 1e-14 * parts


def _delta(delta: object) -> Fraction:
    share = exact(delta, "--delta")
    if not 0 < share < 1:
        raise InvalidInput(f"--delta is {show(share)}; a number strictly between 0 and 1 is wanted")
    return share


def _order(order: object) -> Fraction:
    alpha = exact(order, "the order")
    if alpha <= 1:
        raise InvalidInput(f"the order is {show(alpha)}; an order alpha > 1 is wanted")
    return alpha


# --------------------------------------------------------------------------------------------
# Results


@dataclass(frozen=True)
class Conversion:
    """(epsilon, delta)-DP from one Renyi order.

    epsilon: the float64 answer, rounded upward; [lower, upper]: decimal strings that enclose the
    rule's value at the exact `order`, not below 0; [formula_lower, formula_upper]: the same before
    a negative value became 0 (`clipped`); [renyi_lower, renyi_upper]: eps(order), with `extra`.

    searched: the least and the largest order looked at; at_edge: the best one is one of these, so
    that a wider search may give less. gap: no order (of the list, if one was given) is better by
    more than this share of `upper`; None where that could not be certified. certificate: the same
    in words, with what it rests on.
    """

    rule: str
    source: str
    order: Fraction
    delta: Fraction
    epsilon: float
    lower: str
    upper: str
    clipped: bool
    formula_lower: str
    formula_upper: str
    renyi_lower: str
    renyi_upper: str
    bound: str = ""
    statement: str = ""
    direction: str = "upper"
    setting: Setting = field(default_factory=Setting)
    searched: tuple[Fraction, Fraction] | None = None
    at_edge: bool = False
    gap: str | None = None
    certificate: str = ""
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Plain data; numbers are decimal strings."""
        return {
            "bound": self.bound or None,
            "statement": self.statement or None,
            "direction": self.direction,
            "setting": self.setting.as_strings(),
            "rule": self.rule,
            "source": self.source,
            "delta": show(self.delta),
            "order": show(self.order),
            "epsilon": repr(self.epsilon),
            "lower": self.lower,
            "upper": self.upper,
            "clipped": self.clipped,
            "renyi": {"lower": self.renyi_lower, "upper": self.renyi_upper},
            "searched": None if self.searched is None else [show(end) for end in self.searched],
            "at_edge": self.at_edge,
            "gap": self.gap,
            "certificate": self.certificate,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Calibration:
    """The smallest noise for a target.

    sigma2 [parameter * gradient]: exact; the conversion at `conversion.order` is certified not to
    exceed the target. slack: sigma2 (1 - slack) is certified to miss the target (`certificate` says
    how); None where no slack up to 1/10 could be certified. The noise multiplier
    sqrt(8 b^2 sigma2/(eta S_g^2)) [-] lies in [noise_multiplier_lower, noise_multiplier_upper].
    """

    target: Fraction
    sigma2: Fraction
    setting: Setting
    conversion: Conversion
    slack: str | None
    certificate: str
    noise_multiplier_lower: str
    noise_multiplier_upper: str

    def as_json(self) -> dict[str, object]:
        """Plain data; numbers are decimal strings."""
        return {
            "target_epsilon": show(self.target),
            "sigma2": show(self.sigma2),
            "noise_multiplier": {
                "lower": self.noise_multiplier_lower,
                "upper": self.noise_multiplier_upper,
            },
            "slack": self.slack,
            "certificate": self.certificate,
            "conversion": self.conversion.as_json(),
        }


# --------------------------------------------------------------------------------------------
# One order


def convert(
    value: object, alpha: object, delta: object, rule: str | Rule = DEFAULT_RULE
) -> Conversion:
    """(epsilon, delta)-DP from eps(alpha) at one order.

    value: eps(alpha) >= 0 [-], exact or an Arb ball; alpha > 1 [-] and delta in (0, 1) [-]: exact.

    Raises:
        NotExact: a float was given.
        InvalidInput: a number is out of range.

    >>> convert("0.05", 10, "1e-5", "classical").upper[:12]
    '1.3292139405'
    """
    order, share, chosen = _order(alpha), _delta(delta), find_rule(rule)
    if not hasattr(value, "is_finite"):
        number = exact(value, "the Renyi divergence")
        if number < 0:
            raise InvalidInput(
                f"the Renyi divergence is {show(number)}; a number that is not negative is wanted"
            )
        return _conversion(lambda digits: _ball(number, digits), order, share, chosen)
    return _conversion(lambda digits: value, order, share, chosen)


def _bits(digits: int) -> int:
    return int(digits * 3.33) + 44


def _ball(number: Fraction, digits: int) -> Any:
    with precision(_bits(digits)):
        return Ball.number(number)


def _evaluate(
    curve: Callable[[int], Any], order: Fraction, delta: Fraction, rule: Rule
) -> tuple[Any, Any]:
    """Balls around eps(order) and the rule's value; digits raised where the two terms cancel."""
    digits, last = DIGITS, -1
    while True:
        value = curve(digits)
        with precision(_bits(digits)):
            total = formula(value, order, delta, Ball, rule)
        reached = accuracy(total) if total.is_finite() else 1 << 30
        if reached >= _bits(DIGITS) - 44 or digits > 1000 or reached <= last + 8:
            return value, total
        digits, last = 2 * digits, reached


def _conversion(
    curve: Callable[[int], Any], order: Fraction, delta: Fraction, rule: Rule
) -> Conversion:
    return _published(*_evaluate(curve, order, delta, rule), order, delta, rule)


def _published(value: Any, total: Any, order: Fraction, delta: Fraction, rule: Rule) -> Conversion:
    low, high = decimal_bounds(total, DIGITS)
    renyi = decimal_bounds(value, DIGITS)
    return Conversion(
        rule=rule.name, source=str(rule.source), order=order, delta=delta, epsilon=_upward(high),
        lower=_not_negative(low), upper=_not_negative(high), clipped=low.startswith("-"),
        formula_lower=low, formula_upper=high, renyi_lower=renyi[0], renyi_upper=renyi[1],
    )  # fmt: skip


def _not_negative(text: str) -> str:
    return "0" if text.startswith("-") else text


def _upward(text: str) -> float:
    """The smallest double that is not below a decimal, nor below 0."""
    number = float(text)
    if number < math.inf and Fraction(number) < Fraction(text):
        number = math.nextafter(number, math.inf)
    return max(number, 0.0)


# --------------------------------------------------------------------------------------------
# Curves


def gaussian_queries(noise_multiplier: object, queries: int = 1) -> Callable[[Fraction], Fraction]:
    """The Renyi curve alpha -> queries alpha/(2 z^2) [-] of Gaussian queries of sensitivity 1.

    noise_multiplier: z > 0 [-], the noise's standard deviation over the sensitivity. It serves as
    `extra`, for a normalisation that releases a mean and a variance with `queries` = 2.
    Source: Mironov 2017, Corollary 3.

    Raises:
        InvalidInput: z or the number of queries is not positive.
    """
    z = exact(noise_multiplier, "the noise multiplier")
    if z <= 0 or queries < 1:
        raise InvalidInput(
            f"{queries} queries with noise multiplier {show(z)}; positive numbers are wanted"
        )
    return lambda alpha: queries * alpha / (2 * z * z)


_EXTRA = "the extra Renyi curve"


_TINY = Fraction(1, 10**300)


class _Problem:
    """A curve to convert: bound, setting, delta, rule, list of orders, extra curve."""

    def __init__(
        self,
        bound: str | Bound,
        delta: object,
        rule: str | Rule,
        orders: Iterable[object] | None,
        extra: Extra | None,
    ) -> None:
        self.bound = find(bound) if isinstance(bound, str) else bound
        if self.bound.quantity != "renyi-divergence":
            raise InvalidInput(
                f"{self.bound.name} is about the {self.bound.quantity}, which cannot be converted; "
                "a bound on the Renyi divergence is wanted"
            )
        if self.bound.direction == "lower":
            raise InvalidInput(
                f"{self.bound.name} is a lower bound, which promises no privacy; an upper bound on "
                "the Renyi divergence is wanted"
            )
        self.delta, self.rule = _delta(delta), find_rule(rule)
        self.log_delta = float(log_of(self.delta, Float64))
        table: dict[Fraction, Any] | None = None
        if extra is not None and not callable(extra):
            pairs = extra.items() if isinstance(extra, Mapping) else extra
            table = {_order(order): value for order, value in pairs}
        listed = list(table) if orders is None and table is not None else orders
        self.orders = None if listed is None else sorted({_order(order) for order in listed})
        if self.orders is not None and not self.orders:
            raise InvalidInput(
                "the list of orders is empty; at least one order alpha > 1 is wanted"
            )
        self.less = np.empty(0) if self.orders is None else Float64.orders(self.orders)[1]
        if table is not None and self.orders is not None:
            missing = [order for order in self.orders if order not in table]
            if missing:
                raise InvalidInput(
                    f"the extra Renyi curve has no value at order {show(missing[0])}; the list of "
                    "its values must hold every order asked for"
                )
        found = table
        self.extra: Callable[[Fraction], Any] | None = (
            extra if callable(extra) else None if found is None else lambda order: found[order]
        )

    # float64

    def at(self, setting: Setting) -> _Curve:
        """The curve at one setting, in float64."""
        return _Curve(self, self.bound.check(replace(setting, alpha=Fraction(2))))

    def extra_float(self, order: Fraction) -> float:
        """The extra curve as a double, infinite where it is undefined."""
        if self.extra is None:
            return 0.0
        try:
            value = self.extra(order)
            number = value.mid() if hasattr(value, "is_finite") else exact(value, _EXTRA)
            return float(self._not_negative(number, order))
        except ArithmeticError:
            return math.inf

    @staticmethod
    def _not_negative(number: Any, order: Fraction) -> Any:
        if number >= 0:
            return number
        raise InvalidInput(
            f"{_EXTRA} is {number} at order {show(order)}; a number that is not negative is wanted"
        )

    # balls

    def enclose(self, setting: Setting, order: Fraction) -> tuple[Any, Any]:
        """Balls around the whole curve and the rule's value, at one order."""
        checked = self.bound.check(replace(setting, alpha=order))

        def curve(digits: int) -> Any:
            value = self.bound.enclose(checked, digits)
            if self.extra is None:
                return value
            with precision(_bits(digits)):
                more = self.extra(order)
                if not hasattr(more, "is_finite"):
                    more = Ball.number(exact(more, _EXTRA))
                self._not_negative(more, order)
                return value + more

        return _evaluate(curve, order, self.delta, self.rule)

    def notes(self, setting: Setting) -> tuple[str, ...]:
        said = list(self.bound.remarks(setting))
        if self.bound.direction != "upper":
            said.append(f"{self.bound.name} is an estimate; the result promises no privacy")
        elif self.bound.standing != "theorem":
            said.append(f"{self.bound.name} is a claim whose proof is disputed")
        if self.extra is not None:
            said.append("an extra Renyi curve was added to the bound")
        return tuple(said)


class _Curve:
    """One problem at one setting in float64, as a function of alpha - 1 = `less` [orders]."""

    def __init__(self, problem: _Problem, checked: Setting) -> None:
        self.problem, self.checked = problem, checked
        self.p: Parameters = bind(checked, Float64)
        self.refusal = ""

    def renyi(self, less: Array, orders: Sequence[Fraction] | None = None) -> Array:
        """eps plus the extra curve [orders]; infinite where there is no finite value."""
        try:
            with np.errstate(all="ignore"):
                alpha = 1 + less
                # Some formulas lose digits unless they know the exact orders of a list.
                order = alpha if orders is None else tuple(orders)
                # What one call reads of the setting the next one finds.
                self.p = self.p.at_orders(alpha, less, order)
                out = np.array(self.problem.bound.epsilon(self.p, Float64), dtype=np.float64)
                out = np.broadcast_to(out, less.shape).copy()
        except (ValueError, ArithmeticError) as error:
            if less.size == 1:
                self.refusal = f": {error}" if isinstance(error, TooCostly) else ""
                return np.full(less.shape, math.inf)
            return np.concatenate([
                self.renyi(less[i : i + 1], None if orders is None else orders[i : i + 1])
                for i in range(less.size)
            ])  # fmt: skip
        if self.problem.extra is not None:
            exact_orders = orders or [1 + Fraction(float(s)) for s in less]
            out += np.array([self.problem.extra_float(order) for order in exact_orders])
        out[np.isnan(out)] = math.inf
        return out

    def totals(
        self, less: Array, orders: Sequence[Fraction] | None = None
    ) -> tuple[Array, Array, Array]:
        """The curve, the rule's value, and a bound on the rounding error of that [orders]."""
        values = self.renyi(less, orders)
        total, slack = _float_rule(self.problem.rule, values, less, self.problem.log_delta)
        total[np.isnan(total)] = math.inf
        return values, total, slack

    def overhead(self, less: float) -> float:
        """g at one order."""
        nothing = np.zeros(1)
        return float(
            _float_rule(self.problem.rule, nothing, nothing + less, self.problem.log_delta)[0][0]
        )

    def total(self, less: float) -> float:
        """The rule's value at one order, which is exact where it is of the list; at most 1e300."""
        orders, exact = self.problem.orders, None
        if orders is not None:
            exact = [orders[int(np.searchsorted(self.problem.less, less))]]
        return min(float(self.totals(np.array([less]), exact)[1][0]), 1e300)

    def scan(self, low: int, high: int) -> tuple[Array, Array, Array]:
        """alpha - 1 = 2**low, ..., 2**high, the curve there, and the rule's value there."""
        less = np.exp2(np.arange(low, high + 1, dtype=np.float64))
        values, total, _ = self.totals(less)
        return less, values, total

    def best(self, near: float | None = None) -> _Minimum:
        """The minimum over all real orders, or over the list; `near` is a guess at alpha - 1."""
        if self.problem.orders is not None:
            return self._best_listed(self.problem.orders, self.problem.less)
        if near is not None:
            for width in (0.02, 0.7):
                x, value, inside = self._zoom(near, -width, width, inside_only=True)
                if inside:
                    edges = tuple(1 + Fraction(near * math.exp(end)) for end in (-width, width))
                    return _Minimum(near * math.exp(x), value, (edges[0], edges[1]), False, None)
        return self._refine(*self._scanned())

    def _best_listed(self, orders: list[Fraction], less: Array) -> _Minimum:
        _, total, slack = self.totals(less, orders)
        i = int(np.argmin(total))
        with np.errstate(invalid="ignore"):
            rivals = [orders[j] for j in np.flatnonzero(total - slack <= total[i] + slack[i])]
        edges, edge = (orders[0], orders[-1]), i in (0, len(orders) - 1)
        finite = int(np.isfinite(total).sum())
        return _Minimum(float(less[i]), float(total[i]), edges, edge, rivals, finite)

    def coarse(self) -> tuple[float, float]:
        """The best alpha - 1 of the scan, or of the list, and the value there; never too low."""
        if self.problem.orders is not None:
            minimum = self.best()
            return minimum.less, minimum.value
        less, total = self._scanned()
        i = int(np.argmin(total))
        return float(less[i]), float(total[i])

    def _scanned(self) -> tuple[Array, Array]:
        """alpha - 1 by octaves until the curve cannot be better outside, and the values.

        eps is nondecreasing and not negative; g falls until alpha = 1/delta, is never below
        log(1 - delta), and not below 0 in the classical rule. So what lies beyond the last order
        is at least eps(last) + log(1 - delta), and what lies before the first at least g(first).
        """
        low, high = FIRST_OCTAVES
        less, values, total = self.scan(low, high)
        floor = float(log_of(1 - self.problem.delta, Float64))
        while True:
            best = float(np.min(total))
            before = self.overhead(float(less[0]))
            after = values[-1] + floor if math.isfinite(best) else -math.inf
            left = low > LAST_OCTAVES[0] and bool(before < best)
            right = high < LAST_OCTAVES[1] and bool(after < best)
            if not (left or right):
                break
            if left:
                start = max(LAST_OCTAVES[0], low - 12)
                more = self.scan(start, low - 1)
                less, values, total = (
                    np.concatenate(pair) for pair in zip(more, (less, values, total), strict=True)
                )
                low = start
            if right:
                end = min(LAST_OCTAVES[1], high + 12)
                more = self.scan(high + 1, end)
                less, values, total = (
                    np.concatenate(pair) for pair in zip((less, values, total), more, strict=True)
                )
                high = end
        return less, total

    def _refine(self, less: Array, total: Array) -> _Minimum:
        edges = (1 + Fraction(float(less[0])), 1 + Fraction(float(less[-1])))
        if not np.isfinite(total).any():
            raise InvalidInput(
                f"{self.problem.bound.name} has no finite value at any order from "
                f"1 + {less[0]:.3g} to 1 + {less[-1]:.3g}, so there is nothing to convert"
                + self.refusal
            )
        padded = np.concatenate([[math.inf], total, [math.inf]])
        dips = np.flatnonzero((total <= padded[:-2]) & (total <= padded[2:]) & np.isfinite(total))
        lowest = np.argsort(total[dips], kind="stable")[:3]
        first = int(dips[lowest[0]])
        best, where = float(total[first]), float(less[first])
        edge = first in (0, len(less) - 1)
        for i in dips[lowest].tolist():
            middle = float(less[i])
            low = math.log(float(less[max(i - 1, 0)]) / middle)
            high = math.log(float(less[min(i + 1, len(less) - 1)]) / middle)
            x, value, _ = self._zoom(middle, low, high)
            if value < best:
                best, where = value, middle * math.exp(x)
                edge = where < less[0] * 1.0001 or where > less[-1] * 0.9999
        return _Minimum(where, best, edges, bool(edge), None)

    def _zoom(
        self, middle: float, low: float, high: float, inside_only: bool = False
    ) -> tuple[float, float, bool]:
        """The minimiser x of the value at alpha - 1 = middle e^x over [low, high].

        Nine orders at a time, so that a formula with a cost for each call is called seldom. The
        next nine lie around the vertex of the parabola through the lowest three; where that
        does not predict the value (a kink, a wall), around the lowest. Returns x, the value, and
        whether x is inside; where only an x inside is of use, the search ends at a border.
        """
        centre, width, smooth = (low + high) / 2, (high - low) / 2, True
        best, where = math.inf, centre
        for _ in range(60):
            width = min(width, (high - low) / 2)
            centre = min(max(centre, low + width), high - width)
            x = np.clip(centre + width * np.linspace(-1, 1, 9), low, high)
            total = self.totals(middle * np.exp(x))[1]
            i, step = int(np.argmin(total)), width / 4
            if total[i] < best:
                best, where = float(total[i]), float(x[i])
            centre = where
            if i in (0, 8):
                width = step if x[i] in (low, high) else width
                if width < 1e-9 or (inside_only and x[i] in (low, high)):
                    break
                continue
            width = step
            bend = float(total[i - 1]) - 2 * float(total[i]) + float(total[i + 1])
            if smooth and 0 < bend < math.inf:
                drop = float(total[i - 1]) - float(total[i + 1])
                vertex = float(x[i]) + step * drop / (2 * bend)
                if step > 2e-4:
                    centre, width = vertex, max(min(step, 4 * step * step), 4e-4)
                    continue
                foretold, value = (
                    float(total[i]) - drop * drop / (8 * bend),
                    self.total(middle * math.exp(vertex)),
                )
                smooth = abs(value - foretold) <= 1e-11 * abs(value)
                if smooth and value <= best + 1e-15 * abs(best):
                    best, where = value, vertex
                if smooth:
                    break
            if step < 1e-9:
                break
        return where, best, low < where < high

    def witness(self, minimum: _Minimum) -> Fraction:
        """A short decimal near the minimiser, where the value is as good."""
        for digits in range(1, 18):
            rounded = Context(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(
                Decimal(minimum.less)
            )
            less = Fraction(rounded)
            if abs(less / Fraction(minimum.less) - 1) > Fraction(1, 10**8):
                continue
            if self.total(float(less)) <= minimum.value + 1e-14 * abs(minimum.value):
                return 1 + less
        return 1 + Fraction(minimum.less)


@dataclass(frozen=True)
class _Minimum:
    """The best alpha - 1 in float64, with what was searched.

    Of a list: the orders that it may be, and how many have a finite value in float64.
    """

    less: float
    value: float
    searched: tuple[Fraction, Fraction]
    at_edge: bool
    rivals: list[Fraction] | None
    finite: int = 0


# --------------------------------------------------------------------------------------------
# The best order


@dataclass(frozen=True)
class _Found:
    """A witness with its balls, and a ball whose lower end no order goes below (or None)."""

    order: Fraction
    value: Any
    total: Any
    minimum: _Minimum
    floor: Any = None
    reach: str = ""
    given: str = ""


def best_order(
    bound: str | Bound,
    setting: Setting,
    delta: object,
    rule: str | Rule = DEFAULT_RULE,
    *,
    orders: Iterable[object] | None = None,
    extra: Extra | None = None,
) -> Conversion:
    """The least epsilon that the rule gives over all real orders alpha > 1, or over a list.

    bound: the bound or its name; setting: what it needs, but alpha, which is not looked at;
    delta in (0, 1) [-]; orders: an optional finite list of orders to keep to; extra: a Renyi curve
    to add, as a callable from the exact order to an exact number or Arb ball, or as a table
    (mapping or pairs) of values, whose orders are then the list.

    Real orders are scanned by octaves of alpha - 1 until nothing outside can be better, and the
    three lowest dips refined; dips narrower than an octave exist only in a curve for which
    (alpha - 1) eps(alpha) is not convex. Where the bound has no finite value an order is skipped.

    Raises:
        MissingParameter, AssumptionViolated: see `Bound.check`.
        InvalidInput: delta or an order is out of range, the bound is not an upper bound (or an
            estimate of one) on the Renyi divergence, or it has no finite value at any order.
    Source: see the module.
    """
    problem = _Problem(bound, delta, rule, orders, extra)
    return _finish(problem, setting, _solve(problem, setting))


def _finish(problem: _Problem, setting: Setting, found: _Found) -> Conversion:
    plain = _published(found.value, found.total, found.order, problem.delta, problem.rule)
    checked = problem.bound.check(replace(setting, alpha=found.order))
    # At an edge the short decimal may lie a little outside.
    low, high = found.minimum.searched
    searched = min(low, found.order), max(high, found.order)
    gap, words = None, "that no other order is better could not be certified"
    if found.floor is not None:
        gap = "0"
        with precision(_bits(DIGITS)):
            top = found.total.upper()
            if top > 0 and not found.floor.lower() >= top:
                gap = decimal_bounds((top - found.floor.lower()) / top, 3)[1]
        words = f"{found.reach} gives less than (1 - {gap}) times the upper end{found.given}"
        if plain.upper == "0":
            words = "the rule's value is certified not positive: epsilon is 0, the least there is"
    return replace(
        plain, bound=problem.bound.name, statement=problem.bound.statement,
        direction=problem.bound.direction, setting=checked, searched=searched,
        at_edge=found.minimum.at_edge, gap=gap, certificate=words, notes=problem.notes(checked),
    )  # fmt: skip


def _solve(problem: _Problem, setting: Setting, near: float | None = None) -> _Found:
    curve = problem.at(setting)
    minimum = curve.best(near)
    if minimum.rivals is not None:
        return _solve_listed(problem, setting, minimum, curve.refusal)
    order = curve.witness(minimum)
    for _ in range(20):
        value, total = problem.enclose(setting, order)
        if not total.is_finite():
            raise InvalidInput(
                f"{problem.bound.name} could not be enclosed at order {show(order)}; give a list "
                "of orders at which it can"
            )
        found = _Found(order, value, total, minimum)
        if total <= 0:
            return replace(found, floor=total)
        if minimum.at_edge:
            return _certify_flat(problem, setting, found) or found
        found, better = _certify(problem, setting, found)
        if better is None:
            return found
        order = better
    return found


def _solve_listed(problem: _Problem, setting: Setting, minimum: _Minimum, refusal: str) -> _Found:
    assert minimum.rivals is not None and problem.orders is not None
    if not math.isfinite(minimum.value):
        raise InvalidInput(
            f"{problem.bound.name} has no finite value at any order of the list, so there is "
            f"nothing to convert{refusal}"
        )
    results = [(order, *problem.enclose(setting, order)) for order in minimum.rivals]
    order, value, total = results[0]
    floor = total
    with precision(_bits(DIGITS)):
        for other, its_value, its_total in results[1:]:
            if its_total.upper() < total.upper():
                order, value, total = other, its_value, its_total
            floor = floor.min(its_total)
        floor = floor.lower()
    edge = order in (problem.orders[0], problem.orders[-1])
    reach = f"none of the {len(problem.orders)} orders of the list"
    if minimum.finite < len(problem.orders):
        reach = f"none of the {minimum.finite} orders of the list at which there is a finite value"
    return _Found(order, value, total, replace(minimum, at_edge=edge), floor, reach)


def _certify(problem: _Problem, setting: Setting, found: _Found) -> tuple[_Found, Fraction | None]:
    """Add a value that no order goes below, from two neighbours; or find a better neighbour.

    Let F = (alpha - 1)(eps + g) be convex in s = alpha - 1, and l < w < r three orders with
    f(l), f(r) >= f(w) for f = F/s. A line through two points lies below F outside them, and a line
    over s is monotone. So f >= f(w) outside [l, r], and inside it is at least the line through
    l, w at r, over s, and the line through w, r at l, over s.
    """
    less, total = found.order - 1, found.total
    for power in (7, 5, 3, 2, 1, None, 9, 11):
        if power is None:
            flat = _certify_flat(problem, setting, found)
            if flat is not None:
                return flat, None
            continue
        step = Fraction(1, 10**power)
        ends = (less * (1 - step), less * (1 + step))
        try:
            left, right = (problem.enclose(setting, 1 + end)[1] for end in ends)
        except (ValueError, ArithmeticError):
            continue
        if not (left.is_finite() and right.is_finite()):
            continue
        with precision(_bits(DIGITS)):
            noise = abs(total) * Ball.number(Fraction(1, 10**11))
            for end, there in zip(ends, (left, right), strict=True):
                if there < total - noise:
                    return found, 1 + end
            if not (left >= total and right >= total):
                continue
            s, (low, high) = Ball.number(less), (Ball.number(end) for end in ends)
            rise = (s * total - low * left) / (s - low)
            fall = (high * right - s * total) / (high - s)
            over = (s * total + rise * (high - s)) / high
            under = (s * total - fall * (s - low)) / low
            floor = over.min(under).min(total)
        given = (
            f", by enclosures at alpha - 1 = {show(less)} and at its multiples by "
            f"1 - 1e-{power} and 1 + 1e-{power}, if (alpha - 1) eps(alpha) is convex, as for every "
            "Renyi divergence"
        )
        return replace(found, floor=floor, reach=_EVERY, given=given), None
    return found, None


_EVERY = "no real order alpha > 1"


def _certify_flat(problem: _Problem, setting: Setting, found: _Found) -> _Found | None:
    """The same where the value hardly depends on the order: near alpha = 1, for a large eps.

    For an order l < w with g(l) >= f(w): orders below l are no better, since g falls; the others
    give at least eps(l) + log(1 - delta), since eps is nondecreasing and g >= log(1 - delta).
    """
    whole = float(found.total.mid())
    for part in (2, 64):
        less = -problem.log_delta / whole / part
        if not 0 < less < found.order - 1:
            continue
        value, total = problem.enclose(setting, 1 + Fraction(less))
        with precision(_bits(DIGITS)):
            floor = (value + log_of(1 - problem.delta, Ball)).min(found.total)
            if total - value >= found.total and floor > 0:
                given = (
                    f", by an enclosure at alpha - 1 = {less:.6g}, if eps(alpha) is nondecreasing, "
                    "as for every Renyi divergence"
                )
                return replace(found, floor=floor, reach=_EVERY, given=given)
    return None


# --------------------------------------------------------------------------------------------
# Calibration


def calibrate(
    bound: str | Bound,
    setting: Setting,
    target_epsilon: object,
    delta: object,
    rule: str | Rule = DEFAULT_RULE,
    *,
    orders: Iterable[object] | None = None,
    extra: Extra | None = None,
) -> Calibration:
    """The smallest sigma^2 for which the converted epsilon is certified not above the target.

    bound: the bound or its name; setting: what it needs but sigma^2 and alpha, which are not looked
    at; target_epsilon > 0 [-]; delta in (0, 1) [-]; orders, extra: see `best_order`.

    epsilon falls as sigma^2 grows. The noise is bracketed by doubling and solved for in float64,
    rounded up to few digits, and then moved until balls certify it; the slack is what balls certify
    of the other side.

    Raises:
        MissingParameter, AssumptionViolated: see `Bound.check`.
        InvalidInput: the target is not positive or no noise reaches it or every noise does, delta
            is out of range, or the bound is not an upper bound on the Renyi divergence.
    Source: see the module; the noise multiplier is that of Ye and Shokri 2022, Section F.1.
    """
    problem = _Problem(bound, delta, rule, orders, extra)
    if problem.bound.direction != "upper":
        raise InvalidInput(
            f"{problem.bound.name} is an {problem.bound.direction}, not an upper bound, so noise "
            "cannot be calibrated with it"
        )
    target = exact(target_epsilon, "--target-epsilon")
    if target <= 0:
        raise InvalidInput(f"--target-epsilon is {show(target)}; a positive number is wanted")
    return _Calibrator(problem, setting, target).run()


class _Calibrator:
    """The search for the noise; log2 of sigma^2 over its natural size is called `octave`."""

    def __init__(self, problem: _Problem, setting: Setting, target: Fraction) -> None:
        self.problem, self.target = problem, target
        trial = problem.bound.check(replace(setting, sigma2=Fraction(1), alpha=Fraction(2)))
        require(trial, ("b", "eta", "sensitivity"), "the calibration of the noise")
        self.setting, natural = replace(trial, alpha=None), trial.rate
        problem.extra_float(Fraction(2) if problem.orders is None else problem.orders[0])
        size = natural.numerator.bit_length() - natural.denominator.bit_length()
        self.unit = Fraction(2) ** size
        self.least = float(max(-NOISE_OCTAVES, -1020 - size))
        self.most = float(min(NOISE_OCTAVES, 1020 - size))
        self.near: float | None = None
        self.aim = self._double(target)

    @staticmethod
    def _double(target: Fraction) -> float:
        try:
            number = float(target)
        except OverflowError:
            number = math.inf
        if not 1e-250 < number < 1e250:
            raise InvalidInput(
                f"--target-epsilon is {_short(target)}; a number from 1e-250 to 1e250 is wanted"
            )
        return number

    def noise(self, octave: float) -> Fraction:
        whole = math.floor(octave)
        return self.unit * Fraction(2) ** whole * Fraction(2.0 ** (octave - whole))

    def curve(self, octave: float) -> _Curve:
        return self.problem.at(replace(self.setting, sigma2=self.noise(octave)))

    def coarse(self, octave: float) -> float:
        """The value at the best scanned order minus the target; `near` is where it was last met."""
        try:
            near, value = self.curve(octave).coarse()
        except InvalidInput:
            return 1e300
        if value <= self.aim:
            self.near = near
        return min(value - self.aim, 1e300)

    def excess(self, octave: float, less: float) -> float:
        """The value at one order minus the target."""
        try:
            return min(self.curve(octave).total(less) - self.aim, 1e300)
        except InvalidInput:
            return 1e300

    def guess(self) -> float:
        """About the octave that is right; eps is nearly proportional to 1/sigma^2 close to it."""
        octave = self._scaled(0.0)
        for _ in range(5):
            right = self._scaled(octave)
            if abs(right - octave) < 0.25:
                return right
            # Where eps falls faster, too much noise gives a guess of too little, and conversely.
            octave = (octave + right) / 2
        return octave

    def _scaled(self, octave: float) -> float:
        """The octave that would be right if eps were proportional to 1/sigma^2 from here on."""
        if self.problem.orders is None:
            around = math.frexp(-self.problem.log_delta / self.aim)[1]
            octaves = np.clip(np.arange(around - 6, around + 18), *LAST_OCTAVES)
            less = np.exp2(octaves.astype(np.float64))
        else:
            less = self.problem.less
        try:
            values, total, _ = self.curve(octave).totals(less, self.problem.orders)
        except InvalidInput:
            return octave
        with np.errstate(all="ignore"):
            room = self.aim - (total - values)
            wanted = np.where(
                (room > 0) & np.isfinite(values) & (values > 0), values / room, np.inf
            )
            right = octave + float(np.log2(np.min(wanted)))
        return max(self.least, min(right, self.most)) if math.isfinite(right) else octave

    def bracket(self) -> tuple[float, float]:
        """Octaves at most 1 apart: the target is missed at the first and met at the second."""
        least, most, step = self.least, self.most, 0.25
        missed = met = self.guess()
        if self.coarse(met) > 0:
            while True:
                if met == most:
                    self._refuse_unreachable()
                missed, met = met, min(met + step, most)
                if self.coarse(met) <= 0:
                    break
                step *= 2
        else:
            while True:
                if missed == least:
                    raise InvalidInput(
                        f"{self.problem.bound.name} stays within epsilon = {_short(self.target)} "
                        f"however small the noise (tried down to sigma^2 = "
                        f"{_short(self.noise(least))}), so there is no smallest noise"
                    )
                missed, met = max(missed - step, least), missed
                if self.coarse(missed) > 0:
                    break
                step *= 2
        while met - missed > 1:
            middle = (missed + met) / 2
            if self.coarse(middle) > 0:
                missed = middle
            else:
                met = middle
        return missed, met

    def solve(self) -> float:
        """The octave at which the best value is the target, from above.

        In turns: the noise for the present order, by root finding; the best order for that noise.
        An order with relative error e gives an octave with an error of the size of e^2; of a list,
        the best one is right or wrong, and each turn leaves fewer that are better.
        """
        low, high = self.bracket()
        listed = self.problem.orders is not None
        if not listed:
            self.near = self.curve(high).best(self.near).less
        for turn in range(60 if listed else 8):
            less, tolerance = self.near, 1e-13 if listed else max(10.0 ** (-3 - 3 * turn), 1e-13)
            assert less is not None
            if self.excess(high, less) >= 0:
                break
            width = high - low
            while self.excess(low, less) <= 0:
                if low == self.least:
                    return high
                width *= 2
                low = max(low - width, self.least)
            root = float(brentq(self.excess, low, high, (less,), xtol=tolerance, rtol=1e-14))
            gain, high = high - root, min(high, root + tolerance)
            if tolerance < 1e-11 and gain < 1e-10:
                break
            self.near = self.curve(high).best(less).less
            if listed and self.near == less:
                break
            low = high - max(gain / 16, 4 * tolerance)
        return high

    def _refuse_unreachable(self) -> None:
        curve = self.curve(self.most)
        least = curve.best().value
        if math.isinf(least):
            raise InvalidInput(
                f"{self.problem.bound.name} has no finite value at any order of the list, however "
                f"large the noise{curve.refusal}"
            )
        listed, extra = self.problem.orders is not None, self.problem.extra is not None
        parts = [f"the {self.problem.rule.name} rule"]
        parts += ["at the orders of the list"] * listed + ["with the extra Renyi curve"] * extra
        why = " ".join(parts)
        raise InvalidInput(
            f"no noise reaches epsilon = {_short(self.target)} at "
            f"delta = {_short(self.problem.delta)}: {why} alone gives about {least:.6g} "
            "however large the noise; raise --target-epsilon or --delta"
        )

    def run(self) -> Calibration:
        sigma2, found = self._settle(self.solve())
        slack, words = self._tightness(sigma2, found)
        setting = replace(self.setting, sigma2=sigma2)
        conversion = _finish(self.problem, setting, found)
        assert setting.eta is not None and setting.sensitivity is not None
        assert setting.b is not None
        with precision(_bits(DIGITS)):
            square = 8 * setting.b**2 * sigma2 / (setting.eta * setting.sensitivity**2)
            low, high = decimal_bounds(Ball.number(square).sqrt(), DIGITS)
        return Calibration(
            target=self.target, sigma2=sigma2, setting=conversion.setting, conversion=conversion,
            slack=slack, certificate=words, noise_multiplier_lower=low, noise_multiplier_upper=high,
        )  # fmt: skip

    def _settle(self, octave: float) -> tuple[Fraction, _Found]:
        """A short sigma^2 that balls certify, reached from the float64 solution by Newton steps."""
        sigma2 = self.noise(octave)
        rate = self._rate(octave)
        best: tuple[Fraction, _Found] | None = None
        push = Fraction(1, 10**12)
        for attempt in range(60):
            candidate = _round_up(sigma2, NOISE_DIGITS)
            near = self.near if attempt > 0 and self.problem.orders is None else None
            found = _solve(self.problem, replace(self.setting, sigma2=candidate), near)
            high = decimal_bounds(found.total, DIGITS)[1]
            over = float(Fraction(high) / self.target - 1)
            meets = Fraction(high) <= self.target and Fraction(_upward(high)) <= self.target
            change = over / rate
            if meets and (best is None or candidate < best[0]):
                best = candidate, found
            if best is not None and (abs(change) < 3e-11 or attempt >= 10):
                return best
            if abs(change) >= 3e-12 and attempt < 8:
                sigma2 = candidate * (1 + Fraction(max(-0.5, min(change, 1.0))))
            else:
                sigma2 = candidate
            if not meets:
                sigma2 *= 1 + push
                push *= 2
        raise InvalidInput(
            f"{self.problem.bound.name} could not be enclosed narrowly enough to certify epsilon "
            f"<= {_short(self.target)} near sigma^2 = {_short(sigma2)}"
        )

    def _rate(self, octave: float) -> float:
        """-d log(epsilon)/d log(sigma^2) where epsilon is the target, at the best order."""
        step = 1e-3
        assert self.near is not None
        below = self.excess(octave - step, self.near)
        above = self.excess(octave + step, self.near)
        rate = (below - above) / (2 * step * math.log(2)) / self.aim
        return rate if math.isfinite(rate) and rate > 1e-12 else 1.0

    def _tightness(self, sigma2: Fraction, found: _Found) -> tuple[str | None, str]:
        """How far below sigma^2 the target is certified to be missed at every order."""
        near = None if self.problem.orders is not None else float(found.order - 1)
        for power in (10, 9, 8, 7, 6, 5, 4, 3, 2, 1):
            less = sigma2 * (1 - Fraction(1, 10**power))
            try:
                other = _solve(self.problem, replace(self.setting, sigma2=less), near)
            except InvalidInput:
                continue
            with precision(_bits(DIGITS)):
                if other.floor is not None and other.floor > Ball.number(self.target):
                    return f"1e-{power}", (
                        f"at sigma^2 times 1 - 1e-{power}, {other.reach} meets the target"
                        f"{other.given}"
                    )
        return None, "that less noise would miss the target could not be certified"


def _round_up(number: Fraction, digits: int) -> Fraction:
    """The next decimal of `digits` or one more significant digits that is not below."""
    size = math.log10(number.numerator) - math.log10(number.denominator)
    scale = Fraction(10) ** (math.floor(size) - digits + 1)
    return math.ceil(number / scale) * scale


def _short(number: Fraction) -> str:
    """A number for a sentence: exact where that is short."""
    text = show(number)
    if len(text) <= 40:
        return text
    context = Context(prec=6, Emax=10**9, Emin=-(10**9))
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
