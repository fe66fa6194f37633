"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.verify.conformance.subjects import right, wrong
from verify.conformance.plugin import assert_conforms, assert_vector, hiddenstate_vectors
from verify.conformance.vectors import load

SUITE = """
import pytest
from verify.conformance.plugin import assert_conforms, assert_vector, hiddenstate_vectors

def good(n, b, epochs, eta, sensitivity, sigma2, alpha):
    if not (1 <= b <= n and alpha > 1 and min(epochs, eta, sensitivity, sigma2) > 0):
        raise ValueError("outside")
    return alpha * eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4 * epochs

def bad(n, b, epochs, eta, sensitivity, sigma2, alpha):
    return 2 * good(n, b, epochs, eta, sensitivity, sigma2, alpha)

@pytest.mark.parametrize("vector", hiddenstate_vectors("fixed_order_composition"))
def test_each(vector):
    assert_vector(good, vector)

@pytest.mark.hiddenstate_vectors("fixed_order_composition", valid=True)
def test_marked(hiddenstate_vector, hiddenstate_assert_vector):
    hiddenstate_assert_vector(good, hiddenstate_vector)

def test_whole(hiddenstate_assert_conforms):
    assert hiddenstate_assert_conforms(good, "fixed_order_composition").passes

def test_bad():
    assert_conforms(bad, "fixed_order_composition")
"""


def pytest_session(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, with this plugin and no other."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "verify.conformance.plugin", "-p",
         "no:cacheprovider", "-q", "--strict-markers", *words],
        cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
             "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip


def test_a_suite_of_someone_else(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    result = pytest_session(tmp_path, "--tb=short")
    vectors = load("fixed_order_composition")
    valid = sum(vector.valid for vector in vectors)
    last = result.stdout.strip().splitlines()[-1]
    assert "1 failed" in last, result.stdout[-2000:]
    passed = int(last.split(" passed")[0].split()[-1])
    assert 0.9 * (len(vectors) + valid) < passed <= len(vectors) + valid + 1
    assert "too-large" in result.stdout
    assert "noise-halved" in result.stdout


def test_ids_are_those_of_the_vectors(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    result = pytest_session(tmp_path, "--collect-only")
    for vector in load("fixed_order_composition")[:5]:
        assert f"test_each[{vector.id}]" in result.stdout


def test_the_plugin_is_light() -> None:
    """It is loaded wherever pytest starts."""
    code = textwrap.dedent(
        """
        import sys, verify.conformance.plugin
        heavy = {"numpy", "scipy", "sympy", "flint", "mpmath", "hypothesis", "matplotlib", "bounds",
                 "rich", "click"}
        found = heavy & {name.partition(".")[0] for name in sys.modules}
        assert not found, found
        """
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_entry_point_names_the_plugin() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert (
        project["project"]["entry-points"]["pytest11"]["hiddenstate"] == "verify.conformance.plugin"
    )


def test_the_message_of_a_failure_says_what_is_wrong() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_conforms(wrong.half_up, "thm-4.2", properties=False)
    text = str(caught.value)
    for part in ("not-an-upper-bound", "n=3", "expected", "half-rounded-up"):
        assert part in text


def test_vectors_may_be_chosen() -> None:
    every = hiddenstate_vectors("thm-4.2")
    valid = hiddenstate_vectors("thm-4.2", valid=True)
    invalid = hiddenstate_vectors("thm-4.2", valid=False)
    assert len(valid) + len(invalid) == len(every) >= 60
    assert valid[0].id == valid[0].values[0].id
    assert_vector(right.shuffle_partition, valid[0].values[0])
    with pytest.raises(AssertionError, match="expected"):
        assert_vector(wrong.infinite, valid[0].values[0])
    with pytest.raises(AssertionError, match="a refusal"):
        assert_vector(wrong.negative, invalid[0].values[0])
