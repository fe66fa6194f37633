"""A chain of (in)equalities: each link with its equation number, relation and stated reason.

Two questions are asked of a link, and answered separately: is the relation true on its whole domain
(obligation `valid`), and does it follow from the reason given (obligation `derived`)?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verify.methods.symbolic import rational_identity
from verify.statement import Check, Finding, Run, Statement

Question = Callable[[Any, Run], Finding]
_SIGN = re.compile(r"(?:^|(?<=\s))(<=|>=|!=|<|>|=)(?=\s)")
# "K = 1: the bound is ..." names a setting before it claims something.
_SETTING = re.compile(r"^[^:]*:\s")
_CLAUSE = re.compile(r"[,;]|(?:^|\s)(?:for|with|where|and|if|is|at)\s")


def relation(text: str) -> str:
    """The signs that a formula claims, in its order; "" where it claims something in words.

    >>> relation("I <= sum_(s < t) q^s = (1 - q^t)/(1 - q), t >= 1")
    '<=, ='
    """
    depth, flat = 0, ""
    for letter in text:
        depth += letter in "([{"
        flat += "x" if depth else letter
        depth -= letter in ")]}"
    claimed = _CLAUSE.split(_SETTING.sub("", flat))[0]
    return ", ".join(dict.fromkeys(_SIGN.findall(claimed)))


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
        reason: str = "",
    ) -> None:
        """Put a question to a declared equation; arguments as for `verify.statement.check`.

        reason: the argument, where the question's docstring does not give it.
        """
        forms: dict[str, Any] = {}
        if form is not None:
            forms["printed"] = form
        if correction is not None:
            forms["correction"] = correction
        forms.update(readings or {})
        number = sum(made.statement == statement for made in self.checks)
        declared = next(made for made in self.statements if made.id == statement)
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
                reason or question.__doc__ or "",
                {
                    "printed": relation(declared.printed),
                    "correction": relation(declared.correction or ""),
                },
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
            mutants=mutants, reason=reason,
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
