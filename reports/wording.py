"""Words for verdicts: what each says, in one place for every page."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from reports.records import VERDICTS, StatementRecord

MEANING = {
    "proved": "every obligation, for all parameters the paper allows, by symbols or by proof",
    "certified": "rigorously, on the boxes or points that the record names",
    "supported": "no counterexample among the points tried, which the record counts",
    "refuted": "a certified witness contradicts it as printed",
    "definition": "nothing to prove; well-posedness checked",
    "cited": "an outside result; what can be checked of the restatement was checked",
    "open": "could not tell, or not yet checked; the record says which",
}

SEVERITY_MEANING = {
    "misprint": "the intended reading is evident and all that follows uses it",
    "step": "the inference is wrong, its conclusion stands another way",
    "statement": "something a reader would rely on is false",
}

_IMPACT = ("statement", "step", "misprint", None)


def counts(statements: Iterable[StatementRecord]) -> dict[str, int]:
    """How many statements stand at each verdict, in the order of the vocabulary."""
    tally = Counter(record.verdict for record in statements)
    return {name: tally[name] for name in VERDICTS if tally[name]}


def by_impact(statements: Iterable[StatementRecord]) -> list[StatementRecord]:
    """The refuted statements, the gravest and furthest-reaching first."""
    refuted = [record for record in statements if record.verdict == "refuted"]
    return sorted(refuted, key=lambda r: (_IMPACT.index(r.severity), -len(r.impact)))


def headline(record: StatementRecord) -> str:
    """A refuted statement in a sentence or two."""
    what = record.finding or next(
        (item.detail for item in record.evidence if item.outcome == "fails"), record.says
    )
    return f"{record.label} ({record.severity}): {what}"


def together(refuted: Iterable[StatementRecord]) -> list[list[StatementRecord]]:
    """Statements with the same finding and severity, side by side, in the order of the first."""
    groups: dict[tuple[str, str | None], list[StatementRecord]] = {}
    for record in refuted:
        groups.setdefault((record.finding or record.id, record.severity), []).append(record)
    return list(groups.values())


def correction(record: StatementRecord) -> str:
    """The correction with its verdict, or an empty string."""
    if record.correction is None:
        return ""
    return f"{record.correction['statement']} ({record.correction['verdict']})"


def again(record: StatementRecord, effort: str, seed: int) -> str:
    """The command that checks one statement again."""
    return f"hiddenstate audit --only {shlex.quote(record.id)} --effort {effort} --seed {seed}"


def mutants(statements: Iterable[StatementRecord]) -> str:
    """What the checks said of wrong forms, in a sentence; empty where they were not run on any."""
    run = [record.mutants for record in statements if record.mutants is not None]
    tried = sum(item.tried for item in run)
    if not tried:
        return ""
    rejected = sum(item.rejected for item in run)
    return (
        f"The checks were also run on {tried} wrong forms of {len(run)} statements, and rejected "
        f"{rejected} of them ({100 * rejected / tried:.1f}%)."
    )


def not_checked(record: StatementRecord) -> bool:
    """Whether no check has looked at it yet."""
    return record.verdict == "open" and not record.evidence
