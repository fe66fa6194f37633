"""Golden values for the Renyi-DP bounds, computed definitionally in high precision.

Every number comes from the text of Ye and Shokri, "Differentially Private Learning Needs Hidden
State (Or Much Faster Convergence)" (2022), and from the published results that paper compares
with.  The formulas are written as printed: explicit sums, products and loops, no simplification
and no shared code with the rest of the project.

Precision.  Settings are exact rationals; eta * lambda and A are formed exactly and rounded once.
Arithmetic then runs at 160 significant decimal digits (110 for the quadratures of
`sampled_gaussian`), and 60 digits are written.  The heaviest cancellations in the settings below
(1 - q^m with eta * lambda = 1e-18; log(S)/(alpha - 1) with S - 1 of size 1e-24) cost fewer than
45 digits.  Geometric sums are added term by term up to 200000 terms; beyond that the closed form
(1 - q^m)/(1 - q) is used at the same precision.

Notation.  l = floor(n/b) (footnote 3 of the paper), g = eta * lambda, c = 1 - g, q = c^2,
A = eta * Sg^2 / (4 * sigma2 * b^2), K = epochs, j0 = zero-based position of the batch that holds
the differing record.  The sampling rate b/n is exact, also when b does not divide n.

Running this file rewrites `bounds.json` and `conversions.json` next to it, byte for
byte; it takes about two minutes.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from mpmath import mp, mpf

WORKING_DIGITS = 160
QUADRATURE_DIGITS = 110
DIGITS = 60
EXPLICIT_TERMS = 200_000
HERE = Path(__file__).parent
mp.dps = WORKING_DIGITS


def exact(value: Fraction) -> mpf:
    """The rational number rounded once to the working precision."""
    return mpf(value.numerator) / mpf(value.denominator)


@dataclass(frozen=True)
class Setting:
    """One set of algorithm parameters; all numbers are exact decimal or fraction strings."""

    n: str
    b: str
    epochs: str
    eta: str
    lam: str
    beta: str
    sensitivity: str
    sigma2: str
    alpha: str
    position: str
    why: str

    @property
    def size(self) -> int:
        """Number of records n."""
        return int(self.n)

    @property
    def batch(self) -> int:
        """Mini-batch size b."""
        return int(self.b)

    @property
    def batches(self) -> int:
        """Iterations per epoch, l = floor(n/b)."""
        return self.size // self.batch

    @property
    def passes(self) -> int:
        """Number of epochs K."""
        return int(self.epochs)

    @property
    def j0(self) -> int:
        """Zero-based position of the differing record's batch."""
        return int(self.position)

    @property
    def order(self) -> mpf:
        """Renyi order alpha."""
        return exact(Fraction(self.alpha))

    @property
    def c(self) -> mpf:
        """Contraction factor 1 - eta * lambda."""
        return exact(1 - Fraction(self.eta) * Fraction(self.lam))

    @property
    def a(self) -> mpf:
        """A = eta * Sg^2 / (4 * sigma2 * b^2)."""
        top = Fraction(self.eta) * Fraction(self.sensitivity) ** 2
        return exact(top / (4 * Fraction(self.sigma2) * Fraction(self.b) ** 2))

    @property
    def a_full(self) -> mpf:
        """A with n in place of b."""
        top = Fraction(self.eta) * Fraction(self.sensitivity) ** 2
        return exact(top / (4 * Fraction(self.sigma2) * Fraction(self.n) ** 2))

    @property
    def rate(self) -> mpf:
        """Sampling rate b/n, exact."""
        return exact(Fraction(self.b) / Fraction(self.n))

    @property
    def step(self) -> mpf:
        """Step size eta."""
        return exact(Fraction(self.eta))

    @property
    def convexity(self) -> mpf:
        """Strong-convexity constant lambda."""
        return exact(Fraction(self.lam))

    @property
    def smoothness(self) -> mpf:
        """Smoothness constant beta."""
        return exact(Fraction(self.beta))

    @property
    def noise(self) -> mpf:
        """Noise variance sigma^2."""
        return exact(Fraction(self.sigma2))

    @property
    def sg(self) -> mpf:
        """Gradient sensitivity Sg."""
        return exact(Fraction(self.sensitivity))


