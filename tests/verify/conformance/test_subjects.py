"""Subjects in processes of their own: whatever they do is an answer, and the run goes on."""

from __future__ import annotations

import json
import os
import sys
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.bound import registry
from bounds.setting import InvalidInput, Setting
from verify.conformance import worker
from verify.conformance.subjects import (
    Process,
    program_subject,
    python_subject,
    read_reply,
    read_value,
)
from verify.conformance.translate import (
    DERIVED,
    CannotAsk,
    Question,
    Terms,
    pairs,
    reads,
    root,
    settle,
    told_value,
)

HERE = Path(__file__).parent / "subjects"
TERMS = Terms({}, {})
GIVEN = {
    "n": "50", "b": "2", "epochs": "50", "eta": "0.02", "lambda": "1", "beta": "4",
    "sensitivity": "4", "sigma2": "4", "alpha": "10",
}  # fmt: skip


def subject(name: str, file: str = "wrong.py", **limits: float) -> Process:
    return python_subject(
        f"{HERE / file}:{name}", int(limits.get("memory", 512)), limits.get("time", 0.3)
    )


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("hungry", "crashed", "more than 512 MiB"),
        ("dies", "crashed", "ended with status 3"),
        ("segfaults", "crashed", "SIGSEGV"),
        ("misspelt", "crashed", "KeyError"),
        ("hangs", "hung", "0.3 s"),
        ("not_a_number", "malformed", "NaN"),
        ("a_string", "malformed", "'0.5'"),
        ("a_list", "malformed", "[0.5]"),
        ("rubbish", "malformed", "object"),
        ("refuses_all", "refused", "not yet"),
        ("infinite", "value", "inf"),
    ],
)
def test_whatever_a_function_does_is_an_answer(name: str, kind: str, words: str) -> None:
    tested = subject(name)
    try:
        for _ in range(2):  # the second time in a new process where the first one is gone
            answer = tested.ask(Question({}, None), TERMS)
            assert answer.kind == kind
            assert words in answer.text
    finally:
        tested.close()
    assert tested.started == (2 if answer.fatal else 1)


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """A subject that starts a process of its own: both are ended."""
    note = tmp_path / "pid"
    (tmp_path / "forks.py").write_text(
        "import subprocess, sys, time\n"
        "def f():\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"    open({str(note)!r}, 'w').write(str(child.pid))\n"
        "    time.sleep(600)\n"
    )
    tested = python_subject(f"{tmp_path / 'forks.py'}:f", 0, 1.0)
    assert tested.ask(Question({}, None), TERMS).kind == "hung"
    tested.close()
    pid = int(note.read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the child still runs")


def test_imports_and_globals_of_a_subject_do_not_reach_us(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os, sys, decimal\nimport vectors_of_mine\nprint('loaded')\n"
        "os.environ['LOUD'] = '1'\ndecimal.getcontext().prec = 1\n"
        "def f(x):\n    print('called')\n    return vectors_of_mine.half(x)\n"
    )
    (tmp_path / "vectors_of_mine.py").write_text("def half(x):\n    return x / 2\n")
    tested = python_subject(f"{tmp_path / 'loud.py'}:f")
    answer = tested.ask(Question({"x": ["float", "3.0"]}, None), TERMS)
    tested.close()
    assert answer.value == Decimal("1.5")
    assert "vectors_of_mine" not in sys.modules
    assert "LOUD" not in os.environ


def test_a_subject_may_have_modules_with_our_names(tmp_path: Path) -> None:
    """The worker's folder is not on the path of what it loads."""
    (tmp_path / "uses.py").write_text("import vectors\ndef f():\n    return vectors.ONE\n")
    (tmp_path / "vectors.py").write_text("ONE = 1\n")
    tested = python_subject(f"{tmp_path / 'uses.py'}:f")
    assert tested.ask(Question({}, None), TERMS).value == 1
    tested.close()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("right.py", "is wanted"),
        ("nowhere.py:f", "no file"),
        (f"{HERE / 'right.py'}:nothing", "no attribute 'nothing'"),
        (f"{HERE / 'right.py'}:math", "not callable"),
        ("no_such_module_here:f", "No module named"),
    ],
)
def test_a_target_that_is_none_is_one_sentence(target: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        python_subject(target)


PROGRAMS = {
    "dies at once": ("import sys; sys.exit(4)", "crashed", "status 4"),
    "partial line": ("import sys; input(); print('{\"id\": 1', end='', flush=True)",
                     "crashed", "partial line"),
    "partial and waiting": ("import sys, time; input(); print('{\"id\"', end='', flush=True); "
                            "time.sleep(60)", "malformed", "end of its line"),
    "not JSON": ("input(); print('epsilon is 3', flush=True); input()", "malformed", "not JSON"),
    "a list": ("input(); print('[1]', flush=True); input()", "malformed", "object"),
    "wrong id": ("input(); print('{\"id\": 9, \"value\": 1}', flush=True); input()",
                 "malformed", "id 9"),
    "no value": ("input(); print('{\"id\": 1}', flush=True); input()", "malformed", "no value"),
    "huge line": ("input(); print('x' * (1 << 20), flush=True); input()", "malformed", "bytes"),
    "endless": ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "malformed", "bytes"),
    "loud": ("import sys\nfor i in range(20000): print('warning ' * 9, file=sys.stderr)\n"
             "input(); print('{\"id\": 1, \"value\": 2}', flush=True); input()", "value", "2"),
    "silent": ("import time; time.sleep(60)", "hung", "no answer"),
    "refuses": ("input(); print('{\"id\": 1, \"refused\": \"no\"}', flush=True); input()",
                "refused", "no"),
    "fails": ("input(); print('{\"id\": 1, \"error\": \"oops\"}', flush=True); input()",
              "crashed", "oops"),
    "NaN": ("input(); print('{\"id\": 1, \"value\": NaN}', flush=True); input()",
            "malformed", "NaN"),
    "many digits": ("input(); print('{\"id\": 1, \"value\": \"0.12345678901234567890123\"}', "
                    "flush=True); input()", "value", "0.12345678901234567890123"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_a_program_does_is_an_answer(name: str, tmp_path: Path) -> None:
    code, kind, words = PROGRAMS[name]
    script = tmp_path / "subject.py"
    script.write_text(code)
    tested = program_subject(f"{sys.executable} {script}", "one_update", 512, 0.5)
    tested.start_limit = 1.0
    try:
        answer = tested.ask(Question({"n": ["int", "1"]}, None), TERMS)
    finally:
        tested.close()
    assert (answer.kind, words in answer.text) == (kind, True), answer


def test_a_program_that_is_none_is_one_sentence() -> None:
    with pytest.raises(InvalidInput, match="no program"):
        program_subject("no-such-program-here --fast", "one_update")
    with pytest.raises(InvalidInput, match="cannot be read"):
        program_subject("'unbalanced", "one_update")


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, None, [], {}, "", "one", "0x1", "1/0"])
def test_what_is_no_number_is_malformed(value: object) -> None:
    assert read_value(value).kind == "malformed"


