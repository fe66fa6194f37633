"""Propositions 5.1, 5.2 (F.1, F.2) and Corollary 5.3: regularised logistic regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.bound import find
from verify.methods.enclosure import Formulas, exact_point
from verify.methods.properties import small_settings
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

_SMOOTH = (
    "for |x| <= L, ell_0 is convex, sqrt(2 (L^2 + 1))-Lipschitz and (L^2 + 1)/2-smooth in theta"
)
_CLIPPED = (
    "g = clip(grad ell_0, Sg/2) + lambda theta has sensitivity Sg, is continuous, almost "
    "everywhere differentiable, and lambda I <= grad g <= (beta + lambda) I, beta = (L^2 + 1)/2"
)
_ORDER = (
    "the order of a matrix that is not symmetric is that of its quadratic form, which is what "
    "contraction needs; labels are one-hot, the feature norm L and the Lipschitz constant L differ"
)
_BREAKS = (
    "Clipping does not keep strong convexity: for three or more classes the quadratic form of the "
    "clipped gradient's Jacobian takes negative values, so the lower side of (11) fails and "
    "theta - eta g(theta) is not (1 - eta lambda)-Lipschitz. The sensitivity, the continuity and "
    "the upper side stand, and for two classes all of it does."
)
_MENDED = (
    "with the same hypotheses (lambda - beta/8) I <= grad g <= (beta + lambda) I, and for two "
    "classes lambda I <= grad g <= (beta + lambda) I"
)

STATEMENTS = (
    Statement("prop-5.1", printed=_SMOOTH, rests_on=("prop-f.1",),
              reading="labels are one-hot; (9) names the Lipschitz constant like the feature norm"),
    Statement("prop-f.1", printed=_SMOOTH, rests_on=("eq-176", "eq-178"),
              reading="as Proposition 5.1, with its proof"),
    Statement("prop-5.2", printed=_CLIPPED, rests_on=("prop-f.2",), reading=_ORDER,
              severity="statement", finding=_BREAKS, correction=_MENDED),
    Statement("prop-f.2", printed=_CLIPPED, rests_on=("prop-f.1", "eq-181", "eq-182"),
              reading=_ORDER, severity="statement", finding=_BREAKS, correction=_MENDED),
    Statement(
        "cor-5.3",
        printed="for eta < 2/((L^2+1)/2 + 2 lambda), Algorithm 2 satisfies (alpha, eps_norm + eps)-"
        "Renyi DP with eps of Theorem 4.2 for eps_0^j = (2 alpha/sigma_mul^2) c^(2(j-1))/"
        "sum_(s<j) c^(2s)",
        rests_on=("thm-4.2", "prop-5.2", "alg-2", "txt-f.1-sigma"),
        reading="any number of classes; features as they are after a normalisation that leaves "
        "them so, eps_norm = 0",
        severity="statement",
        finding="The proof takes from Proposition 5.2 that a clipped update contracts by "
        "1 - eta lambda, which is false for three or more classes, and there the conclusion is "
        "false too. For a data set of three classes and one feature, with very many records and "
        "very small steps, the divergence of order 2 is at least 0.226, and (12) says 0.150.",
        correction="for two classes as printed; for any number of classes, where eta (lambda + "
        "beta) < 1 with beta = (L^2 + 1)/2, (12) and (13) with q in place of 1 - eta lambda, "
        "q^2 = (1 - eta lambda)^2 (1 + eta beta/(4 (1 - eta lambda - eta beta))), if q < 1",
    ),
)  # fmt: skip

CLASSES = "any number of classes, any |x| <= L"


@dataclass(frozen=True)
class Constants:
    """Squared Lipschitz constant and smoothness over |xbar|^2, where |xbar|^2 <= L^2 + 1."""

    gradient2: Any
    curvature: Any


PRINTED = Constants(sp.Integer(2), sp.Rational(1, 2))
_LESS = {
    "the constant 1/4 of two classes on one weight": replace(PRINTED, curvature=sp.Rational(1, 4)),
    "Lipschitz without the factor 2": replace(PRINTED, gradient2=sp.Integer(1)),
}


def _at_corner(form: Constants, domain: str) -> Finding | None:
    """Where no smaller constant would do: p = (1/2, 1/2), and p close to a wrong corner."""
    value = Fraction(1, 2)  # v T v/|v|^2 at p = (1/2, 1/2), v = (1, -1)
    if value > form.curvature:
        return Finding(
            "fails", "point", domain,
            f"p = (1/2, 1/2), v = (1, -1): the Hessian has {value} > {form.curvature}",
            certificate={"kind": "point", "parameters": {"p": "1/2, 1/2", "v": "1, -1"},
                         "left": [str(value)] * 2, "right": [str(form.curvature)] * 2,
                         "relation": "<="},
        )  # fmt: skip
    wrong = Fraction(9, 10) ** 2 * 2  # |p - e_2|^2 at p = (9/10, 1/10)
    if wrong > form.gradient2:
        return Finding(
            "fails", "point", domain,
            f"p = (9/10, 1/10), label 2: |p - y|^2 = {wrong} > {form.gradient2}",
            certificate={"kind": "point", "parameters": {"p": "9/10, 1/10"},
                         "left": [str(wrong)] * 2, "right": [str(form.gradient2)] * 2,
                         "relation": "<="},
        )  # fmt: skip
    return None


@check("prop-5.1", "derived", "symbolic, for any number of classes", form=PRINTED, mutants=_LESS)
@check("prop-f.1", "derived", "symbolic, for any number of classes", form=PRINTED, mutants=_LESS)
def variance_bounds_the_hessian(form: Constants, run: Run) -> Finding:
    """Gradient (p - y) (x) xbar, Hessian T (x) xbar xbar', T = diag(p) - p p'.

    |p - y|^2 = (1-p_y)^2 + sum of squares of the rest, which is at most the square of their sum
    (1-p_y)^2: adding x >= 0 to numbers of sum S and squares Q raises S^2 - Q by 2 S x. With
    m <= v_i <= M, v'Tv is the variance of v under p, not negative and at most
    (M - mu)(mu - m) <= ((M - m)/2)^2 <= (M^2 + m^2)/2 <= |v|^2/2. For V (x) xbar this gives
    |V xbar|^2/2 <= |V|^2 |xbar|^2/2.
    """
    smaller = _at_corner(form, CLASSES)
    if smaller is not None:
        return smaller
    total, squares, x, mean, low, high, second = sp.symbols("S Q x mu m M E", real=True)
    e = sp.symbols("e1:4", positive=True)
    z = sum(e)
    p = [item / z for item in e]

    def by_logit(f: Any, i: int) -> Any:
        return e[i] * sp.diff(f, e[i])

    loss_slope = [by_logit(z, i) / z - (1 if i == 0 else 0) for i in range(3)]
    links = [
        (Equation(lambda: loss_slope[0], lambda: p[0] - 1),
         "gradient of -log p_y in logit y is p_y - 1"),
        (Equation(lambda: loss_slope[1], lambda: p[1]), "and p_i in another"),
        (Equation(by_logit(p[0], 0), p[0] * (1 - p[0])), "Hessian (173)"),
        (by_logit(p[0], 1) + p[0] * p[1], "Hessian (174)"),
        (Equation((total + x) ** 2 - squares - x**2 - (total**2 - squares), 2 * total * x),
         "S^2 - Q grows by 2 S x"),
        (Equation((high - mean) * (mean - low) - (second - mean**2),
         (high + low) * mean - high * low - second),
         "(M - mu)(mu - m) exceeds the variance by the mean of (M - v)(v - m) >= 0"),
        (Equation((high - low) ** 2 / 4 - (high - mean) * (mean - low),
                  (mean - (high + low) / 2) ** 2),
         "a product is at most the square of half its sum"),
        (Equation((high**2 + low**2) / 2 - (high - low) ** 2 / 4, (high + low) ** 2 / 4),
         "(M^2 + m^2)/2 exceeds ((M - m)/2)^2 by a square"),
    ]  # fmt: skip
    return all_hold(rational_identity(d, CLASSES, what, seed=run.seed) for d, what in links)


# --- the clipped gradient -----------------------------------------------------------------------

Vector = Sequence[Fraction]


def _softmax_hessian(p: Vector, v: Vector) -> list[Fraction]:
    mean = sum((a * b for a, b in zip(p, v, strict=True)), start=Fraction(0))
    return [a * (b - mean) for a, b in zip(p, v, strict=True)]


def _dot(u: Vector, v: Vector) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), start=Fraction(0))


def clipped_form(p: Vector, label: int, v: Vector) -> Fraction:
    """v' (I - u u') T v, u along p - e_label: the Jacobian's form over a positive factor."""
    r = [x - (i == label) for i, x in enumerate(p)]
    tv = _softmax_hessian(p, v)
    return _dot(v, tv) - _dot(r, v) * _dot(r, tv) / _dot(r, r)


