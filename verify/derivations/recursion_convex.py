"""(80) to (90): Theorem D.4 and its proof, and what the text says around it.

A = eta Sg^2/(4 sigma^2 b^2), l = n/b, v = 2 eta sigma^2; t = k n/b + j counts updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.arith.exact import Exact
from bounds.bound import find
from bounds.paper.one_update import shrinking, without_record
from bounds.setting import Setting, show
from verify.derivations.chain import Chain
from verify.derivations.recursion import (
    agree,
    composition_adds,
    gaussian_divergence,
    merging_lowers,
)
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity, where
from verify.statement import Finding, Run
from verify.statements.convex import CHAIN as STEPS
from verify.statements.convex import Chain as Steps
from verify.statements.convex import Slopes, exact_ratio, follows_from_the_recursions

CHAIN = Chain(__name__, "eta < 2/beta, every n/b >= 1, K >= 1, alpha > 1 and batch")

Form = Callable[..., Any]
alpha, noise, updates, size, epochs, place, step = sp.symbols("alpha v t l K j0 eta", positive=True)
epoch, batch, sens, s2, b = sp.symbols("k j S_g sigma2 b", positive=True)


def _links(pairs: list[tuple[Any, str]], run: Run, whole: bool = True) -> Finding:
    return all_hold(
        rational_identity(difference, CHAIN.domain, what, whole=whole, seed=run.seed)
        for difference, what in pairs
    )


def _settings() -> Iterator[Setting]:
    for n, width, passes, spot in (
        (1, 1, 1, 0), (1, 1, 3, 0), (2, 1, 2, 0), (2, 1, 2, 1), (3, 1, 1, 1), (6, 2, 3, 2),
        (3, 1, 4, 0),
    ):  # fmt: skip
        yield Setting.of(
            n=n, b=width, epochs=passes, eta="3/2", lambda_=0, beta=1, sensitivity=1,
            sigma2="3/4", alpha=2, position=spot,
        )  # fmt: skip


def runs() -> Iterator[Slopes]:
    """Runs with curvatures 0, 1/eta or beta, batch by batch; the record's batch forgets or not."""
    for made in _settings():
        spot = made.place
        for inside, others in (("1", "1"), ("0", "1"), ("-1/2", "1"), ("0", "1/2")):
            yield Slopes(made, tuple(
                Fraction(inside if index == spot else others) for index in range(made.batches)
            ))  # fmt: skip


# --- (80) --------------------------------------------------------------------------------------

CHAIN.declare(
    "eq-080",
    "eps_j <= (alpha eta Sg^2/(4 sigma^2 b^2)) (b/n)(K - 1) + (alpha eta Sg^2/(4 sigma^2 b^2))/"
    "(n/b - j0)",
    rests_on=("eq-083", "eq-090"),
    reading="the subscript of eps means nothing; any start, since a common one is conditioned on",
)  # fmt: skip


def steps_lead_to_it(form: Steps, run: Run) -> Finding:
    """(83) with (90): induction over updates and epochs."""
    return follows_from_the_recursions(form, run)


def above_exact_runs(form: Form, run: Run) -> Finding:
    """(80) over alpha A against exact laws of quadratic and linear losses, a curvature a batch."""
    domain = "quadratic and linear losses at small settings, exact"
    count, attained = 0, 0
    for case in runs():
        made = case.setting
        claimed = made.rate * form(Fraction(made.epochs or 1), Fraction(made.batches), made.place)
        truth = exact_ratio(case)
        count += 1
        attained += truth == claimed
        if truth > claimed:
            return Finding(
                "fails", "point", domain,
                f"R_alpha/alpha = {truth} exceeds {claimed} at {made.as_strings()}",
                certificate={
                    "kind": "point",
                    "parameters": {
                        **made.as_strings(), "factors": " ".join(map(show, case.factors)),
                    },
                    "left": [show(truth)] * 2, "right": [show(claimed)] * 2, "relation": "<=",
                },
            )  # fmt: skip
    return Finding(
        "holds", "point", domain, f"not exceeded in {count} runs, attained in {attained}",
        certificate={"kind": "points", "count": count},
    )  # fmt: skip


def is_the_library_formula(form: Form, run: Run) -> Finding:
    """(80) over alpha A against the library, exactly."""
    return agree(
        ((made.alpha * made.rate * form(made.epochs, Fraction(made.batches), made.place),
          find("thm-d.4").in_system(made, Exact), made.as_strings())
         for made in _settings() if made.alpha is not None),
        "seven settings", "(80) against the library",
    )  # fmt: skip


