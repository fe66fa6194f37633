"""Run checks in parallel, each within its time limit; an exception is a record, not a crash."""

from __future__ import annotations

import platform
import signal
import time
from collections.abc import Callable, Iterable
from concurrent.futures import TimeoutError as Expired
from concurrent.futures import as_completed
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from pebble import ProcessExpired, ProcessPool

from reports.records import Audit, Evidence, Mutants, Series, StatementRecord
from verify.registry import Registry, registry
from verify.statement import Check, Finding, Run
from verify.verdict import verdict

QUICK = Run()
LIMITS = {"quick": 1, "standard": 5, "full": 40}
LIBRARIES = (
    "hiddenstate", "numpy", "scipy", "mpmath", "sympy", "python-flint", "hypothesis",
)  # fmt: skip


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent, which keeps what is finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def perform(name: str, index: int, about: str, run: Run) -> tuple[Evidence, tuple[Series, ...]]:
    """Run one check in this process; what it raises becomes an `error` record."""
    made = registry().checks[name][index]
    start = time.perf_counter()
    try:
        evidence, series = made.evidence(about, run)
    except Exception as error:
        return broken(made, about, "error", _sentence(error), time.perf_counter() - start), ()
    return replace(evidence, seconds=time.perf_counter() - start), series


def attack(name: str, index: int, title: str, seed: int) -> bool:
    """Whether a check rejects one of its mutants; an exception is no rejection."""
    made = registry().checks[name][index]
    try:
        return made.run(made.mutants[title], Run("quick", seed)).outcome == "fails"
    except Exception:
        return False


def broken(made: Check, about: str, outcome: str, why: str, seconds: float) -> Evidence:
    """Evidence for a check that gave none."""
    evidence, _ = made.record(Finding(outcome, "sampled", "none", why), about)
    return replace(evidence, seconds=seconds)