def _written(p: Vector, label: int, v: Vector) -> tuple[str, dict[str, Fraction]]:
    """`clipped_form` in the language of certificates, r_i being p_i, less 1 at the label."""
    at = {f"p_{i + 1}": x for i, x in enumerate(p)} | {f"v_{i + 1}": x for i, x in enumerate(v)}
    many = [str(i + 1) for i in range(len(p))]
    mean = " + ".join(f"p_{i}*v_{i}" for i in many)
    tv = {i: f"p_{i}*(v_{i} - mean)" for i in many}
    r = {i: f"(p_{i} - 1)" if int(i) == label + 1 else f"p_{i}" for i in many}

    def dot(x: dict[str, str], y: dict[str, str]) -> str:
        return " + ".join(f"{x[i]}*{y[i]}" for i in many)

    u = {i: f"v_{i}" for i in many}
    inner = f"{dot(u, tv)} - ({dot(r, u)})*({dot(r, tv)})/({dot(r, r)})"
    return f"let(mean, {mean}, {inner})", at


F = Fraction
POINTS: tuple[tuple[Vector, int, Vector], ...] = (
    ((F(1, 4), F(1, 4), F(1, 2)), 0, (F(5), F(0), F(-1))),
    ((F(1, 5), F(1, 5), F(3, 5)), 0, (F(2), F(-1), F(-2))),
    ((F(1, 2), F(1, 2)), 0, (F(1), F(1))),
    ((F(9, 10), F(1, 10)), 1, (F(3), F(-1))),
)
_FORMS: dict[str, Any] = {
    "form": lambda p: Fraction(0),
    "correction": lambda p: Fraction(0) if len(p) == 2 else Fraction(1, 16),
}
_MUTANTS = {"a hundred-thousandth": lambda p: Fraction(1, 10**5),
            "a sign": lambda p: Fraction(-1, 16)}  # fmt: skip


