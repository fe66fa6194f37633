"""A training configuration: the setting, how its loss is converted, and what looks wrong in it.

`read` turns the keys of a TOML file (`KEYS`, and the table `[normalisation]`) into a `Run`. The
conventions of others (noise multiplier, clip norm, feature-clip norm, updates) are translated by
`Setting.of` and nowhere else. `warnings` says in words what looks wrong; it never changes a number.
Each rule is a function marked `@rule`, and is found by that mark.
"""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.setting import (
    CONVENTIONS,
    PARAMETERS,
    InvalidInput,
    MissingParameter,
    Setting,
    exact,
    exact_integer,
    logistic_lipschitz_squared,
    logistic_smoothness,
    show,
)
from verify.choices import DEFAULT_RULE, RULES, SCHEMES

if TYPE_CHECKING:
    from bounds.bound import Bound
    from bounds.conversion import Conversion

ADJACENCIES = ("replace-one", "add-or-remove")
MOST_ORDERS = 10_000

PRACTICE_KEYS: dict[str, str] = {
    "scheme": "how batches are drawn: " + ", ".join(SCHEMES),
    "classes": "classes of the logistic regression",
    "adjacency": "neighbouring data sets that are meant: " + ", ".join(ADJACENCIES),
    "delta": "delta of (epsilon, delta)-DP",
    "target-epsilon": "epsilon that calibrate must not exceed",
    "rule": "how Renyi DP is converted: " + ", ".join(RULES),
    "orders": 'Renyi orders to keep to: a list, or "1.1..10.9 step 0.1, 12..63"',
    "normalisation": "a table: the Renyi curve of a private normalisation, to be added",
}
KEYS: dict[str, str] = {
    **{parameter.flag[2:]: parameter.meaning for parameter in PARAMETERS.values()},
    **CONVENTIONS,
    **PRACTICE_KEYS,
}
"""Every key of a training configuration, with its meaning; `_` may stand for `-`."""
CURVE_KEYS: dict[str, str] = {
    "noise-multiplier": "noise of each Gaussian query over its sensitivity, one record replaced",
    "queries": "number of Gaussian queries (2: a mean and a variance)",
    "curve": "in place of these: [[order, epsilon], ...]",
}
"""The keys of the table `[normalisation]`."""

# What other programs call these things.
ELSEWHERE = {
    "lr": "eta", "learning-rate": "eta", "step-size": "eta", "stepsize": "eta",
    "batch-size": "b", "batch": "b", "sample-size": "n", "size": "n",
    "k": "epochs", "steps": "updates", "iterations": "updates",
    "max-grad-norm": "clip-norm", "l2-norm-clip": "clip-norm", "clip": "clip-norm",
    "clipping-norm": "clip-norm", "gradient-clip-norm": "clip-norm",
    "l": "feature-clip-norm", "feature-clip": "feature-clip-norm",
    "feature-norm": "feature-clip-norm",
    "s-g": "sensitivity", "sg": "sensitivity", "sigma-mul": "noise-multiplier",
    "sigma": "noise-multiplier", "noise": "noise-multiplier", "order": "alpha",
    "regularization": "lambda", "regularisation": "lambda", "weight-decay": "lambda",
    "l2": "lambda", "smoothness": "beta", "epsilon": "target-epsilon", "conversion": "rule",
    "sampling": "scheme", "normalization": "normalisation",
}  # fmt: skip


# --------------------------------------------------------------------------------------------
# Reading


