"""The process that a Python subject runs in: standard library only, so any interpreter will do.

    python worker.py call MEMORY TARGET        answer JSON lines by calling a Python function
    python worker.py exec MEMORY PROGRAM ARGS  run a program of one's own under the same limit

MEMORY is a limit in MiB, 0 for none. TARGET is `module:function` or `path/to/file.py:function`.
It is never imported by the toolkit's own modules: it is run by its path.

What the subject prints goes to standard error, since standard output carries the answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any


def limit(mebibytes: int) -> None:
    """Limit what this process may allocate, and write no core file."""
    try:
        import resource
    except ImportError:  # not a POSIX system: the time limit is what is left
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if mebibytes:
        # The data segment and not the address space, of which many runtimes reserve plenty.
        size = mebibytes << 20
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def load(target: str) -> Any:
    """The function that a target names."""
    where, _, name = target.rpartition(":")
    if where.endswith(".py"):
        folder = os.path.dirname(os.path.abspath(where))
        sys.path.insert(0, folder)
        title = os.path.splitext(os.path.basename(where))[0]
        spec = importlib.util.spec_from_file_location(title, where)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(title, module)
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(where)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{target} is not callable")
    return found


def parameters(function: Any) -> list[list[Any]]:
    """[name, kind, whether it is required] of each parameter."""
    return [
        [item.name, item.kind.name, item.default is inspect.Parameter.empty]
        for item in inspect.signature(function).parameters.values()
    ]


def decode(item: list[Any]) -> Any:
    """An argument from [how, text]; a list holds such pairs in place of the text."""
    how, text = item
    if how == "list":
        return [decode(part) for part in text]
    if how == "none":
        return None
    if how == "text":
        return text
    if how == "int":
        return int(text)
    if how == "float":
        return float(text)
    return Decimal(text) if how == "decimal" else Fraction(text)


def encode(value: Any) -> dict[str, Any]:
    """What the function returned, as exact text where it is a number."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # a NumPy scalar
    if value is None:
        return {"none": True}
    if isinstance(value, bool):
        return {"odd": f"the boolean {value}"}
    if isinstance(value, (int, Fraction, Decimal)):
        return {"value": _plain(value)}
    if isinstance(value, float):
        return {"value": repr(value)}
    if getattr(value, "man_exp", None) is not None:  # an mpmath number
        mantissa, exponent = value.man_exp
        return {"value": _plain(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))}
    if isinstance(value, (str, bytes)):
        return {"odd": f"the string {value[:60]!r}"}
    if hasattr(value, "__float__") and not isinstance(value, complex):
        try:
            return {"value": repr(float(value))}
        except (TypeError, ValueError):
            pass
    return {"odd": f"a {type(value).__name__}, {repr(value)[:60]}"}


def _plain(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 10000:
        return str(Decimal(value))
    return str(value)


def answer(function: Any, arguments: dict[str, Any], positional: list[str]) -> dict[str, Any]:
    """Call the function; whatever it does becomes a reply."""
    given = {name: decode(item) for name, item in arguments.items()}
    try:
        first = [given.pop(name) for name in positional]
        return encode(function(*first, **given))
    except MemoryError:
        return {"raised": "MemoryError", "kind": "crash", "says": "out of memory"}
    except (KeyboardInterrupt, SystemExit) as error:
        return {"raised": type(error).__name__, "kind": "crash", "says": str(error)[:200]}
    except BaseException as error:
        return {"raised": type(error).__name__, "kind": kind(error), "says": str(error)[:200]}


def kind(error: BaseException) -> str:
    """ "refusal" when the exception says that the input is not accepted, else "crash".

    A refusal is a ValueError, an AssertionError or an exception class of the subject's own, but
    not what the standard library raises by itself in the midst of a computation.
    """
    own = type(error).__module__ != "builtins" and not isinstance(error, ArithmeticError)
    wanted = isinstance(error, (ValueError, AssertionError, NotImplementedError)) or own
    text = str(error)
    inside = text in ("math domain error", "math range error") or text.startswith(
        ("expected a ", "cannot convert float", "could not convert string")
    )
    return "refusal" if wanted and not inside else "crash"


def serve(target: str) -> None:
    """Answer requests, one JSON object a line, until standard input ends."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def say(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()

    try:
        function = load(target)
        try:
            known = parameters(function)
        except (TypeError, ValueError):
            known = None
    except BaseException as error:
        say({"failed": f"{type(error).__name__}: {str(error)[:300]}"})
        return
    say({"ready": True, "parameters": known})
    for line in requests:
        request = json.loads(line)
        reply = answer(function, request["arguments"], request.get("positional", []))
        say({"id": request["id"], **reply})


def main() -> None:
    """See the module."""
    # The folder of this file must not lend its module names to the subject.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [item for item in sys.path if os.path.abspath(item or ".") != here]
    mode, memory, *rest = sys.argv[1:]
    limit(int(memory))
    if mode == "exec":
        try:
            os.execvp(rest[0], rest)
        except OSError as error:
            sys.stderr.write(f"{rest[0]} cannot be run: {error.strerror}\n")
            sys.exit(127)
    serve(rest[0])


if __name__ == "__main__":
    main()
