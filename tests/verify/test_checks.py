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


@pytest.mark.parametrize(("made", "mutant"), MUTANTS)
def test_a_mutant_is_rejected(made, mutant):
    assert made.run(mutant, RUN).outcome == "fails"