TOTALS: dict[str, Form] = {
    "K - 2 for K - 1": lambda k, size, j: (k - 2) / size + 1 / (size - j),
    "batches counted from 1": lambda k, size, j: (k - 1) / size + 1 / (size - j + 1),
    "half of the last term": lambda k, size, j: (k - 1) / size + 1 / (2 * (size - j)),
}
CHAIN.ask(
    "eq-080", "derived", "symbolic induction", steps_lead_to_it, form=STEPS,
    mutants={name: replace(STEPS, total=total) for name, total in TOTALS.items()},
)  # fmt: skip
CHAIN.ask(
    "eq-080", "valid", "exact laws of runs", above_exact_runs, form=STEPS.total, mutants=TOTALS
)  # fmt: skip
CHAIN.ask(
    "eq-080", "transcribed", "exact rational arithmetic", is_the_library_formula,
    form=STEPS.total, mutants=TOTALS,
)  # fmt: skip


# --- (82), (83): epochs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Shifted:
    """(82): how many updates the run of batch 0 has, and how its two stretches combine."""

    length: Form
    combined: Form


SHIFTED = Shifted(
    lambda k, size, j: (k - 1) * size + (size - j), lambda before, last: before + last
)
CHAIN.declare(
    "eq-082",
    "eps <= eps_(K-1)^(n/b-j0) <= eps_(K-1)^0 + eps_0^(n/b-j0)",
    rests_on=("txt-d.2-point-start",),
    reading="eps_k^j is the largest divergence for a record of batch 0 over common starts and "
    "losses; the batches may be numbered from j0 on, since their order is fixed and arbitrary. For "
    "the values of (86) taken with equality the second inequality is false, see the other reading; "
    "eps is below its right side all the same",
)  # fmt: skip


def stretches(form: Shifted, run: Run) -> Finding:
    """The updates from the record's first use on, and adaptive composition of two stretches.

    The first j0 updates are the same in both runs, and what they leave is a common start.
    """
    return all_hold([
        _links([(Equation(form.length(epochs, size, place), epochs * size - place),
                 "updates from batch j0 of the first epoch to the end")], run),
        composition_adds(form.combined, run),
    ])  # fmt: skip


def stretches_on_gaussians(form: Shifted, run: Run) -> Finding:
    """Gap g and variance V, then a map of slope p that adds gap d and variance W: a square."""
    g, v, p, d, w = sp.symbols("g V p d W", positive=True)
    after = (p * g + d) ** 2 / (2 * (p**2 * v + w))
    square = (g * p * w - d * p**2 * v) ** 2 / (2 * p**2 * v * w * (p**2 * v + w))
    return _links(
        [(Equation(form.combined(g**2 / (2 * v), d**2 / (2 * w)) - after, square),
          "the sum exceeds the exact value by a square")], run, whole=False,
    )  # fmt: skip


