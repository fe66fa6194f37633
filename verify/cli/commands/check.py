"""`hiddenstate check`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from verify.cli.options import BY_JSON, closing, complete_bound, emit, fail, fold

ABOUT = "your code"


@click.command("check", short_help="test someone's implementation of a bound")
@click.argument("subject", required=False)
@click.option("--bound", "bound_name", metavar="NAME", shell_complete=complete_bound,
              help="a bound, a statement id, conversion, conversion_of_bound or calibration; "
              "by default what the function's name is close to")  # fmt: skip
@click.option("--map", "mapping", multiple=True, metavar="THEIRS=OURS",
              help="their parameter receives our flag (--map lr=eta), or updates, "
              "noise-multiplier, noise-to-sensitivity, clip-norm, sigma, noise-variance, "
              "noise-deviation, batches, sampling-rate")  # fmt: skip
@click.option("--convention", multiple=True, metavar="OURS=VALUE",
              help="what they take for granted and have no parameter for "
              "(rule=classical)")  # fmt: skip
@click.option("--command", "program", metavar="'PROGRAM ARGS'",
              help="a program that speaks JSON lines, in place of SUBJECT "
              "(verify/conformance/PROTOCOL.md)")  # fmt: skip
@click.option("--numbers", type=click.Choice(["float", "fraction", "decimal", "string"]),
              default="float", show_default=True,
              help="what real numbers are handed over as; float is the nearest double")  # fmt: skip
@click.option("--tolerance", metavar="T", help="relative difference allowed  [default: 1e-9]")
@click.option("--effort", type=click.Choice(["quick", "standard", "full"]), default="quick",
              show_default=True, help="how many settings are drawn for each property")  # fmt: skip
@click.option("--seed", type=int, metavar="S", help="draw other settings than the usual ones")
@click.option("--vector", "only", multiple=True, metavar="ID", help="ask this vector only")
@click.option("--memory", type=click.IntRange(16), default=1024, show_default=True,
              metavar="MIB", help="memory that the subject may allocate")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(0.01, 86400), default=5.0, show_default=True,
              metavar="S", help="seconds for one answer")  # fmt: skip
@click.option("--python", metavar="PROGRAM", help="the interpreter for SUBJECT, if not this one")
@click.option("--json", "as_json", is_flag=True, help="for programs")
@click.option("--quiet", is_flag=True, help="the verdict alone")
def command(
    subject: str | None,
    bound_name: str | None,
    program: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Test an implementation of a bound against golden vectors and properties.

    SUBJECT is module:function or path/to/file.py:function. It runs in a process of its own, is
    called with our flags' names as keywords (lambda_ for lambda), and returns a number; on input
    outside the assumptions it must raise. Exit status: 0 right; 1 not; 2 the request was wrong.
    """
    from bounds.setting import InvalidInput
    from reports import terminal
    from verify.conformance import judge

    if (subject is None) == (program is None):
        fail("give SUBJECT, as module:function or path/to/file.py:function, or --command, not both")
    try:
        bound = judge.infer(subject or "") if bound_name is None and subject else bound_name
        if bound is None:
            raise InvalidInput(
                "--command needs --bound NAME, one of: " + ", ".join(judge.known_bounds())
            )
        cases = _chosen(judge.cases_of(bound), options.pop("only"), bound)
        bound = cases[0].bound or bound
        tolerance = _tolerance(options.pop("tolerance"))
        tested = _subject(subject, program, bound, options)
    except InvalidInput as error:
        fail(str(error))
    seen = [0, 0]
    try:
        terms = _terms(tested, bound, cases, options)
        with terminal.progress() as bar:
            report = judge.run(
                tested, bound, terms, cases, tolerance=tolerance, effort=options["effort"],
                seed=options["seed"], with_properties=len(cases) > 1,
                heard=_progress(seen, bar, quiet or as_json),
            )  # fmt: skip
    except InvalidInput as error:
        fail(str(error))
    except KeyboardInterrupt:
        click.echo(
            f"hiddenstate: interrupted after {seen[0]} of {seen[1]} vectors; no verdict", err=True
        )
        sys.exit(3)
    finally:
        tested.close()
    if as_json:
        emit(report.as_json())
    elif quiet:
        click.echo(report.verdict)
    else:
        _print(report, subject, program)
    sys.exit(0 if report.passes else 1)


def _chosen(cases: list[Any], only: tuple[str, ...], bound: str) -> list[Any]:
    from bounds.setting import InvalidInput

    known = {case.id for case in cases}
    for name in only:
        if name not in known:
            raise InvalidInput(f"--vector {name}: {bound} has no vector of that id")
    return [case for case in cases if not only or case.id in only]


def _tolerance(text: str | None) -> Any:
    from decimal import Decimal

    from bounds.setting import InvalidInput, exact

    if text is None:
        return None
    value = exact(text, "--tolerance")
    if not 0 < value < 1:
        raise InvalidInput(f"--tolerance is {text}; a number between 0 and 1 is wanted")
    return Decimal(value.numerator) / Decimal(value.denominator)


