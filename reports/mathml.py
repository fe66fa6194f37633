"""Plain ASCII mathematics mixed with words, typeset as MathML.

The records print formulas as `eps <= alpha Sg^2/(lambda sigma^2 b^2) (1 - exp(-lambda eta K/2))`.
`typeset` turns such a text into HTML: words stay words, runs of mathematics become `<math>`
elements that need no script. Nothing is dropped or altered: `source` reads the plain text back out
of the markup, and a run for which it does not give back every character, spaces aside, is shown as
plain text. The same happens where the grammar is not sure what is meant.

What is replaced is in the tables below; parentheses are left out only where a fraction bar, a root
or the height of a script shows the grouping (class `p`), and `source` puts them back.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "epsilon": "ϵ", "zeta": "ζ",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "ell": "ℓ", "infinity": "∞",
}  # fmt: skip
OPERATORS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "<-": "←", "...": "…", "||": "‖", "-": "−",
    "'": "′", "sum": "∑", "prod": "∏", "int": "∫", "grad": "∇", "nabla": "𝛁", "Delta": "Δ",
    "in": "∈", "(x)": "⊗", "*": "∗", ".": "⋅",
}  # fmt: skip
_ANGLES = {"⟨": "<", "⟩": ">"}
_FUNCTIONS = {"exp", "log", "ln", "min", "max", "clip", "Avg", "KL", "lim"}
_PREFIX = {"exp", "log", "ln"}
_BIG = {"sum", "prod", "int", "lim"}
_DIFFERENTIALS = {
    "dR", "dE", "dp", "dq", "dS", "dt", "ds", "du", "dx", "dy", "dz", "dalpha", "dtau",
}  # fmt: skip
_SPECIAL = {"sqrt", "floor", "grad", "nabla", "Delta", "xbar", "Sg", "int", "prod", "sum"}
_NAMES = {*LETTERS, *_FUNCTIONS, *_DIFFERENTIALS, *_SPECIAL}
_RELATIONS = {"<=", ">=", "!=", "<", ">", "=", "->", "<-", "~"}
_REFERENCES = {
    "Theorem", "Theorems", "Lemma", "Proposition", "Corollary", "Definition", "Algorithm", "Figure",
    "Figures", "Section", "Sections", "Appendix", "Equation", "Table", "Propositions",
}  # fmt: skip
_OPEN = {"(": ")", "[": "]", "{": "}"}
# Longest number of words that a bracket may hold and still be a formula.
_WORDS = 5
_MEMBERS = 5  # of a set in braces, from which on its members are set one by one
# No formula is longer; a text that is stays plain, so that the time spent on it is bounded.
_LONGEST = 4000
# Beyond these widths, in em, a line may break before a relation, a plus or a minus, a factor.
_BREAK_AT_RELATIONS = 9.0
_BREAK_AT_SIGNS = 16.0
_BREAK_AT_FACTORS = 13.0

_LEXEME = re.compile(
    r"""
    (?P<ref>[A-Z]\.\d+)                               # Theorem D.4
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d]))
  | (?P<hyphened>[A-Za-z]+(?:-[A-Za-z]+)+)
  | (?P<name>[A-Za-z]+)
  | (?P<symbol><=|>=|!=|->|<-|\|\||\.\.\.|\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)

_CLOSING = re.compile(r"[,.;:)]+(?=\s|$)")
_GROUP = re.compile(
    r'<mrow><mo(?: stretchy="false")?>\(</mo>(.*)<mo(?: stretchy="false")?>\)</mo></mrow>',
    re.DOTALL,
)
_INVERSE = (
    {v: k for k, v in LETTERS.items()} | {v: k for k, v in OPERATORS.items()} | _ANGLES
)  # fmt: skip


class _Unsure(Exception):
    """The grammar does not know what is meant; the run stays plain."""


