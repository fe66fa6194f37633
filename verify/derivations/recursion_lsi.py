"""(71) to (74) and (76) to (79): the log-Sobolev constants of the iterates, Lemmas D.2 and D.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from bounds.arith.exact import Exact
from bounds.bound import find
from bounds.setting import Setting
from verify.derivations.chain import Chain
from verify.derivations.recursion import agree
from verify.methods.symbolic import Equation, all_hold, rational_identity
from verify.statement import Finding, Run
from verify.statements.lsi import CURVED, PLAIN, Sequence, constants_follow_by_induction

CHAIN = Chain(
    __name__,
    "0 <= lambda <= beta, 0 < eta < 2/(lambda + beta), every n/b, k and j; fixed batches, a point "
    "start",
)
Form = Callable[..., Any]
noise, first = sp.symbols("v inverse_c_0", positive=True)  # v = 2 eta sigma^2
size, epoch, batch, updates = sp.symbols("l k j t", positive=True)
lam, eta = sp.symbols("lambda eta", positive=True)
# power = q^t and total = 1 + q + ... + q^(t-1) after t updates, q = (1 - eta lambda)^2.
power, total = sp.symbols("q^t W", positive=True)
q = (1 - eta * lam) ** 2
READING = (
    "the sequence of constants and its closed forms; that the iterates satisfy the inequality "
    "with them is judged under Lemma {lemma}. 1/c = 0 is what a point satisfies, and t = k n/b + j "
    "counts updates"
)


def _links(pairs: list[tuple[Any, str]], run: Run, whole: bool = True) -> Finding:
    return all_hold(
        rational_identity(difference, CHAIN.domain, what, whole=whole, seed=run.seed)
        for difference, what in pairs
    )


def _declare(name: str, printed: str, lemma: str, *on: str) -> None:
    CHAIN.declare(name, printed, rests_on=on, reading=READING.format(lemma=lemma))


# --- one update: (72), (77) --------------------------------------------------------------------

_declare("eq-072", "1/c_k^j = 1/c_k^(j-1) + 2 eta sigma^2", "D.2", "def-b3")
_declare("eq-077", "1/c_k^j = (1 - eta lambda)^2/c_k^(j-1) + 2 eta sigma^2", "D.3", "def-b3")


def map_is_lipschitz_and_noise_adds(form: Sequence, run: Run) -> Finding:
    """The map's Lipschitz constant, then 1/c -> L^2/c + 2 eta sigma^2 by the two cited lemmas."""
    return constants_follow_by_induction(form, run)


def variances_obey_it(form: tuple[Sequence, Any], run: Run) -> Finding:
    """A Gaussian's best constant is 1/variance; curvature lambda attains the step.

    theta ~ N(., V) becomes (1 - eta lambda) theta + a shift + noise of variance v.
    """
    sequence, curvature = form
    before = sp.Symbol("V", positive=True)
    factor = 1 - eta * curvature
    after = factor**2 * before + noise
    claimed = sequence.step(before, sequence.lipschitz(eta, curvature) ** 2, noise)
    return _links([(Equation(claimed, after), "1/c is the variance")], run, whole=False)


def step_mutants(form: Sequence) -> dict[str, Sequence]:
    """Other steps."""
    return {
        "noise eta sigma^2": replace(form, step=lambda inv, q, noise: q * inv + noise / 2),
        "noise lost": replace(form, step=lambda inv, q, noise: q * inv),
        "map taken to expand": replace(form, lipschitz=lambda eta, lam: 1 + eta),
    }


for _id, _form, _curvature in (("eq-072", PLAIN, sp.Integer(0)), ("eq-077", CURVED, lam)):
    CHAIN.ask(
        _id, "derived", "symbolic, two lemmas cited", map_is_lipschitz_and_noise_adds, form=_form,
        mutants=step_mutants(_form),
    )  # fmt: skip
    CHAIN.ask(
        _id, "valid", "exact laws of Gaussians, symbolic", variances_obey_it,
        form=(_form, _curvature),
        mutants={name: (made, _curvature) for name, made in step_mutants(_form).items()},
    )  # fmt: skip


# --- every update: (73), (74), (78), (79) ------------------------------------------------------

