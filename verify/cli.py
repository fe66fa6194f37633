"""The command line. Every command is a thin door: parse, call, print."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

SETTING_FLAGS = (
    ("n", "size of the data set"),
    ("b", "size of a mini-batch"),
    ("epochs", "passes over the data (K)"),
    ("eta", "step size"),
    ("lambda", "strong convexity of the loss"),
    ("beta", "smoothness of the loss"),
    ("sensitivity", "l2-sensitivity of the total gradient (S_g)"),
    ("sigma2", "noise scale; an update adds variance 2 eta sigma^2"),
    ("alpha", "Renyi order"),
    ("position", "batch of the differing record, from 0 (default: the last)"),
    ("noise-multiplier", "in place of --sigma2: noise over clip norm S_g/2 (Algorithm 2)"),
)


def fail(message: str) -> NoReturn:
    """End with status 2 and one line on standard error."""
    click.echo(f"hiddenstate: {' '.join(message.split())}", err=True)
    raise SystemExit(2)


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The setting flags, the same for every command, and --setting FILE.toml."""
    command = click.option(
        "--setting", "setting_file", metavar="FILE.toml",
        help="a TOML file with the flags' names as keys; flags override it",
    )(command)  # fmt: skip
    for name, text in reversed(SETTING_FLAGS):
        key = name.replace("-", "_")
        command = click.option(f"--{name}", f"s_{key}", metavar="X", help=text)(command)
    return command


def read_setting(values: dict[str, Any]) -> Any:
    """Pop the setting's values out of a command's arguments and read them exactly."""
    import tomllib
    from decimal import Decimal

    from bounds.setting import InvalidInput, Setting

    given: dict[str, Any] = {}
    path = values.pop("setting_file")
    if path is not None:
        try:
            given = tomllib.loads(Path(path).read_text("utf-8"), parse_float=Decimal)
        except OSError as error:
            fail(f"{path} cannot be read: {error.strerror}")
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            fail(f"{path} is not TOML: {error}")
        given = {key.replace("-", "_"): value for key, value in given.items()}
    flags = {
        name.replace("-", "_"): values.pop(f"s_{name.replace('-', '_')}")
        for name, _ in SETTING_FLAGS
    }
    flags = {key: value for key, value in flags.items() if value is not None}
    if {"sigma2", "noise_multiplier"} & set(flags):
        # A noise given as a flag overrides the file's, however the file gives it.
        given = {k: v for k, v in given.items() if k not in ("sigma2", "noise_multiplier")}
    given.update(flags)
    try:
        return Setting.of(**given)
    except InvalidInput as error:
        fail(str(error))