@dataclass(frozen=True)
class Run:
    """A training configuration.

    setting: its exact parameters, in this toolkit's conventions. clip_norm [gradient],
    feature_clip_norm [-], classes, scheme, adjacency: None where not said. given: the keys that
    were. delta, target_epsilon [-]; orders: the list to keep to; rule: how Renyi DP is converted.
    normalisation: the table as text; extra: its Renyi curve, see `conversion.best_order`.
    """

    setting: Setting
    given: frozenset[str] = frozenset()
    clip_norm: Fraction | None = None
    feature_clip_norm: Fraction | None = None
    classes: int | None = None
    scheme: str | None = None
    adjacency: str | None = None
    delta: Fraction | None = None
    target_epsilon: Fraction | None = None
    rule: str = DEFAULT_RULE
    orders: tuple[Fraction, ...] | None = None
    normalisation: Mapping[str, object] | None = None
    extra: Any = field(default=None, compare=False)

    @property
    def title(self) -> str | None:
        """The scheme's name as bounds write it."""
        if self.scheme is None:
            return None
        return "Poisson" if self.scheme == "poisson" else self.scheme.replace("-", " ")

    def as_json(self) -> dict[str, object]:
        """What is said beside the setting; None where it is not."""
        orders = self.orders
        return {
            "scheme": self.scheme,
            "delta": None if self.delta is None else show(self.delta),
            "rule": self.rule,
            "orders": None if orders is None else [show(order) for order in orders],
            "normalisation": None if self.normalisation is None else dict(self.normalisation),
        }