@check("prop-5.2", "valid", "exact witness", part="lower side of (11)", mutants=_MUTANTS, **_FORMS)
@check("prop-f.2", "valid", "exact witness", part="lower side of (11)", mutants=_MUTANTS, **_FORMS)
def clipping_keeps_strong_convexity(form: Callable[[Vector], Fraction], run: Run) -> Finding:
    """Whether v' grad g_0 v >= -kappa |v|^2 (1 + |x|^2), kappa = 0 as printed, where clipping acts.

    With x = 0 the augmented feature is the bias alone. The factor (Sg/2)/|grad ell_0| < 1 is
    positive, so a negative form q violates lambda I <= grad g for every lambda, Sg and beta. Then
    |v - eta grad g v|^2 is at least (1 - eta lambda)^2 |v|^2 - 2 eta tau (1 - eta lambda) q, above
    (1 - eta lambda)^2 |v|^2: the update is not (1 - eta lambda)-Lipschitz either.
    """
    domain = "points with clipping active, x = 0"
    for p, label, v in POINTS:
        value, least = clipped_form(p, label, v), -form(p) * _dot(v, v)
        if value < least:
            shown = {"p": ", ".join(map(str, p)), "label": str(label + 1),
                     "v": ", ".join(map(str, v))}  # fmt: skip
            claimed, at = _written(p, label, v)
            return Finding(
                "fails", "point", domain,
                f"probabilities {shown['p']}, label {shown['label']}, direction {shown['v']}: the "
                f"form of the clipped Jacobian is {value} times a positive factor, below {least}",
                certificate=exact_point(
                    Formulas(f"{least}", claimed, at), least, value, "<="),
            )  # fmt: skip
    return Finding("holds", "point", domain, f"at {len(POINTS)} points",
                   certificate={"kind": "points", "count": len(POINTS)})  # fmt: skip


@dataclass(frozen=True)
class LowerSide:
    """The proof of the corrected lower side: constant kappa, and the two-class product."""

    kappa: Any
    twice: Any


LOWER = LowerSide(sp.Rational(1, 16), sp.Integer(2))
_LOWER_MUTANTS = {
    "half of kappa": replace(LOWER, kappa=sp.Rational(1, 32)),
    "eigenvalues of T up to 1": replace(LOWER, twice=sp.Integer(1)),
}


@check("prop-5.2", "derived", "symbolic, for any number of classes", part="lower side of (11)",
       correction=LOWER, mutants=_LOWER_MUTANTS)  # fmt: skip
@check("prop-f.2", "derived", "symbolic, for any number of classes", part="lower side of (11)",
       correction=LOWER, mutants=_LOWER_MUTANTS)  # fmt: skip
