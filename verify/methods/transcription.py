"""Whether the library's formula is the printed formula, for any bound.

Exact rational arithmetic where the bound is rational, balls at 200 bits elsewhere, both at drawn
settings with the corners that a misreading would show at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from bounds.arith import NotRational
from bounds.arith.ball import Ball, precision
from bounds.arith.exact import Exact
from bounds.bound import Bound, bind
from bounds.setting import Setting
from verify.methods.properties import small_settings, try_to_break
from verify.statement import Finding, Run

BITS = 200


def same_formula(
    bound: Bound,
    epsilon: Callable[..., Any],
    run: Run,
    *,
    strategy: st.SearchStrategy[Setting] | None = None,
    what: str,
) -> Finding:
    """`epsilon` equals the bound's `printed` form at every drawn setting."""

    def same(setting: Setting) -> bool:
        made = replace(bound, epsilon=epsilon)
        try:
            return bool(
                made.in_system(setting, Exact) == bound.in_system(setting, Exact, printed=True)
            )
        except NotRational:
            with precision(BITS):
                p = bind(bound.check(setting), Ball(BITS))
                ours, theirs = epsilon(p, Ball), bound.printed(p, Ball)
                return bool(ours.overlaps(theirs)) and bool(
                    abs(ours - theirs) < abs(theirs) * Ball.number(2) ** (-BITS // 2)
                )

    return try_to_break(
        strategy if strategy is not None else small_settings(most_epochs=8), same, run,
        domain="drawn settings, exact or at 200 bits", what=what, examples=min(run.examples, 200),
    )  # fmt: skip