CHAIN.ask(
    "eq-082", "derived", "symbolic", stretches, form=SHIFTED,
    mutants={
        "K whole epochs": replace(SHIFTED, length=lambda k, size, j: k * size + (size - j)),
        "one update more": replace(SHIFTED, length=lambda k, size, j: k * size - j + 1),
        "first stretch dropped": replace(SHIFTED, combined=lambda before, last: last),
        "larger of the two": replace(SHIFTED, combined=sp.Max),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-082", "valid", "exact laws of Gaussians, symbolic", stretches_on_gaussians, form=SHIFTED,
    mutants={"first stretch dropped": replace(SHIFTED, combined=lambda before, last: last)},
)  # fmt: skip


def composed(k: int, m: int, size: int) -> Fraction:
    """eps_k^m/(alpha A): k epochs and a stretch of m updates, composed."""
    return Fraction(k, size) + (Fraction(1, m) if m else 0)


def recursion_values(k: int, m: int, size: int) -> Fraction:
    """eps_k^m/(alpha A) by (85), (86) and (88), each taken with equality."""
    made = Fraction(0)
    for count in range(k * size + m):
        made = made + 1 if count % size == 0 else made * Fraction(count, count + 1)
    return made


def _ordered(form: Form, sides: Form, what: str) -> Finding:
    """The values bound linear losses, (k + 1)^2/(2 t) or k^2/(2 t) over A, and obey an inequality.

    sides(k, m, l): both sides of the inequality between values.
    """
    domain = "n/b to 4, K to 4, every batch"
    for size in range(1, 5):
        for k in range(4):
            for m in range(1, size + 1):
                truth = Fraction((k + 1) ** 2, k * size + m)
                point = {"n/b": str(size), "K": str(k + 1), "j0": str(size - m)}
                for left, right, says in (
                    (truth, form(k, m, size), "linear losses against the value"),
                    (*sides(k, m, size), what),
                ):
                    if left > right:
                        return Finding(
                            "fails", "point", domain,
                            f"{says}: {left} against {right} at {where(point)}",
                            certificate={
                                "kind": "point", "parameters": point, "left": [show(left)] * 2,
                                "right": [show(right)] * 2, "relation": "<=",
                            },
                        )  # fmt: skip
    return Finding("holds", "point", domain, what, certificate={"kind": "points", "count": 40})


def second_inequality_on_values(form: Form, run: Run) -> Finding:
    """eps_(K-1)^m <= eps_(K-1)^0 + eps_0^m for given values eps_k^j, m = n/b - j0."""
    return _ordered(
        form, lambda k, m, l_: (form(k, m, l_), form(k, 0, l_) + form(0, m, l_)),
        "eps_(K-1)^m against eps_(K-1)^0 + eps_0^m",
    )  # fmt: skip


def epochs_on_values(form: Form, run: Run) -> Finding:
    """eps_(K-1)^0 <= (K - 1) eps_0^(n/b) for given values eps_k^j."""
    return _ordered(
        form, lambda k, m, l_: (form(k, 0, l_), k * form(0, l_, l_)),
        "eps_(K-1)^0 against (K - 1) eps_0^(n/b)",
    )  # fmt: skip


VALUE_MUTANTS: dict[str, Form] = {
    "half of the values": lambda k, m, size: composed(k, m, size) / 2,
    "epochs squared": lambda k, m, size: composed(k, m, size) * (1 + k),
}
CHAIN.declare(
    "eq-083", "eps <= (K - 1) eps_0^(n/b) + eps_0^(n/b-j0)", rests_on=("eq-082", "eq-088"),
    reading="as in (82): eps_k^j is the largest divergence",
)  # fmt: skip
for _id, _question in (
    ("eq-082", second_inequality_on_values), ("eq-083", epochs_on_values),
):  # fmt: skip
    CHAIN.ask(
        _id, "valid", "exact values at small settings", _question, form=composed,
        readings={"values of (86) taken with equality": recursion_values}, mutants=VALUE_MUTANTS,
    )  # fmt: skip


def epochs_add(form: Form, run: Run) -> Finding:
    """Induction over epochs: one stretch at K = 1, and each epoch composes one eps_0^(n/b) more."""
    whole, last = sp.symbols("eps_whole eps_last", positive=True)
    return all_hold([
        _links([
            (Equation(lambda: form(sp.Integer(1), whole, last), last), "K = 1"),
            (Equation(form(epochs + 1, whole, last) - form(epochs, whole, last), whole),
             "one epoch more"),
        ], run),
        composition_adds(lambda first, second: first + second, run),
    ])  # fmt: skip


def linear_losses_attain_it(form: Form, run: Run) -> Finding:
    """Batch 0, K shifts of s against the noise of K n/b updates, linear losses: equality."""
    shift = sp.Symbol("s", positive=True)
    one = shift**2 / (2 * size * noise)
    truth = (epochs * shift) ** 2 / (2 * epochs * size * noise)
    return _links(
        [(Equation(form(epochs, one, one), truth), "K epochs of linear losses")], run, whole=False
    )


PASSES: dict[str, Form] = {
    "K for K - 1": lambda k, whole, last: k * whole + last,
    "last stretch counted as an epoch": lambda k, whole, last: (k - 1) * whole + 2 * last,
    "one epoch for all": lambda k, whole, last: whole + last,
}
CHAIN.ask(
    "eq-083", "derived", "symbolic induction", epochs_add,
    form=lambda k, whole, last: (k - 1) * whole + last, mutants=PASSES,
)  # fmt: skip
CHAIN.ask(
    "eq-083", "valid", "exact laws of linear losses, symbolic", linear_losses_attain_it,
    form=lambda k, whole, last: (k - 1) * whole + last, mutants=PASSES,
)  # fmt: skip


# --- (84) to (88): the recursion ---------------------------------------------------------------

CHAIN.declare(
    "eq-084", "c_k^j = 1/(2 eta sigma^2 (k n/b + j))", rests_on=("eq-071", "lem-d.2"),
    reading="restates (71) under fixed batches and a point start",
)  # fmt: skip


def restates_the_constants(form: Form, run: Run) -> Finding:
    """(71) again: 1/c is the variance that k n/b + j noises add up to."""
    inverse = 1 / form(noise, epoch, size, batch)
    return _links([
        (Equation(inverse, lambda: noise * (epoch * size + batch)),
         "1/c = 2 eta sigma^2 (k n/b + j)"),
        (Equation(1 / form(noise, epoch, size, batch + 1) - inverse, noise), "(72)"),
    ], run)  # fmt: skip


CHAIN.ask(
    "eq-084", "restated", "symbolic", restates_the_constants,
    form=lambda noise, k, size, j: 1 / (noise * (k * size + j)),
    mutants={
        "noise eta sigma^2": lambda noise, k, size, j: 2 / (noise * (k * size + j)),
        "epochs without their batches": lambda noise, k, size, j: 1 / (noise * (k + j)),
        "one update more": lambda noise, k, size, j: 1 / (noise * (k * size + j + 1)),
    },
)  # fmt: skip

CHAIN.declare(
    "eq-085", "eps_0^0(alpha) = 0", rests_on=("txt-d.2-point-start",),
    reading="both runs start from one law, which does not depend on the data",
)  # fmt: skip


def equal_laws_do_not_diverge(form: Form, run: Run) -> Finding:
    """x^alpha x^(1-alpha) = x, so that equal laws have moment 1 and divergence log 1 = 0."""
    x = sp.Symbol("x", positive=True)
    moment = sum(w**alpha * w ** (1 - alpha) for w in (1 / (1 + x), x / (1 + x)))
    return all_hold([
        _links([
            (Equation(x**alpha * x ** (1 - alpha), x),
             "the integrand of equal laws is their density"),
            (Equation(moment, 1), "two outcomes"),
        ], run),
        identity(lambda: form(alpha), lambda: sp.log(1) / (alpha - 1), CHAIN.domain,
                 "log 1/(alpha-1)",
                 seed=run.seed),
    ])  # fmt: skip


CHAIN.ask(
    "eq-085", "valid", "symbolic", equal_laws_do_not_diverge, form=lambda a: sp.Integer(0),
    mutants={"one update ahead": lambda a: a * sp.Symbol("A", positive=True),
             "the moment itself": lambda a: sp.Integer(1)},
)  # fmt: skip


@dataclass(frozen=True)
class Recursion:
    """(86): what the update with the record adds to eps/alpha, and the factor of the others."""

    gain: Form = lambda step, sens, s2, b: step * sens**2 / (4 * s2 * b**2)
    factor: Form = lambda k, size, j: (k * size + j) / (k * size + j + 1)


CHAIN.declare(
    "eq-086",
    "eps_k^(j+1)/alpha <= eps_k^j/alpha + eta Sg^2/(4 sigma^2 b^2) for j = 0, and "
    "eps_k^j(alpha')/alpha' (k n/b + j)/(k n/b + j + 1) for j = 1, ..., n/b - 1",
    rests_on=("lem-3.2", "eq-084", "eq-087"),
    reading="a record of batch 0; the start, whose c is infinite, meets the first row alone",
)  # fmt: skip


def lemma_with_its_constants(form: Recursion, run: Run) -> Finding:
    """Both rows of Lemma 3.2 with L = 1 and c = 1/(v t), t = k n/b + j >= 1 in the second."""
    count = epoch * size + batch
    ratio = sp.Symbol("r", positive=True)
    return _links([
        (Equation(lambda: form.gain(step, sens, s2, b),
                  lambda: (step * sens / b) ** 2 / (2 * (2 * step * s2))),
         "first row: shift eta Sg/b against variance 2 eta sigma^2"),
        (Equation(ratio * form.factor(epoch, size, batch),
         without_record(ratio, 1 / (noise * count), sp.Integer(1), noise)),
         "second row with (84)"),
    ], run)  # fmt: skip


def linear_losses_attain_the_rows(form: Recursion, run: Run) -> Finding:
    """Linear losses: t noises and a gap g, one more noise; and one shift from a common start."""
    g = sp.Symbol("g", positive=True)
    count = epoch * size + batch
    before, after = g**2 / (2 * count * noise), g**2 / (2 * (count + 1) * noise)
    return all_hold([
        gaussian_divergence(run),
        _links([
            (Equation(before * form.factor(epoch, size, batch), after), "second row attained"),
            (Equation(lambda: form.gain(step, sens, s2, b),
                      lambda: (step * sens / b) ** 2 / (4 * step * s2)),
             "first row attained at the start"),
        ], run, whole=False),
    ])  # fmt: skip


ROWS = {
    "factor of the next update": Recursion(
        factor=lambda k, size, j: (k * size + j + 1) / (k * size + j + 2)
    ),
    "epochs forgotten": Recursion(factor=lambda k, size, j: j / (j + 1)),
    "variance eta sigma^2": Recursion(gain=lambda step, sens, s2, b: step * sens**2 / (2 * s2)),
    "batch size not squared": Recursion(
        gain=lambda step, sens, s2, b: step * sens**2 / (4 * s2 * b)
    ),
}
CHAIN.ask(
    "eq-086", "derived", "symbolic", lemma_with_its_constants, form=Recursion(), mutants=ROWS
)  # fmt: skip
CHAIN.ask(
    "eq-086", "valid", "exact laws of linear losses, symbolic", linear_losses_attain_the_rows,
    form=Recursion(), mutants=ROWS,
)  # fmt: skip

CHAIN.declare(
    "eq-087", "alpha' = (alpha-1)(1 + 2 c eta sigma^2/L^2)^(-1) + 1",
    rests_on=("lem-3.2", "eq-084"), definition=True, reading="c is c_k^j and L = 1",
)  # fmt: skip


def order_stays_above_one(form: Form, run: Run) -> Finding:
    """The order of Lemma 3.2; with (84) and L = 1 it is 1 + (alpha-1) t/(t+1), 1 < alpha' < alpha.

    So a bound that holds for every order above 1 may be used at alpha'.
    """
    lip, c = sp.symbols("L c", positive=True)
    here = form(alpha, 1 / (noise * updates), sp.Integer(1), noise)
    return _links([
        (Equation(lambda: form(alpha, c, lip, noise) - 1,
                  lambda: (alpha - 1) / shrinking(c, lip, noise)),
         "Lemma 3.2"),
        (Equation(here - 1, (alpha - 1) * updates / (updates + 1)), "alpha' - 1 > 0"),
        (Equation(alpha - here, (alpha - 1) / (updates + 1)), "alpha - alpha' > 0"),
    ], run)  # fmt: skip


CHAIN.ask(
    "eq-087", "well-posed", "symbolic", order_stays_above_one,
    form=lambda a, c, lip, noise: (a - 1) / (1 + c * noise / lip**2) + 1,
    mutants={
        "alpha for alpha - 1": lambda a, c, lip, noise: a / (1 + c * noise / lip**2) + 1,
        "without the last 1": lambda a, c, lip, noise: (a - 1) / (1 + c * noise / lip**2),
        "L for L^2": lambda a, c, lip, noise: (a - 1) / (1 + c * noise / lip) + 1,
    },
)  # fmt: skip

CHAIN.declare(
    "eq-088", "eps_(k+1)^0(alpha) = eps_k^(n/b)(alpha)", rests_on=("alg-1",),
    reading="theta_(k+1)^0 is theta_k^(n/b): an epoch starts where the last one ended",
)  # fmt: skip


def epochs_join(form: Form, run: Run) -> Finding:
    """One iterate under two names: both stand after (k+1) n/b updates, so also in (84) and (86)."""
    return _links([
        (Equation(form(epoch + 1, size, sp.Integer(0)), form(epoch, size, size)),
         "as many updates"),
        (Equation(lambda: form(epoch, size, batch + 1) - form(epoch, size, batch), 1),
         "one per update"),
        (form(sp.Integer(0), size, sp.Integer(0)), "none at the start"),
    ], run)  # fmt: skip


CHAIN.ask(
    "eq-088", "valid", "symbolic", epochs_join, form=lambda k, size, j: k * size + j,
    mutants={
        "epochs of n/b - 1 updates": lambda k, size, j: k * (size - 1) + j,
        "epochs of n/b + 1 updates": lambda k, size, j: k * (size + 1) + j,
        "epochs alone": lambda k, size, j: k + j,
    },
)  # fmt: skip


# --- (89), (90): the first epoch ---------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """(89) over A: the product of term(j') for j' from first to last(j); empty is 1."""

    term: Form = lambda j: j / (j + 1)
    first: int = 1
    last: Form = lambda j: j - 1

    def value(self, j: int) -> Fraction:
        """The product in Fractions."""
        made = Fraction(1)
        for index in range(self.first, self.last(j) + 1):
            made *= self.term(Fraction(index))
        return made


CHAIN.declare(
    "eq-089", "eps_0^j/alpha <= (eta Sg^2/(4 sigma^2 b^2)) prod_(j'=1..j-1) j'/(j'+1)",
    rests_on=("eq-085", "eq-086"),
    reading="j = 1, ..., n/b and every alpha > 1; an empty product is 1",
)  # fmt: skip
CHAIN.declare(
    "eq-090", "(eta Sg^2/(4 sigma^2 b^2)) prod_(j'=1..j-1) j'/(j'+1) = "
    "(eta Sg^2/(4 sigma^2 b^2))/j", rests_on=("eq-089",),
)  # fmt: skip
PRODUCTS = {
    "one factor too many": Product(last=lambda j: j),
    "factors of the next update": Product(term=lambda j: (j + 1) / (j + 2)),
    "factors from 2 on": Product(first=2),
}


def solves_the_recursion(form: Product, run: Run) -> Finding:
    """Empty at j = 1, where (85) and the first row give A; each j adds the factor of (86), k = 0.

    The bound over alpha is the same at every order, so the change to alpha' costs nothing.
    """
    return _links([
        (Equation(sp.Integer(form.first - 1), lambda: form.last(sp.Integer(1))), "empty at j = 1"),
        (Equation(lambda: form.last(batch + 1) - form.last(batch), 1), "one factor more"),
        (Equation(lambda: form.term(form.last(batch + 1)),
                  lambda: Recursion().factor(sp.Integer(0), size, batch)),
         "which is that of (86) at k = 0"),
    ], run)  # fmt: skip


def first_epoch_of_exact_runs(form: Product, run: Run) -> Finding:
    """Linear losses, batch 0: gap s after the first update, the noise of j updates at the j-th."""
    return agree(
        ((form.value(j), Fraction(1, 2 * j) / Fraction(1, 2), {"j": str(j)})
         for j in range(1, 13)),
        "linear losses, the first twelve updates", "the product against exact R_alpha/(alpha A)",
    )  # fmt: skip


def product_telescopes(form: tuple[Product, Form], run: Run) -> Finding:
    """1 at j = 1, and a factor j/(j+1) leads from 1/j to 1/(j+1)."""
    product, closed = form
    return all_hold([
        _links([
            (Equation(lambda: closed(sp.Integer(1)), 1), "1 at j = 1"),
            (Equation(sp.Integer(product.first - 1), lambda: product.last(sp.Integer(1))),
             "empty at j = 1"),
            (Equation(lambda: product.last(batch + 1) - product.last(batch), 1), "one factor more"),
            (Equation(lambda: closed(batch) * product.term(product.last(batch + 1)),
                      lambda: closed(batch + 1)),
             "from j to j + 1"),
        ], run),
    ])  # fmt: skip


CHAIN.ask(
    "eq-089", "derived", "symbolic induction", solves_the_recursion, form=Product(),
    mutants=PRODUCTS,
)  # fmt: skip
CHAIN.ask(
    "eq-089", "valid", "exact laws of linear losses", first_epoch_of_exact_runs, form=Product(),
    mutants=PRODUCTS,
)  # fmt: skip
CHAIN.ask(
    "eq-090", "derived", "symbolic induction", product_telescopes,
    form=(Product(), lambda j: 1 / j),
    mutants={
        "1/(j + 1)": (Product(), lambda j: 1 / (j + 1)),
        "1/j^2": (Product(), lambda j: 1 / j**2),
        **{name: (made, lambda j: 1 / j) for name, made in PRODUCTS.items()},
    },
)  # fmt: skip


# --- a point start without loss of generality --------------------------------------------------


@dataclass(frozen=True)
class Start:
    """Two starting points with weights in each run, and the two laws that follow from each."""

    first: tuple[Fraction, ...] = (Fraction(1, 3), Fraction(2, 3))
    second: tuple[Fraction, ...] = (Fraction(1, 3), Fraction(2, 3))
    integrand: Form = lambda x, y, power: x**power * y ** (1 - power)


LAWS = (
    ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4))),
    ((Fraction(9, 10), Fraction(1, 10)), (Fraction(4, 5), Fraction(1, 5))),
)
CHAIN.declare(
    "txt-d.2-point-start",
    "whatever the law of theta_0, R_alpha of the last iterates is at most the largest R_alpha "
    "given theta_0, so that it suffices to bound a point start",
    rests_on=("lem-4.1", "def-b2"),
    reading="theta_0 has one law in both runs, as in Algorithm 1; the largest over the starts is a "
    "supremum. It is the divergence that reduces to a point, not the log-Sobolev inequality",
)  # fmt: skip


