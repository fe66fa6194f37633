"""Number systems that a formula may be run in.

A formula is a function `epsilon(p, ctx)` that uses `+ - * / **` and the words of `ctx`. The words
are the same in every system:

    number(x)                  an exact int or Fraction as a number of the system
    complement(x)              1 - x for an exact x in [0, 1], kept accurate at both ends
    power(c, m)                c**m for a complement c and a count m
    one_minus_power(c, m)      1 - c**m without cancellation
    geometric(c, m)            c**0 + ... + c**(m-1) in closed form
    exp expm1 log log1p sqrt   the elementary functions
    maximum minimum            of two numbers
    total(f, first, last)      f(first) + ... + f(last), term by term
    log_mean_exp(s, f, m)      log of the mean of exp(s f(j)) over j = 1, ..., m
    attenuated_sum(a, c, l, h, t)   t epochs of the recursions (95) and (101), see `attenuation`
    resampling(s, p, h, t)     t steps of the recursion of Theorem 4.3, as a logarithm
    sampled_gaussian(...)      Renyi divergence of one sampled Gaussian step
    le(x, y)                   x <= y; raises `Undecided` where it cannot tell
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from bounds.setting import InvalidInput


class Undecided(ArithmeticError):
    """A comparison that the number system cannot decide at its precision."""


class NotRational(InvalidInput):
    """A word without a rational value was used in exact arithmetic."""


class TooCostly(InvalidInput):
    """An evaluation that would take too many steps; the message says how many."""


@dataclass(frozen=True)
class Profile:
    """A profile for `log_mean_exp` that says what it depends on.

    Profiles of one key have the same values in one number system, which may keep them for the next
    call: a search for the noise or the order asks for the same ones many times.
    """

    key: Hashable
    values: Callable[[Any], Any]

    def __call__(self, j: Any) -> Any:
        """The value at j."""
        return self.values(j)