def test_numbers_are_read_exactly() -> None:
    assert (
        read_value("1/3").value == Decimal(1) / Decimal(3)
        or str(read_value("1/3").value)[:8] == "0.333333"
    )
    assert read_value(0.1).value == Decimal("0.1")
    assert read_value("1e5000").value == Decimal("1e5000")
    assert read_value(10**400).value == Decimal(10) ** 400
    assert read_value(float("inf")).value == Decimal("Infinity")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
                    lambda x: st.lists(x, max_size=3) | st.dictionaries(
                        st.sampled_from(["id", "value", "refused", "error", "odd", "x"]), x,
                        max_size=3)))  # fmt: skip
def test_no_reply_breaks_the_reader(reply: object) -> None:
    answer = read_reply(json.loads(json.dumps(reply)), 1)
    assert answer.kind in ("value", "refused", "crashed", "malformed")
    assert (answer.value is not None) == (answer.kind == "value")


def test_numbers_of_libraries_are_encoded() -> None:
    import mpmath
    import numpy as np

    assert worker.encode(np.float64(0.5)) == {"value": "0.5"}
    assert worker.encode(np.array(0.5)) == {"value": "0.5"}
    assert worker.encode(mpmath.mpf("0.5")) == {"value": "1/2"}
    assert worker.encode(Fraction(1, 3)) == {"value": "1/3"}
    assert "odd" in worker.encode(np.array([0.5]))
    assert "odd" in worker.encode(1j)
    assert "odd" in worker.encode(True)


# --- names and conventions -----------------------------------------------------------------------


def parameters(*names: str) -> list[list[object]]:
    return [[name, "POSITIONAL_OR_KEYWORD", True] for name in names]


OURS = ("n", "b", "epochs", "eta", "lambda", "beta", "sensitivity", "sigma2", "alpha")
MATTERS = ("n", "b", "epochs", "eta", "lambda", "sensitivity", "sigma2", "alpha")


def terms(names: tuple[str, ...], mapping: dict[str, str], fixed: dict[str, str] | None = None,
          numbers: str = "float") -> Terms:  # fmt: skip
    return settle(parameters(*names), mapping, fixed or {}, OURS, MATTERS, "thm-4.2", "f", numbers)


def test_names_are_ours_unless_mapped() -> None:
    made = terms(("n", "b", "K", "lr", "lambda_", "beta", "sensitivity", "sigma2", "alpha"),
                 {"K": "epochs", "lr": "eta"})  # fmt: skip
    asked = made.ask(GIVEN)
    assert asked.arguments["K"] == ["int", "50"]
    assert asked.arguments["lr"] == ["float", "0.02"]
    assert asked.arguments["lambda_"] == ["float", "1.0"]
    assert asked.received is not None
    assert asked.received.eta == Fraction(0.02)
    assert asked.received.eta != Fraction(1, 50)