def mixing_over_one_start(form: Start, run: Run) -> Finding:
    """Lemma 4.1, then an average is at most the largest: M - sum p_i e_i = sum p_i (M - e_i).

    e_i = exp((alpha-1) R_alpha given the start i); the logarithm over alpha - 1 increases.
    """
    p, most, one, two = sp.symbols("p M e_1 e_2", positive=True)
    weights, others = form.first, form.second
    mean = p * one + (1 - p) * two
    return all_hold([
        merging_lowers(form.integrand, run),
        _links([
            (Equation(most - mean - p * (most - one), (1 - p) * (most - two)),
             "average below the largest"),
            *((Equation(sp.Rational(w.numerator, w.denominator),
                        sp.Rational(v.numerator, v.denominator)),
               "the same weights in both runs") for w, v in zip(weights, others, strict=True)),
        ], run),
    ])  # fmt: skip


def mixtures_of_two_points(form: Start, run: Run) -> Finding:
    """Order 2, two starts, laws on two points: the moment sum p^2/q, in Fractions."""
    domain = "laws on two points, order 2"
    moments = [
        sum((form.integrand(x, y, 2) for x, y in zip(p, q, strict=True)), start=Fraction(0))
        for p, q in LAWS
    ]
    mixed = [
        [sum((w * pair[side][i] for w, pair in zip(weights, LAWS, strict=True)), start=Fraction(0))
         for i in range(2)]
        for side, weights in enumerate((form.first, form.second))
    ]  # fmt: skip
    left = sum((form.integrand(x, y, 2) for x, y in zip(*mixed, strict=True)), start=Fraction(0))
    right = max(moments)
    parameters = {
        "alpha": "2", "weights": " ".join(map(show, form.first)),
        "weights of the other run": " ".join(map(show, form.second)),
        "laws": "; ".join(" ".join(map(show, law)) for pair in LAWS for law in pair),
    }  # fmt: skip
    return Finding(
        "holds" if left <= right else "fails", "point", domain,
        f"moment of the mixtures {left} against the largest {right}",
        certificate={"kind": "point", "parameters": parameters, "left": [show(left)] * 2,
                     "right": [show(right)] * 2, "relation": "<="},
    )  # fmt: skip


