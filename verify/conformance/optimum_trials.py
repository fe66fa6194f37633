"""What `bounds/optimal.py` is tried by: the golden vectors of its bound, and its definitions.

The optimum is recomputed from the two sides of its proof and from the minorant's definition, in
exact arithmetic and without the code under trial; a certificate in which anything was changed must
be refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any

from bounds import optimal as standing
from bounds.setting import InvalidInput, Setting, show
from verify.conformance.judge import cases_of
from verify.conformance.trials import Loaded, Trial

BOUND = "optimal_fixed_order"
MOST_STEPS = 30
SCHEDULES = 60
"""Random schedules, of one to eight steps."""

Check = Callable[[ModuleType], bool]


def trials() -> Iterator[Trial]:
    """All trials, vectors first."""
    for case in cases_of(BOUND):
        setting = case.setting
        if not case.valid or setting is None or setting.steps > MOST_STEPS:
            continue
        assert setting.alpha is not None and case.lower is not None and case.upper is not None
        ends = Fraction(case.lower), Fraction(case.upper)
        yield _trial(f"{case.id}, schedule", "vectors", _at(setting, ends))
    yield from _drawn(range(SCHEDULES))
    for name, arguments in REFUSED.items():
        yield _trial(f"refuses {name}", "properties", _refuses(arguments))
    yield _trial("refuses an empty schedule", "properties", _refuses_nothing)
    yield _trial("refuses multipliers that do not fit", "properties", _refuses_multipliers)
    yield _trial("refuses more steps than it can take", "properties", _refuses_too_many)
    yield _trial("a long schedule in doubles", "properties", _long)


def further() -> Iterator[Trial]:
    """More schedules, for code that is said to be equivalent."""
    yield from _drawn(range(SCHEDULES, 4 * SCHEDULES))


def _drawn(numbers: range) -> Iterator[Trial]:
    for number in numbers:
        yield _trial(f"schedule {number}", "properties", _schedule(number))
        yield _trial(f"forged certificate {number}", "properties", _forged(number))


def _trial(name: str, kind: str, check: Check) -> Trial:
    def passes(loaded: Loaded) -> bool:
        return check(loaded.module)

    return Trial(name, kind, passes)


def _at(setting: Any, ends: tuple[Fraction, Fraction]) -> Check:
    def check(m: ModuleType) -> bool:
        steps = m.cyclic_schedule(setting)
        best = m.optimal(steps)
        m.verify_certificate(best)
        low, high = ends
        near = m.optimal_float(*_columns(steps)) * float(setting.alpha) / 2
        return bool(
            low <= best.renyi(setting.alpha) <= high
            and _right(best)
            and abs(near - float(low)) <= 1e-12 * float(low)
            and _legal(m, best, 1 - setting.eta * setting.beta)
        )

    return check


def _columns(steps: Any) -> list[list[float]]:
    return [
        [float(getattr(step, name)) for step in steps]
        for name in ("contraction", "shift", "variance")
    ]


def _weights(steps: Any) -> list[Fraction]:
    """w_t, the product of what comes after."""
    out = [Fraction(1)]
    for step in reversed(steps[1:]):
        out.append(out[-1] * step.contraction)
    return out[::-1]


def _minorant(steps: Any) -> list[Fraction | None]:
    """m_t by definition: the largest over i < t of the least slope from i to some j >= t."""
    weights = _weights(steps)
    omega, rise = [Fraction(0)], [Fraction(0)]
    for w, step in zip(weights, steps, strict=True):
        omega.append(omega[-1] + w * w * step.variance)
        rise.append(rise[-1] + w * step.shift)
    end = len(steps)
    return [
        None if not weights[t - 1] else max(
            min((rise[j] - rise[i]) / (omega[j] - omega[i]) for j in range(t, end + 1))
            for i in range(t)
        )
        for t in range(1, end + 1)
    ]  # fmt: skip


def _run(steps: Any, contractions: Any) -> Fraction:
    """(difference of means)^2/variance at the end of a linear run."""
    apart, variance = Fraction(0), Fraction(0)
    for step, c in zip(steps, contractions, strict=True):
        apart, variance = c * apart + step.shift, c * c * variance + step.variance
    return apart**2 / variance


def _right(best: Any) -> bool:
    """Whether a certificate is that of the optimum, by definition."""
    steps, slopes = best.steps, _minorant(best.steps)
    weights = _weights(steps)
    value = sum(
        (m * m * w * w * step.variance
         for m, w, step in zip(slopes, weights, steps, strict=True) if m is not None),
        Fraction(0),
    )  # fmt: skip
    multipliers = tuple(
        w * step.variance * m for m, w, step in zip(slopes, weights, steps, strict=True)
        if m is not None
    )  # fmt: skip
    live = len(steps) - len(multipliers)
    return bool(
        best.value == value == _run(steps, best.contractions)
        and best.slopes == tuple(slopes)
        and best.multipliers[live:] == multipliers
        and all(0 <= c <= s.contraction for c, s in zip(best.contractions, steps, strict=True))
        and best.contractions[0] == steps[0].contraction
        and not any(c for c, m in zip(best.contractions[1:], slopes[1:], strict=True) if m == 0)
        and _accepted(best)
    )


def _accepted(best: Any) -> bool:
    """Whether the code as it stands accepts a certificate."""
    parts = {name: getattr(best, name) for name in standing.Certificate.__dataclass_fields__}
    parts["steps"] = tuple(
        standing.Step(step.contraction, step.shift, step.variance) for step in best.steps
    )
    try:
        standing.verify_certificate(standing.Certificate(**parts))
    except InvalidInput:
        return False
    return True


def _legal(m: ModuleType, best: Any, least: Fraction) -> bool:
    raised = [
        min(step.contraction, max(c, least))
        for step, c in zip(best.steps, best.contractions, strict=True)
    ]
    inner = best.contractions[1:]
    return bool(
        m.legal_run_value(best, least) == _run(best.steps, raised)
        and best.least_contraction == (min(inner) if inner else 1)
    )


def _numbers(number: int) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    source = random.Random(number)

    def pick(*choices: str) -> list[Fraction]:
        return [Fraction(choices[int(source.random() * len(choices))]) for _ in range(length)]

    length = 1 + int(source.random() * 8)
    forgets = ("0",) if number % 3 == 0 else ()
    c = pick("1/3", "1/2", "3/4", "1", "2", *forgets)
    return c, pick("0", "0", "1/2", "1", "2", "5"), pick("1", "1/2", "2", "3")


def _schedule(number: int) -> Check:
    def check(m: ModuleType) -> bool:
        columns = _numbers(number)
        steps = m.schedule(*([show(x) for x in column] for column in columns))
        best = m.optimal(list(steps))
        m.verify_certificate(best)
        inner = best.contractions[1:]
        near = m.optimal_float(*_columns(steps))
        return bool(
            steps == tuple(m.Step(*row) for row in zip(*columns, strict=True))
            and best.steps == steps
            and _right(best)
            and best.renyi(Fraction(5)) == 5 * best.value / 2
            and m.shift_cost(steps, best.multipliers) == best.value
            and m.linear_run_value(steps, best.contractions) == best.value
            and m.linear_run_value(steps, [-c for c in best.contractions])
            == _run(steps, [-c for c in best.contractions])
            and best.least_contraction == (min(inner) if inner else 1)
            and all(_legal(m, best, Fraction(least)) for least in ("0", "2/5", "3/4", "-1"))
            and abs(near - float(best.value)) <= 1e-13 * float(best.value)
        )

    return check


def _forgeries(best: Any) -> Iterator[dict[str, Any]]:
    """Changes to a right certificate, each of which makes it wrong."""
    end = len(best.steps)
    yield {"value": best.value + 1}
    yield {"value": best.value / 2 - 1}
    for name in ("multipliers", "contractions", "slopes"):
        there = getattr(best, name)
        yield {name: there[:-1]}
        yield {name: (*there, there[-1])}
        for t in range(end):
            for add in (Fraction(1, 7), Fraction(-1, 7), Fraction(-9)):
                if there[t] is None or (name == "contractions" and not _felt(best, t, add)):
                    continue
                yield {name: (*there[:t], there[t] + add, *there[t + 1 :])}
    for t, slope in enumerate(best.slopes):
        others = {None} if slope is not None else {Fraction(1), best.slopes[-1], best.slopes[t + 1]}
        for other in others - {slope}:
            yield {"slopes": (*best.slopes[:t], other, *best.slopes[t + 1 :])}
    for knot in best.knots:
        yield {"knots": tuple(k for k in best.knots if k != knot)}
    for t in set(range(1, end)) - set(best.knots):
        yield {"knots": tuple(sorted((*best.knots, t)))}
    yield {"knots": (*best.knots, end + 1)}
    for t, step in enumerate(best.steps):
        for change in (
            {"shift": step.shift + 1},
            {"variance": Fraction(-1)},
            {"shift": -step.shift - 1},
        ):
            steps = (*best.steps[:t], replace(step, **change), *best.steps[t + 1 :])
            if "variance" in change or _weights(best.steps)[t]:
                yield {"steps": steps}


def _felt(best: Any, t: int, add: Fraction) -> bool:
    """Whether another contraction at a step is too much, or changes the run's value."""
    c = [*best.contractions]
    c[t] += add
    too_much = abs(c[t]) > best.steps[t].contraction
    return bool(too_much or _run(best.steps, c) != best.value)


