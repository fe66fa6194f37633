"""Lemmas D.2 and D.3: log-Sobolev constants of the iterates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import sympy as sp
from hypothesis import strategies as st

from bounds.arith.ball import precision
from bounds.arith.exact import Exact
from bounds.bound import Bound, find
from bounds.setting import Setting, show
from verify.methods.enclosure import BITS, ball, compare
from verify.methods.properties import fractions, small_settings, try_to_break
from verify.methods.symbolic import all_hold, identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

READING = (
    "fixed batches and a point start, the standing assumptions of Section 3 and D.2, on which the "
    "proof rests; c_0^0 = infinity is what a point satisfies. Cited: LSI under Lipschitz maps and "
    "under convolution (Vempala and Wibisono 2019, Lemmas 16 and 17), and <d, g> >= |g|^2/beta for "
    "gradients of convex beta-smooth functions (Baillon and Haddad 1977)"
)
FINDING = (
    "Algorithm 1 draws its batches at random and may start from any law. For such runs, which the "
    "words of the lemma include, it is false: with n = 2, b = 1 the first iterate is a mixture of "
    "two Gaussians and violates (16) for g = exp(s theta/2), as does a Gaussian start. It is the "
    "flaw that Appendix C finds in the concurrent work. Under the standing assumptions of "
    "Section 3 the lemma holds, and it is used under these alone. Its proof writes the map f with "
    "the losses in place of their gradients{extra}."
)

STATEMENTS = (
    Statement(
        "lem-d.2",
        printed="convex beta-smooth losses, eta < 2/beta: theta_k^j satisfies LSI with constant "
        "c_k^j = 1/(2 eta sigma^2 (k n/b + j)), c_0^0 = infinity",
        rests_on=("def-b3", "alg-1", "txt-d.2-point-start"),
        reading=READING,
        finding=FINDING.format(extra=""),
    ),
    Statement(
        "lem-d.3",
        printed="lambda-strongly convex beta-smooth losses, eta < 2/(lambda + beta): theta_k^j "
        "satisfies LSI with constant c_k^j = 1/(2 eta sigma^2 sum_(s < k n/b + j) "
        "(1 - eta lambda)^(2s))",
        rests_on=("def-b3", "alg-1", "txt-d.2-point-start"),
        reading=READING,
        finding=FINDING.format(extra=", by reference to that of Lemma D.2"),
    ),
)

CONVEX, STRONG = find("lem-d.2"), find("lem-d.3")
ALL = "0 <= lambda <= beta, 0 < eta < 2/(lambda + beta), every number of updates"


@dataclass(frozen=True)
class Sequence:
    """The steps (72) to (79), for strong convexity lambda, which is 0 in Lemma D.2.

    lipschitz(eta, lam): Lipschitz constant of an update's map.
    limit(lam, beta): what eta must be below.
    step(inverse, q, noise): 1/c after an update, q = lipschitz^2, noise = 2 eta sigma^2.
    closed(noise, W): 1/c after t updates, W = 1 + q + ... + q^(t-1).
    """

    lam: Any
    lipschitz: Callable[[Any, Any], Any] = lambda eta, lam: 1 - eta * lam
    limit: Callable[[Any, Any], Any] = lambda lam, beta: 2 / (lam + beta)
    step: Callable[[Any, Any, Any], Any] = lambda inverse, q, noise: q * inverse + noise
    closed: Callable[[Any, Any], Any] = lambda noise, w: noise * w


PLAIN = Sequence(sp.Integer(0))
CURVED = Sequence(sp.Symbol("lambda", positive=True))


def _sequence_mutants(form: Sequence) -> dict[str, Sequence]:
    return {
        "eta up to 4/(lambda + beta)": replace(form, limit=lambda lam, beta: 4 / (lam + beta)),
        "noise eta sigma^2": replace(form, step=lambda inv, q, noise: q * inv + noise / 2),
        "noise contracted too": replace(form, closed=lambda noise, w: noise * (w - 1)),
        "one update too many": replace(form, closed=lambda noise, w: noise * (w + 1)),
    }


@check(
    "lem-d.2", "derived", "symbolic induction",
    form=PLAIN,
    mutants={
        **_sequence_mutants(PLAIN),
        "map taken to contract": replace(PLAIN, lipschitz=lambda eta, lam: 1 - eta),
    },
)  # fmt: skip
@check(
    "lem-d.3", "derived", "symbolic induction",
    form=CURVED,
    mutants={
        **_sequence_mutants(CURVED),
        "contraction squared": replace(CURVED, lipschitz=lambda eta, lam: (1 - eta * lam) ** 2),
        "L for L^2": replace(CURVED, step=lambda inv, q, noise: sp.sqrt(q) * inv + noise),
    },
)  # fmt: skip
def constants_follow_by_induction(form: Sequence, run: Run) -> Finding:
    """The Lipschitz constant of an update, (72) and (77), and the closed forms.

    d: a difference of parameters; g = lambda d + e: that of the mean gradients, where e belongs to
    a convex (beta - lambda)-smooth function, so p = <d, e> - |e|^2/(beta - lambda) >= 0. Then
    (1 - eta lambda)^2 |d|^2 - |d - eta g|^2 = 2 eta (1 - eta lambda) p + eta (2 - eta (lambda +
    beta)) |e|^2/(beta - lambda), and 1 - eta lambda > 0 under the step-size condition. For
    beta = lambda, e = 0. A smaller constant c is weaker, so |d - eta g| <= L |d| is all it takes.
    """
    eta, beta, noise, w = sp.symbols("eta beta v W", positive=True)
    lam = form.lam
    dd, de, ee = sp.symbols("dd de ee", real=True)
    p = de - ee / (beta - lam)
    shrunk = dd - 2 * eta * (lam * dd + de) + eta**2 * (lam**2 * dd + 2 * lam * de + ee)
    q = form.lipschitz(eta, lam) ** 2
    rest = eta * (lam + beta) * (form.limit(lam, beta) - eta) * ee / (beta - lam)
    # W belongs to t updates and the next one to t + 1: 1 + q W.
    return all_hold([
        identity(
            q * dd - shrunk - 2 * eta * (1 - eta * lam) * p, rest, ALL,
            "an update's map is (1 - eta lambda)-Lipschitz", seed=run.seed),
        identity(lambda: form.closed(noise, sp.Integer(0)), 0, ALL,
                 "1/c = 0 at the point start", seed=run.seed),
        identity(
            lambda: form.step(form.closed(noise, w), q, noise) - noise,
            lambda: q * form.closed(noise, w), ALL,
            "(72), (77): L^2/c and the variance of the noise", seed=run.seed),
        identity(
            form.step(form.closed(noise, w), q, noise), form.closed(noise, 1 + q * w), ALL,
            "(73), (78): from t to t + 1 updates", seed=run.seed),
    ])  # fmt: skip


# --- against exact laws ------------------------------------------------------------------------


@dataclass(frozen=True)
class Slopes:
    """A setting with the factor (1 - eta h) of each update, h the curvature of its batch."""

    setting: Setting
    factors: tuple[Fraction, ...]


@st.composite
def _slopes(draw: Any, convex: bool) -> Slopes:
    made: Any = draw(small_settings(most_batches=3, most_epochs=3))
    low = Fraction(0) if convex else made.lambda_
    if convex:
        made = replace(made, lambda_=Fraction(0))
    places = st.one_of(st.just(Fraction(0)), st.just(Fraction(1)), fractions("0", "1"))
    factors = tuple(
        1 - made.eta * (low + draw(places) * (made.beta - low)) for _ in range(made.steps)
    )
    return Slopes(made, factors)


def _variance(case: Slopes) -> Fraction:
    setting = case.setting
    assert setting.eta is not None and setting.sigma2 is not None
    spread = Fraction(0)
    for factor in case.factors:
        spread = factor**2 * spread + 2 * setting.eta * setting.sigma2
    return spread


def _claimed(bound: Bound, epsilon: Callable[..., Any], case: Slopes) -> Fraction:
    value: Fraction = replace(bound, epsilon=epsilon).in_system(case.setting, Exact)
    return value


def _validity_mutants(bound: Bound) -> dict[str, Callable[..., Any]]:
    return {
        "one update too few": lambda p, ctx: bound.epsilon(replace(p, steps=p.steps - 1), ctx)
        if p.steps > 1 else 2 * bound.epsilon(p, ctx),
        "variance eta sigma^2": lambda p, ctx: 2 * bound.epsilon(p, ctx),
        "K updates": lambda p, ctx: bound.epsilon(
            replace(p, steps=p.epochs), ctx
        ),
    }  # fmt: skip


@check(
    "lem-d.2", "valid", "exact laws of quadratics, Hypothesis",
    form=CONVEX.epsilon,
    mutants=_validity_mutants(CONVEX),
)  # fmt: skip
def never_above_the_best_constant_convex(form: Callable[..., Any], run: Run) -> Finding:
    """On quadratics and linear losses the iterate is Gaussian, whose best constant is 1/variance.

    Curvatures are drawn batch by batch and update by update from [0, beta].
    """
    return _against_gaussians(CONVEX, form, run, convex=True)


@check(
    "lem-d.3", "valid", "exact laws of quadratics, Hypothesis",
    form=STRONG.epsilon,
    mutants=_validity_mutants(STRONG),
)  # fmt: skip
def never_above_the_best_constant_strong(form: Callable[..., Any], run: Run) -> Finding:
    """The same with curvatures from [lambda, beta]."""
    return _against_gaussians(STRONG, form, run, convex=False)


def _against_gaussians(
    bound: Bound, epsilon: Callable[..., Any], run: Run, *, convex: bool
) -> Finding:
    def certify(case: Slopes) -> Finding:
        best, claimed = 1 / _variance(case), _claimed(bound, epsilon, case)
        return Finding(
            "fails", "point", "one exact run",
            f"claimed constant {claimed} exceeds 1/variance = {best} at "
            f"{case.setting.as_strings()}",
            certificate={
                "kind": "point",
                "parameters": {
                    **case.setting.as_strings(), "factors": " ".join(map(show, case.factors)),
                },
                "left": [show(claimed)] * 2, "right": [show(best)] * 2, "relation": "<=",
            },
        )  # fmt: skip

    return try_to_break(
        _slopes(convex), lambda case: _claimed(bound, epsilon, case) * _variance(case) <= 1,
        run, domain="random quadratic losses, fixed batches, point start, exact",
        what="the constant against 1/variance of the Gaussian iterate", certify=certify,
    )  # fmt: skip


@check(
    "lem-d.2", "tight", "exact laws of linear losses",
    form=(CONVEX, CONVEX.epsilon, Fraction(0)),
    mutants={
        "a tenth too small": (
            CONVEX, lambda p, ctx: CONVEX.epsilon(p, ctx) * 9 / 10, Fraction(0)
        ),
    },
)  # fmt: skip
@check(
    "lem-d.3", "tight", "exact laws of quadratics of curvature lambda",
    form=(STRONG, STRONG.epsilon, Fraction(1)),
    mutants={
        "a tenth too small": (
            STRONG, lambda p, ctx: STRONG.epsilon(p, ctx) * 9 / 10, Fraction(1)
        ),
    },
)  # fmt: skip
def attained_by_the_slowest_losses(form: tuple[Any, ...], run: Run) -> Finding:
    """Losses of the least curvature attain the constant after every number of updates."""
    bound, epsilon, lam = form
    for batches in (1, 2, 3):
        for epochs in (1, 2, 3):
            made = Setting.of(
                n=batches, b=1, epochs=epochs, eta="1/3", lambda_=lam, beta=2, sigma2=Fraction(3, 4)
            )
            case = Slopes(made, (1 - Fraction(1, 3) * lam,) * made.steps)
            ratio = _claimed(bound, epsilon, case) * _variance(case)
            if ratio != 1:
                return Finding(
                    "fails", "point", "nine exact runs",
                    f"constant times variance is {ratio} at {made.as_strings()}",
                    certificate={
                        "kind": "point", "parameters": made.as_strings(),
                        "left": [show(ratio)] * 2, "right": ["1", "1"], "relation": "=",
                    },
                )  # fmt: skip
    return Finding("holds", "point", "nine exact runs", "constant times variance is 1")


# --- what Algorithm 1 may do besides -----------------------------------------------------------


@dataclass(frozen=True)
class FirstUpdate:
    """theta_0^1 = a theta_0 + s xi + noise in one coordinate; n = 2, b = 1, records 1 and -1.

    lam: curvature of the losses lam/2 (theta - x)^2, or 0 for the losses -x theta.
    random: whether the first batch is one of the two at random. start: variance of a Gaussian
    theta_0. constant(eta, sigma2): what the lemma gives for theta_0^1.
    """

    lam: Fraction
    random: bool = False
    start: Fraction = Fraction(0)
    constant: Callable[[Fraction, Fraction], Fraction] = lambda eta, s2: 1 / (2 * eta * s2)


def _readings(lam: Fraction) -> dict[str, FirstUpdate]:
    return {
        "batches drawn at random, as in Algorithm 1": FirstUpdate(lam, random=True),
        "start drawn at random, as in Algorithm 1": FirstUpdate(lam, start=Fraction(1)),
    }


def _first_mutants(lam: Fraction) -> dict[str, FirstUpdate]:
    return {
        "variance eta sigma^2": FirstUpdate(lam, constant=lambda eta, s2: 1 / (eta * s2)),
        "noise divided by the step": FirstUpdate(lam, constant=lambda eta, s2: 1 / (eta**2 * s2)),
    }


@check(
    "lem-d.2", "valid", "the inequality (16) itself, exact or in balls",
    form=FirstUpdate(Fraction(0)),
    readings=_readings(Fraction(0)),
    mutants=_first_mutants(Fraction(0)),
)  # fmt: skip
@check(
    "lem-d.3", "valid", "the inequality (16) itself, exact or in balls",
    form=FirstUpdate(Fraction(1)),
    readings=_readings(Fraction(1)),
    mutants=_first_mutants(Fraction(1)),
)  # fmt: skip
def first_iterate_obeys_the_inequality(form: FirstUpdate, run: Run) -> Finding:
    """(16) over E[g^2] for g = exp(s theta/2): s k'(s) - k(s) <= s^2/(2c), k = log E exp(s theta).

    A Gaussian of variance V has s^2 V/2 on the left. Two values +-z, equally likely, add
    x tanh x - log cosh x, x = s z, which is positive for x other than 0.
    """
    eta, sigma2, s = Fraction(1, 2), Fraction(1), Fraction(2)
    shift = eta if not form.lam else eta * form.lam
    variance = (1 - eta * form.lam) ** 2 * form.start + 2 * eta * sigma2
    right = s**2 / (2 * form.constant(eta, sigma2))
    gaussian = s**2 * variance / 2
    domain = "the first iterate of one exact run"
    what = "entropy against energy in (16) over E[g^2], g = exp(s theta/2)"
    parameters = {
        "n": "2", "b": "1", "eta": show(eta), "sigma2": show(sigma2), "lambda": show(form.lam),
        "records": "1, -1", "variance of theta_0": show(form.start), "s": show(s),
        "first batch": "random" if form.random else "fixed",
    }  # fmt: skip
    if not form.random:
        outcome = "holds" if gaussian <= right else "fails"
        return Finding(
            outcome, "point", domain, f"{what}: {gaussian} against {right}",
            certificate={"kind": "point", "parameters": parameters, "left": [show(gaussian)] * 2,
                         "right": [show(right)] * 2, "relation": "<="},
        )  # fmt: skip
    with precision(BITS):
        x = ball(s * shift)
        left = ball(gaussian) + x * x.tanh() - flint.arb.cosh(x).log()
        return compare(left, ball(right), parameters=parameters, relation="<=", domain=domain,
                       what=what)  # fmt: skip


@check(
    "lem-d.2", "transcribed", "exact rational arithmetic, Hypothesis",
    form=(CONVEX, CONVEX.epsilon),
    mutants={
        "factor 2 lost": (CONVEX, lambda p, ctx: 2 * CONVEX.epsilon(p, ctx)),
        "one update more": (
            CONVEX, lambda p, ctx: CONVEX.epsilon(replace(p, steps=p.steps + 1), ctx)
        ),
    },
)  # fmt: skip
@check(
    "lem-d.3", "transcribed", "exact rational arithmetic, Hypothesis",
    form=(STRONG, STRONG.epsilon),
    mutants={
        "factor 2 lost": (STRONG, lambda p, ctx: 2 * STRONG.epsilon(p, ctx)),
        "powers of 1 - eta lambda, not of its square": (
            STRONG,
            lambda p, ctx: ctx.one_minus_power(p.contraction, 1)
            / ctx.one_minus_power(p.contraction, p.steps) / (2 * p.eta * p.sigma2),
        ),
    },
)  # fmt: skip
def formula_is_the_printed_one(form: tuple[Bound, Callable[..., Any]], run: Run) -> Finding:
    """The library's formula equals the recursion (72) or (77), update by update."""
    bound, epsilon = form
    return same_formula(
        bound, epsilon, run, strategy=small_settings(most_batches=4, most_epochs=3),
        what=f"{bound.source.equation} against the library's formula",
    )  # fmt: skip
