"""Corollary 5.3 itself: a data set with three classes on which its bound is too small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from bounds.arith.ball import Ball, precision
from bounds.bound import bind, find
from bounds.paper.fixed_order import earlier_epochs
from bounds.setting import Setting, show
from verify.methods.enclosure import ball, rounded
from verify.methods.slow_direction import BITS, CLASSES, Estimates, Problem, estimate
from verify.methods.symbolic import Equation, all_hold, rational_identity
from verify.statement import Finding, Run, check

F = Fraction
ORDER = 2
MANY = 10**10
# Features and labels of a hundred records, one of which is replaced besides: found by searching
# for a stationary point of the mean clipped gradient whose Jacobian has an eigenvalue well below
# lambda, then rounded.
WITNESS = Problem(
    shared=(
        ((F(9, 5), 0), 39 * MANY),
        ((F(18, 5), 2), 21 * MANY),
        ((F(-18, 5), 0), 14 * MANY),
        ((F(-3, 5), 1), 10 * MANY),
        ((F(2, 5), 2), 16 * MANY),
    ),
    first=(F(9, 5), 0),
    second=(F(3, 2), 2),
    clip=F(1, 10),
    decay=F(44, 10**4),
    step=F(1, 10**40),
    noise=F(11 * 10**9),
    epochs=10**33,
    radius=F(1, 5 * 10**6),
    guess=((0.93, 0.50), (-0.86, -0.31), (-0.07, -0.19)),
)


def setting_of(problem: Problem) -> Setting:
    """The run in the paper's parameters; beta is the smoothness of the regularised loss."""
    decay = problem.decay * problem.clip
    return Setting.of(
        n=problem.n, b=1, epochs=problem.epochs, eta=problem.step / problem.clip, lambda_=decay,
        beta=problem.smoothness + decay, sensitivity=2 * problem.clip, alpha=ORDER,
    ).with_noise_multiplier(problem.noise)  # fmt: skip


def printed_claim(problem: Problem) -> Any:
    """A ball whose upper end is at least the right side of (12), at order 2.

    The average in the second term is over x_j <= x_1/j with x_1 <= 1, where e^x - 1 <= x (1 + x),
    and 1 + 1/2 + ... + 1/n <= 1 + log n.
    """
    p = bind(find("cor-5.3").check(setting_of(problem)), Ball(BITS))
    top = p.alpha_minus_one * p.alpha * p.rate
    if not top <= 1:
        raise ValueError("the estimate of the second term wants (alpha - 1) eps_0^1 <= 1")
    second = top * (1 + top) * (1 + flint.arb(problem.n).log()) / problem.n
    return p.alpha * earlier_epochs(p, Ball) + second / p.alpha_minus_one


def mended_claim(problem: Problem) -> Any:
    """None where the corrected corollary does not apply, which is where q >= 1."""
    given = setting_of(problem)
    assert given.eta is not None and given.lambda_ is not None
    smooth = problem.smoothness
    square = contraction(1 - given.eta * given.lambda_, given.eta, smooth)
    if given.eta * (given.lambda_ + smooth) < 1 and square < 1:
        raise ValueError("q < 1: the corrected bound applies and wants evaluating")


def contraction(c: Any, eta: Any, beta: Any) -> Any:
    """q^2, the squared Lipschitz constant of a clipped update; c = 1 - eta lambda."""
    return c**2 * (1 + eta * beta / (4 * (c - eta * beta)))


def _short(x: int | Fraction) -> str:
    """An exact number as a short decimal with an exponent, if it is one."""
    plain = (Decimal(Fraction(x).numerator) / Decimal(Fraction(x).denominator)).normalize()
    return str(plain) if Fraction(plain) == x else str(x)


def _pairs(rows: Iterable[Iterable[int | Fraction]]) -> list[str]:
    return [f"({', '.join(map(_short, row))})" for row in rows]