_declare("eq-073", "1/c_k^j = 1/c_0^0 + 2 eta sigma^2 (k n/b + j)", "D.2", "eq-072")
_declare("eq-074", "by c_0^0 = infinity, 1/c_k^j = 2 eta sigma^2 (k n/b + j)", "D.2", "eq-073")
_declare(
    "eq-078",
    "1/c_k^j = (1 - eta lambda)^(2 (k n/b + j))/c_0^0 + 2 eta sigma^2 sum_(s < k n/b + j) "
    "(1 - eta lambda)^(2 s)", "D.3", "eq-077",
)  # fmt: skip
_declare(
    "eq-079", "by c_0^0 = infinity, 1/c_k^j = 2 eta sigma^2 sum_(s < k n/b + j) "
    "(1 - eta lambda)^(2 s)", "D.3", "eq-078",
)  # fmt: skip


def solves_the_plain_step(form: Form, run: Run) -> Finding:
    """Induction over updates: the start, and one more update by (72)."""
    step = form(first, noise, updates + 1) - form(first, noise, updates) - noise
    return _links([
        (Equation(lambda: form(first, noise, sp.Integer(0)), first),
         "1/c_0^0 before the first update"),
        (step, "(72) from t to t + 1"),
    ], run)  # fmt: skip


def solves_the_contracting_step(form: Form, run: Run) -> Finding:
    """Induction over updates: (q^t, W) becomes (q q^t, 1 + q W), from (1, 0).

    Written the other way the next W is W + q^t; both agree for W = (1 - q^t)/(1 - q).
    """
    summed = (1 - power) / (1 - q)
    later = form(first, noise, q * power, 1 + q * total)
    return _links([
        (Equation(lambda: form(first, noise, sp.Integer(1), sp.Integer(0)), first),
         "1/c_0^0 at the start"),
        (Equation(later - q * form(first, noise, power, total), noise), "(77) from t to t + 1"),
        (Equation(1 + q * summed - summed, power), "the next W is 1 + q W = W + q^t"),
    ], run)  # fmt: skip


def plain_point_start(form: Form, run: Run) -> Finding:
    """(73) as 1/c_0^0 falls to 0."""
    general = first + noise * updates
    return _links([
        (Equation(lambda: form(noise, updates), lambda: general.subs(first, 0)),
         "(73) at 1/c_0^0 = 0"),
        (Equation(form(noise, updates + 1) - form(noise, updates), noise), "(72) from t to t + 1"),
    ], run)  # fmt: skip


def contracting_point_start(form: Form, run: Run) -> Finding:
    """(78) as 1/c_0^0 falls to 0."""
    general = power * first + noise * total
    return _links([
        (Equation(lambda: form(noise, total), lambda: general.subs(first, 0)),
         "(78) at 1/c_0^0 = 0"),
        (Equation(form(noise, 1 + q * total) - q * form(noise, total), noise),
         "(77) from t to t + 1"),
    ], run)  # fmt: skip


CHAIN.ask(
    "eq-073", "derived", "symbolic induction", solves_the_plain_step,
    form=lambda first, noise, t: first + noise * t,
    mutants={
        "one update fewer": lambda first, noise, t: first + noise * (t - 1),
        "noise doubled": lambda first, noise, t: first + 2 * noise * t,
        "start forgotten": lambda first, noise, t: noise * t,
    },
)  # fmt: skip
CHAIN.ask(
    "eq-074", "derived", "symbolic induction", plain_point_start,
    form=lambda noise, t: noise * t,
    mutants={
        "one update more": lambda noise, t: noise * (t + 1),
        "noise halved": lambda noise, t: noise * t / 2,
    },
)  # fmt: skip
CHAIN.ask(
    "eq-078", "derived", "symbolic induction", solves_the_contracting_step,
    form=lambda first, noise, power, total: power * first + noise * total,
    mutants={
        "start not contracted": lambda first, noise, power, total: first + noise * total,
        "noise contracted too": lambda first, noise, power, total: power * first
        + noise * (total - 1),
        "start contracted twice": lambda first, noise, power, total: power**2 * first
        + noise * total,
    },
)  # fmt: skip
CHAIN.ask(
    "eq-079", "derived", "symbolic induction", contracting_point_start,
    form=lambda noise, total: noise * total,
    mutants={
        "one update more": lambda noise, total: noise * (1 + total),
        "noise halved": lambda noise, total: noise * total / 2,
    },
)  # fmt: skip


# --- the lemmas' formulas: (71), (76) ----------------------------------------------------------

_declare(
    "eq-071", "c_k^j = 1/(2 eta sigma^2 (k n/b + j)), c_0^0 = 1/0 = infinity", "D.2", "eq-074"
)  # fmt: skip
_declare(
    "eq-076", "c_k^j = 1/(2 eta sigma^2) / sum_(s < k n/b + j) (1 - eta lambda)^(2 s)", "D.3",
    "eq-079",
)  # fmt: skip


