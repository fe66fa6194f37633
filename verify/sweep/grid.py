"""What a sweep is: GRID.toml, read exactly.

A file has four tables:

    [setting]    what all points share, by the names of the setting's flags
    [grid]       what varies: name = [list], or { from, to, step }, or { from, to, points } with
                 scale = "log" if wanted; every combination is a point, and the last name varies
                 fastest
    [random]     or, in place of [grid], points = N and seed = S, and for each name
                 { uniform = [low, high] }, { log-uniform = [low, high] } or
                 { integers = [low, high] }
    [evaluate]   bounds = [names] or "all"; exact = true or [schemes]; optimal = true;
                 estimate = { scheme, paths, seed, estimators };
                 claims = ["thm-4.2 <= composition", "exact <= thm-3.3"]

Values are integers, decimals, or fractions in quotes. Values that are not whole by nature (log
ranges, draws) are rounded to `digits` significant digits, by default 6, so that each is a short
exact decimal.
"""

from __future__ import annotations

import decimal
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from bounds.setting import CONVENTIONS, PARAMETERS, InvalidInput, Setting, exact, show

MOST_POINTS = 10**8
MOST_VALUES = 10**6
DIGITS, MOST_DIGITS = 6, 8
LARGEST_COUNT = LARGEST_DRAW = 2**53
PATHS = 20_000

FLAGS = {item.flag[2:]: name for name, item in PARAMETERS.items()}
INTEGERS = {flag for flag, name in FLAGS.items() if PARAMETERS[name].kind == "integer"} | {
    "updates"
}
KEYS = (*FLAGS, *CONVENTIONS)
# What `Setting.of` works out from another convention.
GIVES = {
    "noise-multiplier": ("sigma2",), "updates": ("epochs",), "clip-norm": ("sensitivity",),
    "feature-clip-norm": ("beta", "sensitivity"),
}  # fmt: skip
RELATIONS = ("<=", ">=", "<", ">")
# What people call a bound whose file is named after its scheme.
ALIASES = {"composition": "fixed_order_composition", "optimal": "optimal_fixed_order"}
_HIGH = decimal.Context(prec=50)
_SIDE = re.compile(r"(?:([\d./eE+-]+)\s*\*\s*)?(\S+(?:\s+\S+)?)")


@dataclass(frozen=True)
class Axis:
    """A parameter that takes the values of a list; `name` is a flag's name."""

    name: str
    values: tuple[Fraction, ...]

    @cached_property
    def short(self) -> bool:
        """Whether of each value the nearest double, written as short as it can be, is the value."""
        try:
            return all(Fraction(repr(float(value))) == value for value in self.values)
        except OverflowError:
            return False


@dataclass(frozen=True)
class Draw:
    """A parameter drawn at random: `kind` is uniform, log-uniform or integers; ends included."""

    name: str
    kind: str
    low: Fraction
    high: Fraction
    digits: int


@dataclass(frozen=True)
class Side:
    """One side of a claim: `factor` times a bound or the exact value under a scheme.

    kind: "bound" or "exact". name: the bound as it was written, or the scheme.
    """

    factor: Fraction
    kind: str
    name: str

    @property
    def column(self) -> str:
        """The column of results that holds it, without the factor."""
        return f"exact {self.name}" if self.kind == "exact" else self.name


@dataclass(frozen=True)
class Claim:
    """A claimed inequality between two things that are evaluated."""

    text: str
    left: Side
    relation: str
    right: Side


