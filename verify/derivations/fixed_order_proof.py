"""(3) and (91) to (110): the proof of Theorem 3.3, link by link.

Throughout q = (1 - eta lambda)^2, A = eta Sg^2/(4 sigma^2 b^2), l = n/b, m = floor(l/2),
W_t = 1 + q + ... + q^(t-1), E = eps_0^m/alpha and rho = q^(l-m). A ratio is a divergence over
alpha A, and eps_k^j is the largest divergence, for a record of the first batch, after k epochs and
j updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from bounds.arith.exact import Exact
from bounds.bound import find
from bounds.setting import Setting
from verify.derivations.chain import Chain
from verify.methods.enclosure import Formulas, exact_point
from verify.methods.quadratic import exact_ratio
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity, where
from verify.statement import Finding, Run

CHAIN = Chain(__name__, "0 < eta lambda < 1, every n/b >= 2, K >= 1, alpha > 1 and batch")
READING = (
    "eps_k^j is the supremum of the divergence over neighbours that differ in the first batch, "
    "losses and starts, of which the text's bounds are bounds"
)
Q, W = sp.symbols("q W", positive=True)
ONE = Fraction(1)
BASES = tuple(map(Fraction, ("1/2", "99/100", "1/50")))
SIZES = (2, 3, 4, 5)


def total(q: Any, terms: int) -> Any:
    """1 + q + ... + q^(terms - 1)."""
    return sum((q**s for s in range(terms)), start=0 * q)


def closed(q: Any, terms: Any) -> Any:
    """The same sum for a symbolic number of terms."""
    return (1 - q**terms) / (1 - q)


def share(q: Any, j: int) -> Any:
    """The ratio (99)."""
    return q ** (j - 1) / total(q, j)


def setting(c: Fraction, size: int, epochs: int, position: int) -> Setting:
    """A setting with 1 - eta lambda = c, A = 1 and eta beta = 1."""
    eta = 1 - c
    return Setting(
        n=size, b=1, epochs=epochs, eta=eta, lambda_=ONE, beta=1 / eta, sensitivity=Fraction(2),
        sigma2=eta, alpha=Fraction(2), position=position,
    )  # fmt: skip


@cache
def supremum(c: Fraction, size: int, epochs: int, updates: int) -> Fraction:
    """The largest ratio after whole epochs and 0 <= updates <= size more, for eta beta >= 1."""
    if not updates:
        return supremum(c, size, epochs - 1, size) if epochs else Fraction(0)
    made = setting(c, size, epochs + 1, size - updates)
    value: Fraction = find("optimal_fixed_order").in_system(made, Exact) / 2
    return value


def slowest(c: Fraction, size: int, updates: int) -> Fraction:
    """The ratio of the slowest quadratic, record in the first batch, after so many updates."""
    shift = sum((c ** (updates - 1 - t) for t in range(0, updates, size)), start=Fraction(0))
    return shift**2 / total(c**2, updates) if updates else Fraction(0)


Claim = tuple[dict[str, Any], Fraction, Fraction]


def related(
    claims: Iterable[Claim],
    what: str,
    relation: str = "<=",
    written: Callable[[Any], Formulas | None] = lambda parameters: None,
) -> Finding:
    """Whether each left side is related to its right side, in exact arithmetic.

    written: both sides as formulas, from the parameters, where they are to be had.
    """
    count = 0
    for parameters, left, right in claims:
        count += 1
        if left > right or (relation == "=" and left != right):
            shown = {key: str(value) for key, value in parameters.items()}
            formulas = written(parameters)
            return Finding(
                "fails", "point", "designed settings, exact",
                f"{what}: {left} against {right} at {where(shown)}",
                certificate=exact_point(formulas, left, right, relation) if formulas else {
                    "kind": "point", "parameters": shown, "left": [str(left)] * 2,
                    "right": [str(right)] * 2, "relation": relation,
                },
            )  # fmt: skip
    return Finding(
        "holds", "point", "designed settings, exact", f"{what}: at {count} settings",
        certificate={"kind": "points", "count": count},
    )  # fmt: skip


def designed(most_epochs: int = 2) -> Iterator[tuple[Fraction, int, int]]:
    """1 - eta lambda, n/b and k, the simplest first."""
    for size in SIZES:
        for k in range(most_epochs + 1):
            for c in BASES:
                yield c, size, k


def named(c: Fraction, size: int, k: int, **more: Any) -> dict[str, Any]:
    """The parameters of a point as a witness shows them."""
    return {"eta lambda": 1 - c, "n/b": size, "k": k, "A": 1, **more}


# --- (93) to (97): the recursion ----------------------------------------------------------------

NOISE = sp.Symbol("v", positive=True)  # 2 eta sigma^2


def _constants(lsi: Callable[[Any], Any]) -> list[Any]:
    return [1 / lsi(sp.Integer(1)) - NOISE, 1 / lsi(1 + Q * W) - Q / lsi(W) - NOISE]


CHAIN.identity(
    "eq-093",
    "c_k^j = 1/(2 eta sigma^2) / sum_(s < k n/b + j) (1 - eta lambda)^(2s)",
    _constants(lambda w: 1 / (NOISE * w)),
    mutants={
        "one update too many": _constants(lambda w: 1 / (NOISE * (1 + Q * w))),
        "noise eta sigma^2": _constants(lambda w: 2 / (NOISE * w)),
        "inverse": _constants(lambda w: w / NOISE),
    },
    reason="1/c = v after one update from a point, and 1/c becomes q/c + v with each further one",
    rests_on=("lem-d.3",),
    reading="Lemma D.3 repeated: fixed batches and a point start; infinite at k = j = 0",
)


def start_is_common(form: Any, run: Run) -> Finding:
    """Equal laws have E[(p/p')^alpha] = 1; from there the first update gives (99) at j = 1."""
    alpha = sp.Symbol("alpha", positive=True)
    return all_hold([
        identity(lambda: form(alpha), lambda: sp.log(1) / (alpha - 1), CHAIN.domain,
                 "log 1/(alpha - 1) = 0", seed=run.seed),
        identity(lambda: form(alpha) / alpha + 1, lambda: share(Q, 1), CHAIN.domain,
                 "one update with the record from it gives (99) at j = 1",
                 seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-094", "eps_0^0(alpha) = 0",
    reading="both runs start in one law; where it is not a point it is conditioned on",
)  # fmt: skip
CHAIN.ask(
    "eq-094", "valid", "symbolic", start_is_common, form=lambda alpha: sp.Integer(0) * alpha,
    mutants={"one gain at once": lambda alpha: alpha, "the order": lambda alpha: alpha - 1},
)  # fmt: skip


@dataclass(frozen=True)
class Recursion:
    """(95): gain(eta, Sg, s2, b) of the record's update; factor(q, W_t, W_(t+1)) of another."""

    gain: Callable[[Any, Any, Any, Any], Any] = lambda eta, sens, s2, b: (
        eta * sens**2 / (4 * s2 * b**2)
    )
    factor: Callable[[Any, Any, Any], Any] = lambda q, shorter, longer: q * shorter / longer


def follows_from_one_update(form: Recursion, run: Run) -> Finding:
    """Lemma 3.2 with the constant (93), 1/c = 2 eta sigma^2 W_t, and L = 1 - eta lambda."""
    eta, sens, s2, b = sp.symbols("eta S_g sigma2 b", positive=True)
    growth = 1 + (1 / (2 * eta * s2 * W)) * 2 * eta * s2 / Q
    return all_hold([
        identity(lambda: form.gain(eta, sens, s2, b),
                 lambda: (eta * sens / b) ** 2 / (4 * eta * s2),
                 CHAIN.domain, "the record's update is a Gaussian mechanism",
                 seed=run.seed),
        identity(form.factor(Q, W, 1 + Q * W), 1 / growth, CHAIN.domain,
                 "1/(1 + 2 c eta sigma^2/L^2) = q W_t/W_(t+1)", seed=run.seed),
    ])  # fmt: skip


def never_below_a_run(form: Recursion, run: Run) -> Finding:
    """Along runs of the slowest quadratic; the second row is attained in every update."""
    gain = form.gain(Fraction(1), Fraction(2), Fraction(1), Fraction(1))

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            for j in range(size):
                t = k * size + j
                before, after = slowest(c, size, t), slowest(c, size, t + 1)
                row = (
                    form.factor(c**2, total(c**2, t), total(c**2, t + 1)) * before
                    if j
                    else before + gain
                )
                yield named(c, size, k, j=j), after, row

    return related(claims(), "one update of the slowest quadratic against its row of (95)")


RECURSION_MUTANTS = {
    "contraction lost from the sums": Recursion(factor=lambda q, s, g: q),
    "sums the other way": Recursion(factor=lambda q, s, g: q * g / s),
    "contraction squared": Recursion(factor=lambda q, s, g: q**2 * s / g),
    "half of the gain": Recursion(gain=lambda eta, sens, s2, b: eta * sens**2 / (8 * s2 * b**2)),
}
CHAIN.declare(
    "eq-095",
    "eps_k^(j+1)(alpha)/alpha <= eps_k^0(alpha)/alpha + A for j = 0, and <= eps_k^j(alpha')/alpha' "
    "(1 - eta lambda)^2 W_(k l + j)/W_(k l + j + 1) for j = 1..l-1",
    rests_on=("lem-3.2", "lem-d.3"),
    reading=READING,
)
CHAIN.ask(
    "eq-095", "derived", "symbolic", follows_from_one_update, form=Recursion(),
    mutants=RECURSION_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-095", "valid", "exact law of quadratics", never_below_a_run, form=Recursion(),
    mutants={
        key: RECURSION_MUTANTS[key] for key in ("contraction squared", "half of the gain")
    },
)  # fmt: skip


def order_stays_above_one(form: Callable[..., Any], run: Run) -> Finding:
    """alpha' - 1 = (alpha - 1) q W_t/W_(t+1) > 0, less than alpha - 1, with c = c_k^j."""
    more, noise = sp.symbols("a v", positive=True)  # a = alpha - 1
    c, lip = 1 / (noise * W), sp.sqrt(Q)
    order = form(1 + more, c, lip, noise)
    return all_hold([
        identity(order - 1, more * Q * W / (1 + Q * W), CHAIN.domain,
                 "alpha' - 1 = (alpha - 1) q W_t/W_(t+1)", seed=run.seed),
        identity(more - (order - 1), more / (1 + Q * W), CHAIN.domain,
                 "alpha - alpha' = (alpha - 1)/W_(t+1) > 0", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-096", "alpha' = (alpha - 1)(1 + 2 c eta sigma^2/L^2)^(-1) + 1", definition=True,
    rests_on=("lem-3.2", "eq-093"),
    reading="c and L, left generic, are c_k^j of (93) and 1 - eta lambda",
)  # fmt: skip
CHAIN.ask(
    "eq-096", "well-posed", "symbolic", order_stays_above_one,
    form=lambda alpha, c, lip, noise: (alpha - 1) / (1 + c * noise / lip**2) + 1,
    mutants={
        "one forgotten": lambda alpha, c, lip, noise: (alpha - 1) / (1 + c * noise / lip**2),
        "alpha divided": lambda alpha, c, lip, noise: alpha / (1 + c * noise / lip**2),
        "multiplied": lambda alpha, c, lip, noise: (alpha - 1) * (1 + c * noise / lip**2) + 1,
    },
)  # fmt: skip


def epochs_join(form: Callable[[Any, Any], tuple[Any, Any]], run: Run) -> Finding:
    """The pair on the left counts as many updates as k epochs and n/b more; so do the laws."""
    k, size = sp.symbols("k l", positive=True)
    epochs, updates = form(k, size)
    counted = identity(
        epochs * size + updates, k * size + size, CHAIN.domain,
        "(k + 1) n/b updates either way", seed=run.seed,
    )  # fmt: skip

    def claims() -> Iterator[Claim]:
        for c, length, done in designed():
            e, u = form(done, length)
            yield (
                named(c, length, done),
                slowest(c, length, e * length + u),
                slowest(c, length, done * length + length),
            )

    return all_hold([counted, related(claims(), "laws of the slowest quadratic", "=")])


JOINTS = {
    "an epoch too few": lambda k, size: (k, 0 * size),
    "one update more": lambda k, size: (k + 1, 1 + 0 * size),
}


def joint_is_counted(form: Callable[[Any, Any], tuple[Any, Any]], run: Run) -> Finding:
    """Algorithm 1 hands theta_k^(n/b) on as theta_(k+1)^0: no update lies between the two."""
    k, size = sp.symbols("k l", positive=True)
    epochs, updates = form(k, size)
    return identity(
        epochs * size + updates, k * size + size, CHAIN.domain,
        "(k + 1) n/b updates either way", seed=run.seed,
    )  # fmt: skip


for _name, _printed in (
    ("eq-097", "eps_(k+1)^0(alpha) = eps_k^(n/b)(alpha)"),
    ("eq-102", "eps_(k+1)^0(alpha)/alpha = eps_k^(n/b)(alpha)/alpha"),
):
    CHAIN.declare(_name, _printed, rests_on=("alg-1",), reading=READING)
    CHAIN.ask(
        _name, "derived", "symbolic", joint_is_counted,
        form=lambda k, size: (k + 1, 0 * size), mutants=JOINTS,
    )  # fmt: skip
    CHAIN.ask(
        _name, "valid", "exact law of quadratics", epochs_join,
        form=lambda k, size: (k + 1, 0 * size), mutants=JOINTS,
    )  # fmt: skip


# --- (98), (99): the first epoch -----------------------------------------------------------------


@dataclass(frozen=True)
class Product:
    """(98) over A: the product of term(q, W_i, W_(i+1)) over i = first..j - 1."""

    first: int = 1
    term: Callable[[Any, Any, Any], Any] = lambda q, shorter, longer: q * shorter / longer

    def value(self, q: Any, j: int) -> Any:
        """The product at one j."""
        out = q**0
        for i in range(self.first, j):
            out = out * self.term(q, total(q, i), total(q, i + 1))
        return out


def first_epoch_unrolled(form: Product, run: Run) -> Finding:
    """(95) at k = 0 from (94): A after the first update, then a factor for each further one."""
    values, ratio = [], sp.Integer(1)
    for j in range(1, 6):
        values.append((Equation(lambda j=j: form.value(Q, j), ratio), f"j = {j}"))
        ratio = ratio * Q * total(Q, j) / total(Q, j + 1)
    step = form.term(Q, W, 1 + Q * W) - Q * W / (1 + Q * W)
    return all_hold(
        rational_identity(difference, CHAIN.domain, what, seed=run.seed)
        for difference, what in [(step, "from any j to j + 1"), *values]
    )


CHAIN.declare(
    "eq-098",
    "eps_0^j(alpha)/alpha <= A prod_(j' = 1)^(j-1) (1 - eta lambda)^2 W_j'/W_(j'+1), j = 1..n/b",
    rests_on=("eq-094", "eq-095"),
    reading=READING,
)
CHAIN.ask(
    "eq-098", "derived", "symbolic induction", first_epoch_unrolled, form=Product(),
    mutants={
        "first factor left out": Product(first=2),
        "sums left out": Product(term=lambda q, s, g: q),
        "contraction to the first power": Product(term=lambda q, s, g: sp.sqrt(q) * s / g),
    },
)  # fmt: skip


def product_telescopes(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """Both sides are 1 at j = 1 and gain q W_j/W_(j+1) from j to j + 1."""
    power = sp.Symbol("P", positive=True)
    longer = 1 + Q * W
    return all_hold([
        identity(lambda: form(sp.Integer(1), sp.Integer(1)), 1, CHAIN.domain, "j = 1",
                 seed=run.seed),
        identity(lambda: form(power, W) * Q * W / longer, lambda: form(power * Q, longer),
                 CHAIN.domain,
                 "from j to j + 1", seed=run.seed),
    ])  # fmt: skip


def attained_in_the_first_epoch(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """The slowest quadratic has exactly the divergence (99), at every j and order."""
    return related(
        (
            (named(c, size, 0, j=j), slowest(c, size, j), form(c ** (2 * (j - 1)), total(c**2, j)))
            for size in SIZES
            for c in BASES
            for j in range(1, size + 1)
        ),
        "the slowest quadratic in the first epoch",
        "=",
    )


CHAIN.declare(
    "eq-099",
    "the product of (98) times A is A (1 - eta lambda)^(2(j-1)) / sum_(s<j) (1 - eta lambda)^(2s)",
    rests_on=("eq-098",),
)
for _obligation, _question in (
    ("valid", product_telescopes),
    ("tight", attained_in_the_first_epoch),
):
    CHAIN.ask(
        "eq-099", _obligation, "symbolic induction" if _obligation == "valid" else "exact law",
        _question, form=lambda power, w: power / w,
        mutants={
            "sum left out": lambda power, w: power,
            "power squared": lambda power, w: power**2 / w,
            "halved": lambda power, w: power / w / 2,
        },
    )  # fmt: skip


def ratio_does_not_depend_on_the_order(form: Callable[..., Any], run: Run) -> Finding:
    """eps_0^j/alpha is the same for every order, and A exceeds it by A W_(j-1)/W_j."""
    alpha, other, rate, power = sp.symbols("alpha alpha_2 A P", positive=True)
    # W_j = W + P with P = q^(j-1) and W = W_(j-1) >= 0.
    at = form(alpha, rate, power, W + power) / alpha
    return all_hold([
        identity(at, lambda: form(other, rate, power, W + power) / other, CHAIN.domain,
                 "one value for all orders", seed=run.seed),
        identity(rate - at, rate * W / (W + power), CHAIN.domain,
                 "A exceeds it by A W_(j-1)/W_j >= 0", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "txt-d.5-bounded-ratio", "eps_0^j(alpha)/alpha is bounded by one constant for all alpha > 1",
    rests_on=("eq-099",),
    reading="the constant may depend on j and on the parameters, not on the order",
)  # fmt: skip
CHAIN.ask(
    "txt-d.5-bounded-ratio", "valid", "symbolic", ratio_does_not_depend_on_the_order,
    form=lambda alpha, rate, power, w: alpha * rate * power / w,
    mutants={
        "quadratic in the order": lambda alpha, rate, power, w: alpha**2 * rate * power / w,
        "sum left out": lambda alpha, rate, power, w: alpha * rate * power,
        "constant in the order": lambda alpha, rate, power, w: rate * power / w,
    },
)  # fmt: skip

# --- (92), (100): the shift and composition -----------------------------------------------------


@dataclass(frozen=True)
class Shift:
    """The run that a record of batch j0 is compared with: whole epochs, further updates."""

    epochs: Callable[[Any], Any] = lambda epochs: epochs - 1
    updates: Callable[[Any, Any], Any] = lambda size, j0: size - j0


def what_follows_the_first_use(form: Shift, run: Run) -> Finding:
    """The updates from the record's first on are those of a run whose first batch is batch j0.

    Before it both runs share one law, so both last iterates are mixtures over the common iterate
    theta_0^(j0), with equal weights; exp((alpha-1) R_alpha) is jointly convex (Lemma 4.1), so the
    divergence is at most that from the worst start. What is left has K n/b - j0 updates, starts at
    a point, and meets the batches in the order j0, j0 + 1, ..., n/b - 1, 0, ..., j0 - 1.
    """
    x, y, alpha, dx, dy = sp.symbols("x y alpha dx dy", positive=True)
    epochs, size, j0 = sp.symbols("K l j_0", positive=True)
    h = x**alpha * y ** (1 - alpha)
    second = sp.diff(h, x, 2) * dx**2 + 2 * sp.diff(h, x, y) * dx * dy + sp.diff(h, y, 2) * dy**2
    square = alpha * (alpha - 1) * x ** (alpha - 2) * y ** (-alpha - 1) * (y * dx - x * dy) ** 2
    counted = identity(
        form.epochs(epochs) * size + form.updates(size, j0), epochs * size - j0, CHAIN.domain,
        "K n/b - j0 updates are left", seed=run.seed,
    )  # fmt: skip
    if counted.outcome != "holds":
        return counted
    for length in (1, 2, 3, 5):
        for first in range(length):
            left = form.epochs(2) * length + form.updates(length, first)
            uses = [t for t in range(first, 2 * length) if t % length == first]
            if uses != [first + t for t in range(left) if t % length == 0]:
                return Finding("fails", "point", CHAIN.domain, f"n/b = {length}, j0 = {first}")
    return all_hold([
        counted,
        identity(second, square, CHAIN.domain,
                 "x^alpha y^(1-alpha) is jointly convex", seed=run.seed),
    ])  # fmt: skip


def later_batches_of_quadratics(form: Shift, run: Run) -> Finding:
    """The exact divergence of the slowest quadratic, batch j0, against the supremum it names."""

    def claims() -> Iterator[Claim]:
        for c, size, k in designed(1):
            for j0 in range(size):
                made = setting(c, size, k + 1, j0)
                e, u = form.epochs(k + 1), form.updates(size, j0)
                yield named(c, size, k, j0=j0), exact_ratio(made), supremum(c, size, e, u)

    return related(claims(), "batch j0 after K epochs against batch 0 after K - 1 and n/b - j0")


SHIFT_MUTANTS = {
    "from the other end": Shift(updates=lambda size, j0: j0 + 1),
    "an update more": Shift(updates=lambda size, j0: size - j0 + 1),
}
CHAIN.declare(
    "txt-d.5-shift",
    "the bound for batch j0 after K epochs is that for batch 0 after K - 1 epochs and n/b - j0 "
    "updates",
    rests_on=("lem-4.1", "alg-1"),
    reading="a bound for the first batch, any batches and any start point, bounds batch j0 with "
    "the indices moved; what comes before the record's first use is conditioned on",
)
CHAIN.ask(
    "txt-d.5-shift", "derived", "counting, symbolic Hessian", what_follows_the_first_use,
    form=Shift(), mutants={**SHIFT_MUTANTS, "K epochs": Shift(epochs=lambda epochs: epochs)},
)  # fmt: skip
CHAIN.ask(
    "txt-d.5-shift", "valid", "exact law of quadratics", later_batches_of_quadratics,
    form=Shift(),
    mutants={"from the other end": SHIFT_MUTANTS["from the other end"]},
)  # fmt: skip

Sum = Callable[[Any, Any], Any]


def divergences_add(form: Sum, run: Run) -> Finding:
    """Densities p r of A1 and of A2 after it: p r to the alpha over p' r' to the alpha - 1 factors.

    The inner integral is at most exp((alpha-1) eps_2) for every output of A1, the outer one at most
    exp((alpha-1) eps_1); forgetting the output of A1 does not raise the divergence.
    """
    p, r, p2, r2, alpha = sp.symbols("p r p_2 r_2 alpha", positive=True)
    one, two = sp.symbols("e_1 e_2", positive=True)
    apart = p**alpha * p2 ** (1 - alpha) * r**alpha * r2 ** (1 - alpha)
    return all_hold([
        identity(lambda: (p * r) ** alpha * (p2 * r2) ** (1 - alpha), apart, CHAIN.domain,
                 "the integrand factors", seed=run.seed),
        identity(lambda: (alpha - 1) * form(one, two),
                 lambda: (alpha - 1) * one + (alpha - 1) * two, CHAIN.domain,
                 "log of the product", seed=run.seed),
    ])  # fmt: skip


def sums_of_suprema(form: Sum, run: Run) -> Finding:
    """eps_k^r against eps_k^0 and eps_0^r, all three the exact suprema, r = 1..n/b."""
    return related(
        (
            (
                named(c, size, k, updates=r),
                supremum(c, size, k, r),
                form(supremum(c, size, k, 0), supremum(c, size, 0, r)),
            )
            for c, size, k in designed()
            for r in range(1, size + 1)
        ),
        "exact suprema against their composition",
    )


SUM_MUTANTS: dict[str, Sum] = {
    "the larger of the two": max,
    "last part dropped": lambda one, two: one,
    "earlier part dropped": lambda one, two: two,
}
CHAIN.declare(
    "eq-092", "eps <= eps_(K-1)^(n/b - j0)(alpha) <= eps_(K-1)^0(alpha) + eps_0^(n/b - j0)(alpha)",
    rests_on=("txt-d.5-shift",),
    reading=READING + "; with the solutions of (95) in their place the second relation can fail. "
    "The sentence that follows writes eps_0^(n/b-1-j0), a slip for eps_0^(n/b-j0)",
)  # fmt: skip
CHAIN.ask(
    "eq-092", "derived", "counting, symbolic Hessian", what_follows_the_first_use,
    form=Shift(), part="shift", mutants=SHIFT_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-092", "derived", "symbolic", divergences_add, form=lambda one, two: one + two,
    part="composition",
    mutants={key: SUM_MUTANTS[key] for key in ("last part dropped", "earlier part dropped")},
)  # fmt: skip
CHAIN.ask(
    "eq-092", "valid", "exact suprema", sums_of_suprema, form=lambda one, two: one + two,
    part="composition", mutants=SUM_MUTANTS,
)  # fmt: skip
CHAIN.declare(
    "eq-100", "eps_k^(j+1)(alpha) <= eps_k^0(alpha) + eps_0^(j+1)(alpha)",
    rests_on=("def-b3",),
    reading=READING + "; composition is adaptive, since eps_0^(j+1) holds for every start",
)  # fmt: skip
CHAIN.ask(
    "eq-100", "derived", "symbolic", divergences_add, form=lambda one, two: one + two,
    mutants={key: SUM_MUTANTS[key] for key in ("last part dropped", "earlier part dropped")},
)  # fmt: skip
CHAIN.ask(
    "eq-100", "valid", "exact suprema", sums_of_suprema, form=lambda one, two: one + two,
    mutants=SUM_MUTANTS,
)  # fmt: skip


# --- (101) to (104): one epoch -------------------------------------------------------------------


@dataclass(frozen=True)
class Combined:
    """(101): where the second row begins, and the two rows over alpha."""

    split: Callable[[int], int] = lambda size: size // 2
    early: Callable[[Any, Any], Any] = lambda start, piece: start + piece
    late: Callable[[Any, Any, Any, Any], Any] = lambda u, q, shorter, longer: (
        u * q * shorter / longer
    )

    def ratios(self, q: Any, size: int, epochs: int) -> list[Any]:
        """The bound after every update, from nothing."""
        out = [0 * q]
        for k in range(epochs):
            start = out[-1]
            for j in range(size):
                t = k * size + j
                out.append(
                    self.early(start, share(q, j + 1))
                    if j < self.split(size)
                    else self.late(out[-1], q, total(q, t), total(q, t + 1))
                )
        return out


def rows_are_the_two_recursions(form: Combined, run: Run) -> Finding:
    """First row (100), second row the second of (95), which needs j >= 1, so floor(l/2) >= 1."""
    u, piece = sp.symbols("u e", positive=True)
    for size in range(2, 40):
        if not 1 <= form.split(size) <= size - 1:
            return Finding("fails", "point", CHAIN.domain, f"n/b = {size}: a row is not allowed")
    return all_hold([
        identity(lambda: form.early(u, piece) - u, piece, CHAIN.domain,
                 "first row is (100)", seed=run.seed),
        identity(lambda: form.late(u, Q, W, 1 + Q * W), lambda: u * Q * W / (1 + Q * W),
                 CHAIN.domain,
                 "second row is that of (95), and 1 <= floor(l/2) <= l - 1",
                 seed=run.seed),
    ])  # fmt: skip


def recursion_stays_above(form: Combined, run: Run) -> Finding:
    """(101) from nothing, against the supremum after every update."""

    def claims() -> Iterator[Claim]:
        for size in SIZES:
            for c in BASES:
                for t, ratio in enumerate(form.ratios(c**2, size, 2)):
                    k, j = divmod(t, size)
                    yield named(c, size, k, j=j), supremum(c, size, k, j), ratio

    return related(claims(), "exact supremum against (101)")


CHAIN.declare(
    "eq-101",
    "eps_k^(j+1)(alpha)/alpha <= (eps_k^0 + eps_0^(j+1))(alpha)/alpha for j < floor(l/2), and <= "
    "eps_k^j(alpha')/alpha' (1 - eta lambda)^2 W_(k l + j)/W_(k l + j + 1) for the other j < l",
    rests_on=("eq-095", "eq-100"),
    reading=READING + "; the sentence before exchanges the words original, which is (95), and "
    "new alternative, which is (100), but cites the two numbers for the right halves",
)
CHAIN.ask(
    "eq-101", "derived", "symbolic", rows_are_the_two_recursions, form=Combined(),
    mutants={
        "second row in the record's update": Combined(split=lambda size: size // 2 - 1),
        "first row throughout": Combined(split=lambda size: size),
        "earlier epochs dropped": Combined(early=lambda start, piece: piece),
        "sums left out": Combined(late=lambda u, q, s, g: u * q),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-101", "valid", "exact suprema", recursion_stays_above, form=Combined(),
    mutants={
        "second row in the record's update": Combined(split=lambda size: 0),
        "earlier epochs dropped": Combined(early=lambda start, piece: piece),
        "contraction squared": Combined(late=lambda u, q, s, g: u * q**2 * s / g),
    },
)  # fmt: skip


@dataclass(frozen=True)
class Half:
    """The product of (103): its first j', and the index in the factor, from j' and the free j."""

    index: Callable[[Any, Any], Any]
    first: Callable[[int], int] = lambda half: half


def factor_is_that_of_its_update(form: Half, run: Run) -> Finding:
    """The factor at j' is the one that (101) gives the update j', whatever j is."""
    k, size, j, late = sp.symbols("k l j j_1", positive=True)
    t, right = k * size + form.index(late, j), k * size + late
    if any(form.first(size // 2) != size // 2 for size in range(2, 12)):
        return Finding("fails", "point", CHAIN.domain, "the product does not begin at floor(l/2)")
    return identity(
        lambda: sp.expand(1 - Q**t) * sp.expand(1 - Q ** (right + 1)),
        lambda: sp.expand(1 - Q ** (t + 1)) * sp.expand(1 - Q**right),
        CHAIN.domain, "q W_t/W_(t+1) at t = k l + j'", seed=run.seed,
    )  # fmt: skip


def _shared(j: str) -> str:
    """(99) over A as a formula of q, which is let."""
    return f"q**({j} - 1)/sum(s, 0, {j} - 1, q**s)"


def _in_first_epoch(right: str, at: Mapping[str, Any]) -> Formulas | None:
    """The supremum (99) after the first epoch, x = eta lambda, l = n/b; None for the others."""
    names = {"eta lambda": "x", "n/b": "l", "k": "k", "j": "j"}
    known = {names[key]: value for key, value in at.items() if key in names}
    if at["k"]:
        return None
    return Formulas(f"let(q, (1 - x)**2, {_shared('l')})",
                    f"let(q, (1 - x)**2, let(m, floor(l/2), {right}))", known)  # fmt: skip


def _first_epoch_of_103(at: Mapping[str, Any]) -> Formulas | None:
    """(103) as printed, where its factor is the same for every j'."""
    factor = "q*sum(s, 0, k*l + j - 1, q**s)/sum(s, 0, k*l + j, q**s)"
    return _in_first_epoch(f"{_shared('m')}*({factor})**(l - m)", at)


def _first_epoch_of_106(at: Mapping[str, Any]) -> Formulas | None:
    """(106) as printed."""
    series = "q**(l - m)*(1 - q**((l - m)*(k + 1)))/(1 - q**(l - m))"
    return _in_first_epoch(f"{_shared('m')}*{series}", at)


def epoch_against_the_product(form: Half, run: Run) -> Finding:
    """eps_(k+1)^0 against (eps_k^0 + eps_0^m) times the product, for j that the epoch's half has.

    The three are exact suprema, so the relation is claimed of them.
    """

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            half, q = size // 2, c**2
            for j in range(half, size):
                right = supremum(c, size, k, 0) + share(q, half)
                for late in range(form.first(half), size):
                    t = k * size + form.index(late, j)
                    right *= q * total(q, t) / total(q, t + 1)
                yield named(c, size, k, j=j), supremum(c, size, k + 1, 0), right

    return related(claims(), "exact supremum after an epoch against (103)",
                   written=_first_epoch_of_103 if form is LITERAL else lambda at: None)  # fmt: skip


CHAIN.declare(
    "eq-103",
    "eps_(k+1)^0(alpha)/alpha <= (eps_k^0 + eps_0^m)(alpha~)/alpha~ prod_(j' = m)^(l-1) "
    "(1 - eta lambda)^2 sum_(s <= k l + j - 1) (1 - eta lambda)^(2s) / sum_(s <= k l + j) of the "
    "same",
    rests_on=("eq-101", "eq-102"),
    severity="misprint",
    reading=READING + "; the product runs over j', its factor has j, which nothing binds, and is "
    "read for every j of the second half. The mark might be lost in the text at hand",
    finding="The factor of the product over j' is printed with j. For j = floor(l/2), the first "
    "of the updates multiplied, it is then smaller than the true product and the right side falls "
    "below the exact divergence; with j' it holds, and (104) follows either way.",
    correction="the same with k l + j' - 1 and k l + j' as the limits of the sums",
)
LITERAL, PRIMED = Half(lambda late, j: j), Half(lambda late, j: late)
CHAIN.ask(
    "eq-103", "valid", "exact suprema", epoch_against_the_product, form=LITERAL,
    correction=PRIMED,
    mutants={
        "one sum shorter": Half(lambda late, j: late - 1),
        "product one factor longer": replace(PRIMED, first=lambda half: half - 1),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-103", "derived", "symbolic", factor_is_that_of_its_update, form=LITERAL,
    correction=PRIMED,
    mutants={
        "one sum shorter": Half(lambda late, j: late - 1),
        "product one factor shorter": replace(PRIMED, first=lambda half: half + 1),
    },
)  # fmt: skip


def factors_of_the_sums_drop(form: Callable[[Any, Any, Any], Any], run: Run) -> Finding:
    """The product of (103) is q^(l-m) W_(kl+m)/W_(kl+l), at most q^(l-m).

    W_(kl+l) = W_(kl+m) + q^(kl+m) W_(l-m), and a product of W_t/W_(t+1) is its first W over its
    last. The same bound follows with any j in the factor, since W_t <= W_(t+1).
    """
    before, more, span = sp.symbols("W_0 X P", positive=True)  # W_(kl+m), the rest, q^(l-m)
    rest = identity(
        form(span, Q, W) - span * before / (before + more), span * more / (before + more),
        CHAIN.domain, "the bound exceeds the product by q^(l-m) q^(kl+m) W_(l-m)/W_(kl+l) > 0",
        seed=run.seed,
    )  # fmt: skip
    pieces = []
    for start, stop in ((1, 2), (1, 3), (3, 6)):
        product = sp.Integer(1)
        for t in range(start, stop):
            product *= Q * total(Q, t) / total(Q, t + 1)
        pieces.append(
            identity(
                product,
                lambda start=start, stop=stop: (
                    Q ** (stop - start) * total(Q, start) / total(Q, stop)
                ),
                CHAIN.domain,
                "it telescopes",
                seed=run.seed,
            )
        )
    return all_hold([rest, *pieces])


def epoch_against_the_power(form: Callable[[Any, Any, Any], Any], run: Run) -> Finding:
    """eps_(k+1)^0 against (eps_k^0 + eps_0^m) q^(l-m), exact suprema."""

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            half, q = size // 2, c**2
            start = supremum(c, size, k, 0) + share(q, half)
            yield (
                named(c, size, k),
                supremum(c, size, k + 1, 0),
                start * form(q ** (size - half), q, ONE),
            )

    return related(claims(), "exact supremum after an epoch against (104)")


POWER_MUTANTS = {
    "one contraction too many": lambda span, q, w: span * q,
    "sum kept": lambda span, q, w: span / (1 + q * w),
}
CHAIN.declare(
    "eq-104",
    "(103) <= (eps_k^0 + eps_0^m)(alpha~)/alpha~ (1 - eta lambda)^(2(l-m))",
    rests_on=("eq-103",),
    reading=READING + "; true of (103) as meant and for any j in its factor",
)
CHAIN.ask(
    "eq-104", "derived", "symbolic", factors_of_the_sums_drop, form=lambda span, q, w: span,
    mutants=POWER_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-104", "valid", "exact suprema", epoch_against_the_power, form=lambda span, q, w: span,
    mutants={"one contraction too many": POWER_MUTANTS["one contraction too many"],
             "both": lambda span, q, w: span * q / (1 + q)},
)  # fmt: skip


# --- (105) to (108): all epochs ------------------------------------------------------------------

U, E, RHO, K = sp.symbols("u E rho K", positive=True)
CONSTANT = (
    READING + "; the text keeps one order alpha~ where each epoch has its own, which is harmless "
    "since eps_0^m/alpha is the same for all"
)


@dataclass(frozen=True)
class Unrolled:
    """(105): u_0 rho^power(k) + E sum of rho^i over i = first..last(k)."""

    power: Callable[[Any], Any] = lambda k: k + 1
    first: int = 1
    last: Callable[[Any], Any] = lambda k: k + 1

    def value(self, start: Any, gain: Any, rho: Any, k: Any) -> Any:
        """Its right side over alpha."""
        series = (rho**self.first - rho ** (self.last(k) + 1)) / (1 - rho)
        return start * rho ** self.power(k) + gain * series


def solves_the_recursion_of_epochs(form: Unrolled, run: Run) -> Finding:
    """(104), u <- (u + E) rho, from u_0: k = 0, and the step from k to k + 1."""
    k = sp.Symbol("k", positive=True)
    at = form.value(U, E, RHO, k)
    return all_hold([
        identity(form.value(U, E, RHO, sp.Integer(0)), (U + E) * RHO, CHAIN.domain,
                 "k = 0", seed=run.seed),
        identity(form.value(U, E, RHO, k + 1), (at + E) * RHO, CHAIN.domain,
                 "from k to k + 1", seed=run.seed),
    ])  # fmt: skip


UNROLLED_MUTANTS = {
    "sum from 0": Unrolled(first=0),
    "sum to k": Unrolled(last=lambda k: k),
    "start contracted k times": Unrolled(power=lambda k: k),
}
CHAIN.declare(
    "eq-105",
    "eps_(k+1)^0(alpha)/alpha <= eps_0^0(alpha~)/alpha~ rho^(k+1) + eps_0^m(alpha~)/alpha~ "
    "sum_(k' = 1)^(k+1) rho^k', rho = (1 - eta lambda)^(2(l-m))",
    rests_on=("eq-104", "txt-d.5-bounded-ratio"),
    reading=CONSTANT,
)
CHAIN.ask(
    "eq-105", "derived", "symbolic induction", solves_the_recursion_of_epochs, form=Unrolled(),
    mutants=UNROLLED_MUTANTS,
)  # fmt: skip

Series = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Solved:
    """(106): its relation, and its right side over alpha from E, rho and k."""

    relation: str
    value: Series = lambda gain, rho, k: gain * rho * (1 - rho ** (k + 1)) / (1 - rho)


def sums_the_geometric_series(form: Solved, run: Run) -> Finding:
    """The right side of (105) at eps_0^0 = 0."""
    k = sp.Symbol("k", positive=True)
    return identity(
        form.value(E, RHO, k), Unrolled().value(sp.Integer(0), E, RHO, k), CHAIN.domain,
        "sum of rho^k' for k' = 1..k+1", seed=run.seed,
    )  # fmt: skip


def epochs_against_the_series(form: Solved, run: Run) -> Finding:
    """eps_(k+1)^0, by (97) eps_0^(n/b) for k = 0 and given there by (99), against the right side.

    For the other k it is the exact supremum.
    """

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            half, q = size // 2, c**2
            left = supremum(c, size, k + 1, 0) if k else share(q, size)
            right = form.value(share(q, half), q ** (size - half), k)
            yield named(c, size, k), left, right

    return related(
        claims(), f"eps_(k+1)^0 {form.relation} (106)", form.relation,
        written=_first_epoch_of_106 if form is PRINTED_106 else lambda at: None,
    )  # fmt: skip


CHAIN.declare(
    "eq-106",
    "eps_(k+1)^0(alpha)/alpha = eps_0^m(alpha~)/alpha~ rho (1 - rho^(k+1))/(1 - rho)",
    rests_on=("eq-105", "eq-094"),
    severity="misprint",
    reading=CONSTANT + ". The sign is taken at its word, as in (97) and (102), where it holds. "
    "It holds for no single meaning of eps_1^0: the formula of Theorem 3.3 with (97) gives "
    "q^(l-1)/W_l, and this line q^(l-1)/W_m, times A",
    finding="Putting eps_0^0 = 0 into (105) leaves an inequality, printed as an equality. At k = 0 "
    "the left side is eps_0^(n/b) by (97), for which Theorem 3.3 has a smaller value.",
    correction="the same with <=",
)
PRINTED_106, AT_MOST = Solved("="), Solved("<=")
CHAIN.ask(
    "eq-106", "derived", "symbolic", sums_the_geometric_series, form=PRINTED_106,
    correction=AT_MOST,
    mutants={
        "factor rho dropped": Solved("<=", lambda e, rho, k: e * (1 - rho ** (k + 1)) / (1 - rho)),
        "k for k + 1": Solved("<=", lambda e, rho, k: e * rho * (1 - rho**k) / (1 - rho)),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-106", "valid", "exact suprema", epochs_against_the_series, form=PRINTED_106,
    correction=AT_MOST,
    mutants={
        "rho squared": Solved(
            "<=", lambda e, rho, k: e * rho**2 * (1 - rho ** (k + 1)) / (1 - rho)
        ),
        "k for k + 1": Solved("<=", lambda e, rho, k: e * rho * (1 - rho**k) / (1 - rho)),
    },
)  # fmt: skip


def drops_one_factor(form: Series, run: Run) -> Finding:
    """(106) at k = K - 2 is at most (107): the difference is E (1 - rho^(K-1)) >= 0."""
    before = Solved("<=").value(E, RHO, K - 2)
    return identity(
        form(E, RHO, K) - before, E * (1 - RHO ** (K - 1)), CHAIN.domain,
        "(107) exceeds (106) at k = K - 2 by E (1 - rho^(K-1))", seed=run.seed,
    )  # fmt: skip


def earlier_epochs_against(form: Series, run: Run) -> Finding:
    """eps_(K-1)^0, the exact supremum, against (107), K = 2 to 4."""

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            half, q = size // 2, c**2
            right = form(share(q, half), q ** (size - half), k + 2)
            yield named(c, size, k, K=k + 2), supremum(c, size, k + 1, 0), right

    return related(claims(), "exact supremum after K - 1 epochs")


def _earlier(gain: Any, rho: Any, epochs: Any) -> Any:
    return gain * (1 - rho ** (epochs - 1)) / (1 - rho)


CHAIN.declare(
    "eq-107",
    "eps_(K-1)^0(alpha)/alpha <= eps_0^m(alpha~)/alpha~ (1 - rho^(K-1))/(1 - rho), K >= 2",
    rests_on=("eq-106",),
    reading=CONSTANT + "; (106) as an inequality. A factor rho is given away without a word",
)
CHAIN.ask(
    "eq-107", "derived", "symbolic", drops_one_factor, form=_earlier,
    mutants={
        "K - 2 epochs": lambda e, rho, n: e * (1 - rho ** (n - 2)) / (1 - rho),
        "K epochs": lambda e, rho, n: e * (1 - rho**n) / (1 - rho),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-107", "valid", "exact suprema", earlier_epochs_against, form=_earlier,
    mutants={
        "K - 2 epochs": lambda e, rho, n: e * (1 - rho ** (n - 2)) / (1 - rho),
        "contracted twice more": lambda e, rho, n: rho**2 * _earlier(e, rho, n),
    },
)  # fmt: skip


def same_for_every_order(form: Callable[..., Any], run: Run) -> Finding:
    """(108) is alpha times (107), with eps_0^m(alpha) = alpha E by (99); at K = 1 it is 0."""
    alpha = sp.Symbol("alpha", positive=True)
    return all_hold([
        identity(lambda: form(alpha * E, RHO, K) / alpha, lambda: _earlier(E, RHO, K), CHAIN.domain,
                 "alpha times (107)", seed=run.seed),
        rational_identity(form(alpha * E, RHO, sp.Integer(1)), CHAIN.domain, "0 at K = 1",
                          seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-108", "eps_(K-1)^0(alpha) <= eps_0^m(alpha) (1 - rho^(K-1))/(1 - rho), K >= 1",
    rests_on=("eq-107", "eq-094", "txt-d.5-bounded-ratio"),
    reading=READING,
)  # fmt: skip
CHAIN.ask(
    "eq-108", "derived", "symbolic", same_for_every_order, form=_earlier,
    mutants={
        "K for K - 1": lambda e, rho, n: e * (1 - rho**n) / (1 - rho),
        "halved": lambda e, rho, n: _earlier(e, rho, n) / 2,
    },
)  # fmt: skip


# --- (3), (91), (109), (110): the theorem --------------------------------------------------------


@dataclass(frozen=True)
class Final:
    """(3) over alpha A: the half, what is left of an epoch, the epochs counted, the last piece."""

    half: Callable[[int], int] = lambda size: size // 2
    rest: Callable[[Any, Any], Any] = lambda size, half: size - half
    epochs: Callable[[Any], Any] = lambda epochs: epochs - 1
    last: Callable[[Any, Any], Any] = lambda size, j0: size - j0

    def value(self, q: Any, size: int, epochs: int, j0: int) -> Any:
        """The ratio with its sums written out."""
        half = self.half(size)
        rho = q ** self.rest(size, half)
        earlier = share(q, half) * (1 - rho ** self.epochs(epochs)) / (1 - rho)
        return earlier + share(q, self.last(size, j0))


FINAL = Final()
FINAL_MUTANTS = {
    "K for K - 1": Final(epochs=lambda epochs: epochs),
    "ceil for floor": Final(half=lambda size: (size + 1) // 2),
    "half of the epoch for the rest": Final(rest=lambda size, half: half),
    "batch from the other end": Final(last=lambda size, j0: j0 + 1),
}


def put_together(form: Final, run: Run) -> Finding:
    """(92) with (108) and (99), for every n/b and batch: each exponent and number of terms.

    The closed forms W_j = (1 - q^j)/(1 - q) stand for the sums; the half is settled for n/b = 2 u
    and 2 u + 1.
    """
    size, half, j0 = sp.symbols("l m j_0", positive=True)
    rest, last = form.rest(size, half), form.last(size, j0)
    u = sp.Symbol("u", positive=True, integer=True)

    def piece(j: Any) -> Any:
        return Q ** (j - 1) / closed(Q, j)

    found = [
        identity(rest, size - half, CHAIN.domain, "rho = q^(l-m)", seed=run.seed),
        identity(
            lambda: piece(half) * (1 - RHO ** form.epochs(K)) / (1 - RHO),
            lambda: (1 - Q) * Q ** (half - 1) / (1 - Q**half) * ((1 - RHO ** (K - 1)) / (1 - RHO)),
            CHAIN.domain, "the term (108)", seed=run.seed),
        identity(
            lambda: piece(last),
            lambda: (1 - Q) * Q ** (size - j0 - 1) / (1 - Q ** (size - j0)),
            CHAIN.domain, "the term (99) at n/b - j0", seed=run.seed),
    ]  # fmt: skip
    for count, what in ((2 * u, "even n/b"), (2 * u + 1, "odd n/b")):
        found.append(
            identity(lambda count=count: form.half(count), u, CHAIN.domain, what, seed=run.seed)
        )
    return all_hold(found)


def theorem_against_the_supremum(form: Final, run: Run) -> Finding:
    """Never below the exact supremum, for every batch; the slowest quadratic stays below too."""

    def claims() -> Iterator[Claim]:
        for c, size, k in designed():
            for j0 in range(size):
                right = form.value(c**2, size, k + 1, j0)
                truth = max(
                    supremum(c, size, k, size - j0), exact_ratio(setting(c, size, k + 1, j0))
                )
                yield named(c, size, k, K=k + 1, j0=j0), truth, right

    return related(claims(), "exact supremum against (3)")


def theorem_is_the_library_s(form: Final, run: Run) -> Finding:
    """The library's value for equation (3), by its own sums."""

    def claims() -> Iterator[Claim]:
        bound = find("fixed_order")
        for c, size, k in designed():
            for j0 in range(size):
                made = setting(c, size, k + 1, j0)
                theirs = bound.in_system(made, Exact, printed=True) / 2
                yield (
                    named(c, size, k, K=k + 1, j0=j0), form.value(c**2, size, k + 1, j0), theirs
                )  # fmt: skip

    return related(claims(), "equation (3) in the library", "=")


FORMULA = (
    "eps <= eps_0^m(alpha) (1 - (1 - eta lambda)^(2(K-1)(l-m)))/(1 - (1 - eta lambda)^(2(l-m))) + "
    "eps_0^(l-j0)(alpha)"
)
for _name, _rests in (
    ("eq-003", ("thm-3.3", "eq-110")),
    ("eq-091", ("thm-3.3", "eq-110")),
    ("eq-110", ("eq-109", "eq-108", "eq-099")),
):
    CHAIN.declare(
        _name, FORMULA, rests_on=_rests,
        reading="eps_0^j is the right side of (99) times alpha, as Theorem 3.3 defines it",
    )  # fmt: skip
    CHAIN.ask(
        _name, "derived", "symbolic", put_together, form=FINAL,
        mutants=FINAL_MUTANTS,
    )  # fmt: skip
    CHAIN.ask(
        _name, "valid", "exact suprema", theorem_against_the_supremum, form=FINAL,
        mutants={
            "K - 2 for K - 1": Final(epochs=lambda epochs: max(epochs - 2, 0)),
            "batch from the other end": FINAL_MUTANTS["batch from the other end"],
        },
    )  # fmt: skip
    CHAIN.ask(
        _name, "transcribed", "exact rational arithmetic", theorem_is_the_library_s, form=FINAL,
        mutants=FINAL_MUTANTS,
    )  # fmt: skip

CHAIN.declare(
    "eq-109", "eps <= eps_(K-1)^0(alpha) + eps_0^(n/b - j0)(alpha)",
    rests_on=("eq-092",),
    reading="(92) again, " + READING,
)  # fmt: skip
CHAIN.ask(
    "eq-109", "derived", "counting, symbolic Hessian", what_follows_the_first_use,
    form=Shift(), part="shift", mutants=SHIFT_MUTANTS,
)  # fmt: skip
CHAIN.ask(
    "eq-109", "derived", "symbolic", divergences_add, form=lambda one, two: one + two,
    part="composition",
    mutants={key: SUM_MUTANTS[key] for key in ("last part dropped", "earlier part dropped")},
)  # fmt: skip
CHAIN.ask(
    "eq-109", "valid", "exact suprema", sums_of_suprema, form=lambda one, two: one + two,
    part="composition", mutants=SUM_MUTANTS,
)  # fmt: skip