def geometric_sum(ratio: mpf, terms: int) -> mpf:
    """sum_{s=0}^{terms-1} ratio^s, term by term unless there are too many terms."""
    if terms > EXPLICIT_TERMS:
        return (1 - ratio**terms) / (1 - ratio)
    total, power = mpf(0), mpf(1)
    for _ in range(terms):
        total += power
        power *= ratio
    return total


def epsilon_first_epoch(s: Setting, j: int) -> mpf:
    """Equation (99) times alpha: eps_0^j = alpha*A*c^(2(j-1)) / sum_{t=0}^{j-1} c^(2t)."""
    return s.order * s.a * s.c ** (2 * (j - 1)) / geometric_sum(s.c**2, j)


def epsilons_first_epoch(s: Setting) -> list[mpf]:
    """Equation (99) for j = 1..l, the partial sums kept from one j to the next."""
    values: list[mpf] = []
    total, power = mpf(0), mpf(1)
    for _ in range(s.batches):
        total += power
        values.append(s.order * s.a * power / total)
        power *= s.c**2
    return values


def earlier_epochs(s: Setting) -> mpf:
    """The first term of equation (3): all epochs but the last."""
    half = s.batches // 2
    m = s.batches - half
    ratio = (1 - s.c ** (2 * (s.passes - 1) * m)) / (1 - s.c ** (2 * m))
    return epsilon_first_epoch(s, half) * ratio


def log_average_exp(s: Setting) -> mpf:
    """The second term of equation (5): log(Avg exp((alpha-1) eps_0^(l-j0)))/(alpha-1)."""
    total = mpf(0)
    for epsilon in epsilons_first_epoch(s):
        total += mp.exp((s.order - 1) * epsilon)
    return mp.log(total / s.batches) / (s.order - 1)


def naive_extension(s: Setting) -> mpf:
    """Theorem 2.1."""
    decay = 1 - mp.exp(-s.convexity * s.step * s.passes / 2)
    return s.order * s.sg**2 / (s.convexity * s.noise * s.batch**2) * decay


def one_update(s: Setting) -> mpf:
    """Lemma 3.2, second case, from equal parameters: alpha * A."""
    return s.order * s.a


def recursion_postprocessing(s: Setting) -> mpf:
    """Equations (94), (95), (97) for batch 0 over K-1 epochs plus l-j0 iterations."""
    q = s.c**2
    u = mpf(0)
    iterations = (s.passes - 1) * s.batches + s.batches - s.j0
    shorter, longer, power = mpf(0), mpf(1), mpf(1)
    for step in range(iterations):
        u = u + s.a if step % s.batches == 0 else u * q * shorter / longer
        power *= q
        shorter, longer = longer, longer + power
    return s.order * u


def recursion_composition(s: Setting) -> mpf:
    """Equation (100) unrolled: (K-1) eps_0^l + eps_0^(l-j0), with eps_0^j from (99)."""
    whole = epsilon_first_epoch(s, s.batches)
    return (s.passes - 1) * whole + epsilon_first_epoch(s, s.batches - s.j0)


def recursion_combined(s: Setting) -> mpf:
    """Equations (94), (101), (97) for batch 0 over K-1 epochs plus l-j0 iterations."""
    q = s.c**2
    half = s.batches // 2
    first = epsilons_first_epoch(s)
    start_of_epoch, epsilon = mpf(0), mpf(0)
    iterations = (s.passes - 1) * s.batches + s.batches - s.j0
    shorter, longer, power = mpf(0), mpf(1), mpf(1)
    for step in range(iterations):
        j = step % s.batches
        if j == 0:
            start_of_epoch = epsilon
        epsilon = start_of_epoch + first[j] if j < half else epsilon * q * shorter / longer
        power *= q
        shorter, longer = longer, longer + power
    return epsilon


def fixed_order(s: Setting) -> mpf:
    """Theorem 3.3, equation (3)."""
    return earlier_epochs(s) + epsilon_first_epoch(s, s.batches - s.j0)


def shuffle_partition(s: Setting) -> mpf:
    """Theorem 4.2, equation (5)."""
    return earlier_epochs(s) + log_average_exp(s)


