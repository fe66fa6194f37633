"""The command line. Every command is a thin door: parse, call, print.

Commands are the modules of `verify.cli.commands`, found by their file names and imported when they
are asked for; what is heavy is imported inside them, so that help is quick.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from typing import Any

import click

from verify.cli import commands
from verify.cli.options import fail


class Commands(click.Group):
    """A group whose commands are the modules of a package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the modules, in alphabetical order."""
        return sorted(
            module.name.replace("_", "-") for module in pkgutil.iter_modules(commands.__path__)
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        made: click.Command = module_of(cmd_name).command
        return made


def module_of(name: str) -> Any:
    """The module of a command: `command`, and `ABOUT`, what it is about."""
    return importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")


@click.group(
    cls=Commands, invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(package_name="hiddenstate", prog_name="hiddenstate")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Check the claims of a paper on hidden-state differential privacy, and compute its bounds.

    Exit status: 0 done; 1 done, and something is not as expected; 2 the request was wrong; 3
    interrupted, with everything finished so far saved.
    """
    if ctx.invoked_subcommand is not None:
        return
    groups: dict[str, list[str]] = {}
    for name in cli.list_commands(ctx):
        groups.setdefault(module_of(name).ABOUT, []).append(name)
    click.echo("hiddenstate audits a privacy paper, computes its bounds, and tests your code.\n")
    for about, names in sorted(groups.items()):
        click.echo(f"  {about + ':':17} {', '.join(names)}")
    click.echo("\nBegin with `hiddenstate audit`: every statement of the paper gets a verdict;")
    click.echo("or with `hiddenstate compare --help`: every bound at your setting.")
    click.echo("`hiddenstate --help` says what each does, `hiddenstate COMMAND --help` how.")


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
    except Exception as error:
        # A user is owed a sentence even where nobody thought of what he asks.
        if os.environ.get("HIDDENSTATE_TRACEBACK"):
            raise
        fail(
            f"this could not be done, for a reason that is not foreseen "
            f"({type(error).__name__}: {error}); with HIDDENSTATE_TRACEBACK=1 in the environment "
            "it says where"
        )
