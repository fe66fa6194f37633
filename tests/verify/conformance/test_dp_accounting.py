"""What a check finds in dp-accounting 0.6, where it is installed: pip install '.[accountants]'.

It is the documentation's example of a subject that others use. Each finding is an assertion, so
that a release which changes one of them is noticed.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dp_accounting")

SUBJECT = Path(__file__).parent / "subjects" / "accountant.py"
WORDS = {
    "sampled_gaussian": [
        "--map", "sampling_rate=sampling-rate", "--map", "noise=noise-to-sensitivity",
        "--map", "steps=updates", "--map", "order=alpha", "--time-limit", "2",
    ],
    "conversion": ["--convention", "rule=canonne_kamath_steinke_2020"],
}  # fmt: skip


@cache
def found(bound: str) -> dict[str, Any]:
    """The report on the function of that name."""
    result = subprocess.run(
        [sys.executable, "-m", "verify.cli", "check", f"{SUBJECT}:{bound}", "--bound", bound,
         *WORDS[bound], "--json"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    made: dict[str, Any] = json.loads(result.stdout)
    return made


def failed(bound: str, verdict: str) -> list[dict[str, Any]]:
    return [item for item in found(bound)["failed"] if item["verdict"] == verdict]


def test_the_sampled_gaussian_is_never_below_the_true_value() -> None:
    """It is an upper bound everywhere, with the right number for nearly all whole orders."""
    report = found("sampled_gaussian")
    assert report["verdict"] == "too-large"
    assert "not-an-upper-bound" not in report["failures"]
    assert report["vectors"]["passed"] >= 90
    counted = Counter(item["verdict"] for item in report["failed"])
    assert set(counted) == {"too-large", "imprecise", "hangs", "accepts-invalid"}
    assert counted["too-large"] >= 15


def test_it_is_too_large_at_fractional_orders_for_a_known_reason() -> None:
    """The terms of the series alternate in sign, and are added without it."""
    orders = [
        Fraction(item["setting"]["alpha"]) for item in failed("sampled_gaussian", "too-large")
    ]
    assert all(order.denominator > 1 for order in orders)
    said = found("sampled_gaussian")["diagnosis"]
    assert said["mistake"] == "signs-of-the-binomial-series-dropped"
    assert said["vector"]


def test_by_how_much_at_order_three_halves() -> None:
    """Five times at rate 0.1 and no number at all, infinity, at others."""
    at = {
        (item["setting"]["alpha"], item["setting"]["n"], item["setting"]["b"]): item
        for item in failed("sampled_gaussian", "too-large")
    }
    item = at["1.5", "20", "2"]
    assert math.isclose(float(item["got"]), 0.037778, rel_tol=1e-4)
    assert math.isclose(float(item["expected"]), 0.0075338, rel_tol=1e-4)
    assert at["11/9", "12", "4"]["got"] == "inf"


def test_the_other_findings_in_the_sampled_gaussian() -> None:
    """Digits lost under much noise, no answer in time at order 10^6, orders of at most 1 taken."""
    noisy = failed("sampled_gaussian", "imprecise")
    assert {float(item["setting"]["sigma2"]) for item in noisy} == {1e10, 2e15}
    assert [item["setting"]["alpha"] for item in failed("sampled_gaussian", "hangs")] == ["1000000"]
    accepted = failed("sampled_gaussian", "accepts-invalid")
    assert {item["expected"] for item in accepted} == {"a refusal (order)"}


def test_the_conversion_is_below_the_rule_only_where_another_argument_gives_zero() -> None:
    """delta > sqrt(1 - exp(-eps(alpha))) is (0, delta)-DP by way of the KL divergence."""
    report = found("conversion")
    assert report["verdict"] == "not-an-upper-bound"
    low = failed("conversion", "not-an-upper-bound")
    assert len(low) == 5
    for item in low:
        given = item["setting"]
        least = min(float(value) for value in given["epsilons"].split(","))
        assert float(item["got"]) == 0
        assert float(given["delta"]) ** 2 > -math.expm1(-least)
    held = {item["property"] for item in report["properties"] if item["broken_at"] is None}
    assert "not-below-the-exact-epsilon" in held


def test_the_other_findings_in_the_conversion() -> None:
    """No order up to 1.01 is used; delta from 1 on, order 1 and negative values are taken."""
    assert [item["got"] for item in failed("conversion", "too-large")] == ["inf"]
    accepted = Counter(item["expected"] for item in failed("conversion", "accepts-invalid"))
    assert accepted == {
        "a refusal (delta)": 3, "a refusal (orders)": 1, "a refusal (divergence)": 2,
    }  # fmt: skip
    assert found("conversion")["vectors"] == {"passed": 60, "failed": 12}