def without_replacement(s: Setting) -> mpf:
    """Theorem 4.3: the recursion for S, K*l steps, sampling probability exactly b/n."""
    q = s.c**2
    gain = mp.exp((s.order - 1) * s.order * s.a)
    total = mpf(1)
    for _ in range(s.passes * s.batches):
        total = s.rate * gain * total + (1 - s.rate) * total**q
    return mp.log(total) / (s.order - 1)


def logistic_regression(s: Setting) -> mpf:
    """Corollary 5.3 with M^2 = 8 b^2 sigma2/(eta Sg^2); eps_norm is not included."""
    multiplier2 = 8 * s.batch**2 * s.noise / (s.step * s.sg**2)
    epsilons: list[mpf] = []
    total = mpf(0)
    for j in range(1, s.batches + 1):
        total += s.c ** (2 * (j - 1))
        epsilons.append(2 * s.order / multiplier2 * s.c ** (2 * (j - 1)) / total)
    half = s.batches // 2
    m = s.batches - half
    ratio = (1 - s.c ** (2 * (s.passes - 1) * m)) / (1 - s.c ** (2 * m))
    average = sum((mp.exp((s.order - 1) * e) for e in epsilons), mpf(0)) / s.batches
    return epsilons[half - 1] * ratio + mp.log(average) / (s.order - 1)


def lsi_convex(s: Setting) -> mpf:
    """Lemma D.2: the log-Sobolev constant after K*l steps."""
    return 1 / (2 * s.step * s.noise * (s.passes * s.batches))


def lsi_strongly_convex(s: Setting) -> mpf:
    """Lemma D.3: the log-Sobolev constant after K*l steps."""
    return 1 / (2 * s.step * s.noise) / geometric_sum(s.c**2, s.passes * s.batches)


def convex_fixed_order(s: Setting) -> mpf:
    """Theorem D.4, equation (80), n/b replaced by its floor."""
    top = s.order * s.a
    return top / s.batches * (s.passes - 1) + top / (s.batches - s.j0)


def full_batch(s: Setting) -> mpf:
    """Theorem D.6, equation (112)."""
    ratio = exact(1 - Fraction(s.eta) * Fraction(s.lam) / 2)
    total = ratio * geometric_sum(ratio, s.passes)
    return s.order * s.step * s.sg**2 / (2 * s.noise * s.size**2) * total


def composition_per_step(s: Setting) -> mpf:
    """Appendix E.1, item 1: (b/n)^2 * alpha * A for each of the K*l iterations."""
    return s.rate**2 * s.order * s.a * (s.passes * s.batches)


def composition_per_epoch(s: Setting) -> mpf:
    """Appendix E.1, item 1, and the caption of Figure 2: (b/n) * alpha * A for each epoch."""
    return s.rate * s.order * s.a * s.passes


def chourasia_2021(s: Setting) -> mpf:
    """Theorem D.7, equation (127)."""
    decay = 1 - mp.exp(-s.convexity * s.step * s.passes / 2)
    return s.order * s.sg**2 / (s.convexity * s.noise * s.size**2) * decay


def feldman_2018_one_epoch(s: Setting) -> mpf:
    """Feldman et al. 2018, Theorem 23, as Appendix D.4 restates it: alpha*A/(l-j0), K = 1."""
    return s.order * s.a / (s.batches - s.j0)


def feldman_2018_epochs(s: Setting) -> mpf:
    """The same composed over epochs: (K-1)*alpha*A/l + alpha*A/(l-j0)."""
    top = s.order * s.a
    return (s.passes - 1) * top / s.batches + top / (s.batches - s.j0)


def balle_epoch(s: Setting, j0: int) -> mpf:
    """Theorem D.5, equation (111), with L replaced by eta * Sg/2 as Appendix D.6 does."""
    lipschitz = s.step * s.sg / 2
    top = s.order * 2 * (lipschitz / s.batch) ** 2
    variance = 2 * s.step * s.noise
    if j0 == s.batches - 1:
        return top / variance
    eta, beta, lam = Fraction(s.eta), Fraction(s.beta), Fraction(s.lam)
    base = exact(1 - 2 * eta * beta * lam / (beta + lam))
    contraction = mp.power(base, mpf(s.batches - j0) / 2)
    return top / ((s.batches - j0 - 1) * variance) * contraction


