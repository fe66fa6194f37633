"""Every bound at one setting, beside the exact divergence of the scheme that it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bounds.arith import TooCostly
from bounds.bound import Answer, Bound, registry
from bounds.setting import InvalidInput, MissingParameter, Setting
from verify import practice

# How the truth is found for each scheme that bounds are about: the scheme's name, and where the
# differing pair sits ("far": the supremum over all places, as if the batches were revealed).
SCHEMES: dict[str, tuple[str, object]] = {
    "fixed order": ("fixed-order", 0),
    "full batch": ("fixed-order", 0),
    "shuffle once": ("shuffle-once", "far"),
    "without replacement": ("without-replacement", "far"),
}
MOST_STEPS = 5000
COMMON = {"order", "epochs", "noise", "sensitivity", "position", "smoothness"}


@dataclass(frozen=True)
class Row:
    """One bound: its answer, its ratio to the best valid bound of its scheme, and to the truth.

    best: whether it is the smallest valid upper bound of its scheme. converted: epsilon at delta
    with the best order, when a delta is given.
    """

    bound: Bound
    answer: Answer
    ratio_to_best: float | None = None
    ratio_to_exact: float | None = None
    converted: Any = None

    @property
    def assumes(self) -> tuple[str, ...]:
        """The assumptions beyond the ones that every bound makes."""
        return tuple(
            a.condition for a in self.bound.assumptions
            if a.label not in COMMON and a.condition != "eta > 0"
        )  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """All rows at one setting, with the exact value of the fixed order where it is affordable.

    warnings: what looks wrong in the run (`verify.practice`), then what bounds remark; `remarks`
    are the latter. order_from: the row whose best order the setting's order is, where none was
    given.
    """

    setting: Setting
    rows: tuple[Row, ...]
    exact: Any
    warnings: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    order_from: str | None = None
    run: practice.Run | None = None

    @property
    def answer(self) -> Row | None:
        """The proved upper bound with the least converted epsilon for the run's scheme."""
        if self.run is None or self.run.title is None:
            return None
        found = [
            row for row in self.rows
            if row.bound.scheme == self.run.title and _valid(row) and row.converted is not None
        ]  # fmt: skip
        return min(found, key=lambda row: float(row.converted.epsilon), default=None)

    def as_json(self) -> dict[str, object]:
        """The contract of `hiddenstate compare --json`."""
        return {
            "setting": self.setting.as_strings(),
            "exact": None if self.exact is None else self.exact.as_json(),
            "bounds": [row_json(row) for row in self.rows],
            "warnings": list(self.warnings),
            "order_from": self.order_from,
            "run": None if self.run is None else self.run.as_json(),
            "answer": None if self.answer is None else self.answer.converted.as_json(),
        }


def row_json(row: Row) -> dict[str, object]:
    """One row by the contract, with what this toolkit adds."""
    answer = row.answer
    said: dict[str, object] = {
        "bound": answer.bound,
        "statement": answer.statement,
        "direction": answer.direction,
        "applicable": answer.applicable,
        "reason": answer.reason or None,
        "epsilon": None if answer.epsilon is None else repr(float(answer.epsilon)),
        "lower": answer.lower,
        "upper": answer.upper,
        "ratio_to_exact": None if row.ratio_to_exact is None else repr(row.ratio_to_exact),
        "ratio_to_best": None if row.ratio_to_best is None else repr(row.ratio_to_best),
        "scheme": row.bound.scheme,
        "standing": row.bound.standing,
        "assumes": list(row.assumes),
        "notes": list(answer.notes),
    }
    if row.converted is not None:
        said["converted"] = row.converted.as_json()
    return said


def compare(setting: Setting, delta: Fraction | None = None) -> Comparison:
    """Evaluate every bound on the Renyi divergence at one setting; see `compare_run`."""
    return compare_run(practice.Run(setting, delta=delta))


