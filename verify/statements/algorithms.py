"""Algorithms 1 and 2: what they do is definition; that their conventions fit is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy as sp

from empirical.simulate import FAULTS
from verify.methods.enclosure import Formulas, exact_point
from verify.methods.neutral import neutral
from verify.methods.statistical import Literal, follows_the_law
from verify.methods.symbolic import all_hold, identity
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "alg-1",
        printed="theta_k^(j+1) = theta_k^j - eta g(theta_k^j; B_k^j) + sqrt(2 eta sigma^2) N, "
        "g the mean gradient over the b records of the batch; a partition drawn once, or b of n "
        "indices drawn afresh at every update",
        definition=True,
        reading="the start may have any law; where b does not divide n the partition drops the "
        "last records (footnote 3)",
    ),
    Statement(
        "alg-2",
        printed="g_0 = (1/b) sum over the batch of grad ell(theta; x_i)/|grad ell_0(theta; x_i)| "
        "min(|grad ell_0(theta; x_i)|, Sg/2); g = g_0 + lambda theta; theta <- theta - eta g + "
        "eta (1/b) sigma_mul (Sg/2) N(0, I)",
        definition=True,
        severity="misprint",
        rests_on=("alg-1",),
        reading="ell is the training loss, which in Section 5 is the regularised one (7); a zero "
        "gradient or feature, where a quotient is 0/0, stays zero (a gradient is zero only for one "
        "class); N(0, I_d) has the dimension of theta, which is (d + 1) c",
        finding="The clipping line divides by the norm of grad ell_0 but scales grad ell. With the "
        "regularised loss a record's clipped gradient can exceed the clip norm without bound, and "
        "the next line adds lambda theta once more; Propositions 5.2 and F.2 scale grad ell_0.",
        correction="the same with grad ell_0(theta; x_i) in the numerator",
    ),
)


SIMULATED = Literal(("shuffle-once", "without-replacement"))


@dataclass(frozen=True)
class Update:
    """One update: shift(eta, S, b), how far a replaced record moves it; variance(eta, sigma2)."""

    shift: Callable[[Any, Any, Any], Any]
    variance: Callable[[Any, Any], Any]


UPDATE = Update(lambda eta, s, b: eta * s / b, lambda eta, s2: 2 * eta * s2)


@check(
    "alg-1", "well-posed", "symbolic",
    form=UPDATE,
    part="noise",
    mutants={
        "gradient summed, not averaged": replace(UPDATE, shift=lambda eta, s, b: eta * s),
        "noise of variance eta sigma^2": replace(UPDATE, variance=lambda eta, s2: eta * s2),
        "noise multiplied by the step": replace(
            UPDATE, variance=lambda eta, s2: 2 * eta**2 * s2
        ),
    },
)  # fmt: skip
def one_update_has_divergence_alpha_a(form: Update, run: Run) -> Finding:
    """alpha shift^2/(2 variance) = alpha eta Sg^2/(4 sigma^2 b^2), as everything later uses."""
    alpha, eta, s, b, s2 = sp.symbols("alpha eta S_g b sigma2", positive=True)
    value = alpha * form.shift(eta, s, b) ** 2 / (2 * form.variance(eta, s2))
    return identity(
        value, lambda: alpha * eta * s**2 / (4 * s2 * b**2), "all parameters",
        "the Gaussian mechanism of one update", seed=run.seed,
    )  # fmt: skip


def _partition(order: tuple[int, ...], b: int) -> list[tuple[int, ...]]:
    return [order[i * b : (i + 1) * b] for i in range(len(order) // b)]


@check(
    "alg-1", "well-posed", "counting, every order of up to six records",
    form=_partition,
    part="batches",
    mutants={
        "overlapping batches": lambda order, b: [
            order[i : i + b] for i in range(len(order) // b)
        ],
        "a short last batch": lambda order, b: [
            order[i : i + b] for i in range(0, len(order), b)
        ],
        "not shuffled": lambda order, b: _partition(tuple(sorted(order)), b),
    },
)  # fmt: skip
def partitions_are_partitions(form: Callable[..., Any], run: Run) -> Finding:
    """floor(n/b) disjoint batches of b, each holding a given record with probability b/n."""
    for n, b in ((4, 2), (5, 2), (6, 3)):
        size = n // b
        hits = [0] * size
        orders = list(permutations(range(n)))
        for order in orders:
            batches = form(order, b)
            flat = [i for batch in batches for i in batch]
            if (
                len(batches) != size
                or any(len(batch) != b for batch in batches)
                or len(set(flat)) != len(flat)
            ):
                return Finding(
                    "fails", "point", "small partitions", f"n = {n}, b = {b}: {batches}",
                    certificate={"kind": "point", "parameters": {"n": str(n), "b": str(b)},
                                 "left": [str(len(set(flat)))] * 2, "right": [str(size * b)] * 2,
                                 "relation": "="},
                )  # fmt: skip
            for j, batch in enumerate(batches):
                hits[j] += 0 in batch
        shares = {Fraction(hit, len(orders)) for hit in hits}
        if shares != {Fraction(b, n)}:
            return Finding(
                "fails", "point", "small partitions",
                f"n = {n}, b = {b}: a record falls into the batches with probabilities {hits}",
                certificate={"kind": "point", "parameters": {"n": str(n), "b": str(b)},
                             "left": [str(min(shares))] * 2, "right": [str(Fraction(b, n))] * 2,
                             "relation": "="},
            )  # fmt: skip
    return Finding(
        "holds", "point", "every order of 4, 5 and 6 records",
        "floor(n/b) disjoint batches of b, each holding a record with probability b/n",
        certificate={"kind": "points", "count": 864},
    )  # fmt: skip


@check(
    "alg-2", "well-posed", "symbolic",
    form=lambda eta, b, mul, s: (eta / b * mul * s / 2) ** 2,
    correction=lambda eta, b, mul, s: (eta / b * mul * s / 2) ** 2,
    part="noise",
    mutants={
        "noise relative to Sg, not Sg/2": lambda eta, b, mul, s: (eta / b * mul * s) ** 2,
        "noise on the sum": lambda eta, b, mul, s: (eta * mul * s / 2) ** 2,
    },
)  # fmt: skip
def noise_translates(form: Callable[..., Any], run: Run) -> Finding:
    """Its noise is Algorithm 1's with sigma = sqrt(eta/2) sigma_mul Sg/(2b); A = 2/sigma_mul^2."""
    eta, b, mul, s = sp.symbols("eta b M S_g", positive=True)
    s2 = eta / 2 * (mul * s / (2 * b)) ** 2
    return all_hold([
        identity(lambda: form(eta, b, mul, s), lambda: 2 * eta * s2, "all parameters",
                 "variance of an update under Section F.1's sigma", seed=run.seed),
        identity(lambda: eta * s**2 / (4 * s2 * b**2), lambda: 2 / mul**2, "all parameters",
                 "A = 2/sigma_mul^2", seed=run.seed),
    ])  # fmt: skip


