"""Exact parameters of noisy SGD, and the labelled assumptions that bounds make about them.

A setting holds integers and fractions only. Floors, divisibility and step-size conditions are
decided here, in exact arithmetic, before any formula runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,5})?")
_FRACTION = re.compile(r"[+-]?\d+\s*/\s*\d+")
_LONGEST = 4000
# Python writes integers of up to 4300 digits.
_MOST_BITS = 14_000


class InvalidInput(ValueError):
    """A request that cannot be answered; the message is one sentence for the user."""


class NotExact(InvalidInput, TypeError):
    """A value that is not an exact number, such as a binary float."""


class MissingParameter(InvalidInput):
    """A bound was asked for without a parameter that it needs."""

    def __init__(self, names: Iterable[str], who: str) -> None:
        self.names = tuple(names)
        self.who = who
        flags = ", ".join(PARAMETERS[name].flag for name in self.names)
        were = "it was" if len(self.names) == 1 else "they were"
        super().__init__(f"{who} needs {flags}; {were} not given")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.names, self.who))


class AssumptionViolated(InvalidInput):
    """A parameter setting outside what a bound assumes.

    `label` names the assumption, `condition` states it, `values` holds what was found.
    """

    def __init__(
        self, label: str, condition: str, values: Mapping[str, object], advice: str = ""
    ) -> None:
        self.label = label
        self.condition = condition
        self.values = dict(values)
        self.advice = advice
        found = ", ".join(f"{key} = {show(value)}" for key, value in self.values.items())
        super().__init__(
            f"{label}: {condition} is required, found {found}" + (f"; {advice}" if advice else "")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.label, self.condition, self.values, self.advice))


def show(value: object) -> str:
    """Write an exact value the way a user would type it: as a short decimal, else a fraction."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        rest = value.denominator
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1 and value.denominator.bit_length() < 200:
            plain = Decimal(value.numerator) / Decimal(value.denominator)
            if Fraction(plain) == value and len(str(plain)) <= 24:
                return str(plain)
        return f"{value.numerator}/{value.denominator}"
    return str(value)


def exact(value: object, what: str = "value") -> Fraction:
    """Read an exact number: an int, a Fraction, a Decimal, or a string "0.02", "2/5", "1e-6".

    Raises:
        NotExact: for floats (write the decimal as a string), booleans, NaN, infinities and
            anything that is not a number.
    """
    number = _exact(value, what)
    if max(abs(number.numerator), number.denominator).bit_length() > _MOST_BITS:
        raise _too_long(what)
    return number


def _too_long(what: str) -> NotExact:
    return NotExact(f"{what} has more than {_LONGEST} digits when written out, which are too many")


def _exact(value: object, what: str) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, Decimal) and value.is_finite():
        if abs(value.adjusted()) > 2 * _LONGEST:
            raise _too_long(what)
        return Fraction(value)
    if isinstance(value, str):
        text = value.strip()
        if len(text) <= _LONGEST and text.isascii():
            if _DECIMAL.fullmatch(text):
                return Fraction(text)
            if _FRACTION.fullmatch(text):
                over, under = text.split("/")
                if int(under):
                    return Fraction(int(over), int(under))
                raise NotExact(f"{what} is {text!r}, which divides by zero")
        raise NotExact(
            f"{what} is {text[:60]!r}; an integer, a decimal such as 0.02 or a fraction such as "
            "2/5 is wanted"
        )
    if isinstance(value, float):
        raise NotExact(
            f"{what} is the binary float {value!r}, which is not the number that was typed; "
            f"give it as a string, {str(value)!r}, or as a Fraction"
        )
    raise NotExact(f"{what} is {value!r}; an exact number is wanted")


def exact_integer(value: object, what: str) -> int:
    """Read an exact integer. Raises `NotExact` when it is none."""
    number = exact(value, what)
    if number.denominator != 1:
        raise NotExact(f"{what} is {show(number)}; an integer is wanted")
    return number.numerator