def load(path: str | Path) -> dict[str, Any]:
    """The contents of a TOML file, decimals kept as they were typed.

    Raises:
        InvalidInput: the file cannot be read or is not TOML.
    """
    import tomllib

    text = ""
    try:
        text = Path(path).read_text("utf-8")
        return tomllib.loads(text, parse_float=Decimal)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = ""
        if re.search(r"=\s*[+-]?\d+\s*/\s*\d", text):
            hint = '; a fraction stands in quotes, as in eta = "2/5"'
        raise InvalidInput(f"{path} is not TOML: {error}{hint}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None


def read(
    data: Mapping[str, Any], flags: Mapping[str, object] | None = None, where: str = ""
) -> Run:
    """A run from the keys of a file and from flags, which override them.

    A flag for the noise, the length of the run or the sensitivity also drops what the file says of
    it in another convention. `where` names the file in errors.

    Raises:
        InvalidInput: an unknown key (with the nearest one), a value that cannot be read (with the
            key and what would do), or parameters that contradict each other.
    """
    values = _checked(data, KEYS, where)
    overriding = {
        key.rstrip("_").replace("_", "-"): value for key, value in (flags or {}).items()
    }  # fmt: skip
    for name in overriding:
        for other in _SAME.get(name, ()):
            values.pop(other, None)
    values |= {name: _Given(value, f"--{name}") for name, value in overriding.items()}
    chosen: dict[str, object] = {}
    for name, value in values.items():
        if name in PRACTICE_KEYS:
            continue
        whole = name == "updates" or (name in _FIELD and PARAMETERS[_FIELD[name]].kind == "integer")
        chosen[_FIELD.get(name, name.replace("-", "_"))] = value.number(whole)
    try:
        setting = Setting.of(**chosen)
    except MissingParameter as error:
        more = ""
        if "sensitivity" in error.names:
            more = "; clip-norm or feature-clip-norm would do in place of --sensitivity"
        raise InvalidInput(f"{error}{more}") from None

    def number(key: str) -> Fraction | None:
        return values[key].number() if key in values else None

    clip, feature = number("clip-norm"), number("feature-clip-norm")
    classes = int(values["classes"].number(True)) if "classes" in values else None
    if classes is not None and classes < 2:
        raise InvalidInput(f"{values['classes'].what} is {classes}; 2 or more are wanted")
    delta, target = number("delta"), number("target-epsilon")
    if delta is not None and not 0 < delta < 1:
        raise InvalidInput(
            f"{values['delta'].what} is {show(delta)}; a number between 0 and 1 is wanted"
        )
    if target is not None and target <= 0:
        raise InvalidInput(
            f"{values['target-epsilon'].what} is {show(target)}; a positive number is wanted"
        )
    orders = None
    if "orders" in values:
        orders = read_orders(values["orders"].value, values["orders"].what)
    shown, extra = None, None
    if "normalisation" in values:
        shown, extra = _curve(values["normalisation"])
    rule = values["rule"].choice(RULES) if "rule" in values else DEFAULT_RULE
    return Run(
        setting=setting, given=frozenset(values), clip_norm=clip, feature_clip_norm=feature,
        classes=classes, scheme=values["scheme"].choice(SCHEMES) if "scheme" in values else None,
        adjacency=values["adjacency"].choice(ADJACENCIES) if "adjacency" in values else None,
        delta=delta, target_epsilon=target, rule=rule, orders=orders, normalisation=shown,
        extra=extra,
    )  # fmt: skip


_FIELD = {parameter.flag[2:]: name for name, parameter in PARAMETERS.items()}
_SAME = {
    "sigma2": ("noise-multiplier",), "noise-multiplier": ("sigma2",),
    "epochs": ("updates",), "updates": ("epochs",),
    "sensitivity": ("clip-norm",), "clip-norm": ("sensitivity",),
}  # fmt: skip


@dataclass(frozen=True)
class _Given:
    """A value with the words that name its key in a sentence."""

    value: Any
    what: str

    def number(self, whole: bool = False) -> Any:
        if isinstance(self.value, Mapping | list):
            raise InvalidInput(f"{self.what} is {_brief(self.value)}; one number is wanted")
        return (exact_integer if whole else exact)(self.value, self.what)

    def choice(self, allowed: Sequence[str]) -> str:
        text = self.value
        if isinstance(text, str):
            same = text.strip().lower().replace("_", "-").replace(" ", "-")
            for name in allowed:
                if name.replace("_", "-") == same:
                    return name
        near = ""
        if isinstance(text, str):
            close = difflib.get_close_matches(text.lower(), allowed, 1, 0.5)
            near = f" (did you mean {close[0]!r}?)" if close else ""
        raise InvalidInput(
            f"{self.what} is {_brief(text)}{near}; one of these is wanted: {', '.join(allowed)}"
        )


def _brief(value: object) -> str:
    kind = {list: "a list", dict: "a table", bool: str(value).lower()}.get(type(value))
    if kind is not None:
        return kind
    return repr(value[:60]) if isinstance(value, str) else str(value)[:60]


def _checked(
    data: Mapping[str, Any], keys: Mapping[str, str], where: str, table: str = ""
) -> dict[str, _Given]:
    """The values by key; an unknown or doubled key is refused."""
    found: dict[str, _Given] = {}
    place = f"{where}: " if where else ""
    home = f"[{table}] " if table else ""
    for given, value in data.items():
        name = given.replace("_", "-")
        if name not in keys:
            raise InvalidInput(f"{place}{home}{_unknown(given, keys)}")
        if name in found:
            raise InvalidInput(f"{place}{home}{name!r} is given twice, with - and with _")
        found[name] = _Given(value, f"{place}{home}{name}")
    return found


def _unknown(given: str, keys: Mapping[str, str]) -> str:
    plain = re.sub(r"[_ ]+", "-", given.strip().lower())
    near = ELSEWHERE.get(plain)
    if near not in keys:
        close = difflib.get_close_matches(plain, keys, 1, 0.6)
        near = close[0] if close else None
    hint = f"; did you mean {near!r} ({keys[near]})?" if near else ";"
    return f"{given[:60]!r} is no key{hint} there are: {', '.join(keys)}"


def _curve(given: _Given) -> tuple[dict[str, object], Any]:
    """The Renyi curve of `[normalisation]`, as text and as `conversion.best_order` takes it."""
    if not isinstance(given.value, Mapping):
        raise InvalidInput(
            f"{given.what} is {_brief(given.value)}; a table is wanted, such as "
            "[normalisation] with noise-multiplier = 8 and queries = 2"
        )
    where = given.what.removesuffix("normalisation").removesuffix(": ")
    values = _checked(given.value, CURVE_KEYS, where, "normalisation")
    if "curve" in values:
        if len(values) > 1:
            raise InvalidInput(
                f"{given.what} holds a curve and Gaussian queries; one of the two is wanted"
            )
        return _table(values["curve"])
    for key in ("noise-multiplier", "queries"):
        if key not in values:
            raise InvalidInput(f"{given.what} lacks {key} ({CURVE_KEYS[key]})")
    multiplier, queries = values["noise-multiplier"].number(), values["queries"].number(True)
    for value, key in ((multiplier, "noise-multiplier"), (queries, "queries")):
        if value <= 0:
            raise InvalidInput(f"{values[key].what} is {show(value)}; a positive number is wanted")
    from bounds.conversion import gaussian_queries

    shown: dict[str, object] = {"noise-multiplier": show(multiplier), "queries": str(queries)}
    return shown, gaussian_queries(multiplier, queries)


def _table(given: _Given) -> tuple[dict[str, object], Any]:
    pairs = given.value
    if not isinstance(pairs, list) or not pairs or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in pairs
    ):  # fmt: skip
        raise InvalidInput(
            f"{given.what} is {_brief(pairs)}; pairs of an order and an epsilon are wanted, such "
            "as [[2, 0.1], [3, 0.15]]"
        )
    table: dict[Fraction, Fraction] = {}
    for pair in pairs:
        order, value = (_Given(item, given.what).number() for item in pair)
        if order <= 1 or value < 0:
            raise InvalidInput(
                f"{given.what} holds [{show(order)}, {show(value)}]; an order above 1 and an "
                "epsilon that is not negative are wanted"
            )
        if order in table:
            raise InvalidInput(f"{given.what} holds order {show(order)} twice")
        table[order] = value
    shown = [[show(order), show(value)] for order, value in table.items()]
    return {"curve": shown}, table