@dataclass(frozen=True)
class _Token:
    """kind: name, number, symbol, word (text)."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


@dataclass(frozen=True)
class _Node:
    """Markup with its width in em; `binds`: how a slash after it reads."""

    markup: str
    width: float
    binds: str = "factor"


def source(markup: str) -> str:
    """The plain text that the markup was made from, without spaces.

    Raises:
        xml.etree.ElementTree.ParseError: the markup is not well formed.
    """
    return re.sub(r"\s+", "", _source(ElementTree.fromstring(f"<mrow>{markup}</mrow>")))


def _source(node: ElementTree.Element) -> str:
    parts = [_source(child) for child in node]
    kind = node.get("class")
    match node.tag:
        case "mi" | "mn" | "mo":
            text = node.text or ""
            return _INVERSE.get(text, text)
        case "mtext":
            return node.text or ""
        case "mfrac":
            return "/".join(parts)
        case "msub" | "munder":
            return "".join(parts) if kind == "n" else "_".join(parts)
        case "msup" | "mover" if kind == "bar":
            return parts[0] + "bar"
        case "mover" if kind == "tilde":
            return parts[0] + "~"
        case "msup":
            return "".join(parts) if kind == "n" else "^".join(parts)
        case "mover":
            return "^".join(parts)
        case "msubsup" | "munderover":
            return f"{parts[0]}_{parts[1]}^{parts[2]}"
        case "msqrt":
            return "sqrt" + "".join(parts)
        case "mrow" if kind == "p":
            return "(" + "".join(parts) + ")"
        case "mrow" if kind == "floor":
            # The brackets themselves are the first and the last child.
            return "floor(" + "".join(parts[1:-1]) + ")"
        case _:
            return (node.text or "") + "".join(
                part + (child.tail or "") for part, child in zip(parts, node, strict=True)
            )


def typeset(text: str, *, display: bool = False) -> str:
    """HTML for a text: words escaped, mathematics as `<math>`.

    display: fractions stacked and sums at full height, for formulas that stand alone; otherwise
    fractions keep their slash, so that lines of prose stay apart.
    """
    return _convert(text, display)[0]


def widest(text: str, *, display: bool = False) -> float:
    """About how wide, in em, the widest piece of it is that cannot be broken over lines."""
    return _convert(text, display)[1]


@functools.lru_cache(maxsize=4096)
def _convert(text: str, display: bool) -> tuple[str, float]:
    if len(text) > _LONGEST:
        return escape(text), 0.0
    tokens = _tokens(text)
    out: list[str] = []
    done = at = 0
    width = 0.0
    style = ' displaystyle="true"' if display else ""
    while at < len(tokens):
        end = _run(tokens, at)
        chunks = _math(tokens[at:end], display) if end > at else None
        if chunks is None:
            at = max(end, at + 1)
            continue
        out.append(escape(text[done : tokens[at].start]))
        done = tokens[end - 1].end
        # A comma or a full stop goes with the formula before it, or a line could begin with it.
        closing = _CLOSING.match(text, done)
        markups = [chunk.markup for chunk in chunks]
        if closing:
            markups[-1] += f"<mtext>{closing[0]}</mtext>"
            done = closing.end()
        out.append("<wbr>".join(f"<math{style}>{markup}</math>" for markup in markups))
        width = max(width, *(chunk.width for chunk in chunks))
        at = next((i for i in range(end, len(tokens)) if tokens[i].start >= done), len(tokens))
    out.append(escape(text[done:]))
    return "".join(out), width


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _LEXEME.match(text, at)
        assert found is not None  # the last alternative matches any character
        kind, word = found.lastgroup or "", found.group()
        if kind == "hyphened":
            parts = word.split("-")
            if all(_is_name(part) for part in parts) or parts[0] in LETTERS or len(parts[0]) == 1:
                word, kind = parts[0], "name"
            else:
                kind = "word"
        if kind == "name":
            kind = "name" if _is_name(word) else "word"
            if len(word) == 1 and (digits := re.match(r"\d+(?![\d.]*\d)", text[at + 1 :])):
                word += digits.group()
            elif kind == "word" and (own := re.match(r"'[a-z]+", text[at + len(word) :])):
                word += own.group()
        if kind == "ref":
            kind = "word"
        if kind == "number" and tokens and tokens[-1].text in _REFERENCES:
            kind = "word"
            if letter := re.match(r" \([a-z]\)|'s", text[at + len(word) :]):
                word += letter.group()
        spaced = at == 0 or text[at - 1].isspace()
        if text.startswith("(x)", at) and spaced and text[at + 3 : at + 4].isspace():
            kind, word = "symbol", "(x)"
        tokens.append(_Token(kind, word, at, at + len(word), spaced))
        at += len(word)
    return [_article(tokens, i) for i in range(len(tokens))]


def _is_name(word: str) -> bool:
    return len(word) == 1 or word in _NAMES


def _article(tokens: Sequence[_Token], i: int) -> _Token:
    """A lone `a` or `A` between words is an article; a word after a hyphen is text."""
    token = tokens[i]
    before = tokens[i - 1] if i else None
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    plain = _Token("word", token.text, token.start, token.end, token.spaced)
    if token.text in ("a", "A"):
        operator = after is not None and after.text in {*_RELATIONS, *"^_+-*/')'|,([]}"}
        led = before is not None and (
            before.kind in ("name", "number") or before.text in {*_RELATIONS, *"+-*/^_(["}
        )
        return token if operator or led else plain
    if token.text == "-" and not token.spaced and after is not None and not after.spaced:
        return plain if after.kind == "word" else token
    # "sum over the batch", "lim over balls", "the sum": words, unless an operand follows.
    if token.text in ("sum", "lim", "int", "Avg", "clip", "min", "max", "in"):
        if token.text == "in":
            return token
        if after is None or after.kind == "word" or (
            after.kind == "symbol" and after.text not in "_([|-"
        ):  # fmt: skip
            return plain if token.text != "Avg" else token
    return token


def _closing(tokens: Sequence[_Token], at: int) -> int:
    """Where the bracket that opens at `at` closes, or -1."""
    wanted: list[str] = []
    for i in range(at, len(tokens)):
        if tokens[i].text in _OPEN:
            wanted.append(_OPEN[tokens[i].text])
        elif tokens[i].text in _OPEN.values():
            if wanted.pop() != tokens[i].text:
                return -1
            if not wanted:
                return i
    return -1


def _opens_angle(tokens: Sequence[_Token], at: int) -> bool:
    """Whether this is the bracket of `<u, v>` and not `less than`: `x <u`, not `x < u`."""
    token = tokens[at]
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return token.text == "<" and token.spaced and after is not None and not after.spaced


def _closing_angle(tokens: Sequence[_Token], at: int) -> int:
    depth = 0
    for i in range(at + 1, len(tokens)):
        text = tokens[i].text
        depth += (text in _OPEN) - (text in _OPEN.values())
        if depth < 0:
            break
        if text == ">" and depth == 0:
            return i
    return -1


def _mathematical(tokens: Sequence[_Token], at: int, end: int) -> bool:
    inside = tokens[at + 1 : end]
    if tokens[at].text == "{" and sum(item.text == "," for item in inside) >= _MEMBERS:
        return False  # a list that must be able to break over lines
    words = sum(item.kind == "word" for item in inside)
    signs = sum(item.kind in ("name", "number") for item in inside)
    before = tokens[at - 1] if at else None
    applied = (
        before is not None
        and (before.kind == "name" or before.text == "'")
        and not tokens[at].spaced
    )
    return (words <= _WORDS and signs > words) or (applied and words == len(inside) <= 2)


def _run(tokens: Sequence[_Token], at: int) -> int:
    """The end of the run of mathematics that starts at `at`; `at` itself where none does."""
    first = tokens[at]
    starts = first.kind in ("name", "number") or first.text in {*_OPEN, *_RELATIONS, "-", "|"}
    if not starts or first.text == "in":
        return at
    i = at
    while i < len(tokens):
        token = tokens[i]
        if token.kind == "word" and not (i > at and tokens[i - 1].text == "_"):
            break
        if token.text in ',;:"?!' or token.text in _OPEN.values():
            break
        if token.text == "..." and not (i > at and tokens[i - 1].text in "+-*"):
            break
        if token.text == "." and not (
            token.spaced and i + 1 < len(tokens) and tokens[i + 1].spaced
        ):
            break
        if token.text == "in" and not (i + 1 < len(tokens) and tokens[i + 1].text == "{"):
            break
        if _opens_angle(tokens, i) and (end := _closing_angle(tokens, i)) > 0:
            i = end
        elif token.text in _OPEN:
            end = _closing(tokens, i)
            if end < 0 or not _mathematical(tokens, i, end):
                break
            i = end
        i += 1
    # A sign that leads to nothing belongs to the words after it.
    while i > at and tokens[i - 1].text in ("-", "+", "/", "*", "."):
        i -= 1
    return i


def _math(tokens: Sequence[_Token], display: bool) -> list[_Node] | None:
    """The run as pieces that a line may hold each; None where it is better as text."""
    if not any(item.kind == "name" or item.text in _RELATIONS or item.text == "/"
               or item.text == "^" for item in tokens):  # fmt: skip
        return None
    try:
        pieces = _Parser(tokens, stack=display).top()
    except (_Unsure, RecursionError):
        return None
    width = sum(piece.width for _, piece in pieces)
    chunks: list[_Node] = []
    for kind, piece in pieces:
        apart = (
            (kind == "relation" and width > _BREAK_AT_RELATIONS)
            or (kind == "sign" and width > _BREAK_AT_SIGNS)
            or kind == "factor"
        )
        if apart or not chunks:
            chunks.append(piece)
        else:
            chunks[-1] = _Node(chunks[-1].markup + piece.markup, chunks[-1].width + piece.width)
    wanted = "".join(item.text for item in tokens)
    try:
        if source("".join(chunk.markup for chunk in chunks)) != re.sub(r"\s+", "", wanted):
            return None
    except ElementTree.ParseError:
        return None
    return chunks


def _mo(text: str, attributes: str = "") -> _Node:
    shown = OPERATORS.get(text, text)
    width = 1.2 if text in _RELATIONS or text in "+-" else 0.5
    return _Node(f"<mo{attributes}>{escape(shown, quote=False)}</mo>", width)


def _row(nodes: Sequence[_Node], attributes: str = "") -> _Node:
    markup = "".join(node.markup for node in nodes)
    width = sum(node.width for node in nodes)
    if len(nodes) == 1 and not attributes:
        return nodes[0]
    return _Node(f"<mrow{attributes}>{markup}</mrow>", width)


_SPACE = _Node('<mspace width="0.17em"></mspace>', 0.17)
_TIGHT = ' lspace="0" rspace="0"'


class _Parser:
    def __init__(self, tokens: Sequence[_Token], stack: bool) -> None:
        self.tokens = tokens
        self.at = 0
        self.stack = stack
        self.limit = len(tokens)
        self.bars: list[str] = []
        self.small = 0

    # Reading.

    def peek(self, ahead: int = 0) -> _Token | None:
        at = self.at + ahead
        return self.tokens[at] if at < self.limit else None

    def take(self) -> _Token:
        token = self.peek()
        if token is None:
            raise _Unsure
        self.at += 1
        return token

    def text(self, ahead: int = 0) -> str:
        token = self.peek(ahead)
        return "" if token is None else token.text

    # Lists: what stands at the top, and in brackets.

    def top(self) -> list[tuple[str, _Node]]:
        """Pieces that may stand on lines of their own, with what each begins with."""
        pieces: list[tuple[str, _Node]] = []
        mode = self.bar_mode(len(self.tokens))
        self.bars.append(mode)
        kind = "start"
        lead: list[_Node] = []
        while self.peek() is not None:
            text = self.text()
            if self.relation():
                if lead:
                    pieces.append((kind, _row(lead)))
                kind, lead = "relation", [_mo(self.take().text)]
            elif text in ("in", "||", "..") or (text == "|" and mode == "infix"):
                lead.append(_mo(self.take().text, ' lspace="0.2em" rspace="0.2em"'))
            else:
                terms = self.terms()
                pieces += _factors(kind, [*lead, *terms[0]])
                for term in terms[1:]:
                    pieces += _factors("sign", term)
                kind, lead = "more", []
        if lead:
            pieces.append((kind, _row(lead)))
        return pieces

    def items(self, close: int) -> list[_Node]:
        """What a bracket holds, up to the token at `close`."""
        nodes: list[_Node] = []
        mode = self.bar_mode(close)
        self.bars.append(mode)
        beyond, self.limit = self.limit, close
        while self.at < close:
            token = self.tokens[self.at]
            if token.kind == "word":
                words = []
                while self.at < close and self.tokens[self.at].kind == "word":
                    words.append(self.take().text)
                text = " ".join(words)
                if text == "in":
                    nodes.append(_mo("in"))
                    continue
                markup = f"<mtext>\u00a0{escape(text, quote=False)}\u00a0</mtext>"
                nodes.append(_Node(markup, 0.5 * len(text) + 0.5))
            elif self.relation() or token.text in (",", ";", ":", "..", "in", "||"):
                nodes.append(_mo(self.take().text))
            elif token.text == "|" and mode == "infix":
                nodes.append(_mo(self.take().text, _TIGHT))
            else:
                for term in self.terms():
                    nodes += term
        if self.at != close:
            raise _Unsure
        self.bars.pop()
        self.limit = beyond
        return nodes

    def bar_mode(self, close: int) -> str:
        """Whether the bars of this bracket are pairs or one `given` sign."""
        count = depth = 0
        for token in self.tokens[self.at : close]:
            depth += (token.text in _OPEN) - (token.text in _OPEN.values())
            count += token.text == "|" and depth == 0
        if count == 1:
            return "infix"
        if count % 2:
            raise _Unsure
        return "pairs"

    def relation(self) -> bool:
        token = self.peek()
        if token is None or token.text not in _RELATIONS:
            return False
        if token.text == "~":
            return token.spaced
        return not _opens_angle(self.tokens, self.at)

    # Sums, products, factors.

    def terms(self) -> list[list[_Node]]:
        made: list[list[_Node]] = [[]]
        if self.text() in ("-", "+"):
            made[0].append(_mo(self.take().text))
        made[0] += self.product()
        while self.text() in ("+", "-", "*", "#", ".", "(x)"):
            sign = self.take()
            attributes = _TIGHT if sign.text == "#" else ""
            if sign.text in ("+", "-"):
                made.append([_mo(sign.text, ' form="infix"')])
            else:
                made[-1].append(_mo(sign.text, attributes))
            made[-1] += self.product()
        return made

    def begins_factor(self) -> bool:
        token = self.peek()
        if token is None:
            return False
        if token.kind in ("name", "number"):
            return token.text != "in"
        if token.text == "...":
            return True
        if token.text == "|":
            return self.bars[-1] == "pairs"
        if token.text == "<":
            return _opens_angle(self.tokens, self.at)
        return token.text in _OPEN

    def product(self) -> list[_Node]:
        items: list[_Node] = []
        start = 0  # where the numerator of a slash would begin
        if not self.begins_factor():
            raise _Unsure
        while True:
            if self.begins_factor():
                token = self.peek()
                if items and token is not None and token.spaced:
                    items.append(_SPACE)
                made = self.factor()
                items.append(made)
                if made.binds == "operator":
                    start = len(items)
            elif self.text() == "/":
                self.take()
                if not self.begins_factor():
                    raise _Unsure
                self.divide(items, start)
            else:
                return items

    def divide(self, items: list[_Node], start: int) -> None:
        over = items[start:]
        while over and over[0] is _SPACE:
            over = over[1:]
            start += 1
        if not over:
            raise _Unsure
        under = self.factor()
        sure = all(node.binds != "prefix" for node in over) and under.binds in ("factor", "group")
        if under.binds == "operator":
            # A sum below: stacked only where its body is one factor and nothing follows.
            if not self.begins_factor():
                items += [_mo("/", _TIGHT), under]
                return
            body = self.factor()
            rest = [under, _SPACE, body]
            if self.begins_factor() or body.binds == "operator":
                items += [_mo("/", _TIGHT), *rest]
                return
            under, sure = _row(rest), all(node.binds != "prefix" for node in over)
        simple = len(over) == 1 and over[0].width < 1 and under.width < 1
        if not (self.stack and sure) or (self.small and simple):
            items += [_mo("/", _TIGHT), under]
            return
        above = _row(over)
        markup = f"<mfrac>{_bare(above).markup}{_bare(under).markup}</mfrac>"
        items[start:] = [_Node(markup, max(above.width, under.width) + 0.3)]

    def factor(self) -> _Node:
        first = self.peek()
        if first is None:
            raise _Unsure
        if special := self.differential():
            return special
        if first.text in ("grad", "nabla", "Delta") or first.text in _PREFIX:
            return self.prefixed()
        if first.text in _BIG:
            return self.big()
        node = self.scripts(self.atom())
        token = self.peek()
        if first.kind == "name" and token is not None and token.text in "([" and not token.spaced:
            row = _row([node, self.bracket()])
            return _Node(self.scripts(row).markup, row.width, "application")
        return node

    def differential(self) -> _Node | None:
        """`d/dt` as an operator, `dR/dt` as a quotient."""
        first, below = self.text(), self.text(2)
        if not (first == "d" or first in _DIFFERENTIALS):
            return None
        if self.text(1) == "/" and below in _DIFFERENTIALS:
            self.at += 3
            over, under = _name(first), _name(below)
            kind = "operator" if first == "d" else "factor"
            markup = f"<mfrac>{over.markup}{under.markup}</mfrac>"
            return _Node(markup, max(over.width, under.width) + 0.3, kind)
        return None

    def prefixed(self) -> _Node:
        """A function or a gradient with what it is applied to."""
        token = self.take()
        head = _mo(token.text, _TIGHT) if token.text in OPERATORS else _name(token.text)
        if self.text() in ("^", "_"):
            head = self.scripts(head)
        after = self.peek()
        if after is None or not self.begins_factor():
            # "log Avg over ...": what it is applied to is said in words.
            return _Node(head.markup, head.width, "prefix")
        if after.text in "([" and not after.spaced:
            row = _row([head, self.bracket()])
            made = self.scripts(row)
            return _Node(made.markup, made.width, "application")
        gap = [_SPACE] if token.text in _PREFIX else []
        inner = self.factor()
        return _Node(_row([head, *gap, inner]).markup, head.width + inner.width, "prefix")

    def big(self) -> _Node:
        token = self.take()
        limits = token.text in ("sum", "prod", "lim")
        head = _mo(token.text) if token.text != "lim" else _name("lim")
        made = self.scripts(head, under=limits)
        return _Node(made.markup, made.width, "operator")

    def scripts(self, base: _Node, under: bool = False) -> _Node:
        while self.text() == "'" and not self._spaced():
            self.take()
            markup = f'<msup class="n">{base.markup}<mo{_TIGHT}>′</mo></msup>'
            base = _Node(markup, base.width + 0.3, base.binds)
        if self.text() == "~" and not self._spaced():
            self.take()
            base = _Node(
                f'<mover accent="true" class="tilde">{base.markup}<mo>~</mo></mover>', base.width
            )
        low = high = None
        if self.text() == "_":
            low = self.argument()
        if self.text() == "^":
            high = self.argument()
        if self.text() in ("_", "^"):
            raise _Unsure
        names = ("munder", "mover", "munderover") if under else ("msub", "msup", "msubsup")
        inside = "".join(part.markup for part in (base, low, high) if part is not None)
        extra = 0.7 * max(low.width if low else 0, high.width if high else 0)
        if low and high:
            tag = names[2]
        elif low:
            tag = names[0]
        elif high:
            tag = names[1]
        else:
            return base
        return _Node(f"<{tag}>{inside}</{tag}>", base.width + extra)

    def _spaced(self) -> bool:
        token = self.peek()
        return token is not None and token.spaced

    def argument(self) -> _Node:
        """A sub- or superscript: one atom, or a bracket that its position replaces."""
        self.take()
        token = self.peek()
        if token is None or token.spaced:
            raise _Unsure
        self.small += 1
        if token.text == "(":
            made = _bare(self.bracket())
        elif token.kind == "word":
            self.take()
            # H_ij: two indices. Longer ones are names, as in sigma_mul.
            if len(token.text) == 2:
                made = _row([_name(letter) for letter in token.text])
            else:
                made = _Node(f"<mtext>{escape(token.text)}</mtext>", 0.5 * len(token.text))
        elif token.kind in ("name", "number") and token.text not in _BIG:
            made = self.atom()
            while self.text() == "'" and not self._spaced():
                self.take()
                markup = f'<msup class="n">{made.markup}<mo{_TIGHT}>′</mo></msup>'
                made = _Node(markup, made.width + 0.3)
        else:
            raise _Unsure
        self.small -= 1
        return made

    def atom(self) -> _Node:
        token = self.peek()
        assert token is not None
        if token.text in _OPEN:
            return self.bracket()
        if token.text == "|":
            return self.between("|", "|", "|", "|")
        if token.text == "<":
            return self.between("<", ">", "⟨", "⟩")
        self.take()
        if token.text == "...":
            return _Node("<mi>…</mi>", 0.8)
        if token.kind == "number":
            return _Node(f"<mn>{token.text}</mn>", 0.5 * len(token.text))
        if token.kind != "name":
            raise _Unsure
        if token.text in ("sqrt", "floor"):
            if self.text() != "(" or self._spaced():
                raise _Unsure
            group = self.bracket()
            if token.text == "sqrt":
                return _Node(f"<msqrt>{_bare(group).markup}</msqrt>", group.width + 0.6)
            inner = _GROUP.sub(r"\1", group.markup)
            return _Node(f'<mrow class="floor"><mo>⌊</mo>{inner}<mo>⌋</mo></mrow>', group.width)
        return _name(token.text)

    def bracket(self) -> _Node:
        opening = self.take()
        close = _closing(self.tokens, self.at - 1)
        if opening.text not in _OPEN or close < 0:
            raise _Unsure
        nodes = self.items(close)
        self.take()
        tall = any(tag in node.markup for node in nodes for tag in ("<mfrac", "<munder", "<msqrt"))
        still = "" if tall else ' stretchy="false"'
        row = _row([_mo(opening.text, still), *nodes, _mo(_OPEN[opening.text], still)])
        return _Node(row.markup, row.width, "group")

    def between(self, opening: str, closing: str, left: str, right: str) -> _Node:
        """Bars or angle brackets, which end at the next of their kind on the same level."""
        self.take()
        depth, close = 0, -1
        for i in range(self.at, len(self.tokens)):
            text = self.tokens[i].text
            depth += (text in _OPEN) - (text in _OPEN.values())
            if depth < 0:
                break
            if depth == 0 and text == closing:
                close = i
                break
        if close < 0:
            raise _Unsure
        nodes = self.items(close)
        self.take()
        head = f'<mo fence="true" form="prefix" stretchy="true">{left}</mo>'
        tail = f'<mo fence="true" form="postfix" stretchy="true">{right}</mo>'
        row = _row([_Node(head, 0.3), *nodes, _Node(tail, 0.3)])
        return _Node(row.markup, row.width)


def _factors(kind: str, nodes: Sequence[_Node]) -> list[tuple[str, _Node]]:
    """A term as pieces: one, or several where it is too wide for a line."""
    if sum(node.width for node in nodes) <= _BREAK_AT_FACTORS:
        return [(kind, _row(nodes))]
    pieces: list[list[_Node]] = [[]]
    for node in nodes:
        full = sum(held.width for held in pieces[-1]) + node.width > _BREAK_AT_FACTORS
        # Not after a sum or an integral, whose body would begin a line without it.
        if full and pieces[-1] and pieces[-1][-1] is _SPACE and "operator" not in [
            held.binds for held in pieces[-1][-2:]
        ]:  # fmt: skip
            pieces.append([])
        pieces[-1].append(node)
    return [(kind if i == 0 else "factor", _row(piece)) for i, piece in enumerate(pieces)]


def _bare(node: _Node) -> _Node:
    """A bracket without its parentheses, where the layout groups instead."""
    if node.binds != "group" or not (found := _GROUP.fullmatch(node.markup)):
        return node
    inside = found.group(1)
    return _Node(f'<mrow class="p">{inside}</mrow>', node.width - 1)


def _name(text: str) -> _Node:
    if text in _DIFFERENTIALS:
        rest = _name(text[1:])
        return _Node(f"<mrow><mi>d</mi>{rest.markup}</mrow>", 0.55 + rest.width)
    if text == "xbar":
        return _Node('<mover accent="true" class="bar"><mi>x</mi><mo>¯</mo></mover>', 0.6)
    if text == "Sg":
        return _Node('<msub class="n"><mi>S</mi><mi>g</mi></msub>', 0.9)
    if len(text) > 1 and text[1:].isdigit():
        return _Node(
            f'<msub class="n"><mi>{text[0]}</mi><mn>{text[1:]}</mn></msub>', 0.5 + 0.3 * len(text)
        )
    shown = LETTERS.get(text, text)
    return _Node(f"<mi>{shown}</mi>", 0.6 if len(shown) == 1 else 0.5 * len(shown))