def _subject(subject: str | None, program: str | None, bound: str, options: dict[str, Any]) -> Any:
    from verify.conformance.subjects import program_subject, python_subject

    memory, seconds = options.pop("memory"), options.pop("time_limit")
    python = options.pop("python")
    if program is not None:
        return program_subject(program, bound, memory, seconds)
    assert subject is not None
    return python_subject(subject, memory, seconds, python)


def _terms(tested: Any, bound: str, cases: list[Any], options: dict[str, Any]) -> Any:
    from verify.conformance import judge
    from verify.conformance.translate import pairs

    who = tested.name.rpartition(":")[2] if tested.python else tested.name
    return judge.terms_for(
        tested.parameters, bound, cases, pairs(options["mapping"], "--map"),
        pairs(options["convention"], "--convention"), options["numbers"], who,
    )  # fmt: skip


def _progress(seen: list[int], bar: Any, silent: bool) -> Any:
    """Says how far it is, one bar for each kind of question."""
    tasks: dict[str, Any] = {}

    def heard(what: str, done: int, many: int) -> None:
        if what == "vectors":
            seen[:] = [done, many]
        if not silent and what not in tasks:
            tasks[what] = bar.add_task(what, total=many)
        if not silent:
            bar.update(tasks[what], completed=done, total=many)

    return heard


def _named(given: Any) -> str:
    """An input in a line."""
    return " ".join(f"{name}={value}" for name, value in given.items())


def _fold(text: str, first: str = "  ", rest: str = "    ") -> None:
    """A line of the page; what a subject answers may be one long word."""
    fold(text, first, rest, whole=False)


def _print(report: Any, subject: str | None, program: str | None) -> None:
    """The report for people, in 80 columns; its last line says what to run next."""
    _fold(f"{report.subject} as {report.bound}: {report.verdict}", "", "  ")
    _fold(f"{report.says()}.")
    asked = report.vectors_passed + report.vectors_failed
    _fold(f"vectors     {report.vectors_passed} of {asked} passed")
    if report.properties:
        broken = [item for item in report.properties if item.broken is not None]
        _fold(
            f"properties  {len(report.properties) - len(broken)} of {len(report.properties)} hold"
        )
        for item in broken:
            _fold(f"broken: {item.says}", "              ", "                ")
    if len(report.failures) > 1:
        parts = [f"{name} {count}" for name, count in report.failures.items()]
        _fold("failures    " + ", ".join(parts), rest="              ")
    small = report.smallest
    if small is not None:
        _fold(f"smallest    {_named(small.case.input)}", rest="              ")
        _fold(f"  got       {small.answer}", rest="              ")
        _fold(f"  expected  {small.case.expected}", rest="              ")
    if report.diagnosis is not None:
        _fold(f"diagnosis   {report.diagnosis.mistake}", rest="              ")
        _fold(report.diagnosis.says, "              ", "              ")
        if report.diagnosis.at:
            single = report.diagnosis.vector or _named(report.diagnosis.at)
            _fold(f"singled out by {single}", "              ", "              ")
        elif report.diagnosis.vector:
            _fold(f"seen at {report.diagnosis.vector}", "              ", "              ")
        if report.diagnosis.also:
            also = ", ".join(report.diagnosis.also)
            _fold(f"the same here: {also}", "              ", "              ")
    elif not report.passes and report.verdict in ("not-an-upper-bound", "too-large"):
        _fold("diagnosis   none of the known mistakes predicts all its numbers",
              rest="              ")  # fmt: skip
    for note in report.notes:
        _fold(f"note: {note}", rest="        ")
    closing(BY_JSON, *_next(report, subject, program))


def _next(report: Any, subject: str | None, program: str | None) -> list[str]:
    """The words of what to run next."""
    small = report.smallest
    again = ["hiddenstate", "check", *(["--command", program] if program else [subject or ""])]
    again += ["--bound", report.bound, *_again_flags()]
    if small is None:
        return [*again, "--effort", "full"]
    if small.case.golden:
        return [*again, "--vector", small.case.id]
    if report.bound == "conversion":
        given = small.case.input
        orders = json.dumps(given["orders"].split(",") if given["orders"] else [])
        values = f'[{given["epsilons"]}], {orders}, "{given["delta"]}", "{given["rule"]}"'
        code = f"from bounds.conversion import *; print(min(convert_many({values})))"
        return ["python", "-c", code]
    given = dict(small.case.input)
    name = given.pop("bound", report.bound)
    by_kind = {"calibration": ["calibrate", name], "conversion_of_bound": ["compare"]}
    words = ["hiddenstate", *by_kind.get(report.bound, ["bound", name])]
    for key, text in given.items():
        words += [f"--{key.replace('_', '-')}", text]
    return words


def _again_flags() -> list[str]:
    """The flags of this run that say how the subject is asked, to be given again."""
    values = click.get_current_context().params
    words = [part for item in values["mapping"] for part in ("--map", item)]
    words += [part for item in values["convention"] for part in ("--convention", item)]
    words += ["--numbers", values["numbers"]] if values["numbers"] != "float" else []
    return words + (["--python", values["python"]] if values["python"] else [])