def _forged(number: int) -> Check:
    def check(m: ModuleType) -> bool:
        rows = zip(*_numbers(number), strict=True)
        best = standing.optimal([standing.Step(*row) for row in rows])
        for change in _forgeries(best):
            try:
                m.verify_certificate(replace(best, **change))
            except InvalidInput:
                continue
            return False
        return True

    return check


REFUSED: dict[str, tuple[list[str], list[str], list[str]]] = {
    "nothing": ([], [], []),
    "more contractions": (["1", "1"], ["1"], ["1"]),
    "more variances": (["1"], ["1"], ["1", "1"]),
    "fewer contractions": (["1"], ["1", "1"], ["1", "1"]),
    "fewer shifts": (["1", "1"], ["1"], ["1", "1"]),
    "fewer variances": (["1", "1"], ["1", "1"], ["1"]),
    "a negative contraction": (["1", "-1/10"], ["1", "1"], ["1", "1"]),
    "a negative shift": (["1", "1"], ["-1/10", "1"], ["1", "1"]),
    "no variance": (["1", "1"], ["1", "1"], ["0", "1"]),
    "a negative variance": (["1", "1"], ["1", "1"], ["1", "-1"]),
}
"""Schedules that are none."""


def _refuses(columns: tuple[list[str], list[str], list[str]]) -> Check:
    def check(m: ModuleType) -> bool:
        numbers = [[float(Fraction(x)) for x in column] for column in columns]
        calls: list[Callable[[], Any]] = [
            lambda: m.schedule(*columns), lambda: m.optimal_float(*numbers),
        ]  # fmt: skip
        if len({len(column) for column in columns}) == 1 and columns[0]:
            rows = [m.Step(*map(Fraction, row)) for row in zip(*columns, strict=True)]
            calls.append(lambda: m.optimal(rows))
        return all(map(_raises, calls))

    return check


