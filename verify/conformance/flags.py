"""Why a golden vector exists: the closed list of flags, each with the bug that it catches.

A flag holds of a case or it does not, and that is decided here from the case alone: the generator
may give a flag only where it holds, and a test checks every committed vector. A flag says what a
parameter is like, so it applies to a bound only if the bound's value depends on that parameter.

A flag with `mistaken` is about a convention: it stands on vectors where the setting read by the
wrong convention gives a value that is clearly another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bounds.bound import Bound
from bounds.setting import AssumptionViolated, InvalidInput, Setting, exact

LEAST_SUBNORMAL = Decimal("4.94e-324")
LEAST_NORMAL = Decimal("2.2250738585072014e-308")
CLEARLY = Fraction(1, 100)
"""The least relative difference that a wrong convention must make."""


@dataclass(frozen=True)
class Case:
    """A vector as flags see it.

    bound: None for a plain conversion. setting: None where the input is no setting. label: of the
    violated assumption, None when valid. lower, upper: the enclosure.
    """

    given: Mapping[str, str]
    bound: Bound | None = None
    setting: Setting | None = None
    label: str | None = None
    lower: str | None = None
    upper: str | None = None


@dataclass(frozen=True)
class Flag:
    """A reason for a vector.

    says: what the case is like. catches: the bug that it is there for. about: the parameters it
    speaks of; a bound must depend on one of them. result: "valid", "invalid" or "any". kinds: the
    kinds of file it is for. holds: whether a case is like that.
    """

    name: str
    says: str
    catches: str
    about: tuple[str, ...] = ()
    result: str = "valid"
    holds: Callable[[Any], bool] = field(default=lambda case: True, repr=False)
    mistaken: Callable[[Any], Setting] | None = field(default=None, repr=False)
    kinds: tuple[str, ...] = ("bound",)

    def as_json(self) -> dict[str, str]:
        """What a file says of it."""
        return {"says": self.says, "catches": self.catches}

    def fits(self, case: Case) -> bool:
        """Whether a case is like that, result included.

        What `holds` asks of a parameter that is not given does not hold.
        """
        if self.result == "valid" and case.label is not None:
            return False
        if self.result == "invalid" and case.label is None:
            return False
        try:
            held = self.holds(case)
        except (KeyError, TypeError, AssertionError, InvalidInput, AttributeError):
            return False
        return held and (self.mistaken is None or tells(case, self.mistaken))


def tells(case: Case, mistaken: Callable[[Any], Setting]) -> bool:
    """Whether the wrong convention gives a clearly different value, or an error, at this case."""
    assert case.bound is not None and case.lower is not None and case.upper is not None
    try:
        other = mistaken(case.setting)
        if other == case.setting:
            return False
        case.bound.check(other)
    except AssumptionViolated:
        return False
    from bounds.arith.ball import decimal_bounds

    low, high = (Fraction(end) for end in decimal_bounds(case.bound.enclose(other, 10), 10))
    return high < Fraction(case.lower) * (1 - CLEARLY) or low > Fraction(case.upper) * (1 + CLEARLY)


def _exponent(s: Any) -> Fraction:
    """The largest exponent of a moment bound, (alpha - 1) alpha A [-]."""
    out: Fraction = (s.alpha - 1) * s.alpha * s.rate
    return out


def _whole_of(s: Setting) -> Setting:
    """The setting with n rounded up to a multiple of b."""
    assert s.n is not None and s.b is not None
    return s.replace(n=-(-s.n // s.b) * s.b)


def _edge(case: Case) -> bool:
    """Whether the best order of the list is its first or last, of more than one."""
    from verify.conformance.answers import best_of_list

    place, count = best_of_list(case.given)
    return count > 1 and place in (0, count - 1)


def _inside(case: Case) -> bool:
    from verify.conformance.answers import best_of_list

    place, count = best_of_list(case.given)
    return count > 2 and 0 < place < count - 1


def _delta(case: Case) -> Fraction:
    return exact(case.given["delta"])


def _text(key: str, text: str) -> Callable[[Case], bool]:
    return lambda case: case.given.get(key) == text


def _number(case: Case, keys: tuple[str, ...]) -> bool:
    return any(case.given.get(key, "").lower() == "nan" for key in keys)


_CURVES = ("conversion", "conversion_of_bound", "calibration")
_MINIMA = ("conversion_of_bound", "calibration")
_REAL = ("alpha", "eta", "lambda", "beta", "sensitivity", "sigma2")

_LIST = (
    # What is usual.
    Flag(
        "ordinary",
        "a usual setting of short decimals",
        "gross mistakes: a wrong constant, a lost factor, two parameters exchanged",
        kinds=("bound", *_CURVES),
    ),
    Flag(
        "figure", "a setting of the paper's Figures 1 and 2",
        "a formula taken from another equation than the one whose curve is drawn",
        holds=lambda c: c.setting.n == 50 and c.setting.eta == Fraction(1, 50),
    ),
    Flag(
        "fractions", "no parameter is a short decimal",
        "input read as an integer, or rounded to a few digits",
        holds=lambda c: c.setting.eta.denominator % 3 == 0,
    ),
    # Batches.
    Flag(
        "odd-batches", "n/b is odd", "ceil(n/(2b)), or n/(2b) as a float, for floor(n/(2b))",
        ("n",), "any", lambda c: c.setting.batches % 2 == 1 and c.setting.batches >= 3,
    ),
    Flag(
        "two-batches", "n/b = 2, the least for which the halves are not empty",
        "a sum or product over half an epoch that starts one too late",
        ("n",), "any", lambda c: c.setting.batches == 2,
    ),
    Flag(
        "three-batches", "n/b = 3, halves of one and two",
        "the two halves of an epoch exchanged", ("n",), "any",
        lambda c: c.setting.batches == 3,
    ),
    Flag(
        "indivisible", "b does not divide n, and n/b is replaced by its floor",
        "n/b rounded up, or kept as a fraction", ("n",), "any",
        lambda c: not c.setting.divides and c.setting.batches >= 2, _whole_of,
    ),
    Flag(
        "one-batch-left", "floor(n/b) = 1 although b < n",
        "the number of batches decided from b < n", ("n",), "any",
        lambda c: c.setting.batches == 1 and c.setting.b < c.setting.n,
    ),
    Flag(
        "full-batch", "b = n",
        "a division by zero in a formula for two batches or more; the wrong theorem", ("n", "b"),
        "any", lambda c: c.setting.b == c.setting.n,
    ),
    Flag(
        "batch-of-one", "b = 1", "b read as n/b: a batch of one record is not one batch",
        ("b",), "any", lambda c: c.setting.b == 1,
    ),
    Flag(
        "many-batches", "n/b is at least 1000",
        "loops that cost the square of n/b; weights that vanish in a running product", ("n",),
        holds=lambda c: c.setting.batches >= 1000,
    ),
    Flag(
        "small-rate", "b/n is at most 1/1000",
        "digits lost in a moment near 1; an approximation by the square of the rate", ("n",),
        holds=lambda c: Fraction(c.setting.b, c.setting.n) <= Fraction(1, 1000),
    ),
    Flag(
        "first-batch", "the record is in the first batch", "an index from 1, or from the end",
        ("position",), holds=lambda c: c.setting.position == 0 and c.setting.batches >= 2,
    ),
    Flag(
        "last-batch", "the record is in the last batch", "a division by n/b - j0 - 1 = 0",
        ("position",), holds=lambda c: c.setting.position == c.setting.batches - 1 > 0,
    ),
    Flag(
        "middle-batch", "the record is in a batch between",
        "a formula that knows the first and the last batch only", ("position",),
        holds=lambda c: 0 < c.setting.position < c.setting.batches - 1,
    ),
    # Epochs.
    Flag(
        "one-epoch", "K = 1, no earlier epochs", "K for K - 1; a loop that always runs once",
        ("epochs",), holds=lambda c: c.setting.epochs == 1,
    ),
    Flag(
        "two-epochs", "K = 2, one earlier epoch", "K + 1 or K for K - 1, most visible here",
        ("epochs",), holds=lambda c: c.setting.epochs == 2,
    ),
    Flag(
        "huge-epochs", "K is at least a million",
        "a loop over epochs that does not end; a sum that overflows or stops early", ("epochs",),
        holds=lambda c: c.setting.epochs >= 10**6,
    ),
    # Order.
    Flag(
        "order-near-one", "alpha - 1 is at most 1/1000",
        "digits lost in alpha - 1 or in the logarithm of a moment near 1; 1/(alpha - 1) dropped",
        ("alpha",), holds=lambda c: 0 < c.setting.alpha - 1 <= Fraction(1, 1000),
    ),
    Flag(
        "large-order", "alpha is at least 1000",
        "an order grid that ends early; a loop over a whole order", ("alpha",),
        holds=lambda c: c.setting.alpha >= 1000,
    ),
    Flag(
        "overflow", "exp((alpha - 1) alpha A) is beyond double precision",
        "a mean of exponentials without the largest taken out: infinity, or not a number",
        ("alpha",), holds=lambda c: _exponent(c.setting) > 710,
    ),
    Flag(
        "integer-order", "alpha is a whole number",
        "a division by alpha - 2; the binomial sum with one term too few", ("alpha",),
        holds=lambda c: c.setting.alpha.denominator == 1,
    ),
    Flag(
        "fractional-order", "alpha is not a whole number",
        "the order rounded; a formula for whole orders used at all of them", ("alpha",),
        holds=lambda c: c.setting.alpha.denominator > 1,
    ),
    # Step size and convexity.
    Flag(
        "step-near-limit", "eta is below the largest admissible step size by less than 1e-6 of it",
        "a margin on the condition, or the condition of another theorem",
        ("eta",), "valid", lambda c: _beside_limit(c, Fraction(1), 1 + Fraction(1, 10**6)),
    ),
    Flag(
        "step-at-limit", "eta is exactly the limit: admissible or not as the condition says",
        "< for <=, or <= for <", ("eta",), "any",
        lambda c: _beside_limit(c, 1 - Fraction(1, 10**6), 1 + Fraction(1, 10**6)),
    ),
    Flag(
        "step-beyond-limit", "eta is larger than the condition allows",
        "no check, or the condition of another theorem; a value that means nothing",
        ("eta",), "invalid", lambda c: c.label == "step-size" and c.setting.eta > 0,
    ),
    Flag(
        "lambda-zero", "lambda = 0: to be accepted or refused as the theorem says",
        "0/0, or a silent switch to another theorem; a convex loss refused", (), "any",
        lambda c: c.setting.lambda_ == 0 and c.label in (None, "strong-convexity"),
    ),
    Flag(
        "lambda-is-beta", "lambda = beta", "lambda = beta refused; 0/0 in beta - lambda",
        ("lambda",), "any", lambda c: c.setting.lambda_ == c.setting.beta,
    ),
    Flag(
        "below-one-ulp", "1 - eta lambda is 1 in double precision",
        "0/0: not a number, or a value that is not an upper bound", ("lambda",),
        holds=lambda c: c.setting.eta_lambda < Fraction(1, 2**53),
    ),
    Flag(
        "cancellation", "eta lambda is small but not lost",
        "digits lost in 1 - (1 - eta lambda)^m", ("lambda",),
        holds=lambda c: Fraction(1, 2**53) < c.setting.eta_lambda <= Fraction(1, 10**5),
    ),
    Flag(
        "contraction-near-zero", "1 - eta lambda is nearly 0",
        "underflow of its powers, and 0/0 after it", ("lambda",),
        holds=lambda c: 0 < 1 - c.setting.eta_lambda < Fraction(1, 10**6),
    ),
    Flag(
        "contraction-zero", "eta lambda = 1, nothing of the past is left",
        "the logarithm of 0; 0^0", ("lambda",), holds=lambda c: c.setting.eta_lambda == 1,
    ),
    # Size of the answer.
    Flag(
        "tiny-answer", "the value is a subnormal double",
        "a square that underflows: 0 reported, which is below the value", ("sigma2",),
        holds=lambda c: LEAST_SUBNORMAL <= Decimal(c.lower) <= LEAST_NORMAL,
    ),
    Flag(
        "below-doubles", "the value is positive and below all positive doubles",
        "0 reported for an upper bound that is not 0", ("lambda", "sigma2"),
        holds=lambda c: 0 < Decimal(c.upper) < LEAST_SUBNORMAL,
    ),
    Flag(
        "small-noise", "sigma^2 is tiny and the value is huge",
        "clipping, overflow, or noise that is treated as absent", ("sigma2",),
        holds=lambda c: c.setting.sigma2 <= Fraction(1, 10**6),
    ),
    Flag(
        "large-noise", "sigma^2 is huge and all exponents are small",
        "digits lost in the logarithm of a mean near 1", ("sigma2",),
        holds=lambda c: c.setting.sigma2 >= 10**6,
    ),
    # Conventions.
    Flag(
        "epochs-as-updates", "a run where K n/b in place of K gives clearly another value",
        "K counted as updates", ("epochs",), holds=lambda c: c.setting.batches > 1,
        mistaken=lambda s: s.replace(epochs=s.steps),
    ),
    Flag(
        "add-or-remove", "S_g/2 in place of S_g gives clearly another value",
        "the sensitivity, or the clip norm, of adding or removing a record in place of replacing "
        "one", ("sensitivity",), mistaken=lambda s: s.replace(sensitivity=s.sensitivity / 2),
    ),
    Flag(
        "noise-on-the-sum", "b > 1, and noise divided by b gives clearly another value",
        "noise of the mean of a batch taken for noise of its sum, or the other way round",
        ("b",), holds=lambda c: c.setting.b > 1,
        mistaken=lambda s: s.replace(sigma2=s.sigma2 / s.b**2),
    ),
    Flag(
        "variance-squared", "sigma^4 in place of sigma^2 gives clearly another value",
        "sigma taken for sigma^2, or the other way round", ("sigma2",),
        mistaken=lambda s: s.replace(sigma2=s.sigma2**2),
    ),
    Flag(
        "noise-halved", "noise of variance eta sigma^2 an update, in place of 2 eta sigma^2",
        "the factor 2 in the noise convention", ("sigma2",),
        mistaken=lambda s: s.replace(sigma2=s.sigma2 / 2),
    ),
    Flag(
        "batches-as-batch-size", "b and n/b exchanged give clearly another value",
        "the number of batches given for their size", ("b",),
        holds=lambda c: c.setting.divides and c.setting.b != c.setting.batches,
        mistaken=lambda s: s.replace(b=s.batches),
    ),
    Flag(
        "position-from-one", "j0 + 1 in place of j0 gives clearly another value",
        "positions counted from 1", ("position",),
        mistaken=lambda s: s.replace(position=s.position + 1),
    ),
    Flag(
        "position-from-the-end", "the position counted from the end gives clearly another value",
        "n/b - j0 for j0", ("position",),
        mistaken=lambda s: s.replace(position=s.batches - 1 - s.position),
    ),
    # What must be refused.
    Flag(
        "order-at-most-one", "alpha <= 1, where the divergence is another or none",
        "a negative or infinite loss reported", ("alpha",), "invalid",
        lambda c: c.setting.alpha <= 1 and c.label == "order",
    ),
    Flag(
        "count-not-positive", "n, b or K is zero or negative",
        "an empty sum, 0, reported as perfect privacy", (), "invalid",
        lambda c: min(c.setting.n, c.setting.b, c.setting.epochs) <= 0,
    ),
    Flag(
        "count-not-whole", "a count is not a whole number", "a count truncated without a word",
        (), "invalid",
        lambda c: any("." in c.given.get(k, "") for k in ("n", "b", "epochs", "position")),
    ),
    Flag(
        "batch-beyond-data", "b > n", "floor(n/b) = 0 batches; a sampling rate above 1",
        (), "invalid", lambda c: c.setting.b > c.setting.n,
    ),
    Flag(
        "noise-not-positive", "sigma^2 is zero or negative",
        "a division by zero, or a negative loss", ("sigma2",), "invalid",
        lambda c: c.setting.sigma2 <= 0,
    ),
    Flag(
        "sensitivity-not-positive", "S_g is zero or negative",
        "a sign that squaring hides", ("sensitivity",), "invalid",
        lambda c: c.setting.sensitivity <= 0,
    ),
    Flag(
        "step-not-positive", "eta is zero or negative", "only the upper limit of eta is checked",
        (), "invalid", lambda c: c.setting.eta <= 0,
    ),
    Flag(
        "lambda-negative", "lambda < 0", "a factor 1 - eta lambda above 1: an expansion", (),
        "invalid", lambda c: c.setting.lambda_ < 0,
    ),
    Flag(
        "lambda-beyond-beta", "lambda > beta, which no loss has",
        "lambda and beta exchanged, or not checked", (), "invalid",
        lambda c: c.setting.lambda_ > c.setting.beta and c.label == "smoothness",
    ),
    Flag(
        "beta-not-positive", "beta is zero or negative", "a step-size condition without content",
        (), "invalid", lambda c: c.setting.beta <= 0,
    ),
    Flag(
        "position-out-of-range", "j0 is negative, or n/b or more",
        "a negative index read from the end; positions counted from 1", ("position",), "invalid",
        lambda c: c.label == "position",
    ),
    Flag(
        "several-epochs", "K > 1, where the theorem is about one epoch",
        "the value of one epoch reported for many", (), "invalid",
        lambda c: c.label == "one-epoch" and c.setting.epochs > 1,
    ),
    Flag(
        "not-full-batch", "b < n, where the theorem is about b = n",
        "b ignored, or put where n stands", (), "invalid",
        lambda c: c.label == "full-batch" and c.setting.b < c.setting.n,
    ),
    Flag(
        "not-a-number", "a parameter is NaN (or no number at all)",
        "checks of the form `if x <= 0: refuse`, which NaN passes", (), "invalid",
        lambda c: _number(c, _REAL), kinds=("bound", *_CURVES),
    ),
    # Conversion and calibration.
    Flag(
        "classical-rule", "the rule of Mironov 2017", "the other rule", (), "valid",
        _text("rule", "classical"), kinds=_CURVES,
    ),
    Flag(
        "tighter-rule", "the rule of Canonne, Kamath and Steinke 2020", "the other rule; "
        "log((alpha - 1)/alpha) with the wrong sign; log(alpha) left out", (), "valid",
        _text("rule", "canonne_kamath_steinke_2020"), kinds=_CURVES,
    ),
    Flag(
        "order-at-edge", "the best order is the first or the last of the list",
        "an optimum at the edge taken for the optimum; an end of the list left out", (), "valid",
        _edge, kinds=_CURVES,
    ),
    Flag(
        "order-inside", "the best order is inside the list",
        "the first or the last order taken in place of the best", (), "valid", _inside,
        kinds=_CURVES,
    ),
    Flag(
        "single-order", "the list has one order", "an order of one's own in place of the list's",
        (), "valid", lambda c: "," not in c.given["orders"], kinds=_CURVES,
    ),
    Flag(
        "all-orders", "no list: every real order is allowed",
        "an order grid too coarse or too narrow", (), "valid", lambda c: "orders" not in c.given,
        kinds=_MINIMA,
    ),
    Flag(
        "list-near-one", "an order of the list is within 1/1000 of 1",
        "digits lost in 1/(alpha - 1)", (), "valid",
        lambda c: _orders(c)[0] - 1 <= Fraction(1, 1000), kinds=_CURVES,
    ),
    Flag(
        "list-very-large", "an order of the list is at least 100000",
        "alpha/(alpha - 1) - 1 lost; log(delta) + log(alpha) of the other sign", (), "valid",
        lambda c: _orders(c)[-1] >= 10**5, kinds=_CURVES,
    ),
    Flag(
        "unsorted-list", "the orders are not in increasing order",
        "a search that takes the list to be sorted", (), "valid",
        lambda c: [exact(x) for x in c.given["orders"].split(",")] != _orders(c), kinds=_CURVES,
    ),
    Flag(
        "tiny-delta", "delta is at most 1e-12", "1/delta or 1 - delta rounded", (), "valid",
        lambda c: _delta(c) <= Fraction(1, 10**12), kinds=_CURVES,
    ),
    Flag(
        "large-delta", "delta is at least 1/10",
        "delta taken to be small; a sign in log(delta)", (), "valid",
        lambda c: _delta(c) >= Fraction(1, 10), kinds=_CURVES,
    ),
    Flag(
        "clipped", "the rule gives a negative number, and the answer is 0",
        "a negative epsilon reported", (), "valid", lambda c: c.upper == "0",
        kinds=("conversion", "conversion_of_bound"),
    ),
    Flag(
        "no-loss", "the Renyi curve is 0", "a division by the divergence", (), "valid",
        lambda c: set(c.given["epsilons"].split(",")) == {"0"}, kinds=("conversion",),
    ),
    Flag(
        "delta-out-of-range", "delta is not between 0 and 1",
        "the logarithm of 0, or a negative epsilon clipped to 0", (), "invalid",
        lambda c: not 0 < _delta(c) < 1, kinds=_CURVES,
    ),
    Flag(
        "bad-order-in-list", "an order of the list is 1 or less",
        "a negative value that wins the minimum", (), "invalid",
        lambda c: _orders(c)[0] <= 1, kinds=_CURVES,
    ),
    Flag(
        "empty-list", "the list of orders is empty", "infinity, or 0, as the minimum of nothing",
        (), "invalid", _text("orders", ""), kinds=_CURVES,
    ),
    Flag(
        "unequal-lists", "the lists of orders and of values differ in length",
        "the shorter list taken without a word", (), "invalid",
        lambda c: len(c.given["orders"].split(",")) != len(c.given["epsilons"].split(",")),
        kinds=("conversion",),
    ),
    Flag(
        "negative-divergence", "a value of the curve is negative",
        "a negative divergence taken at its word", (), "invalid",
        lambda c: any(exact(x) < 0 for x in c.given["epsilons"].split(",")),
        kinds=("conversion",),
    ),
    Flag(
        "target-not-positive", "the target epsilon is zero or negative",
        "noise that is infinite or negative", (), "invalid",
        lambda c: exact(c.given["target_epsilon"]) <= 0, kinds=("calibration",),
    ),
    Flag(
        "unreachable", "no noise reaches the target at these orders",
        "the largest noise tried, reported as enough", (), "invalid",
        lambda c: c.label == "unreachable", kinds=("calibration",),
    ),
    Flag(
        "bound-refuses", "the bound does not apply at this setting",
        "a conversion that does not ask the bound", (), "invalid",
        lambda c: c.label not in (None, "delta", "orders", "target", "unreachable", "quantity"),
        kinds=_MINIMA,
    ),
    Flag(
        "no-privacy-promised", "the bound is a lower bound, an estimate, or not a divergence",
        "a number that promises no privacy, converted to epsilon", (), "invalid",
        lambda c: c.label == "quantity", kinds=_MINIMA,
    ),
)  # fmt: skip


def _orders(case: Case) -> list[Fraction]:
    return sorted(exact(text) for text in case.given["orders"].split(","))


def _beside_limit(case: Case, low: Fraction, high: Fraction) -> bool:
    """Whether the step-size limit lies in [low, high] times eta, and is not eta in the open case.

    The limit is where the bound's own assumption changes: it holds at `low` eta and not at `high`.
    """
    assert case.bound is not None and case.setting is not None and case.setting.eta is not None
    eta = case.setting.eta
    rules = [item for item in case.bound.assumptions if item.label == "step-size"]

    def ok(factor: Fraction) -> bool:
        return all(rule.holds(case.setting.replace(eta=eta * factor)) for rule in rules)  # type: ignore[union-attr]

    return ok(low) and not ok(high)


FLAGS: dict[str, Flag] = {flag.name: flag for flag in sorted(_LIST, key=lambda f: f.name)}
"""Every flag, by name."""