CHAIN.ask(
    "txt-d.2-point-start", "derived", "symbolic Hessian and homogeneity", mixing_over_one_start,
    form=Start(),
    mutants={
        "another law of the start": Start(second=(Fraction(1, 2), Fraction(1, 2))),
        "order below 1": Start(integrand=lambda x, y, power: -(x**power) * y ** (1 - power)),
        "exponent of y not 1 - alpha": Start(integrand=lambda x, y, power: x**power * y**-power),
    },
)  # fmt: skip
CHAIN.ask(
    "txt-d.2-point-start", "valid", "finite laws, exact", mixtures_of_two_points, form=Start(),
    mutants={
        "another law of the start": Start(
            first=(Fraction(1), Fraction(0)), second=(Fraction(0), Fraction(1))
        ),
        "another two laws": Start(
            first=(Fraction(0), Fraction(1)), second=(Fraction(1), Fraction(0))
        ),
    },
)  # fmt: skip


# --- Feldman et al. 2018 -----------------------------------------------------------------------


@dataclass(frozen=True)
class Amplified:
    """The quoted Theorem 23 over alpha, and its symbols in those of Algorithm 1, b = 1.

    bound(L, variance, n, i): gradients of norm at most L, noise of that variance inside the
    gradient, record i = 1, ..., n. lipschitz(Sg), variance(eta, sigma^2), index(j0).
    """

    bound: Form = lambda lip, variance, n, i: 2 * lip**2 / (variance * (n + 1 - i))
    lipschitz: Form = lambda sens: sens / 2
    variance: Form = lambda step, s2: 2 * step * s2 / step**2
    index: Form = lambda j: j + 1

    def value(self, step: Any, sens: Any, s2: Any, n: Any, j: Any) -> Any:
        """The quoted bound over alpha for batch j."""
        return self.bound(self.lipschitz(sens), self.variance(step, s2), n, self.index(j))


