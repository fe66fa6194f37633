"""The command line keeps its contracts: names, flags, JSON keys, exit statuses."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest

from reports import jsonfile
from verify import cli

FIGURE = [
    "--n", "50", "--b", "2", "--epochs", "50", "--eta", "0.02", "--lambda", "1", "--beta", "4",
    "--sensitivity", "4", "--sigma2", "4", "--alpha", "10",
]  # fmt: skip


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def hiddenstate(*arguments):
    """Run the command line in this process, as the entry point does."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["hiddenstate", *arguments]
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.argv = before
    return Done(code, out.getvalue(), err.getvalue())


def changed(**values):
    made = list(FIGURE)
    for name, value in values.items():
        flag = f"--{name.rstrip('_').replace('_', '-')}"
        if flag in made:
            made[made.index(flag) + 1] = value
        else:
            made += [flag, value]
    return made


def without(*flags):
    made = list(FIGURE)
    for flag in flags:
        at = made.index(flag)
        del made[at : at + 2]
    return made


def test_bound_json_is_the_contract():
    done = hiddenstate("bound", "thm-4.2", *FIGURE, "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert {
        "bound", "statement", "direction", "alpha", "setting", "applicable", "reason", "epsilon",
        "lower", "upper",
    } <= set(data)  # fmt: skip
    assert data["bound"] == "shuffle_partition"
    assert data["applicable"] is True
    assert data["setting"]["eta"] == "0.02"
    low, high, value = (Decimal(data[key]) for key in ("lower", "upper", "epsilon"))
    # 40 digits of an independent evaluation of equation (5)
    assert low <= Decimal("0.01545904616214638569549282732549957201745") <= high
    assert high <= value <= high * (1 + Decimal("1e-12"))


def test_the_same_bound_by_name_and_by_setting_file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'n = 50\nb = 2\nepochs = 50\neta = 0.02\nlambda = 1\nbeta = 4\nsensitivity = "4"\n'
        "sigma2 = 9\nalpha = 10\n"
    )
    by_file = hiddenstate(
        "bound", "shuffle_partition", "--setting", str(path), "--sigma2", "4", "--json"
    )
    assert json.loads(by_file.stdout) == json.loads(
        hiddenstate("bound", "thm-4.2", *FIGURE, "--json").stdout
    )