def balle_2019_one_epoch(s: Setting) -> mpf:
    """Theorem D.5 for K = 1."""
    return balle_epoch(s, s.j0)


def balle_2019_composed(s: Setting) -> mpf:
    """Appendix D.6: (K-1) epochs at the value of the first batch, then the last epoch at j0."""
    return (s.passes - 1) * balle_epoch(s, 0) + balle_epoch(s, s.j0)


def ryffel_2022(s: Setting) -> mpf:
    """Appendix C: Theorem 2.1 with n^2 in place of b^2."""
    decay = 1 - mp.exp(-s.convexity * s.step * s.passes / 2)
    return s.order * s.sg**2 / (s.convexity * s.noise * s.size**2) * decay


def fixed_order_composition(s: Setting) -> mpf:
    """Composition of the one update per epoch that uses the record: K * alpha * A."""
    return s.passes * s.order * s.a


@cache
def sampled_gaussian_step(p: Fraction, a: Fraction, order: Fraction, reverse: bool) -> mpf:
    """Renyi divergence of (1-p) N(0,nu^2) + p N(1,nu^2) from N(0,nu^2), or the reverse.

    1/(2 nu^2) = A; Mironov, Talwar, Zhang 2019.  Integrated from the definition over pieces of
    width nu, out to where the integrand is below 10^-(digits+40).
    """
    with mp.workdps(QUADRATURE_DIGITS):
        rate, alpha = exact(p), exact(order)
        nu = 1 / mp.sqrt(2 * exact(a))

        def integrand(x: mpf) -> mpf:
            plain = mp.npdf(x, 0, nu)
            mix = (1 - rate) * plain + rate * mp.npdf(x, 1, nu)
            if reverse:
                return plain**alpha * mix ** (1 - alpha)
            return mix**alpha * plain ** (1 - alpha)

        tail = int(mp.ceil(mp.sqrt(2 * (QUADRATURE_DIGITS + 40) * mp.log(10))))
        right = tail + int(mp.ceil(alpha / nu))
        points = [k * nu for k in range(-tail, right + 1)]
        moment = mp.quad(integrand, points, method="gauss-legendre")
        return mp.log(moment) / (alpha - 1)


def sampled_gaussian_binomial(p: Fraction, a: Fraction, order: int) -> mpf:
    """The first direction for an integer order, from the binomial sum (same reference)."""
    rate = exact(p)
    total = mpf(0)
    for k in range(order + 1):
        weight = mp.binomial(order, k) * (1 - rate) ** (order - k) * rate**k
        total += weight * mp.exp(k * (k - 1) * exact(a))
    return mp.log(total) / (order - 1)


def sampled_gaussian(s: Setting) -> mpf:
    """K*l times the larger direction of one Gaussian step sampled at rate b/n.

    For an integer order the quadrature must agree with the binomial sum to 70 digits.
    """
    p = Fraction(s.b) / Fraction(s.n)
    top = Fraction(s.eta) * Fraction(s.sensitivity) ** 2
    a = top / (4 * Fraction(s.sigma2) * Fraction(s.b) ** 2)
    order = Fraction(s.alpha)
    forward = sampled_gaussian_step(p, a, order, False)
    backward = sampled_gaussian_step(p, a, order, True)
    if order.denominator == 1:
        binomial = sampled_gaussian_binomial(p, a, order.numerator)
        if abs(forward - binomial) > binomial * mpf(10) ** -70:
            raise ArithmeticError(f"quadrature and binomial sum differ at {s}")
    return s.passes * s.batches * max(forward, backward)


def bok_2024_full_batch(s: Setting) -> mpf:
    """Bok, Su, Altschuler 2024, full batch: alpha*A*(1-c^K)(1+c)/((1+c^K)(1-c)), b = n."""
    ck = s.c**s.passes
    return s.order * s.a_full * (1 - ck) * (1 + s.c) / ((1 + ck) * (1 - s.c))