def lower_side_mended(form: LowerSide, run: Run) -> Finding:
    """v' P T v >= -|v|^2/16 for a projector P = I - u u' and 0 <= T <= I/2; 0 for two classes.

    Write T = Z/2 with 0 <= Z <= I, s = |P v|, a = u'v, w the direction of P v, t = w'Zw and
    z = w'Zu. Since Z^2 <= Z, t^2 + z^2 <= |Zw|^2 <= t. Then w'Z v s = s^2 t + s a z is at least
    s^2 t - s |a| r with r^2 = t (1 - t), and s^2 (t + 1/8) - s |a| r + a^2/8 >= 0 because its
    discriminant is r^2 - 4 (t + 1/8)/8 = -(t - 1/4)^2 <= 0. So v'PTv >= -(s^2 + a^2)/16, and the
    feature multiplies by |xbar|^2 <= L^2 + 1 = 2 beta: kappa = beta/8. For two classes
    T = p_1 p_2 (1, -1)(1, -1)' and u is along (1, -1), so that P T = 0.
    """
    t, p1, beta = sp.symbols("t p_1 beta", positive=True)
    eighth = form.kappa * form.twice
    domain = "any number of classes"
    p2 = 1 - p1
    hessian = [[p1 * p2, -p1 * p2], [-p1 * p2, p1 * p2]]
    along = [-1, 1]
    product = hessian[0][0] - along[0] * (
        along[0] * hessian[0][0] + along[1] * hessian[1][0]
    ) / sp.Integer(2)
    return all_hold(
        rational_identity(d, domain, what, seed=run.seed)
        for d, what in (
            (t * (1 - t) - 4 * (t + eighth) * eighth + (t - sp.Rational(1, 4)) ** 2,
             "the discriminant is -(t - 1/4)^2"),
            (Equation(lambda: form.kappa * 2 * beta, lambda: beta / 8), "kappa |xbar|^2 <= beta/8"),
            (product, "two classes: (I - u u') T = 0"),
        )
    )  # fmt: skip


@check("prop-5.2", "derived", "symbolic", part="upper side of (11)", form=sp.Rational(1, 2),
       correction=sp.Rational(1, 2), mutants={"eigenvalues to 1/4": sp.Rational(1, 4)})  # fmt: skip
@check("prop-f.2", "derived", "symbolic", part="upper side of (11)", form=sp.Rational(1, 2),
       correction=sp.Rational(1, 2), mutants={"eigenvalues to 1/4": sp.Rational(1, 4)})  # fmt: skip
def upper_side(form: Any, run: Run) -> Finding:
    """v' tau P T v <= |P v| |T v| <= |v|^2/2 since tau <= 1 and T <= I/2 (Proposition F.1)."""
    corner = _at_corner(replace(PRINTED, curvature=form), CLASSES)
    if corner is not None:
        return corner
    length, beta = sp.symbols("X beta", positive=True)
    return identity(
        lambda: form * length.subs(length, 2 * beta), beta, CLASSES,
        "|xbar|^2 <= L^2 + 1 = 2 beta gives beta", seed=run.seed,
    )  # fmt: skip


_CLIP: dict[str, Any] = dict.fromkeys(
    ("form", "correction"), lambda size, half: min(Fraction(1), half / size)
)
_CLIP_MUTANTS = {
    "no clipping": lambda size, half: Fraction(1),
    "clipped to Sg": lambda size, half: min(Fraction(1), 2 * half / size),
}


@check("prop-5.2", "derived", "exact", part="sensitivity and continuity", mutants=_CLIP_MUTANTS,
       **_CLIP)  # fmt: skip
@check("prop-f.2", "derived", "exact", part="sensitivity and continuity", mutants=_CLIP_MUTANTS,
       **_CLIP)  # fmt: skip