def test_noise_multiplier_stands_in_for_sigma2():
    # sigma^2 = eta (M Sg/b)^2/8 = 0.02 * (M*2)^2/8, so M = 20 gives sigma^2 = 4
    done = hiddenstate(
        "bound", "thm-4.2", *without("--sigma2"), "--noise-multiplier", "20", "--json"
    )
    assert done.stdout == hiddenstate("bound", "thm-4.2", *FIGURE, "--json").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bound", "thm-4.2", *changed(alpha="1")], "order"),
        (["bound", "thm-4.2", *changed(eta="0.4")], "step-size"),
        (["bound", "thm-4.2", *changed(b="50")], "full_batch"),
        (["bound", "thm-4.2", *changed(b="51")], "batch-size"),
        (["bound", "thm-4.2", *changed(epochs="0")], "epochs"),
        (["bound", "thm-4.2", *changed(sigma2="0")], "noise"),
        (["bound", "thm-4.2", *changed(sigma2="-1")], "noise"),
        (["bound", "thm-4.2", *changed(lambda_="0")], "strong-convexity"),
        (["bound", "thm-3.3", *changed(position="25")], "position"),
        (["bound", "thm-4.2", *without("--beta")], "--beta"),
        (["bound", "thm-4.2", *changed(eta="abc")], "eta"),
        (["bound", "thm-4.2", *changed(eta="1/0")], "zero"),
        (["bound", "thm-4.2", *changed(eta="nan")], "eta"),
        (["bound", "thm-4.2", *changed(epochs="1.5")], "integer"),
        (["bound", "thm-9.9", *FIGURE], "thm-9.9"),
        (["bound", "thm-4.2", *FIGURE, "--noise-multiplier", "1"], "noise"),
        (["bound", "thm-4.2", "--setting", "/nowhere/run.toml"], "cannot be read"),
        (["bound"], "NAME"),
        (["frobnicate"], "frobnicate"),
        (["bound", "thm-4.2", "--frob", "1"], "--frob"),
        (["audit", "--only", "thm-3.4"], "thm-3.3"),
        (["audit", "--effort", "heroic"], "heroic"),
        (["audit", "thm-3.3"], "--only thm-3.3"),
        (["compare", *changed(alpha="1")], "order"),
        (["estimate", "--scheme", "frob", *FIGURE], "frob"),
        (["estimate", "--scheme", "poisson", *without("--alpha")], "--alpha"),
        (["estimate", "--scheme", "poisson", *FIGURE, "--paths", "-1"], "paths"),
        (["compare", *FIGURE, "--delta", "2"], "--delta"),
        (["calibrate", "thm-4.2", *without("--sigma2", "--alpha"), "--delta", "1e-5",
          "--target-epsilon", "0"], "target"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_sentence_and_status_2(arguments, words):
    done = hiddenstate(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert words in lines[0]
    assert "Traceback" not in done.stderr


def test_not_applicable_as_json_says_why():
    done = hiddenstate("bound", "thm-4.2", *changed(b="50"), "--json")
    assert done.returncode == 2
    data = json.loads(done.stdout)
    assert data["applicable"] is False
    assert "at-least-two-batches" in data["reason"]
    assert data["epsilon"] is None


def test_bounds_lists_every_bound():
    data = json.loads(hiddenstate("bounds", "--json").stdout)
    assert {"name", "statement", "source", "direction", "assumptions"} <= set(data[0])
    names = {item["name"] for item in data}
    assert {"fixed_order", "shuffle_partition", "sampled_gaussian", "bok_2024_cyclic"} <= names
    text = hiddenstate("bounds").stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(name in text for name in names)


def test_compare_json_is_the_contract():
    data = json.loads(hiddenstate("compare", *FIGURE, "--json").stdout)
    assert {"setting", "exact", "bounds", "warnings"} <= set(data)
    row = {item["bound"]: item for item in data["bounds"]}
    assert {
        "bound", "statement", "direction", "applicable", "reason", "epsilon", "lower", "upper",
        "ratio_to_exact",
    } <= set(row["fixed_order"])  # fmt: skip
    assert row["full_batch"]["applicable"] is False
    assert "b = n" in row["full_batch"]["reason"]
    assert float(row["fixed_order"]["ratio_to_exact"]) > 1


def test_compare_prints_one_table_of_80_columns():
    text = hiddenstate("compare", *FIGURE).stdout
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "NOT APPLICABLE" in text
    assert "\x1b" not in text


def test_calibrate_never_overspends():
    done = hiddenstate(
        "calibrate", "thm-4.2", *without("--sigma2", "--alpha"), "--target-epsilon", "1",
        "--delta", "1e-5", "--json",
    )  # fmt: skip
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert Decimal(data["conversion"]["upper"]) <= 1
    assert Decimal(data["conversion"]["upper"]) > Decimal("0.999999")


SMALL = [
    "--n", "4", "--b", "2", "--epochs", "2", "--eta", "0.1", "--lambda", "1", "--beta", "4",
    "--sensitivity", "4", "--sigma2", "1", "--alpha", "2",
]  # fmt: skip


def test_estimate_json_is_the_contract():
    arguments = ["estimate", "--scheme", "shuffle-once", *SMALL, "--paths", "2000", "--json"]
    data = json.loads(hiddenstate(*arguments, "--seed", "3").stdout)
    assert set(data) == {"setting", "scheme", "paths", "seed", "exact", "estimates", "bounds"}
    assert {"estimator", "value", "lower", "upper", "confidence", "void"} <= set(
        data["estimates"][0]
    )
    assert data["paths"] == 2000
    assert data["exact"] is not None
    assert {row["bound"] for row in data["bounds"]} >= {"shuffle_partition"}
    again = json.loads(hiddenstate(*arguments, "--seed", "3", "--jobs", "1").stdout)
    assert data == again
    other = json.loads(hiddenstate(*arguments, "--seed", "4").stdout)
    assert data["estimates"] != other["estimates"]


def test_estimate_prints_a_table_of_80_columns():
    done = hiddenstate("estimate", "--scheme", "fixed-order", *SMALL, "--paths", "1000")
    assert done.returncode == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "EXACT" in done.stdout


def test_audit_writes_json_markdown_and_a_summary(tmp_path):
    done = hiddenstate("audit", "--only", "fn-4", "fn-5", "--out", str(tmp_path / "o"))
    assert done.returncode == 0, done.stderr
    result = jsonfile.read(tmp_path / "o" / "audit.json")
    found = {record.id: record for record in result.statements}
    assert len(found) == 253
    assert found["fn-4"].verdict == "refuted"
    assert found["fn-4"].severity == "misprint"
    assert found["fn-5"].verdict == "proved"
    assert found["eq-001"].verdict == "open"  # not asked for
    assert "fn-4" in (tmp_path / "o" / "audit.md").read_text()
    assert "refuted" in done.stdout
    last = done.stdout.strip().splitlines()[-2:]
    assert last[0].endswith("audit.md")
    assert last[1] == f"next: hiddenstate report {tmp_path / 'o' / 'audit.json'}"
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[:-2])


def test_where_doubles_do_not_reach_the_enclosure_answers():
    many = hiddenstate("bound", "thm-4.2", *changed(sensitivity="1e-170"), "--json")
    data = json.loads(many.stdout)
    assert Decimal(data["upper"]) <= Decimal(data["epsilon"])
    assert "taken from the enclosure" in data["notes"][0]


def test_diff_names_changed_verdicts(tmp_path):
    for name, only in (("a", "fn-4"), ("b", "fn-4"), ("c", "fn-5")):
        hiddenstate("audit", "--only", only, "--out", str(tmp_path / name), "--quiet")
    files = {name: str(tmp_path / name / "audit.json") for name in "abc"}
    same = hiddenstate("diff", files["a"], files["b"])
    assert same.returncode == 0
    assert same.stdout.startswith("0 verdicts changed")
    other = hiddenstate("diff", files["a"], files["c"], "--json")
    assert other.returncode == 1
    changed = {(c["id"], c["old"], c["new"]) for c in json.loads(other.stdout)}
    assert ("fn-4", "refuted (misprint)", "open") in changed
    table = hiddenstate("diff", files["a"], files["c"], "--markdown")
    assert "| fn-4 | refuted (misprint) | **open** |" in table.stdout
    missing = hiddenstate("diff", files["a"], str(tmp_path / "none.json"))
    assert missing.returncode == 2
    assert len(missing.stderr.strip().splitlines()) == 1


def test_the_installed_command_answers():
    done = subprocess.run(
        [sys.executable, "-m", "verify.cli", "bound", "thm-3.3", *FIGURE], capture_output=True,
        text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "enclosed in" in done.stdout
    assert done.stderr == ""


def test_nothing_asked_says_what_can_be_done():
    done = hiddenstate()
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert 5 <= len(lines) <= 10
    assert all(len(line) <= 80 for line in lines)
    listed = " ".join(lines)
    assert all(re.search(rf"\b{name}\b", listed) for name in COMMANDS)


COMMANDS = cli.cli.list_commands(None)
TARGET = ["--target-epsilon", "1", "--delta", "1e-5"]
PUBLISHED = str(Path(__file__).parents[1] / "reports" / "published" / "audit.json")
GRID = """
[setting]
n = 4
b = 2
eta = "0.1"
lambda = 1
beta = 4
sensitivity = 4
sigma2 = 1
alpha = 2
[grid]
epochs = [1, 2]
[evaluate]
bounds = ["thm-3.3"]
"""


def calls(folder):
    """One small call of every command."""
    audit = str(folder / "small.json")
    if not Path(audit).exists():
        whole = jsonfile.read(Path(PUBLISHED))
        few = tuple(r for r in whole.statements if r.id in ("fn-4", "fn-5"))
        jsonfile.write(replace(whole, statements=few, series=whole.series[:1]), Path(audit))
        (folder / "grid.toml").write_text(GRID)
        (folder / "mine.py").write_text(
            "def f(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):\n"
            "    return alpha * eta * sensitivity**2 / (4 * sigma2 * b**2)\n"
        )
    return {
        "audit": ["--only", "fn-5", "--jobs", "1", "--out", str(folder / "out")],
        "bound": ["thm-4.2", *FIGURE],
        "bounds": [],
        "calibrate": ["thm-4.2", *without("--sigma2", "--alpha"), *TARGET],
        "certify": [audit],
        "check": [f"{folder / 'mine.py'}:f", "--bound", "thm-4.2"],
        "compare": FIGURE,
        "diff": [audit, audit],
        "estimate": ["--scheme", "fixed-order", *SMALL, "--paths", "1000"],
        "report": [audit, "--format", "junit", "--out", str(folder / "audit.xml")],
        "sweep": [str(folder / "grid.toml"), "--jobs", "1", "--out", str(folder / "g.parquet")],
        "vectors": ["--out", str(folder / "vectors")],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("calls")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_ends_with_where_the_result_is_and_what_to_run_next(folder, name):
    done = hiddenstate(name, *calls(folder)[name])
    assert done.returncode in (0, 1), done.stderr
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    at = max(i for i, line in enumerate(lines) if line.startswith("next: "))
    # What goes on after a backslash is the same command.
    assert all(line.endswith("\\") for line in lines[at:-1])
    assert "ull result: " in "\n".join(lines[max(0, at - 3) : at])
    folder_free = [line for line in lines if str(folder) not in line]
    assert all(len(line) <= 80 for line in folder_free)
    command = " ".join(line.rstrip("\\").strip() for line in lines[at:]).removeprefix("next: ")
    words = shlex.split(command)
    if words[0] == "hiddenstate" and "NAME" not in words and words[1] in ("bound", "compare"):
        again = hiddenstate(*words[1:])
        assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_quiet(folder, name):
    arguments = calls(folder)[name]
    done = hiddenstate(name, *arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    json.loads(done.stdout)
    assert "Traceback" not in done.stderr
    full = hiddenstate(name, *arguments).stdout
    quiet = hiddenstate(name, *arguments, "--quiet")
    assert quiet.stderr == ""
    assert len(quiet.stdout) < len(full)
    assert "next: " not in quiet.stdout
    if name in ("audit", "certify", "diff", "report", "sweep", "vectors"):
        assert quiet.stdout == ""


def test_quiet_is_the_answer_for_a_script():
    assert float(hiddenstate("bound", "thm-4.2", *FIGURE, "--quiet").stdout) == 0.01545904616215257
    sigma2 = hiddenstate(
        "calibrate", "thm-4.2", *without("--sigma2", "--alpha"), *TARGET, "--quiet"
    ).stdout  # fmt: skip
    assert 0.51 < float(sigma2) < 0.52
    assert "shuffle_partition" in hiddenstate("bounds", "--quiet").stdout.splitlines()


def on_a_terminal(*arguments, keys=b"", after=b""):
    """Run in a terminal of 80 columns; press `keys` once `after` has been shown."""
    import fcntl
    import pty
    import struct
    import termios

    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "CI")}
    running = subprocess.Popen(
        [sys.executable, "-m", "verify.cli", *arguments], stdin=side, stdout=side, stderr=side,
        env={**environment, "TERM": "xterm-256color"}, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(side)
    seen = b""
    while True:
        try:
            got = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not got:
            break
        seen += got
        if keys and after in seen:
            os.write(main, keys)
            keys = b""
    os.close(main)
    return running.wait(60), seen.decode()


def drawn(text):
    """The rows that a terminal shows of a text, each as wide as it ever was."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [part for row in plain.split("\n") for part in row.split("\r")]


@pytest.mark.parametrize("name", ["bounds", "compare", "check", "estimate", "certify"])
def test_on_a_terminal_of_80_columns_nothing_is_wider(folder, name):
    code, text = on_a_terminal(name, *calls(folder)[name])
    assert code in (0, 1)
    rows = [row for row in drawn(text) if str(folder) not in row]
    assert len(rows) > 5
    assert max(map(len, rows)) <= 80


def test_an_audit_interrupted_by_keyboard_is_saved_and_shows_rate_and_time_left(tmp_path):
    code, text = on_a_terminal(
        "audit", "--effort", "full", "--jobs", "1", "--out", str(tmp_path), keys=b"\x03",
        after=b"/s",
    )  # fmt: skip
    assert code == 3
    assert "Traceback" not in text
    assert "Interrupted; what was finished is saved." in text
    result = jsonfile.read(tmp_path / "audit.json")
    assert not result.complete
    bars = [row for row in drawn(text) if row.startswith("auditing")]
    assert any(re.search(r"\d+/\d+ +[\d.]+/s \d:\d\d:\d\d left", row) for row in bars)
    assert max(map(len, bars)) <= 80


def test_the_schemes_of_estimate_are_those_there_are() -> None:
    from empirical.schemes import SCHEMES
    from verify import choices

    assert set(choices.SIMULATED) == set(SCHEMES)


RECIPE = """
n = 60000
b = 2048
epochs = 1200
eta = 0.75
lambda = 0.08
feature-clip-norm = 2
noise-multiplier = 3.08
scheme = "shuffle-once"
delta = 1e-5
rule = "classical"
orders = ["1 + x/10 for x in 1..99", "12..63"]

[normalisation]
noise-multiplier = 8
queries = 2
"""


@pytest.mark.parametrize(
    "orders",
    [
        ("--orders", "6..8 step 0.1"),
        # All 151 orders of every bound take ten seconds.
        pytest.param((), marks=pytest.mark.slow),
    ],
)
def test_compare_gives_the_published_epsilon_of_the_recipe(tmp_path, orders):
    path = tmp_path / "run.toml"
    path.write_text(RECIPE)
    done = hiddenstate("compare", "--setting", str(path), *orders, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert {"setting", "exact", "bounds", "warnings"} <= set(data)
    row = {item["bound"]: item for item in data["bounds"]}["shuffle_partition"]
    assert f"{float(row['converted']['epsilon']):.3f}" == "2.995"
    assert row["converted"]["order"] == "7"
    assert data["setting"]["alpha"] == data["answer"]["order"]
    if not orders:
        assert len(data["warnings"]) == 1
    assert "608 records" in data["warnings"][-1]
    assert data["run"]["normalisation"] == {"noise-multiplier": "8", "queries": "2"}


def test_calibrate_finds_the_noise_multiplier_of_the_recipe(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("target-epsilon = 2.995\n" + RECIPE)
    done = hiddenstate("calibrate", "thm-4.2", "--setting", str(path), "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["noise_multiplier"]["upper"].startswith("3.080")
    assert Decimal(data["conversion"]["upper"]) <= Decimal("2.995")
    assert any("608 records" in said for said in data["warnings"])
    text = hiddenstate("calibrate", "thm-4.2", "--setting", str(path), "--scheme", "reshuffle")
    assert "warning: scheme = reshuffle" in text.stdout
    assert all(len(line) <= 80 for line in text.stdout.splitlines() if str(path) not in line)
    other = hiddenstate("calibrate", "thm-4.2", "--setting", str(path), "--target-epsilon", "1.5")
    assert "<= 1.5 at delta 1e-5" in other.stdout


def test_a_setting_file_is_refused_by_key(tmp_path):
    path = tmp_path / "run.toml"
    for text, words in (
        (RECIPE.replace("epochs", "epoch"), "'epoch' is no key; did you mean 'epochs'"),
        (RECIPE.replace("0.75", "true"), "run.toml: eta is True"),
        (RECIPE.replace("queries", "query"), "[normalisation] 'query' is no key; did"),
        (RECIPE.replace("0.75", "3/4"), "stands in quotes"),
    ):
        path.write_text(text)
        for command in (["compare"], ["bound", "thm-4.2"], ["calibrate", "thm-4.2"]):
            done = hiddenstate(*command, "--setting", str(path))
            assert done.returncode == 2
            assert done.stdout == ""
            assert len(done.stderr.strip().splitlines()) == 1
            assert words in done.stderr
    path.write_text(RECIPE)
    assert "--target-epsilon" in hiddenstate("calibrate", "thm-4.2", "--setting", str(path)).stderr
    assert "no order" in hiddenstate("compare", *without("--alpha")).stderr


def test_compare_warns_in_words_and_in_80_columns():
    done = hiddenstate("compare", *FIGURE, "--delta", "0.1", "--scheme", "reshuffle",
                       "--orders", "2..60 step 2")  # fmt: skip
    assert done.returncode == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "warning: delta = 0.1 is above 1/n" in done.stdout
    assert "warning: scheme = reshuffle" in done.stdout
    quiet = hiddenstate("compare", *FIGURE)
    assert "warning" not in quiet.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [("hiddenstate ca", "calibrate"), ("hiddenstate bound shuffle_p", "shuffle_partition"),
     ("hiddenstate audit --only thm-4", "thm-4.2")],
)  # fmt: skip
def test_the_shell_completes(words, expected):
    done = subprocess.run(
        [sys.executable, "-m", "verify.cli"], capture_output=True, text=True, check=False,
        env={**os.environ, "_HIDDENSTATE_COMPLETE": "bash_complete", "COMP_WORDS": words,
             "COMP_CWORD": str(len(words.split()) - 1)},
    )  # fmt: skip
    assert f"plain,{expected}" in done.stdout.splitlines()


def test_audit_json_is_the_verdicts(tmp_path):
    done = hiddenstate("audit", "--only", "fn-4", "--out", str(tmp_path / "o"), "--json")
    data = json.loads(done.stdout)
    assert data["verdicts"]["fn-4"] == "refuted"
    assert data["complete"] is True


def test_a_page_of_markdown_has_its_figures_beside_it(tmp_path):
    published = Path(__file__).parents[1] / "reports" / "published" / "audit.json"
    done = hiddenstate("report", str(published), "--format", "md", "--out", str(tmp_path / "a.md"))
    assert done.returncode == 0
    shown = re.findall(r"\]\((figures/[^)]+)\)", (tmp_path / "a.md").read_text("utf-8"))
    assert shown
    assert all((tmp_path / name).is_file() for name in shown)


def test_the_printed_multiplier_meets_the_target() -> None:
    """Its last digit is rounded up: what is typed again never overspends."""
    target = without("--sigma2", "--alpha")
    made = hiddenstate("calibrate", "thm-4.2", *target, "--target-epsilon", "1", "--delta", "1e-5")
    found = re.search(r"noise multiplier +([\d.]+)", made.stdout)
    assert found
    again = hiddenstate("compare", *target, "--noise-multiplier", found[1], "--delta", "1e-5",
                        "--scheme", "shuffle-once", "--json")  # fmt: skip
    rows = {row["bound"]: row for row in json.loads(again.stdout)["bounds"]}
    assert Decimal(rows["shuffle_partition"]["converted"]["epsilon"]) <= 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", ["1e-160", "1e-200"])
def test_one_bound_that_doubles_do_not_reach_leaves_the_table(value: str) -> None:
    made = hiddenstate("compare", *changed(sensitivity=value), "--json")
    assert made.returncode == 0
    rows = {row["bound"]: row for row in json.loads(made.stdout)["bounds"]}
    assert rows["fixed_order"]["applicable"]
    assert hiddenstate("compare", *changed(sensitivity=value)).returncode == 0


def test_a_number_too_long_to_write_is_refused() -> None:
    made = hiddenstate("bound", "thm-4.2", *changed(beta="0.1e-5000"))
    assert made.returncode == 2 and "more than 4000 digits" in made.stderr


def test_what_nobody_foresaw_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ArithmeticError("a fault\nin two lines")

    monkeypatch.setattr(cli.cli, "main", broken)
    made = hiddenstate("bounds")
    assert made.returncode == 2 and made.stderr.count("\n") == 1
    assert "ArithmeticError: a fault in two lines" in made.stderr
    monkeypatch.setenv("HIDDENSTATE_TRACEBACK", "1")
    with pytest.raises(ArithmeticError):
        hiddenstate("bounds")


def test_a_report_replaces_no_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError):
        jsonfile.write_text(pipe, "text")
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    jsonfile.write_text(link, "after")
    assert link.is_symlink() and target.read_text() == "after"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "target"]
