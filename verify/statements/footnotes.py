"""Footnotes 2 to 5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from bounds.arith.ball import precision
from bounds.bound import find
from bounds.setting import Setting
from verify.methods import formulas
from verify.methods.enclosure import BITS, Formulas, ball, compare
from verify.methods.symbolic import all_hold, identity
from verify.methods.truth import Claim, Truth, above_the_truth
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "fn-2",
        printed="the concurrent Corollary 3.3 is like Theorem 2.1 but assumes for a mixture the "
        "log-Sobolev constant of its components",
        cited=True,
        rests_on=("txt-c-difference",),
        reading="the difference is n^2 for b^2 (Appendix C); what can be checked of the objection "
        "is that a mixture does not keep its components' constant. The footnote places the "
        "assumption in Lemma 3.4 of that work, Appendix C in Lemma 3.3 and Lemma 3.4",
    ),
    Statement(
        "fn-3",
        printed="if n/b is not an integer and the last n - floor(n/b) b records are ignored, the "
        "bound holds with floor(n/b) for n/b",
        rests_on=("thm-3.3", "thm-4.2"),
        reading='"shuffle and partition", the records ignored being those last in the random order',
    ),
    Statement(
        "fn-4",
        printed="the second term of (5) is computed as eps_0^1 + log Avg over j0 of "
        "exp((alpha-1)(eps_0^(n/b-j0)(alpha) - eps_0^1(alpha)))",
        rests_on=("eq-005",),
        severity="misprint",
        reading="as printed, without a factor before the logarithm",
        finding="The factor 1/(alpha-1) before the logarithm is missing, so that for alpha > 2 the "
        "expression falls below the second term of (5). At the caption's own parameters it is "
        "negative, which no Renyi bound can be: who copies it reports too little privacy loss.",
        correction="the second term of (5) equals eps_0^1 + log(Avg over j0 of "
        "exp((alpha-1)(eps_0^(n/b-j0) - eps_0^1)))/(alpha-1), exactly and not approximately",
    ),
    Statement(
        "fn-5",
        printed="separating an epoch into two halves is for obtaining a small bound at convergence",
        rests_on=("eq-101", "eq-104"),
        reading="among all splits m = 1, ..., l - 1, the half m = floor(l/2) makes the limit of "
        "the recursion (101) with (104) smallest. For the printed bound (3), which drops a factor "
        "q^(l-m), it is not the smallest; see the other reading",
    ),
)


QUOTED = find("ryffel_2022")


def wider(p: Any, ctx: Any) -> Any:
    """The quoted bound with b^2 in place of n^2."""
    return QUOTED.epsilon(p, ctx) * p.n**2 / p.b**2


@check(
    "fn-2", "restated", "exact variance against a log-Sobolev constant",
    form=lambda mean, variance: variance + mean**2,
    mutants={
        "a mixture of equal components": lambda mean, variance: variance,
    },
)  # fmt: skip
def mixing_lowers_the_constant(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """The even mixture of N(-1, 1) and N(1, 1) has variance 2, so no constant above 1/2.

    A log-Sobolev inequality with constant c implies variance at most 1/c (linearise at g = 1).
    """
    mean, variance = Fraction(1), Fraction(1)
    spread = form(mean, variance)
    with precision(BITS):
        found = compare(
            ball(1 / variance), 1 / ball(spread),
            parameters={"mean": mean, "component variance": variance}, relation="<=",
            domain="even mixtures of two Gaussians",
            what="component constant against the largest that the mixture's variance allows",
        )  # fmt: skip
    if found.outcome == "holds":
        return replace(found, outcome="fails", detail=f"no drop: {found.detail}")
    return replace(
        found, outcome="holds",
        detail=f"{found.detail}; the mixture has a smaller constant than its components",
    )  # fmt: skip


@check(
    "fn-2", "restated", "symbolic",
    form=lambda n, b: b**2 / n**2,
    mutants={"b/n": lambda n, b: b / n},
    part="difference",
)  # fmt: skip
def differs_by_the_batch_size(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """n^2 in place of b^2 divides Theorem 2.1 by (n/b)^2."""
    n, b, front = sp.symbols("n b F", positive=True)
    return identity(
        lambda: front / n**2, lambda: front / b**2 * form(n, b), "all n and b",
        "the quoted bound is Theorem 2.1 times (b/n)^2", seed=run.seed,
    )  # fmt: skip


@check(
    "fn-3", "valid", "symbolic",
    form=lambda mean, share: share * mean + (1 - share),
    mutants={
        "a dropped record as exposed as the mean squared": lambda mean, share: share * mean
        + (1 - share) * mean**2,
        "dropped records at no share": lambda mean, share: mean + (1 - share),
    },
)  # fmt: skip
def dropping_only_helps(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """With l = floor(n/b), a record is in one of the l batches with probability s = l b/n <= 1.

    Given that it is in a batch, each is equally likely and Theorem 3.3 applies with l batches. If
    it is dropped the two runs agree, exp((alpha-1) R_alpha) = 1. The mean s M + 1 - s is below M,
    the average over batches, by (1 - s)(M - 1) >= 0.
    """
    mean, share = sp.symbols("M s", positive=True)
    return identity(
        mean - form(mean, share), (1 - share) * (mean - 1),
        "every n, b with floor(n/b) >= 2", "dropping lowers the mean by (1 - s)(M - 1)",
        seed=run.seed,
    )  # fmt: skip


@dataclass(frozen=True)
class Shifted:
    """The shifted evaluation: eps_0^1 + weight(alpha) log(mean of exponentials)."""

    weight: Callable[[Any], Any]
    shift: Callable[[Any, Any], Any] = lambda value, first: value - first


@check(
    "fn-4", "valid", "balls at the caption's parameters and at small ones",
    form=Shifted(lambda alpha: alpha / alpha),
    correction=Shifted(lambda alpha: 1 / (alpha - 1)),
    mutants={
        "factor 1/alpha": Shifted(lambda alpha: 1 / alpha),
        "no shift back": Shifted(lambda alpha: 1 / (alpha - 1), lambda value, first: value),
    },
)  # fmt: skip
def shifted_evaluation(form: Shifted, run: Run) -> Finding:
    """Against log(Avg exp((alpha-1) eps_0^j))/(alpha-1), symbolically, and at two settings.

    With X = exp((alpha-1) eps_0^1) and y_j = exp((alpha-1)(eps_0^j - eps_0^1)), Avg exp((alpha-1)
    eps_0^j) = X Avg y_j, whose logarithm over alpha - 1 is eps_0^1 + log(Avg y_j)/(alpha-1).
    """
    alpha, first, second = sp.symbols("alpha e_1 e_2", positive=True)
    logarithm = sp.Symbol("log_mean", real=True)
    moved = identity(
        form.weight(alpha) * logarithm, logarithm / (alpha - 1), "every alpha > 1",
        "the weight of the logarithm is 1/(alpha-1)", seed=run.seed,
    )  # fmt: skip
    shifted = identity(
        form.shift(second, first), second - first, "every alpha > 1",
        "exponents are shifted by eps_0^1", seed=run.seed,
    )  # fmt: skip
    if moved.outcome == "holds" and shifted.outcome == "holds":
        return all_hold([moved, shifted])
    small = Setting.of(n=2, b=1, eta=1, lambda_="1/2", beta=1, sensitivity=2, sigma2=3, alpha=3)
    caption = Setting.of(n=50, b=2, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
                         alpha=10)  # fmt: skip
    with precision(BITS):
        claims = []
        for setting in (small, caption):
            assert setting.alpha is not None
            order = ball(setting.alpha)
            q = (1 - setting.eta_lambda) ** 2
            shares = [
                ball(setting.alpha * setting.rate * q ** (j - 1) * (1 - q) / (1 - q**j))
                for j in range(1, setting.batches + 1)
            ]
            size = setting.batches
            terms = [((order - 1) * form.shift(e, shares[0])).exp() for e in shares]
            claimed = shares[0] + form.weight(order) * (sum(terms) / size).log()
            direct = (sum(((order - 1) * e).exp() for e in shares) / size).log() / (order - 1)
            claims.append((setting, direct, claimed))
        setting, direct, claimed = claims[0]
        found = compare(direct, claimed, parameters=setting.known(), relation="=",
                        domain="every alpha > 1",
                        what="second term of (5) against the footnote",
                        formulas=_second_term_written(setting))  # fmt: skip
        ends = flint.arb(claims[1][2]).str(6, radius=False)
    return replace(found, detail=f"{found.detail}; at the caption's parameters it gives {ends}")


def _second_term_written(setting: Setting) -> Formulas:
    """The second term of (5), and as the footnote prints it, without 1/(alpha-1)."""
    own, first = formulas.share("j"), formulas.share("1")
    return Formulas(
        formulas.named(formulas.SECOND),
        formulas.named(
            f"alpha*{first} + log(sum(j, 1, l, exp((alpha - 1)*alpha*({own} - {first})))/l)"
        ),
        formulas.values(setting),
    )


def _recursion_limit(q: Any, m: Any, size: Any) -> Any:
    """Limit over A of (101) with (104): E_m rho/(1 - rho), rho = q^(l-m)."""
    return q ** (size - 1) * (1 - q) / ((1 - q**m) * (1 - q ** (size - m)))


def _printed_limit(q: Any, m: Any, size: Any) -> Any:
    """Limit over A of the first term of (3): E_m/(1 - rho)."""
    return q ** (m - 1) * (1 - q) / ((1 - q**m) * (1 - q ** (size - m)))


@dataclass(frozen=True)
class Halving:
    """A limit as a function of the split, and the split that is claimed to be best."""

    limit: Callable[[Any, Any, Any], Any]
    split: Callable[[int], int]


HALVING = Halving(_recursion_limit, lambda size: size // 2)


@check(
    "fn-5", "valid", "symbolic, by convexity of q^x",
    form=HALVING,
    readings={
        "for the printed bound (3)": replace(HALVING, limit=_printed_limit),
    },
    mutants={
        "split after one batch": replace(HALVING, split=lambda size: 1),
        "a limit that grows with the split": replace(
            HALVING, limit=lambda q, m, size: m * _recursion_limit(q, m, size)
        ),
    },
)  # fmt: skip
def halves_are_best(form: Halving, run: Run) -> Finding:
    """(1-q^m)(1-q^(l-m)) = 1 + q^l - (q^m + q^(l-m)) is largest at the half.

    For m < h = floor(l/2), q^m + q^(l-m) - q^h - q^(l-h) = q^m (1 - q^(h-m)) (1 - q^(l-h-m)) >= 0,
    since l - h - m >= 0; splits above the half mirror those below.
    """
    for size in range(2, 9):
        for q in (Fraction(1, 2), Fraction(1, 10), Fraction(99, 100)):
            half = form.split(size)
            for m in range(1, size):
                at_half, other = form.limit(q, half, size), form.limit(q, m, size)
                if other < at_half:
                    return Finding(
                        "fails", "point", "every split of an epoch",
                        f"n/b = {size}, (1 - eta lambda)^2 = {q}: the split m = {m} has the limit "
                        f"{other} A, below {at_half} A at m = {half}",
                        certificate={
                            "kind": "point", "parameters": {"n/b": str(size), "q": str(q),
                                                            "m": str(m)},
                            "left": [str(at_half)] * 2, "right": [str(other)] * 2,
                            "relation": "<=",
                        },
                    )  # fmt: skip
    low, gap, rest = sp.symbols("Q_m Q_gap Q_rest", positive=True)
    # q^m = low, q^(h-m) = gap, q^(l-h-m) = rest, hence q^h = low gap and q^(l-h) = low rest,
    # and q^(l-m) = low gap rest.
    difference = (low + low * gap * rest) - (low * gap + low * rest)
    product = identity(
        difference, low * (1 - gap) * (1 - rest), "every n/b >= 2 and split, 0 < q < 1",
        "q^m + q^(l-m) exceeds q^h + q^(l-h) by q^m (1 - q^(h-m))(1 - q^(l-h-m))", seed=run.seed,
    )  # fmt: skip
    q, size, m = sp.symbols("q l m", positive=True)
    whole = 1 + q**size - (q**m + q ** (size - m))
    shape = identity(
        1 / form.limit(q, m, size) * q ** (size - 1) * (1 - q), whole,
        "every n/b >= 2 and split", "the limit is q^(l-1) (1-q)/(1 + q^l - (q^m + q^(l-m)))",
        seed=run.seed,
    )  # fmt: skip
    return all_hold([product, shape])


@check(
    "fn-2", "valid", "exact laws of quadratics, enclosed",
    form=None,
    readings={"the quoted bound itself": QUOTED.epsilon, "with b^2, as Theorem 2.1": wider},
    part="quoted bound",
    mutants={"half of the quoted bound": lambda p, ctx: QUOTED.epsilon(p, ctx) / 2},
)  # fmt: skip
def quoted_bound_against_the_truth(form: Callable[..., Any], run: Run) -> Finding:
    """The concurrent bound as quoted, against sampling without replacement on a quadratic.

    It falls below the exact divergence, as the objection says that it might; Theorem 2.1's value,
    with b^2 in place of n^2, does not here.
    """
    setting = Setting.of(n=2, b=1, epochs=1, eta=1, lambda_="1/2", beta="1/2", sensitivity=2,
                         sigma2=1, alpha=2)  # fmt: skip
    claim = Claim(QUOTED, form, truths=(Truth("without-replacement", "1/2"),))
    return above_the_truth(
        claim, [setting],
        "n = 2, b = 1, K = 1, eta = 1, lambda = beta = 1/2, S_g = 2, sigma^2 = 1, order 2",
    )  # fmt: skip