def emit(data: object) -> None:
    """Print JSON for programs."""
    click.echo(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hiddenstate", prog_name="hiddenstate")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Check the claims of a paper on hidden-state differential privacy, and compute its bounds.

    Exit status: 0 done; 1 done, and something is not as expected; 2 the request was wrong; 3
    interrupted, with everything finished so far saved.
    """
    if ctx.invoked_subcommand is None:
        click.echo(
            "hiddenstate audits a privacy paper and computes its bounds.\n\n"
            "  hiddenstate audit                 check the paper's statements, write the verdicts\n"
            "  hiddenstate bounds                list the bounds there are\n"
            "  hiddenstate bound thm-4.2 ...     one bound at one setting, with its enclosure\n"
            "  hiddenstate compare ...           every bound at one setting\n"
            "  hiddenstate calibrate thm-4.2 ... the least noise for a target (epsilon, delta)\n"
            "  hiddenstate certify AUDIT.json    re-check an audit's certificates\n"
            "  hiddenstate diff OLD NEW          which verdicts changed between two audits\n"
            "  hiddenstate estimate ...          simulate, beside exact values and bounds\n\n"
            "`hiddenstate COMMAND --help` says more."
        )


@cli.command()
@click.argument("more", nargs=-1, metavar="")
@click.option("--only", multiple=True, metavar="ID ...", help="only these statements")
@click.option("--effort", type=click.Choice(["quick", "standard", "full"]), default="quick",
              show_default=True, help="how hard to look")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="parallel processes")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--out", type=click.Path(file_okay=False), default="audit-out", show_default=True,
              help="folder for audit.json and audit.md")  # fmt: skip
@click.option("--quiet", is_flag=True, help="no summary and no progress")
def audit(
    more: tuple[str, ...],
    only: tuple[str, ...],
    effort: str,
    jobs: int | None,
    seed: int,
    out: str,
    quiet: bool,
) -> None:
    """Check the paper's statements and write the verdicts with their evidence."""
    import os

    from reports import jsonfile, markdown, terminal
    from verify import run as runner
    from verify.registry import registry
    from verify.statement import Run

    known = registry()
    if more and not only:
        fail(f"{more[0]!r} is not an option; to check one statement, write --only {more[0]}")
    only = (*only, *more)
    for name in only:
        if name not in known.inventory:
            import difflib

            near = difflib.get_close_matches(name, known.inventory, 3)
            hint = f"; perhaps {', '.join(near)}" if near else ""
            fail(f"there is no statement {name!r} in the inventory of {len(known.inventory)}{hint}")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"{out} cannot be made a folder: {error.strerror}")
    with terminal.progress() as bar:
        task = bar.add_task("auditing", total=None, visible=not quiet)

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=f"auditing {name}")

        result = runner.audit(
            only, run=Run(effort, seed), jobs=jobs or os.cpu_count() or 1, progress=report
        )
    target = folder / "audit.json"
    jsonfile.write(result, target)
    jsonfile.write_text(folder / "audit.md", markdown.render(result))
    if not quiet:
        terminal.summary(result)
        if not result.complete:
            click.echo("Interrupted; what was finished is saved.")
        click.echo(
            f"{len(result.statements)} statements, {result.seconds:.0f} s. "
            f"Full result: {target} and {folder / 'audit.md'}"
        )
    if not result.complete:
        raise SystemExit(3)
    wrong = any(e.outcome == "error" for s in result.statements for e in s.evidence)
    raise SystemExit(1 if wrong else 0)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="for programs")
def bounds(as_json: bool) -> None:
    """List the bounds: name, statement, source, direction, assumptions."""
    from bounds.bound import registry

    made = [
        {
            "name": item.name,
            "statement": item.statement,
            "source": str(item.source),
            "direction": item.direction,
            "quantity": item.quantity,
            "standing": item.standing,
            "scheme": item.scheme,
            "assumptions": [{"label": a.label, "condition": a.condition} for a in item.assumptions],
            "needs": list(item.needs),
            "summary": item.summary,
        }
        for item in registry().values()
    ]
    if as_json:
        emit(made)
        return
    for item in registry().values():
        known = "" if item.statement == item.name else f"  ({item.statement})"
        standing = "" if item.standing == "theorem" else f", {item.standing}"
        click.secho(f"{item.name}{known}", bold=True)
        for line in (
            item.summary,
            f"{item.scheme}, {item.direction}{standing}; {item.source}",
            "assumes " + "; ".join(a.condition for a in item.assumptions),
        ):
            click.echo(textwrap.fill(line, 80, initial_indent="    ", subsequent_indent="    "))
    click.echo("`hiddenstate bound NAME --help` lists the setting flags; --json says all.")


@cli.command()
@click.argument("name")
@setting_options
@click.option("--json", "as_json", is_flag=True, help="for programs")
def bound(name: str, as_json: bool, **values: Any) -> None:
    """Evaluate one bound at one setting; NAME is a bound or a statement id (thm-4.2)."""
    from bounds.bound import find
    from bounds.setting import InvalidInput

    setting = read_setting(values)
    try:
        made = find(name)
        answer = made.answer(setting)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(answer.as_json())
    if not answer.applicable:
        fail(f"{made.name} does not apply: {answer.reason}")
    if not as_json:
        kind = "log-Sobolev constant" if made.quantity == "lsi-constant" else "epsilon"
        click.echo(f"{made.name}: {made.source}")
        shown = "beyond double precision" if answer.epsilon is None else f"{answer.epsilon:.17g}"
        click.echo(f"  {kind} = {shown}  ({made.direction}, rounded outward)")
        click.echo(f"  enclosed in [{answer.lower},")
        click.echo(f"               {answer.upper}]")
        for remark in answer.notes:
            click.echo(f"  note: {remark}")


