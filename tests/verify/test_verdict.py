"""The verdict is a pure function of the evidence, and every rule of it can be seen to act."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.records import OBLIGATIONS, OUTCOMES, STRENGTHS, VERDICTS, Evidence
from verify.verdict import verdict


def piece(obligation="derived", outcome="holds", strength="symbolic", whole=True, part=""):
    return Evidence(
        obligation, "check", "method", outcome, strength, "domain", "detail", None, 0.0,
        "printed", part, whole,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([], "open"),
        ([piece()], "proved"),
        ([piece(strength="box")], "proved"),
        ([piece(strength="box", whole=False)], "certified"),
        ([piece(whole=False)], "certified"),
        ([piece(strength="point")], "certified"),
        ([piece(strength="sampled")], "supported"),
        ([piece(strength="statistical")], "supported"),
        ([piece("valid", "fails", "point")], "refuted"),
        ([piece("valid", "fails", "sampled")], "open"),
        ([piece("valid", "fails", "statistical")], "open"),
        ([piece(), piece("constants", "fails", "point")], "refuted"),
        ([piece(), piece("restated", "fails", "point")], "refuted"),
        # a broken argument does not make its conclusion false
        ([piece("derived", "fails", "point")], "open"),
        ([piece("derived", "fails", "point"), piece("valid")], "proved"),
        ([piece("derived", "fails", "point"), piece("valid", strength="sampled")], "supported"),
        # a proof is not weakened by samples that agree with it, but is by one left undecided
        ([piece(), piece("valid", strength="sampled")], "proved"),
        ([piece(), piece("valid", "undecided", "box")], "open"),
        ([piece(), piece("valid", "error", "sampled")], "open"),
        # what we check must be what is printed
        ([piece(), piece("transcribed", "fails", "sampled")], "open"),
        ([piece("transcribed")], "open"),
        # as good as the weakest part
        ([piece(part="a"), piece(part="b", strength="point")], "certified"),
        ([piece(part="a"), piece("valid", "fails", "point", part="b")], "refuted"),
        ([piece(), piece("tight", "fails", "point")], "proved"),
        ([piece(), piece("valid", "not-applicable")], "proved"),
        ([piece("derived", "undecided")], "open"),
    ],
)
def test_rules(evidence, expected):
    assert verdict(evidence) == expected


def test_kinds():
    assert verdict([piece("well-posed")], definition=True) == "definition"
    assert verdict([piece("restated", strength="sampled")], cited=True) == "cited"
    assert verdict([piece("restated", "fails", "point")], cited=True) == "refuted"
    assert verdict([piece("well-posed", "undecided")], definition=True) == "open"


PIECES = st.builds(
    piece, st.sampled_from(OBLIGATIONS), st.sampled_from(OUTCOMES), st.sampled_from(STRENGTHS),
    st.booleans(), st.sampled_from(("", "a")),
)  # fmt: skip


@given(st.lists(PIECES, max_size=5))
def test_never_more_than_the_evidence(evidence):
    found = verdict(evidence)
    assert found in VERDICTS
    if found == "refuted":
        assert any(
            e.outcome == "fails" and e.strength in ("symbolic", "box", "point") for e in evidence
        )
    if found == "proved":
        assert any(
            e.outcome == "holds" and e.strength in ("symbolic", "box") and e.whole for e in evidence
        )
    if found in ("proved", "certified", "supported"):
        assert not any(
            e.outcome in ("undecided", "error") and e.obligation not in ("derived", "tight")
            for e in evidence
        )


@given(st.lists(PIECES, max_size=4), PIECES)
def test_order_does_not_matter(evidence, extra):
    assert verdict([*evidence, extra]) == verdict([extra, *reversed(evidence)])
