"""Re-check a refutation of Corollary 5.3: the certificates of kind `linearised`.

The argument is in GRAMMAR.md, and its step numbers stand here. A certificate gives a run of
Algorithm 2 on two data sets that differ in one record, a starting point, a matrix and a radius.
`numbers` checks every condition and returns the lower bound of the divergence and the upper bound
of what the paper says of it. Gradients are divided by the clip norm, so they have length 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from verify.certificates.language import Malformed, number, rational, sure

CLASSES = 3
DIMENSION = 4  # of the parameters (weight, bias) per class whose sum over the classes is zero
ORDER = 2
Record = tuple[Fraction, int]
Row = Sequence[Fraction]


@dataclass(frozen=True)
class Run:
    """A run on two data sets, and the witness, all exact.

    start and the rows of the matrix: class by class, weight and bias. clip: S_g/2. norm: L.
    """

    shared: list[tuple[Record, int]]
    versions: list[Record]
    start: Row
    n: int
    epochs: int
    clip: Fraction
    regularisation: Fraction
    eta: Fraction
    multiplier: Fraction
    norm: Fraction
    radius: Fraction
    matrix: list[Row]


# Reading, with the hypotheses of Corollary 5.3.


def must(yes: bool, wanted: str) -> None:
    """Refuse what does not meet an exact condition."""
    if not yes:
        raise Malformed(f"not so: {wanted}")


def whole(text: str) -> int:
    """A whole number of at least 1."""
    value = number(text)
    must(value.denominator == 1 and value >= 1, f"{text[:20]} is a whole number from 1 on")
    return int(value)


def rows(text: str, pattern: str) -> list[tuple[str, ...]]:
    """The groups of a pattern in parts that a semicolon separates."""
    found = [re.fullmatch(pattern, part) for part in text.split("; ")]
    must(all(found), f"{text[:40]!r} is a list like (1, 2); (3, 4)")
    return [match.groups() for match in found if match]


def record(x: str, label: str) -> Record:
    """A feature and a class, counted from 0."""
    must(label in ("1", "2", "3"), "a label is 1, 2 or 3")
    return number(x), int(label) - 1


def sums_to_zero(row: Row) -> bool:
    """Whether the classes add up to zero, for the weights and for the biases."""
    return len(row) == 2 * CLASSES and not any(sum(row[k::2]) for k in range(2))


PAIR = r"\(([^,()]+), ([^,()]+)\)"


def read(made: Mapping[str, Any]) -> Run:
    """The run and the witness of a certificate, if the corollary is about it."""
    p, proof = made["parameters"], made["proof"]
    shared = [(record(x, label), whole(count))
              for x, label, count in rows(p["shared records"], f"{PAIR} x ([^ ]+)")]  # fmt: skip
    run = Run(
        shared, [record(*pair) for pair in rows(p["differing record"], PAIR)],
        [number(x) for pair in rows(p["start"], PAIR) for x in pair],
        whole(p["n"]), whole(p["K"]), number(p["S_g"]) / 2, number(p["lambda"]), number(p["eta"]),
        number(p["sigma_mul"]), number(p["L"]), number(proof["radius"]),
        [[number(x) for x in row] for row in proof["W"]],
    )  # fmt: skip
    must(made["relation"] == "<=", "what fails is divergence <= bound")
    must([p["b"], p["alpha"], p["classes"]] == ["1", str(ORDER), str(CLASSES)],
         "batches of one record, order 2, three classes")  # fmt: skip
    must(len(run.versions) == 2, "the differing record has two versions")
    must(run.n == 1 + sum(count for _, count in shared), "n counts all records")
    largest = max(abs(x) for x, _ in [*(item for item, _ in shared), *run.versions])
    must(run.norm == largest, "L is the largest feature")
    scales = (run.clip, run.regularisation, run.eta, run.multiplier, run.radius)
    must(min(scales) > 0, "S_g, lambda, eta, sigma_mul and the radius are positive")
    must(run.eta * ((run.norm**2 + 1) / 2 + 2 * run.regularisation) < 2,
         "eta < 2/((L^2 + 1)/2 + 2 lambda)")  # fmt: skip
    must(sums_to_zero(run.start), "the start adds up to zero over the classes")
    must(len(run.matrix) == DIMENSION and all(map(sums_to_zero, run.matrix)),
         "W has four rows that add up to zero over the classes")  # fmt: skip
    return run


# The mean field at the start.


def ball(x: int | Fraction) -> Any:
    """A ball around a rational number."""
    return flint.arb(rational(Fraction(x)))


def frobenius(entries: Sequence[Any]) -> Any:
    """Root of the sum of squares: at least the operator norm of a matrix."""
    return sum((x * x for x in entries), start=flint.arb(0)).sqrt()


@dataclass(frozen=True)
class Local:
    """A record at the start: |p - y|, |(x, 1)|, u and its derivatives [direction][place].

    u is the gradient of its loss divided by its length.
    """

    length: Any
    size: Any
    u: list[Any]
    slope: list[list[Any]]


def local(of: Record, start: Row) -> Local:
    """By power series in each of the six directions."""
    x, label = ball(of[0]), of[1]
    size, series = (x * x + 1).sqrt(), []
    for k in range(2 * CLASSES):
        theta = [flint.arb_series([ball(v), int(i == k)], 2) for i, v in enumerate(start)]
        powers = [(theta[2 * c] * x + theta[2 * c + 1]).exp() for c in range(CLASSES)]
        total = powers[0] + powers[1] + powers[2]
        r = [power / total - int(c == label) for c, power in enumerate(powers)]
        length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt()
        series.append([v / length * (bar / size) for v in r for bar in (x, flint.arb(1))])
    return Local(length[0], size, [g[0] for g in series[0]], [[g[1] for g in v] for v in series])


# The bounds.


def numbers(made: Mapping[str, Any]) -> dict[str, Any]:
    """What the certificate has to state, as balls at the precision that is set.

    Raises:
        Malformed: a condition does not hold, or something cannot be read.
        Undecided: more precision may tell.
    """
    run = read(made)
    n, epochs, r, c = ball(run.n), ball(run.epochs), ball(run.radius), ball(run.clip)
    h, s, kappa = ball(run.eta) * c, ball(run.multiplier), ball(run.regularisation / run.clip)
    time, zero, places = h * n, flint.arb(0), range(2 * CLASSES)

    def hold(low: Any, high: Any, what: str) -> None:
        sure(low < high, low >= high, f"not shown: {what}")

    # (2) The mean field F, its derivative A, and M = W A B with B the inverse of W.
    w = flint.fmpq_mat([[rational(x) for x in row] for row in run.matrix])
    gram = w * w.transpose()
    must(gram.det() != 0, "the rows of W are independent")
    b = w.transpose() * gram.inv()
    shared = [(local(of, run.start), ball(Fraction(count, run.n))) for of, count in run.shared]
    field = [
        kappa * ball(run.start[i]) + sum((share * at.u[i] for at, share in shared), start=zero)
        for i in places
    ]
    a = flint.arb_mat([
        [kappa * (i == k) + sum((share * at.slope[k][i] for at, share in shared), start=zero)
         for k in places] for i in places
    ])  # fmt: skip
    m = flint.arb_mat(w) * a * flint.arb_mat(b)
    d = [m[i, i] for i in range(DIMENSION)]
    off = frobenius([m[i, k] for i in range(DIMENSION) for k in range(DIMENSION) if i != k])
    size_w = frobenius([flint.arb(x) for x in w.entries()])
    size_b = frobenius([flint.arb(x) for x in b.entries()])
    size_f = frobenius(field)
    hold(0, d[0], "W A B has a positive first entry")
    for rate in d[1:]:
        hold(d[0], rate, "the first entry of W A B is the least on the diagonal")
    for rate in d:
        hold(time * rate, 1, "h n d < 1")

    # (3) The neighbourhood |X| <= 2 r.
    away = size_b * 2 * r
    bend = zero
    for at, share in shared:
        low = at.length - at.size * away / 2
        hold(c, low * at.size, "every shared record is clipped in the neighbourhood")
        bend += share / 2 * at.size**2 * (1 / low + 1 / (2 * ball(3).sqrt() * low**2))
    ends = [local(of, run.start) for of in run.versions]
    for end in ends:
        hold(c, end.length * end.size, "the differing record is clipped at the start")
    hold(kappa * (frobenius([ball(x) for x in run.start]) + away), 1, "kappa |theta| < 1")
    hold(2 * time * kappa, 1, "h n kappa < 1/2")

    # (4) Movement within an epoch, and the record's own Jacobian.
    lipschitz = ball((run.norm**2 + 1) / 2) / c
    move = time * (lipschitz + kappa) * (4 * time + 8 * h * s * n.sqrt())
    own = size_w * size_b * lipschitz / n

    # (5) The Gaussian part: its mean, variances, and second and fourth moments.
    pairs = [(frobenius([ball(x) for x in row]), rate)
             for row, rate in zip(run.matrix, d, strict=True)]  # fmt: skip
    mean = frobenius([length / (n * rate) for length, rate in pairs])
    variances = [h * s**2 * length**2 / (rate * (2 - time * rate)) for length, rate in pairs]
    trace = sum(variances, start=zero)
    m2, m4 = (mean**2 + trace).sqrt(), mean + (ball(3).sqrt() * trace).sqrt()
    hold(mean, r, "the mean stays inside")

    # (6) Leaving: either the Gaussian part, or the errors.
    pushed = (2 * r * (off + own) + size_w * (bend * away**2 + size_f)) / d[0] + r / 4
    hold(pushed, r, "the errors of an epoch do not push a run out")
    leave = 8 * epochs * (-((r - mean) ** 2) / (8 * trace)).exp()
    leave += 4 * size_w * epochs * move / r

    # (7) The error in mean square, and what clipping the statistic adds.
    keep = (off + own + 2 * size_w * bend * size_b**2 * r) / d[0]  # below 3/8, as pushed < r
    source = ((off + own) * m2 + size_w * (2 * bend * size_b**2 * m4**2 + size_f)) / d[0]
    error = (source + size_w * epochs * move) / (1 - keep)
    total = error + 2 * r * leave.sqrt() + m4 * leave.sqrt().sqrt()

    # (8) The two means and the standard deviation of the statistic.
    arrows = [sum((ball(run.matrix[0][i]) * end.u[i] for i in places), start=zero) for end in ends]
    grown = -(epochs * (-time * d[0]).log1p()).expm1()
    gap = abs(arrows[0] - arrows[1]) * grown / (n * d[0]) - 2 * total
    hold(0, gap, "the difference of means exceeds the errors")
    spread = variances[0].sqrt() + total
    divergence = (1 + (gap / spread) ** 2).log()
    return {
        "slow rate": d[0], "difference of means": gap, "standard deviation": spread,
        "error": total, "probability of leaving": leave,
        "left": divergence, "right": printed_bound(run),
    }  # fmt: skip


def printed_bound(run: Run) -> Any:
    """(9) An upper bound of the right side of (12) with (13), at order 2 and b = 1."""
    half = run.n // 2
    log = ball(-run.eta * run.regularisation).log1p()

    def lost(power: int) -> Any:
        """1 - (1 - eta lambda)^power."""
        return -(log * power).expm1()

    front = 2 * ORDER / ball(run.multiplier) ** 2
    sure(front <= 1, front > 1, "eps_0^1 <= 1 is wanted")
    first = front * (log * (2 * (half - 1))).exp() * lost(2) / lost(2 * half)
    series = lost(2 * (run.epochs - 1) * (run.n - half)) / lost(2 * (run.n - half))
    return first * series + front * (1 + front) * (1 + ball(run.n).log()) / run.n
