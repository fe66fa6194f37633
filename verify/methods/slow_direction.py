"""A certified lower bound on the Renyi divergence of DP-SGD with clipped softmax gradients.

Setting: Algorithm 2 with b = 1 and one scalar feature, three classes, shared records of a few
types, and one record that is (x, y) in one data set and (x', y') in the other. Units: gradients
are divided by the clip norm C = S_g/2, so that every clipped gradient has length at most 1; then
an update is theta - h (ghat_i(theta) + kappa theta) + h s N(0, I) with h = eta C, kappa = lambda/C
and s the noise multiplier. Parameters that add the same vector to all classes decouple, and are
projected away; four dimensions are left.

The argument. Let t be a point where the mean field of the shared records is (nearly) zero, A the
Jacobian of the mean field there, y = theta - t, and X = W y with W A W^-1 nearly diagonal,
D = diag(d_i), 0 < mu = d_0 the least. Over one epoch, in whatever order,

    X' = (I - h n D) X - h W ghat_z(t) + h s W S + (errors),    S ~ N(0, n I),

and without the errors this is a Gaussian recursion, the same for every order. `Estimates` bounds
the errors in mean square: curvature of the field, movement within an epoch, the record's own
Jacobian, rounding of t and W, and runs that leave the neighbourhood: with U the Gaussian part, a
run is followed up to the first epoch at which |U| or |X - U| exceeds `radius`. The statistic
clip(X_0, -R, R), R twice the radius, then has means that differ by at least `gap` and a standard
deviation of at most `spread` under the second law, and

    R_2 >= log(1 + chi^2) >= log(1 + gap^2/spread^2)

(Hammersley, Chapman and Robbins), for the mixture over orders as for every order.

Every inequality is proved in verify/certificates/GRAMMAR.md, under `linearised`. The checker there
computes the same numbers in other coordinates, with derivatives by power series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from verify.methods.enclosure import ball

BITS = 600
CLASSES = 3
DIGITS = 20  # decimals of the start
COARSE = 12  # decimals of W, which every machine's eigenvectors agree in
Record = tuple[Fraction, int]
Row = Sequence[Fraction]


@dataclass(frozen=True)
class Problem:
    """Shared records (feature, label) with their numbers, the two versions of one more, and a run.

    clip: C = S_g/2. decay: kappa = lambda/C. step: h = eta C. noise: the multiplier s.
    guess: starting point of Newton's iteration for the stationary point, logits per class as
    (weight, bias). radius: bound on the Gaussian part of X that the estimates are made for.
    """

    shared: tuple[tuple[Record, int], ...]
    first: Record
    second: Record
    clip: Fraction
    decay: Fraction
    step: Fraction
    noise: Fraction
    epochs: int
    radius: Fraction
    guess: tuple[tuple[float, float], ...]

    @property
    def n(self) -> int:
        """Records, the differing one included."""
        return sum(count for _, count in self.shared) + 1

    @property
    def largest_feature(self) -> Fraction:
        """L."""
        return max(abs(x) for x, _ in [*(of for of, _ in self.shared), self.first, self.second])

    @property
    def smoothness(self) -> Fraction:
        """beta = (L^2 + 1)/2, without the regularisation."""
        return (self.largest_feature**2 + 1) / 2


def _basis() -> Any:
    """3 x 2, orthonormal columns that span the vectors of sum zero."""
    two, six = flint.arb(2).sqrt(), flint.arb(6).sqrt()
    return flint.arb_mat([[1 / two, 1 / six], [-1 / two, 1 / six], [0, -2 / six]])


@dataclass(frozen=True)
class Local:
    """One record at a point: |p - e_y|, the unit gradient (4) and its Jacobian (4 x 4)."""

    length: Any
    size: Any
    gradient: Any
    jacobian: Any


def local(record: Record, theta: Any) -> Local:
    """The clipped gradient over C and its derivative, by (170), (176) and (181), in balls.

    theta: 3 x 2 arb_mat, (weight, bias) per class. Coordinates: class direction, then feature.
    """
    x, label = record
    q = _basis()
    bar = [ball(x), flint.arb(1)]
    size = (bar[0] * bar[0] + 1).sqrt()
    weight = [(theta[i, 0] * bar[0] + theta[i, 1]).exp() for i in range(CLASSES)]
    p = [w / sum(weight, start=flint.arb(0)) for w in weight]
    # 1 - p_y as the sum of the others loses no digits.
    r = [
        -sum((p[j] for j in range(CLASSES) if j != label), start=flint.arb(0))
        if i == label else p[i]
        for i in range(CLASSES)
    ]  # fmt: skip
    length = sum((v * v for v in r), start=flint.arb(0)).sqrt()
    u = flint.arb_mat(CLASSES, 1, [v / length for v in r])
    hessian = flint.arb_mat(
        [[p[i] * ((i == j) - p[j]) for j in range(CLASSES)] for i in range(CLASSES)]
    )
    inner = hessian - u * (u.transpose() * hessian)
    flat = q.transpose() * u
    gradient = flint.arb_mat(4, 1, [flat[i, 0] * bar[k] / size for i in range(2) for k in range(2)])
    core = q.transpose() * inner * q
    # (I - u u') T (x) xbar xbar' times C/(|r| |xbar|), over C.
    jacobian = flint.arb_mat(
        [[core[i, j] * bar[k] * bar[m] / (length * size) for j in range(2) for m in range(2)]
         for i in range(2) for k in range(2)]
    )  # fmt: skip
    return Local(length, size, gradient, jacobian)


def field(problem: Problem, theta: Any) -> tuple[Any, Any]:
    """Mean over the n records of the shared gradients plus kappa theta, and its Jacobian."""
    total, slope = flint.arb_mat(4, 1), flint.arb_mat(4, 4)
    for record, count in problem.shared:
        at = local(record, theta)
        share = ball(Fraction(count, problem.n))
        total += at.gradient * share
        slope += at.jacobian * share
    decay = ball(problem.decay)
    flat = _basis().transpose() * theta
    total += flint.arb_mat(4, 1, [decay * flat[i, k] for i in range(2) for k in range(2)])
    for i in range(4):
        slope[i, i] += decay
    return total, slope


def _exact(theta: Sequence[Sequence[Fraction]]) -> Any:
    return flint.arb_mat([[ball(v) for v in row] for row in theta])


def _fraction(x: Any) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = (int(v) for v in x.mid().man_exp())
    return mantissa * Fraction(2) ** exponent


def _decimals(rows: Sequence[Row], digits: int) -> tuple[Row, ...]:
    """Rows of three classes, rounded to decimals that add up to zero."""
    first, second = (tuple(Fraction(round(v, digits)) for v in row) for row in rows[:2])
    return first, second, tuple(-v - u for v, u in zip(first, second, strict=True))


def stationary(problem: Problem) -> tuple[Row, ...]:
    """A rational point of sum zero where the field is nearly zero, by Newton's iteration."""
    rows: tuple[Row, ...] = tuple(tuple(Fraction(v) for v in row) for row in problem.guess)
    for _ in range(60):
        centre = [sum((row[k] for row in rows), start=Fraction(0)) / CLASSES for k in range(2)]
        rows = _decimals(
            [[v - m for v, m in zip(row, centre, strict=True)] for row in rows], DIGITS
        )
        value, slope = field(problem, _exact(rows))
        shift = flint.arb_mat(4, 4, [v.mid() for v in slope.entries()]).solve(value)
        size = max(abs(float(v.mid())) for v in shift.entries())
        damp = flint.arb(1) if size < 0.1 else flint.arb(1) / 4
        step = _basis() * flint.arb_mat(2, 2, shift.entries())
        rows = tuple(
            tuple(v - _fraction(step[i, k] * damp) for k, v in enumerate(row))
            for i, row in enumerate(rows)
        )
        if size < 10.0 ** (5 - DIGITS):
            break
    return _decimals(rows, DIGITS)


