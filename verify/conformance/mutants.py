"""All small changes to a file of code: its mutants, each a splice of text with a readable id.

A mutant replaces one piece of the source: an operator, a comparison, a constant, an operand, a
word of the number system by a related one, a statement, a condition. What is text is left alone:
docstrings, messages, annotations, imports, assertions (`strict=True` is one), and the names in
`TEXTS`.

Libraries for mutation exist. Their operators (cosmic-ray's on parso, mutmut's on libcst) know
nothing of `exp` and `expm1` or of a relaxed comparison, change texts, and come with a database, a
web client or a terminal interface; the standard library's `ast` has the positions that are needed.

>>> [mutant.id for mutant in mutants_of("small = x < 1", "toy.py")]
['toy.py:1:10:< to <=', 'toy.py:1:10:< to >=', 'toy.py:1:12:1 to 0', 'toy.py:1:12:1 to 2']
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

TEXTS = {"SOURCE", "SCHEME", "DIRECTION", "STANDING", "QUANTITY", "FULL_BATCH", "NOTES"}
"""Assignments that say something about a bound, and compute nothing."""

BINARY: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-", "*")),
    ast.Sub: ("-", ("+", "*")),
    ast.Mult: ("*", ("/", "+")),
    ast.Div: ("/", ("*", "-")),
    ast.FloorDiv: ("//", ("*", "%")),
    ast.Mod: ("%", ("//", "*")),
    ast.Pow: ("**", ("*", "/")),
    ast.BitOr: ("|", ("&",)),
    ast.BitAnd: ("&", ("|",)),
    ast.LShift: ("<<", (">>",)),
}
"""Each operator with what stands in its place."""
COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=", "<=", ">=")),
    ast.NotEq: ("!=", ("==", "<", ">")),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
"""Each comparison relaxed or strictened, and negated."""
WORDS = (
    ("exp", "expm1"), ("log", "log1p"), ("minimum", "maximum"), ("min", "max"), ("sum", "max"),
    ("floor", "ceil"), ("power", "one_minus_power", "geometric"), ("any", "all"),
    ("argmin", "argmax"), ("upper", "lower"), ("exp2", "exp"), ("log2", "log"),
    ("isfinite", "isnan"), ("ROUND_FLOOR", "ROUND_CEILING"), ("sqrt", "exp"),
    ("alpha", "alpha_minus_one"), ("batches", "half", "steps"), ("n", "b"), ("epochs", "steps"),
    ("eta", "eta_lambda"), ("lambda_", "beta"), ("rate", "eta_lambda"),
    ("sensitivity", "sigma2"),
)  # fmt: skip
"""Names of one kind: one is put in the place of another."""
RELATED = {
    word: tuple(dict.fromkeys(b for group in WORDS if word in group for b in group if b != word))
    for group in WORDS
    for word in group
}
COMMUTATIVE = {"min", "max", "minimum", "maximum", "gcd"}
"""Functions whose arguments may stand in any order."""
TYPES = {"number", "int", "float", "Fraction", "list", "tuple"}
"""Functions that change the type of a value, and not the value."""
OPEN = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr,
    ast.Await, ast.Starred,
)  # fmt: skip
"""Expressions that need parentheses where an operand stood."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file.

    line from 1 and column from 0, of the piece that the operator names; `start` and `end` are
    offsets in bytes of what `text` replaces; within: the function that holds it, or "".
    """

    path: str
    line: int
    column: int
    operator: str
    start: int
    end: int
    text: str
    within: str = ""

    @property
    def id(self) -> str:
        """Readable, and the same as long as the lines above are."""
        return f"{self.path}:{self.line}:{self.column}:{self.operator}"

    def apply(self, source: str) -> str:
        """The mutated file."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()

    def lines(self, source: str) -> tuple[str, str]:
        """What stands there and what would, as one line each, spaces joined."""
        raw = source.encode()
        first = raw.rfind(b"\n", 0, self.start) + 1
        last = raw.find(b"\n", self.end)
        last = len(raw) if last < 0 else last
        before = raw[first:last].decode()
        after = (raw[first : self.start] + self.text.encode() + raw[self.end : last]).decode()
        return " ".join(before.split()), " ".join(after.split())

    def diff(self, source: str) -> str:
        """The change as two lines."""
        before, after = self.lines(source)
        return f"- {before}\n+ {after}"


def mutants_of(source: str, path: str) -> tuple[Mutant, ...]:
    """Every mutant of a file, in order of place; those of one id or one text only once."""
    found: dict[str, Mutant] = {}
    seen: set[tuple[int, int, str]] = set()
    raw = source.encode()
    for mutant in _Maker(source, path).run():
        key = (mutant.start, mutant.end, mutant.text)
        same = raw[mutant.start : mutant.end].decode() == mutant.text
        if same or key in seen or mutant.id in found:
            continue
        seen.add(key)
        found[mutant.id] = mutant
    return tuple(sorted(found.values(), key=lambda m: (m.line, m.column)))


