"""A record for the tests of pages, in which each test changes what it is about."""

from __future__ import annotations

from reports.records import Evidence, StatementRecord


def record(name="thm-3.3", verdict="proved", **changes):
    values = {
        "id": name, "kind": "theorem", "label": "Theorem 3.3", "where": "3.2",
        "verdict": verdict, "severity": None, "printed": "eps <= x_1", "says": "a bound",
        "reading": "", "finding": "", "correction": None, "impact": (), "rests_on": (),
        "evidence": (
            Evidence("valid", "a.b", "balls", "holds", "box", "0 < x < 1", "fine", None, 0.25),
        ),
    }  # fmt: skip
    return StatementRecord(**(values | changes))