def certificate(problem: Problem, found: Estimates, claimed: Any) -> dict[str, Any]:
    """The witness in the paper's parameters, labels from 1, and the numbers that it comes to."""
    records = _pairs((x, label + 1) for (x, label), _ in problem.shared)
    return {
        "kind": "linearised",
        "parameters": {
            "n": str(problem.n), "b": "1", "K": _short(problem.epochs), "alpha": str(ORDER),
            "classes": str(CLASSES), "L": show(problem.largest_feature),
            "S_g": _short(2 * problem.clip), "lambda": _short(problem.decay * problem.clip),
            "eta": _short(problem.step / problem.clip), "sigma_mul": _short(problem.noise),
            "shared records": "; ".join(
                f"{pair} x {_short(count)}"
                for pair, (_, count) in zip(records, problem.shared, strict=True)
            ),
            "differing record": "; ".join(
                _pairs((x, label + 1) for x, label in (problem.first, problem.second))
            ),
            "start": "; ".join(_pairs(found.centre)),
        },
        "proof": {
            "radius": _short(problem.radius),
            "W": [[_short(v) for line in row for v in line] for row in found.turn],
        },
        "left": rounded(found.divergence),
        "right": rounded(claimed),
        "relation": "<=",
        "left is": "a lower bound of the divergence",
        "slow rate": rounded(found.rates[0]),
        "difference of means": rounded(found.gap),
        "standard deviation": rounded(found.spread),
        "error": rounded(found.error),
        "probability of leaving": rounded(found.escape),
    }  # fmt: skip


@check(
    "cor-5.3", "valid", "certified linearisation about a stationary point, balls",
    form=printed_claim,
    correction=mended_claim,
    mutants={
        "half of the bound": lambda problem: printed_claim(problem) / 2,
        "one epoch": lambda problem: printed_claim(replace(problem, epochs=1)),
        "order lost": lambda problem: printed_claim(problem) / ORDER,
    },
)  # fmt: skip
def above_the_truth_with_three_classes(form: Callable[[Problem], Any], run: Run) -> Finding:
    """Whether the bound is at least the divergence of order 2 on one data set of three classes.

    Where clipping acts on records of several kinds, the mean clipped gradient has a stationary
    point that attracts at a rate mu below lambda. As n grows and n^2 eta falls the law there
    becomes Gaussian, with a divergence that exceeds the quadratic one, which (12) meets in this
    limit, by (lambda/mu) times the square of half the component along the slow direction of the
    difference of the two records' clipped gradients, which are unit vectors: 3.16 times 0.67 here.
    The refutation follows from this limit alone, since the divergence is lower semicontinuous; the
    certificate makes it explicit, with counts, step and noise as extreme as its crude bounds on
    every error need. Normalisation is taken to leave the features alone (eps_norm = 0), and the
    clipping line of Algorithm 2 with grad ell_0.
    """
    domain = "one data set with three classes and one feature"
    with precision(BITS):
        claimed = form(WITNESS)
        if claimed is None:
            return Finding(
                "holds", "point", domain, "the corrected corollary does not apply to the witness",
                certificate={"kind": "points", "count": 1},
            )  # fmt: skip
        found = estimate(WITNESS)
        if not found.sound:
            lost = ", ".join(name for name, held in found.conditions.items() if not held)
            return Finding("undecided", "point", domain, f"not certified: {lost}")
        low = found.divergence.lower()
        shown = certificate(WITNESS, found, claimed)
        text = (
            f"the divergence of order {ORDER} is at least {float(low):.6g}, the bound at most "
            f"{float(claimed.upper()):.6g}; the slow direction contracts at "
            f"{float(found.rates[0]):.6g} Sg/2, lambda is {float(ball(WITNESS.decay)):.6g} Sg/2"
        )
        if low > claimed:
            return Finding("fails", "point", domain, text, certificate=shown)
        return Finding("undecided", "point", domain, text, certificate=shown)


@dataclass(frozen=True)
class Mended:
    """The Lipschitz constant of a clipped update, and the part that two classes lose.

    square(c, eta, beta): q^2 for any number of classes. product(p): an entry of (I - u u') T for
    two classes of probabilities p, 1 - p, which leaves 1 - eta lambda there. limit(lam, beta):
    what eta must be below for two classes.
    """

    square: Callable[[Any, Any, Any], Any]
    product: Callable[[Any], Any]
    limit: Callable[[Any, Any], Any]


