"""Names and conventions of a subject: the one place where ours become theirs.

A subject is asked in its own terms. `--map THEIRS=OURS` says which of our quantities each of its
parameters receives: a setting flag, or one of the `DERIVED` quantities below, which are computed
exactly (a root that is not rational, to `DIGITS` digits). `--convention OURS=VALUE` says what a
subject takes for granted and has no parameter for.

A subject that is given doubles is judged by the doubles that it got: `received` turns them back
into a setting.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from bounds.bound import Bound
from bounds.setting import InvalidInput, Setting, exact, show

Numbers = Literal["float", "fraction", "decimal", "string"]
NUMBERS: tuple[Numbers, ...] = ("float", "fraction", "decimal", "string")
DIGITS = 60
FLAGS = (
    "n", "b", "epochs", "eta", "lambda", "beta", "sensitivity", "sigma2", "alpha", "position",
)  # fmt: skip
COUNTS = ("n", "b", "epochs", "position", "updates", "batches")
TEXTS = ("rule", "bound")
LISTS = ("orders", "epsilons")
OTHERS = ("delta", "target_epsilon", *TEXTS, *LISTS)
"""Inputs of conversions and calibrations beside the setting."""


class CannotAsk(Exception):
    """A question that cannot be put in the subject's terms; the sentence says why."""


@dataclass(frozen=True)
class Derived:
    """A quantity that others use where we have another.

    covers: our flags whose effect it carries. value: from a setting, the square where `root`.
    back: a setting that has this value of it, from a setting and the value; None where there is
    none or several.
    """

    name: str
    says: str
    covers: tuple[str, ...]
    needs: tuple[str, ...]
    value: Callable[[Any], Fraction | int]
    root: bool = False
    back: Callable[[Any, Fraction], Setting] | None = None


