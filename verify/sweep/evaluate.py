"""A range of indices to a table of results; the same table whoever works it out.

Columns, after `index` and what varies: for each bound its float64 value, rounded outward, and
`NAME reason`, the label of the assumption that a point violates; for each exact value `exact
SCHEME` with `lower` and `upper`; for each estimator `estimate NAME` with both; for each claim its
outcome; and `error`, what went wrong at a point otherwise.

A claim is decided by doubles where their error cannot matter. Elsewhere, and wherever it seems to
fail, it is decided by enclosures at rising precision, and in exact arithmetic where both sides are
rational. What is still open then is `undecided`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bounds.arith import NotRational, TooCostly, Undecided
from bounds.arith.columns import Settings, evaluate
from bounds.bound import Bound
from bounds.setting import ORDER, AssumptionViolated, MissingParameter, Setting
from verify.sweep.grid import FLAGS, Claim, Side, Sweep, find, setting_of
from verify.sweep.points import Points, Values

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]

HOLDS, FAILS, UNDECIDED, NOT_APPLICABLE = "holds", "fails", "undecided", "not applicable"
WIDTH = 4e-12
"""More than a float64 bound may differ from its formula, relative to its value."""
LEAST = 1e-300
"""Below this doubles decide no claim: what underflow takes away is not relative."""
MOST_STEPS = 5000
EXACT_DIGITS = 12
DIGITS = (20, 40, 80)


@dataclass
class Measured:
    """One quantity at every point of a range, enclosed: `value` is what is written [points].

    NaN stands for none inside this module; it leaves as null.
    """

    value: Array
    lower: Array
    upper: Array
    reason: NDArray[np.object_]

    @classmethod
    def empty(cls, size: int) -> Measured:
        """Nothing yet."""
        value, lower, upper = np.full((3, size), np.nan)
        return cls(value, lower, upper, np.full(size, None, dtype=object))


@dataclass
class Range:
    """The points start, ..., stop - 1 while they are worked out."""

    sweep: Sweep
    start: int
    stop: int
    errors: dict[int, list[str]] = field(default_factory=dict)
    _settings: list[Setting | None] | None = None
    _table: Settings | None = None

    @property
    def size(self) -> int:
        """How many points."""
        return self.stop - self.start

    @property
    def settings(self) -> list[Setting | None]:
        """The setting of each point, made when first asked for; None where there is none."""
        if self._settings is None:
            self._settings = []
            for i, values in enumerate(Points(self.sweep).exact(self.start, self.stop)):
                try:
                    self._settings.append(setting_of(values))
                except Exception as error:
                    self.fault(i, "setting", error)
                    self._settings.append(None)
        return self._settings

    @property
    def table(self) -> Settings | None:
        """The settings as columns; None where a value is given by another convention."""
        if self._table is None and FLAGS.keys() >= {*self.sweep.shared, *self.sweep.varied}:
            drawn = Points(self.sweep).values(self.start, self.stop)
            values: dict[str, Any] = {**self.sweep.shared, **drawn}
            self._table = Settings.of({
                FLAGS[name]: item.column if isinstance(item, Values) else item
                for name, item in values.items()
            })  # fmt: skip
            self._table.size = self.size
        return self._table

    def setting(self, i: int) -> Setting:
        """The setting of one point, where it has been found to have one."""
        table = self.table
        if table is not None:
            return table.setting(i)
        found = self.settings[i]
        assert found is not None
        return found

    def fault(self, i: int, what: str, error: BaseException) -> None:
        """Keep what went wrong at a point."""
        said = f"{what}: {type(error).__name__}: {' '.join(str(error).split())}"
        self.errors.setdefault(i, []).append(said)

    def each(self, what: str, work: Callable[[int, Setting], None], made: Measured) -> None:
        """Run `work` at every point; what cannot be had there becomes a reason, or an error."""
        for i, setting in enumerate(self.settings):
            if setting is None:
                made.reason[i] = "error"
                continue
            try:
                work(i, setting)
            except AssumptionViolated as error:
                made.reason[i] = error.label
            except MissingParameter:
                made.reason[i] = "missing"
            except TooCostly:
                made.reason[i] = "too-costly"
            except Exception as error:
                made.reason[i] = "error"
                self.fault(i, what, error)


def work_out(sweep: Sweep, start: int, stop: int) -> pa.Table:
    """The table of a range of points.

    Growth: time ~ points^1, memory likewise; a sweep holds one range a worker.
    """
    import pyarrow as pa

    here = Range(sweep, start, stop)
    request = sweep.request
    columns: dict[str, Any] = {"index": pa.array(np.arange(start, stop), pa.int64())}
    for name, values in Points(sweep).values(start, stop).items():
        columns[name] = _written(values, here.size)
    measured: dict[str, Measured] = {}
    for name, file in request.bounds.items():
        measured[name] = made = bound_values(here, name, find(file))
        columns[name], columns[f"{name} reason"] = _numbers(made.value), _words(made.reason)
    for scheme in request.exact:
        name = f"exact {scheme}"
        measured[name] = made = _exact(here, scheme)
        columns |= {
            name: _numbers(made.value), f"{name} lower": _numbers(made.lower),
            f"{name} upper": _numbers(made.upper), f"{name} reason": _words(made.reason),
        }  # fmt: skip
    if request.simulation is not None:
        columns |= _estimates(here)
    for claim in request.claims:
        columns[claim.text] = _words(_decide(here, claim, measured))
    faults = np.full(here.size, None, dtype=object)
    for i, said in here.errors.items():
        faults[i] = "; ".join(said)
    columns["error"] = _words(faults)
    return pa.table(columns)


def _written(values: Any, size: int) -> Any:
    """What varies: integers, doubles whose shortest decimal is the exact value, or text."""
    import pyarrow as pa

    if values.whole:
        return pa.array(np.broadcast_to(values.integers(), size), pa.int64())
    if values.texts is not None:
        return pa.array(values.texts, pa.string())
    return pa.array(np.broadcast_to(values.column.high, size), pa.float64())


def _numbers(values: Array) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.float64(), mask=~np.isfinite(values))


def _words(values: NDArray[np.object_]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())


# --- what is measured --------------------------------------------------------------------------


def bound_values(here: Range, name: str, bound: Bound) -> Measured:
    """A bound at every point, rounded outward: all at once, as far as its formula allows."""
    made = Measured.empty(here.size)
    if here.table is not None:
        found = evaluate(bound, here.table, lambda i, error: here.fault(i, name, error))
        applies = found.applicable
        made.value = np.where(applies, found.epsilon, np.nan)
        made.reason[~applies] = found.label[~applies]
    else:
        whole = made.reason

        def one(i: int, setting: Setting) -> None:
            found = evaluate(bound, Settings.of(setting.known()))
            made.value[i] = found.epsilon[0] if found.applicable[0] else np.nan
            whole[i] = found.label[0] or None

        here.each(name, one, made)
    made.lower, made.upper = made.value * (1 - WIDTH), made.value * (1 + WIDTH)
    return made


def exact_value(setting: Setting, scheme: str, digits: int = EXACT_DIGITS) -> Any:
    """The larger direction of the exact divergence on the slowest quadratic, enclosed.

    Under random batches the pair is placed where the divergence is largest ("far").

    Raises:
        InvalidInput, TooCostly: see `empirical.divergence.exact_divergence`.
    """
    from empirical.divergence import DIRECTIONS, exact_divergence

    fixed = scheme == "fixed-order"
    ORDER.check(setting)
    if not fixed and setting.steps > MOST_STEPS:
        raise TooCostly(f"{setting.steps} updates, at most {MOST_STEPS} are tried in a sweep")
    found = [
        exact_divergence(
            setting, scheme, direction=direction, digits=digits,
            centre=0 if scheme in ("fixed-order", "poisson") else "far",
        )
        for direction in (DIRECTIONS[:1] if fixed else DIRECTIONS)
    ]  # fmt: skip
    return max(found, key=lambda item: item.value)


def _exact(here: Range, scheme: str) -> Measured:
    made = Measured.empty(here.size)

    def one(i: int, setting: Setting) -> None:
        found = exact_value(setting, scheme)
        made.value[i] = found.value
        # A decimal string becomes a double next to it, away from the value.
        made.lower[i] = max(0.0, math.nextafter(float(found.lower), -math.inf))
        made.upper[i] = math.nextafter(float(found.upper), math.inf)
        if not found.proved:
            made.reason[i] = "not proved"

    here.each(f"exact {scheme}", one, made)
    beyond = np.isinf(made.value)
    made.value[beyond], made.reason[beyond] = np.nan, "infinite"
    return made


def _estimates(here: Range) -> dict[str, Any]:
    from empirical.experiments import estimate

    plan = here.sweep.request.simulation
    assert plan is not None
    made = {name: Measured.empty(here.size) for name in plan.estimators}
    reasons = Measured.empty(here.size)

    def one(i: int, setting: Setting) -> None:
        assert plan is not None
        # A stream of its own for every point, from the seed and the index alone.
        word = hashlib.blake2b(f"{plan.seed}:{here.start + i}".encode(), digest_size=8).digest()
        found = estimate(
            setting, plan.scheme, plan.paths, int.from_bytes(word), workers=1,
            names=plan.estimators, with_exact=False,
        )  # fmt: skip
        if found.interrupted:
            raise KeyboardInterrupt
        for item in found.estimates:
            there = made[item.estimator]
            for target, number in (
                (there.value, item.value), (there.lower, item.lower), (there.upper, item.upper)
            ):  # fmt: skip
                target[i] = np.nan if number is None else number

    here.each("estimate", one, reasons)
    columns: dict[str, Any] = {}
    for name, item in made.items():
        columns[f"estimate {name}"] = _numbers(item.value)
        columns[f"estimate {name} lower"] = _numbers(item.lower)
        columns[f"estimate {name} upper"] = _numbers(item.upper)
    columns["estimate reason"] = _words(reasons.reason)
    return columns


# --- claims ------------------------------------------------------------------------------------


def _decide(here: Range, claim: Claim, measured: dict[str, Measured]) -> NDArray[np.object_]:
    """The outcome of a claim at every point."""
    left, right = measured[claim.left.column], measured[claim.right.column]
    out = np.full(here.size, UNDECIDED, dtype=object)
    known = ~np.isnan(left.value) & ~np.isnan(right.value)
    if claim.relation in ("<=", "<"):
        small, large, few, many = left, right, claim.left.factor, claim.right.factor
    else:
        small, large, few, many = right, left, claim.right.factor, claim.left.factor
    with np.errstate(invalid="ignore", over="ignore"):
        # Two roundings in each product.
        high = small.upper * float(few) * (1 + 1e-15)
        low = large.lower * float(many) * (1 - 1e-15)
        sure = known & (low > LEAST) & (high < low)
    proved = (left.reason == None) & (right.reason == None)  # noqa: E711
    out[sure & proved] = HOLDS
    lost = ("error", "too-costly", "beyond-double", "infinite", "not proved")
    for item in (left, right):
        out[~known & ~np.isin(item.reason.astype(str), [*lost, "None"])] = NOT_APPLICABLE
    for i in np.flatnonzero(known & proved & ~sure):
        try:
            out[i] = decide(claim, here.setting(int(i)))
        except Exception as error:
            here.fault(int(i), claim.text, error)
    return out


def decide(claim: Claim, setting: Setting) -> str:
    """Decide a claim at one setting: holds, fails or undecided, rigorously.

    Raises:
        InvalidInput: a side cannot be had there.
    """
    for digits in DIGITS:
        left, right = (
            _enclosed(claim.left, setting, digits),
            _enclosed(claim.right, setting, digits),
        )
        if left is None or right is None:
            return UNDECIDED
        if (found := _compare(left, claim.relation, right)) is not None:
            return HOLDS if found else FAILS
        if digits == DIGITS[0]:
            exact = _rational(claim.left, setting), _rational(claim.right, setting)
            if exact[0] is not None and exact[1] is not None:
                found = _compare(exact[0], claim.relation, exact[1])
                return HOLDS if found else FAILS
    return UNDECIDED


def _compare(left: Any, relation: str, right: Any) -> bool | None:
    """Whether the relation holds for all of both balls, or for none; else None.

    Strict and weak relations are told apart by the balls: x < y and x >= y can both be False.
    """
    tests: dict[str, tuple[Any, Any]] = {
        "<=": (left <= right, left > right), "<": (left < right, left >= right),
        ">=": (left >= right, left < right), ">": (left > right, left <= right),
    }  # fmt: skip
    holds, fails = tests[relation]
    return True if holds else False if fails else None


def _enclosed(side: Side, setting: Setting, digits: int) -> Any:
    """A ball around one side, or None where nothing proved is known."""
    import flint

    from bounds.arith.ball import Ball, between, precision

    if side.kind == "exact":
        found = exact_value(setting, side.name, digits)
        if not found.proved:
            return None
        with precision(4 * digits + 64):
            ends = [flint.arb(end) for end in (found.lower, found.upper)]
            return Ball.number(side.factor) * between(*ends)
    bound = find(side.name)
    ball = bound.enclose(setting, digits)
    with precision(4 * digits + 64):
        return Ball.number(side.factor) * ball


def _rational(side: Side, setting: Setting) -> Fraction | None:
    """One side as a Fraction, where it is rational and small enough to write down."""
    from bounds.arith.exact import Exact

    if side.kind == "exact":
        return _rational_law(side, setting)
    bound = find(side.name)
    try:
        return side.factor * Fraction(bound.in_system(setting, Exact))
    except (NotRational, TooCostly, Undecided, TypeError, AttributeError):
        return None


def _rational_law(side: Side, setting: Setting) -> Fraction | None:
    from empirical.divergence import EXACT_BITS, renyi_gaussian
    from empirical.experiments import problem_of
    from empirical.laws import bits, fixed_law

    if side.name != "fixed-order":
        return None
    problem = problem_of(setting, side.name)
    if bits(problem) > EXACT_BITS:
        return None
    first, second = (fixed_law(problem, which, Fraction) for which in ("first", "second"))
    value = renyi_gaussian(*first, *second, setting.alpha)
    return side.factor * value if isinstance(value, Fraction) else None


def witness(claim: Claim, setting: Setting) -> dict[str, Any]:
    """Both sides of a claim at one setting, enclosed between decimal strings."""
    from bounds.arith.ball import decimal_bounds

    said: dict[str, Any] = {"setting": setting.as_strings()}
    for word, side in (("left", claim.left), ("right", claim.right)):
        ball = _enclosed(side, setting, DIGITS[0])
        if ball is not None:
            low, high = decimal_bounds(ball, DIGITS[0])
            said[word] = {"lower": low, "upper": high}
    return said