@dataclass(frozen=True)
class Parameter:
    """One parameter, declared once for input checks, symbols, test draws and reports.

    `symbol` is the paper's notation, `kind` is "integer" or "real", `domain` the set it lives in,
    `typical` a range from which tests draw.
    """

    name: str
    flag: str
    symbol: str
    kind: str
    domain: str
    unit: str
    meaning: str
    typical: tuple[str, str]

    def read(self, value: object) -> int | Fraction:
        """Turn input into the exact value. Raises `NotExact`."""
        if self.kind == "integer":
            return exact_integer(value, self.flag)
        return exact(value, self.flag)


PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("n", "--n", "n", "integer", "n >= 1", "[records]", "size of the data set",
                  ("2", "1000000")),
        Parameter("b", "--b", "b", "integer", "1 <= b <= n", "[records]",
                  "size of a mini-batch", ("1", "1000")),
        Parameter("epochs", "--epochs", "K", "integer", "K >= 1", "[epochs]",
                  "passes over the data, of floor(n/b) updates each", ("1", "1000000000000")),
        Parameter("eta", "--eta", "eta", "real", "eta > 0", "[parameter / gradient]", "step size",
                  ("1e-6", "1")),
        Parameter("lambda_", "--lambda", "lambda", "real", "lambda >= 0",
                  "[gradient / parameter]", "strong convexity of the loss", ("1e-6", "1")),
        Parameter("beta", "--beta", "beta", "real", "beta >= lambda", "[gradient / parameter]",
                  "smoothness of the loss", ("1e-3", "100")),
        Parameter("sensitivity", "--sensitivity", "S_g", "real", "S_g > 0", "[gradient]",
                  "l2-sensitivity of the total gradient when one record is replaced",
                  ("1e-3", "100")),
        Parameter("sigma2", "--sigma2", "sigma^2", "real", "sigma^2 > 0",
                  "[parameter * gradient]",
                  "noise scale; an update adds N(0, 2 eta sigma^2) in each coordinate",
                  ("1e-6", "1e6")),
        Parameter("alpha", "--alpha", "alpha", "real", "alpha > 1", "[-]", "Renyi order",
                  ("1.01", "1000")),
        Parameter("position", "--position", "j_0", "integer", "0 <= j_0 < floor(n/b)", "[-]",
                  "index of the batch that holds the differing record, from 0", ("0", "1000")),
    )
}  # fmt: skip


CONVENTIONS: dict[str, str] = {
    "noise-multiplier": "in place of sigma2: noise over clip norm S_g/2 (Algorithm 2)",
    "clip-norm": "norm that each gradient is clipped to: S_g/2",
    "feature-clip-norm": "norm L that features are clipped to, in logistic regression",
    "updates": "in place of epochs: K floor(n/b)",
}
"""Other conventions that `Setting.of` translates."""


def logistic_smoothness(radius: Fraction) -> Fraction:
    """(L^2 + 1)/2 [-]: the smoothness of the unregularised logistic loss (equation (10))."""
    return (radius**2 + 1) / 2


def logistic_lipschitz_squared(radius: Fraction) -> Fraction:
    """2 (L^2 + 1) [-]: the square of its Lipschitz constant (equation (9))."""
    return 2 * (radius**2 + 1)


def _root_up(square: Fraction) -> Fraction:
    """The least number of 12 decimals whose square is not below."""
    scaled = math.ceil(square * 10**24)
    root = math.isqrt(scaled)
    return Fraction(root + (root * root < scaled), 10**12)


def _positive(value: object, key: str, words: str) -> Fraction:
    number = exact(value, key)
    if number <= 0:
        raise AssumptionViolated(key, f"{words} > 0", {words: number})
    return number