def _clipped_square(form: Callable[..., Any]) -> tuple[str, str]:
    """Squared norm of the clipped gradient and squared clip norm h^2, biases t, as formulas."""
    lost, t, half = sp.symbols("lambda t h", positive=True)
    plain = [sp.Rational(-1, 2), sp.Rational(1, 2)]
    scale2 = sp.Min(1, half**2 / sum(x * x for x in plain))
    size2 = sum(x * x for x in form(plain, [x + lost * t for x in plain]))
    claimed, most = neutral(scale2 * size2, half**2)
    return claimed, most


@check(
    "alg-2", "well-posed", "exact witness",
    form=lambda plain, regular: regular,
    correction=lambda plain, regular: plain,
    part="clipping",
    mutants={"twice the gradient": lambda plain, regular: [2 * x for x in plain]},
)  # fmt: skip
def clipped_gradients_are_clipped(form: Callable[..., Any], run: Run) -> Finding:
    """|clipped gradient| <= Sg/2 for one record, in squares so that all is rational.

    Two classes, feature x = 0, so that the augmented feature is (0, 1): with both biases t the
    probabilities are 1/2 and grad ell_0 = (-1/2, 1/2) on the biases, with squared norm 1/2;
    grad ell adds lambda t to both. The gradients are scaled by min(1, (Sg/2)/|grad ell_0|).
    """
    lost, t = Fraction(1), Fraction(1)
    plain = [Fraction(-1, 2), Fraction(1, 2)]
    regular = [x + lost * t for x in plain]
    square = sum((x * x for x in plain), start=Fraction(0))
    domain = "two classes, one feature, lambda = 1"
    for half in (Fraction(1), Fraction(1, 2)):
        scale2 = min(Fraction(1), half**2 / square)
        got = scale2 * sum((x * x for x in form(plain, regular)), start=Fraction(0))
        if got > half**2:
            return Finding(
                "fails", "point", domain,
                f"feature 0, both biases 1, lambda = 1, clip norm Sg/2 = {half}: the squared norm "
                f"after clipping is {got}, above {half**2}",
                certificate=exact_point(
                    Formulas(*_clipped_square(form), {"lambda": lost, "t": t, "h": half}),
                    got, half**2, "<="),
            )  # fmt: skip
    return Finding("holds", "point", domain, "squared norms after clipping are at most (Sg/2)^2",
                   certificate={"kind": "points", "count": 2})  # fmt: skip


@check(
    "alg-1", "valid", "simulation, Kolmogorov-Smirnov at one family-wise level",
    form=SIMULATED,
    part="law",
    mutants={title: replace(SIMULATED, fault=fault) for title, fault in FAULTS.items()},
)  # fmt: skip
def simulation_follows_the_law(form: Literal, run: Run) -> Finding:
    """Batches drawn one by one under both schemes of Algorithm 1, against the laws as derived."""
    return follows_the_law(form, run)
