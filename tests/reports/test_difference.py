"""What changed between two audits."""

from __future__ import annotations

from dataclasses import replace

from reports import difference
from reports.records import Audit, Evidence, StatementRecord
from tests.reports.samples import record

HELD = Evidence("valid", "m.above", "balls", "holds", "box", "all", "fine")


def audit(*records: StatementRecord) -> Audit:
    return Audit({}, "quick", 0, records)


def test_changes_name_the_checks_behind_them() -> None:
    old = audit(
        record("a", "proved", evidence=(HELD,)), record("b", "open"), record("c|d", "proved")
    )
    new = audit(record("a", "refuted", evidence=(replace(HELD, outcome="fails"),), severity="step"),
                record("b", "open"), record("e", "cited"))  # fmt: skip
    found = difference.changes(old, new)
    assert [(c.id, c.old, c.new) for c in found] == [
        ("a", "proved", "refuted (step)"), ("c|d", "proved", "absent"), ("e", "absent", "cited"),
    ]  # fmt: skip
    assert found[0].why == "above: holds -> fails"
    text = difference.markdown(found, "old", "new")
    assert r"| a | proved | **refuted (step)** | above: holds -\> fails |" in text
    assert r"c\|d" in text


def test_no_change_is_said_so() -> None:
    same = audit(record("a", "proved"))
    assert difference.changes(same, same) == []
    assert "No verdict changed" in difference.markdown([], "x", "y")