def _product(p: Any) -> Any:
    """First entry of (I - u u') T, u = (-1, 1)/sqrt 2, T = p (1-p) (1, -1)(1, -1)'."""
    t = p * (1 - p)
    return t - sp.Rational(1, 2) * (t + t)


MENDED = Mended(contraction, _product, lambda lam, beta: 2 / (beta + 2 * lam))


@check(
    "cor-5.3", "derived", "symbolic",
    correction=MENDED,
    mutants={
        "an eighth for the quarter": replace(
            MENDED, square=lambda c, eta, beta: c**2 * (1 + eta * beta / (8 * (c - eta * beta)))
        ),
        "nothing lost": replace(MENDED, square=lambda c, eta, beta: c**2),
        "no projection": replace(MENDED, product=lambda p: p * (1 - p)),
        "step twice as long": replace(MENDED, limit=lambda lam, beta: 4 / (beta + 2 * lam)),
    },
)  # fmt: skip
def clipped_updates_contract_by_q(form: Mended, run: Run) -> Finding:
    """|J v| <= q |v| for J = c I - eta tau (I - u u') H, 0 <= H <= beta, 0 < tau <= 1, |u| = 1.

    Let |v| = 1, a = u'v, w = Hv, t = |w|, so that v'w >= t^2/beta. The reflection 2 a u - v has
    length |v|, hence 2 a u'w <= t + v'w (Buzano) and v'(I - u u')w >= (v'w - t)/2. Then |Jv|^2 <=
    c^2 + eta tau (c t - (c/beta - eta tau) t^2), at most c^2 + eta tau c^2/(4 (c/beta - eta tau)),
    which increases with tau; tau = 1 gives q^2 for eta beta < c. Unclipped, J = c I - eta H has
    norm c there. Means over a batch keep the constant, and Theorem 4.2's proof uses the maps
    through it alone. Two classes: (I - u u') T = 0, so J = c I where clipping acts, and |1 - eta
    (beta + lambda)| <= c elsewhere for eta <= 2/(beta + 2 lambda).
    """
    c, eta, beta, t, tau, lam, p = sp.symbols("c eta beta t tau lambda p", positive=True)
    half, v, w = sp.symbols("x v_1 v_2", real=True)
    # u and v span a plane; every unit vector of it but one is ((1 - x^2), 2 x)/(1 + x^2).
    u = ((1 - half**2) / (1 + half**2), 2 * half / (1 + half**2))
    along = u[0] * v + u[1] * w
    reflected = (2 * along * u[0] - v) ** 2 + (2 * along * u[1] - w) ** 2
    slope = c / beta - eta * tau
    bound = eta * tau * c**2 / (4 * slope)
    domain = "any number of classes, eta (lambda + beta) < 1; two classes, every step allowed"
    links = [
        (Equation(reflected - v**2, w**2), "|2 a u - v|^2 = |v|^2"),
        (Equation(bound - eta * tau * (c * t - slope * t**2),
         eta * tau * slope * (t - c / (2 * slope)) ** 2),
         "the quadratic in t is below its top by a square"),
        (Equation(c**2 + bound.subs(tau, 1), form.square(c, eta, beta)),
         "the top at tau = 1 is q^2"),
        (Equation(beta / (c - eta * beta) - tau * beta / (c - eta * tau * beta),
         c * beta * (1 - tau) / ((c - eta * beta) * (c - eta * tau * beta))),
         "it increases with tau"),
        (form.product(p), "two classes: (I - u u') T = 0"),
        (Equation(form.limit(lam, beta) * (beta + lam) - 1, 1 - form.limit(lam, beta) * lam),
         "at the step-size limit eta (beta + lambda) - 1 = 1 - eta lambda"),
    ]  # fmt: skip
    return all_hold(rational_identity(d, domain, what, seed=run.seed) for d, what in links)