TRANSLATED = Amplified()
AMPLIFIED = {
    "records counted from 0": Amplified(index=lambda j: j),
    "noise outside the gradient": Amplified(variance=lambda step, s2: 2 * step * s2),
    "sensitivity for the Lipschitz constant": Amplified(lipschitz=lambda sens: sens),
    "factor 2 lost": Amplified(bound=lambda lip, variance, n, i: lip**2 / (variance * (n + 1 - i))),
}
QUOTED = (
    "Theorem 23 is quoted as (alpha, 2 alpha L^2/(s^2 (n + 1 - i))) for the i-th record of one "
    "pass with noise N(0, s^2) inside the gradient step; then s^2 = 2 sigma^2/eta, Sg = 2 L and "
    "i = j0 + 1. Its projection and its closed step range eta <= 2/beta are not compared"
)
CHAIN.declare(
    "txt-d.4-feldman-23",
    "for K = 1 and b = 1 Theorem D.4 is Theorem 23 of Feldman et al. 2018",
    cited=True, rests_on=("thm-d.4",), reading=QUOTED,
)  # fmt: skip


def same_as_one_pass(form: Amplified, run: Run) -> Finding:
    """(80) at K = b = 1, over alpha: eta Sg^2/(4 sigma^2 (n - j0))."""
    ours = step * sens**2 / (4 * s2) * STEPS.total(sp.Integer(1), size, place)
    return _links(
        [(Equation(ours, lambda: form.value(step, sens, s2, size, place)), "K = 1, b = 1")], run
    )


