"""The benchmarks run, find each other, and notice wrong answers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import benchmarks
from benchmarks import (
    Aim,
    Row,
    apart,
    audit,
    balls,
    baseline,
    calibration,
    discovered,
    exponent,
    growth,
    monte_carlo,
    orders,
    plain,
    settings,
    startup,
)
from benchmarks.__main__ import main
from bounds.bound import find

HOME = Path(benchmarks.__file__).parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_every_benchmark_is_discovered() -> None:
    written = {path.stem for path in HOME.glob("*.py") if "\nBENCHMARK = " in path.read_text()}
    assert set(discovered()) == written
    assert len(written) >= 9


@pytest.mark.parametrize("name", discovered())
def test_it_runs_and_agrees(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "LEAST", 1e-4)
    module = discovered()[name]
    assert module.BENCHMARK.endswith(".")
    rows = list(module.measure(True))
    assert rows
    for row in rows:
        assert not row.disagreement
        assert len(row.cells()) == len(benchmarks.HEADER)
        assert row.value > 0 or name in ("baseline", "growth")


def off(work: Callable[..., float]) -> Callable[..., float]:
    return lambda *arguments: work(*arguments) * (1 + 1e-6)


def first(rows: Iterator[Row]) -> Row:
    return next(rows)


def test_a_wrong_loop_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "shuffle_once", off(plain.shuffle_once))
    assert "relative difference" in first(orders.measure(True)).disagreement
    assert "relative difference" in first(calibration.measure(True)).disagreement
    monkeypatch.setattr(plain, "fixed_order", off(plain.fixed_order))
    rows = settings.measure(True)
    assert not next(rows).disagreement
    assert "relative difference" in next(rows).disagreement


def test_a_wrong_formula_in_mpmath_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = balls.fastest

    def wrong(*arguments: Any) -> Any:
        work, formula, name = right(*arguments)
        return (lambda: work() * (1 + 10 ** -balls.Plain().mp.mpf(30))), formula, name

    monkeypatch.setattr(balls, "fastest", wrong)
    assert "outside of the enclosure" in first(balls.measure(True)).disagreement


def test_accountants_are_asked_where_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def sums(q: float, noise: float, steps: int, alphas: list[float]) -> Any:
        """The binomial sum at whole orders; between them, convexity bounds from above."""

        def moment(k: int) -> float:
            return sum(
                math.comb(k, i) * (1 - q) ** (k - i) * q**i
                * math.expm1(min((i * i - i) / (2 * noise**2), 700.0))
                for i in range(k + 1)
            )  # fmt: skip

        whole = {k: math.log1p(moment(k)) if k > 1 else 0.0 for k in range(1, 21)}
        return [steps * whole[round(x)] / (x - 1) if x == round(x) else math.nan for x in alphas]

    def missing() -> Any:
        raise ImportError

    some = [order for order in baseline.ORDERS if order.denominator == 1 and order <= 20]
    monkeypatch.setattr(baseline, "ORDERS", some)
    monkeypatch.setattr(baseline, "RIVALS", {"sums": lambda: sums, "none": missing})
    right, absent = baseline.measure(True)
    assert right.value > 0 and not right.disagreement
    assert math.isnan(absent.value) and "not installed" in absent.note
    assert absent.reached == "-" and absent.cells()[2] == "-"
    wrong = lambda *parts: np.array(sums(*parts)) * 1.001  # noqa: E731
    monkeypatch.setattr(baseline, "RIVALS", {"wrong": lambda: wrong})
    assert "relative difference" in first(baseline.measure(True)).disagreement


def test_fractional_orders_may_only_be_raised() -> None:
    curve = np.ones(len(baseline.ORDERS))
    whole = np.array([order.denominator == 1 for order in baseline.ORDERS])
    raised = np.where(whole, 1.0, 1.05)
    assert not baseline.differ(curve, raised)
    assert baseline.differ(raised, curve)
    assert baseline.differ(curve, np.where(whole, 1.0, 1.5))
    assert baseline.differ(curve, curve * 1.05)


def test_a_wrong_simulation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = monte_carlo.numpy_loop
    monkeypatch.setattr(monte_carlo, "numpy_loop", lambda *a: right(*a) * 1.2)
    rows = monte_carlo.measure(True)
    assert not next(rows).disagreement
    assert "standard errors" in next(rows).disagreement


def test_a_wrong_answer_of_the_command_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "CASES", startup.CASES[-1:])
    monkeypatch.setattr(startup, "RUN", {**startup.RUN, "alpha": 9})
    assert "relative difference" in first(startup.measure(True)).disagreement


def test_an_audit_is_read_by_part(tmp_path: Path) -> None:
    def piece(check: str, seconds: float, outcome: str = "holds") -> dict[str, object]:
        return {"check": f"verify.statements.{check}", "seconds": seconds, "outcome": outcome}

    made = {
        "seconds": 4.0,
        "statements": [
            {"evidence": [piece("lsi.a", 3.0), piece("naive.b", 1.0)]},
            {"evidence": [piece("lsi.eq-001.valid.0", 4.0)]},
        ],
    }
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(made))
    rows = list(audit.measure(False, path))
    assert [row.what for row in rows] == ["lsi", "naive", "all checks, 8 s"]
    assert [row.value for row in rows] == [87.5, 12.5, 2.0]
    assert not any(row.disagreement for row in rows)
    made["statements"] = [{"evidence": [piece("lsi.a", 3.0, "error")]}]
    path.write_text(json.dumps(made))
    assert "raised an error" in list(audit.measure(False, path))[-1].disagreement


def test_every_stated_growth_has_a_case_and_every_case_a_statement() -> None:
    assert set(growth.stated()) == {(case.part, case.variable) for case in growth.CASES}


def test_growth_is_read_from_docstrings_and_fitted() -> None:
    assert growth.read("Growth: time ~ (n/b)^1.25 * digits^1.5, memory\n 8 bytes. K^2") == {
        "(n/b)": 1.25, "digits": 1.5,
    }  # fmt: skip
    assert growth.read("Grows.") == {}
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_a_wrong_growth_is_a_missed_aim(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in growth.CASES if case.variable == "settings")
    known = {(case.part, case.variable): growth.stated()[case.part, case.variable] + 1}
    monkeypatch.setattr(growth, "CASES", (case,))
    monkeypatch.setattr(growth, "stated", lambda: known)
    assert first(growth.measure(True)).reached == "no"


def test_aims_and_tolerances() -> None:
    assert Aim(least=10).holds(10) and not Aim(least=10).holds(9.9)
    assert Aim(most=2).holds(2) and not Aim(most=2).holds(2.1)
    assert not Aim(least=10).holds(math.nan)
    assert apart([1.0, 2.0], [1.0, 2.0], 0.0) == ""
    assert apart([1.0, math.nan], [1.0, 2.0], 1e-3)
    assert apart(1.0, 1.1, 1e-3)


def rows_of(*rows: Row | BaseException) -> Any:
    class Module:
        BENCHMARK = "A benchmark of tests."

        @staticmethod
        def measure(quick: bool) -> Iterator[Row]:
            for row in rows:
                if isinstance(row, BaseException):
                    raise row
                yield row

    return lambda: {"one": Module}


GOOD = Row("a | b", "its baseline, with a long name that wraps around", 12.345, Aim(least=10))


def test_the_table_has_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.discovered", rows_of(GOOD))
    made = run()
    assert made.exit_code == 0
    assert max(map(len, made.stdout.splitlines())) <= 80
    assert re.search(r"a \| b .*12\.3 times .*>= 10 .*yes", made.stdout)


def test_the_markdown_table_has_five_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.discovered", rows_of(GOOD))
    made = [line for line in run("--markdown").stdout.splitlines() if line.startswith("|")]
    assert len(made) == 3
    assert all(len(re.split(r"(?<!\\)\|", line)) == 7 for line in made)


def test_only_a_disagreement_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = Row("x", "y", 2.0, Aim(least=10))
    monkeypatch.setattr("benchmarks.__main__.discovered", rows_of(missed))
    made = run()
    assert made.exit_code == 0 and "1 aims missed, 0 disagreements" in made.stderr
    wrong = Row("x", "y", 20.0, Aim(least=10), disagreement="3 is not 4")
    monkeypatch.setattr("benchmarks.__main__.discovered", rows_of(GOOD, wrong))
    made = run()
    assert made.exit_code == 1 and "DISAGREES" in made.stdout


def test_interruption_leaves_finished_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.discovered", rows_of(GOOD, KeyboardInterrupt()))
    made = run()
    assert made.exit_code == 3
    assert "12.3" in made.stdout and "interrupted; 1 rows" in made.stderr


def test_an_unknown_name_is_refused_in_a_sentence() -> None:
    made = run("ordres")
    assert made.exit_code == 2 and made.stdout == ""
    assert made.stderr.startswith("there is no benchmark called 'ordres'; there are: audit, ")
    assert len(made.stderr.splitlines()) == 1


def test_what_is_no_audit_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    for text in ("[]", "{", '{"statements": 3}', '{"statements": [{"evidence": [{}]}]}', "\x00"):
        path.write_text(text)
        made = run("audit", "--audit", str(path))
        assert made.exit_code == 2
        assert made.stderr == f"{path} is no audit; the audit.json that " + (
            "`hiddenstate audit` writes is wanted\n"
        )


def test_bisection_finds_the_root() -> None:
    found, steps = calibration.bisection(lambda sigma2: 3 / sigma2 - 1)
    assert found == pytest.approx(3, rel=1e-9) and 30 < steps < 50


def test_plain_formulas_are_the_bounds() -> None:
    run = orders.setting(30, sigma2=4).replace(alpha=3)
    for name in ("thm-4.2", "thm-4.3"):
        assert apart(plain.at(name, run)(3.0), float(find(name).float64(run)), 1e-12) == ""
