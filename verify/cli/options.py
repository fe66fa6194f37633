"""What commands share: the setting flags, exact reading, one-line errors, JSON."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import click

from verify.choices import DEFAULT_RULE, RULES, SCHEMES

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
# What `conversion_options` adds; a file has the same keys.
CONVERSION_FLAGS = ("delta", "rule", "orders", "scheme")


def fail(message: str) -> NoReturn:
    """End with status 2 and one line on standard error."""
    click.echo(f"hiddenstate: {' '.join(message.split())}", err=True)
    raise SystemExit(2)


# Where the result is printed and nowhere else.
BY_JSON = "the same with --json"


def fold(text: str, first: str = "", rest: str = "  ", *, whole: bool = True) -> None:
    """Print a text in 80 columns; whole: no word is broken, so that it can be copied."""
    click.echo(textwrap.fill(
        text, 80, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False,
        break_long_words=not whole,
    ))  # fmt: skip


def closing(full: str, *words: str) -> None:
    """The last lines: where the full result lies, and the command to run next, to be copied.

    A command beyond 80 columns goes on after a backslash; a word is never broken.
    """
    fold(f"Full result: {full}")
    parts: list[str] = []
    for word in map(shlex.quote, words):
        if not parts or word.startswith("--"):
            parts.append(word)
        else:
            parts[-1] += f" {word}"
    lines = ["next:"]
    for part in parts:
        if len(lines[-1]) + len(part) + 3 > 80 and part is not parts[0]:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {part}"
    click.echo("\n".join(lines))


def given(*more: str, but: Iterable[str] = ()) -> list[str]:
    """The flags of this call's setting, to be given again; `more` names further ones to keep."""
    values = click.get_current_context().params
    words = ["--setting", values["setting_file"]] if values["setting_file"] else []
    for name in (*(name for name, _ in SETTING_FLAGS), *more):
        key = name.replace("-", "_")
        value = values.get(key) if name in more else values[f"s_{key}"]
        if value is not None and name not in but:
            words += [f"--{name}", value]
    return words


def output_options(quiet: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--json and --quiet; `quiet` says what is left."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option("--quiet", is_flag=True, help=quiet),
            click.option("--json", "as_json", is_flag=True, help="for programs"),
        ):
            command = option(command)
        return command

    return add


def setting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The setting flags, the same for every command, and --setting FILE.toml."""
    command = click.option(
        "--setting", "setting_file", metavar="FILE.toml",
        help="a training configuration with the flags' names as keys; flags override it",
    )(command)  # fmt: skip
    for name, text in reversed(SETTING_FLAGS):
        key = name.replace("-", "_")
        command = click.option(f"--{name}", f"s_{key}", metavar="X", help=text)(command)
    return command


def conversion_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How Renyi DP is converted, and how the run draws its batches."""
    for option in (
        click.option("--delta", metavar="D", help="delta of (epsilon, delta)-DP"),
        click.option(
            "--rule", type=click.Choice(RULES),
            help=f"how Renyi DP is converted  [default: {DEFAULT_RULE}]",
        ),
        click.option(
            "--orders", metavar="TEXT",
            help='keep to these orders, such as "1.1..10.9 step 0.1, 12..63"',
        ),
        click.option("--scheme", type=click.Choice(SCHEMES), help="how the run draws its batches"),
    )[::-1]:  # fmt: skip
        command = option(command)
    return command


def read_run(values: dict[str, Any]) -> Any:
    """Pop what belongs to a run out of a command's arguments, and read it exactly.

    Flags override the file. See `verify.practice.Run`.
    """
    from bounds.setting import InvalidInput
    from verify import practice

    path = values.pop("setting_file")
    flags = {name: values.pop(f"s_{name.replace('-', '_')}") for name, _ in SETTING_FLAGS}
    flags |= {name: values.pop(name, None) for name in (*CONVERSION_FLAGS, "target_epsilon")}
    flags = {name: value for name, value in flags.items() if value is not None}
    try:
        return practice.read({} if path is None else practice.load(path), flags, path or "")
    except InvalidInput as error:
        fail(str(error))


def read_setting(values: dict[str, Any]) -> Any:
    """Pop the setting's values out of a command's arguments and read them exactly.

    A file may hold more; what says how Renyi DP is converted does not concern the commands that
    read a setting alone.
    """
    run = read_run(values)
    if run.extra is not None:
        click.echo("hiddenstate: [normalisation] is not added by this command", err=True)
    return run.setting


def brief(number: Any) -> str:
    """A small number as people write it: 1e-5."""
    from bounds.setting import show

    if number.numerator == 1 and str(number.denominator) == "1" + "0" * (
        power := len(str(number.denominator)) - 1
    ):
        return f"1e-{power}"
    text = show(number)
    return text if len(text) <= 12 else f"{float(number):.6g}"


def emit(data: object) -> None:
    """Print JSON for programs."""
    click.echo(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))


def complete_bound(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names and statement ids of bounds, for the shell's completion."""
    from bounds.bound import registry

    names = {name for item in registry().values() for name in (item.name, item.statement)}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_statement(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the inventory, for the shell's completion."""
    from verify.registry import inventory

    return sorted(name for name in inventory() if name.startswith(incomplete))