def read_delta(text: str) -> Any:
    """An exact delta in (0, 1)."""
    from bounds.setting import InvalidInput, exact

    try:
        delta = exact(text, "--delta")
    except InvalidInput as error:
        fail(str(error))
    if not 0 < delta < 1:
        fail(f"--delta is {text}; a number between 0 and 1 is wanted")
    return delta


@cli.command()
@setting_options
@click.option("--delta", metavar="D", help="also convert each bound to epsilon at this delta")
@click.option("--json", "as_json", is_flag=True, help="for programs")
def compare(delta: str | None, as_json: bool, **values: Any) -> None:
    """Evaluate every bound at one setting; those that do not apply say why."""
    from bounds.setting import InvalidInput
    from verify import comparison

    setting = read_setting(values)
    try:
        made = comparison.compare(setting, None if delta is None else read_delta(delta))
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(made.as_json())
        return
    from reports import terminal

    columns: list[tuple[str, Literal["left", "right"]]] = [
        ("bound", "left"),
        ("epsilon", "right"),
        ("/best", "right"),
        ("/exact", "right"),
    ]
    if delta is not None:
        columns.append((f"at {delta}", "right"))
    columns.append(("needs", "left"))
    blank = [""] * (len(columns) - 1)
    lines: list[list[str]] = []
    styles: list[str] = []
    letters: dict[str, str] = {}
    applicable = [row for row in made.rows if row.answer.applicable]
    for scheme in dict.fromkeys(row.bound.scheme for row in applicable):
        chosen = [row for row in applicable if row.bound.scheme == scheme]
        chosen.sort(key=lambda row: float(row.answer.epsilon or 0))
        lines.append([scheme.upper(), *blank])
        lines += [_line(row, delta is not None, letters) for row in chosen]
        styles += ["bold", *[""] * len(chosen)]
    others = [row for row in made.rows if not row.answer.applicable]
    lines += [["NOT APPLICABLE", *blank]] * bool(others)
    lines += [[row.bound.name, *blank[:-1], "(below)"] for row in others]
    styles += ["bold"] * bool(others) + ["dim"] * len(others)
    terminal.table(columns, lines, styles=styles)
    legend = "; ".join(f"{letter}: {condition}" for condition, letter in letters.items())
    click.echo(textwrap.fill(f"assumes {legend}", 80, subsequent_indent="  "))
    for row in others:
        text = f"{row.bound.name}: {row.answer.reason}"
        click.echo(textwrap.fill(text, 80, subsequent_indent="  "))
    if made.exact is not None:
        truth = terminal.plain(made.exact.value)
        click.echo(f"exact, fixed order: {truth}. /exact: over the slowest quadratic, same scheme;")
        click.echo("/best: over the least proved bound there. (?) claimed only; (~) an estimate.")
    for warning in made.warnings:
        click.echo(textwrap.fill(f"note: {warning}", 80, subsequent_indent="      "))


def _line(row: Any, with_delta: bool, letters: dict[str, str]) -> list[str]:
    """One row; assumptions are letters, which `letters` explains and grows by."""
    from reports import terminal

    def ratio(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    mark = {"claim": " (?)", "estimate": " (~)"}.get(row.bound.standing, "")
    line = [
        row.bound.name + mark, terminal.plain(row.answer.epsilon), ratio(row.ratio_to_best),
        ratio(row.ratio_to_exact),
    ]  # fmt: skip
    if with_delta:
        line.append("" if row.converted is None else terminal.plain(row.converted.epsilon))
    for condition in row.assumes:
        letters.setdefault(condition, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)])
    return [*line, " ".join(letters[condition] for condition in row.assumes)]


@cli.command()
@click.argument("name")
@setting_options
@click.option("--target-epsilon", required=True, metavar="E", help="epsilon not to exceed")
@click.option("--delta", required=True, metavar="D", help="delta of (epsilon, delta)-DP")
@click.option("--rule", default="canonne_kamath_steinke_2020", show_default=True,
              type=click.Choice(["classical", "canonne_kamath_steinke_2020"]),
              help="how Renyi DP is converted")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="for programs")