def compare_run(run: practice.Run) -> Comparison:
    """Evaluate every bound on the Renyi divergence for one training configuration.

    With a delta each bound is converted by the run's rule, orders and extra curve. Without an order
    in the setting, the order is then the best one of the proved bound with the least epsilon (for
    the run's scheme, where a bound is about it).

    Raises:
        InvalidInput: no bound applies at all (the sentence is the reason of the nearest one), or
            neither an order nor a delta is given.
    """
    setting = run.setting
    bounds = [bound for bound in registry().values() if bound.quantity == "renyi-divergence"]
    converted = {} if run.delta is None else {
        bound.name: made for bound in bounds if (made := _converted(bound, run)) is not None
    }  # fmt: skip
    order_from = None
    if setting.alpha is None:
        if run.delta is None:
            raise InvalidInput(
                "no order is given: --alpha, or a --delta at which to look for the best, is wanted"
            )
        order_from = _leading(bounds, converted, run)
        order = Fraction(2) if order_from is None else converted[order_from].order
        setting = replace(setting, alpha=order)
    rows = [Row(bound, _answer(bound, setting)) for bound in bounds]
    if not any(row.answer.applicable for row in rows):
        raise InvalidInput(f"no bound applies: {rows[0].answer.reason}")
    truths = {
        scheme: _exact(setting, *how) for scheme, how in SCHEMES.items()
        if any(row.answer.applicable and row.bound.scheme == scheme for row in rows)
    }  # fmt: skip
    exact = truths.get("fixed order") or truths.get("full batch")
    done = []
    for row in rows:
        value = row.answer.epsilon
        row = replace(row, converted=converted.get(row.bound.name))
        if not row.answer.applicable or value is None:
            done.append(row)
            continue
        best = min(
            (_value(other) for other in rows
             if other.bound.scheme == row.bound.scheme and _valid(other)),
            default=None,
        )  # fmt: skip
        truth = truths.get(row.bound.scheme)
        there = 0.0 if truth is None else float(truth.value)
        done.append(
            replace(
                row,
                ratio_to_best=float(value) / best if best else None,
                ratio_to_exact=float(value) / there if there else None,
            )
        )
    odd = practice.warnings(replace(run, setting=setting), bounds, converted.values())
    remarks = tuple(
        note for note in dict.fromkeys(note for row in done for note in row.answer.notes)
        # The run's own warning says it, with the number of records.
        if not note.startswith("b does not divide n")
    )  # fmt: skip
    return Comparison(setting, tuple(done), exact, odd + remarks, remarks, order_from, run)


def _leading(bounds: list[Bound], converted: dict[str, Any], run: practice.Run) -> str | None:
    """The proved upper bound with the least converted epsilon, of the run's scheme if it can be."""
    proved = [
        bound for bound in bounds
        if bound.name in converted and bound.direction == "upper" and bound.standing == "theorem"
        and bound.scheme != "one update"
    ]  # fmt: skip
    chosen = [bound for bound in proved if bound.scheme == run.title] or proved
    return min(
        (bound.name for bound in chosen),
        key=lambda name: float(converted[name].epsilon), default=None,
    )  # fmt: skip


def about(setting: Setting, scheme: str) -> tuple[Row, ...]:
    """The proved upper bounds that apply under one scheme, the least first."""
    rows = [
        Row(bound, _answer(bound, setting)) for bound in registry().values()
        if bound.quantity == "renyi-divergence" and bound.scheme == scheme
    ]  # fmt: skip
    return tuple(sorted((row for row in rows if _valid(row)), key=_value))


def _value(row: Row) -> float:
    assert row.answer.epsilon is not None
    return float(row.answer.epsilon)


def _valid(row: Row) -> bool:
    return (
        row.answer.applicable and row.answer.epsilon is not None
        and row.bound.direction == "upper" and row.bound.standing == "theorem"
    )  # fmt: skip


def _answer(bound: Bound, setting: Setting) -> Answer:
    try:
        return bound.answer(setting)
    except (MissingParameter, TooCostly) as error:
        return Answer(bound.name, bound.statement, bound.direction, setting, False, str(error))
    except (ArithmeticError, ValueError) as error:
        # One bound that doubles do not reach at a far setting does not take the table away.
        why = f"not computed at this setting ({type(error).__name__}: {error})"
        return Answer(bound.name, bound.statement, bound.direction, setting, False, why)


def _exact(setting: Setting, scheme: str, centre: object) -> Any:
    """The larger direction of the exact divergence, or None where it is not affordable."""
    from empirical.divergence import exact_divergence

    random = scheme != "fixed-order"
    try:
        if random and setting.steps > MOST_STEPS:
            return None
        found = [
            exact_divergence(setting, scheme, direction=direction, centre=centre, digits=12)
            for direction in (("forward", "backward") if random else ("forward",))
        ]
    except (ArithmeticError, ValueError):  # too costly, or beyond doubles
        return None
    return max(found, key=lambda item: item.value)


def _converted(bound: Bound, run: practice.Run) -> Any:
    from bounds.conversion import best_order

    assert run.delta is not None
    try:
        return best_order(
            bound, run.setting, run.delta, run.rule, orders=run.orders, extra=run.extra
        )
    except (ArithmeticError, ValueError):  # not to be had, or beyond doubles
        return None