class _Maker:
    """Walks the syntax tree and offers changes."""

    def __init__(self, source: str, path: str) -> None:
        self.raw, self.path = source.encode(), path
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.within: list[ast.FunctionDef | ast.ClassDef] = []

    def run(self) -> Iterator[Mutant]:
        yield from self._block(self.tree.body)

    # places

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.raw[start:end].decode()

    def _operand(self, node: ast.expr) -> str:
        text = self._text(node)
        return f"({text})" if isinstance(node, OPEN) else text

    def _change(
        self, operator: str, start: int, end: int, text: str, at: int | None = None
    ) -> Mutant:
        where = start if at is None else at
        line = self.raw.count(b"\n", 0, where) + 1
        column = where - self.starts[line - 1]
        within = ".".join(item.name for item in self.within)
        return Mutant(self.path, line, column, operator, start, end, text, within)

    def _instead(self, operator: str, node: ast.expr | ast.stmt, text: str) -> Mutant:
        return self._change(operator, *self._span(node), text)

    def _sign(self, sign: str, left: ast.expr, right: ast.expr) -> int:
        """Where the operator between two operands stands."""
        after, before = self._span(left)[1], self._span(right)[0]
        return after + self.raw[after:before].index(sign.encode())

    # statements

    def _block(self, body: Sequence[ast.stmt]) -> Iterator[Mutant]:
        refuses = bool(body) and isinstance(body[-1], ast.Raise)
        for statement in body:
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            # What is assigned before a `raise` is for its message.
            text |= refuses and isinstance(statement, ast.Assign)
            if not text:
                yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[Mutant]:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                self.within.append(node)
                if isinstance(node, ast.FunctionDef):
                    for default in (*node.args.defaults, *node.args.kw_defaults):
                        if default is not None:
                            yield from self._expression(default)
                yield from self._block(node.body)
                self.within.pop()
                return
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass() | ast.Global():
                return
            case ast.Assign(targets=[ast.Name(id=name)]) if name in TEXTS:
                return
            case ast.AnnAssign(value=None):
                return
        if self.within and isinstance(self.within[-1], ast.FunctionDef):
            yield self._instead("statement deleted", node, "pass")
        match node:
            case ast.Return(value=ast.expr() as value):
                for text in ("0", "1"):
                    yield self._instead(f"return {text}", value, text)
                if isinstance(value, ast.Compare | ast.BoolOp):
                    yield self._instead("return negated", value, f"not ({self._text(value)})")
                yield from self._expression(value)
            case ast.If() | ast.While():
                yield from self._condition(node.test)
                yield from self._block(node.body)
                yield from self._block(node.orelse)
            case ast.For():
                yield from self._expression(node.iter)
                yield from self._block(node.body)
                yield from self._block(node.orelse)
            case ast.With():
                for item in node.items:
                    yield from self._expression(item.context_expr)
                yield from self._block(node.body)
            case ast.Try():
                yield from self._block(node.body)
                for handler in node.handlers:
                    yield from self._block(handler.body)
                yield from self._block(node.orelse)
                yield from self._block(node.finalbody)
            case ast.AugAssign():
                yield from self._augmented(node)
            case ast.Assign() | ast.AnnAssign() | ast.Expr():
                assert node.value is not None
                yield from self._expression(node.value)
            case ast.Break():
                yield self._instead("break to continue", node, "continue")
            case ast.Continue():
                yield self._instead("continue to break", node, "break")

    def _augmented(self, node: ast.AugAssign) -> Iterator[Mutant]:
        sign, others = BINARY[type(node.op)]
        end, start = self._span(node.target)[1], self._span(node.value)[0]
        at = end + self.raw[end:start].index(f"{sign}=".encode())
        for other in (*(f"{other}=" for other in others), "="):
            yield self._change(f"{sign}= to {other}", at, at + len(sign) + 1, other)
        yield from self._expression(node.value)

    def _condition(self, test: ast.expr) -> Iterator[Mutant]:
        for forced in ("True", "False"):
            yield self._instead(f"condition {forced}", test, forced)
        yield from self._expression(test)

    # expressions

    def _expression(self, node: ast.expr) -> Iterator[Mutant]:
        match node:
            case ast.Constant():
                yield from self._constant(node)
                return
            case ast.JoinedStr():
                return
            case ast.BinOp():
                yield from self._binary(node)
            case ast.UnaryOp(op=ast.USub() | ast.Not()):
                sign = "-" if isinstance(node.op, ast.USub) else "not"
                yield self._instead(f"{sign} dropped", node, self._operand(node.operand))
            case ast.Compare():
                yield from self._comparison(node)
            case ast.BoolOp():
                yield from self._logical(node)
            case ast.IfExp():
                yield from self._choice(node)
                return
            case ast.Call():
                yield from self._call(node)
            case ast.Tuple() | ast.List():
                yield from self._display(node)
            case ast.Attribute():
                end = self._span(node)[1]
                yield from self._word(node.attr, end - len(node.attr), end)
            case ast.Name():
                yield from self._word(node.id, *self._span(node), bare=True)
                return
            case ast.Lambda():
                yield from self._expression(node.body)
                return
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                for part in node.generators:
                    for test in part.ifs:
                        yield from self._condition(test)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from self._expression(child)
            elif isinstance(child, ast.keyword) and child.arg != "strict":
                yield from self._expression(child.value)
            elif isinstance(child, ast.comprehension):
                yield from self._expression(child.iter)

    def _constant(self, node: ast.Constant) -> Iterator[Mutant]:
        value = node.value
        if isinstance(value, bool):
            yield self._instead(f"{value} to {not value}", node, str(not value))
        elif isinstance(value, int):
            for other in dict.fromkeys((value - 1, value + 1, *((0, 1, 2) if value < 3 else ()))):
                text = f"({other})" if other < 0 else str(other)
                yield self._instead(f"{value} to {other}", node, text)
        elif isinstance(value, float):
            for factor in (2.0, 0.5):
                yield self._instead(f"{value!r} to {value * factor!r}", node, repr(value * factor))

    def _binary(self, node: ast.BinOp) -> Iterator[Mutant]:
        sign, others = BINARY[type(node.op)]
        at = self._sign(sign, node.left, node.right)
        start, end = self._span(node)
        front, back = self.raw[start:at].decode(), self.raw[at + len(sign) : end].decode()
        for other in others:
            # In parentheses, the operands stay what they are whatever binds more tightly.
            text = f"({front}{other}{back})"
            yield self._change(f"{sign} to {other}", start, end, text, at)
        left, right = self._operand(node.left), self._operand(node.right)
        if not isinstance(node.op, ast.Add | ast.Mult | ast.BitOr | ast.BitAnd):
            yield self._change(f"{sign} swapped", start, end, f"({right} {sign} {left})", at)
        yield self._change(f"right of {sign} dropped", start, end, left, at)
        lone = {"-": f"(-{right})", "/": f"(1 / {right})"}.get(sign, right)
        if sign in "+-*/" and not (sign == "/" and left == "1"):
            yield self._change(f"left of {sign} dropped", start, end, lone, at)

    def _comparison(self, node: ast.Compare) -> Iterator[Mutant]:
        operands = (node.left, *node.comparators)
        for (left, right), operator in zip(pairwise(operands), node.ops, strict=True):
            sign, others = COMPARISONS[type(operator)]
            at = self._sign(sign, left, right)
            for other in others:
                yield self._change(f"{sign} to {other}", at, at + len(sign), other)

    def _logical(self, node: ast.BoolOp) -> Iterator[Mutant]:
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        start, end = self._span(node)
        for left, right in pairwise(node.values):
            at = self._sign(sign, left, right)
            yield self._change(f"{sign} to {other}", at, at + len(sign), other)
        for i, value in enumerate(node.values):
            rest = [self._operand(item) for j, item in enumerate(node.values) if j != i]
            text = f" {sign} ".join(rest)
            yield self._change(
                f"operand of {sign} dropped", start, end, f"({text})", self._span(value)[0]
            )

    def _choice(self, node: ast.IfExp) -> Iterator[Mutant]:
        where = self._span(node.test)[0]
        start, end = self._span(node)
        yield self._change("condition True", start, end, self._operand(node.body), where)
        yield self._change("condition False", start, end, self._operand(node.orelse), where)
        for part in (node.body, node.test, node.orelse):
            yield from self._expression(part)

    def _call(self, node: ast.Call) -> Iterator[Mutant]:
        called = self._text(node.func).rpartition(".")[2]
        alone = len(node.args) == 1 and not node.keywords
        if alone and called not in TYPES and not isinstance(node.args[0], ast.Starred):
            yield self._instead(f"{called} dropped", node, f"({self._text(node.args[0])})")
        for left, right in pairwise(node.args if called not in COMMUTATIVE else ()):
            if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
                continue
            start, end = self._span(left)[0], self._span(right)[1]
            between = self.raw[self._span(left)[1] : self._span(right)[0]].decode()
            text = self._text(right) + between + self._text(left)
            yield self._change("arguments swapped", start, end, text)

    def _display(self, node: ast.Tuple | ast.List) -> Iterator[Mutant]:
        if len(node.elts) < 2 or any(isinstance(item, ast.Starred) for item in node.elts):
            return
        ends = ("(", ",)") if isinstance(node, ast.Tuple) else ("[", "]")
        for i, gone in enumerate(node.elts):
            rest = ", ".join(self._text(item) for j, item in enumerate(node.elts) if j != i)
            yield self._change(
                f"{self._text(gone)} dropped", *self._span(node), f"{ends[0]}{rest}{ends[1]}",
                self._span(gone)[0],
            )  # fmt: skip

    def _word(self, word: str, start: int, end: int, bare: bool = False) -> Iterator[Mutant]:
        builtin = ("min", "max", "sum", "any", "all", "power", "one_minus_power")
        if bare and word not in builtin:
            return
        for other in RELATED.get(word, ()):
            yield self._change(f"{word} to {other}", start, end, other)
