"""Words that a command offers to choose from, where importing what knows them would slow its help.

The tests hold them against `empirical.schemes` and `bounds.conversion`.
"""

from __future__ import annotations

SIMULATED = ("fixed-order", "shuffle-once", "reshuffle", "without-replacement", "poisson")
SCHEMES = (*SIMULATED, "full-batch")
RULES = ("canonne_kamath_steinke_2020", "classical")
DEFAULT_RULE = RULES[0]