def bok_2024_cyclic(s: Setting) -> mpf:
    """Bok, Su, Altschuler 2024, cyclic batches.

    alpha*A*[1 + c^(2l-2) (1-c^2)/(1-c^l)^2 * (1-c^(l(K-1)))/(1+c^(l(K-1)))].
    """
    c, length = s.c, s.batches
    tail = c ** (length * (s.passes - 1))
    bracket = c ** (2 * length - 2) * (1 - c**2) / (1 - c**length) ** 2
    return s.order * s.a * (1 + bracket * (1 - tail) / (1 + tail))


def small_step(s: Setting) -> bool:
    """eta < 2/(lambda + beta)."""
    return Fraction(s.eta) < 2 / (Fraction(s.lam) + Fraction(s.beta))


def strongly_convex(s: Setting) -> bool:
    """lambda > 0 and eta < 2/(lambda + beta)."""
    return Fraction(s.lam) > 0 and small_step(s)


def at_least_two_batches(s: Setting) -> bool:
    """Strong convexity and n/b >= 2."""
    return strongly_convex(s) and s.batches >= 2


def short_recursion(s: Setting) -> bool:
    """Strong convexity and at most 200000 iterations."""
    return strongly_convex(s) and s.passes * s.batches <= EXPLICIT_TERMS


def short_combined(s: Setting) -> bool:
    """As `short_recursion`, with n/b >= 2."""
    return short_recursion(s) and s.batches >= 2


def averaged(s: Setting) -> bool:
    """As `at_least_two_batches`, with few enough batches to average over."""
    return at_least_two_batches(s) and s.batches <= EXPLICIT_TERMS


def whole_data(s: Setting) -> bool:
    """Full batch and strong convexity."""
    return s.batch == s.size and strongly_convex(s)


def whole_data_small_step(s: Setting) -> bool:
    """Full batch, lambda > 0 and eta < 1/beta."""
    return whole_data(s) and Fraction(s.eta) < 1 / Fraction(s.beta)


def single_epoch(s: Setting) -> bool:
    """K = 1 with a convex smooth loss."""
    return s.passes == 1 and small_step(s)


def single_epoch_strongly_convex(s: Setting) -> bool:
    """K = 1 and strong convexity."""
    return s.passes == 1 and strongly_convex(s)


def quadrature_trusted(s: Setting) -> bool:
    """Orders and shifts for which the integral is computed to far more than 60 digits."""
    return small_step(s) and s.order <= 100 and s.order**2 * 2 * s.a <= 10_000


def always(s: Setting) -> bool:
    """No assumption beyond finite sensitivity (step size kept in range all the same)."""
    return small_step(s)


@dataclass(frozen=True)
class Bound:
    """A bound, the settings it applies to, and whether it depends on the position or order."""

    value: Callable[[Setting], mpf]
    applies: Callable[[Setting], bool]
    by_position: bool = False
    by_order: bool = True


BOUNDS: dict[str, Bound] = {
    "naive_extension": Bound(naive_extension, strongly_convex),
    "one_update": Bound(one_update, always),
    "recursion_postprocessing": Bound(recursion_postprocessing, short_recursion, True),
    "recursion_composition": Bound(recursion_composition, strongly_convex, True),
    "recursion_combined": Bound(recursion_combined, short_combined, True),
    "fixed_order": Bound(fixed_order, at_least_two_batches, True),
    "shuffle_partition": Bound(shuffle_partition, averaged),
    "without_replacement": Bound(without_replacement, short_recursion),
    "logistic_regression": Bound(logistic_regression, averaged),
    "lsi_convex": Bound(lsi_convex, always, False, False),
    "lsi_strongly_convex": Bound(lsi_strongly_convex, strongly_convex, False, False),
    "convex_fixed_order": Bound(convex_fixed_order, always, True),
    "full_batch": Bound(full_batch, whole_data_small_step),
    "composition_per_step": Bound(composition_per_step, always),
    "composition_per_epoch": Bound(composition_per_epoch, always),
    "chourasia_2021": Bound(chourasia_2021, whole_data_small_step),
    "feldman_2018_one_epoch": Bound(feldman_2018_one_epoch, single_epoch, True),
    "feldman_2018_epochs": Bound(feldman_2018_epochs, always, True),
    "balle_2019_one_epoch": Bound(balle_2019_one_epoch, single_epoch_strongly_convex, True),
    "balle_2019_composed": Bound(balle_2019_composed, strongly_convex, True),
    "ryffel_2022": Bound(ryffel_2022, strongly_convex),
    "fixed_order_composition": Bound(fixed_order_composition, always),
    "sampled_gaussian": Bound(sampled_gaussian, quadrature_trusted),
    "bok_2024_full_batch": Bound(bok_2024_full_batch, whole_data),
    "bok_2024_cyclic": Bound(bok_2024_cyclic, at_least_two_batches),
}
FULL_BATCH_BOUNDS = ("full_batch", "chourasia_2021", "bok_2024_full_batch")