@dataclass(frozen=True)
class Simulation:
    """Monte Carlo at every point: the scheme, paths on each data set, the seed, estimators."""

    scheme: str
    paths: int
    seed: int
    estimators: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """What is evaluated at every point. `bounds` maps names as they were written to files."""

    bounds: Mapping[str, str]
    exact: tuple[str, ...]
    simulation: Simulation | None
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Sweep:
    """A whole request: shared values, axes or draws, and what is evaluated."""

    shared: Mapping[str, Fraction]
    axes: tuple[Axis, ...]
    draws: tuple[Draw, ...]
    seed: int
    count: int
    request: Request

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of what differs from point to point."""
        return (*(axis.name for axis in self.axes), *(draw.name for draw in self.draws))

    @cached_property
    def canonical(self) -> str:
        """The request as text in which layout and comments play no part."""

        def plain(item: Any) -> Any:
            if isinstance(item, Mapping):  # in order: the order of bounds is that of columns
                return [[key, plain(value)] for key, value in item.items()]
            if isinstance(item, tuple):
                return [plain(value) for value in item]
            if isinstance(item, Fraction):
                return show(item)
            if is_dataclass(item):
                return [[part.name, plain(getattr(item, part.name))] for part in fields(item)]
            return item

        return json.dumps(plain(self), sort_keys=True)


def load(path: str | Path) -> Sweep:
    """Read GRID.toml.

    Raises:
        InvalidInput: the file cannot be read, is not TOML, or asks for what there is not.
    """
    from verify.practice import load as load_toml

    return read(load_toml(path))


def read(data: Mapping[str, Any]) -> Sweep:
    """A sweep from the tables of a file, with Decimals in place of floats.

    Raises:
        InvalidInput: a name, value or claim is wrong; the sentence says which.
    """
    _known(data, ("setting", "grid", "random", "evaluate"), "a sweep")
    tables = {key: data.get(key, {}) for key in ("setting", "grid", "random", "evaluate")}
    for key, table in tables.items():
        if not isinstance(table, Mapping):
            raise InvalidInput(f"[{key}] is {table!r}; a table is wanted")
    if bool(tables["grid"]) == bool(tables["random"]):
        raise InvalidInput(
            "a sweep wants one of [grid] and [random], to say what varies; found "
            + ("both" if tables["grid"] else "neither")
        )
    shared = {_key(k, "setting"): _value(_key(k, "setting"), v, f"[setting] {k}")
              for k, v in tables["setting"].items()}  # fmt: skip
    axes: list[Axis] = []
    draws: list[Draw] = []
    seed = 0
    if tables["grid"]:
        axes = [_axis(_key(key, "grid"), item) for key, item in tables["grid"].items()]
        count = math.prod(len(axis.values) for axis in axes)
    else:
        rest = dict(tables["random"])
        count = _whole(rest.pop("points", None), "[random] points", 1)
        seed = _whole(rest.pop("seed", 0), "[random] seed", 0)
        digits = _digits(rest.pop("digits", DIGITS), "[random] digits")
        draws = [_draw(_key(key, "random"), item, digits) for key, item in rest.items()]
        if not draws:
            raise InvalidInput("[random] draws nothing; as in eta = { uniform = [0.01, 0.1] }")
    names = [*shared, *(axis.name for axis in axes), *(draw.name for draw in draws)]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"{name} is given twice")
    if count > MOST_POINTS:
        raise InvalidInput(
            f"the sweep has {count} points, at most {MOST_POINTS} are taken; a [random] design of "
            "points = 1000000 covers the same ranges"
        )
    sweep = Sweep(
        shared, tuple(axes), tuple(draws), seed, count, _request(tables["evaluate"], names)
    )
    _complete(sweep, names)
    return sweep


# --- what varies -------------------------------------------------------------------------------


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    wrong = sorted(set(table) - set(keys))
    if wrong:
        raise InvalidInput(f"{wrong[0]!r} is no key of {where}; there are: {', '.join(keys)}")


def _key(key: str, where: str) -> str:
    name = "lambda" if key == "lambda_" else key.replace("_", "-")
    if name not in KEYS:
        raise InvalidInput(
            f"[{where}] {key}: there is no such parameter; there are: {', '.join(KEYS)}"
        )
    return name


def _value(name: str, value: object, where: str) -> Fraction:
    number = exact(value, where)
    if name in INTEGERS and number.denominator != 1:
        raise InvalidInput(f"{where} is {show(number)}; an integer is wanted")
    if name in INTEGERS and abs(number) > LARGEST_COUNT:
        raise InvalidInput(f"{where} is {show(number)}; at most 2^53 are taken in a sweep")
    return number


def _whole(value: object, where: str, least: int) -> int:
    if value is None:
        raise InvalidInput(f"{where} is wanted")
    number = exact(value, where)
    if number.denominator != 1 or number < least:
        raise InvalidInput(f"{where} is {show(number)}; a whole number from {least} is wanted")
    return number.numerator


def _digits(value: object, where: str) -> int:
    digits = _whole(value, where, 1)
    if digits > MOST_DIGITS:
        raise InvalidInput(f"{where} is {digits}; 1 to {MOST_DIGITS} are taken")
    return digits


def _axis(name: str, item: object) -> Axis:
    where = f"[grid] {name}"
    if isinstance(item, list):
        values = [_value(name, value, where) for value in item]
    elif isinstance(item, Mapping):
        values = _range(name, item, where)
    else:
        raise InvalidInput(
            f"{where} is {item!r}; a list, or {{ from = 1, to = 9, step = 2 }}, is wanted"
        )
    if not values:
        raise InvalidInput(f"{where} has no value")
    kept = tuple(dict.fromkeys(values))
    return Axis(name, kept)


def _range(name: str, item: Mapping[str, Any], where: str) -> list[Fraction]:
    _known(item, ("from", "to", "step", "points", "scale", "digits"), where)
    if "from" not in item or "to" not in item or ("step" in item) == ("points" in item):
        raise InvalidInput(f"{where}: a range wants from, to, and one of step and points")
    low, high = (_value(name, item[key], f"{where}.{key}") for key in ("from", "to"))
    scale = item.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise InvalidInput(f"{where}.scale is {scale!r}; linear or log is wanted")
    if high < low:
        raise InvalidInput(f"{where} runs from {show(low)} down to {show(high)}")
    if "step" in item:
        step = _value(name, item["step"], f"{where}.step")
        if step <= 0 or scale == "log":
            raise InvalidInput(f"{where}.step: a positive step on a linear scale is wanted")
        count = int((high - low) // step) + 1
        _afford(count, where)
        return [low + k * step for k in range(count)]
    count = _whole(item["points"], f"{where}.points", 1)
    _afford(count, where)
    if count == 1:
        return [low]
    if scale == "linear":
        values = [low + (high - low) * k / (count - 1) for k in range(count)]
        return [Fraction(round(v)) for v in values] if name in INTEGERS else values
    if low <= 0:
        raise InvalidInput(f"{where}: a log scale wants a start above 0, found {show(low)}")
    digits = _digits(item.get("digits", DIGITS), f"{where}.digits")
    inner = [
        rounded(log_between(low, high, Fraction(k, count - 1)), digits, name in INTEGERS)
        for k in range(1, count - 1)
    ]
    return [low, *(min(max(value, low), high) for value in inner), high]


def _afford(count: int, where: str) -> None:
    if count > MOST_VALUES:
        raise InvalidInput(f"{where} has {count} values, at most {MOST_VALUES} are taken")


def _decimal(value: Fraction) -> Decimal:
    return _HIGH.divide(Decimal(value.numerator), Decimal(value.denominator))


def log_between(low: Fraction, high: Fraction, part: Fraction) -> Decimal:
    """low (high/low)^part to some 45 digits, the same on every machine; 0 <= part <= 1."""
    start, stop = _HIGH.ln(_decimal(low)), _HIGH.ln(_decimal(high))
    return _HIGH.exp(_HIGH.add(start, _HIGH.multiply(_HIGH.subtract(stop, start), _decimal(part))))


def rounded(value: Decimal, digits: int, whole: bool) -> Fraction:
    """A positive number to so many significant digits, and no decimals where `whole`."""
    last = value.adjusted() - digits + 1
    return Fraction(
        value.quantize(Decimal(1).scaleb(max(last, 0) if whole else last), context=_HIGH)
    )


def _draw(name: str, item: object, digits: int) -> Draw:
    where = f"[random] {name}"
    kinds = ("uniform", "log-uniform", "integers")
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"{where} is {item!s}; a draw such as {{ uniform = [0.01, 0.1] }} is "
            "wanted here, and what all points share stands in [setting]"
        )
    _known(item, (*kinds, "digits"), where)
    found = [kind for kind in kinds if kind in item]
    ends = item[found[0]] if len(found) == 1 else None
    if not isinstance(ends, list) or len(ends) != 2:
        raise InvalidInput(f"{where} wants one of {', '.join(kinds)}, with [low, high]")
    kind = found[0]
    if kind == "uniform" and name in INTEGERS:
        kind = "integers"
    low, high = (_value(name, end, where) for end in ends)
    digits = _digits(item["digits"], f"{where}.digits") if "digits" in item else digits
    if high < low or (kind == "log-uniform" and low <= 0):
        wanted = "0 < low <= high" if kind == "log-uniform" else "low <= high"
        raise InvalidInput(f"{where} is drawn from [{show(low)}, {show(high)}]; {wanted} is wanted")
    if kind == "integers" and (low.denominator != 1 or high.denominator != 1):
        raise InvalidInput(f"{where} draws integers from [{show(low)}, {show(high)}]")
    spread = max(abs(low), abs(high)) * (1 if kind == "integers" else 10 ** (digits + 1))
    if kind == "integers" and spread > LARGEST_DRAW:
        raise InvalidInput(f"{where} draws integers up to {show(high)}; at most 2^53 are taken")
    if kind == "uniform" and low < high and spread > LARGEST_DRAW * (high - low):
        raise InvalidInput(f"{where}: the range is too narrow for {digits} digits")
    return Draw(name, kind, low, high, digits)


# --- what is evaluated -------------------------------------------------------------------------


def _request(table: Mapping[str, Any], names: list[str]) -> Request:
    _known(table, ("bounds", "exact", "optimal", "estimate", "claims"), "[evaluate]")
    bounds = _bounds(table.get("bounds", []), names)
    optimal = table.get("optimal", False)
    if not isinstance(optimal, bool):
        raise InvalidInput(f"[evaluate] optimal is {optimal!r}; true or false is wanted")
    if optimal:
        bounds.setdefault("optimal", find("optimal").name)
    schemes = _schemes(table.get("exact", []), bounds)
    simulation = _simulation(table["estimate"]) if "estimate" in table else None
    written = table.get("claims", [])
    if not isinstance(written, list) or not all(isinstance(text, str) for text in written):
        raise InvalidInput('[evaluate] claims wants a list such as ["thm-4.2 <= composition"]')
    claims = tuple(_claim(text) for text in dict.fromkeys(written))
    for side in (side for claim in claims for side in (claim.left, claim.right)):
        if side.kind == "exact":
            schemes = tuple(dict.fromkeys((*schemes, side.name)))
        else:
            bounds.setdefault(side.name, find(side.name).name)
    if not (bounds or schemes or simulation):
        raise InvalidInput(
            "[evaluate] asks for nothing; bounds, exact, optimal, estimate and claims can be given"
        )
    return Request(bounds, schemes, simulation, claims)


def find(name: str) -> Any:
    """A bound by file name, statement id or what people call it. Raises `InvalidInput`."""
    from bounds.bound import find as find_bound

    return find_bound(ALIASES.get(name, name))


def _bounds(asked: object, names: list[str]) -> dict[str, str]:
    from bounds.bound import registry

    if asked == "all":
        given = set(names) | {given for name in names for given in GIVES.get(name, ())}
        known = {FLAGS.get(name, name) for name in given}
        return {
            bound.name: bound.name for bound in registry().values()
            if bound.quantity == "renyi-divergence" and known.issuperset(bound.needs)
        }  # fmt: skip
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise InvalidInput('[evaluate] bounds wants a list of names, or "all"')
    return {name: find(name).name for name in asked}


def _schemes(asked: object, bounds: Mapping[str, str]) -> tuple[str, ...]:
    from empirical.schemes import find as find_scheme
    from verify.comparison import SCHEMES

    if asked is True:
        titles = {find(name).scheme for name in bounds.values()} & set(SCHEMES)
        found = tuple(dict.fromkeys(SCHEMES[t][0] for t in SCHEMES if t in titles))
        if not found:
            raise InvalidInput('[evaluate] exact wants a scheme, as in exact = ["fixed-order"]')
        return found
    if asked is False:
        return ()
    if not isinstance(asked, list) or not all(isinstance(name, str) for name in asked):
        raise InvalidInput('[evaluate] exact wants true or a list such as ["fixed-order"]')
    return tuple(dict.fromkeys(find_scheme(name).name for name in asked))


def _simulation(table: object) -> Simulation:
    from empirical import estimators
    from empirical.schemes import find as find_scheme

    if not isinstance(table, Mapping):
        raise InvalidInput('[evaluate] estimate wants { scheme = "shuffle-once", paths = 20000 }')
    _known(table, ("scheme", "paths", "seed", "estimators"), "[evaluate] estimate")
    if not isinstance(table.get("scheme"), str):
        raise InvalidInput("[evaluate] estimate wants a scheme")
    names = table.get("estimators", list(estimators.registry()))
    if not isinstance(names, list) or not names or not all(isinstance(x, str) for x in names):
        raise InvalidInput("[evaluate] estimate.estimators wants a list of names")
    return Simulation(
        find_scheme(table["scheme"]).name,
        _whole(table.get("paths", PATHS), "[evaluate] estimate.paths", 100),
        _whole(table.get("seed", 0), "[evaluate] estimate.seed", 0),
        tuple(dict.fromkeys(estimators.find(name).name for name in names)),
    )


def _claim(text: str) -> Claim:
    found = re.fullmatch(r"([^<>=]+)(<=|>=|<|>)([^<>=]+)", text)
    if not found:
        raise InvalidInput(
            f"the claim {text!r} is not understood; two names and one of {' '.join(RELATIONS)} "
            'are wanted, as in "thm-4.2 <= composition"'
        )
    parts = [_SIDE.fullmatch(found[i].strip()) for i in (1, 3)]
    if not all(parts):
        raise InvalidInput(f"the claim {text!r} is not understood; a side is a name, or c * name")
    sides = [_side(part[1], part[2], text) for part in parts if part]
    for here, other in ((0, 1), (1, 0)):
        if sides[here].kind == "exact" and not sides[here].name:
            sides[here] = _scheme_of(sides[here], sides[other], text)
    return Claim(" ".join(text.split()), sides[0], found[2], sides[1])


def _side(factor: str | None, name: str, text: str) -> Side:
    from empirical.schemes import find as find_scheme

    scale = Fraction(1) if factor is None else exact(factor, f"a factor of {text!r}")
    if scale <= 0:
        raise InvalidInput(f"the claim {text!r} has the factor {show(scale)}; above 0 is wanted")
    first, *rest = name.split()
    if first == "exact":
        return Side(scale, "exact", find_scheme(rest[0]).name if rest else "")
    if rest:
        raise InvalidInput(f"the claim {text!r} is not understood at {name!r}")
    find(first)
    return Side(scale, "bound", first)


def _scheme_of(side: Side, other: Side, text: str) -> Side:
    """An exact value without a scheme is about the other side's."""
    from verify.comparison import SCHEMES

    scheme = SCHEMES.get(find(other.name).scheme) if other.kind == "bound" else None
    if scheme is None:
        raise InvalidInput(
            f'the claim {text!r} wants a scheme, as in "exact shuffle-once <= thm-4.2"'
        )
    return Side(side.factor, "exact", scheme[0])


