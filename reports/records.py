"""The closed records that everything passes through: evidence, statements, series, an audit.

Nothing here computes a verdict or a number; records are made by checks and read by pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = "hiddenstate-audit/1"

OBLIGATIONS = ("transcribed", "derived", "valid", "tight", "constants", "restated", "well-posed")
OUTCOMES = ("holds", "fails", "undecided", "error", "not-applicable")
STRENGTHS = ("symbolic", "box", "point", "sampled", "statistical")
VERDICTS = (
    "proved", "certified", "supported", "refuted", "definition", "cited", "open",
)  # fmt: skip
SEVERITIES = ("misprint", "step", "statement")
FORMS = ("curves", "map")
ROLES = ("bound", "exact", "derived", "stated", "band")
EFFORTS = ("quick", "standard", "full")


def _check(*fields: tuple[str, tuple[str, ...]]) -> None:
    for value, allowed in fields:
        if value not in allowed:
            raise ValueError(f"{value!r} is none of {', '.join(allowed)}")


@dataclass(frozen=True)
class Link:
    """One link of an argument: the relation of its sides, the reason, and what was found."""

    relation: str
    reason: str
    outcome: str
    strength: str

    def __post_init__(self) -> None:
        _check((self.outcome, OUTCOMES), (self.strength, STRENGTHS))


@dataclass(frozen=True)
class Evidence:
    """What one check found.

    about: "printed", "correction", or the name of another reading of the statement.
    part: which part of a statement with several claims.
    whole: whether `domain` is everything that the paper allows.
    certificate: data that others can re-check, or None.
    relation: of a link of a derivation, the signs that it claims, such as "=, <="; "" for words.
    reason: the argument that was put to the test.
    links: that argument link by link, where it has several, up to the first that does not hold.
    """

    obligation: str
    check: str
    method: str
    outcome: str
    strength: str
    domain: str
    detail: str
    certificate: Mapping[str, Any] | None = None
    seconds: float = 0.0
    about: str = "printed"
    part: str = ""
    whole: bool = False
    relation: str = ""
    reason: str = ""
    links: tuple[Link, ...] = ()

    def __post_init__(self) -> None:
        _check((self.obligation, OBLIGATIONS), (self.outcome, OUTCOMES), (self.strength, STRENGTHS))

    def as_json(self) -> dict[str, Any]:
        """The contract's keys, then what this record adds."""
        return {
            "obligation": self.obligation,
            "check": self.check,
            "method": self.method,
            "outcome": self.outcome,
            "strength": self.strength,
            "domain": self.domain,
            "detail": self.detail,
            "certificate": self.certificate,
            "seconds": round(self.seconds, 3),
            "about": self.about,
            "part": self.part,
            "whole": self.whole,
            "relation": self.relation,
            "reason": self.reason,
            "links": [asdict(link) for link in self.links],
        }


@dataclass(frozen=True)
class Curve:
    """One curve of a figure: float64 values with enclosures as decimal strings, one per x.

    role: "bound", "exact", "derived" (a bound of ours), "stated" (what the paper says) or "band"
    (a confidence interval, its ends in lower and upper). labels: where the figure is a map, what
    stands in each cell, in place of the number.
    """

    name: str
    bound: str
    setting: Mapping[str, str]
    epsilon: tuple[str, ...]
    lower: tuple[str, ...]
    upper: tuple[str, ...]
    role: str = "bound"
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Series:
    """The curves of one figure over a common x axis.

    form: "curves", or "map", where each curve is a row of cells, named by row_name. note: how the
    figure is to be read.
    """

    id: str
    statement: str
    title: str
    x_name: str
    x: tuple[str, ...]
    curves: tuple[Curve, ...]
    form: str = "curves"
    y_name: str = "Renyi divergence"
    row_name: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"{self.form!r} is none of {', '.join(FORMS)}")
        for curve in self.curves:
            if curve.role not in ROLES:
                raise ValueError(f"{curve.role!r} is none of {', '.join(ROLES)}")
            if {len(curve.epsilon), len(curve.lower), len(curve.upper)} != {len(self.x)}:
                raise ValueError(f"{curve.name}: one value for each of {len(self.x)} x is wanted")


@dataclass(frozen=True)
class Mutants:
    """How many wrong forms the checks of a statement were run on, and which of them passed."""

    tried: int
    survived: tuple[str, ...] = ()

    @property
    def rejected(self) -> int:
        """How many were rejected."""
        return self.tried - len(self.survived)

    def as_json(self) -> dict[str, Any]:
        """As it stands in an audit file."""
        return {"tried": self.tried, "rejected": self.rejected, "survived": list(self.survived)}


@dataclass(frozen=True)
class StatementRecord:
    """One statement of the paper with its verdict and evidence.

    mutants: what its checks said of wrong forms; None where they were not run on any.
    """

    id: str
    kind: str
    label: str
    where: str
    verdict: str
    severity: str | None
    printed: str
    says: str
    reading: str
    finding: str
    correction: Mapping[str, str] | None
    impact: tuple[str, ...]
    rests_on: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    tried: str = ""
    mutants: Mutants | None = None

    def as_json(self) -> dict[str, Any]:
        """The contract's keys, then what this record adds."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "severity": self.severity,
            "printed": self.printed,
            "says": self.says,
            "correction": None if self.correction is None else dict(self.correction),
            "impact": list(self.impact),
            "rests_on": list(self.rests_on),
            "evidence": [item.as_json() for item in self.evidence],
            "kind": self.kind,
            "label": self.label,
            "where": self.where,
            "reading": self.reading,
            "finding": self.finding,
            "tried": self.tried,
            "mutants": None if self.mutants is None else self.mutants.as_json(),
        }


@dataclass(frozen=True)
class Audit:
    """A whole run: what was audited, how hard, with which versions, and what was found."""

    versions: Mapping[str, str]
    effort: str
    seed: int
    statements: tuple[StatementRecord, ...]
    series: tuple[Series, ...] = ()
    complete: bool = True
    only: tuple[str, ...] = ()
    schema: str = SCHEMA
    seconds: float = field(default=0.0)