# Orders

_NUMBER = r"[0-9][0-9./eE+-]*?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s+step\s+({_NUMBER}))?")
_FORM = re.compile(
    rf"(?:({_NUMBER})\s*\+\s*)?x(?:\s*/\s*({_NUMBER}))?\s+for\s+x\s+in\s+(\d+)\s*\.\.\s*(\d+)"
)


def read_orders(given: object, what: str = "orders") -> tuple[Fraction, ...]:
    """Exact Renyi orders from a list of numbers and ranges, or from a text of them.

    A range is "12..63" (both ends belong to it), "1.1..10.9 step 0.1", or, as papers print it,
    "1 + x/10 for x in 1..99"; commas or "and" stand between ranges.

    Raises:
        InvalidInput: what cannot be read, an order that is not above 1, or more than 10000.

    >>> len(read_orders("1 + x/10 for x in 1..99 and 12..63"))
    151
    >>> read_orders([Decimal("1.5"), "2..3"])
    (Fraction(3, 2), Fraction(2, 1), Fraction(3, 1))
    """
    if isinstance(given, Mapping | bool):
        raise InvalidInput(f"{what} is {_brief(given)}; {_WANTED}")
    items = list(given) if isinstance(given, list | tuple) else [given]
    found: dict[Fraction, None] = {}
    for item in items:
        pieces = re.split(r",|\band\b", item) if isinstance(item, str) else [item]
        for piece in pieces:
            for order in _piece(piece, what):
                if order <= 1:
                    raise InvalidInput(f"{what} holds {show(order)}; orders above 1 are wanted")
                found[order] = None
                if len(found) > MOST_ORDERS:
                    raise InvalidInput(f"{what} holds more than {MOST_ORDERS} orders")
    if not found:
        raise InvalidInput(f"{what} is empty; {_WANTED}")
    return tuple(sorted(found))


_WANTED = (
    'a list such as [1.5, 2, 8] is wanted, or ranges such as "1.1..10.9 step 0.1, 12..63" or '
    '"1 + x/10 for x in 1..99"'
)