def _diagonaliser(slope: Any) -> tuple[tuple[Row, ...], ...]:
    """Rows that nearly diagonalise a 4 x 4 ball matrix, the least rate first, as 3 x 2 decimals.

    From the eigenvectors in floating point: what stays off the diagonal is an error.
    """
    middle = np.array([[float(slope[i, j].mid()) for j in range(4)] for i in range(4)])
    _, vectors = np.linalg.eig(middle)
    inverse = np.linalg.inv(np.real(vectors))
    inverse /= np.linalg.norm(inverse, axis=1, keepdims=True)
    shown = np.real(np.diag(inverse @ middle @ np.linalg.inv(inverse)))
    basis = np.array([[float(v) for v in row] for row in _basis().table()])
    return tuple(
        _decimals(
            [[Fraction(float(v)) for v in line] for line in basis @ row.reshape(2, 2)], COARSE
        )
        for row in inverse[np.argsort(shown)]
    )


def _norm(entries: Sequence[Any]) -> Any:
    """Euclidean (Frobenius) norm: at least the operator norm."""
    return sum((v * v for v in entries), start=flint.arb(0)).sqrt()


@dataclass(frozen=True)
class Estimates:
    """What was shown; `gap` and `spread` are balls, valid where `conditions` all hold.

    centre: 3 x 2, the start. turn: the four rows of W, 3 x 2 each.
    """

    centre: tuple[Row, ...]
    turn: tuple[tuple[Row, ...], ...]
    rates: tuple[Any, ...]
    gap: Any
    spread: Any
    error: Any
    escape: Any
    conditions: dict[str, bool]

    @property
    def sound(self) -> bool:
        """Whether every condition was certified."""
        return all(self.conditions.values())

    @property
    def divergence(self) -> Any:
        """A ball whose lower end is at most R_2."""
        return (1 + (self.gap / self.spread) ** 2).log()