def clipping_bounds_the_sensitivity(form: Callable[..., Fraction], run: Run) -> Finding:
    """|clipped| <= Sg/2, so two records differ by at most Sg; the factor is continuous, 1 at Sg/2.

    size * min(1, half/size) = min(size, half), for every positive size; the kink at size = half has
    measure zero among the theta, since grad ell_0 is real analytic and not constant.
    """
    domain = "every gradient norm and clip norm"
    for size in (F(1, 3), F(1), F(7, 2), F(100)):
        for half in (F(1, 2), F(1), F(5)):
            norm = size * form(size, half)
            if norm > half or (size <= half and norm != size):
                return Finding(
                    "fails", "point", domain, f"norm {size} becomes {norm} under Sg/2 = {half}",
                    certificate={"kind": "point",
                                 "parameters": {"norm": str(size), "Sg/2": str(half)},
                                 "left": [str(norm)] * 2, "right": [str(half)] * 2,
                                 "relation": "<="},
                )  # fmt: skip
    size, half = sp.symbols("s h", positive=True)
    return all_hold([
        identity(size * (half / size), half, domain,
                 "above the clip norm the length is the clip norm", seed=run.seed),
        identity(half + half, 2 * half, domain,
                 "two records differ by at most Sg", seed=run.seed),
        identity((half / size).subs(size, half), 1, domain,
                 "the factor is 1 at the clip norm", seed=run.seed),
    ])  # fmt: skip


# --- Corollary 5.3 --------------------------------------------------------------------------------

BOUND = find("logistic_regression")


@check(
    "cor-5.3", "transcribed", "balls at 200 bits, Hypothesis",
    form=BOUND.epsilon,
    mutants={
        "alpha for 2 alpha": lambda p, ctx: BOUND.epsilon(replace(p, rate=p.rate / 2), ctx),
        "K for K - 1": lambda p, ctx: BOUND.epsilon(replace(p, epochs=p.epochs + 1), ctx),
    },
)  # fmt: skip
def formula_is_the_printed_one(form: Callable[..., Any], run: Run) -> Finding:
    """The library's formula equals (12) with (13), in terms of the noise multiplier."""
    return same_formula(
        BOUND, form, run, strategy=small_settings(most_batches=6, most_epochs=8),
        what="equations (12) and (13) against the library's formula",
    )  # fmt: skip


@check(
    "cor-5.3", "constants", "symbolic",
    form=(lambda size, lost: 2 / ((size + 1) / 2 + 2 * lost), lambda mul: 2 / mul**2),
    mutants={
        "lambda counted once": (
            lambda size, lost: 2 / ((size + 1) / 2 + lost), lambda mul: 2 / mul**2
        ),
        "noise relative to Sg": (
            lambda size, lost: 2 / ((size + 1) / 2 + 2 * lost), lambda mul: 1 / (2 * mul**2)
        ),
    },
)  # fmt: skip
def constants_follow(form: Any, run: Run) -> Finding:
    """2/(lambda + (beta + lambda)) with beta = (L^2 + 1)/2, and A = 2/sigma_mul^2."""
    limit, share = form
    size, lost, mul, eta, b, s = sp.symbols("L2 lambda M eta b S_g", positive=True)
    s2 = eta / 2 * (mul * s / (2 * b)) ** 2
    return all_hold([
        identity(lambda: limit(size, lost), lambda: 2 / (lost + (size + 1) / 2 + lost),
                 "all parameters",
                 "step size limit", seed=run.seed),
        identity(lambda: share(mul), lambda: eta * s**2 / (4 * s2 * b**2), "all parameters",
                 "A in terms of the noise multiplier", seed=run.seed),
    ])  # fmt: skip


@check(
    "cor-5.3", "derived", "exact witness",
    form=3,
    readings={"for two classes": 2},
    mutants={"four classes": 4},
)  # fmt: skip
def follows_from_the_clipped_update(form: int, run: Run) -> Finding:
    """Whether each update without the record contracts by 1 - eta lambda, as Theorem 4.2 needs.

    The number of classes is the form; further classes of tiny probability change nothing.
    """
    domain = f"{form} classes"
    for p, label, v in POINTS:
        if len(p) > form:
            continue
        rest = form - len(p)
        if rest and len(p) == 2:
            continue
        share = Fraction(1, 1000)
        wide = [*(x * (1 - rest * share) for x in p), *[share] * rest]
        value = clipped_form(wide, label, [*v, *[Fraction(0)] * rest])
        if value < 0:
            return Finding(
                "fails", "point", domain,
                f"probabilities {', '.join(map(str, wide))}, label {label + 1}, direction "
                f"{', '.join(map(str, v))}: the form of the clipped Jacobian is {value} < 0 times "
                "a positive factor, so the update expands by more than 1 - eta lambda",
                certificate={"kind": "point", "parameters": {"p": ", ".join(map(str, wide))},
                             "left": ["0", "0"], "right": [str(value)] * 2, "relation": "<="},
            )  # fmt: skip
    mended = lower_side_mended(LOWER, run)
    return (
        replace(mended, domain=domain)
        if form == 2
        else Finding("undecided", "point", domain, "no witness among the points")
    )
