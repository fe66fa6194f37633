"""What commands share: the setting flags, exact reading, one-line errors, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

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


def emit(data: object) -> None:
    """Print JSON for programs."""
    click.echo(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))
