"""What the code of a bound is tried by, and how changed code is put in the place of a file.

A trial is a question that right code answers rightly: a golden vector in one number system, or a
property of `hiddenstate check`. Code is loaded from a text in memory, with all bound files that use
it, so that one change is seen in every bound that it enters.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import flint
import sympy

from bounds.arith.ball import Ball, accuracy, precision
from bounds.arith.exact import Exact
from bounds.arith.symbolic import Symbolic
from bounds.bound import Bound, registry, symbolic_parameters
from bounds.setting import PARAMETERS, AssumptionViolated, InvalidInput, Setting
from verify.conformance.answers import IN_DOUBLES
from verify.conformance.compare import TOLERANCE, Case, Judged, enclosed, judge
from verify.conformance.judge import cases_of
from verify.conformance.properties import all_properties, attempt, violations
from verify.conformance.subjects import Answer

ROOT = Path(importlib.import_module("bounds").__path__[0]).parent
BITS = 200
"""Precision of balls; about 60 digits."""
MOST_STEPS = 200
"""Updates up to which a printed form, which goes update by update, is asked."""
FEW_STEPS = 40
"""Updates up to which fractions are asked."""
FEWEST_STEPS = 4
"""Updates up to which symbols are asked, one vector for each number of batches and updates."""

# --------------------------------------------------------------------------------------------
# Loading


def module_of(path: str) -> str:
    """The module of a file.

    >>> module_of("bounds/paper/fixed_order.py")
    'bounds.paper.fixed_order'
    """
    return path.removesuffix(".py").replace("/", ".")


@cache
def source_of(path: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def bound_files() -> dict[str, str]:
    """Where each bound is defined: path by name, in the registry's order."""
    out = {}
    for name, bound in registry().items():
        out[name] = bound.epsilon.__module__.replace(".", "/") + ".py"
    return out


@cache
def imports(path: str) -> frozenset[str]:
    """The modules that a file may import at its top."""
    found = set()
    for node in ast.parse(source_of(path)).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


@cache
def users(path: str) -> tuple[str, ...]:
    """The bound files whose code a file enters, itself first, each after what it imports."""
    out = [path]
    waiting = [other for other in bound_files().values() if other != path]
    while True:
        modules = {module_of(item) for item in out}
        new = [other for other in waiting if modules & imports(other)]
        # One that imports another new one comes after it.
        ready = [a for a in new if not any(module_of(b) in imports(a) for b in new if b != a)]
        if not ready:
            return tuple(out)
        out += ready
        waiting = [other for other in waiting if other not in ready]


@cache
def _code(path: str) -> Any:
    return compile(source_of(path), path, "exec")


@dataclass(frozen=True)
class Loaded:
    """A file that was loaded from a text: its module, and the bounds that it enters, by name."""

    module: ModuleType
    bounds: Mapping[str, Bound]


def load(path: str, source: str) -> Loaded:
    """Load a file from `source`, and anew all bound files that use it; nothing else sees them."""
    files = users(path)
    names = {item: name for name, item in bound_files().items()}
    before = {module_of(item): importlib.import_module(module_of(item)) for item in files}
    made: dict[str, ModuleType] = {}
    try:
        for item in files:
            module = ModuleType(module_of(item))
            module.__file__ = str(ROOT / item)
            _enter(module)
            code = compile(source, path, "exec") if item == path else _code(item)
            exec(code, module.__dict__)
            made[item] = module
    finally:
        for module in before.values():
            _enter(module)
    bounds = {
        names[item]: replace(
            registry()[names[item]], epsilon=module.epsilon, printed=module.printed,
            assumptions=tuple(module.ASSUMPTIONS),
        )
        for item, module in made.items() if item in names
    }  # fmt: skip
    return Loaded(made[path], bounds)


def _enter(module: ModuleType) -> None:
    """Make a module the one that imports find."""
    sys.modules[module.__name__] = module
    package, _, leaf = module.__name__.rpartition(".")
    setattr(sys.modules[package], leaf, module)


# --------------------------------------------------------------------------------------------
# Trials


@dataclass(frozen=True)
class Trial:
    """Something that right code passes.

    kind: "vectors" or "properties". printed: whether it is about a printed form. slow: whether
    others had better come first.
    """

    name: str
    kind: str
    passes: Callable[[Loaded], bool]
    printed: bool = False
    slow: bool = False