def calibrate(
    name: str, target_epsilon: str, delta: str, rule: str, as_json: bool, **values: Any
) -> None:
    """Find the least noise with which a bound gives (E, D)-differential privacy."""
    from bounds.bound import find
    from bounds.conversion import calibrate as solve
    from bounds.setting import InvalidInput, show

    setting = read_setting(values)
    try:
        found = solve(find(name), setting, target_epsilon, read_delta(delta), rule)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(found.as_json())
        return
    click.echo(f"{found.conversion.bound}: sigma^2 = {show(found.sigma2)}")
    click.echo(f"  noise multiplier  {found.noise_multiplier_upper[:12]}")
    click.echo(
        f"  epsilon           {found.conversion.epsilon:.12g} <= {target_epsilon} at delta {delta}"
    )
    click.echo(f"  order             {show(found.conversion.order)}")
    text = f"  {found.certificate}"
    click.echo(textwrap.fill(text, 80, subsequent_indent="  "))


SCHEMES = ("fixed-order", "shuffle-once", "reshuffle", "without-replacement", "poisson")


@cli.command()
@setting_options
@click.option("--scheme", required=True, type=click.Choice(SCHEMES), help="how batches are drawn")
@click.option("--paths", type=click.IntRange(100), default=200_000, show_default=True,
              help="runs simulated on each of the two data sets")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="parallel workers")
@click.option("--figure", metavar="FILE.svg",
              help="also draw the divergence against epochs, with bands")  # fmt: skip