def same_at_settings(form: Amplified, run: Run) -> Finding:
    """Theorem D.4 of the library against the quoted bound, exactly."""
    made = [
        Setting.of(n=n, b=1, epochs=1, eta=step, lambda_=0, beta=1, sensitivity=4,
                   sigma2="3/4", alpha="5/2", position=j)
        for n, j in ((1, 0), (3, 0), (3, 1), (7, 6)) for step in ("1/2", "9/5")
    ]  # fmt: skip
    return agree(
        ((find("thm-d.4").in_system(at, Exact),
          at.alpha * form.value(at.eta, at.sensitivity, at.sigma2, at.n, at.place),
          at.as_strings()) for at in made if at.alpha is not None),
        "eight settings", "Theorem D.4 against the quoted bound",
    )  # fmt: skip


CHAIN.ask(
    "txt-d.4-feldman-23", "restated", "symbolic", same_as_one_pass, form=TRANSLATED,
    mutants=AMPLIFIED,
)  # fmt: skip
CHAIN.ask(
    "txt-d.4-feldman-23", "transcribed", "exact rational arithmetic", same_at_settings,
    form=TRANSLATED, mutants=AMPLIFIED,
)  # fmt: skip

CHAIN.declare(
    "txt-3.1-recovers-feldman",
    "Lemma 3.2 recovers the tight bound of Feldman et al. 2018 for convex smooth losses",
    cited=True, rests_on=("lem-3.2", "thm-d.4", "txt-d.4-feldman-23"),
    reading="one pass, b = 1, as in D.4: the recursion (86) from (85) on ends at the value of "
    "Theorem 23, which is tight in that it depends on the number n - j0 of updates from the record "
    f"on alone, and is attained for every such number. {QUOTED}",
)  # fmt: skip


