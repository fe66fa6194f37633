"""Subjects under test, each behind one method: ask a question, get an `Answer`, whatever happens.

A Python function runs in a fresh interpreter (`verify.conformance.worker`), a program by itself;
both in a process group of their own, with a limit on memory and on the time of each answer.
What they print, how they die and what they leave behind cannot reach us.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol

from bounds.setting import InvalidInput
from verify.conformance.translate import Question, Terms
from verify.conformance.worker import answer as call_here
from verify.conformance.worker import parameters as signature_of

WORKER = Path(__file__).with_name("worker.py")
MEMORY = 1024
"""MiB that a subject may allocate."""
TIME_LIMIT = 5.0
"""Seconds for one answer."""
START_LIMIT = 60.0
"""Seconds to start, in which a subject may import what it needs."""
LONGEST_LINE = 1 << 16
WIDE = Context(prec=60, Emax=10**17, Emin=-(10**17))

Kind = Literal["value", "refused", "crashed", "hung", "malformed"]


@dataclass(frozen=True)
class Answer:
    """What a subject did with one question.

    kind "value": `value` is its number (perhaps infinite, never NaN), `text` as it wrote it.
    Otherwise `text` says what happened; `raised` names the exception, if one was seen; fatal: the
    process had to be started again.
    """

    kind: Kind
    text: str
    value: Decimal | None = None
    raised: str = ""
    fatal: bool = False

    def __str__(self) -> str:
        return self.text if self.kind == "value" else f"{self.kind}: {self.text}"


class Subject(Protocol):
    """Something that answers questions."""

    name: str
    parameters: list[list[Any]] | None

    def ask(self, question: Question, terms: Terms) -> Answer:
        """The subject's answer; it never raises on account of the subject."""
        ...

    def close(self) -> None:
        """End whatever runs."""
        ...


def number(text: str) -> Decimal:
    """A number as a subject writes it: decimal, fraction or infinity.

    Raises:
        ValueError: it is none.
    """
    if "/" in text:
        value = Fraction(text)
        return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(text.strip())


def read_reply(reply: Any, ident: int | None) -> Answer:
    """The answer in a reply of the protocol (PROTOCOL.md) or of the worker."""
    if not isinstance(reply, dict):
        return Answer("malformed", f"a JSON object is wanted, not {json.dumps(reply)[:60]}")
    if ident is not None and reply.get("id") != ident:
        return Answer(
            "malformed", f"the reply to question {ident} has the id {json.dumps(reply.get('id'))}"
        )
    if "value" in reply:
        return read_value(reply["value"])
    if "odd" in reply:
        return Answer("malformed", f"returned {reply['odd']} where a number is wanted")
    if reply.get("none"):
        return Answer("refused", "returned None", raised="None")
    if "raised" in reply:
        name, says = str(reply["raised"]), str(reply.get("says", ""))
        kind: Kind = "refused" if reply.get("kind") == "refusal" else "crashed"
        return Answer(kind, f"{name}: {says}" if says else name, raised=name)
    if "refused" in reply:
        return Answer("refused", str(reply["refused"])[:200])
    if "error" in reply:
        return Answer("crashed", str(reply["error"])[:200])
    return Answer("malformed", f"no value, refused or error in {json.dumps(reply)[:60]}")