def estimate(problem: Problem) -> Estimates:
    """Bound the divergence of order 2 between the two laws of the last iterate from below.

    Call it inside `precision(BITS)`. Every inequality is named in `conditions`.
    """
    n, clip = problem.n, ball(problem.clip)
    h, s, decay = ball(problem.step), ball(problem.noise), ball(problem.decay)
    centre = stationary(problem)
    theta = _exact(centre)
    residual, slope = field(problem, theta)
    turn = _diagonaliser(slope)
    w = flint.arb_mat([(_basis().transpose() * _exact(row)).entries() for row in turn])
    back = w.inv()
    turned = w * slope * back
    rates = tuple(turned[i, i].mid() for i in range(4))
    off = _norm([turned[i, j] - (rates[i] if i == j else 0) for i in range(4) for j in range(4)])
    mu, wn, bn = rates[0], _norm(w.entries()), _norm(back.entries())

    at = [(local(record, theta), count) for record, count in problem.shared]
    ends = [local(problem.first, theta), local(problem.second, theta)]
    radius = ball(problem.radius)
    whole = 2 * radius  # bound on |X|
    ball_y = bn * whole  # bound on |y|
    reach = _norm(theta.entries()) + ball_y

    # |r| moves by at most |xbar| |y|/2, since T <= I/2.
    least = [item.length - item.size * ball_y / 2 for item, _ in at]
    bend = flint.arb(0)
    for (item, count), low in zip(at, least, strict=True):
        # |D^2 (r/|r|)| <= |D^2 r|/|r| + (2/sqrt 3)(|Dr|/|r|)^2, |D^2 r| <= 1, |Dr| <= 1/2.
        second = item.size**2 * (1 / low + 1 / (2 * flint.arb(3).sqrt() * low * low))
        bend += second * ball(Fraction(count, n)) / 2
    lipschitz = ball(problem.smoothness) / clip

    pull = h * n
    steps = flint.arb(problem.epochs)
    # Movement within an epoch: |theta_j - theta_0| <= 4 h n + 2 h s max |S_j|, Doob for the noise.
    stray = pull * (lipschitz + decay) * (4 * pull + 8 * h * s * flint.arb(n).sqrt())

    drift, deviation = flint.arb(0), flint.arb(0)
    for i in range(4):
        row = [w[i, k] for k in range(4)]
        size2 = sum((v * v for v in row), start=flint.arb(0))
        variance = h * s * s * size2 / (rates[i] * (2 - pull * rates[i]))
        # |ghat_z| <= 1.
        drift += size2 / (n * rates[i]) ** 2
        deviation += variance
    mean, root = drift.sqrt(), deviation.sqrt()
    m2, m4 = (drift + deviation).sqrt(), mean + flint.arb(3).sqrt().sqrt() * root

    own = wn * bn * lipschitz / n
    size_r = _norm(residual.entries())
    quarter = radius / 4
    follow = (off * whole + wn * (bend * ball_y * ball_y + size_r) + own * whole) / mu + quarter
    damp = (off + 2 * wn * bend * bn * bn * radius + own) / mu
    source = (off * m2 + wn * (2 * bend * bn * bn * m4 * m4 + size_r) + own * m2) / mu
    error = (source + wn * steps * stray) / (1 - damp)
    gaussian = 8 * steps * (-((radius - mean) ** 2) / (8 * deviation)).exp()
    escape = gaussian + wn * steps * stray / quarter
    total = error + whole * escape.sqrt() + m4 * escape.sqrt().sqrt()

    row = [w[0, k] for k in range(4)]
    arrows = [sum((row[k] * end.gradient[k, 0] for k in range(4)), start=flint.arb(0))
              for end in ends]  # fmt: skip
    power = ((-pull * mu).log1p() * steps).exp()
    separation = abs(arrows[0] - arrows[1]) * (1 - power) / (n * mu)
    size2 = sum((v * v for v in row), start=flint.arb(0))
    sd = (h * s * s * size2 / (mu * (2 - pull * mu))).sqrt()
    conditions = {
        "the mean field is attracting": bool(mu > 0) and all(bool(r >= mu) for r in rates),
        "steps are small": all(bool(pull * rate < 1) for rate in rates)
        and bool(pull * decay < flint.arb(1) / 2),
        "kappa |theta| <= 1 in the neighbourhood": bool(decay * reach <= 1),
        "clipping is active in the neighbourhood": all(
            bool(low * item.size > clip) for (item, _), low in zip(at, least, strict=True)
        ) and all(bool(end.length * end.size > clip) for end in ends),
        "runs stay in the neighbourhood": bool(follow <= radius) and bool(mean < radius),
        "errors contract": bool(damp < 1),
        "gap exceeds the errors": bool(separation > 2 * total),
    }  # fmt: skip
    return Estimates(
        centre, turn, rates, separation - 2 * total, sd + total, total, escape, conditions
    )
