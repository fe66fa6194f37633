"""Fixed order: the best that the shift argument can give, for a record of any batch.

Setting: fixed batches in a fixed cycle, lambda-strongly convex beta-smooth losses,
eta <= 2/(lambda + beta); b = n is allowed.
Statement: with c = 1 - eta lambda, l = floor(n/b), r = l - j_0 the updates of an epoch from the
record's on, N = (K-1) l + r and E(x, m) = 1 + x + ... + x^(m-1),
eps <= alpha A [c^(2(r-1)) E(c^l, K)^2/E(c^2, N)
+ max(0, c^(2r-1)/E(c^2, r) - c^(l-1) (1-c^2)/((1-c^l)(1 + c^(l(K-1)))))^2
E(c^2, N-r) E(c^2, r)/E(c^2, N)].
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; j_0 [-], the record's batch, from 0.
Direction: upper. It is the exact supremum over the class for j_0 = 0, for every j_0 once
eta beta >= 1, and for 2 j_0 < l as K grows; open otherwise (see `bounds.optimal`).
Source: derived here; the optimum of `bounds.optimal` for the schedule of Algorithm 1.

Proof. Let h_k = 1 + j_0 + kl, k = 0..K-1, be the updates that hold the record. In units where a
shift is 1 and a variance is 1, w_t = c^(Kl-t); P jumps by w_(h_k) at h_k and is flat between. So
the minorant of (Omega_t, P_t) is that of the low points B_k = (Omega_(h_k - 1), P_(h_k - 1)),
k < K, with (0, 0) and the end B_K = (Omega_T, P_T). From (0, 0) to B_0 it is flat. The slope from
B_k to B_(k+1), k < K-1, is w_(h_k)/(w_(h_k)^2 (1 + c^-2 + ... + c^(-2(l-1)))), which falls with k:
these points lie above the chord from B_0 to B_(K-1), and the only corner between B_0 and B_K can be
B_(K-1). The two slopes, over Omega_1 = c^(2r) E(c^2, N-r) and Omega_2 = E(c^2, r), are
    M_1 = c^(r-1) c^l E(c^l, K-1)/Omega_1 = c^(l-r-1) (1-c^2)/((1-c^l)(1 + c^(l(K-1)))),
    M_2 = c^(r-1)/Omega_2.
If M_1 >= M_2 the value is that of one chord, (M_1 Omega_1 + M_2 Omega_2)^2/(Omega_1 + Omega_2), the
first term. If not it is M_1^2 Omega_1 + M_2^2 Omega_2, which exceeds the first term by
(M_2 - M_1)^2 Omega_1 Omega_2/(Omega_1 + Omega_2), the second. (With K = 1, Omega_1 = 0.)
Cases. M_1 <= M_2 if and only if c^(l-2r) <= 1 + c^(l(K-1)) (1-c^l); so for 2r <= l always, and for
r = l never if K >= 2. With a corner the value is c^(2r-2)/E(c^2, r) plus
c^(2l-2) (1-c^2)/(1-c^l)^2 (1 - c^(l(K-1)))/(1 + c^(l(K-1))), which for r = 1 is Bok, Su and
Altschuler's cyclic bound. For l = 1 it is their full-batch bound, (1-c^K)(1+c)/((1+c^K)(1-c)), and
for K = 1 it is equation (99) of the paper. It falls as r grows: one more update without the record
costs nothing, and the updates before the first with the record are of no use.

>>> from bounds.arith.exact import Exact
>>> from bounds.bound import bind
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=2, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=2, position=1)
>>> epsilon(bind(s, Exact), Exact)
Fraction(6, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.derived import DERIVED
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
)

SOURCE = Source(DERIVED, "optimal_fixed_order", "optimal shift bound, fixed order")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED, POSITION,
)  # fmt: skip


def chord(p: Parameters, ctx: Any, r: Any) -> Any:
    """The value [-] of a single chord, for a record that is last used r updates before the end."""
    c, size = p.contraction, p.batches
    before = 2 * (p.epochs - 1) * size
    hits = ctx.one_minus_power(c, size * p.epochs) / ctx.one_minus_power(c, size)
    spent = ctx.one_minus_power(c, before) + ctx.power(c, before) * ctx.one_minus_power(c, 2 * r)
    return ctx.power(c, 2 * (r - 1)) * hits * hits * ctx.one_minus_power(c, 2) / spent


def corner(p: Parameters, ctx: Any, r: Any) -> Any:
    """The value [-] of two chords that meet before the record's last use."""
    c = p.contraction
    last = ctx.power(c, 2 * (r - 1)) * ctx.one_minus_power(c, 2) / ctx.one_minus_power(c, 2 * r)
    return last + earlier(p, ctx)


def earlier(p: Parameters, ctx: Any) -> Any:
    """What the first K - 1 epochs leave behind [-], where the minorant has its corner."""
    c, size = p.contraction, p.batches
    cycle, run = ctx.one_minus_power(c, size), size * (p.epochs - 1)
    spread = ctx.one_minus_power(c, run) / (1 + ctx.power(c, run))
    return ctx.power(c, 2 * size - 2) * ctx.one_minus_power(c, 2) / cycle / cycle * spread


def value(p: Parameters, ctx: Any, r: Any) -> Any:
    """The bound over alpha A [-], for r = 1..l; it falls as r grows.

    Nothing cancels: where the difference of slopes is small, so is its square.
    """
    c, size = p.contraction, p.batches
    run = size * (p.epochs - 1)
    one, recent = ctx.one_minus_power(c, 2), ctx.one_minus_power(c, 2 * r)
    before = ctx.one_minus_power(c, 2 * run)
    spent = before + ctx.power(c, 2 * run) * recent
    last = ctx.power(c, 2 * r - 1) * one / recent
    first = ctx.power(c, size - 1) * one / (ctx.one_minus_power(c, size) * (1 + ctx.power(c, run)))
    bend = ctx.maximum(0 * last, last - first)
    return chord(p, ctx, r) + bend * bend * (before / one) * (recent / spent)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A times the value at r = floor(n/b) - j_0 [-]."""
    return p.alpha * p.rate * value(p, ctx, p.batches - p.position)


def printed_value(p: Parameters, ctx: Any, r: Any) -> Any:
    """The value from the sums of the proof."""
    c, size = p.contraction, p.batches
    rise = ctx.total(lambda k: ctx.power(c, r - 1 + k * size), 1, p.epochs - 1)
    noise = ctx.total(lambda i: ctx.power(c, 2 * (r + i)), 0, (p.epochs - 1) * size - 1)
    last_rise = ctx.power(c, r - 1)
    last_noise = ctx.total(lambda i: ctx.power(c, 2 * i), 0, r - 1)
    one_chord = (rise + last_rise) ** 2 / (noise + last_noise)
    if p.epochs == 1 or p.given.eta_lambda == 1:
        return one_chord
    bend = ctx.maximum(0 * rise, last_rise * noise - rise * last_noise)
    return one_chord + bend**2 / (noise * last_noise * (noise + last_noise))


def printed(p: Parameters, ctx: Any) -> Any:
    """alpha A times the value from the sums of the proof."""
    front = p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    return p.alpha * front * printed_value(p, ctx, p.batches - p.position)