def _raises(call: Callable[[], Any]) -> bool:
    try:
        call()
    except InvalidInput:
        return True
    return False


def _refuses_nothing(m: ModuleType) -> bool:
    step = m.Step(Fraction(1), Fraction(1), Fraction(1))
    one = Fraction(1)
    return (
        _raises(lambda: m.optimal([]))
        and _raises(lambda: m.optimal_float([[1.0]], [[1.0]], [[1.0]]))
        and _raises(lambda: m.optimal_float(1.0, 1.0, 1.0))
        and _raises(lambda: m.shift_cost([step], [one, one]))
        and _raises(lambda: m.linear_run_value([step], [one, one]))
        and _raises(lambda: m.linear_run_value([step], [Fraction(11, 10)]))
        and _raises(lambda: m.linear_run_value([step], [Fraction(-11, 10)]))
        and bool(m.shift_cost([step], [one]) == m.linear_run_value([step], [one]) == 1)
        and bool(m.schedule(["0"], ["0"], ["1/1000"])[0].variance == Fraction(1, 1000))
        and bool(m.optimal_float([0.0], [0.0], [1e-300]) == 0)
    )


def _refuses_multipliers(m: ModuleType) -> bool:
    """A negative one, one that takes more than there is, and a rest; all sum up."""
    steps = [m.Step(*map(Fraction, (1, 1, 1)))] * 2
    wrong = [("-1", "3"), ("-1/2", "5/2"), ("2", "0"), ("3/2", "1/2"), ("1", "1/2"), ("1", "0")]
    right = [("0", "2"), ("1", "1"), ("1/2", "3/2")]

    def cost(texts: tuple[str, str]) -> Any:
        return m.shift_cost(steps, [Fraction(text) for text in texts])

    return all(_raises(partial(cost, texts)) for texts in wrong) and all(
        cost(texts) == sum(Fraction(text) ** 2 for text in texts) for texts in right
    )


def _refuses_too_many(m: ModuleType) -> bool:
    """At most MOST_STEPS steps are made, however they come about."""
    most = standing.MOST_STEPS
    base = Setting.of(n=1, b=1, epochs=most, eta=1, lambda_="1/2", sensitivity=1, sigma2=1)
    more = base.replace(n=2, epochs=most // 2 + 1)
    return len(m.cyclic_schedule(base)) == most and _raises(lambda: m.cyclic_schedule(more))


def _long(m: ModuleType) -> bool:
    """Nothing overflows, and what is forgotten is: the value is that of the last steps."""
    columns = _columns(standing.schedule(["1/2"] * 60, ["1"] * 60, ["1"] * 60))
    long = [column * 100 for column in columns]
    short = m.optimal_float(*columns)
    return bool(
        abs(m.optimal_float(*long) - short) <= 1e-12 * short
        and all(a <= b for a, b in pairwise([0.0, short, 1e3]))
    )
