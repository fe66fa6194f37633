"""The sampled Gaussian at 150 orders, against the accountants that people use.

`dp-accounting` (Google) and `opacus` (Meta) are not needed by anything here; where one is not
installed its row says so. Of opacus only the file that computes is loaded, since the package
imports PyTorch.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import TEN, Row, apart, race
from bounds.bound import find
from bounds.setting import Setting

BENCHMARK = "The sub-sampled Gaussian at 150 orders, rounded outward, against accountants."
ORDERS = [1 + Fraction(x, 10) for x in range(1, 100)] + [Fraction(x) for x in range(12, 63)]
"""Their usual ones: 1.1 to 10.9, 12 to 62."""

Accountant = Callable[[float, float, int, list[float]], Any]


def dp_accounting() -> Accountant:
    """Renyi curve (q, noise multiplier, steps, orders) of the accountant. Raises ImportError."""
    events = importlib.import_module("dp_accounting")
    accountant = importlib.import_module("dp_accounting.rdp.rdp_privacy_accountant")

    def curve(q: float, noise: float, steps: int, orders: list[float]) -> Any:
        made = accountant.RdpAccountant(orders)
        step = events.PoissonSampledDpEvent(q, events.GaussianDpEvent(noise))
        made.compose(events.SelfComposedDpEvent(step, steps))
        return made._rdp

    return curve


def opacus() -> Accountant:
    """The same of opacus."""
    home = importlib.util.find_spec("opacus")
    if home is None or home.origin is None:
        raise ImportError("opacus")
    path = Path(home.origin).parent / "accountants" / "analysis" / "rdp.py"
    file = importlib.util.spec_from_file_location("opacus_rdp", path)
    assert file is not None and file.loader is not None
    module = importlib.util.module_from_spec(file)
    file.loader.exec_module(module)

    def curve(q: float, noise: float, steps: int, orders: list[float]) -> Any:
        return module.compute_rdp(q=q, noise_multiplier=noise, steps=steps, orders=orders)

    return curve


def differ(ours: Any, theirs: Any) -> str:
    """Where the curves [orders] disagree.

    At fractional orders dp-accounting drops the signs of an alternating series, which only raises
    its curve; there it must not be below ours. Six digits are compared, since both cancel.
    """
    whole = np.array([order.denominator == 1 for order in ORDERS])
    mine, other = np.asarray(ours), np.asarray(theirs)
    between = np.clip(mine, 0.9 * other, other)
    return apart(mine[whole], other[whole], 1e-6) or apart(mine[~whole], between[~whole], 1e-6)


RIVALS = {"dp-accounting": dp_accounting, "opacus": opacus}


def measure(quick: bool) -> Iterator[Row]:
    """One row for each accountant and noise."""
    bound, numbers = find("sampled_gaussian"), [float(order) for order in ORDERS]
    for name, load in RIVALS.items():
        try:
            curve = load()
        except ImportError:
            yield Row("150 orders", name, math.nan, TEN, note="not installed")
            continue
        for noise in (1,) if quick else (1, 4):
            # S_g = 1 and eta = 2 make the noise multiplier of an update's sum sigma.
            run = Setting.of(
                n=60000, b=240, epochs=10, eta=2, lambda_=1, beta=1,
                sensitivity=240 * 2, sigma2=Fraction(4 * noise**2),
            )  # fmt: skip
            parts = (240 / 60000, float(noise), run.steps, numbers)
            yield Row(
                f"150 orders, b/n = 0.004, noise {noise}",
                name,
                race(lambda: bound.float64(run, ORDERS), lambda: curve(*parts), 3),  # noqa: B023
                TEN,
                disagreement=differ(bound.float64(run, ORDERS), curve(*parts)),
            )