def answer_of(bound: Bound, case: Case) -> Answer:
    """What a user gets from a bound in double precision, as a subject's answer.

    A refusal counts only if it names the violated assumption.
    """
    assert case.setting is not None
    try:
        value = float(bound.float64(case.setting))
    except AssumptionViolated as error:
        if case.valid or error.label == case.assumption:
            return Answer("refused", str(error))
        return Answer("crashed", f"it names {error.label}", fatal=True)
    if value != value:
        return Answer("malformed", "NaN", raised="NaN", fatal=True)
    return Answer("value", repr(value), Decimal(value))


def asked(bound: Bound, case: Case) -> Judged:
    """The judgement of a bound's answer; any exception but a violated assumption is a crash."""
    try:
        answer = answer_of(bound, case)
    except Exception as error:
        answer = Answer("crashed", f"{type(error).__name__}: {error}", fatal=True)
    return judge(case, answer, case.setting, TOLERANCE, True)


@cache
def trials_of_bound(name: str, properties: bool) -> tuple[Trial, ...]:
    """The trials of one bound."""
    made: list[Trial] = []

    def add(
        what: str, passes: Callable[[Loaded], bool], printed: bool = False, slow: bool = False
    ) -> None:
        made.append(Trial(what, kind, passes, printed, slow))

    kind = "vectors"
    cases = [case for case in cases_of(name) if case.setting is not None]
    for case in cases:
        add(f"{case.id} in doubles", _doubles(name, case))
    valid = [(case, case.setting) for case in cases if case.valid and case.setting is not None]
    for printed in (False, True):
        form, sizes = "printed form" if printed else "formula", set[tuple[int, int]]()
        for case, setting in valid:
            here = (name, setting, _ends(case), printed)
            if not printed or setting.steps <= MOST_STEPS:
                add(f"{case.id}, {form} in balls", _balls(*here), printed)
            if setting.steps <= FEW_STEPS:
                add(f"{case.id}, {form} in fractions", _exact(name, case, printed), printed)
            size = (setting.batches, setting.steps)
            if setting.steps <= FEWEST_STEPS and size not in sizes:
                sizes.add(size)
                add(f"{case.id}, {form} in symbols", _symbols(*here), printed, True)
                for counts in (False, True):
                    what = f"{case.id}, {form} in letters" + " for counts" * counts
                    add(what, _letters(*here, counts), printed, True)
    for case, setting in valid[::10]:
        if setting.alpha is not None:
            add(f"{case.id} with many orders", _orders(name, setting))
    if properties:
        kind = "properties"
        original = registry()[name]
        for which in all_properties(original):
            add(which.name, _property(name, which))
        for case in violations(original):
            add(case.id, _doubles(name, case))
        # Wide vectors say little; the ball of the code as it stands is narrow.
        for case, setting in valid if name in IN_DOUBLES else ():
            exact = original.enclose(setting)
            for printed in (False, True):
                what = f"{case.id}, agrees as printed" if printed else f"{case.id}, agrees"
                if setting.steps <= FEW_STEPS:
                    add(f"{what} in balls", _balls(name, setting, exact, printed), printed)
                if setting.steps <= FEWEST_STEPS:
                    symbols = _symbols(name, setting, exact, printed)
                    add(f"{what} in symbols", symbols, printed, True)
    return tuple(made)


def _doubles(name: str, case: Case) -> Callable[[Loaded], bool]:
    return lambda loaded: asked(loaded.bounds[name], case).outcome == "right"


def _ends(case: Case) -> Any:
    with precision(2 * BITS):
        return flint.arb(case.lower).union(flint.arb(case.upper))


def _balls(name: str, setting: Setting, ends: Any, printed: bool) -> Callable[[Loaded], bool]:
    def passes(loaded: Loaded) -> bool:
        with precision(BITS):
            value = loaded.bounds[name].in_system(setting, Ball(BITS), printed=printed)
            return bool(value.overlaps(ends)) and accuracy(value) >= BITS // 4

    return passes


def _or_refusal(
    name: str, value: Callable[[Bound], Any], right: Callable[[Any], bool]
) -> Callable[[Loaded], bool]:
    """A number system has a right value, or refuses as the code as it stands does."""
    try:
        value(registry()[name])
    except InvalidInput as error:
        refusal: Any = type(error)
    except Exception:
        refusal = None  # a mistake for which no trial is made, since the code does not pass it
    else:
        return lambda loaded: right(value(loaded.bounds[name]))

    def passes(loaded: Loaded) -> bool:
        try:
            value(loaded.bounds[name])
        except InvalidInput as error:
            return type(error) is refusal
        return False

    return passes


