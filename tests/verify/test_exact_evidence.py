"""Every bound has exact evidence in the audit, and statistics stay within one budget."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

import verify.methods.statistical as statistical
from bounds.bound import registry as bounds
from reports.records import Evidence
from verify.methods.statistical import LEVEL, Simulation, family
from verify.methods.truth import TRUTHS
from verify.registry import registry
from verify.statement import Run
from verify.statements import exact_laws, simulated
from verify.verdict import verdict

RUN = Run("quick", 1)
STATISTICAL = [
    pytest.param(made, about, id=f"{name}:{about}")
    for name, checks in registry().checks.items()
    for made in checks
    for about, form in made.forms.items()
    if isinstance(form, Simulation)
]


def test_every_upper_bound_is_faced_at_a_statement_that_exists():
    wanted = {
        name for name, bound in bounds().items()
        if bound.quantity == "renyi-divergence" and bound.direction == "upper"
    }  # fmt: skip
    faced = {claim.bound.name for forms in exact_laws.claims().values() for claim in forms.values()}
    assert faced | set(exact_laws.ELSEWHERE) == wanted
    assert not faced & set(exact_laws.ELSEWHERE)
    assert {bound.scheme for bound in exact_laws.proved().values()} <= set(TRUTHS)
    for statement, forms in exact_laws.claims().items():
        checks = [made for made in registry().checks[statement] if "exact_laws" in made.name]
        assert [set(made.forms) for made in checks] == [set(forms)] * 2
    for name, statement in exact_laws.ELSEWHERE.items():
        forms = [f for made in registry().checks[statement] for f in made.forms.values()]
        assert bounds()[name].epsilon in forms


def test_every_theorem_with_a_bound_is_faced_as_printed():
    claims = exact_laws.claims()
    for theorem in ("thm-2.1", "thm-3.3", "thm-4.2", "thm-4.3", "thm-d.4", "thm-d.6", "thm-d.7"):
        assert claims[theorem]["printed"].bound.statement == theorem
    # What is not printed there is a reading, which decides nothing.
    for statement, forms in claims.items():
        restricted = {(s, name) for s, name, _ in exact_laws.RESTRICTED}
        for about, claim in forms.items():
            own = claim.bound.statement == statement or (statement, claim.bound.name) in restricted
            assert own or about != "printed"


def test_margins_are_those_of_the_statements_they_name():
    assert set(exact_laws.MARGINS) <= set(exact_laws.claims())


def test_the_evidence_says_how_tight_and_where():
    (made,) = [m for m in registry().checks["thm-4.2"] if m.name.endswith("_at_corners")]
    found = made.evidence("printed", RUN)[0]
    assert found.outcome == "holds"
    assert "tightest ratio 1.0000000000" in found.detail
    assert "eta = 0.999999" in found.detail
    assert "for n/b >= 2 and K >= 2 1." in found.detail


def test_the_budget_is_the_number_of_tests_that_are_made(monkeypatch):
    made = []
    real_agreement, real_limits = statistical.agreement, statistical._limits

    def counted_agreement(*args, **kwargs):
        assert (kwargs["level"], kwargs["family"]) == (LEVEL, family())
        made.append("distribution")
        return real_agreement(*args, **kwargs)

    def counted_limits(*args):
        found = real_limits(*args)
        for estimate in found:
            assert 1 - estimate.confidence <= Decimal(str(LEVEL)) / family()
            made.append("limit")
        return found

    monkeypatch.setattr(statistical, "agreement", counted_agreement)
    monkeypatch.setattr(statistical, "_limits", counted_limits)
    strengths = set()
    for parameter in STATISTICAL:
        check, about = parameter.values
        before = len(made)
        strengths.add(check.evidence(about, RUN)[0].strength)
        assert len(made) - before == check.forms[about].tests
    assert strengths == {"statistical"}
    assert len(made) == family() > 0


def test_no_statistical_evidence_is_outside_the_budget():
    budgeted = {parameter.values[0].name for parameter in STATISTICAL}
    for checks in registry().checks.values():
        for made in checks:
            assert ("simulation" in made.method) == (made.name in budgeted)


@pytest.mark.parametrize(("made", "about"), STATISTICAL)
def test_a_rejection_leaves_the_statement_open_and_refutes_nothing(made, about):
    wrong = next(iter(made.mutants.values()))
    rejected = made.record(made.run(wrong, RUN), about)[0]
    assert (rejected.outcome, rejected.strength) == ("fails", "statistical")
    proof = Evidence("derived", "proof", "symbolic", "holds", "symbolic", "all", "", None, 0.0,
                     "printed", made.part, True)  # fmt: skip
    held = made.evidence(about, RUN)[0]
    assert verdict([proof, held]) == "proved"
    assert verdict([proof, rejected]) == "open"
    assert verdict([held]) == "supported"


def test_samples_that_show_nothing_are_undecided():
    form = simulated.FORMS["thm-4.2"]
    faint = tuple(s.replace(sensitivity="1/1000") for s in form.settings)
    assert statistical.stays_below(replace(form, settings=faint), RUN).outcome == "undecided"


def test_other_seeds_are_not_rejected():
    for seed in (2, 3):
        for form in simulated.FORMS.values():
            assert statistical.stays_below(form, Run("quick", seed)).outcome == "holds"
