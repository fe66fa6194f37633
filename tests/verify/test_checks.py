"""Every check can fail: it rejects each of its mutants, and passes the form it ought to pass."""

from __future__ import annotations

import pytest

from verify.registry import registry
from verify.statement import Run

CHECKS = [
    pytest.param(made, id=f"{name}:{made.name.rsplit('.', 1)[-1]}")
    for name, checks in registry().checks.items()
    for made in checks
]
MUTANTS = [
    pytest.param(made, mutant, id=f"{name}:{made.name.rsplit('.', 1)[-1]}:{title}")
    for name, checks in registry().checks.items()
    for made in checks
    for title, mutant in made.mutants.items()
]
RUN = Run("quick", 1)


@pytest.mark.parametrize("made", CHECKS)
def test_a_check_has_mutants_and_a_form_that_it_passes(made):
    assert made.mutants
    assert made.doc
    outcomes = {about: made.evidence(about, RUN)[0].outcome for about in made.forms}
    assert set(outcomes.values()) <= {"holds", "fails", "undecided"}
    assert "error" not in outcomes.values()
    # Where the printed form fails, another form of the same check must hold, or the failure
    # would say nothing.
    assert "holds" in outcomes.values()
    if "correction" in outcomes:
        assert outcomes["correction"] == "holds"


def test_every_link_of_a_derivation_has_a_reason_and_its_relation():
    links = [made for checks in registry().checks.values() for made in checks if made.relations]
    assert all(made.reason for made in links)
    # A claim in words has no sign; most claims of equations have one.
    signs = [made.relations["printed"] for made in links if made.statement.startswith("eq-")]
    assert sum(map(bool, signs)) > len(signs) * 3 / 4
    assert {sign for text in signs for sign in text.split(", ")} == {"", "=", "<=", ">=", "<"}
    made = next(made for made in links if made.statement == "eq-130")
    assert made.evidence("correction", RUN)[0].relation == "="
    assert made.evidence("printed", RUN)[0].reason == made.reason


@pytest.mark.parametrize(("made", "mutant"), MUTANTS)
def test_a_mutant_is_rejected(made, mutant):
    assert made.run(mutant, RUN).outcome == "fails"
