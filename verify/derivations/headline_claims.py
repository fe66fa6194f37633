"""What abstract, introduction and symbol table say of the bounds, made precise and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from bounds.arith.ball import precision
from bounds.arith.symbolic import Symbolic
from bounds.bound import Bound, find, symbolic_parameters
from bounds.setting import Setting
from verify.derivations.chain import Chain
from verify.methods import formulas
from verify.methods.enclosure import BITS, Formulas, ball, compare, points
from verify.methods.symbolic import all_hold, identity, rational_identity
from verify.statement import Finding, Run
from verify.statements.figures import CAPTION, ORDERS

CHAIN = Chain(__name__, "lambda > 0, 0 < eta < 2/(lambda + beta), every n/b, K >= 1 and alpha > 1")
DOMAIN = CHAIN.domain
CAPTIONS = "the captions' parameters, orders 10 and 15"
Formula = Callable[..., Any]
count = sp.Symbol("K", positive=True, integer=True)


# Composition grows linearly.

COMPOSED = ("fixed_order_composition", "sampled_gaussian", "balle_2019_composed")


def every_epoch_costs_the_same(form: Callable[[Any], Any], run: Run) -> Finding:
    """The increment from one epoch to the next does not depend on K; it is a positive cost.

    Composition adds what the epochs cost, and the epochs are alike. So do the library's three
    composed bounds, of which Balle et al.'s has a first epoch of its own; n/b = 3, order 3.
    """
    links = [rational_identity(form(count + 1) - form(count) - form(count + 2) + form(count + 1),
                               DOMAIN, "K epochs at one cost each", seed=run.seed)]  # fmt: skip
    for name in COMPOSED:
        values = [
            find(name).epsilon(
                symbolic_parameters(n=6, b=2, epochs=count + later, alpha=3), Symbolic
            )
            for later in range(3)
        ]
        links.append(rational_identity(
            values[2] - 2 * values[1] + values[0], DOMAIN,
            f"{name}: second difference in K is zero", seed=run.seed,
        ))  # fmt: skip
    return all_hold(links)


_cost = sp.Symbol("e", positive=True)
CHAIN.declare(
    "txt-0-linear",
    "Renyi DP bounds by composition grow linearly with the number of epochs",
    reading="an epoch adds one and the same positive cost, whatever came before",
)
CHAIN.ask(
    "txt-0-linear", "valid", "symbolic second difference", every_epoch_costs_the_same,
    form=lambda number: number * _cost,
    mutants={
        "squared": lambda number: number**2 * _cost,
        "converging": lambda number: _cost * (1 - 2 ** (-number)),
    },
)  # fmt: skip


# The new bound converges exponentially fast.


def gap_shrinks_by_one_ratio(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """The distance to the limit is eps_0^m rho^(K-1)/(1-rho), rho = (1 - eta lambda)^(2(l-m)).

    l = n/b, m = floor(l/2), and rho < 1 as 0 < eta lambda < 1 and l > m. In the library's formula
    increments shrink by the same ratio at l = 2 and 3.
    """
    share, ratio, passed = sp.symbols("eps_m rho R", positive=True)
    links = [identity(
        share / (1 - ratio) - share * (1 - passed) / (1 - ratio), share * passed / (1 - ratio),
        DOMAIN, "the first term of (5) misses its limit by eps_0^m rho^(K-1)/(1-rho)",
        seed=run.seed,
    )]  # fmt: skip
    eta, lam = sp.symbols("eta lambda", positive=True)
    for size in (2, 3):
        values = [
            find("shuffle_partition").epsilon(
                symbolic_parameters(n=size, b=1, epochs=count + later, eta=eta, lambda_=lam),
                Symbolic,
            )
            for later in range(3)
        ]
        links.append(identity(
            values[2] - values[1], form(1 - eta * lam, size) * (values[1] - values[0]), DOMAIN,
            f"n/b = {size}: increments shrink by rho", seed=run.seed,
        ))  # fmt: skip
    return all_hold(links)


def shrinkage(kept: Any, size: int) -> Any:
    """rho."""
    return kept ** (2 * (size - size // 2))


RESAMPLED = (
    Setting.of(n=50, b=2, alpha=10, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4),
    Setting.of(n=2, b=1, alpha=2, eta=1, lambda_="1/2", beta=1, sensitivity=2, sigma2=1),
    Setting.of(n=2, b=1, alpha=2, eta=1, lambda_="1/2", beta=1, sensitivity=2, sigma2=2),
    Setting.of(n=50, b=2, alpha=10, eta=1, lambda_="1/2", beta=1, sensitivity=4, sigma2=10),
)


def _exponent(setting: Setting) -> Fraction:
    """(alpha - 1) alpha A."""
    assert setting.alpha is not None
    return (setting.alpha - 1) * setting.alpha * setting.rate


def _growth(setting: Setting) -> Any:
    """(b/n) exp((alpha - 1) alpha A), by which an update multiplies S at least."""
    assert setting.n is not None and setting.b is not None
    return ball(Fraction(setting.b, setting.n)) * ball(_exponent(setting)).exp()


def recursion_contracts(form: Callable[[Setting], Any], run: Run) -> Finding:
    """f(S) = p E S + (1-p) S^q, p = b/n, E = exp((alpha-1) alpha A), q = (1 - eta lambda)^2 < 1.

    p E >= 1: S grows by (1-p) S^q >= 1 - p in every update, without bound. p E < 1: f is concave
    and f(1) - 1 = p (E - 1) > 0, while f(S)/S falls to p E < 1, so there is a fixed point S*, and
    the gap S* - S shrinks at least by the slope (S* - f(1))/(S* - 1) < 1 of the chord.

    form: which settings are claimed.
    """
    for setting in RESAMPLED:
        with precision(BITS):
            if not form(setting):
                continue
            found = compare(
                _growth(setting), flint.arb(1), parameters=setting.known(), relation="<",
                domain=DOMAIN, what="factor (b/n) exp(alpha (alpha-1) A) on S, an update, against "
                "the 1 below which the recursion of Theorem 4.3 converges",
                formulas=Formulas(
                    f"b/n*exp((alpha - 1)*alpha*{formulas.RATE})", "1", formulas.values(setting)
                ),
            )  # fmt: skip
        if found.outcome != "holds":
            return found
    p, rise, s, q = sp.symbols("p E S q", positive=True)
    step = p * rise * s + (1 - p) * s**q
    return all_hold([
        identity(step.subs(s, 1) - 1, p * (rise - 1), DOMAIN,
                 "the first update raises S by p (E - 1)", seed=run.seed),
        identity(sp.diff(step, s, 2), (1 - p) * q * (q - 1) * s ** (q - 2), DOMAIN,
                 "f'' = (1-p) q (q-1) S^(q-2) < 0", seed=run.seed),
        identity(step - s - (p * rise - 1) * s, (1 - p) * s**q, DOMAIN,
                 "where p E >= 1, S grows by (1-p) S^q at least", seed=run.seed),
        identity(step / s - p * rise, (1 - p) * s**q / s, DOMAIN,
                 "f(S)/S = p E + (1-p) S^(q-1), which falls to p E", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "txt-0-exponential",
    'under "shuffle and partition" and "sample without replacement" the bound converges '
    "exponentially fast in the number of epochs",
    rests_on=("thm-4.2", "thm-4.3", "txt-4.2-converges-forever"),
    reading="the abstract names both schemes: the distance of the bound from a limit shrinks by a "
    "constant factor below 1 an epoch, at every order and setting that the theorem allows",
    severity="statement",
    finding='For "shuffle and partition" it holds, with the ratio (1 - eta lambda)^(2(n/b - '
    "floor(n/(2b)))). For sampling without replacement the bound of Theorem 4.3 converges only "
    "where (b/n) exp(alpha (alpha-1) A) < 1, A = eta Sg^2/(4 sigma^2 b^2); elsewhere, at large "
    "orders in particular, it grows without bound.",
    correction='exponentially fast under "shuffle and partition"; without replacement exactly '
    "where (b/n) exp(alpha (alpha-1) eta Sg^2/(4 sigma^2 b^2)) < 1, as at Figure 2's parameters",
)
CHAIN.ask(
    "txt-0-exponential", "valid", "symbolic geometric sum", gap_shrinks_by_one_ratio,
    form=shrinkage, part="shuffle and partition",
    mutants={
        "whole epochs": lambda kept, size: kept ** (2 * size),
        "ceiling for floor": lambda kept, size: kept ** (2 * (size - (size + 1) // 2)),
        "half of the exponent": lambda kept, size: kept ** (size - size // 2),
    },
)  # fmt: skip
CHAIN.ask(
    "txt-0-exponential", "valid", "balls, and concavity", recursion_contracts,
    form=lambda setting: True, correction=lambda setting: _growth(setting) < 1,
    readings={"at the captions' parameters": lambda setting: setting.n == 50 and setting.eta < 1},
    part="without replacement",
    mutants={
        "order counted once": lambda setting: (
            ball(Fraction(setting.b, setting.n) / 1)
            * ball(_exponent(setting) / (setting.alpha - 1)).exp() < 1
        ),
        "limit 2": lambda setting: _growth(setting) < 2,
    },
)  # fmt: skip


# The new bound against composition, and the naive one against composition.


@dataclass(frozen=True)
class Below:
    """Claims (smaller, larger, factor, epochs): factor times the smaller is below the larger."""

    claims: tuple[tuple[str, str, str, tuple[int, ...]], ...]
    setting: Setting = CAPTION
    orders: tuple[Fraction, ...] = ORDERS
    scaled: str = ""
    by: Fraction = Fraction(1)

    def value(self, name: str, epochs: int, order: Fraction) -> Any:
        """A bound, changed if it is the `scaled` one; "naive limit" is K = infinity."""
        bound: Bound = find("naive_extension" if name == "naive limit" else name)
        setting = replace(self.setting, epochs=epochs, alpha=order)
        if name == "naive limit":
            value = ball(4 * order * setting.rate / setting.eta_lambda)
        else:
            value = bound.enclose(setting, 25)
        return value * ball(self.by) if name == self.scaled else value

    def written(self, name: str, epochs: int, order: Fraction) -> str:
        """The same as printed, in the language of certificates."""
        setting = replace(self.setting, epochs=epochs, alpha=order)
        if name == "naive limit":
            text = f"4*alpha*{formulas.RATE}/(eta*lambda)"
        else:
            text = formulas.printed(name, setting)
        return f"{self.by}*({text})" if name == self.scaled else text


def curves_lie_as_claimed(form: Below, run: Run) -> Finding:
    """Every claim at every order and epoch that it names, by enclosures."""
    found, rows = [], []
    for smaller, larger, factor, many in form.claims:
        for order in form.orders:
            for epochs in many:
                with precision(BITS):
                    sides = (
                        ball(Fraction(factor)) * form.value(smaller, epochs, order),
                        form.value(larger, epochs, order),
                    )
                    claimed = Formulas(
                        f"{factor}*({form.written(smaller, epochs, order)})",
                        form.written(larger, epochs, order),
                        formulas.values(replace(form.setting, epochs=epochs, alpha=order)),
                    )
                    rows.append((claimed, *sides))
                    found.append(compare(
                        *sides, formulas=claimed,
                        parameters={"K": Fraction(epochs), "alpha": order}, relation="<",
                        domain=f"{CAPTIONS}, the epochs named",
                        what=f"K = {epochs}, order {order}: {factor} times {smaller} against "
                        f"{larger}",
                    ))  # fmt: skip
                if found[-1].outcome != "holds":
                    return found[-1]
    held = all_hold(found)
    told = "; ".join(f"{factor} {smaller} < {larger} at K = {', '.join(map(str, many))}"
                     for smaller, larger, factor, many in form.claims)  # fmt: skip
    return replace(held, detail=f"{told} (orders {', '.join(map(str, form.orders))})",
                   certificate={"kind": "links", "links": points(rows, "<")})  # fmt: skip


SMALLER = Below((
    ("shuffle_partition", "sampled_gaussian", "1", (8, 9, 10, 15, 20, 50, 100, 200)),
    ("shuffle_partition", "sampled_gaussian", "2", (20, 50, 100, 200)),
    ("shuffle_partition", "sampled_gaussian", "25/2", (110, 200)),
    ("without_replacement", "sampled_gaussian", "1", (50, 100)),
    ("without_replacement", "sampled_gaussian", "4", (200,)),
))  # fmt: skip
SLOW = Setting.of(n=2, b=1, eta="1/1000000", lambda_=1, beta=1, sensitivity=2, sigma2=1)
CHAIN.declare(
    "txt-0-smaller",
    "the new bound is substantially smaller than composition, notably after a few epochs",
    rests_on=("thm-4.2", "thm-4.3", "fig-2a", "fig-2b"),
    reading='at Figure 2\'s parameters: under "shuffle and partition" below composition from '
    "K = 8 on, under half from K = 20, under a twelfth from K = 110; without replacement below "
    "from K = 50, under a quarter at K = 200. In general the number of epochs grows like "
    "1/(eta lambda), so that a few do not do; and the bound without replacement need never be "
    "below where it does not converge. See the other readings",
)
CHAIN.ask(
    "txt-0-smaller", "valid", "enclosures", curves_lie_as_claimed, form=SMALLER,
    readings={
        "after 100 epochs, whatever eta lambda": Below(
            (("shuffle_partition", "sampled_gaussian", "1", (100,)),), SLOW, (Fraction(2),)
        ),
        "without replacement, whatever the order": Below(
            (("without_replacement", "sampled_gaussian", "1", (100,)),),
            replace(RESAMPLED[1], alpha=None), (Fraction(2),),
        ),
        "from the first epoch": Below(
            (("shuffle_partition", "sampled_gaussian", "1", (1, 2, 3)),)
        ),
    },
    mutants={
        "composition divided by n": replace(SMALLER, scaled="sampled_gaussian", by=Fraction(1, 50)),
        "the average replaced by its sum": replace(
            SMALLER, scaled="shuffle_partition", by=Fraction(25)
        ),
        "recursion twice": replace(SMALLER, scaled="without_replacement", by=Fraction(2)),
    },
)  # fmt: skip

RANGE = (1, 2, 5, 10, 20, 50, 100, 150, 200)
WORSE = Below((
    ("sampled_gaussian", "naive_extension", "20", RANGE),
    ("balle_2019_composed", "naive_extension", "19/10", RANGE),
    ("sampled_gaussian", "naive limit", "24", RANGE),
    ("naive_extension", "naive limit", "2", (69,)),
    ("naive_extension", "naive limit", "8/7", (200,)),
))  # fmt: skip
CHAIN.declare(
    "txt-2-naive-worse",
    "the naive baseline slowly converges to a huge constant, significantly worse than the bounds "
    "derived by composition (Figure 1)",
    rests_on=("thm-2.1", "fig-1a", "fig-1b"),
    reading="over the range of the figure, K <= 200: the naive bound and its limit 4 alpha "
    "A/(eta lambda), 10 at order 10, exceed composition twentyfold, and at K = 69 it has come less "
    "than half of the way. Composition has no limit and passes the constant near K = 5000, so "
    "that literally, for every K, it is not worse: see the other reading",
)
CHAIN.ask(
    "txt-2-naive-worse", "valid", "enclosures", curves_lie_as_claimed, form=WORSE,
    readings={
        "for every K": Below((("sampled_gaussian", "naive limit", "1", (200, 1000, 5000)),)),
    },
    mutants={
        "naive bound divided by n": replace(WORSE, scaled="naive_extension", by=Fraction(1, 50)),
        "limit a tenth": replace(WORSE, scaled="naive limit", by=Fraction(1, 10)),
        "composition in a fixed order": replace(
            WORSE, scaled="sampled_gaussian", by=Fraction(25)
        ),
    },
)  # fmt: skip


# The symbol table against its use.


def noise_as_covariance(form: Callable[[Any], Any], run: Run) -> Finding:
    """Algorithm 1 adds sqrt(2 eta sigma^2) N(0, I), the proofs add N(0, 2 eta sigma^2 I).

    form(s): the variance of N(0, s I) in each coordinate. The two are one law only if that is s.
    """
    size = sp.Symbol("s", positive=True)
    return all_hold([
        identity(lambda: size * form(sp.Integer(1)), lambda: form(size), "every noise scale",
                 "sqrt(s) N(0, I) and N(0, s I) have one variance", seed=run.seed),
        identity(lambda: form(sp.Integer(1)), 1, "every noise scale", "N(0, I) is standard",
                 seed=run.seed),
    ])  # fmt: skip


def sensitivity_of_the_sum(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """Two neighbouring runs are pushed apart by eta Sg/b, as (70) has it, S_g being of the sum.

    form(S, b): change of the mean gradient of a batch. Then alpha A = alpha shift^2/(2 variance)
    with variance 2 eta sigma^2 is the library's.
    """
    p = symbolic_parameters(n=6, b=2, epochs=1)
    shift = p.eta * form(p.sensitivity, p.b)
    return identity(
        lambda: p.alpha * shift**2 / (2 * (2 * p.eta * p.sigma2)), lambda: p.alpha * p.rate,
        "n = 6, b = 2",
        "alpha A from the shift of one update", seed=run.seed,
    )  # fmt: skip


def indices_cover_the_run(form: tuple[int, int], run: Run) -> Finding:
    """Records 1..n fill n/b batches of b; updates (k, j), j = 0..n/b - 1, number k n/b + j.

    form: the first record and the first iteration. theta_k^(n/b) is theta_(k+1)^0.
    """
    record, iteration = form
    size, many, k = sp.symbols("b l k", positive=True)
    last = many * size  # n = l b
    return all_hold([
        identity(lambda: last - record + 1, lambda: many * size, "b divides n",
                 "as many records as places", seed=run.seed),
        identity((k * many + (many - 1 - iteration)) + 1, (k + 1) * many, "b divides n",
                 "the last iteration of an epoch precedes the first of the next",
                 seed=run.seed),
    ])  # fmt: skip


def second_derivative_as_used(form: Callable[[Any], Any], run: Run) -> Finding:
    """(180) puts nabla^2 of the logistic loss between 0 and beta = |x|^2/2; here |x| = 1.

    At theta = 0 with c classes it is T (x) x x^T, T = I/c - J/c^2 by (177). form: the number that
    the symbol stands for, or the largest of the numbers if it is a matrix.
    """
    found = []
    for classes in (2, 3, 4):
        matrix = sp.eye(classes) / classes - sp.ones(classes) / classes**2
        value = form(matrix)
        with precision(BITS):
            found.append(compare(
                ball(Fraction(value.p, value.q)), ball(Fraction(1, 2)),
                parameters={"classes": Fraction(classes)}, relation="<=",
                domain="logistic losses of 2, 3 and 4 classes at theta = 0",
                what="nabla^2 of the loss, as the symbol table reads it, against beta",
                formulas=Formulas("sum(i, 1, c, 1/c - 1/c**2)", "1/2", {"c": classes})
                if value == matrix.trace() else None,
            ))  # fmt: skip
    return all_hold(found)


def _largest(matrix: Any) -> Any:
    """Largest eigenvalue."""
    return max(matrix.eigenvals())


CHAIN.declare(
    "txt-a-conventions",
    "records are numbered from 1, epochs and iterations from 0; N(mu, s I) has covariance s I; "
    "S_g is the sensitivity of the total gradient; nabla_x^2 y is the Laplacian",
    reading="every line of the table against the use of its symbol. The line on S_g writes g for "
    "the sum of the gradients where Algorithm 1 writes it for their mean over a batch; S_g is "
    "used as the table says, divided by b",
    severity="misprint",
    finding="nabla^2 stands in the paper for the Hessian alone, in (172) to (180), and the "
    "Laplacian is written with a Delta, in (33) and (34). Read as a Laplacian, (180) is false "
    "for three classes, 2/3 against 1/2; the other conventions are used as stated.",
    correction="nabla_x^2 y is the Hessian of y with respect to x",
)
CHAIN.ask(
    "txt-a-conventions", "well-posed", "symbolic identity", noise_as_covariance,
    form=lambda size: size, part="noise", mutants={"as deviation": lambda size: size**2},
)  # fmt: skip
CHAIN.ask(
    "txt-a-conventions", "well-posed", "symbolic identity", sensitivity_of_the_sum,
    form=lambda sens, b: sens / b, part="sensitivity",
    mutants={"of the mean": lambda sens, b: sens, "of the sum, times b": lambda sens, b: sens * b},
)  # fmt: skip
CHAIN.ask(
    "txt-a-conventions", "well-posed", "symbolic identity", indices_cover_the_run, form=(1, 0),
    part="indices", mutants={"records from 0": (0, 0), "iterations from 1": (1, 1)},
)  # fmt: skip
CHAIN.ask(
    "txt-a-conventions", "well-posed", "exact eigenvalues", second_derivative_as_used,
    form=lambda matrix: matrix.trace(), correction=_largest, part="second derivative",
    mutants={
        "twice the Hessian": lambda matrix: 2 * _largest(matrix),
        "sum of its entries' sizes": lambda matrix: sum(abs(entry) for entry in matrix),
    },
)  # fmt: skip
