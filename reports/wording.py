"""Words for verdicts: what each says, in one place for every page."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from reports.records import VERDICTS, Audit, Series, StatementRecord

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

# What findings write for what, in the notation of the records.
LETTERS = (
    "n records, b of them in a batch, K epochs",
    "l = n/b",
    "m = floor(l/2)",
    "p = b/n",
    "A = eta Sg^2/(4 sigma^2 b^2)",
    "x = eta lambda",
    "c = 1 - eta lambda",
    "q = c^2",
    "s = (alpha-1) alpha A",
    "j0 the batch of the record that differs, counted from 0",
)

_IMPACT = ("statement", "step", "misprint", None)


def counts(statements: Iterable[StatementRecord]) -> dict[str, int]:
    """How many statements stand at each verdict, in the order of the vocabulary."""
    tally = Counter(record.verdict for record in statements)
    return {name: tally[name] for name in VERDICTS if tally[name]}


def by_impact(statements: Iterable[StatementRecord]) -> list[StatementRecord]:
    """The refuted statements, the gravest and furthest-reaching first."""
    refuted = [record for record in statements if record.verdict == "refuted"]
    return sorted(refuted, key=lambda r: (_IMPACT.index(r.severity), -len(r.impact)))


def figures(audit: Audit) -> list[Series]:
    """The figures in the order of reading: the paper's, each with what was laid over it; others."""
    place = {record.id: i for i, record in enumerate(audit.statements)}
    paper = {record.id for record in audit.statements if record.kind == "figure"}
    return sorted(
        audit.series,
        key=lambda s: (s.statement not in paper, place.get(s.statement, len(place)), s.id),
    )


def said_of(series: Series, statements: Iterable[StatementRecord]) -> list[StatementRecord]:
    """What the paper says about one of its figures: the sentences that rest on it."""
    return [r for r in statements if r.kind == "prose" and series.statement in r.rests_on]


def title(record: StatementRecord) -> str:
    """What a reader calls the statement; prose has no number and is named by where it stands."""
    if record.label == record.id and record.kind == "prose":
        words = record.id.split("-", 2)[-1].replace("-", " ")
        where = "Abstract" if record.where == "0" else f"Section {record.where}"
        return f"{where}: {words}"
    if re.fullmatch(r"\(\d+\)", record.label):
        return f"Equation {record.label}"
    return record.label[:1].upper() + record.label[1:]


def finding(record: StatementRecord) -> str:
    """What was found wrong, in a sentence or two."""
    return record.finding or next(
        (item.detail for item in record.evidence if item.outcome == "fails"), record.says
    )


def headline(group: Sequence[StatementRecord]) -> str:
    """Refuted statements with one finding between them, and that finding."""
    return f"{', '.join(map(title, group))} ({group[0].severity}): {finding(group[0])}"


def together(refuted: Iterable[StatementRecord]) -> list[list[StatementRecord]]:
    """Statements with the same finding and severity, side by side, in the order of the first.

    What has a name comes before the equations that say the same.
    """
    groups: dict[tuple[str, str | None], list[StatementRecord]] = {}
    for record in refuted:
        groups.setdefault((record.finding or record.id, record.severity), []).append(record)
    return [sorted(group, key=lambda r: r.kind == "equation") for group in groups.values()]


def correction(record: StatementRecord) -> str:
    """The correction with its verdict, or an empty string."""
    if record.correction is None:
        return ""
    return f"{record.correction['statement']} ({record.correction['verdict']})"


def corrections(group: Iterable[StatementRecord]) -> list[str]:
    """The corrections of a group, each once; where they differ, with what they correct."""
    found: dict[str, StatementRecord] = {}
    for record in group:
        if correction(record):
            found.setdefault(correction(record), record)
    if len(found) == 1:
        return [f"correction: {text}" for text in found]
    return [f"correction of {title(record)}: {text}" for text, record in found.items()]


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
    said = "all" if rejected == tried else f"{rejected} ({100 * rejected / tried:.1f}%)"
    return (
        f"The checks were also run on {tried} wrong forms of {len(run)} statements, and rejected "
        f"{said} of them."
    )


def not_checked(record: StatementRecord) -> bool:
    """Whether no check has looked at it yet."""
    return record.verdict == "open" and not record.evidence