@dataclass(frozen=True)
class Setting:
    """Exact parameters of one run of noisy mini-batch SGD (Algorithm 1) and a Renyi order.

    Every field may be None until a bound needs it. Build it with `Setting.of`.
    """

    n: int | None = None
    b: int | None = None
    epochs: int | None = None
    eta: Fraction | None = None
    lambda_: Fraction | None = None
    beta: Fraction | None = None
    sensitivity: Fraction | None = None
    sigma2: Fraction | None = None
    alpha: Fraction | None = None
    position: int | None = None

    @classmethod
    def of(
        cls,
        *,
        noise_multiplier: object = None,
        clip_norm: object = None,
        feature_clip_norm: object = None,
        updates: object = None,
        **values: object,
    ) -> Setting:
        """Read a setting from ints, Fractions and strings; other conventions are translated here.

        `lambda` may be spelled `lambda_`. `noise_multiplier` (times the clip norm S_g/2, over the
        batch size; Algorithm 2) stands in place of `sigma2`; `updates` = K floor(n/b) in place of
        `epochs`. `clip_norm` [gradient] gives S_g = 2 clip_norm where no sensitivity is given.
        `feature_clip_norm` = L [-] says that the loss is the regularised logistic one of Section 5:
        it gives beta and S_g where nothing else does, see `logistic`.

        Raises:
            NotExact, AssumptionViolated, MissingParameter: see `exact` and the methods.
            InvalidInput: an unknown name, or two values for one thing.

        >>> Setting.of(eta="0.02").eta
        Fraction(1, 50)
        >>> Setting.of(lambda_="0.08", feature_clip_norm=2, clip_norm=1).as_strings()
        {'lambda': '0.08', 'beta': '2.58', 'sensitivity': '2'}
        """
        if "lambda" in values:
            values["lambda_"] = values.pop("lambda")
        unknown = sorted(set(values) - set(PARAMETERS))
        if unknown:
            raise InvalidInput(
                f"{unknown[0]!r} is not a parameter; there are: "
                + ", ".join(parameter.flag[2:] for parameter in PARAMETERS.values())
                + ", "
                + ", ".join(CONVENTIONS)
            )
        read = {
            name: PARAMETERS[name].read(value)
            for name, value in values.items()
            if value is not None
        }
        setting = cls(**read)  # type: ignore[arg-type]
        if clip_norm is not None:
            clip = _positive(clip_norm, "clip-norm", "clip norm")
            if setting.sensitivity is None:
                setting = replace(setting, sensitivity=2 * clip)
        if feature_clip_norm is not None:
            setting = setting.logistic(
                _positive(feature_clip_norm, "feature-clip-norm", "feature clip norm")
            )
        if updates is not None:
            if setting.epochs is not None:
                raise InvalidInput("epochs and updates both set the length of the run; give one")
            setting = setting.with_updates(exact_integer(updates, "updates"))
        if noise_multiplier is None:
            return setting
        if setting.sigma2 is not None:
            raise InvalidInput("--noise-multiplier and --sigma2 both set the noise; give one")
        return setting.with_noise_multiplier(exact(noise_multiplier, "--noise-multiplier"))

    def logistic(self, radius: Fraction) -> Setting:
        """Fill in what features clipped to norm L = `radius` [-] give for logistic regression.

        beta = (L^2 + 1)/2 + lambda where beta is not known; S_g = 2 sqrt(2 (L^2 + 1)), rounded up
        to 12 decimals, where S_g is not known, that is without gradient clipping. (Propositions
        5.1 and 5.2.)

        Raises:
            MissingParameter: when neither beta nor lambda is known.

        >>> Setting.of(beta=3, feature_clip_norm=1).sensitivity
        Fraction(4, 1)
        """
        changes: dict[str, Fraction] = {}
        if self.beta is None:
            require(self, ("lambda_",), "feature-clip-norm (beta = (L^2 + 1)/2 + lambda)")
            assert self.lambda_ is not None
            changes["beta"] = logistic_smoothness(radius) + self.lambda_
        if self.sensitivity is None:
            changes["sensitivity"] = _root_up(4 * logistic_lipschitz_squared(radius))
        return replace(self, **changes)  # type: ignore[arg-type]

    def with_updates(self, updates: int) -> Setting:
        """Set K = updates/floor(n/b).

        Raises:
            MissingParameter: when n or b is not known.
            InvalidInput: when the updates are no whole number of epochs.
        """
        require(self, ("n", "b"), "updates")
        assert self.n is not None and self.b is not None
        if not 1 <= self.b <= self.n:
            raise AssumptionViolated("batch-size", "1 <= b <= n", {"b": self.b, "n": self.n})
        epochs, rest = divmod(updates, self.batches)
        if rest:
            near = [k * self.batches for k in (epochs, epochs + 1) if k > 0]
            raise InvalidInput(
                f"updates = {updates} is no multiple of floor(n/b) = {self.batches}, the updates "
                f"of an epoch; {' or '.join(map(str, near))} would do"
            )
        return replace(self, epochs=epochs)

    def with_noise_multiplier(self, multiplier: Fraction) -> Setting:
        """Set sigma^2 = eta * (multiplier * S_g / b)^2 / 8 (Section F.1).

        Raises:
            AssumptionViolated: `noise`, when the multiplier is not positive.
            MissingParameter: when eta, S_g or b is not known.
        """
        require(self, ("b", "eta", "sensitivity"), "--noise-multiplier")
        if multiplier <= 0:
            raise AssumptionViolated(
                "noise", "noise multiplier > 0", {"noise multiplier": multiplier}
            )
        assert self.b is not None and self.eta is not None and self.sensitivity is not None
        if self.b < 1:
            raise AssumptionViolated("batch-size", "b >= 1", {"b": self.b})
        return replace(self, sigma2=self.eta * (multiplier * self.sensitivity / self.b) ** 2 / 8)

    def replace(self, **changes: object) -> Setting:
        """A copy with some values read anew."""
        if "lambda" in changes:
            changes["lambda_"] = changes.pop("lambda")
        read = {
            name: None if value is None else PARAMETERS[name].read(value)
            for name, value in changes.items()
        }
        return replace(self, **read)  # type: ignore[arg-type]

    def known(self) -> dict[str, int | Fraction]:
        """The parameters that are set, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) is not None
        }

    def as_strings(self) -> dict[str, str]:
        """The parameters that are set, by flag name, as exact text."""
        return {PARAMETERS[name].flag[2:]: show(value) for name, value in self.known().items()}

    @property
    def batches(self) -> int:
        """floor(n/b), the number of updates in an epoch (footnote 3)."""
        assert self.n is not None and self.b is not None
        return self.n // self.b

    @property
    def place(self) -> int:
        """The position j_0; by default the last batch."""
        return self.batches - 1 if self.position is None else self.position

    @property
    def steps(self) -> int:
        """The number of updates, K * floor(n/b)."""
        assert self.epochs is not None
        return self.epochs * self.batches

    @property
    def divides(self) -> bool:
        """Whether b divides n."""
        assert self.n is not None and self.b is not None
        return self.n % self.b == 0

    @cached_property
    def eta_lambda(self) -> Fraction:
        """eta * lambda [-], the contraction lost in one update."""
        assert self.eta is not None and self.lambda_ is not None
        return self.eta * self.lambda_

    @cached_property
    def rate(self) -> Fraction:
        """A = eta S_g^2 / (4 sigma^2 b^2) [-].

        alpha * A is the Renyi divergence of one update that holds the record, from equal
        parameters: shift eta S_g / b against noise of variance 2 eta sigma^2 (equation (70)).
        """
        assert self.eta is not None and self.sensitivity is not None
        assert self.sigma2 is not None and self.b is not None
        return self.eta * self.sensitivity**2 / (4 * self.sigma2 * self.b**2)


@dataclass(frozen=True)
class Assumption:
    """A labelled joint condition on a setting.

    `holds` decides it in exact arithmetic from the parameters in `needs`; `limit`, where given,
    says in words what would be accepted.
    """

    label: str
    condition: str
    needs: tuple[str, ...]
    holds: Callable[[Any], bool]
    limit: Callable[[Any], str] | None = None

    def check(self, setting: Setting) -> None:
        """Raise `AssumptionViolated` when the condition does not hold."""
        if self.holds(setting):
            return
        found: dict[str, object] = {
            PARAMETERS[name].symbol: getattr(setting, name) for name in self.needs
        }
        raise AssumptionViolated(
            self.label, self.condition, found, self.limit(setting) if self.limit else ""
        )


def require(setting: Setting, names: Iterable[str], who: str) -> None:
    """Raise `MissingParameter` unless all the named parameters are set."""
    missing = [name for name in names if getattr(setting, name) is None]
    if missing:
        raise MissingParameter(missing, who)


ORDER = Assumption("order", "alpha > 1", ("alpha",), lambda s: s.alpha > 1)
DATA_SIZE = Assumption("data-size", "n >= 1", ("n",), lambda s: s.n >= 1)
BATCH_SIZE = Assumption("batch-size", "1 <= b <= n", ("b", "n"), lambda s: 1 <= s.b <= s.n)
EPOCHS = Assumption(
    "epochs", "K >= 1", ("epochs",), lambda s: s.epochs >= 1, lambda s: "K counts epochs"
)
ONE_EPOCH = Assumption("one-epoch", "K = 1", ("epochs",), lambda s: s.epochs == 1)
NOISE = Assumption("noise", "sigma^2 > 0", ("sigma2",), lambda s: s.sigma2 > 0)
SENSITIVITY = Assumption("sensitivity", "S_g > 0", ("sensitivity",), lambda s: s.sensitivity > 0)
STEP_POSITIVE = Assumption("step-size", "eta > 0", ("eta",), lambda s: s.eta > 0)
CONVEX = Assumption("convexity", "lambda >= 0", ("lambda_",), lambda s: s.lambda_ >= 0)
STRONGLY_CONVEX = Assumption(
    "strong-convexity", "lambda > 0", ("lambda_",), lambda s: s.lambda_ > 0
)
SMOOTHNESS = Assumption(
    "smoothness", "beta >= lambda, beta > 0", ("lambda_", "beta"),
    lambda s: s.beta >= s.lambda_ and s.beta > 0,
)  # fmt: skip
SMOOTH = Assumption("smoothness", "beta > 0", ("beta",), lambda s: s.beta > 0)
STEP_SIZE = Assumption(
    "step-size", "eta < 2/(lambda + beta)", ("eta", "lambda_", "beta"),
    lambda s: s.eta * (s.lambda_ + s.beta) < 2,
    lambda s: f"the limit is eta < {show(2 / (s.lambda_ + s.beta))}",
)  # fmt: skip
STEP_SIZE_CLOSED = Assumption(
    "step-size", "eta <= 2/(lambda + beta)", ("eta", "lambda_", "beta"),
    lambda s: s.eta * (s.lambda_ + s.beta) <= 2,
    lambda s: f"the limit is eta <= {show(2 / (s.lambda_ + s.beta))}",
)  # fmt: skip
STEP_SIZE_CONVEX = Assumption(
    "step-size", "eta < 2/beta", ("eta", "beta"),
    lambda s: s.eta * s.beta < 2,
    lambda s: f"the limit is eta < {show(2 / s.beta)}",
)  # fmt: skip
STEP_SIZE_CONVEX_CLOSED = Assumption(
    "step-size", "eta <= 2/beta", ("eta", "beta"),
    lambda s: s.eta * s.beta <= 2,
    lambda s: f"the limit is eta <= {show(2 / s.beta)}",
)  # fmt: skip
STEP_SIZE_SMALL = Assumption(
    "step-size", "eta < 1/beta", ("eta", "beta"),
    lambda s: s.eta * s.beta < 1,
    lambda s: f"the limit is eta < {show(1 / s.beta)}",
)  # fmt: skip
TWO_BATCHES = Assumption(
    "at-least-two-batches", "n/b >= 2", ("n", "b"), lambda s: s.n // s.b >= 2,
    lambda s: "b = n is the full-batch case" if s.n == s.b else "",
)  # fmt: skip
FULL_BATCH = Assumption("full-batch", "b = n", ("b", "n"), lambda s: s.b == s.n)
POSITION = Assumption(
    "position", "0 <= j_0 < floor(n/b)", ("position", "n", "b"),
    lambda s: 0 <= s.place < s.batches,
    lambda s: f"positions run from 0 to {s.batches - 1}",
)  # fmt: skip
