from __future__ import annotations

from collections import Counter

import pytest

from verify.registry import RegistryError, inventory, match, registry
from verify.statement import Check, Statement


def test_all_statements_are_known():
    entries = inventory()
    assert len(entries) == 253
    kinds = Counter(entry.kind for entry in entries.values())
    assert kinds["equation"] == 178
    assert kinds["prose"] == 43
    assert sum(kinds.values()) - kinds["equation"] - kinds["prose"] == 32


def test_every_statement_has_checks():
    known = registry()
    missing = [name for name in known.inventory if not known.checks.get(name)]
    assert not missing


def test_every_statement_says_what_is_printed():
    for statement in registry().statements.values():
        assert statement.printed, statement.id
        if statement.severity is not None or statement.correction is not None:
            assert statement.severity in ("misprint", "step", "statement"), statement.id
            assert statement.finding, statement.id


def a_check(name: str) -> Check:
    return Check(name, "c", "valid", "m", lambda form, run: None, {"printed": 1}, {"m": 2})


def test_gaps_and_duplicates_are_refused():
    entries = inventory()
    good = Statement("thm-3.3", "printed")
    checks = {"thm-3.3": [a_check("thm-3.3")]}
    assert match(entries, [good], checks).statements["thm-3.3"] is good
    with pytest.raises(RegistryError, match="not in the inventory"):
        match(entries, [Statement("thm-9.9", "printed")], {"thm-9.9": [a_check("thm-9.9")]})
    with pytest.raises(RegistryError, match="no module declares"):
        match(entries, [], checks)
    with pytest.raises(RegistryError, match="without any check"):
        match(entries, [good], {})
    with pytest.raises(RegistryError, match="does not exist"):
        match(entries, [Statement("thm-3.3", "p", rests_on=("nowhere",))], checks)


def test_impact_follows_rests_on():
    known = registry()
    reached = known.falls_with("lem-3.2")
    assert "thm-3.3" in reached
    assert "thm-4.2" in reached
    assert "fig-2a" in reached
    assert "lem-3.2" not in reached
    rested_on = {other for item in known.statements.values() for other in item.rests_on}
    leaf = next(name for name in known.inventory if name not in rested_on)
    assert known.falls_with(leaf) == ()
