"""Sweeps: exact points, results that do not depend on who works, honest claims and summaries."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from bounds.arith import columns
from bounds.bound import find
from bounds.setting import AssumptionViolated, InvalidInput, Setting
from empirical.experiments import estimate
from tests.test_cli import hiddenstate
from verify.sweep import evaluate, run
from verify.sweep.grid import load, log_between, read, rounded
from verify.sweep.points import Points, words
from verify.sweep.store import ROWS, Store
from verify.sweep.summary import summarise

SHARED = {"n": 50, "b": 2, "eta": "0.02", "lambda": 1, "beta": 4, "sensitivity": 4}
GRID = {
    "epochs": [1, 7, 50],
    "sigma2": {"from": 1, "to": 100, "points": 5, "scale": "log"},
    "alpha": ["1/2", 2, 10],
}
BOUNDS = {"bounds": ["thm-3.3", "thm-4.2"], "claims": ["thm-4.2 <= composition"]}
RANDOM = {
    "points": 500, "seed": 5, "n": {"integers": [4, 300]}, "epochs": {"log-uniform": [1, 10**6]},
    "eta": {"uniform": ["0.001", "0.3"]}, "beta": {"log-uniform": [1, 50]},
    "sigma2": {"log-uniform": ["0.01", 100]}, "alpha": {"uniform": ["1.01", 64]},
}  # fmt: skip
DESIGN = {"b": 2, "lambda": 1, "sensitivity": 4}


def grid(evaluate=BOUNDS, setting=SHARED, axes=GRID):
    return read({"setting": setting, "grid": axes, "evaluate": evaluate})


def random(evaluate=BOUNDS, **changes):
    return read({"setting": DESIGN, "random": {**RANDOM, **changes}, "evaluate": evaluate})


def rows(sweep, start=0, stop=None):
    return evaluate.work_out(sweep, start, sweep.count if stop is None else stop).to_pylist()


# --- points ------------------------------------------------------------------------------------


def test_a_grid_counts_through_its_axes_exactly():
    sweep = grid()
    points = [Points(sweep).point(i) for i in range(sweep.count)]
    assert len(points) == 45
    expected = ["1", "3.16228", "10", "31.6228", "100"]
    sigmas, orders = [Fraction(text) for text in expected], [Fraction(1, 2), 2, 10]
    assert [(p["epochs"], p["sigma2"], p["alpha"]) for p in points] == [
        (k, s, a) for k in (1, 7, 50) for s in sigmas for a in orders
    ]
    assert Points(sweep).setting(4) == Setting.of(**SHARED, epochs=1, sigma2="3.16228", alpha=2)


def test_ranges_end_where_they_say():
    axes = {"alpha": {"from": "1.1", "to": 2, "step": "0.3"},
            "epochs": {"from": 1, "to": 1000, "points": 4, "scale": "log"},
            "eta": {"from": "0.01", "to": "0.02", "points": 3}}  # fmt: skip
    shared = {k: v for k, v in SHARED.items() if k != "eta"} | {"sigma2": 4}
    values = {axis.name: axis.values for axis in grid(setting=shared, axes=axes).axes}
    assert values["alpha"] == tuple(map(Fraction, ("1.1", "1.4", "1.7", "2")))
    assert values["epochs"] == (1, 10, 100, 1000)
    assert values["eta"] == tuple(map(Fraction, ("0.01", "0.015", "0.02")))


@effort(deadline=None, max_examples=30)
@given(start=st.integers(0, 499), size=st.integers(1, 40))
def test_a_draw_depends_on_seed_and_index_alone(start, size):
    sweep = random()
    stop = min(start + size, sweep.count)
    whole, part = Points(sweep).values(0, sweep.count), Points(sweep).values(start, stop)
    for name, item in part.items():
        for i in range(stop - start):
            value = item.column.exact(i)
            assert value == whole[name].column.exact(start + i)
            assert item.column.high[i] == float(value)
            rest = 0.0 if item.column.low is None else item.column.low[i]
            assert abs(Fraction(item.column.high[i]) + Fraction(rest) - value) <= value / 2**104


def test_draws_are_short_in_range_and_of_their_own():
    sweep = random(points=20000)
    low_high = {draw.name: (draw.low, draw.high, draw.digits) for draw in sweep.draws}
    values = Points(sweep).values(0, sweep.count)
    for name, item in values.items():
        low, high, digits = low_high[name]
        for i in range(0, 20000, 97):
            value = item.column.exact(i)
            assert low <= value <= high
            assert len(str(float(value)).replace(".", "").strip("0")) <= digits + 2
    assert {int(v) for v in values["n"].column.high} == set(range(4, 301))
    # A parameter has a stream of its own: what else is drawn changes nothing, the seed does.
    other = random(points=20000, position={"integers": [0, 1]})
    assert np.array_equal(Points(other).values(0, 9)["eta"].column.high,
                          values["eta"].column.high[:9])  # fmt: skip
    assert not np.array_equal(words(5, "eta", 0, 9), words(6, "eta", 0, 9))
    eta = np.asarray(values["eta"].column.high)
    logs = np.log(np.asarray(values["sigma2"].column.high))
    assert abs(eta.mean() - 0.1505) < 0.003 and abs(logs.mean()) < 0.1
    assert abs(np.corrcoef(eta, logs)[0, 1]) < 0.03


def test_log_draws_are_rounded_as_many_digits_would():
    sweep = random(points=3000)
    for name, whole in (("sigma2", False), ("epochs", True)):
        draw = next(draw for draw in sweep.draws if draw.name == name)
        column = Points(sweep).values(0, 3000)[name].column
        for i, word in enumerate(words(5, name, 0, 3000)):
            part = Fraction(int(word) >> 11, 2**53)
            truth = rounded(log_between(draw.low, draw.high, part), draw.digits, whole)
            assert column.exact(i) == truth


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": {"gamma": [1]}}, "no such parameter"),
        ({"grid": {"epochs": ["1.5"]}}, "an integer is wanted"),
        ({"grid": {"alpha": [0.5]}}, "binary float"),
        ({"grid": {"alpha": []}}, "no value"),
        ({"grid": {"alpha": {"from": 2}}}, "from, to"),
        ({"grid": {"alpha": {"from": 3, "to": 2, "step": 1}}}, "down to"),
        ({"grid": {"alpha": {"from": 0, "to": 2, "points": 3, "scale": "log"}}}, "above 0"),
        ({"grid": {"alpha": {"from": 2, "to": 3, "step": "1e-9"}}}, "at most 1000000"),
        ({"grid": {"n": [9], "alpha": [2]}}, "given twice"),
        ({"random": {"points": 5, "eta": {"uniform": [1, 2]}}}, "both"),
        ({"grid": {}}, "neither"),
        ({"grid": {}, "random": {"points": 10**9, "alpha": {"uniform": [2, 3]}}}, "100000000"),
        ({"grid": {}, "random": {"points": 5, "alpha": {"uniform": [3, 2]}}}, "low <= high"),
        ({"grid": {}, "random": {"points": 5, "alpha": 3}}, "[setting]"),
        ({"grid": {}, "random": {"points": 0, "alpha": {"uniform": [2, 3]}}}, "from 1"),
        ({"evaluate": {}}, "asks for nothing"),
        ({"evaluate": {"bounds": ["thm-9"]}}, "no bound called"),
        ({"evaluate": {"bounds": ["thm-3.3"], "claims": ["thm-4.2 = thm-3.3"]}}, "not understood"),
        ({"evaluate": {"claims": ["exact <= exact"]}}, "wants a scheme"),
        ({"evaluate": {"claims": ["0 * thm-4.2 <= thm-3.3"]}}, "factor"),
        ({"evaluate": {"exact": ["by-name"]}}, "by-name"),
        ({"setting": {"n": 50, "b": 2}}, "needs"),
        ({"more": {}}, "'more'"),
    ],
)
def test_a_wrong_grid_is_a_sentence(changes, words):
    data = {"setting": {**SHARED, "sigma2": 4, "epochs": 3}, "grid": {"alpha": [2]},
            "evaluate": {"bounds": ["thm-3.3"]}}  # fmt: skip
    with pytest.raises(InvalidInput) as error:
        read({**data, **changes})
    assert words in str(error.value) and "\n" not in str(error.value)


# --- what is evaluated -------------------------------------------------------------------------


def test_values_are_those_of_the_bounds():
    sweep = random({"bounds": ["thm-3.3", "thm-4.2", "composition", "optimal_shuffle"]})
    files = sweep.request.bounds
    violated = 0
    for row in rows(sweep, 0, 60):
        setting = Points(sweep).setting(row["index"])
        assert row["epochs"] == setting.epochs and row["eta"] == float(setting.eta)
        for name, file in files.items():
            try:
                value = float(find(file).float64(setting))
                reason = None
            except AssumptionViolated as error:
                violated, reason, value = violated + 1, error.label, None
            assert row[f"{name} reason"] == reason
            if value is None:
                assert row[name] is None
                continue
            assert row[name] == pytest.approx(value, rel=4e-12)
            assert row[name] >= float(find(file).enclose(setting, 20).lower())
    assert violated > 20


def test_values_beyond_doubles_are_null_with_a_reason():
    shared = {**SHARED, "sigma2": "1e-300", "alpha": "1e10"}
    (row,) = rows(grid({"bounds": ["composition"]}, shared, {"epochs": [10**12]}))
    assert row["composition"] is None and row["composition reason"] == "beyond-double"
    assert row["error"] is None


def test_a_failing_point_is_a_row_with_its_error(monkeypatch):
    sweep = grid({"bounds": ["composition"], "claims": ["composition <= thm-3.3"]})
    real = columns._one

    def breaks(bound, setting, i, out):
        if setting.epochs == 7 and bound.name == "fixed_order_composition":
            raise ZeroDivisionError("planted")
        real(bound, setting, i, out)

    # Every setting goes by itself, and some break.
    monkeypatch.setattr(columns, "_one", breaks)
    monkeypatch.setattr(columns, "LARGEST", 0.0)
    found = rows(sweep)
    assert len(found) == sweep.count
    for row in found:
        bad = row["epochs"] == 7
        assert (row["error"] is not None) == bad
        if bad:
            assert "composition: ZeroDivisionError: planted" in row["error"]
            assert row["composition"] is None
            outcome = "not applicable" if row["alpha"] == 0.5 else "undecided"
            assert row["composition <= thm-3.3"] == outcome


def test_exact_values_and_estimates():
    plan = {"scheme": "shuffle-once", "paths": 300, "seed": 4, "estimators": ["events"]}
    shared = {**SHARED, "n": 4, "sigma2": "1/10"}
    sweep = grid({"exact": ["fixed-order", "shuffle-once"], "estimate": plan},
                 shared, {"epochs": [1, 2, 3000], "alpha": [1, 3]})  # fmt: skip
    found = rows(sweep)
    for row in found[1::2][:2]:
        setting = Points(sweep).setting(row["index"])
        truth = evaluate.exact_value(setting, "fixed-order")
        assert Fraction(row["exact fixed-order lower"]) <= Fraction(truth.lower)
        assert Fraction(row["exact fixed-order upper"]) >= Fraction(truth.upper)
        word = hashlib.blake2b(f"4:{row['index']}".encode(), digest_size=8).digest()
        again = estimate(setting, "shuffle-once", 300, int.from_bytes(word), workers=1,
                         names=["events"], with_exact=False).estimates[0]  # fmt: skip
        assert row["estimate events"] == again.value
        assert row["estimate events lower"] == again.lower
    assert [row["exact shuffle-once reason"] for row in found] == [
        "order", None, "order", None, "order", "too-costly"
    ]  # fmt: skip
    # The same rows, whatever range they are worked out in.
    assert rows(sweep, 3, 4) == found[3:4]


# --- claims ------------------------------------------------------------------------------------

NEAR = "0.99999999999999999999"
ONE_POINT = {"epochs": [7], "alpha": [10], "sigma2": [4]}


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ("thm-4.2 <= composition", "holds"),
        ("composition <= thm-4.2", "fails"),
        ("composition > thm-4.2", "holds"),
        # Doubles cannot tell these apart.
        (f"{NEAR} * thm-4.2 < thm-4.2", "holds"),
        (f"thm-4.2 <= {NEAR} * thm-4.2", "fails"),
        (f"{NEAR}*exact fixed-order >= exact fixed-order", "fails"),
        # Rational on both sides: decided exactly.
        ("thm-3.3 <= thm-3.3", "holds"),
        ("thm-3.3 < thm-3.3", "fails"),
        ("exact <= optimal", "holds"),
        ("exact <= 0.1 * thm-3.3", "fails"),
        # Equal and not rational: nobody can tell.
        ("thm-4.2 <= cor-5.3", "undecided"),
        ("thm-4.2 < cor-5.3", "undecided"),
    ],
)
def test_claims_are_decided_rigorously(claim, outcome):
    sweep = grid({"claims": [claim]}, axes=ONE_POINT)
    (row,) = rows(sweep)
    assert row[claim] == outcome and row["error"] is None
    if outcome == "fails":
        sides = evaluate.witness(sweep.request.claims[0], Points(sweep).setting(0))
        ends = {w: [Fraction(x) for x in sides[w].values()] for w in ("left", "right")}
        if claim != "thm-3.3 < thm-3.3" and NEAR not in claim:
            apart = ends["left"][0] > ends["right"][1] or ends["left"][1] < ends["right"][0]
            assert apart


def test_a_claim_without_its_bound_is_not_applicable():
    for row in rows(grid()):
        outcome = "not applicable" if row["alpha"] == 0.5 else "holds"
        assert row["thm-4.2 <= composition"] == outcome


# --- running -----------------------------------------------------------------------------------


def work(tmp_path, sweep, size, name="out.parquet", workers=None):
    store = Store(tmp_path / name, sweep)
    with workers or run.Workers(1) as there:
        assert run.run(store, size, there)
    assert not store.folder.exists()
    return store


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        # The scheduler's own use of its libraries is not what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        from distributed import LocalCluster
    with LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
    ) as made:
        yield made.scheduler_address


def test_the_bytes_do_not_depend_on_who_works(tmp_path, cluster):
    sweep = random({"bounds": ["thm-3.3", "thm-2.1"], "claims": ["thm-3.3 <= optimal"]}, points=60)
    alone = work(tmp_path, sweep, 60, "alone").out.read_bytes()
    assert work(tmp_path, sweep, 7, "sevens").out.read_bytes() == alone
    assert work(tmp_path, sweep, 10, "two", run.Workers(2)).out.read_bytes() == alone
    assert work(tmp_path, sweep, 11, "dask", run.Workers(1, cluster)).out.read_bytes() == alone


def test_row_groups_are_put_together_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.sweep.store.ROWS", 64)
    assert ROWS > 64
    sweep = random(points=150)
    store = work(tmp_path, sweep, 11)
    file = pq.ParquetFile(store.out)
    counts = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
    assert counts == [64, 64, 22]
    assert file.read().column("index").to_pylist() == list(range(150))
    assert file.read().to_pylist() == rows(sweep)
    assert work(tmp_path, sweep, 80, "other").out.read_bytes() == store.out.read_bytes()


TOML = """
[setting]
b = 2
lambda = 1
sensitivity = 4
[random]
points = 600
seed = 3
n = { integers = [4, 40] }
epochs = { log-uniform = [1, 100] }
eta = { uniform = [0.001, 0.3] }
beta = { log-uniform = [1, 6] }
sigma2 = { log-uniform = [0.01, 100] }
alpha = { uniform = [1.01, 64] }
[evaluate]
bounds = ["thm-3.3"]
claims = ["thm-3.3 <= composition"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text(TOML)
    return tmp_path


def begun(folder, wanted, *more):
    """Start the command in a process of its own and wait for some parts."""
    # Small parts, so that there is a middle to stop in.
    code = ("import verify.sweep.run as r; r.SAMPLE_SECONDS = 0.1; r.Plan.part = lambda self: 10; "
            "from verify.cli import main; main()")  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", code, "sweep", "sweep.toml", *more], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    parts = folder / "sweep.parquet.parts"
    while len(list(parts.glob("*.parquet"))) < wanted and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process, parts


def test_a_killed_sweep_goes_on_to_the_same_bytes(folder):
    process, parts = begun(folder, 3, "--jobs", "2")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {path.name: path.stat().st_mtime_ns for path in parts.glob("*.parquet")}
    assert process.returncode == -signal.SIGKILL
    assert len(kept) >= 3 and not Path("sweep.parquet").exists()
    sweep = load("sweep.toml")
    store = Store(Path("sweep.parquet"), sweep)
    size = store.begun()
    assert size is not None and len(kept) < -(-sweep.count // size)
    damaged = parts / min(kept)
    damaged.write_bytes(damaged.read_bytes()[:100])
    worked = []

    def progress(done, total):
        worked.append(done)

    with run.Workers(1) as workers:
        assert run.run(store, size, workers, progress)
    assert worked[0] >= size * 2
    assert store.out.read_bytes() == work(folder, sweep, 600, "whole").out.read_bytes()


def test_an_interrupt_keeps_what_is_finished(folder):
    process, parts = begun(folder, 2, "--jobs", "1")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 3 and out == ""
    assert "goes on" in err and "Traceback" not in err
    kept = list(parts.glob("*.parquet"))
    assert len(kept) >= 2
    for path in kept:
        start, stop = map(int, path.stem.split("-"))
        assert pq.read_table(path).column("index").to_pylist() == list(range(start, stop))


def test_a_changed_grid_is_refused(folder):
    sweep = grid(axes=ONE_POINT)
    store = work(folder, sweep, 1)
    assert store.finished()
    other = Store(store.out, grid(axes={**ONE_POINT, "alpha": [11]}))
    with pytest.raises(InvalidInput, match="is not this sweep's result"):
        other.finished()
    Path("text.parquet").write_text("no Parquet")
    with pytest.raises(InvalidInput, match="is not this sweep's result"):
        Store(Path("text.parquet"), sweep).finished()
    half = Store(Path("half.parquet"), sweep)
    half.begin(1)
    assert half.begun() == 1
    with pytest.raises(InvalidInput, match="another grid"):
        Store(half.out, grid(axes={**ONE_POINT, "alpha": [11]})).begun()
    (half.folder / "sweep.json").write_text("{")
    with pytest.raises(InvalidInput, match="cannot be read"):
        half.begun()


def test_layout_is_no_change(folder):
    first = load("sweep.toml").canonical
    Path("sweep.toml").write_text("# a comment\n" + TOML.replace("0.001", "1e-3"))
    assert load("sweep.toml").canonical == first
    Path("sweep.toml").write_text(TOML.replace("0.001", "0.0010001"))
    assert load("sweep.toml").canonical != first


def test_what_cannot_fit_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"a day, and exact"):
        run.refuse(run.Plan(10**8, 1.0, 100.0), 2, tmp_path / "out")
    with pytest.raises(InvalidInput, match=r"free at .*; a \[random\] design of points = \d+ fits"):
        run.refuse(run.Plan(10**8, 1e-6, 1e9), 2, tmp_path / "no" / "out")
    run.refuse(run.Plan(10**6, 1e-6, 100.0), 1, tmp_path / "out")
    assert run.describe(run.Plan(10**6, 1e-3, 100.0), 2) == (
        "1000000 points, about 8.33 min with 2 workers, at most 100 MB"
    )


def test_the_plan_is_timed():
    plan = run.plan(random(points=10**6))
    assert 1e-8 < plan.seconds_each < 1 and 20 < plan.bytes_each < 400
    assert 1 <= plan.part() <= run.MOST_A_PART


def test_a_worker_of_other_versions_is_refused(monkeypatch):
    with pytest.raises(InvalidInput, match="other versions"):
        run.task(pickle.dumps(grid()), 0, 1, "another")


# --- the summary and the command ---------------------------------------------------------------


def test_the_summary_answers_what_a_plain_loop_finds(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.sweep.store.ROWS", 37)
    sweep = random(
        {"bounds": ["thm-3.3", "optimal", "bok_2024_cyclic", "thm-4.2", "thm-2.1"],
         "exact": ["fixed-order"],
         "claims": ["thm-3.3 <= 30 * thm-4.2", "thm-2.1 >= thm-4.2"]}, points=100,
    )  # fmt: skip
    found = summarise(work(tmp_path, sweep, 50))
    table = rows(sweep)
    assert found.points == 100 and found.errors == 0
    ratios = {(item.bound, item.against): item for item in found.ratios}
    both = [row for row in table if row["thm-3.3"] and row["exact fixed-order"]]
    worst = max(both, key=lambda row: row["thm-3.3"] / row["exact fixed-order"])
    item = ratios["thm-3.3", "exact fixed-order"]
    assert (item.worst.index, item.points) == (worst["index"], len(both))
    assert item.worst.value == worst["thm-3.3"] / worst["exact fixed-order"]
    wins = {item.bound: item for item in found.wins}
    clear = [row for row in table if row["thm-4.2"] and row["thm-4.2"] * 1.01 < row["thm-2.1"]]
    assert wins["thm-4.2"].points >= len(clear) > 10
    orders = [row["alpha"] for row in clear]
    assert wins["thm-4.2"].ranges["alpha"][0] <= min(orders)
    for outcome in found.claims:
        said = [row[outcome.claim.text] for row in table]
        assert outcome.counts == {word: said.count(word) for word in outcome.counts}
    outcome = found.claims[0]
    fails = [row for row in table if row["thm-3.3 <= 30 * thm-4.2"] == "fails"]
    assert outcome.first == fails[0]["index"]
    worst = max(fails, key=lambda row: row["thm-3.3"] / row["thm-4.2"])
    assert outcome.worst.index == worst["index"]
    assert not found.good and 0 < len(fails) < 100
    data = found.as_json()
    json.dumps(data, allow_nan=False)
    shown = data["claims"][0]["worst_failure"]
    assert Fraction(shown["left"]["lower"]) > Fraction(shown["right"]["upper"])
    assert Fraction(shown["at"]["eta"]) == Points(sweep).setting(worst["index"]).eta


SMALL = """
[setting]
n = 10
b = 2
eta = 0.02
lambda = 1
beta = 4
sensitivity = 4
sigma2 = 4
[grid]
epochs = [1, 30]
alpha = [1, 2, 10]
[evaluate]
claims = ["CLAIM"]
"""


@pytest.mark.parametrize(
    ("claim", "status"),
    [("thm-4.2 <= composition", 0), ("composition <= thm-4.2", 1), ("thm-4.2 <= cor-5.3", 1)],
)
def test_the_command(folder, claim, status):
    Path("small.toml").write_text(SMALL.replace("CLAIM", claim))
    done = hiddenstate("sweep", "small.toml", "--jobs", "1", "--json")
    assert done.returncode == status, done.stderr
    data = json.loads(done.stdout)
    assert data["points"] == 6 and data["file"] == "small.parquet"
    (item,) = data["claims"]
    counts = (item["holds"], item["fails"], item["undecided"], item["not_applicable"])
    assert counts == {0: (4, 0, 0, 2), 1: (0, 4, 0, 2)}.get(status if "cor" not in claim else 2,
                                                            (0, 0, 4, 2))  # fmt: skip
    assert "6 points" in done.stderr
    again = hiddenstate("sweep", "small.toml", "--jobs", "1")
    assert again.returncode == status and "is finished" in again.stderr
    assert f"claim {claim}" in again.stdout and "2 order" in again.stdout
    assert all(len(line) <= 80 for line in again.stdout.splitlines())
    quiet = hiddenstate("sweep", "small.toml", "--quiet", "--out", "q.parquet", "--jobs", "1")
    assert (quiet.stdout, quiet.stderr, quiet.returncode) == ("", "", status)
    assert Path("q.parquet").read_bytes() == Path("small.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.toml"], "cannot be read"),
        (["sweep.toml", "--jobs", "2", "--dask", "tcp://127.0.0.1:1"], "give one"),
        (["sweep.toml", "--jobs", "0"], "jobs"),
        (["bad.toml"], "not TOML"),
        (["small.toml", "--jobs", "1", "--out", "no/such/folder/x.parquet"], "written"),
    ],
)
def test_a_wrong_request_is_one_line(folder, arguments, words):
    Path("bad.toml").write_text("[grid]\nalpha = 2/5")
    Path("small.toml").write_text(SMALL.replace("CLAIM", "thm-4.2 <= composition"))
    Path("no").write_text("a file where a folder would be")
    done = hiddenstate("sweep", *arguments)
    assert done.returncode == 2 and words in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from verify.cli import cli\n"
        "try:\n    cli.main(['sweep', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'numpy', 'pyarrow', 'joblib',"
        " 'distributed', 'flint', 'sympy', 'mpmath', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]") and "--dask" in done.stdout
