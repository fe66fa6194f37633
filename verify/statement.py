"""How a statement of the paper is answered: its declaration, and the checks that face it.

A module of `verify.statements` defines STATEMENTS (or STATEMENT) and functions marked with
`@check`. A check looks at a *form*: a formula, a function, a constant, whatever it is that the
paper prints. It is run on the printed form, on the corrected form where there is one, and on
mutants, which it must reject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reports.records import Evidence, Link, Series


@dataclass(frozen=True)
class Statement:
    """What the paper prints, how it is read, and what stands or falls with it.

    printed: the claim in plain ASCII mathematics, as far as naming it needs.
    reading: how it was understood where the print leaves a choice.
    finding: what was found, in two sentences; shown when the statement is refuted.
    severity, correction: used only when the evidence refutes the printed form.
    definition, cited: what kind of verdict its success is.
    tried: what was tried, where the statement stays open.
    """

    id: str
    printed: str
    rests_on: tuple[str, ...] = ()
    reading: str = ""
    finding: str = ""
    severity: str | None = None
    correction: str | None = None
    definition: bool = False
    cited: bool = False
    tried: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found about one form; becomes an `Evidence`.

    relation: of the two sides that were compared. links: the parts of an argument of several.
    """

    outcome: str
    strength: str
    domain: str
    detail: str
    whole: bool = False
    certificate: Mapping[str, Any] | None = None
    series: tuple[Series, ...] = ()
    relation: str = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Run:
    """How hard to look: `examples` bounds random draws, `seed` fixes them."""

    effort: str = "quick"
    seed: int = 0

    @property
    def examples(self) -> int:
        """Random examples per property."""
        return {"quick": 60, "standard": 400, "full": 4000}[self.effort]


@dataclass(frozen=True)
class Check:
    """One check with its forms and mutants.

    doc: what it looks at; its first paragraph is the reason that records give.
    relations: for a link of a derivation, the signs that a form claims, by the form's name.
    """

    statement: str
    name: str
    obligation: str
    method: str
    run: Callable[[Any, Run], Finding]
    forms: Mapping[str, Any]
    mutants: Mapping[str, Any]
    part: str = ""
    limit: float = 60.0
    doc: str = field(default="", repr=False)
    relations: Mapping[str, str] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """The argument in a sentence or two."""
        return " ".join(self.doc.strip().split("\n\n")[0].split())

    def evidence(self, about: str, run: Run) -> tuple[Evidence, tuple[Series, ...]]:
        """Run it on one of its forms."""
        return self.record(self.run(self.forms[about], run), about)

    def record(self, found: Finding, about: str) -> tuple[Evidence, tuple[Series, ...]]:
        """A finding as a record."""
        return Evidence(
            self.obligation, self.name, self.method, found.outcome, found.strength, found.domain,
            found.detail, found.certificate, 0.0, about, self.part, found.whole,
            self.relations.get(about, ""), self.reason, found.links,
        ), found.series  # fmt: skip


def check(
    statement: str,
    obligation: str,
    method: str,
    *,
    form: Any = None,
    correction: Any = None,
    readings: Mapping[str, Any] | None = None,
    mutants: Mapping[str, Any],
    part: str = "",
    limit: float = 60.0,
) -> Callable[[Callable[[Any, Run], Finding]], Callable[[Any, Run], Finding]]:
    """Mark a function `f(form, run) -> Finding` as a check of a statement.

    form: what the paper prints. correction: the corrected form, checked the same way; a check
    with a correction but no form speaks of the correction alone. readings: other readings by
    name; they never decide the verdict. mutants: forms that the check must reject.
    """
    forms: dict[str, Any] = {}
    if form is not None:
        forms["printed"] = form
    if correction is not None:
        forms["correction"] = correction
    forms.update(readings or {})

    def mark(function: Callable[[Any, Run], Finding]) -> Callable[[Any, Run], Finding]:
        name = f"{function.__module__}.{function.__name__}"
        made = Check(
            statement, name, obligation, method, function, forms, dict(mutants), part, limit,
            (function.__doc__ or "").strip(),
        )  # fmt: skip
        marked = getattr(function, "checks", ())
        function.checks = (*marked, made)  # type: ignore[attr-defined]
        return function

    return mark