def counts_updates(count: Form, run: Run) -> Finding:
    """k n/b + j: none at first, one more per update, and epochs join."""
    return _links([
        (count(sp.Integer(0), size, sp.Integer(0)), "no update before the first"),
        (Equation(lambda: count(epoch, size, batch + 1) - count(epoch, size, batch), 1),
         "one per update"),
        (Equation(count(epoch + 1, size, sp.Integer(0)), count(epoch, size, size)), "epochs join"),
    ], run)  # fmt: skip


def plain_formula(form: Form, run: Run) -> Finding:
    """The reciprocal of (74), update by update."""
    inverse = 1 / form(noise, epoch, size, batch)
    return all_hold([
        counts_updates(lambda k, l_, j: 1 / form(noise, k, l_, j) / noise, run),
        _links([(Equation(inverse, lambda: noise * (epoch * size + batch)), "1/c is (74)")], run),
    ])  # fmt: skip


def contracting_formula(form: tuple[Form, Form], run: Run) -> Finding:
    """The reciprocal of (79); its sum has as many terms as there were updates.

    form: c from the noise and the sum, and the number of terms of the sum.
    """
    constant, terms = form
    return all_hold([
        counts_updates(terms, run),
        _links([
            (Equation(lambda: 1 / constant(noise, total), lambda: noise * total), "1/c is (79)"),
            (Equation(1 / constant(noise, 1 + q * total) - q / constant(noise, total), noise),
             "(77)"),
        ], run),
    ])  # fmt: skip


def plain_constant(noise: Any, k: Any, size: Any, j: Any) -> Any:
    """(71)."""
    return 1 / (noise * (k * size + j))


CURVED_FORM: tuple[Form, Form] = (
    lambda noise, total: 1 / noise * (1 / total), lambda k, size, j: k * size + j,
)  # fmt: skip
PLAIN_MUTANTS: dict[str, Form] = {
    "noise eta sigma^2": lambda noise, k, size, j: 2 / (noise * (k * size + j)),
    "epochs without their batches": lambda noise, k, size, j: 1 / (noise * (k + j)),
    "one update more": lambda noise, k, size, j: 1 / (noise * (k * size + j + 1)),
}
CURVED_MUTANTS: dict[str, tuple[Form, Form]] = {
    "noise eta sigma^2": (lambda noise, total: 2 / noise / total, CURVED_FORM[1]),
    "epochs without their batches": (CURVED_FORM[0], lambda k, size, j: k + j),
    "one term more": (CURVED_FORM[0], lambda k, size, j: k * size + j + 1),
}


def _settings(curved: bool) -> list[Setting]:
    return [
        Setting.of(n=n, b=b, epochs=epochs, eta=step, lambda_=int(curved), beta=2, sigma2="3/4")
        for n, b, epochs in ((1, 1, 1), (3, 1, 2), (5, 2, 3), (4, 2, 1))
        for step in ("1/3", "1/1000")
    ]


def plain_at_settings(form: Form, run: Run) -> Finding:
    """After K epochs, against the library's constant."""
    return agree(
        ((form(2 * made.eta * made.sigma2, made.epochs, made.batches, 0),
          find("lem-d.2").in_system(made, Exact), made.as_strings())
         for made in _settings(False) if made.eta is not None and made.sigma2 is not None),
        "eight settings", "(71) against the library",
    )  # fmt: skip


def contracting_at_settings(form: tuple[Form, Form], run: Run) -> Finding:
    """After K epochs, summed term by term, against the library's constant."""
    constant, terms = form
    return agree(
        ((constant(2 * made.eta * made.sigma2,
                   sum((1 - made.eta_lambda) ** (2 * s)
                       for s in range(terms(made.epochs, made.batches, 0)))),
          find("lem-d.3").in_system(made, Exact), made.as_strings())
         for made in _settings(True) if made.eta is not None and made.sigma2 is not None),
        "eight settings", "(76) against the library",
    )  # fmt: skip


CHAIN.ask(
    "eq-071", "derived", "symbolic", plain_formula, form=plain_constant, mutants=PLAIN_MUTANTS
)  # fmt: skip
CHAIN.ask(
    "eq-071", "transcribed", "exact rational arithmetic", plain_at_settings, form=plain_constant,
    mutants=PLAIN_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-076", "derived", "symbolic", contracting_formula, form=CURVED_FORM,
    mutants=CURVED_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-076", "transcribed", "exact rational arithmetic", contracting_at_settings,
    form=CURVED_FORM, mutants=CURVED_MUTANTS,
)  # fmt: skip