def recursion_ends_there(form: Amplified, run: Run) -> Finding:
    """One update with the record gives A, n - j0 - 1 more lead to A/(n - j0): by induction."""
    rate = step * sens**2 / (4 * s2)
    factor = Recursion().factor(sp.Integer(0), size, batch)
    here = form.value(step, sens, s2, size, size - batch)
    later = form.value(step, sens, s2, size, size - batch - 1)
    return _links([
        (Equation(lambda: form.value(step, sens, s2, size, size - 1), rate),
         "the record in the last update"),
        (Equation(lambda: here * factor, later), "one update more after the record"),
    ], run)  # fmt: skip


def attained_by_one_pass(form: Amplified, run: Run) -> Finding:
    """Linear losses, first record: one shift eta Sg against the noise of n updates, for every n.

    For eta >= 1/beta so is every record: curvature 1/eta in its update forgets what came before,
    and the shift stands against n - j0 noises.
    """
    first = (step * sens) ** 2 / (2 * size * (2 * step * s2))
    later = (step * sens) ** 2 / (2 * (size - place) * (2 * step * s2))
    return all_hold([
        gaussian_divergence(run),
        _links([
            (Equation(lambda: form.value(step, sens, s2, size, sp.Integer(0)), first),
             "first record, every n"),
            (Equation(form.value(step, sens, s2, size, place), later),
             "every record if eta >= 1/beta"),
        ], run),
    ])  # fmt: skip


CHAIN.ask(
    "txt-3.1-recovers-feldman", "derived", "symbolic induction", recursion_ends_there,
    form=TRANSLATED, mutants=AMPLIFIED, part="recovered",
)  # fmt: skip
CHAIN.ask(
    "txt-3.1-recovers-feldman", "valid", "exact laws of runs, symbolic", attained_by_one_pass,
    form=TRANSLATED, mutants=AMPLIFIED, part="tight",
)  # fmt: skip

CHAIN.declare(
    "txt-d.4-feldman-35",
    "for K = n epochs and b = 1 Theorem D.4 is Theorem 35 of Feldman et al. 2018",
    rests_on=("thm-d.4", "txt-d.4-feldman-23"),
    reading="K = n, as printed, is an odd condition: nothing in (80) singles it out, and the "
    "number of epochs may have been meant to be arbitrary",
    tried="The wording of Theorem 35 was not at hand, so the equality itself was not judged. What "
    "Theorem D.4 says at b = 1, K = n and at any K equals Theorem 23 of the same work composed "
    "over passes that start with the record's use, exactly, which the record shows.",
)  # fmt: skip


def same_as_composed_passes(form: Form, run: Run) -> Finding:
    """(80) at b = 1: K - 1 passes of n updates that begin with the record, then n - j0 updates.

    form(K): which number of passes is composed.
    """
    count = form(epochs)
    whole = TRANSLATED.value(step, sens, s2, size, sp.Integer(0))
    last = TRANSLATED.value(step, sens, s2, size, place)
    ours = step * sens**2 / (4 * s2) * STEPS.total(epochs, size, place)
    difference = count * whole + last - ours
    return _links([
        (difference, "every K"), (difference.subs(epochs, size), "K = n"),
    ], run)  # fmt: skip


CHAIN.ask(
    "txt-d.4-feldman-35", "transcribed", "symbolic", same_as_composed_passes,
    form=lambda k: k - 1,
    mutants={"K passes besides": lambda k: k, "one pass": lambda k: sp.Integer(1)},
)  # fmt: skip