def _exact(name: str, case: Case, printed: bool) -> Callable[[Loaded], bool]:
    setting = case.setting
    assert setting is not None and case.lower is not None and case.upper is not None
    low, high = Fraction(case.lower), Fraction(case.upper)
    return _or_refusal(
        name,
        lambda bound: bound.in_system(setting, Exact, printed=printed),
        lambda value: low <= value <= high,
    )


def _symbols(name: str, setting: Setting, ends: Any, printed: bool) -> Callable[[Loaded], bool]:
    return _or_refusal(
        name,
        lambda bound: bound.in_system(setting, Symbolic, printed=printed),
        lambda value: _is(value, ends),
    )


def _is(value: Any, ends: Any) -> bool:
    with precision(BITS):
        return bool(flint.arb(f"{value.evalf(50)} +/- 1e-40").overlaps(ends))


def _letters(
    name: str, setting: Setting, ends: Any, printed: bool, counts: bool
) -> Callable[[Loaded], bool]:
    """The formula in letters, the numbers put in afterwards; loops and the order are numbers.

    counts: whether n and b are letters too, and only n/b is a number.
    """
    kept: dict[str, Any] = {
        "epochs": setting.epochs, "position": setting.place, "alpha": setting.alpha,
        **({"batches": setting.batches} if counts else {"n": setting.n, "b": setting.b}),
    }  # fmt: skip
    known = {PARAMETERS[key].symbol: number for key, number in setting.known().items()}

    def value(bound: Bound) -> Any:
        p = symbolic_parameters(**kept)
        return (bound.printed if printed else bound.epsilon)(p, Symbolic)

    def right(found: Any) -> bool:
        put = {
            letter: sympy.Rational(*known[letter.name].as_integer_ratio())
            for letter in found.free_symbols
        }
        return _is(found.subs(put), ends)

    return _or_refusal(name, value, right)


def _orders(name: str, setting: Setting) -> Callable[[Loaded], bool]:
    """Many orders at once give what each gives alone."""
    assert setting.alpha is not None
    orders = (setting.alpha, setting.alpha + 1)
    cases = [enclosed(registry()[name], replace(setting, alpha=order)) for order in orders]

    def passes(loaded: Loaded) -> bool:
        found = loaded.bounds[name].float64(setting, orders)
        answers = [Answer("value", "", Decimal(float(value))) for value in found]
        return all(
            judge(case, answer, case.setting, TOLERANCE, True).outcome == "right"
            for case, answer in zip(cases, answers, strict=True)
        )

    return passes


def _property(name: str, which: Any) -> Callable[[Loaded], bool]:
    original = registry()[name]

    def adapt(setting: Setting) -> Setting | None:
        try:
            return original.check(setting)
        except InvalidInput:
            return None

    def passes(loaded: Loaded) -> bool:
        def ask(case: Case) -> Judged:
            return asked(loaded.bounds[name], case)

        return attempt(which, original, ask, adapt, TOLERANCE).broken is None

    return passes


OTHERS = {
    "bounds/optimal.py": "verify.conformance.optimum_trials",
    "bounds/conversion.py": "verify.conformance.conversion_trials",
}
"""Files that are no bounds: the module that has their `trials`, and `further` ones that survivors
must pass."""
SEARCHES = ("bounds/conversion.py",)
"""Files of which much only steers a search, so that many changes are of speed alone: their
survivors are not listed."""


@cache
def trials(path: str) -> tuple[Trial, ...]:
    """Everything that the code of a file is tried by; its users' vectors come after its own."""
    if path in OTHERS:
        return tuple(importlib.import_module(OTHERS[path]).trials())
    names = {item: name for name, item in bound_files().items()}
    others = [item for item in users(path) if item != path]
    return (
        *trials_of_bound(names[path], True),
        *(trial for item in others for trial in trials_of_bound(names[item], False)),
    )


@cache
def files() -> dict[str, str]:
    """Every file that is tried, by the name that it is asked for by."""
    return {**bound_files(), **{Path(path).stem: path for path in OTHERS}}