def _complete(sweep: Sweep, names: list[str]) -> None:
    """Refuse what no point could answer, before a hundred million of them say so."""
    given = set(names) | {given for name in names for given in GIVES.get(name, ())}
    known = {FLAGS.get(name, name) for name in given}
    request = sweep.request
    wanted = {name: set(find(file).needs) for name, file in request.bounds.items()}
    everything = {"n", "b", "epochs", "eta", "lambda_", "sensitivity", "sigma2", "alpha"}
    for scheme in request.exact:
        wanted[f"exact {scheme}"] = everything
    if request.simulation:
        wanted["estimate"] = everything
    for name, needs in wanted.items():
        for file in find(request.bounds[name]).assumptions if name in request.bounds else ():
            # Such a bound takes b = n where b is not given.
            needs -= {"b"} if file.label == "full-batch" and "b" not in known else set()
        missing = sorted(needs - known)
        if missing:
            flags = ", ".join(PARAMETERS[item].flag[2:] for item in missing)
            raise InvalidInput(f"{name} needs {flags}, which the sweep does not give")
    first = {axis.name: axis.values[0] for axis in sweep.axes}
    first |= {draw.name: draw.low for draw in sweep.draws}
    try:
        setting_of({**sweep.shared, **first})
    except InvalidInput as error:
        from bounds.setting import AssumptionViolated

        # One point out of range is a row; two values for one thing are a mistake everywhere.
        if not isinstance(error, AssumptionViolated) and "updates" not in names:
            raise


def setting_of(values: Mapping[str, Fraction | int]) -> Setting:
    """The setting with these values, by flag names and conventions. Raises `InvalidInput`."""
    return Setting.of(**{key.replace("-", "_"): value for key, value in values.items()})
