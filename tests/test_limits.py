"""What outgrows memory or time says so before it starts, with an estimate and the cheaper way."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from bounds import optimal
from bounds.arith import TooCostly
from bounds.bound import MOST_DIGITS, find
from bounds.conversion import best_order, calibrate
from bounds.setting import InvalidInput, Setting
from empirical.divergence import MOST_BATCHES, exact_divergence
from empirical.experiments import problem_of
from empirical.simulate import MOST_PATH_STEPS, MOST_PLACES, Plan, blocks
from verify.cli import cli

SETTING = Setting.of(
    n=50, b=1, epochs=1000, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
)
FLAT = SETTING.replace(n=10**12, eta="2e-13")
"""No batch is negligible beside the others."""
MANY = SETTING.replace(n=10**9)
AT_ONCE = 2.0
"""Seconds within which a refusal comes."""


def paths(count: int, **changes: object) -> Any:
    return next(blocks(problem_of(SETTING.replace(**changes), "reshuffle"), "reshuffle", count, 1))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "terms of Theorem 4.2": (
        lambda: find("thm-4.2").float64(FLAT), r"1000000000000 terms .* GiB .* use balls"
    ),
    "terms in a calibration": (
        lambda: calibrate("thm-4.2", FLAT, 1, "1e-5"), r"1000000000000 terms .* GiB .* use balls"
    ),
    "terms in a conversion over a list": (
        lambda: best_order("thm-4.2", FLAT, "1e-5", orders=[2, 3]), r"terms .* GiB .* use balls"
    ),
    "terms in a calibration over a list": (
        lambda: calibrate("thm-4.2", FLAT, 1, "1e-5", orders=[2, 3]), r"terms .* GiB .* use balls"
    ),
    "digits": (
        lambda: find("thm-3.3").enclose(SETTING, 10**6), r"1000000 digits .* digits\^1\.5; .* 40"
    ),
    "orders beyond doubles": (
        lambda: find("sampled_gaussian").float64(SETTING.replace(n=100, alpha=10**30)),
        r"1e\+30 .* use balls",
    ),
    "paths": (lambda: paths(10**13), r"days; .* fewer paths, or the exact divergence"),
    "updates": (lambda: paths(10, epochs=10**14), r"days; .* fewer paths, or the exact divergence"),
    "batches of a simulation": (
        lambda: Plan.of(problem_of(MANY, "fixed-order"), "fixed-order", "first"),
        r"GiB .* larger batches, or the exact divergence",
    ),
    "batches of a fixed order's law": (
        lambda: exact_divergence(MANY, "fixed-order"), r"1e\+05 seconds; .* larger batches, or a bo"
    ),
    "batches of a partition's law": (
        lambda: exact_divergence(MANY, "shuffle-once"), r"1e\+12 seconds; .* larger batches, or a b"
    ),
    "an exact optimum": (
        lambda: optimal.cyclic_schedule(SETTING.replace(epochs=10**12)),
        r"50000000000000 steps .* seconds; .* optimal_fixed_order",
    ),
    "draws of a law": (
        lambda: exact_divergence(SETTING.replace(epochs=10**12), "reshuffle"),
        r"1000000000000 factors; at most \d+ .* fewer updates",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_says_so_before_it_starts(name: str) -> None:
    work, says = REFUSED[name]
    start = time.process_time()
    with pytest.raises(InvalidInput) as refused:
        work()
    assert time.process_time() - start < AT_ONCE
    text = str(refused.value)
    assert re.search(says, text), text
    assert "\n" not in text


@pytest.mark.parametrize(
    "name", ["thm-4.2", "thm-4.3", "recursion_combined", "optimal_fixed_order", "optimal_shuffle"]
)
def test_bounds_take_runs_of_any_length(name: str) -> None:
    for huge in (SETTING.replace(epochs=10**12), SETTING.replace(n=10**12)):
        start = time.process_time()
        answer = find(name).answer(huge)
        assert answer.applicable and answer.epsilon is not None
        assert float(answer.epsilon) >= float(answer.lower or "inf")
        assert time.process_time() - start < AT_ONCE


def test_large_orders_are_no_limit() -> None:
    for order in (10**7, "10000000.5"):
        answer = find("sampled_gaussian").answer(SETTING.replace(n=100, alpha=order))
        assert answer.epsilon is not None and answer.epsilon >= float(answer.lower or "inf")


def test_what_is_within_the_limits_is_done() -> None:
    assert find("thm-3.3").enclose(SETTING, MOST_DIGITS).rel_accuracy_bits() > 3 * MOST_DIGITS
    assert len(paths(10).first) == 10
    assert MOST_PATH_STEPS >= 10**12 and MOST_PLACES >= 10**6
    assert all(most >= 10**4 for most in MOST_BATCHES.values())


def test_batches_of_which_all_but_a_few_are_negligible_are_no_limit() -> None:
    for batches in (10**3, 10**4, 10**12):
        far = SETTING.replace(n=batches, eta="0.01")
        value, ball = float(find("thm-4.2").float64(far)), find("thm-4.2").enclose(far)
        assert 0 <= value / float(ball.mid()) - 1 < 1e-12
    with pytest.raises(TooCostly):
        find("thm-4.2").float64(FLAT)


@pytest.mark.parametrize(
    "arguments",
    [
        "estimate --scheme reshuffle --n 50 --b 2 --epochs 20 --paths 10000000000000 --alpha 2",
        "estimate --scheme fixed-order --n 8000000000 --b 2 --epochs 2 --paths 100 --alpha 2",
    ],
)
def test_the_command_line_refuses_in_one_sentence(arguments: str) -> None:
    rest = "--eta 0.02 --lambda 1 --beta 4 --sensitivity 4 --sigma2 4"
    made = CliRunner().invoke(cli, [*arguments.split(), *rest.split()])
    assert made.exit_code == 2 and made.stdout == ""
    assert len(made.stderr.strip().splitlines()) == 1
    assert "would do" in made.stderr
