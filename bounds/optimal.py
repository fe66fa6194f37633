"""The best bound that the shift argument can give for a fixed order, and the run that attains it.

Setting
    Two processes theta_t = phi_t(theta_{t-1}) + N(0, v_t I) and theta'_t = phi'_t(theta'_{t-1})
    + N(0, v_t I), t = 1..T, from one starting law. Every map is c_t-Lipschitz and
    |phi_t(x) - phi'_t(x)| <= s_t for all x.

Statement
    Let w_t = c_{t+1} ... c_T, Omega_t = sum_{u<=t} w_u^2 v_u and P_t = sum_{u<=t} w_u s_u, and let
    m_1 <= ... <= m_T be the slopes of the greatest convex minorant of the points (Omega_t, P_t),
    t = 0..T, where m_t belongs to the piece from Omega_{t-1} to Omega_t. Then

        R_alpha(theta_T || theta'_T) <= (alpha/2) V,    V = sum_t m_t^2 w_t^2 v_t,

    no choice of multipliers gives less, and V is exact for the class: a linear run attains it.

Symbols
    c_t [-]; s_t [parameter]; v_t [parameter^2]; m_t [1/parameter]; V, w_t, alpha [-].

Direction
    Upper for the process; exact as a supremum over all processes of the setting.

Source
    The shift argument is Feldman et al. 2018 (shifted divergence, shift reduction, contraction
    reduction) with the multipliers of Bok, Su and Altschuler 2024; the optimum is derived here.

Proof
    1. Upper bound. For D^(z)(mu||nu) = inf {R_alpha(mu'||nu) : W_inf(mu, mu') <= z} one has
       D^(cz+s)(phi mu || phi' nu) <= D^(z)(mu||nu) and D^(z)(mu * N(0, v) || nu * N(0, v)) <=
       D^(z+a)(mu||nu) + alpha a^2/(2v), a >= 0. From z_T = 0 down to z_0 = 0 this gives
       R_alpha <= (alpha/2) sum a_t^2/v_t whenever a_t >= 0, z_t = c_t z_{t-1} + s_t - a_t >= 0 and
       z_0 = z_T = 0.
    2. Reformulation. As w_{t-1} = c_t w_t, w_t z_t = P_t - Q_t with Q_t = sum_{u<=t} w_u a_u. So Q
       is a path from (0, 0) to (Omega_T, P_T) below the points, and where w_t > 0 a step costs
       a_t^2/v_t = (Q_t - Q_{t-1})^2/(Omega_t - Omega_{t-1}). Steps with w_t = 0 want a_t = 0.
    3. Optimum. Let Q* be the minorant and Q feasible, with slopes q_t on dOmega_t = w_t^2 v_t.
       sum q_t^2 dOmega_t >= sum m_t^2 dOmega_t + 2 sum m_t (q_t - m_t) dOmega_t, and summing by
       parts the last term is 2 sum_t (m_{t+1} - m_t)(Q*_t - Q_t) >= 0: where m jumps the minorant
       touches its point, Q*_t = P_t >= Q_t; the ends agree. a_t = w_t v_t m_t attains it, and is
       not negative because P does not fall.
    4. Lower side. The run theta_t = c'_t theta_{t-1} + N(0, v_t), shifted by s_t each step, with
       c'_t = c_t m_{t-1}/m_t <= c_t, has weights w'_t = w_t m_t/m_T. Both ends are Gaussian, with
       R_alpha = (alpha/2) (sum w'_t s_t)^2 / sum w'_t^2 v_t. By parts, sum m_t w_t s_t =
       sum m_t dP_t = sum m_t dQ*_t = V (P and Q* agree at the jumps of m and at both ends), and
       sum m_t^2 w_t^2 v_t = V. So this divergence is (alpha/2) V^2/V. Steps before the first shift
       have m_t = 0 and c' = 0 where the slope leaves 0: the run forgets the noise of earlier steps.

When the attaining run is legal in the paper's class
    A 1-D quadratic of curvature h in [lambda, beta] contracts by 1 - eta h. With c = 1 - eta lambda
    and eta <= 2/(lambda + beta) the factors c'_t in [0, c] asked for are reached for certain if
    c'_t >= 1 - eta beta, `Certificate.least_contraction` >= 1 - eta beta; hence always when
    eta beta >= 1.
    Algorithm 1 repeats the same losses in every epoch, while c'_t may want to change from step to
    step. It can, by place: let all records share one loss f in dimension 1, up to a linear term
    that is the differing record's own (so the sensitivity is S_g over any two records), and start
    at distance L from the minimiser. For fixed K the T iterates then lie around T points, and as
    eta f' >= eta lambda |x - x*| moves each of them away from the one before, their mutual
    distances grow with L. A smooth f'' with values in [lambda, beta] can so take the wanted value
    around each point and lambda elsewhere. As L grows, the centred run converges in law to the
    linear run above, and Renyi divergence is lower semicontinuous. So, with 0 < eta lambda < 1, the
    supremum over the paper's class is exactly (alpha/2) V
      (i)  when eta beta >= 1, for every position and K;
      (ii) for the first batch (j_0 = 0), for every beta >= lambda: the minorant is one chord and
           the run is the quadratic of constant curvature lambda, which attains the value;
      (iii) for every beta >= lambda, in the limit of many epochs, for the batches whose minorant is
           one chord (once K is large, those with 2 j_0 < l, l = n/b): the same quadratic has
           divergence (alpha/2) V (1 - c^(2N))/(1 - c^(2Kl)), N = Kl - j_0, since only the noise
           of the first j_0 updates is in its way.
    Otherwise (eta beta < 1, j_0 > 0) the run cannot forget the noise added before the record is
    first seen, nor contract as it should at the knots: there (alpha/2) V is an upper bound, the
    value of `legal_run_value` a lower one, and the truth between them is open.

>>> steps = schedule((1, "1/2"), (2, 1), (1, 1))
>>> best = optimal(steps)
>>> best.value, best.multipliers
(Fraction(16, 5), (Fraction(4, 5), Fraction(8, 5)))
>>> verify_certificate(best)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bounds.arith import TooCostly
from bounds.setting import InvalidInput, Setting, exact, show

MOST_STEPS = 10**5
"""Of an exact schedule; `optimal` then takes about a day."""


class CertificateInvalid(InvalidInput):
    """A certificate that does not prove its value; the message names the first failure."""


@dataclass(frozen=True)
class Step:
    """One step: contraction c_t >= 0 [-], shift s_t >= 0 [parameter], variance v_t > 0."""

    contraction: Fraction
    shift: Fraction
    variance: Fraction


@dataclass(frozen=True)
class Segment:
    """A straight piece of the minorant, over the steps `first` to `last` (from 0).

    `rise` and `noise` are its increments of P and Omega in units of its last step, that is with
    w = 1 there; `decay` is the product of its contractions.
    """

    first: int
    last: int
    rise: Fraction
    noise: Fraction
    decay: Fraction

    @property
    def slope(self) -> Fraction:
        """The slope in units of the last step of the piece."""
        return self.rise / self.noise


@dataclass(frozen=True)
class Certificate:
    """The optimum with both of its proofs.

    value: V [-], the bound is (alpha/2) V. multipliers: a_t, the upper side. contractions: c'_t of
    the run that attains the value when shifted by s_t each step, the lower side. slopes: m_t, None
    where w_t = 0 makes the step irrelevant. knots: the t in 0..T where the minorant has its corners
    and ends.
    """

    steps: tuple[Step, ...]
    value: Fraction
    multipliers: tuple[Fraction, ...]
    contractions: tuple[Fraction, ...]
    slopes: tuple[Fraction | None, ...]
    knots: tuple[int, ...]

    @property
    def least_contraction(self) -> Fraction:
        """The smallest c'_t that matters: a run needs 1 - eta beta at most this.

        The first step acts on the common start, which may be a point.
        """
        return min(self.contractions[1:], default=Fraction(1))

    def renyi(self, order: Fraction) -> Fraction:
        """(order/2) V [-]."""
        return order * self.value / 2


def schedule(
    contractions: Sequence[object], shifts: Sequence[object], variances: Sequence[object]
) -> tuple[Step, ...]:
    """Steps from three sequences of exact numbers.

    Raises:
        InvalidInput: for sequences of unequal length or none, and for numbers out of range.
    """
    if not len(contractions) == len(shifts) == len(variances) or not contractions:
        raise InvalidInput(
            f"a schedule wants three sequences of one length, at least 1; found "
            f"{len(contractions)} contractions, {len(shifts)} shifts, {len(variances)} variances"
        )
    steps = tuple(
        Step(exact(c, "contraction"), exact(s, "shift"), exact(v, "variance"))
        for c, s, v in zip(contractions, shifts, variances, strict=True)
    )
    _check(steps)
    return steps


def cyclic_schedule(setting: Setting) -> tuple[Step, ...]:
    """Algorithm 1 in a fixed order, step by step: K floor(n/b) steps.

    c = 1 - eta lambda, s = eta S_g/b at the record's position of every epoch, else 0, and
    v = 2 eta sigma^2.

    Raises:
        TooCostly: more than MOST_STEPS steps.
    """
    if setting.steps > MOST_STEPS:
        seconds = 200.0 * (setting.steps / 10**4) ** 2.75
        raise TooCostly(
            f"the exact optimum over {setting.steps} steps would take about {seconds:.1g} seconds; "
            f"at most {MOST_STEPS} are tried, and `optimal_float`, or the bound "
            "optimal_fixed_order, takes any number"
        )
    assert setting.eta is not None and setting.sensitivity is not None
    assert setting.sigma2 is not None and setting.b is not None
    c, v = 1 - setting.eta_lambda, 2 * setting.eta * setting.sigma2
    hit = Step(c, setting.eta * setting.sensitivity / setting.b, v)
    miss = Step(c, Fraction(0), v)
    return tuple(
        hit if t % setting.batches == setting.place else miss for t in range(setting.steps)
    )


def _check(steps: Iterable[Step]) -> None:
    for t, step in enumerate(steps, 1):
        if step.contraction < 0 or step.shift < 0 or step.variance <= 0:
            raise InvalidInput(
                f"step {t}: c >= 0, s >= 0 and v > 0 are required, found c = "
                f"{show(step.contraction)}, s = {show(step.shift)}, v = {show(step.variance)}"
            )


def segments(steps: Sequence[Step]) -> list[Segment]:
    """The pieces of the greatest convex minorant, from left to right.

    Adjacent pieces are merged while their slopes fall; each step enters and leaves the stack once,
    so this takes O(T) operations. A piece that follows a total loss of memory (decay 0) swallows
    all before it, which then weighs nothing.
    """
    stack: list[Segment] = []
    for t, step in enumerate(steps):
        new = Segment(t, t, step.shift, step.variance, step.contraction)
        while stack and stack[-1].rise * new.noise >= new.decay * new.rise * stack[-1].noise:
            old = stack.pop()
            new = Segment(
                old.first, t,
                new.rise + old.rise * new.decay,
                new.noise + old.noise * new.decay**2,
                old.decay * new.decay,
            )  # fmt: skip
        stack.append(new)
    return stack


def optimal(steps: Sequence[Step]) -> Certificate:
    """The optimum in exact arithmetic, with its certificate.

    Growth: time ~ steps^2.75: there are some T operations on fractions of some T digits,
    whose common factors take the square of their digits.

    Raises:
        InvalidInput: for an empty schedule or a step out of range.
    """
    steps = tuple(steps)
    if not steps:
        raise InvalidInput("a schedule wants at least one step")
    _check(steps)
    pieces = segments(steps)
    multipliers: list[Fraction] = []
    contractions: list[Fraction] = []
    slopes: list[Fraction | None] = []
    reach = Fraction(1)  # w at the last step of the piece at hand
    for number in reversed(range(len(pieces))):
        piece = pieces[number]
        weight = Fraction(1)
        for t in range(piece.last, piece.first - 1, -1):
            step = steps[t]
            multipliers.append(weight * step.variance * piece.slope)
            slopes.append(piece.slope / reach if weight * reach > 0 else None)
            contractions.append(step.contraction if piece.rise else Fraction(0))
            weight *= step.contraction
        if number and piece.rise:
            before = pieces[number - 1].slope / (piece.slope * piece.decay)
            contractions[-1] = steps[piece.first].contraction * before
        reach *= piece.decay
    contractions[-1] = steps[0].contraction
    return Certificate(
        steps=steps,
        value=sum((piece.rise * piece.slope for piece in pieces), Fraction(0)),
        multipliers=tuple(reversed(multipliers)),
        contractions=tuple(reversed(contractions)),
        slopes=tuple(reversed(slopes)),
        knots=(0, *(piece.last + 1 for piece in pieces)),
    )


def shift_cost(steps: Sequence[Step], multipliers: Sequence[Fraction]) -> Fraction:
    """sum a_t^2/v_t [-], after checking that the multipliers are feasible.

    Raises:
        CertificateInvalid: naming the step where they are not.
    """
    if len(multipliers) != len(steps):
        raise CertificateInvalid(f"{len(multipliers)} multipliers for {len(steps)} steps")
    gap, cost = Fraction(0), Fraction(0)
    for t, (step, a) in enumerate(zip(steps, multipliers, strict=True), 1):
        gap = step.contraction * gap + step.shift - a
        if a < 0 or gap < 0:
            raise CertificateInvalid(f"step {t}: a = {show(a)} leaves the gap z = {show(gap)}")
        cost += a * a / step.variance
    if gap:
        raise CertificateInvalid(f"the last gap is z = {show(gap)}, it should be 0")
    return cost


def linear_run_value(steps: Sequence[Step], contractions: Sequence[Fraction]) -> Fraction:
    """(difference of means)^2 / variance [-] at the end of a linear Gaussian run.

    Its Renyi divergence of order alpha is alpha/2 times this. The run starts at a point.

    Raises:
        CertificateInvalid: where |c'_t| > c_t.
    """
    if len(contractions) != len(steps):
        raise CertificateInvalid(f"{len(contractions)} contractions for {len(steps)} steps")
    apart, variance = Fraction(0), Fraction(0)
    for t, (step, c) in enumerate(zip(steps, contractions, strict=True), 1):
        if abs(c) > step.contraction:
            raise CertificateInvalid(
                f"step {t}: the run contracts by {show(c)}, at most {show(step.contraction)} is "
                "allowed"
            )
        apart = c * apart + step.shift
        variance = c * c * variance + step.variance
    return apart * apart / variance


def legal_run_value(certificate: Certificate, least: Fraction) -> Fraction:
    """A lower bound of the truth when no step contracts by less than `least` = 1 - eta beta.

    The attaining run with its contractions raised to `least`; equal to V where it was legal.
    """
    raised = [
        min(step.contraction, max(c, least))
        for step, c in zip(certificate.steps, certificate.contractions, strict=True)
    ]
    return linear_run_value(certificate.steps, raised)


def verify_certificate(certificate: Certificate) -> None:
    """Recompute both sides from the definitions; they must meet at the claimed value.

    The multipliers prove V <= value, the run proves V >= value: nothing about minorants is used.
    The slopes and knots are checked too, against a_t = w_t v_t m_t, order, and the points.

    Raises:
        CertificateInvalid: naming the first failure.
    """
    steps = certificate.steps
    _check(steps)
    upper = shift_cost(steps, certificate.multipliers)
    lower = linear_run_value(steps, certificate.contractions)
    if not upper == lower == certificate.value:
        raise CertificateInvalid(
            f"multipliers give {show(upper)}, the run gives {show(lower)}, "
            f"the certificate says {show(certificate.value)}"
        )
    if len(certificate.slopes) != len(steps):
        raise CertificateInvalid(f"{len(certificate.slopes)} slopes for {len(steps)} steps")
    weight, after, excess = Fraction(1), None, Fraction(0)
    corners = {len(steps)}
    for t in range(len(steps), 0, -1):
        slope, a, step = certificate.slopes[t - 1], certificate.multipliers[t - 1], steps[t - 1]
        if (slope is None) != (weight == 0):
            raise CertificateInvalid(f"step {t}: slope {slope} at weight {show(weight)}")
        if slope is not None:
            if a != weight * step.variance * slope:
                raise CertificateInvalid(f"step {t}: a_t is not w_t v_t m_t")
            if after is not None and slope > after:
                raise CertificateInvalid(f"step {t}: the slopes fall")
            if after is not None and slope < after:
                corners.add(t)
                if excess:
                    raise CertificateInvalid(f"t = {t}: a corner off its point")
            after = slope
        excess += weight * (a - step.shift)
        weight *= step.contraction
    if {0, *corners} != set(certificate.knots):
        raise CertificateInvalid(f"the knots are {sorted({0, *corners})}")


def optimal_float(contractions: Any, shifts: Any, variances: Any) -> float:
    """V in double precision for long schedules.

    Growth: time ~ steps^1.

    Each is a sequence of T doubles. Pieces are kept in units of their own last step, so nothing
    overflows, and what has been forgotten underflows to 0 as it should. Every operation is on
    non-negative numbers.
    """
    import numpy as np

    arrays = [np.asarray(x, dtype=np.float64) for x in (contractions, shifts, variances)]
    if len({x.shape for x in arrays}) != 1 or arrays[0].ndim != 1 or not arrays[0].size:
        raise InvalidInput("three sequences of one length, at least 1, are wanted")
    if not (arrays[0].min() >= 0 and arrays[1].min() >= 0 and arrays[2].min() > 0):
        raise InvalidInput("c >= 0, s >= 0 and v > 0 are required at every step")
    stack: list[tuple[float, float, float]] = []
    for decay, rise, noise in zip(*(x.tolist() for x in arrays), strict=True):
        while stack and stack[-1][0] * noise >= decay * rise * stack[-1][1]:
            old_rise, old_noise, old_decay = stack.pop()
            rise += old_rise * decay
            noise += old_noise * decay * decay
            decay *= old_decay
        stack.append((rise, noise, decay))
    return sum(rise * rise / noise for rise, noise, _ in stack)
