"""Sections 5.1, F.2 and F.3: the logistic loss, its gradient, its Hessian and their bounds.

Two classes stand for any two, and all others are lumped together in the sum of their exponentials,
so that an identity found here holds for any number of classes; likewise two features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from verify.derivations.chain import Chain
from verify.methods.enclosure import Formulas, exact_point
from verify.methods.neutral import neutral
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.statement import Finding, Run
from verify.statements.logistic import PRINTED, Constants, variance_bounds_the_hessian

DOMAIN = "any number of classes, every theta and label, any |x| <= L"
CHAIN = Chain(__name__, DOMAIN)

# e_i = exp(xbar' theta_i) of class 1 and of class c, and what the others sum to; xbar; y one-hot.
E1, E2, REST, X1, X2 = sp.symbols("e_1 e_c R x_1 x_2", positive=True)
Y1, Y2 = sp.symbols("y_1 y_c", real=True)
# How many terms a denominator has whose first and last term are both e_c.
TERMS = sp.Symbol("m", positive=True)
EXPONENTIALS, LABELS, BAR = (E1, E2, REST), (Y1, Y2, 1 - Y1 - Y2), (X1, X2)
TOTAL = E1 + E2 + REST
P = (E1 / TOTAL, E2 / TOTAL)
# The logarithm of the other classes' own exponentials does not depend on class 1 or c.
LOSS = sp.log(TOTAL) - Y1 * sp.log(E1) - Y2 * sp.log(E2)


def by_logit(f: Any, i: int) -> Any:
    """Derivative in xbar' theta_i: the chain rule through e_i."""
    return EXPONENTIALS[i] * sp.diff(f, EXPONENTIALS[i])


def point(
    domain: str, text: str, parameters: dict[str, str], left: Any, right: Any, relation: str
) -> Finding:
    """A failure at one exact point."""
    certificate = {
        "kind": "point", "parameters": parameters, "left": [str(left)] * 2,
        "right": [str(right)] * 2, "relation": relation,
    }  # fmt: skip
    return Finding("fails", "point", domain, text, certificate=certificate)


def differ(domain: str, text: str, left: Any, right: Any, at: dict[Any, int]) -> Finding:
    """Two expressions that differ where their symbols have the values `at`."""
    ours, theirs, *names = neutral(left, right, *at)
    formulas = Formulas(ours, theirs, dict(zip(names, at.values(), strict=True)))
    certificate = exact_point(formulas, _value(left, at), _value(right, at), "=")
    return Finding("fails", "point", domain, text, certificate=certificate)


# --- (7), (165): the regularised loss; (8), (166): the logistic loss ------------------------------