def read_value(value: Any) -> Answer:
    """The answer in a value: a number, or a string that holds one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Answer("malformed", f"the value is {json.dumps(value)[:60]}; a number is wanted")
    text = value if isinstance(value, str) else repr(value)
    try:
        made = number(text)
    except (ValueError, ArithmeticError):
        return Answer("malformed", f"the value is {text[:60]!r}; a number is wanted")
    if made.is_nan():
        return Answer("malformed", "NaN", raised="NaN")
    return Answer("value", text[:60], made)


@dataclass
class InProcess:
    """A Python callable called here, for tests that trust it."""

    function: Callable[..., Any]
    name: str = ""
    parameters: list[list[Any]] | None = None

    def __post_init__(self) -> None:
        self.name = self.name or getattr(self.function, "__name__", "the subject")
        try:
            self.parameters = signature_of(self.function)
        except (TypeError, ValueError):
            self.parameters = None

    def ask(self, question: Question, terms: Terms) -> Answer:
        """Call the function."""
        return read_reply(
            call_here(self.function, question.arguments, list(terms.positional)), None
        )

    def close(self) -> None:
        """Nothing runs."""


@dataclass
class Process:
    """A subject in a process of its own.

    command: what to run. python: whether it is our worker, which announces the parameters.
    started: how often it was started.
    """

    name: str
    command: Sequence[str]
    python: bool
    memory: int = MEMORY
    time_limit: float = TIME_LIMIT
    start_limit: float = START_LIMIT
    parameters: list[list[Any]] | None = None
    started: int = 0
    bound: str = ""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _buffer: bytes = field(default=b"", repr=False)
    _errors: bytes = field(default=b"", repr=False)
    _ident: int = 0
    _fresh: bool = True

    def open(self) -> None:
        """Start the process, and read the parameters of a Python function.

        Raises:
            InvalidInput: it cannot be started.
        """
        self.close()
        self._buffer = self._errors = b""
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, bufsize=0,
        )  # fmt: skip
        self.started += 1
        self._fresh = True
        if not self.python:
            return
        line = self._line(self.start_limit)
        reply: Any = None
        if isinstance(line, bytes):
            with contextlib.suppress(ValueError):
                reply = json.loads(line)
        if isinstance(reply, dict) and reply.get("ready"):
            self.parameters = reply["parameters"]
            return
        self.close()
        if isinstance(reply, dict) and "failed" in reply:
            raise InvalidInput(f"{self.name} cannot be loaded: {reply['failed']}")
        said = line.text if isinstance(line, Answer) else "it wrote on the answers' channel"
        raise InvalidInput(f"{self.name} cannot be loaded: {said}")

    def ask(self, question: Question, terms: Terms) -> Answer:
        """Send one question and wait for its answer; the process is started again as needed."""
        if self._process is None:
            try:
                self.open()
            except InvalidInput as error:
                return Answer("crashed", str(error), fatal=True)
        assert self._process is not None and self._process.stdin is not None
        self._ident += 1
        request: dict[str, Any] = {"id": self._ident}
        if self.python:
            request |= {"arguments": question.arguments, "positional": list(terms.positional)}
        else:
            request |= {"bound": self.bound, "arguments": _as_json(question.arguments)}
        with contextlib.suppress(OSError):  # it died: reading says how
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        # A program may still be starting when the first question comes.
        line = self._line(self.time_limit if not self._fresh or self.python else self.start_limit)
        if isinstance(line, Answer):
            self.close()
            return line
        self._fresh = False
        try:
            reply = json.loads(line)
        except ValueError:
            self.close()
            return Answer("malformed", f"{_shown(line)} is not JSON", fatal=True)
        answer = read_reply(reply, self._ident)
        if answer.kind == "malformed" and not answer.raised and not self.python:
            self.close()  # what else is on its way cannot be matched with a question
        if answer.raised == "MemoryError":
            text = f"MemoryError: it needs more than {self.memory} MiB"
            return Answer("crashed", text, raised="MemoryError")
        return answer

    def _line(self, seconds: float) -> bytes | Answer:
        process = self._process
        assert process is not None and process.stdout is not None and process.stderr is not None
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ, "out")
            waiting.register(process.stderr, selectors.EVENT_READ, "errors")
            while True:
                line, found, rest = self._buffer.partition(b"\n")
                if found:
                    self._buffer = rest
                    return line
                if len(self._buffer) > LONGEST_LINE:
                    said = f"a line of more than {LONGEST_LINE} bytes, {_shown(self._buffer)}"
                    return Answer("malformed", said, fatal=True)
                left = end - time.monotonic()
                if left <= 0:
                    if self._buffer:
                        said = f"{_shown(self._buffer)} without the end of its line"
                        return Answer("malformed", said, fatal=True)
                    return Answer("hung", f"no answer within {seconds:g} s", fatal=True)
                for key, _ in waiting.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if key.data == "errors":
                        self._errors = (self._errors + data)[-2000:]
                        if not data:
                            waiting.unregister(key.fileobj)
                    elif data:
                        self._buffer += data
                    else:
                        return self._death()

    def _death(self) -> Answer:
        """How the process ended."""
        process = self._process
        assert process is not None and process.stderr is not None
        partial = self._buffer
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
        with contextlib.suppress(OSError):
            os.set_blocking(process.stderr.fileno(), False)
            self._errors = (self._errors + (os.read(process.stderr.fileno(), 1 << 16) or b""))[
                -2000:
            ]
        code = process.returncode
        if code is None:
            how = "it closed its output"
        elif code < 0:
            with contextlib.suppress(ValueError):
                how = f"it was ended by {signal.Signals(-code).name}"
        else:
            how = f"it ended with status {code}"
        if partial:
            how += f" after the partial line {_shown(partial)}"
        last = self._errors.decode("utf-8", "replace").strip().splitlines()
        return Answer("crashed", how + (f" ({last[-1][:100]})" if last else ""), fatal=True)

    def close(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        self._buffer = b""
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _as_json(arguments: dict[str, list[Any]]) -> dict[str, Any]:
    """Arguments as a program gets them: counts and doubles as numbers, all else as text."""

    def one(how: str, text: Any) -> Any:
        if how == "list":
            return [one(*part) for part in text]
        if how == "none":
            return None
        if how == "int":
            return int(text)
        # JSON has no infinities and no NaN.
        return float(text) if how == "float" and text not in ("inf", "-inf", "nan") else text

    return {name: one(*item) for name, item in arguments.items()}


def _shown(data: bytes) -> str:
    text = repr(data[:50].decode("utf-8", "replace"))
    return text + ("..." if len(data) > 50 else "")


def python_subject(
    target: str, memory: int = MEMORY, time_limit: float = TIME_LIMIT, python: str | None = None
) -> Process:
    """The Python function `module:function` or `path/to/file.py:function`, started.

    Raises:
        InvalidInput: the target is none, or cannot be loaded.
    """
    where, sign, name = target.rpartition(":")
    if not sign or not where or not name:
        raise InvalidInput(
            f"SUBJECT is {target!r}; module:function or path/to/file.py:function is wanted"
        )
    if where.endswith(".py") and not Path(where).is_file():
        raise InvalidInput(f"SUBJECT is {target!r}, but there is no file {where}")
    interpreter = python or sys.executable
    if shutil.which(interpreter) is None:
        raise InvalidInput(f"--python {interpreter}: there is no such program")
    command = [interpreter, str(WORKER), "call", str(memory), target]
    made = Process(target, command, True, memory, time_limit)
    made.open()
    return made


def program_subject(
    command: str, bound: str, memory: int = MEMORY, time_limit: float = TIME_LIMIT
) -> Process:
    """A program that speaks the protocol.

    Raises:
        InvalidInput: there is no such program.
    """
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"--command {command!r} cannot be read: {error}") from None
    if not parts or shutil.which(parts[0]) is None:
        raise InvalidInput(f"--command {command!r}: there is no program {parts[:1] or ''}")
    wrapped = [sys.executable, str(WORKER), "exec", str(memory), *parts]
    made = Process(command, wrapped, False, memory, time_limit, start_limit=max(time_limit, 10.0))
    made.bound = bound
    return made
