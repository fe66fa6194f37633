"""The runner: limits, exceptions and interruptions become records."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from reports.records import Evidence
from verify import run as runner
from verify.registry import registry
from verify.statement import Check, Finding, Run

NAME = "verify.statements.fixed_order.follows_from_the_recursions"


def good(form, run):
    return Finding("holds", "symbolic", "all", "fine", True)


def raises(form, run):
    raise ZeroDivisionError("of the check's own making")


def sleeps(form, run):
    time.sleep(30)


def dies(form, run):
    import os

    os._exit(7)


def one(function, limit=60.0):
    return Check("thm-3.3", "a.check", "derived", "m", function, {"printed": 1}, {"m": 2},
                 limit=limit)  # fmt: skip


@pytest.fixture
def with_checks(monkeypatch):
    def install(*checks):
        known = replace(registry(), checks={"thm-3.3": tuple(checks)})
        monkeypatch.setattr(runner, "registry", lambda: known)
        return known

    return install


def verdict_of(audit, name="thm-3.3"):
    return next(record for record in audit.statements if record.id == name)


def test_exceptions_limits_and_deaths_are_records(with_checks):
    with_checks(one(good), one(raises), one(sleeps, 0.5), one(dies))
    result = runner.audit(["thm-3.3"], jobs=2)
    record = verdict_of(result)
    outcomes = [item.outcome for item in record.evidence]
    assert outcomes == ["holds", "error", "undecided", "error"]
    assert "ZeroDivisionError: of the check's own making" in record.evidence[1].detail
    assert "limit" in record.evidence[2].detail
    assert record.verdict == "proved"
    assert result.complete


def test_an_interruption_keeps_what_is_finished(with_checks):
    with_checks(one(good), one(sleeps))

    def stop(done, total, name):
        raise KeyboardInterrupt

    result = runner.audit(["thm-3.3"], jobs=2, progress=stop)
    assert not result.complete
    record = verdict_of(result)
    assert [item.outcome for item in record.evidence] == ["holds"]
    # What is left could have refuted it.
    assert record.verdict == "open"
    assert record.tried == "interrupted before all of its checks had run"


FAILED = Evidence("valid", "c", "m", "fails", "point", "d", "x", {"kind": "point"})
MENDED = replace(FAILED, about="correction", outcome="holds", strength="symbolic", whole=True)


def test_a_refutation_stands_whatever_has_not_run():
    known = registry()
    record = runner.judge(known, "fn-4", [FAILED, MENDED], finished=False)
    assert record.verdict == "refuted"
    assert record.correction is not None
    assert record.correction["verdict"] == "open"


def test_mutants_are_counted_and_survivors_named(with_checks):
    def judges(form, run):
        if form == 3:
            raise ArithmeticError
        return Finding("fails" if form == 2 else "holds", "symbolic", "all", "", True)

    wrong = {"rejected": 2, "passes": 1, "cannot tell": 3}
    with_checks(replace(one(judges), mutants=wrong), one(good))
    assert verdict_of(runner.audit(["thm-3.3"], jobs=1)).mutants is None
    found = verdict_of(runner.audit(["thm-3.3"], jobs=1, mutants=True)).mutants
    assert (found.tried, found.rejected) == (4, 1)
    assert found.survived == ("check: passes", "check: cannot tell", "check: m")


def test_unchecked_statements_are_open():
    known = replace(registry(), statements={}, checks={})
    record = runner.judge(known, "thm-3.3", [])
    assert record.verdict == "open"
    assert record.tried == "not yet checked"


def test_a_refutation_carries_correction_and_impact():
    known = registry()
    record = runner.judge(known, "fn-4", [FAILED, MENDED])
    assert record.verdict == "refuted"
    assert record.severity == "misprint"
    assert record.correction is not None
    assert record.correction["verdict"] == "proved"
    impact = runner.judge(known, "thm-3.3", [FAILED]).impact
    assert "thm-4.2" in impact


def test_results_do_not_depend_on_the_number_of_workers():
    single = runner.audit(["fn-5"], run=Run("quick", 3), jobs=1)
    double = runner.audit(["fn-5"], run=Run("quick", 3), jobs=2)
    strip = [
        [replace(item, seconds=0.0) for item in verdict_of(result, "fn-5").evidence]
        for result in (single, double)
    ]
    assert strip[0] == strip[1]
