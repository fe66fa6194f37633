"""Inequalities put to Hypothesis: a counterexample is shrunk, then certified by balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bounds.setting import Setting
from verify.statement import Finding, Run


class Counterexample(AssertionError):
    """A drawn point at which the property fails."""


def fractions(low: str, high: str) -> st.SearchStrategy[Fraction]:
    """Short fractions in a closed range, simple ones first."""
    return st.fractions(Fraction(low), Fraction(high), max_denominator=1000)


@st.composite
def small_settings(
    draw: Any, *, full_batch: bool = False, most_batches: int = 12, most_epochs: int = 40
) -> Setting:
    """Settings of Algorithm 1 under eta < 2/(lambda + beta), corners included.

    Batches are often 2 or 3, epochs often 1, eta lambda close to 0 and to its limit.
    """
    b = draw(st.integers(1, 4))
    batches = (
        1 if full_batch else draw(st.one_of(st.sampled_from((2, 3)), st.integers(2, most_batches)))
    )
    spare = 0 if full_batch else draw(st.integers(0, b - 1))
    ratio = draw(st.one_of(st.just(Fraction(1)), fractions("1", "100")))
    close = draw(st.one_of(st.sampled_from((Fraction(1, 10**9), 1 - Fraction(1, 10**6))),
                           fractions("1/1000", "999/1000")))  # fmt: skip
    limit = Fraction(1) / ratio if full_batch else 2 / (1 + ratio)
    alpha = 1 + draw(st.one_of(st.sampled_from((Fraction(1, 10**6), Fraction(999))),
                               fractions("1/100", "60")))  # fmt: skip
    return Setting(
        n=b * batches + spare, b=b, epochs=draw(st.one_of(st.just(1), st.integers(1, most_epochs))),
        eta=close * limit, lambda_=Fraction(1), beta=ratio, sensitivity=Fraction(1),
        sigma2=draw(fractions("1/100", "100")), alpha=alpha,
        position=None if draw(st.booleans()) else draw(st.integers(0, batches - 1)),
    )  # fmt: skip


def try_to_break(
    strategy: st.SearchStrategy[Any],
    holds: Callable[[Any], bool],
    run: Run,
    *,
    domain: str,
    what: str,
    examples: int | None = None,
    certify: Callable[[Any], Finding] | None = None,
) -> Finding:
    """Search for a counterexample; none found is `supported` evidence, never a proof.

    A shrunk counterexample goes to `certify`, whose point evidence takes its place.
    """
    found: list[Any] = []
    count = examples or run.examples

    @seed(run.seed)
    @settings(
        max_examples=count, database=None, deadline=None, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip
    @given(strategy)
    def trial(point: Any) -> None:
        if not holds(point):
            found.append(point)
            raise Counterexample

    try:
        trial()
    except Counterexample:
        if certify is not None:
            return certify(found[-1])
        return Finding("fails", "sampled", domain, f"{what}: fails at {found[-1]}")
    return Finding("holds", "sampled", domain, f"{what}: no counterexample in {count} draws")