def regulariser(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """In one coordinate t of theta: zero at 0, slope lambda t and curvature lambda.

    These are the lambda theta that Algorithm 2 and Proposition 5.2 add to the gradient, and the
    lambda I that they add to the Hessian.
    """
    lam, t = sp.symbols("lambda t", real=True)
    added = form(lam, t)
    return all_hold(
        rational_identity(difference, "every theta and lambda", what, seed=run.seed)
        for difference, what in (
            (added.subs(t, 0), "nothing is added at theta = 0"),
            (Equation(sp.Derivative(added, t), lam * t), "its gradient is lambda theta"),
            (Equation(lambda: sp.diff(added, t, 2), lam), "its Hessian is lambda I"),
        )
    )


@dataclass(frozen=True)
class Shares:
    """What stands for the probabilities of class 1 and of class c."""

    first: Any
    last: Any


SOFTMAX = Shares(*P)


def shares_are_probabilities(form: Shares, run: Run) -> Finding:
    """The fractions under the logarithms are positive and sum to 1, log-odds are the logits'.

    Hence the loss is minus the log-probability of the label, and not negative.
    """
    return all_hold(
        rational_identity(difference, DOMAIN, what, seed=run.seed)
        for difference, what in (
            (Equation(form.first + form.last + REST / TOTAL, 1), "the fractions sum to 1"),
            (
                Equation(lambda: form.first * E2, lambda: form.last * E1),
                "their ratios are those of the exponentials",
            ),
        )
    )


_NOT_SOFTMAX = {
    "first numerator in the last term": replace(SOFTMAX, last=E1 / TOTAL),
    "denominator of last exponentials": replace(SOFTMAX, last=E2 / (TERMS * E2)),
    "own exponential missing below": replace(SOFTMAX, first=E1 / (E2 + REST)),
}

for _id in ("eq-007", "eq-165"):
    CHAIN.declare(
        _id, "ell_lambda = ell_0 + (lambda/2) |theta|^2", definition=True,
        reading="theta holds the weights and the biases of all classes, and all are regularised",
    )  # fmt: skip
    CHAIN.ask(
        _id, "well-posed", "symbolic", regulariser, form=lambda lam, t: lam / 2 * t**2,
        mutants={
            "lambda |theta|^2": lambda lam, t: lam * t**2,
            "|theta| for its square": lambda lam, t: lam / 2 * t,
        },
    )  # fmt: skip
for _id in ("eq-008", "eq-166"):
    CHAIN.declare(
        _id,
        "ell_0 = -sum_i y^i log(e^(xbar' theta_i)/(e^(xbar' theta_1) + ... + e^(xbar' theta_c)))",
        definition=True,
        reading="labels are one-hot; x and xbar in plain type are the bold ones",
    )
    CHAIN.ask(_id, "well-posed", "symbolic", shares_are_probabilities, form=SOFTMAX,
              mutants=_NOT_SOFTMAX)  # fmt: skip


# --- (169), (170): the gradient -------------------------------------------------------------------

_SUBSCRIPTS = (
    "the subscripts as the text has them, where (8) and (173) have the right ones; a denominator "
    "that runs from e_c to e_c is one or several times e_c, and the finding is the same for both"
)


def _point(first: int, last: int, terms: int) -> dict[Any, int]:
    """Two classes with exponentials given and label c."""
    return {E1: first, E2: last, REST: 0, Y1: 0, Y2: 1, TERMS: terms}


def _at(expression: Any, first: int, last: int, terms: int) -> Fraction:
    """The value there."""
    return _value(expression, _point(first, last, terms))


def _value(expression: Any, at: dict[Any, int]) -> Fraction:
    value = sp.sympify(expression).subs(at)
    return Fraction(int(value.p), int(value.q))


def gradient_of_the_terms(form: Shares, run: Run) -> Finding:
    """The sum of -y^i grad log(fraction i) against the gradient of (8), logit by logit.

    The gradient in theta_i is the derivative in the logit times xbar on either side; a class other
    than the last is like the first, so one more stands for all. First two classes with theta = 0
    and label 2, then any.
    """
    written = (
        -LABELS[0] * sp.log(form.first) - LABELS[1] * sp.log(form.last)
        - LABELS[2] * sp.log(REST / TOTAL)
    )  # fmt: skip
    whole = sp.log(TOTAL) - sum(
        y * sp.log(e) for y, e in zip(LABELS, EXPONENTIALS, strict=True)
    )  # fmt: skip
    slopes = [(by_logit(written, i), by_logit(whole, i)) for i in range(3)]
    for got, right in slopes[:2]:
        values = [_at(got, 1, 1, terms) for terms in (1, 2)]
        true = _at(right, 1, 1, 1)
        if true not in values:
            return differ(
                "two classes, theta = 0, x = 0, label 2",
                f"theta = 0, x = 0, two classes, label 2: a coordinate of the gradient is {true}, "
                f"the terms as written give {values[1]}",
                got, right, _point(1, 1, 2),
            )  # fmt: skip
    return CHAIN.zero([Equation(got, right) for got, right in slopes], "term by term", run)


def gradient_blocks(form: Shares, run: Run) -> Finding:
    """(fraction i - y^i) xbar is the block of theta_i in the gradient of (8).

    First two classes with exponentials 1 and 2, then all.
    """
    blocks = [(form.first - Y1, by_logit(LOSS, 0)), (form.last - Y2, by_logit(LOSS, 1))]
    for got, right in blocks:
        values = [_at(got, 1, 2, terms) for terms in (1, 2)]
        true = _at(right, 1, 2, 1)
        if true not in values:
            return differ(
                "two classes, exponentials 1 and 2, x = 0, label 2",
                "x = 0, biases 0 and log 2, label 2: a coordinate of the gradient on the biases is "
                f"{true}, the block as written gives {values[1]} (or {values[0]} with one term)",
                got, right, _point(1, 2, 2),
            )  # fmt: skip
    return CHAIN.zero([Equation(got, right) for got, right in blocks], "p_i - y^i in logit i", run)


CHAIN.declare(
    "eq-169",
    "grad ell_0 = -sum_i y^i grad log(...), the last denominator e_c + ... + e_c",
    rests_on=("eq-008",),
    reading=_SUBSCRIPTS,
    severity="misprint",
    finding="The last denominator sums e^(xbar' theta_c) to e^(xbar' theta_c) where (8) sums from "
    "theta_1. As printed the last term is constant and a record of class c has gradient zero; the "
    "Hessian (173), (174) is that of the right gradient.",
    correction="the last denominator is e^(xbar' theta_1) + ... + e^(xbar' theta_c)",
)
CHAIN.ask(
    "eq-169", "valid", "exact witness; symbolic", gradient_of_the_terms,
    form=Shares(P[0], E2 / (TERMS * E2)), correction=SOFTMAX,
    mutants={
        "first numerator in the last term": replace(SOFTMAX, last=E1 / TOTAL),
        "own exponential missing below": replace(SOFTMAX, first=E1 / (E2 + REST)),
    },
)  # fmt: skip
CHAIN.declare(
    "eq-170",
    "grad ell_0 = ((p_1 - y^1) xbar', ..., (e_1/(e_c + ... + e_c) - y^c) xbar')",
    rests_on=("eq-169",),
    reading=_SUBSCRIPTS,
    severity="misprint",
    finding="The last block has e^(xbar' theta_1) above and e^(xbar' theta_c) to e^(xbar' theta_c) "
    "below, which is not the probability of class c. The blocks of the other classes are right, "
    "and so is the Hessian derived from them.",
    correction="the last block is (e^(xbar' theta_c)/(e^(xbar' theta_1) + ... + "
    "e^(xbar' theta_c)) - y^c) xbar'",
)
CHAIN.ask(
    "eq-170", "valid", "exact witness; symbolic", gradient_blocks,
    form=Shares(P[0], E1 / (TERMS * E2)), correction=SOFTMAX,
    mutants={
        "numerator of the first class alone": replace(SOFTMAX, last=E1 / TOTAL),
        "denominator of last exponentials alone": replace(SOFTMAX, last=E2 / (TERMS * E2)),
    },
)  # fmt: skip

# --- (172) to (177): the Hessian ------------------------------------------------------------------


def _second(i: int, a: int, j: int, b: int) -> Any:
    """Second derivative of ell_0 in coordinate a of theta_i and coordinate b of theta_j."""
    return BAR[a] * by_logit(BAR[b] * by_logit(LOSS, j), i)


_PLACES = [(i, a) for i in range(2) for a in range(2)]
# Classes outside, features inside, as theta = (theta_1, ..., theta_c) has them.
_HESSIAN = sp.Matrix(4, 4, lambda r, s: _second(*_PLACES[r], *_PLACES[s]))
_OUTER = sp.Matrix(2, 2, lambda a, b: BAR[a] * BAR[b])
_T = sp.Matrix(2, 2, lambda i, j: P[i] * (1 - P[i]) if i == j else -P[i] * P[j])


def _blocks(pairs: tuple[tuple[int, int], ...], entry: Callable[[int, int], Any]) -> list[Any]:
    """Blocks of the Hessian, and entry(i, j) xbar xbar'."""
    return [
        Equation(
            BAR[a] * EXPONENTIALS[i] * sp.Derivative(BAR[b] * by_logit(LOSS, j), EXPONENTIALS[i]),
            entry(i, j) * _OUTER[a, b],
        )
        for i, j in pairs for a in range(2) for b in range(2)
    ]  # fmt: skip


def _arranged(order: tuple[int, int], across: Any = 1) -> list[Any]:
    """The Hessian less the blocks H_ij in an order of the classes; `across` scales H_ij, i != j."""
    assembled = sp.Matrix(
        sp.BlockMatrix([
            [_T[i, j] * (1 if i == j else across) * _OUTER for j in order] for i in order
        ])
    )  # fmt: skip
    return list(_HESSIAN - assembled)


CHAIN.identity(
    "eq-172", "the Hessian of ell_0 in theta has the blocks H_ij, i, j = 1, ..., c",
    _arranged((0, 1)),
    mutants={"classes in reverse": _arranged((1, 0)), "transposed sign": _arranged((0, 1), -1)},
    reason="second derivatives of (8), the classes outside and the features inside",
    rests_on=("eq-173", "eq-174"),
    reading="block (i, j) differentiates in theta_i and theta_j",
)  # fmt: skip
CHAIN.identity(
    "eq-173", "H_ii = p_i (1 - p_i) xbar xbar'",
    _blocks(((0, 0), (1, 1)), lambda i, j: P[i] * (1 - P[i])),
    mutants={
        "p_i alone": _blocks(((0, 0),), lambda i, j: P[i]),
        "p_i^2": _blocks(((0, 0),), lambda i, j: P[i] ** 2),
    },
    reason="second derivative in the logit of one class",
    rests_on=("eq-008",),
)  # fmt: skip
CHAIN.identity(
    "eq-174", "H_ij = -p_i p_j xbar xbar' for i != j",
    _blocks(((0, 1), (1, 0)), lambda i, j: -P[i] * P[j]),
    mutants={
        "sign": _blocks(((0, 1),), lambda i, j: P[i] * P[j]),
        "zero": _blocks(((0, 1),), lambda i, j: 0),
    },
    reason="second derivative in the logits of two classes",
    rests_on=("eq-008",),
)  # fmt: skip
CHAIN.identity(
    "eq-176", "the Hessian of ell_0 is T (x) (xbar xbar')",
    list(_HESSIAN - sp.kronecker_product(_T, _OUTER)),
    mutants={
        "factors exchanged": list(_HESSIAN - sp.kronecker_product(_OUTER, _T)),
        "features without their product": list(
            _HESSIAN - sp.kronecker_product(_T, sp.diag(X1**2, X2**2))
        ),
    },
    reason="(172) with (173), (174): block (i, j) is T_ij xbar xbar'",
    rests_on=("eq-172", "eq-173", "eq-174", "eq-177"),
)  # fmt: skip
CHAIN.identity(
    "eq-177", "T_ii = p_i (1 - p_i), T_ij = -p_i p_j",
    [Equation(lambda i=i, j=j: by_logit(P[i], j), lambda i=i,
              j=j: _T[i, j]) for i in range(2) for j in range(2)],
    mutants={
        "sign": [by_logit(P[0], 1) + _T[0, 1]],
        "p_i on the diagonal": [Equation(by_logit(P[0], 0), P[0])],
    },
    reason="T is the Jacobian of the probabilities in the logits",
    rests_on=("eq-173", "eq-174"),
)  # fmt: skip

# --- (178): Boehning's bound ----------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """0 <= T <= half (I - ones/c 1 1')."""

    half: Any
    ones: Any


BOEHNING = Order(Fraction(1, 2), Fraction(1))


def softmax_covariance_order(form: Order, run: Run) -> Finding:
    """v'Tv is the variance of v under p, and at most (|v|^2 - (sum v)^2/c)/2.

    A constant added to v changes neither side, so let v sum to zero. With m <= v_i <= M the
    variance is at most (M - mu)(mu - m) <= ((M - m)/2)^2 <= (M^2 + m^2)/2 <= |v|^2/2 (one class:
    both sides are zero). First the two vectors for which no smaller right side would do.
    """
    for v, value in (((1, -1), Fraction(1)), ((1, 1), Fraction(0))):
        squares, total = sum(x * x for x in v), sum(v)
        allowed = form.half * (squares - form.ones * total**2 / 2)
        if value > allowed:
            return point(
                DOMAIN, f"p = (1/2, 1/2), v = {v}: v'Tv = {value} > {allowed}",
                {"p": "1/2, 1/2", "v": ", ".join(map(str, v))}, value, allowed, "<=",
            )  # fmt: skip
    v1, v2, a, mean, second, low, high = sp.symbols("v_1 v_c a mu E m M", real=True)
    total, squares, size = sp.symbols("S Q c", positive=True)
    form_of_t = sum(_T[i, j] * w * u for i, w in enumerate((v1, v2)) for j, u in
                    enumerate((v1, v2)))  # fmt: skip
    spread = P[0] * v1**2 + P[1] * v2**2 - (P[0] * v1 + P[1] * v2) ** 2
    links = [
        (Equation(form_of_t, spread),
         "v'Tv = E v^2 - (E v)^2, the variance; v = 0 on the other classes"),
        (Equation(lambda: second - mean**2, lambda: second - 2 * mean * mean + mean**2),
         "which is E (v - mu)^2 >= 0"),
        (Equation((second + 2 * a * mean + a**2) - (mean + a) ** 2, second - mean**2),
         "v + a has the variance of v"),
        (Equation(lambda: squares - 2 * total / size * total + size * (total / size) ** 2,
         lambda: squares - total**2 / size), "v less its mean has |v|^2 - (sum v)^2/c"),
        (Equation((high - mean) * (mean - low) - (second - mean**2),
         (high + low) * mean - high * low - second),
         "(M - mu)(mu - m) exceeds the variance by the mean of (M - v)(v - m) >= 0"),
        (Equation((high - low) ** 2 / 4 - (high - mean) * (mean - low),
                  (mean - (high + low) / 2) ** 2),
         "a product is at most the square of half its sum"),
        (Equation((high**2 + low**2) / 2 - (high - low) ** 2 / 4, (high + low) ** 2 / 4),
         "(M^2 + m^2)/2 exceeds ((M - m)/2)^2 by a square"),
    ]  # fmt: skip
    return all_hold(rational_identity(d, DOMAIN, what, seed=run.seed) for d, what in links)


CHAIN.declare(
    "eq-178", "T is positive semidefinite and T <= (1/2)(I - 1 1'/c)", rests_on=("eq-177",),
    reading="attributed to Boehning 1992, and proved here for every c; the eigenvalues of T are "
    "then in [0, 1/2], and those of the Kronecker product in [0, |xbar|^2/2]",
)  # fmt: skip
CHAIN.ask(
    "eq-178", "valid", "symbolic, for any number of classes", softmax_covariance_order,
    form=BOEHNING,
    mutants={
        "a quarter": replace(BOEHNING, half=Fraction(1, 4)),
        "2/c": replace(BOEHNING, ones=Fraction(2)),
    },
)  # fmt: skip

# --- (9), (10), (167), (168) and the prose around Proposition 5.1 ---------------------------------


def gradient_is_bounded(form: Fraction, run: Run) -> Finding:
    """|grad ell_0|^2 = |p - y|^2 |xbar|^2 <= 2 (L^2 + 1).

    |p - y|^2 = (1 - p_y)^2 + sum of squares of the rest, at most the square (1 - p_y)^2 of their
    sum: adding x >= 0 to numbers of sum S and squares Q raises S^2 - Q by 2 S x. Hence at most
    2 (1 - p_y)^2 <= 2, which two classes approach.
    """
    if form < 2:
        lost = 1 - (2 - form) / 8
        value = 2 * lost**2
        return point(
            DOMAIN, f"two classes, 1 - p_y = {lost}: |p - y|^2 = {value} > {form}",
            {"1 - p_y": str(lost)}, value, form, "<=",
        )  # fmt: skip
    total, squares, x, size = sp.symbols("S Q x n2", positive=True)
    return all_hold(
        rational_identity(difference, DOMAIN, what, seed=run.seed)
        for difference, what in (
            (Equation(by_logit(LOSS, 0), P[0] - Y1), "the gradient is (p - y) (x) xbar"),
            (Equation((total + x) ** 2 - squares - x**2 - (total**2 - squares), 2 * total * x),
             "S^2 - Q grows by 2 S x"),
            (Equation(lambda: sp.sympify(form) * size - 2 * size,
                      lambda: (sp.sympify(form) - 2) * size),
             "2 |xbar|^2 <= 2 (L^2 + 1)"),
        )
    )  # fmt: skip


@dataclass(frozen=True)
class Naming:
    """The square of the Lipschitz constant as a function of L^2, and whether it is L^2 itself."""

    square: Callable[[Any], Any]
    one_letter: bool


def letters_fit(form: Naming, run: Run) -> Finding:
    """Whether a feature norm L can have the constant that (9) gives it.

    With one letter for both, L^2 = 2 (L^2 + 1) means L^2 + 2 = 0.
    """
    size = sp.Symbol("L2", positive=True)
    if form.one_letter and identity(
        lambda: form.square(size) - size, lambda: size + 2, DOMAIN, "", seed=run.seed
    ).outcome == "holds":  # fmt: skip
        return point("every L", "2 (L^2 + 1) exceeds L^2 by L^2 + 2 for every L, 2 at L = 0",
                     {"L": "0"}, 0, 2, "=")  # fmt: skip
    return identity(
        lambda: form.square(size),
        lambda: 2 * (size + 1),
        "every L",
        "the constant is a function of the feature norm",
        seed=run.seed,
    )


for _id in ("eq-009", "eq-167"):
    CHAIN.declare(
        _id, "ell_0 is sqrt(2 (L^2 + 1))-Lipschitz", rests_on=("eq-008",),
        reading="the letter on the left is the Lipschitz constant, that on the right the feature "
        "norm; with one meaning for both the equation has no solution. Proposition 5.1 is read "
        "alike, and the text goes on with 2 sqrt(2 (L^2 + 1)), so nothing depends on the clash. "
        "The proof bounds the Hessian and |xbar|; this also needs |p - y|^2 <= 2",
    )  # fmt: skip
    CHAIN.ask(
        _id, "valid", "symbolic, for any number of classes", gradient_is_bounded,
        form=Fraction(2),
        mutants={"without the 2": Fraction(1), "3/2": Fraction(3, 2)},
    )  # fmt: skip
    CHAIN.ask(
        _id, "valid", "symbolic", letters_fit, part="letters",
        readings={
            "two quantities": Naming(lambda size: 2 * (size + 1), False),
            "one L for both": Naming(lambda size: 2 * (size + 1), True),
        },
        mutants={"without the bias": Naming(lambda size: 2 * size, False)},
    )  # fmt: skip
for _id in ("eq-010", "eq-168"):
    CHAIN.declare(_id, "ell_0 is beta-smooth, beta = (L^2 + 1)/2", rests_on=("eq-176", "eq-178"))
    CHAIN.ask(
        _id, "valid", "symbolic, for any number of classes", variance_bounds_the_hessian,
        form=PRINTED,
        mutants={
            "a quarter": replace(PRINTED, curvature=sp.Rational(1, 4)),
            "a third": replace(PRINTED, curvature=sp.Rational(1, 3)),
        },
    )  # fmt: skip


@dataclass(frozen=True)
class Regular:
    """Strong convexity and smoothness of ell_lambda, given lambda and beta."""

    low: Callable[[Any, Any], Any]
    high: Callable[[Any, Any], Any]
    loss: Constants = PRINTED


REGULAR = Regular(lambda lam, beta: lam, lambda lam, beta: beta + lam)


def regularised_curvature(form: Regular, run: Run) -> Finding:
    """lambda |v|^2 <= v' Hessian v <= (beta + lambda) |v|^2, from 0 <= Hessian of ell_0 <= beta.

    First x = 0, L = 0, lambda = 1 and p = (1/2, 1/2), where both sides are met: by v = (1, 1),
    which T sends to zero, and by v = (1, -1).
    """
    lam, beta = Fraction(1), Fraction(1, 2)
    for value, side in ((lam, "low"), (lam + beta, "high")):
        stated = getattr(form, side)(lam, beta)
        left, right = (stated, value) if side == "low" else (value, stated)
        if left > right:
            return point(
                "L = 0, lambda = 1, p = (1/2, 1/2)",
                f"a {side}est curvature of {value} against {stated}",
                {"lambda": "1", "beta": "1/2", "p": "1/2, 1/2"}, left, right, "<=",
            )  # fmt: skip
    strength, smooth, h, t = sp.symbols("lambda beta h t", positive=True)
    whole = sp.diff(h / 2 * t**2 + strength / 2 * t**2, t, 2)
    return all_hold([
        variance_bounds_the_hessian(form.loss, run),
        identity(lambda: whole - form.low(strength, smooth), h, DOMAIN,
                 "the curvature along v exceeds lambda by that of ell_0", seed=run.seed),
        identity(lambda: form.high(strength, smooth) - whole, lambda: smooth - h, DOMAIN,
                 "and falls short of beta + lambda by beta less it", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "txt-5.1-regularised-smooth",
    "ell_lambda is (beta + lambda)-smooth and lambda-strongly convex",
    rests_on=("eq-007", "eq-010"),
    reading="under |x| <= L, beta = (L^2 + 1)/2; without clipping of gradients",
)
CHAIN.ask(
    "txt-5.1-regularised-smooth", "valid", "symbolic, for any number of classes",
    regularised_curvature, form=REGULAR,
    mutants={
        "beta-smooth": replace(REGULAR, high=lambda lam, beta: beta),
        "2 lambda-strongly convex": replace(REGULAR, low=lambda lam, beta: 2 * lam),
    },
)  # fmt: skip


def two_gradients_differ_by_at_most(form: Fraction, run: Run) -> Finding:
    """|g - g'| <= |g| + |g'| <= 2 sqrt(2 (L^2 + 1)).

    First one feature with x = 1 and x' = -1, L = 1, weights zero, label 1 and p_1 = 1/10: both
    gradients are (-9/10, 9/10) (x) (x, 1) and differ by (-9/10, 9/10) (x) (2, 0).
    """
    gap, square = 8 * Fraction(9, 10) ** 2, form**2 * 4
    if gap > square:
        return point(
            "one feature, two classes, L = 1",
            f"x = 1, x' = -1, label 1 for both, weights 0, p_1 = 1/10: the squared difference is "
            f"{gap} > {square}",
            {"x": "1", "x'": "-1", "p_1": "1/10", "L": "1"}, gap, square, "<=",
        )  # fmt: skip
    root, first, second = sp.symbols("G g_1 g_2", positive=True)
    factor = sp.Rational(form.numerator, form.denominator)
    return all_hold([
        gradient_is_bounded(Fraction(2), run),
        identity(
            lambda: factor * root - (first + second), lambda: (root - first) + (root - second),
            DOMAIN,
            "twice the bound exceeds |g| + |g'| by what the two fall short of it", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "txt-5.1-feature-clip-sensitivity",
    "with |x| <= L alone the gradient sensitivity is at most 2 sqrt(2 (L^2 + 1))",
    rests_on=("eq-009",),
    reading="an upper bound, for two records with any labels; not attained, since the augmented "
    "features of two records have the last coordinate 1 in common",
)
CHAIN.ask(
    "txt-5.1-feature-clip-sensitivity", "valid", "symbolic, for any number of classes",
    two_gradients_differ_by_at_most, form=Fraction(2),
    mutants={"once the Lipschitz constant": Fraction(1), "5/4 of it": Fraction(5, 4)},
)  # fmt: skip