def figure(alpha: str, epochs: str, position: str, why: str, b: str = "2") -> Setting:
    """The setting of Figures 1 and 2 of the paper."""
    return Setting("50", b, epochs, "1/50", "1", "4", "4", "4", alpha, position, why)


AWKWARD: tuple[tuple[str, str], ...] = (
    ("4 2 7 1/10 1 4 4 4 3 1", "n/b = 2, last batch"),
    ("4 2 7 1/10 1 4 4 4 3 0", "n/b = 2, first batch"),
    ("9 3 5 1/10 1 4 4 4 4 1", "n/b = 3, middle batch"),
    ("35 5 10 0.05 2 3 1.5 0.7 8 6", "odd n/b = 7"),
    ("53 2 20 1/50 1 4 4 4 10 25", "b does not divide n"),
    ("47 4 6 1/50 1 4 4 4 10 5", "b does not divide n, odd floor(n/b), middle batch"),
    ("53 30 6 1/50 1 4 4 4 10 0", "floor(n/b) = 1 although b < n"),
    ("50 2 1 1/50 1 4 4 4 10 12", "K = 1, middle batch"),
    ("50 2 1000000 1/50 1 4 4 4 10 24", "K = 10^6, closed forms only"),
    ("50 2 50 0.02 5e-17 4 4 4 10 24", "eta*lambda = 1e-18, cancellation in 1 - q^m"),
    ("50 2 1000000 0.02 5e-17 4 4 4 10 0", "eta*lambda = 1e-18 and K = 10^6"),
    ("20 2 4 0.24999999975 4 4 4 4 10 9", "eta*lambda = 1 - 1e-9, last batch"),
    ("20 2 4 0.24999999975 4 4 4 4 10 0", "eta*lambda = 1 - 1e-9, first batch"),
    ("50 2 10 1/50 1 4 4 4 1.000000001 24", "alpha = 1 + 1e-9"),
    ("50 2 10 1/50 1 4 4 4 1000000 24", "alpha = 10^6"),
    ("50 2 10 1/50 1 4 4 20000000000 10 24", "A = 1e-12"),
    ("50 2 10 1/50 1 4 4 0.00000002 10 24", "A = 10^6"),
    ("50 2 10 1/50 1 4 4 0.00000002 1000000 0", "A = 10^6 and alpha = 10^6: exponentials of 10^18"),
    (
        "53 2 10 1/50 1 4 4 20000000000 1.000000001 13",
        "A = 1e-12, alpha = 1 + 1e-9 and b does not divide n",
    ),
    ("50 2 50 1/50 1 4 4 4 15 12", "middle batch"),
    ("1000 1 20 1/50 1 4 4 4 10 500", "n/b = 1000, middle batch"),
    ("60000 1 3 1/50 1 4 4 4 10 30000", "n = 60000, b = 1: many iterations in few epochs"),
    ("600000 1 1 0.24999999975 4 4 4 4 10 0", "values of size 1e-10000000"),
    ("50 2 10 1/50 1 4 4 4 2.5 24", "fractional alpha"),
    ("50 2 3 1/50 1 4 4 1/500 5/2 24", "A = 10 and fractional alpha"),
    ("50 2 50 1/50 0 4 4 4 10 7", "lambda = 0, convex bounds only"),
    ("53 2 1 1/50 0 4 4 4 10 25", "lambda = 0 and K = 1, b does not divide n"),
    ("21 2 9 1/3 1/7 2 5/3 7/11 17/5 4", "fractions everywhere"),
    ("50 2 10 0.39999 1 4 4 4 10 3", "eta just below 2/(lambda + beta)"),
    ("100 100 30 0.3 1 2 4 0.01 10 0", "full batch"),
    ("100 100 1000000 0.3 1 2 4 0.01 10 0", "full batch, K = 10^6"),
    ("100 100 40 0.02 5e-17 4 4 0.01 2.5 0", "full batch, eta*lambda = 1e-18"),
    ("100 100 5 0.24999999975 4 4 4 0.01 10 0", "full batch, eta*lambda = 1 - 1e-9"),
    ("7 7 1 1/50 1 4 4 4 1.000000001 0", "full batch, K = 1, alpha = 1 + 1e-9"),
)