@click.option("--quiet", is_flag=True, help="no progress")
@click.option("--json", "as_json", is_flag=True, help="for programs")
def estimate(
    scheme: str,
    paths: int,
    seed: int,
    jobs: int | None,
    figure: str | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Simulate noisy SGD on a 1-D quadratic and estimate the Renyi divergence of its last iterate.

    The table sets each estimator's interval beside the exact value and every bound that applies.
    """
    import os

    from bounds.setting import InvalidInput
    from empirical.experiments import estimate as run
    from reports import terminal
    from verify import comparison

    setting = read_setting(values)
    workers = jobs or os.cpu_count() or 1
    drawn = ""
    try:
        with terminal.progress() as bar:
            task = bar.add_task("simulating", total=paths, visible=not quiet)
            found = run(
                setting, scheme, paths, seed, workers=workers,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
            if figure is not None and not found.interrupted:
                drawn = _draw_epochs(setting, found, workers, Path(figure), bar)
        rows = comparison.about(setting, found.scheme.title)
    except InvalidInput as error:
        fail(str(error))
    if as_json:
        emit(found.as_json([comparison.row_json(row) for row in rows]))
    else:
        _show_estimate(found, rows)
        if drawn:
            click.echo(drawn)
    raise SystemExit(3 if found.interrupted else 0)


MOST_POINTS = 10


def _draw_epochs(setting: Any, found: Any, workers: int, path: Path, bar: Any) -> str:
    """Estimate at up to ten numbers of epochs and draw them; says where the figure is.

    found: the estimate at the last of them, which is not simulated again.
    """
    from bounds.setting import InvalidInput
    from empirical.experiments import estimate as run
    from reports import figures
    from verify import comparison

    last = setting.epochs
    ratio = last ** (1 / (MOST_POINTS - 1))
    grid = sorted({*(round(ratio**i) for i in range(MOST_POINTS)), last})
    if last <= MOST_POINTS:
        grid = list(range(1, last + 1))
    task = bar.add_task("epochs", total=len(grid))
    results, rows = [], []
    for epochs in grid:
        there = setting.replace(epochs=epochs)
        results.append(
            found if epochs == last
            else run(there, found.scheme, found.paths, found.seed, workers=workers)
        )  # fmt: skip
        about = comparison.about(there, results[-1].scheme.title)
        rows.append({row.bound.name: row for row in about})
        bar.advance(task)
    lines = [figures.Line("exact", tuple(
        None if result.exact is None else result.exact.value for result in results
    ))]  # fmt: skip
    lines += [
        figures.Line(name, tuple(
            row[name].answer.epsilon if name in row else None for row in rows
        ))
        for name in rows[-1]
    ]  # fmt: skip
    kept = ("tilted-mixture", "gaussian-moments", "events")
    bands = []
    for name in kept:
        found = [next(e for e in result.estimates if e.estimator == name) for result in results]
        if any(item.lower is not None for item in found):
            bands.append(figures.Band(
                name, tuple(item.lower for item in found), tuple(item.upper for item in found)
            ))  # fmt: skip
    title = f"{results[-1].scheme.title}, order {setting.as_strings()['alpha']}"
    made = figures.Figure(
        title, "epochs", "Renyi divergence", tuple(grid), tuple(lines), tuple(bands)
    )
    try:
        figures.save(made, path)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the figure cannot be written: {error}") from None
    return f"Figure: {path}"


def _show_estimate(found: Any, rows: Any) -> None:
    from reports import terminal

    def number(value: float | None) -> str:
        return "" if value is None else terminal.plain(value)

    columns: list[tuple[str, Literal["left", "right"]]] = [
        ("estimator", "left"), ("value", "right"), ("lower", "right"), ("upper", "right"),
        ("void if", "left"),
    ]  # fmt: skip
    lines = [
        [item.estimator, number(item.value), number(item.lower), number(item.upper),
         f"undecided: {item.undecided}" if item.undecided else item.void]
        for item in found.estimates
    ]  # fmt: skip
    if found.exact is not None:
        ends = (float(found.exact.lower), float(found.exact.upper))
        lines.append(["EXACT", number(found.exact.value), *map(number, ends), found.exact.method])
    lines += [[row.bound.name, number(row.answer.epsilon), "", "", "bound"] for row in rows]
    terminal.table(columns, lines)
    level = found.estimates[0].confidence if found.estimates else ""
    click.echo(textwrap.fill(f"{found.scheme.title}: {found.problem}", 80, subsequent_indent="  "))
    click.echo(f"{found.paths} paths a side, seed {found.seed}, each interval at {level}.")
    if found.unknown and found.exact is None:
        click.echo(textwrap.fill(f"no exact value: {found.unknown}", 80, subsequent_indent="  "))
    if found.interrupted:
        click.echo("Interrupted; the finished paths are used.")


@cli.command()
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="for programs")
def diff(old: str, new: str, as_json: bool) -> None:
    """Show which verdicts changed between two audits; status 1 when any did."""
    from reports import jsonfile

    try:
        audits = [jsonfile.read(Path(name)) for name in (old, new)]
    except jsonfile.NotAnAudit as error:
        fail(str(error))
    before, after = ({s.id: s for s in audit.statements} for audit in audits)
    changed = []
    for name in sorted({*before, *after}):
        pair = [
            None if name not in side else (side[name].verdict, side[name].severity)
            for side in (before, after)
        ]
        if pair[0] != pair[1]:
            changed.append({"id": name, "old": _worded(pair[0]), "new": _worded(pair[1])})
    if as_json:
        emit(changed)
    else:
        for item in changed:
            click.echo(f"{item['id']}: {item['old']} -> {item['new']}")
        click.echo(f"{len(changed)} verdicts changed between {old} and {new}")
    raise SystemExit(1 if changed else 0)


@cli.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="for programs")
def certify(file: str, as_json: bool) -> None:
    """Re-check the certificates of an audit with code that the audit does not use."""
    from verify.certificates import checker

    try:
        report = checker.certify(Path(file))
    except checker.Malformed as error:
        fail(str(error))
    if as_json:
        emit({
            "passed": dict(report.passed), "not_rechecked": dict(report.left),
            "failed": report.failed, "alone": report.alone, "statements": report.statements,
        })  # fmt: skip
    else:
        for kind, number in sorted(report.passed.items()):
            click.echo(f"{number:5} {kind} certificates re-checked")
        for kind, number in sorted(report.left.items()):
            click.echo(f"{number:5} {kind} certificates say what was done, and are not re-checked")
        for line in report.failed:
            click.echo(f"FAILED {line}")
        click.echo(
            f"{report.alone} of {report.statements} proved, certified or refuted statements have "
            "a certificate\nre-checked here; the others rest on the prover alone. "
            f"{len(report.failed)} certificates failed."
        )
    raise SystemExit(1 if report.failed else 0)


def _worded(found: tuple[str, str | None] | None) -> str:
    if found is None:
        return "absent"
    return found[0] if found[1] is None else f"{found[0]} ({found[1]})"


def main() -> None:
    """Run the command line; a wrong request is one line and status 2, never a traceback."""
    try:
        cli.main(prog_name="hiddenstate", standalone_mode=False)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "hiddenstate"
        fail(f"{error.format_message()} (`{where} --help` lists what there is)")
    except click.ClickException as error:
        fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("hiddenstate: interrupted", err=True)
        sys.exit(3)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
