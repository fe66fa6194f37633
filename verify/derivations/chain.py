"""A chain of (in)equalities: each link with its equation number, relation and stated reason.

Two questions are asked of a link, and answered separately: is the relation true on its whole domain
(obligation `valid`), and does it follow from the reason given (obligation `derived`)?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verify.methods.symbolic import rational_identity
from verify.statement import Check, Finding, Run, Statement

Question = Callable[[Any, Run], Finding]


class Chain:
    """Collects the links of one chain; a module of `verify.derivations` holds it as CHAIN.

    domain: where the links are claimed, in words.
    """

    def __init__(self, name: str, domain: str) -> None:
        self.name = name
        self.domain = domain
        self.statements: list[Statement] = []
        self.checks: list[Check] = []

    def declare(self, statement: str, printed: str, **about: Any) -> None:
        """Declare what an equation prints; `about` as for `Statement`."""
        self.statements.append(Statement(statement, printed, **about))

    def ask(
        self,
        statement: str,
        obligation: str,
        method: str,
        question: Question,
        *,
        mutants: Mapping[str, Any],
        form: Any = None,
        correction: Any = None,
        readings: Mapping[str, Any] | None = None,
        part: str = "",
        limit: float = 60.0,
    ) -> None:
        """Put a question to a declared equation; arguments as for `verify.statement.check`."""
        forms: dict[str, Any] = {}
        if form is not None:
            forms["printed"] = form
        if correction is not None:
            forms["correction"] = correction
        forms.update(readings or {})
        number = sum(made.statement == statement for made in self.checks)
        self.checks.append(
            Check(
                statement,
                f"{self.name}.{statement}.{obligation}.{number}",
                obligation,
                method,
                question,
                forms,
                dict(mutants),
                part,
                limit,
                question.__doc__ or "",
            )
        )

    def identity(
        self,
        statement: str,
        printed: str,
        form: Any,
        *,
        mutants: Mapping[str, Any],
        reason: str,
        correction: Any = None,
        **about: Any,
    ) -> None:
        """An equation whose two sides agree identically, for the reason stated.

        form (and mutants, correction): the difference of the two sides, as a sympy expression or a
        list of such for a chain of equal signs. Zero is settled by polynomial arithmetic and at
        random points, so the identity is true and follows by algebra from the definitions put in.
        """
        self.declare(statement, printed, **about)

        def vanishes(differences: Any, run: Run) -> Finding:
            """The two sides agree identically."""
            return self.zero(differences, reason, run)

        self.ask(
            statement, "valid", "symbolic identity", vanishes, form=form, correction=correction,
            mutants=mutants,
        )  # fmt: skip

    def zero(self, differences: Any, what: str, run: Run) -> Finding:
        """Whether an expression, or every one of several, vanishes identically."""
        listed: Sequence[Any] = (
            differences if isinstance(differences, list | tuple) else [differences]
        )
        found = None
        for difference in listed:
            found = rational_identity(difference, self.domain, what, seed=run.seed)
            if found.outcome != "holds":
                return found
        assert found is not None
        return found