def awkward_settings() -> Iterator[Setting]:
    """Settings at the edges of the bounds' ranges, each with the reason it is here.

    The columns of `AWKWARD` are n, b, K, eta, lambda, beta, Sg, sigma2, alpha, j0.
    """
    for row, why in AWKWARD:
        yield Setting(*(*row.split(), why))


def chosen() -> Iterator[tuple[str, Setting]]:
    """All (bound, setting) pairs in the order they are written."""
    for name, bound in BOUNDS.items():
        for alpha in ("10", "15") if bound.by_order else ("10",):
            for epochs in ("1", "2", "10", "50", "200"):
                if name in FULL_BATCH_BOUNDS:
                    yield name, figure(alpha, epochs, "0", "figure parameters, b = n", "50")
                    continue
                if bound.by_position:
                    yield name, figure(alpha, epochs, "0", "figure parameters, first batch")
                yield name, figure(alpha, epochs, "24", "figure parameters, last batch")
        for setting in awkward_settings():
            yield name, setting


def written(value: mpf) -> str:
    """The value with 60 significant digits, in scientific notation."""
    text: str = mp.nstr(value, DIGITS, strip_zeros=False, min_fixed=1, max_fixed=0)
    return text


def bound_cases() -> list[dict[str, object]]:
    """The cases of bounds.json."""
    cases: list[dict[str, object]] = []
    for name, s in chosen():
        bound = BOUNDS[name]
        if not bound.applies(s):
            continue
        setting = {
            "n": s.n,
            "b": s.b,
            "epochs": s.epochs,
            "eta": s.eta,
            "lambda": s.lam,
            "beta": s.beta,
            "sensitivity": s.sensitivity,
            "sigma2": s.sigma2,
            "alpha": s.alpha,
            "position": s.position,
        }
        value = written(bound.value(s))
        cases.append({"bound": name, "setting": setting, "why": s.why, "value": value})
    return cases


def classical(alpha: mpf, epsilon: mpf, delta: mpf) -> mpf:
    """Mironov 2017, Proposition 3: epsilon + log(1/delta)/(alpha-1)."""
    return epsilon + mp.log(1 / delta) / (alpha - 1)


def canonne_kamath_steinke_2020(alpha: mpf, epsilon: mpf, delta: mpf) -> mpf:
    """Canonne, Kamath, Steinke 2020, Proposition 12; not clipped at zero."""
    correction = (mp.log(delta) + mp.log(alpha)) / (alpha - 1)
    return epsilon + mp.log((alpha - 1) / alpha) - correction


def gaussian_classical(rho: mpf, delta: mpf) -> tuple[mpf, mpf]:
    """Minimum over alpha > 1 of rho*alpha + log(1/delta)/(alpha-1), and the minimiser.

    The derivative rho - log(1/delta)/(alpha-1)^2 vanishes once.
    """
    alpha = 1 + mp.sqrt(mp.log(1 / delta) / rho)
    return classical(alpha, rho * alpha, delta), alpha


def gaussian_canonne_kamath_steinke(rho: mpf, delta: mpf) -> tuple[mpf, mpf]:
    """Minimum over alpha > 1 of Proposition 12 on rho*alpha, and the minimiser.

    The derivative rho + (log(delta) + log(alpha))/(alpha-1)^2 is negative near 1, positive at
    1/delta and has one zero, found by bisection.
    """
    low, high = mpf(1), 1 / delta
    for _ in range(4 * WORKING_DIGITS):
        middle = (low + high) / 2
        if rho * (middle - 1) ** 2 + mp.log(delta) + mp.log(middle) < 0:
            low = middle
        else:
            high = middle
    alpha = (low + high) / 2
    return canonne_kamath_steinke_2020(alpha, rho * alpha, delta), alpha