def _sentence(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"the check raised {type(error).__name__}: {text[0][:300] if text else 'no message'}"


def audit(
    only: Iterable[str] = (),
    *,
    run: Run = QUICK,
    jobs: int = 2,
    mutants: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Audit:
    """Check the named statements (all that have checks, by default) and judge them.

    mutants: also run every check, at quick effort, on the wrong forms that it must reject.

    Every statement of the inventory is in the result; those not checked are `open`. On
    KeyboardInterrupt what is finished is kept and the audit says that it is not complete.
    """
    known = registry()
    chosen = tuple(only)
    todo = [
        (name, index, about)
        for name, checks in known.checks.items()
        if not chosen or name in chosen
        for index, made in enumerate(checks)
        for about in made.forms
    ]
    attacks = [
        (name, index, title)
        for name, index in dict.fromkeys((name, index) for name, index, _ in todo)
        for title in known.checks[name][index].mutants
    ] if mutants else []  # fmt: skip
    start = time.perf_counter()
    rejected: dict[tuple[str, int, str], bool] = {}
    got: dict[tuple[str, int, str], tuple[Evidence, tuple[Series, ...]]] = {}
    complete = True
    with ProcessPool(max_workers=jobs, initializer=_ignore_interrupts) as pool:
        try:
            futures: dict[Any, tuple[str, int, str]] = {}
            for key in todo:
                limit = known.checks[key[0]][key[1]].limit * LIMITS[run.effort]
                futures[pool.schedule(perform, args=[*key, run], timeout=limit)] = key
            against: dict[Any, tuple[str, int, str]] = {}
            for key in attacks:
                limit = known.checks[key[0]][key[1]].limit
                against[pool.schedule(attack, args=[*key, run.seed], timeout=limit)] = key
            for done, future in enumerate(as_completed([*futures, *against]), 1):
                if future in futures:
                    key = futures[future]
                    got[key] = _result(future, known.checks[key[0]][key[1]], key[2], run)
                else:
                    key = against[future]
                    rejected[key] = future.exception() is None and future.result()
                if progress is not None:
                    progress(done, len(todo) + len(attacks), key[0])
        except KeyboardInterrupt:
            complete = False
            pool.stop()
    waiting = {key[0] for key in todo if key not in got}
    statements = tuple(
        judge(known, name, [got[key][0] for key in todo if key[0] == name and key in got],
              asked=not chosen or name in chosen, finished=name not in waiting,
              mutants=_survey(known, name, rejected))
        for name in known.inventory
    )  # fmt: skip
    series = tuple(piece for key in todo if key in got for piece in got[key][1])
    versions = {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
    return Audit(
        versions, run.effort, run.seed, statements, series, complete, chosen,
        seconds=time.perf_counter() - start,
    )  # fmt: skip


def _survey(
    known: Registry, name: str, rejected: dict[tuple[str, int, str], bool]
) -> Mutants | None:
    mine = {key: good for key, good in rejected.items() if key[0] == name}
    if not mine:
        return None
    survived = tuple(
        f"{known.checks[name][index].name.rsplit('.', 1)[-1]}: {title}"
        for (_, index, title), good in mine.items() if not good
    )  # fmt: skip
    return Mutants(len(mine), survived)


def _result(future: Any, made: Check, about: str, run: Run) -> tuple[Evidence, tuple[Series, ...]]:
    limit = made.limit * LIMITS[run.effort]
    try:
        result: tuple[Evidence, tuple[Series, ...]] = future.result()
        return result
    except Expired:
        return broken(made, about, "undecided", f"stopped at its limit of {limit:g} s", limit), ()
    except ProcessExpired as error:
        return broken(made, about, "error", f"its process ended with code {error.exitcode}", 0), ()


def judge(
    known: Registry,
    name: str,
    evidence: list[Evidence],
    *,
    asked: bool = True,
    finished: bool = True,
    mutants: Mutants | None = None,
) -> StatementRecord:
    """One statement's record: verdicts are computed here, from evidence alone.

    finished: whether all of its checks have run; if not, only a refutation is a verdict.
    """
    entry, declared = known.inventory[name], known.statements.get(name)
    common: dict[str, Any] = {
        "id": entry.id, "kind": entry.kind, "label": entry.label or entry.id,
        "where": entry.where, "says": entry.says,
    }  # fmt: skip
    if declared is None:
        return StatementRecord(
            **common, verdict="open", severity=None, printed="", reading="", finding="",
            correction=None, impact=(), rests_on=(), evidence=(), tried="not yet checked",
        )  # fmt: skip
    printed = verdict(
        [item for item in evidence if item.about == "printed"],
        definition=declared.definition, cited=declared.cited,
    )  # fmt: skip
    refuted = printed == "refuted"
    if not finished and not refuted:
        printed = "open"
    correction = None
    if refuted and declared.correction:
        repaired = verdict([item for item in evidence if item.about == "correction"])
        repaired = repaired if finished else "open"
        correction = {"statement": declared.correction, "verdict": repaired}
    # A misprint is one only where all that follows uses the intended reading: nothing falls.
    falls = refuted and declared.severity != "misprint"
    impact = known.falls_with(name) if falls else ()
    tried = ""
    if printed == "open":
        tried = declared.tried if asked and evidence else "not checked in this run"
        if asked and evidence and not finished:
            tried = "interrupted before all of its checks had run"
        elif asked and evidence and not tried:
            tried = "; ".join(
                f"{item.check.rsplit('.', 1)[-1]}: {item.detail}" for item in evidence
                if item.about == "printed" and item.outcome != "holds"
            )  # fmt: skip
    return StatementRecord(
        **common, verdict=printed, severity=declared.severity if refuted else None,
        printed=declared.printed, reading=declared.reading,
        finding=declared.finding,
        correction=correction, impact=impact,
        rests_on=declared.rests_on, evidence=tuple(evidence), tried=tried,
        mutants=mutants,
    )  # fmt: skip