NOISE = ("sigma2", "sensitivity", "eta", "b")
DERIVED = {
    item.name: item
    for item in (
        Derived(
            "noise-multiplier", "noise standard deviation over clip norm S_g/2, on the sum",
            NOISE, NOISE, lambda s: 2 / s.rate, True, lambda s, x: s.with_noise_multiplier(x),
        ),
        Derived(
            "noise-to-sensitivity", "noise standard deviation over sensitivity S_g, on the sum",
            NOISE, NOISE, lambda s: 1 / (2 * s.rate), True,
            lambda s, x: s.with_noise_multiplier(2 * x),
        ),
        Derived(
            "clip-norm", "S_g/2", ("sensitivity",), ("sensitivity",),
            lambda s: s.sensitivity / 2, False, lambda s, x: replace(s, sensitivity=2 * x),
        ),
        Derived(
            "sigma", "the root of sigma^2", ("sigma2",), ("sigma2",), lambda s: s.sigma2, True,
            lambda s, x: replace(s, sigma2=x * x),
        ),
        Derived(
            "noise-variance", "variance 2 eta sigma^2 of the noise of an update",
            ("sigma2",), ("sigma2", "eta"), lambda s: 2 * s.eta * s.sigma2, False,
            lambda s, x: replace(s, sigma2=x / (2 * s.eta)),
        ),
        Derived(
            "noise-deviation", "standard deviation of the noise of an update",
            ("sigma2",), ("sigma2", "eta"), lambda s: 2 * s.eta * s.sigma2, True,
            lambda s, x: replace(s, sigma2=x * x / (2 * s.eta)),
        ),
        Derived("updates", "K floor(n/b)", ("epochs", "n", "b"), ("epochs", "n", "b"),
                lambda s: s.steps),
        Derived("batches", "floor(n/b)", ("n", "b"), ("n", "b"), lambda s: s.batches),
        Derived("sampling-rate", "b/n", ("n", "b"), ("n", "b"), lambda s: Fraction(s.b, s.n)),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A vector's input in a subject's terms.

    arguments: by their name, ours and [how to read it, text]. received: the setting that the
    subject was told of, which differs from the vector's where numbers were rounded; None where
    that cannot be said.
    """

    arguments: dict[str, list[Any]]
    received: Setting | None


@dataclass(frozen=True)
class Terms:
    """How a subject is asked.

    names: ours by theirs. fixed: what the subject takes for granted, exact text by our name.
    numbers: what real numbers are handed over as. positional: parameters without a keyword.
    """

    names: Mapping[str, str]
    fixed: Mapping[str, str]
    numbers: Numbers = "float"
    positional: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def agrees(self, given: Mapping[str, str]) -> bool:
        """Whether a question is one that the subject can be asked."""
        if "orders" in given and "orders" not in self.names.values():
            return False
        for ours, wanted in self.fixed.items():
            text = given.get(ours)
            if ours == "position":
                try:
                    setting = setting_of(given)
                    place, last = setting.place, setting.batches - 1
                except (InvalidInput, AssertionError, ZeroDivisionError):
                    continue
                if place != (last if wanted == "last" else int(wanted)):
                    return False
            elif text is not None and not same(text, wanted):
                return False
        return True

    def ask(self, given: Mapping[str, str]) -> Question:
        """Put a question in the subject's terms.

        Raises:
            CannotAsk: a derived quantity has no value there, or one is beyond doubles.
        """
        arguments: dict[str, list[Any]] = {}
        told: dict[str, Any] = {}
        for theirs, ours in self.names.items():
            if ours in DERIVED:
                arguments[theirs], told[ours] = self._derived(DERIVED[ours], given)
                continue
            text = given.get(ours)
            if text is None and ours in LISTS:
                arguments[theirs] = ["none", None]  # every real order is allowed
                continue
            if text is None:
                text = filling(ours, given)
            if ours in LISTS:
                parts = [part.strip() for part in text.split(",")] if text.strip() else []
                arguments[theirs] = ["list", [self._number(part, False) for part in parts]]
            elif ours in TEXTS:
                arguments[theirs] = ["text", text]
            else:
                arguments[theirs] = self._number(text, ours in COUNTS)
                told[ours] = arguments[theirs]
        return Question(arguments, self._received(given, told))

    def _number(self, text: str, count: bool) -> list[Any]:
        try:
            value = exact(text)
        except InvalidInput:
            # Only invalid vectors have such a text: what it means is up to the subject.
            try:
                return ["float", repr(float(text))]
            except ValueError:
                return ["text", text]
        if count and value.denominator == 1:
            return ["int", str(value.numerator)]
        if self.numbers == "fraction":
            return ["fraction", str(value)]
        if self.numbers == "float":
            return ["float", repr(double(value))]
        return ["decimal" if self.numbers == "decimal" else "text", decimal(value)]

    def _derived(self, what: Derived, given: Mapping[str, str]) -> tuple[list[Any], Fraction]:
        try:
            setting = setting_of(given)
            if any(getattr(setting, name) is None for name in what.needs):
                raise InvalidInput(f"{', '.join(what.needs)} are needed")
            value = Fraction(what.value(setting))
            if value > 0 and any(getattr(setting, name) < 0 for name in what.needs):
                raise InvalidInput("a negative number does not show in it")
            if what.root:
                value = root(value)
        except (InvalidInput, ValueError, ArithmeticError):
            raise CannotAsk(f"{what.name} has no value there") from None
        made = self._number(str(value), what.name in COUNTS)
        return made, value

    def _received(self, given: Mapping[str, str], told: Mapping[str, Any]) -> Setting | None:
        try:
            setting = setting_of(given)
        except InvalidInput:
            return None
        try:
            for ours, made in told.items():
                if ours in FLAGS and ours not in COUNTS:
                    name = "lambda_" if ours == "lambda" else ours
                    setting = setting.replace(**{name: told_value(made)})
            for ours, value in told.items():
                if ours in DERIVED and DERIVED[ours].back is not None:
                    back = DERIVED[ours].back
                    assert back is not None
                    made = self._number(str(value), False)
                    setting = back(setting, told_value(made))
        except (InvalidInput, ArithmeticError, ValueError):
            return None
        return setting


def told_value(made: Sequence[Any]) -> Fraction:
    """The exact value of an argument as it was handed over."""
    how, text = made
    return Fraction(float(text)) if how == "float" else Fraction(text)


def double(value: Fraction) -> float:
    """The nearest double.

    Raises:
        CannotAsk: it is beyond the normal doubles.
    """
    try:
        made = float(value)
    except OverflowError:
        made = math.inf
    if math.isinf(made) or (value and abs(made) < 2.2250738585072014e-308):
        raise CannotAsk("a number of it is beyond double precision")
    return made


def decimal(value: Fraction) -> str:
    """The value as a decimal: exact where it has one of at most 4000 digits, else rounded."""
    text = show(value)
    if "/" not in text:
        return text
    return str(Context(prec=DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator)))


def root(value: Fraction) -> Fraction:
    """The square root: exact where rational, else to `DIGITS` digits.

    >>> root(Fraction(9, 4))
    Fraction(3, 2)
    """
    if value < 0:
        raise ValueError("the root of a negative number")
    over, under = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if over * over == value.numerator and under * under == value.denominator:
        return Fraction(over, under)
    size = value.denominator.bit_length() - value.numerator.bit_length()
    shift = max(0, 4 * DIGITS + size // 2 + 2)
    return Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator), 1 << shift)


def setting_of(given: Mapping[str, str]) -> Setting:
    """The setting within an input.

    Raises:
        InvalidInput: a value is no exact number.
    """
    return Setting.of(**{key: text for key, text in given.items() if key in FLAGS})


def filling(ours: str, given: Mapping[str, str]) -> str:
    """A value for a parameter that the bound does not read, but the subject wants.

    Raises:
        CannotAsk: there is none.
    """
    if ours == "position":
        try:
            return str(setting_of(given).batches - 1)
        except (InvalidInput, AssertionError, ZeroDivisionError):
            return "0"
    if ours in ("lambda", "beta"):
        other = given.get("beta" if ours == "lambda" else "lambda")
        if other is not None:
            return other
        try:
            eta = exact(given.get("eta", "1"))
            return str(1 / (2 * eta)) if eta > 0 else "1"
        except InvalidInput:
            return "1"
    plain = {"n": given.get("b", "1"), "b": given.get("n", "1"), "epochs": "1", "eta": "1",
             "sensitivity": "1", "sigma2": "1", "alpha": "2"}  # fmt: skip
    if ours in plain:
        return plain[ours]
    raise CannotAsk(f"it has no {ours}")


def same(text: str, other: str) -> bool:
    """Whether two texts mean the same."""
    try:
        return exact(text) == exact(other)
    except InvalidInput:
        return text == other


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """`A=B` texts of a repeated flag as a dictionary.

    Raises:
        InvalidInput: one has no `=`, or a name twice.
    """
    made: dict[str, str] = {}
    for text in texts:
        left, sign, right = text.partition("=")
        left, right = left.strip(), right.strip()
        if not (sign and left and right):
            raise InvalidInput(f"{flag} is {text!r}; two names joined by = are wanted")
        if left in made:
            raise InvalidInput(f"{flag} {left} is given twice")
        made[left] = right
    return made


def settle(
    parameters: Sequence[Sequence[Any]] | None,
    mapping: Mapping[str, str],
    fixed: Mapping[str, str],
    wanted: Sequence[str],
    matters: Sequence[str],
    bound: str,
    who: str,
    numbers: Numbers = "float",
) -> Terms:
    """Match a subject's parameters with ours.

    parameters: [name, kind, required] of each, None for a program, which takes all by our names.
    wanted: what the bound's questions have. matters: those on which the answer depends.

    Raises:
        InvalidInput: a name that is none of ours, a required parameter that nothing is mapped to,
            or a quantity that matters and reaches the subject in no way.
    """
    known = [*FLAGS, *DERIVED, *OTHERS]
    named = {theirs: _ours(ours, known) for theirs, ours in mapping.items()}
    for ours in fixed:
        if ours not in (*FLAGS, *OTHERS):
            raise InvalidInput(
                f"--convention {ours}: that is none of ours; there are: {', '.join(FLAGS)}, rule"
            )
    carried: set[str] = set(fixed)
    for ours in named.values():
        carried |= set(DERIVED[ours].covers) if ours in DERIVED else {ours}
    positional: list[str] = []
    notes: list[str] = []
    if parameters is None:
        taken = set(named.values())
        for ours in wanted:
            if ours not in taken and ours not in fixed and ours not in carried:
                named[ours] = ours
    else:
        names = [item[0] for item in parameters]
        open_ended = any(item[1] == "VAR_KEYWORD" for item in parameters)
        for theirs in named:
            if theirs not in names and not open_ended:
                raise InvalidInput(
                    f"--map {theirs}=...: {who} has no parameter {theirs!r}; it has: "
                    f"{', '.join(names)}"
                )
        for name, kind, required in parameters:
            if kind in ("VAR_POSITIONAL", "VAR_KEYWORD"):
                continue
            if name not in named:
                ours = own_name(name)
                # An optional parameter that the questions do not have keeps its default.
                if ours in (*FLAGS, *OTHERS) and (required or ours in wanted):
                    named[name] = ours
                elif required:
                    raise InvalidInput(_unmapped(who, name, known))
            if kind == "POSITIONAL_ONLY" and name in named:
                positional.append(name)
        if open_ended:
            for ours in wanted:
                if ours not in named.values() and ours not in carried:
                    named["lambda_" if ours == "lambda" else ours] = ours
    for ours in named.values():
        carried |= set(DERIVED[ours].covers) if ours in DERIVED else {ours}
    settled = dict(fixed)
    for ours in matters:
        if ours in carried:
            continue
        if ours == "position":
            settled["position"] = "last"
            notes.append(f"{who} takes no position: only questions about the last batch are asked")
            continue
        raise InvalidInput(
            f"{who} is told nothing of {ours}, on which {bound} depends; map a parameter to it "
            f"(--map NAME={ours}) or say what it takes for granted (--convention {ours}=VALUE)"
        )
    return Terms(named, settled, numbers, tuple(positional), tuple(notes))


def own_name(name: str) -> str:
    """Our name for a parameter spelled our way: `lambda_` is `lambda`."""
    return "lambda" if name in ("lambda_", "lambda") else name


def _ours(text: str, known: Sequence[str]) -> str:
    for form in (text, text.replace("_", "-"), text.replace("-", "_"), own_name(text)):
        if form in known:
            return form
    near = difflib.get_close_matches(text, known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise InvalidInput(
        f"--map ...={text}: that is none of our names{hint} There are: {', '.join(known)}"
        if near
        else f"--map ...={text}: that is none of our names; there are: {', '.join(known)}"
    )


HINTS = {
    "batch": "b", "batch-size": "b", "lot-size": "b", "k": "epochs", "order": "alpha",
    "lr": "eta", "learning-rate": "eta", "step-size": "eta", "lam": "lambda", "l2": "lambda",
    "smoothness": "beta", "steps": "updates", "q": "sampling-rate", "clip": "clip-norm",
    "max-grad-norm": "clip-norm", "j0": "position", "num-examples": "n", "dataset-size": "n",
    "s-g": "sensitivity", "eps": "target_epsilon",
}  # fmt: skip
"""What a name may mean; only ever suggested, since conventions are declared and not guessed."""


def _unmapped(who: str, name: str, known: Sequence[str]) -> str:
    plainly = name.lower().replace("_", "-")
    near = difflib.get_close_matches(plainly, known, 1, 0.5)
    near = [HINTS[plainly]] if plainly in HINTS else near
    return (
        f"{who} requires {name!r}, which is none of our names; say what it is by --map "
        f"{name}={near[0] if near else 'OURS'}, where OURS is one of {', '.join(known)}"
    )


def reads(bound: Bound) -> tuple[str, ...]:
    """Our flags on which a bound's value depends: those that it declares, less the idle ones.

    A smoothness that is only checked does not change the value.
    """
    names = ["lambda" if name == "lambda_" else name for name in bound.needs]
    labels = {assumption.label for assumption in bound.assumptions}
    if "position" in labels:
        names.append("position")
    idle = set()
    base = {"n": 6, "b": 2, "epochs": 3, "eta": "1/8", "lambda": 1, "beta": 2,
            "sensitivity": 1, "sigma2": 1, "alpha": 3, "position": 1}  # fmt: skip
    if "full-batch" in labels:
        base |= {"b": 6, "position": 0}
        idle.add("b")
    if "one-epoch" in labels:
        base["epochs"] = 1
        idle.add("epochs")
    value = bound.raw(Setting.of(**base))
    for name, other in {"n": 4, "epochs": 2, "beta": 3, "lambda": "1/2", "position": 0}.items():
        changed = base | {name: other}
        if (name == "n" and "full-batch" in labels) or name in idle:
            continue
        if name in names and bound.raw(Setting.of(**changed)) == value:
            idle.add(name)
    return tuple(name for name in names if name not in idle)