def test_conventions_are_translated() -> None:
    made = terms(
        ("steps", "q", "n", "lr", "reg", "C", "M", "order", "z"),
        {"steps": "updates", "q": "sampling-rate", "lr": "eta", "reg": "lambda", "C": "clip_norm",
         "M": "noise-multiplier", "order": "alpha", "z": "noise-to-sensitivity"},
        {"b": "2"}, "fraction",
    )  # fmt: skip
    asked = {name: told_value(item) for name, item in made.ask(GIVEN).arguments.items()}
    assert (asked["steps"], asked["q"], asked["C"]) == (1250, Fraction(1, 25), 2)
    assert asked["z"] == asked["M"] / 2
    setting = Setting.of(**{k: v for k, v in GIVEN.items() if k != "sigma2"})
    back = setting.with_noise_multiplier(asked["M"]).sigma2
    assert back is not None
    assert abs(back - 4) < Fraction(1, 10**50)


@pytest.mark.parametrize("name", [n for n, d in DERIVED.items() if d.back is not None])
@pytest.mark.parametrize("sigma2", ["4", "0.3", "1e-20", "1e20"])
def test_a_derived_quantity_leads_back(name: str, sigma2: str) -> None:
    what = DERIVED[name]
    setting = Setting.of(**{**GIVEN, "sigma2": sigma2})
    value = Fraction(what.value(setting))
    value = root(value) if what.root else value
    assert what.back is not None
    back = what.back(setting, value)
    for key in ("sigma2", "sensitivity"):
        assert abs(getattr(back, key) / getattr(setting, key) - 1) < Fraction(1, 10**40)


@given(st.fractions(min_value=0, max_value=10**30))
def test_roots_are_near(value: Fraction) -> None:
    found = root(value)
    assert abs(found**2 - value) <= value / 10**50
    assert root(value**2) == value


@pytest.mark.parametrize(
    ("names", "mapping", "fixed", "words"),
    [
        (("n", "b", "K"), {}, {}, "requires 'K'.*--map K=epochs"),
        (("n", "b"), {"m": "eta"}, {}, "no parameter 'm'"),
        (("n", "b"), {"n": "size"}, {}, "none of our names"),
        (("n", "b"), {"n": "lamda"}, {}, "did you mean lambda"),
        (("n", "b", "eta"), {}, {}, "told nothing of epochs"),
        (("n", "b"), {}, {"color": "red"}, "none of ours"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    names: tuple[str, ...], mapping: dict[str, str], fixed: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        terms(names, mapping, fixed)


def test_pairs_are_read() -> None:
    assert pairs(["a=b", " c = d "], "--map") == {"a": "b", "c": "d"}
    for wrong in (["a"], ["=b"], ["a="], ["a=b", "a=c"]):
        with pytest.raises(InvalidInput):
            pairs(wrong, "--map")


def test_what_doubles_do_not_hold_is_not_asked() -> None:
    made = terms(OURS, {})
    for text in ("1e400", "1e-400"):
        with pytest.raises(CannotAsk):
            made.ask({**GIVEN, "sigma2": text})
    assert terms(OURS, {}, numbers="string").ask({**GIVEN, "sigma2": "1e400"}).arguments["sigma2"]


@pytest.mark.parametrize(
    ("name", "change", "asked"),
    [
        ("noise-to-sensitivity", {"sensitivity": "-4"}, False),
        ("noise-deviation", {"eta": "-0.02", "sigma2": "-4"}, False),
        ("noise-variance", {"sigma2": "-4"}, True),
        ("clip-norm", {"sensitivity": "-4"}, True),
        ("noise-multiplier", {}, True),
    ],
)
def test_what_would_hide_a_sign_is_not_asked(
    name: str, change: dict[str, str], asked: bool
) -> None:
    """The subject could not know that a number is out of range."""
    made = Terms({"x": name}, {})
    if asked:
        value = told_value(made.ask({**GIVEN, **change}).arguments["x"])
        assert (value < 0) == bool(change)
    else:
        with pytest.raises(CannotAsk, match="no value"):
            made.ask({**GIVEN, **change})


def test_what_a_bound_depends_on() -> None:
    """beta is checked by Theorem 4.2 and read by Balle et al."""
    found = {name: set(reads(bound)) for name, bound in registry().items()
             if name != "optimal_without_replacement"}  # fmt: skip
    assert "beta" not in found["shuffle_partition"]
    assert {"beta", "position"} <= found["balle_2019_one_epoch"]
    assert "position" not in found["shuffle_partition"]
    assert not {"n", "epochs"} & found["one_update"]
    assert {"lambda", "epochs", "sigma2"} <= found["lsi_strongly_convex"]
    assert "lambda" not in found["lsi_convex"]
