"""Normal numbers by whole arrays: a ziggurat without a rejection test.

    Normals         fills arrays with independent standard normal numbers
    Tables, tables  the layers under the density, from their definition

Law. Under the density phi stand m = LAYERS - SPARE layers, each a rectangle |x| <= w_i of area
exactly 1/LAYERS, the next resting on the one before, all inside the subgraph of phi:

    2 w_0 phi(w_0) = 1/LAYERS,     2 w_i (phi(w_i) - phi(w_{i-1})) = 1/LAYERS.

The subgraph is the disjoint union of the layers and of the rest: the wedges beside the layers
(w_{i+1} <= |x| < w_i, phi(w_i) <= y < phi(x)), the cap on top of the last and the tail beyond w_0.
The abscissa of a uniform point of the subgraph is standard normal, so a layer is drawn with
probability 1/LAYERS each, and then x is uniform on [-w_i, w_i]: a table, a product, and nothing to
reject. With probability SPARE/LAYERS, 3 in 2048, the point is in the rest, whose law does not
depend on anything drawn before; such numbers are made in advance, many at once:

- a piece is chosen by the area of its envelope: for a wedge or the cap a rectangle, in which a
  uniform point is drawn and dropped if it is above phi, which is rejection from the union of all;
  for the tail its own mass, and a number from the tail is never dropped;
- the tail beyond r by the method of Marsaglia (1964): sqrt(r^2 + 2 E), E standard exponential,
  has density proportional to x exp(-x^2/2), and is kept with probability r/x.

Resolution. 64 random bits make a number: the lowest 11 choose the layer i, and x = w_i s / 2^63,
where s is the whole as a signed integer, rounded to 53 bits. The highest 53 bits of s are
independent of the layer, and move x by steps of w_i 2^-52; the lowest 11 move it by less than one
step, so that within 2^-51 w_i x is w_i times a uniform number independent of the layer.
(Doornik's objection is to generators whose layer is chosen by bits that the magnitude needs.) In
the rest, uniform numbers have 53 bits. Tables are computed to 30 digits and rounded once, and the
elementary functions are good to a few units in the last place, in differences without cancellation.

Source: MacLaren, Marsaglia and Bray 1964 (rectangles, wedges and tail as a mixture); Marsaglia
1964 (the tail); Marsaglia and Tsang 2000 (layers of equal area; here they are inscribed); Doornik
2005 (independence of layer and magnitude).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# A power of two. 2048 widths are 16 kB, half of the first-level cache.
LAYERS = 1 << 11
# So many layers fewer than LAYERS fit below the density; `tables` finds it and the tests check it.
SPARE = 3
# Proposals from the rest at once: enough to make the cost of calls small.
PROPOSALS = 2048
DIGITS = 30
# As arrays, which are quicker to pass than Python's integers.
_LOWEST, _SPARE = np.array(LAYERS - 1), np.array(SPARE)


@dataclass(frozen=True)
class Tables:
    """The layers and the rest.

    widths [-]: w_i 2^-63 at SPARE + i, zeros before, [LAYERS].
    outer [-]: outer end w_i of each wedge, of the cap last, [m].
    gaps [-]: outer end less inner end, [m].
    rises [-]: phi(inner)/phi(outer) - 1, [m].
    until [-]: chances of the envelopes of the wedges, the cap and the tail, summed, [m + 1].
    """

    widths: Floats
    outer: Floats
    gaps: Floats
    rises: Floats
    until: Floats

    @property
    def start(self) -> float:
        """Where the tail begins, w_0 [-]."""
        return float(self.outer[0])


def _layer(below: float | None) -> float | None:
    """The width of the layer that rests on the one of width `below`; None if there is no room.

    In float64, as a start for `_polish`. Newton's method on w (phi(w) - y) - 1/(2 LAYERS), from
    the right: where the function is concave it approaches the greatest root from the right, and
    where it is convex from the left after the first step; it leaves the falling branch only if
    there is no root.
    """
    floor = 0.0 if below is None else _phi(below)
    # The base has no layer below. Right of sqrt(3) its function is convex.
    width = 3.0 if below is None else below
    for _ in range(60):
        density = _phi(width)
        slope = density - floor - width * width * density
        if width <= 0 or slope >= 0:
            return None
        change = (width * (density - floor) - 0.5 / LAYERS) / slope
        width -= change
        if abs(change) < 1e-13 * width:
            return width
    return None


def _phi(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _floats(values: list[mpmath.mpf]) -> Floats:
    return np.array([float(value) for value in values])


@cache
def tables() -> Tables:
    """The layers under the standard normal density, from their definition.

    Every width is found in float64 and polished by Newton's method to `DIGITS` digits on top of the
    polished one below, then rounded.
    """
    # A context of its own: the shared one has one precision for all threads.
    mp = mpmath.MPContext()
    mp.dps = DIGITS
    top = 1 / mp.sqrt(2 * mp.pi)
    area = mp.mpf(1) / (2 * LAYERS)
    widths, heights = [], [mp.mpf(0)]
    start = _layer(None)
    while start is not None:
        width = mp.mpf(start)
        # The start is good to 1e-11 at least, and the error is squared by every step.
        for _ in range(2):
            density = top * mp.exp(-width * width / 2)
            slope = density - heights[-1] - width * width * density
            width -= (width * (density - heights[-1]) - area) / slope
        widths.append(width)
        heights.append(top * mp.exp(-width * width / 2))
        start = _layer(float(width))
    inner = [*widths[1:], mp.mpf(0)]
    gaps = [a - b for a, b in zip(widths, inner, strict=True)]
    rises = [
        mp.expm1((a - b) * (a + b) / 2) for a, b in zip(widths, inner, strict=True)
    ]  # fmt: skip
    envelopes = [
        gap * height * rise for gap, height, rise in zip(gaps, heights[1:], rises, strict=True)
    ]
    envelopes.append(mp.erfc(widths[0] / mp.sqrt(2)) / 2)
    total = mp.fsum(envelopes)
    until, running = [], mp.mpf(0)
    for envelope in envelopes:
        running += envelope
        until.append(float(running / total))
    # 2^63 is exact, so the widths are rounded once.
    scaled = [0.0] * (LAYERS - len(widths)) + [float(width) * 2.0**-63 for width in widths]
    made = Tables(
        widths=np.array(scaled),
        outer=_floats(widths),
        gaps=_floats(gaps),
        rises=_floats(rises),
        until=np.array(until),
    )
    for column in (made.widths, made.outer, made.gaps, made.rises, made.until):
        column.flags.writeable = False
    return made


class Normals:
    """Independent standard normal numbers from a generator, a whole array at a time.

    The numbers depend on the state of the generator and on the lengths of the arrays asked for. One
    object must not be used by two threads at once.
    """

    def __init__(self, generator: np.random.Generator, layers: Tables | None = None) -> None:
        """Draw from `generator`; layers: `tables()`, but in tests."""
        self._generator = generator
        self._layers = tables() if layers is None else layers
        self._pool = np.empty(0)
        self._layer = np.empty(0, dtype=np.int64)
        self._spare = np.empty(0, dtype=np.bool_)

    def fill(self, out: Floats) -> Floats:
        """Overwrite `out`, a contiguous float64 array [-], [numbers]; returns it."""
        size = len(out)
        if size != len(self._layer):
            self._layer = np.empty(size, dtype=np.int64)
            self._spare = np.empty(size, dtype=np.bool_)
        raw = np.asarray(self._generator.bit_generator.random_raw(size)).view(np.int64)
        np.bitwise_and(raw, _LOWEST, out=self._layer)
        # "clip" does not clip, as no index is out of range; "raise" would buffer the whole output.
        self._layers.widths.take(self._layer, out=out, mode="clip")
        np.multiply(out, raw, out=out)
        np.less(self._layer, _SPARE, out=self._spare)
        places = self._spare.nonzero()[0]
        out[places] = self._rest(len(places))
        return out

    def _rest(self, count: int) -> Floats:
        """Numbers from the rest, made in advance [-], [count]."""
        while len(self._pool) < count:
            self._pool = np.concatenate([self._pool, self._propose()])
        taken, self._pool = self._pool[:count], self._pool[count:]
        return taken

    def _propose(self) -> Floats:
        """Those of `PROPOSALS` proposals from the rest that are kept [-], [fewer]."""
        layers, generator = self._layers, self._generator
        piece, across, up = generator.random((3, PROPOSALS))
        chosen = np.searchsorted(layers.until, piece, side="right")
        beyond = chosen == len(layers.outer)
        wedge = np.where(beyond, 0, chosen)
        # A sign and a place between the ends from one number: from the outer end inwards.
        signed = 2 * across - 1
        outer, inwards = layers.outer[wedge], np.abs(signed) * layers.gaps[wedge]
        out = outer - inwards
        # y < phi(x), less phi(outer) and over it.
        keep = up * layers.rises[wedge] < np.expm1(inwards * (outer + out) / 2)
        keep |= beyond
        out[beyond] = self._tail(int(np.count_nonzero(beyond)))
        kept: Floats = np.copysign(out, signed)[keep]
        return kept

    def _tail(self, count: int) -> Floats:
        """Numbers beyond the layers, without sign [-], [count]."""
        start, out = self._layers.start, np.empty(0)
        while len(out) < count:
            # About 1 in 20 is dropped, and drawn again.
            far = np.sqrt(start**2 + 2 * self._generator.standard_exponential(count - len(out)))
            out = np.concatenate([out, far[self._generator.random(len(far)) * far < start]])
        return out