def _piece(piece: object, what: str) -> Iterator[Fraction]:
    if not isinstance(piece, str):
        if isinstance(piece, list | Mapping | bool):
            raise InvalidInput(f"{what} holds {_brief(piece)}; {_WANTED}")
        yield exact(piece, what)
        return
    text = piece.strip()
    if match := _RANGE.fullmatch(text):
        low, high, step = (exact(end or "1", what) for end in match.groups())
        if step <= 0 or high < low:
            raise InvalidInput(
                f"{what} holds {text!r}, a range without orders; it must rise by a positive step"
            )
        for k in range(min((high - low) // step, MOST_ORDERS) + 1):
            yield low + k * step
    elif match := _FORM.fullmatch(text):
        start, scale = exact(match[1] or "0", what), exact(match[2] or "1", what)
        first, last = int(match[3]), int(match[4])
        if scale == 0 or last < first:
            raise InvalidInput(f"{what} holds {text!r}, a range without orders")
        for x in range(first, min(last, first + MOST_ORDERS) + 1):
            yield start + x / scale
    else:
        try:
            yield exact(text, what)
        except InvalidInput:
            raise InvalidInput(f"{what} holds {text[:60]!r}; {_WANTED}") from None


# --------------------------------------------------------------------------------------------
# Warnings


@dataclass(frozen=True)
class Case:
    """What a rule looks at: a run, the bounds in play, and their conversions by bound."""

    run: Run
    bounds: tuple[Bound, ...] = ()
    conversions: tuple[Conversion, ...] = ()

    @property
    def setting(self) -> Setting:
        """The run's parameters."""
        return self.run.setting

    @property
    def sized(self) -> bool:
        """Whether n and b are known and floor(n/b) >= 1."""
        s = self.setting
        return s.n is not None and s.b is not None and 1 <= s.b <= s.n

    @cached_property
    def standing(self) -> frozenset[str]:
        """The names of the proved upper bounds in play."""
        return frozenset(
            bound.name for bound in self.bounds
            if bound.standing == "theorem" and bound.direction == "upper"
        )  # fmt: skip

    def assuming(self, label: str) -> tuple[Bound, ...]:
        """The bounds in play that make an assumption."""
        return tuple(
            bound for bound in self.bounds
            if any(assumption.label == label for assumption in bound.assumptions)
        )  # fmt: skip


Rule = Callable[[Case], Iterable[str]]


def rule(function: Rule) -> Rule:
    """Mark a function as a rule: from a case to the sentences that it has to say."""
    function.is_rule = True  # type: ignore[attr-defined]
    return function


def rules() -> dict[str, Rule]:
    """Every rule of this module by name, in the order written."""
    return {
        name: value for name, value in vars(sys.modules[__name__]).items()
        if getattr(value, "is_rule", False)
    }  # fmt: skip


def warnings(
    run: Run, bounds: Iterable[Bound], conversions: Iterable[Conversion] = ()
) -> tuple[str, ...]:
    """What looks wrong in a run, a sentence each; none of it has changed a number."""
    case = Case(run, tuple(bounds), tuple(conversions))
    return tuple(dict.fromkeys(said for check in rules().values() for said in check(case)))


def without_noise(run: Run) -> Run:
    """The run as calibration sees it, its noise not yet chosen."""
    return replace(
        run, setting=replace(run.setting, sigma2=None),
        given=run.given - {"sigma2", "noise-multiplier"},
    )  # fmt: skip


def _names(bounds: Iterable[Bound | str], most: int = 4) -> str:
    names = [bound if isinstance(bound, str) else bound.name for bound in bounds]
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


@rule
def epochs_look_like_updates(case: Case) -> Iterator[str]:
    """K far above floor(n/b), and the number of updates in a plausible number of epochs."""
    s = case.setting
    if not case.sized or s.epochs is None or "updates" in case.run.given:
        return
    assert s.n is not None and s.b is not None
    # With few batches an epoch every other K would be a multiple.
    if s.batches < 5 or s.epochs < max(500, 10 * s.batches):
        return
    # Updates are counted exactly, or as epochs n/b rounded, where that is no common coincidence.
    near = round(Fraction(s.epochs * s.b, s.n))
    guesses = [s.epochs // s.batches] if s.epochs % s.batches == 0 else []
    if s.batches >= 20 and s.epochs in (near * s.n // s.b, -(-near * s.n // s.b)):
        guesses.append(near)
    if guesses and guesses[0] <= 10_000:
        plausible = guesses[0]
        yield (
            f"epochs = {s.epochs} looks like a number of updates: {plausible} epochs of "
            f"n/b = {show(Fraction(s.n, s.b))} updates. K counts epochs here; if updates were "
            f"meant, epochs = {plausible} is right"
        )


@rule
def clip_norm_as_sensitivity(case: Case) -> Iterator[str]:
    """S_g that is a clip norm, or the sensitivity of the average gradient."""
    run, given = case.run, case.setting.sensitivity
    if given is None or "sensitivity" not in run.given:
        return
    clip, radius, b = run.clip_norm, run.feature_clip_norm, case.setting.b
    twice = "replacing one record moves the total gradient by up to twice its norm"
    if clip is not None and given == clip:
        yield (
            f"sensitivity = {show(given)} is the clip norm; {twice}, so that "
            f"S_g = {show(2 * clip)} is right"
        )
    elif clip is not None and b is not None and b > 1 and given * b in (clip, 2 * clip):
        yield (
            f"sensitivity = {show(given)} looks like that of the average gradient over b = {b} "
            f"records; S_g is that of the total gradient, {show(2 * clip)}"
        )
    elif clip is not None and given != 2 * clip:
        yield (
            f"sensitivity = {show(given)} and clip-norm = {show(clip)} disagree: S_g is twice the "
            f"clip norm, {show(2 * clip)}; the sensitivity as given is used"
        )
    elif clip is None and radius is not None:
        # Without a clip norm the gradient's norm is at most sqrt(2 (L^2 + 1)), often typed rounded.
        square = logistic_lipschitz_squared(radius)
        if given == radius or abs(given**2 - square) <= square / 500:
            which = "the feature-clip norm" if given == radius else "the Lipschitz constant"
            yield (
                f"sensitivity = {show(given)} looks like {which}; {twice}: without gradient "
                f"clipping S_g = 2 sqrt(2 (L^2 + 1)) = {2 * math.sqrt(square):.6g}"
            )


@rule
def smoothness_without_regulariser(case: Case) -> Iterator[str]:
    """beta below (L^2 + 1)/2 + lambda although features are clipped to L."""
    s, radius = case.setting, case.run.feature_clip_norm
    if radius is None or s.beta is None or s.lambda_ is None:
        return
    wanted = logistic_smoothness(radius) + s.lambda_
    if s.beta < wanted:
        bare = s.beta == logistic_smoothness(radius)
        why = "is the smoothness of the loss without its regulariser" if bare else "is too small"
        yield (
            f"beta = {show(s.beta)} {why}: with features clipped to L = {show(radius)} the "
            f"regularised loss has beta = (L^2 + 1)/2 + lambda = {show(wanted)}"
        )


@rule
def clipping_loses_convexity(case: Case) -> Iterator[str]:
    """Clipped gradients of a logistic loss that may have three classes or more."""
    run = case.run
    resting = [b for b in case.assuming("strong-convexity") if b.name in case.standing]
    if run.clip_norm is None or run.feature_clip_norm is None or run.classes == 2 or not resting:
        return
    if run.clip_norm**2 >= logistic_lipschitz_squared(run.feature_clip_norm):
        return
    how_many = "classes is not given" if run.classes is None else f"classes = {run.classes}"
    yield (
        f"{how_many}: for three classes or more, clipping the gradient of the logistic loss does "
        "not keep strong convexity (Proposition 5.2 is false there), which "
        f"{_names(resting)} need; for classes = 2, or without gradient clipping, it holds"
    )


@rule
def step_size_beyond_limit(case: Case) -> Iterator[str]:
    """A step size that alone keeps bounds from applying."""
    trial = case.setting
    trial = replace(
        trial,
        alpha=trial.alpha if trial.alpha is not None else Fraction(2),
        sigma2=trial.sigma2 if trial.sigma2 is not None else Fraction(1),
    )
    if not case.sized or trial.eta is None or trial.eta <= 0:
        return
    refusing: dict[str, list[str]] = {}
    for bound in case.bounds:
        if any(getattr(trial, name) is None for name in bound.needs):
            continue
        failing = [item for item in bound.assumptions if not item.holds(trial)]
        if failing and all(item.label == "step-size" for item in failing):
            item = failing[-1]
            limit = item.limit(trial) if item.limit else item.condition
            refusing.setdefault(f"{item.condition} ({limit})", []).append(bound.name)
    for condition, names in refusing.items():
        yield (
            f"eta = {show(trial.eta)} is beyond the step size that {_names(names)} "
            f"allow{'s' * (len(names) == 1)}: {condition}"
        )


@rule
def order_at_edge(case: Case) -> Iterator[str]:
    """A grid of orders whose edge is the optimum of a proved bound."""
    edges: dict[tuple[str, Fraction], list[str]] = {}
    for found in case.conversions:
        if not found.at_edge or found.searched is None or found.bound not in case.standing:
            continue
        low, high = found.searched
        which = "the only order" if low == high else "the least" if found.order == low else (
            "the largest"
        )  # fmt: skip
        edges.setdefault((which, found.order), []).append(found.bound)
    for (which, order), names in edges.items():
        way = {"the least": "a smaller", "the largest": "a larger"}.get(which, "another")
        yield (
            f"the best order of {_names(names)} is {which} of the grid, {show(order)}: {way} order "
            "may give less; widen orders, or leave them out to search all real orders"
        )


@rule
def delta_above_one_over_n(case: Case) -> Iterator[str]:
    """A delta that allows the publication of a record in the clear."""
    n, delta = case.setting.n, case.run.delta
    if n is not None and delta is not None and n > 1 and delta * n > 1:
        yield (
            f"delta = {show(delta)} is above 1/n = {1 / n:.3g}: publishing a record drawn at "
            "random would satisfy it; a delta well below 1/n is usual"
        )


@rule
def reshuffled(case: Case) -> Iterator[str]:
    """Reshuffling against theorems that keep one partition or one order."""
    if case.run.scheme != "reshuffle":
        return
    # Composition takes one update an epoch, wherever it is.
    safe = [bound for bound in case.bounds if bound.name == "fixed_order_composition"]
    fixed = [
        bound for bound in case.bounds
        if bound.scheme in ("shuffle once", "fixed order") and bound not in safe
    ]  # fmt: skip
    if fixed:
        yield (
            "scheme = reshuffle, but "
            f"{_names(fixed)} assume one partition that is reused in every epoch, and do not cover "
            "a run that shuffles anew"
            + ("; fixed_order_composition does, whatever the order of batches" if safe else "")
        )


@rule
def another_scheme(case: Case) -> Iterator[str]:
    """No bound in play is about the run's batches."""
    run = case.run
    if run.scheme in (None, "reshuffle") or not case.bounds:
        return
    # The worst place of a fixed order is no better than a random one (joint quasi-convexity).
    covers = {"shuffle-once": ("shuffle once", "fixed order")}.get(run.scheme, (run.title,))
    if any(bound.scheme in covers for bound in case.bounds):
        return
    yield (
        f"scheme = {run.scheme}, but {_names(case.bounds)} "
        f"{'is' if len(case.bounds) == 1 else 'are'} about batches drawn by "
        f"'{case.bounds[0].scheme}'"
    )


@rule
def records_dropped(case: Case) -> Iterator[str]:
    """b that does not divide n."""
    s = case.setting
    if not case.sized or s.divides:
        return
    assert s.n is not None and s.b is not None
    if case.run.scheme in ("without-replacement", "poisson"):
        yield (
            f"b = {s.b} does not divide n = {s.n}: an epoch is taken as {s.batches} updates; the "
            "sampling probability stays b/n"
        )
    else:
        yield (
            f"b = {s.b} does not divide n = {s.n}: n/b is taken as {s.batches}, and {s.n % s.b} "
            "records are left out of every epoch (footnote 3); a trainer that keeps a last, "
            "smaller batch is not covered"
        )


@rule
def full_batch(case: Case) -> Iterator[str]:
    """One batch an epoch, given to theorems about mini-batches."""
    s = case.setting
    mini = case.assuming("at-least-two-batches")
    if not case.sized or s.batches > 1 or not mini:
        return
    if s.b == s.n:
        others = sorted({bound.full_batch or "full_batch" for bound in mini})
        yield (
            f"b = n = {s.n} is full batch: {_names(mini)} need n/b >= 2; {_names(others)} "
            f"serve{'s' * (len(others) == 1)} b = n"
        )
    else:
        yield (
            f"b = {s.b} is more than half of n = {s.n}: an epoch is one update that leaves out "
            f"{s.n - s.b if s.n and s.b else 0} records; {_names(mini)} need n/b >= 2"
        )


@rule
def convergence_beyond_the_run(case: Case) -> Iterator[str]:
    """eta lambda so small that no bound levels off within K epochs."""
    s = case.setting
    if not case.sized or s.epochs is None or s.epochs < 2 or s.eta is None or s.lambda_ is None:
        return
    if not case.assuming("strong-convexity") or not 0 < s.eta_lambda < 1:
        return
    # Theorems 3.3 and 4.2 level off as 1 - (1 - eta lambda)^(2 (K-1) (n/b - floor(n/2b))).
    each = 2 * max(1, s.batches - s.batches // 2)
    passes = s.eta_lambda * each * (s.epochs - 1)
    if passes < 1:
        needed = 1 + math.ceil(1 / (s.eta_lambda * each))
        count = str(needed) if needed < 10**7 else f"{Decimal(needed):.2e}"
        yield (
            f"eta*lambda = {_short(s.eta_lambda)} is small: bounds that converge level off after "
            f"about {count} epochs, beyond K = {s.epochs}; until then they grow with K almost as "
            "composition does"
        )


@rule
def noise_out_of_range(case: Case) -> Iterator[str]:
    """sigma^2 that means an unusual noise multiplier, as where it was read in another unit."""
    s = case.setting
    if "sigma2" not in case.run.given or s.sigma2 is None or s.sigma2 <= 0:
        return
    if s.b is None or not s.eta or not s.sensitivity or s.eta < 0:
        return
    square = 8 * s.b**2 * s.sigma2 / (s.eta * s.sensitivity**2)
    if not Fraction(1, 10**4) <= square <= 10**6:
        half = (math.log10(square.numerator) - math.log10(square.denominator)) / 2
        about = f"{10**half:.2g}" if abs(half) < 300 else f"1e{round(half):+d}"
        yield (
            f"sigma2 = {show(s.sigma2)} means a noise multiplier of about {about}: an "
            "update adds variance 2 eta sigma^2 to the average over the batch; where the noise is "
            "known as a multiple of the clip norm, give noise-multiplier"
        )


@rule
def other_adjacency(case: Case) -> Iterator[str]:
    """Adding or removing a record meant, where one is replaced."""
    if case.run.adjacency == "add-or-remove":
        yield (
            "adjacency = add-or-remove, but S_g is the sensitivity when one record is replaced; "
            "losses of the two are not comparable"
        )


@rule
def normalisation_left_out(case: Case) -> Iterator[str]:
    """A normalisation, and no delta at which it is added."""
    if case.run.extra is not None and case.run.delta is None:
        yield (
            "[normalisation] is added where Renyi DP is converted; without delta it is in no number"
        )


def _short(number: Fraction) -> str:
    text = show(number)
    if len(text) <= 20:
        return text
    size = math.log10(number.numerator) - math.log10(number.denominator)
    return f"about 10^{size:.1f}"