CONVERSIONS: dict[str, Callable[[mpf, mpf, mpf], mpf]] = {
    "classical": classical,
    "canonne_kamath_steinke_2020": canonne_kamath_steinke_2020,
}
MINIMA: dict[str, Callable[[mpf, mpf], tuple[mpf, mpf]]] = {
    "gaussian_classical_minimum": gaussian_classical,
    "gaussian_canonne_kamath_steinke_2020_minimum": gaussian_canonne_kamath_steinke,
}
CONVERSION_SETTINGS: tuple[tuple[str, str, str, str], ...] = (
    ("2", "1", "1e-5", "plain"),
    ("10", "0.05", "1e-5", "the order of the figures"),
    ("15", "0.075", "1e-5", "the order of the figures"),
    ("2.5", "0.3", "1e-6", "fractional order"),
    ("17/5", "7/11", "1/7", "fractions everywhere"),
    ("1.000000001", "1e-9", "1e-5", "alpha = 1 + 1e-9"),
    ("1.000000001", "1", "0.1", "alpha = 1 + 1e-9, large delta"),
    ("1.1", "0.001", "1e-12", "order near one"),
    ("64", "1", "1e-12", "small delta"),
    ("256", "3", "1e-5", "large order"),
    ("1000000", "1", "1e-5", "alpha = 10^6"),
    ("1000000", "1e-12", "1e-300", "alpha = 10^6, delta near the smallest double"),
    ("32", "1e-12", "1e-5", "tiny epsilon"),
    ("32", "1000000", "1e-5", "huge epsilon"),
    ("32", "0", "1e-5", "epsilon = 0"),
    ("5", "0", "1/2", "epsilon = 0, large delta: the second conversion is negative"),
    ("5", "0.01", "0.999", "delta near one: the second conversion is negative"),
    ("10", "0.1", "0.1", "delta = 1/alpha, the last term of the second conversion is zero"),
    ("1e18", "0.5", "1e-10", "alpha where alpha - 1 rounds to alpha in doubles"),
    ("2", "1e-18", "1e-18", "epsilon and delta of the size of a rounding error"),
)
MINIMUM_SETTINGS: tuple[tuple[str, str], ...] = tuple(
    (rho, delta)
    for rho in ("1e-6", "1e-3", "0.1", "1", "10", "1000")
    for delta in ("1e-5", "1e-12", "0.1")
)


def conversion_cases() -> list[dict[str, object]]:
    """The cases of conversions.json."""
    cases: list[dict[str, object]] = []
    for name, convert in CONVERSIONS.items():
        for order, epsilon, delta, why in CONVERSION_SETTINGS:
            numbers = [exact(Fraction(text)) for text in (order, epsilon, delta)]
            setting = {"alpha": order, "epsilon": epsilon, "delta": delta}
            value = written(convert(*numbers))
            cases.append({"conversion": name, "setting": setting, "why": why, "value": value})
    for name, minimise in MINIMA.items():
        for rho, delta in MINIMUM_SETTINGS:
            value, alpha = minimise(exact(Fraction(rho)), exact(Fraction(delta)))
            why = "minimum over real alpha > 1 of the conversion of rho*alpha"
            if value < 0:
                why += "; negative, not clipped at zero"
            cases.append(
                {
                    "conversion": name,
                    "setting": {"rho": rho, "delta": delta},
                    "why": why,
                    "value": written(value),
                    "alpha": written(alpha),
                }
            )
    return cases


def write(path: Path, origin: str, cases: list[dict[str, object]]) -> None:
    """Write one golden file."""
    document = {"origin": origin, "digits": DIGITS, "cases": cases}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Regenerate both golden files."""
    how = "definitional arbitrary-precision arithmetic; regenerate with tests/golden/oracle.py"
    write(HERE / "bounds.json", f"Ye and Shokri 2022, {how}", bound_cases())
    write(
        HERE / "conversions.json",
        f"Mironov 2017, Proposition 3, and Canonne, Kamath, Steinke 2020, Proposition 12; {how}",
        conversion_cases(),
    )


if __name__ == "__main__":
    main()
