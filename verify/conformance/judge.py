"""The check of a subject: vectors, properties, the smallest input that fails, and a verdict.

The verdict is that of the most serious thing seen, in this order:

    not-an-upper-bound  some number is below the true value of the bound, by more than rounding
    too-large           some number is above it
    hangs               some question is not answered in time
    crashes             some valid input ends in an exception or in the process's death
    malformed           some answer is no number: text, NaN, a negative id, a changing answer
    accepts-invalid     some input outside the assumptions is answered
    refuses-valid       some valid input is refused
    imprecise           numbers are wrong, but only as plain double arithmetic loses digits there
    within-tolerance    every number is within the tolerance, but not to 12 digits
    conforms            every number is right to 12 digits, and every refusal is in place
    malformed           also where no question could be asked at all: that is never a pass

A wrong number comes first, since a privacy loss that is too small harms silently; what stops with
a noise comes after.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from bounds.bound import Bound, find, registry
from bounds.setting import AssumptionViolated, InvalidInput, Setting, exact
from verify.conformance import inquiries, plain, vectors
from verify.conformance.compare import (
    FINE,
    TOLERANCE,
    Case,
    Judged,
    bound_of,
    enclosed,
    judge,
    refine,
    short,
)
from verify.conformance.conversions import NAMED
from verify.conformance.diagnosis import Diagnosis, cost, diagnose
from verify.conformance.inquiries import Conversion, conversion_of
from verify.conformance.properties import About, all_properties, attempt, truth, violations
from verify.conformance.subjects import Answer, Subject
from verify.conformance.translate import (
    FLAGS,
    LISTS,
    OTHERS,
    CannotAsk,
    Numbers,
    Terms,
    decimal,
    reads,
    same,
    setting_of,
    settle,
)

VERDICTS: dict[str, str] = {
    "low": "not-an-upper-bound", "high": "too-large", "hung": "hangs", "crashed": "crashes",
    "malformed": "malformed", "accepted": "accepts-invalid", "refused": "refuses-valid",
    "lossy": "imprecise", "close": "within-tolerance", "right": "conforms",
}  # fmt: skip
"""Verdict of each outcome, the most serious first."""
PASSES = ("conforms", "within-tolerance")
MOST_HANGS = 3
MOST_DEATHS = 12
SMALL_ERROR = Decimal("1e-5")
MOST_SHRINKS = {"quick": 120, "standard": 250, "full": 600}
SHRINK_SECONDS = 15.0
OTHER_TOLERANCE = {"calibration": Decimal("1e-6")}
"""What is searched for is known less exactly than what is computed."""


@dataclass(frozen=True)
class Report:
    """What came of a check.

    below_exact: whether some number was seen below the exact divergence of a run; None where none
    was compared with one. failures: how many questions ended in each verdict that fails.
    """

    subject: str
    bound: str
    verdict: str
    judged: tuple[Judged, ...]
    smallest: Judged | None
    diagnosis: Diagnosis | None
    properties: tuple[Any, ...]
    notes: tuple[str, ...]
    seconds: float
    tolerance: Decimal
    below_exact: bool | None = None
    vectors_passed: int = 0
    vectors_failed: int = 0
    vectors_unasked: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether the subject is right."""
        return self.verdict in PASSES

    def as_json(self) -> dict[str, object]:
        """The contract of `hiddenstate check --json`, with more after it."""
        small = self.smallest
        return {
            "subject": self.subject,
            "bound": self.bound,
            "verdict": self.verdict,
            "vectors": {"passed": self.vectors_passed, "failed": self.vectors_failed},
            "smallest": None if small is None else {
                "setting": dict(small.case.input),
                "got": str(small.answer),
                "expected": small.case.expected,
                "lower": small.case.lower,
                "upper": small.case.upper,
                "relative_error": None if small.error is None else short(small.error, 6),
            },
            "diagnosis": None if self.diagnosis is None else self.diagnosis.as_json(),
            "says": self.says(),
            "below_exact_divergence": self.below_exact,
            "not_asked": self.vectors_unasked,
            "failed": [
                {
                    "vector": item.case.id, "verdict": VERDICTS[item.outcome],
                    "setting": dict(item.case.input), "got": str(item.answer),
                    "expected": item.case.expected,
                    "relative_error": None if item.error is None else short(item.error, 6),
                }
                for item in self.judged
                if item.case.golden and item.outcome not in FINE
            ],
            "failures": dict(self.failures),
            "properties": [
                {
                    "property": item.name, "says": item.says, "examples": item.examples,
                    "broken_at": None if item.broken is None else item.broken.as_strings(),
                    "answers": list(item.answers),
                }
                for item in self.properties
            ],
            "tolerance": str(self.tolerance),
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }  # fmt: skip

    def says(self) -> str:
        """The verdict in a sentence."""
        kinds = {
            "conforms": "every number is right to 12 digits, and every refusal is in place",
            "within-tolerance": f"every number is within {self.tolerance}, but not to 12 digits",
            "not-an-upper-bound": "numbers below the true value of the bound: privacy loss is "
                                  "understated",
            "too-large": "numbers above the true value of the bound",
            "accepts-invalid": "inputs outside the assumptions are answered",
            "refuses-valid": "inputs within the assumptions are refused",
            "imprecise": "right, but digits are lost at some inputs",
            "crashes": "some valid inputs end in a crash",
            "hangs": "some inputs are not answered in time",
            "malformed": "some answers are no numbers",
        }  # fmt: skip
        text = kinds[self.verdict]
        low, high = self.verdict == "not-an-upper-bound", self.verdict == "too-large"
        if self.bound == "calibration" and (low or high):
            return f"{'less' if low else 'more'} noise than the least that meets the target"
        converted = self.bound in vectors.OTHERS
        if converted and low and self.below_exact is False:
            return (
                "numbers below those of the rule that is asked for, though at the smallest input "
                "not below the exact epsilon of a Gaussian query"
            )
        if converted:
            text = text.replace(" bound", " conversion")
        elif find(self.bound).direction == "lower" and high:
            return f"{text}, which for a lower bound is the unsafe side"
        elif find(self.bound).direction == "lower" and low:
            return "numbers below the true value, which for a lower bound is safe but not it"
        what = "epsilon of a Gaussian query" if converted else "divergence of a run"
        if low and self.below_exact:
            text += f", even below the exact {what}"
        elif low and self.below_exact is False:
            text += f", though at the smallest input not below the exact {what}"
        return text


class Asker:
    """Asks a subject, judges its answers, keeps them all, and stops when it goes on failing."""

    def __init__(self, subject: Subject, terms: Terms, tolerance: Decimal) -> None:
        self.subject, self.terms, self.tolerance = subject, terms, tolerance
        self.seen: dict[tuple[str, ...], Judged] = {}
        self.hangs = self.deaths = 0

    @property
    def tired(self) -> bool:
        """Whether the subject has hung or died too often to go on."""
        return self.hangs >= MOST_HANGS or self.deaths >= MOST_DEATHS

    def __call__(self, case: Case) -> Judged:
        """The judgement of one question, from memory where it was asked before."""
        key = (case.bound, *(f"{name}={text}" for name, text in sorted(case.input.items())))
        if key not in self.seen:
            self.seen[key] = self._ask(case)
        return replace(self.seen[key], case=case)

    def _ask(self, case: Case) -> Judged:
        if self.tired:
            return _unasked(case, "it hung or died too often before")
        if not self.terms.agrees(case.input):
            return _unasked(case, "it takes something else for granted")
        try:
            question = self.terms.ask(case.input)
        except CannotAsk as error:
            return _unasked(case, str(error))
        answer = self.subject.ask(question, self.terms)
        self.hangs += answer.kind == "hung"
        self.deaths += answer.fatal and answer.kind != "hung"
        rounded = self.terms.numbers == "float"
        return judge(case, answer, question.received, self.tolerance, rounded)


def _unasked(case: Case, why: str) -> Judged:
    return Judged(case, Answer("refused", why), "unasked", says=why)


def cases_of(bound: str) -> list[Case]:
    """The golden vectors of a bound, or of a conversion, as cases.

    Raises:
        InvalidInput: there are none.
    """
    return [
        Case(v.id, v.input, v.valid, v.lower, v.upper, v.assumption, v.flags, v.bound)
        for v in vectors.load(bound)
    ]


def known_bounds() -> tuple[str, ...]:
    """What a subject can be checked against."""
    return (*vectors.names(), *vectors.OTHERS)


def infer(name: str) -> str:
    """The bound that a function's name is close to.

    Raises:
        InvalidInput: none is, or several are.

    >>> infer("my_module.py:fixed_order")
    'fixed_order'
    """
    known: dict[str, str] = {}
    for bound in registry().values():
        known[_plainly(bound.name)] = known[_plainly(bound.statement)] = bound.name
    for other in vectors.OTHERS:
        known[_plainly(other)] = other
    function = name.rpartition(":")[2].rpartition(".")[2]
    near = difflib.get_close_matches(_plainly(function), known, 2, 0.8)
    if near and (len({known[item] for item in near}) == 1 or near[0] == _plainly(function)):
        return known[near[0]]
    listed = ", ".join(sorted(set(known.values())))
    raise InvalidInput(
        f"{function!r} is not clearly one of the bounds; say which by --bound NAME: {listed}"
    )


def _plainly(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def wanted_inputs(cases: Sequence[Case]) -> tuple[str, ...]:
    """The names of all inputs that some question has, in order of appearance."""
    return tuple(dict.fromkeys(name for case in cases for name in case.input))


def matters(bound: str, cases: Sequence[Case]) -> tuple[str, ...]:
    """The inputs on which an answer depends."""
    try:
        return reads(find(bound))
    except InvalidInput:
        valid = [case.input for case in cases if case.valid]
        bounds = {given["bound"] for given in valid if "bound" in given}
        read = {name for other in bounds for name in reads(find(other))}
        # Without orders, only questions over all of them are asked.
        return tuple(
            name for name in dict.fromkeys(name for given in valid for name in given)
            if len({given.get(name) for given in valid}) > 1
            and name != "orders" and (name not in FLAGS or name in read)
        )  # fmt: skip


def terms_for(
    parameters: Sequence[Sequence[Any]] | None,
    bound: str,
    cases: Sequence[Case],
    mapping: Mapping[str, str],
    fixed: Mapping[str, str],
    numbers: Numbers,
    who: str,
) -> Terms:
    """How a subject with these parameters is asked about a bound; see `translate.settle`.

    Raises:
        InvalidInput: see there.
    """
    agreeing = [
        case for case in cases
        if all(name not in fixed or name == "position" or same(text, fixed[name])
               for name, text in case.input.items())
    ]  # fmt: skip
    if not agreeing:
        raise InvalidInput(
            f"no question about {bound} agrees with --convention "
            + " ".join(f"{name}={text}" for name, text in fixed.items())
        )
    return settle(
        parameters, mapping, fixed, wanted_inputs(agreeing), matters(bound, agreeing), bound, who,
        numbers,
    )  # fmt: skip


def run(
    subject: Subject,
    bound: str,
    terms: Terms,
    cases: Sequence[Case] | None = None,
    *,
    tolerance: Decimal | None = None,
    effort: str = "quick",
    seed: int | None = None,
    with_properties: bool = True,
    shrinks: bool = True,
    heard: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Check a subject against a bound.

    cases: by default the golden vectors. tolerance: relative. seed: of the properties; without
    one the same settings are drawn every time. shrinks: whether to look for the smallest input and
    the mistake. heard: is told (what, done, of how many).

    Raises:
        InvalidInput: there are no vectors of that name.
    """
    began = time.monotonic()
    questions = list(cases_of(bound) if cases is None else cases)
    limit = tolerance or OTHER_TOLERANCE.get(bound, TOLERANCE)
    ask = Asker(subject, terms, limit)
    tell = heard or (lambda what, done, many: None)
    golden = []
    for i, case in enumerate(questions):
        golden.append(ask(case))
        tell("vectors", i + 1, len(questions))
    tried: list[Any] = []
    extra: list[Judged] = []
    about = about_of(questions[0]) if questions else None
    if with_properties and about is not None and not ask.tired and _answers(golden):
        tried, extra = _properties(about, ask, limit, effort, seed, tell)
    notes = list(terms.notes)
    again = _again(golden, ask) if shrinks else None
    if again is not None:
        extra.append(again)
        notes.append("the same question got two answers")
    judged = sorted_out([*golden, *extra])
    golden = judged[: len(golden)]
    if ask.tired:
        notes.append(f"not all was asked, since it hung {ask.hangs} and died {ask.deaths} times")
    outcome, counted = worst(judged)
    verdict = VERDICTS[outcome]
    if not any(item.outcome in ("right", "close") and item.case.valid for item in judged) and (
        verdict in PASSES
    ):
        verdict = "malformed"
        notes.append("no valid question could be asked, which is not a pass")
    smallest = None
    below: bool | None = None
    if verdict not in PASSES and shrinks:
        failing = [item for item in judged if item.outcome == outcome]
        if failing:
            least = min(failing, key=lambda item: (not item.case.valid, *cost(item.case)))
            smallest = least if item_is_new(least, again) else shrink(least, ask, effort)
            if outcome == "low":
                below = _below_exact(smallest)
    if any(x.name.startswith("not-below-the-exact") and x.broken is not None for x in tried):
        below = True
    diagnosis = diagnose(verdict, judged) if shrinks else None
    failed = sum(item.outcome not in FINE for item in golden)
    unasked = sum(item.outcome == "unasked" for item in golden)
    reasons = sorted({item.says for item in golden if item.outcome == "unasked"})
    if unasked:
        notes.append(f"{unasked} vectors were not asked: {'; '.join(reasons[:3])}")
    return Report(
        subject.name, bound if about is None else about.name, verdict, tuple(judged), smallest,
        diagnosis, tuple(tried), tuple(notes), time.monotonic() - began, limit, below,
        len(golden) - failed - unasked, failed, unasked,
        {VERDICTS[name]: counted[name] for name in VERDICTS
         if name in counted and name not in FINE},
    )  # fmt: skip


def worst(judged: Sequence[Judged]) -> tuple[str, dict[str, int]]:
    """The most serious outcome, and how often there is each."""
    counted: dict[str, int] = {}
    for item in judged:
        counted[item.outcome] = counted.get(item.outcome, 0) + 1
    return next((name for name in VERDICTS if counted.get(name)), "malformed"), counted


def item_is_new(item: Judged, again: Judged | None) -> bool:
    """Whether a failure is the changed answer, which cannot be asked for once more."""
    return again is not None and item.case.id == again.case.id and item.outcome == "malformed"


def _answers(judged: Sequence[Judged]) -> bool:
    """Whether there are numbers enough for properties to speak of."""
    valid = [item for item in judged if item.case.valid and item.outcome != "unasked"]
    numbers = [item for item in valid if item.answer.kind == "value"]
    return bool(numbers) and 4 * len(numbers) >= len(valid)


def about_of(case: Case) -> About | None:
    """What a case is about: a bound, or a conversion or a calibration."""
    return bound_of(case) or conversion_of(case)


def _properties(
    about: About, ask: Asker, tolerance: Decimal, effort: str, seed: int | None, tell: Any
) -> tuple[list[Any], list[Judged]]:
    asked: list[Judged] = []

    def listen(case: Case) -> Judged:
        judged = ask(case)
        asked.append(judged)
        return judged

    def adapt(point: Any) -> Any:
        if isinstance(about, Bound):
            return adapted(point, ask.terms, about)
        return about.adapted(point, ask.terms)

    chosen = all_properties(about)
    tried = []
    for i, which in enumerate(chosen):
        if ask.tired:
            break
        tried.append(attempt(which, about, listen, adapt, tolerance, effort, seed))
        tell("properties", i + 1, len(chosen) + 1)
    for case in violations(about):
        if not ask.tired:
            listen(case)
    tell("properties", len(chosen) + 1, len(chosen) + 1)
    unique: dict[str, Judged] = {}
    for item in asked:
        unique.setdefault(repr(sorted(item.case.input.items())), item)
    return tried, list(unique.values())


def adapted(setting: Setting, terms: Terms, bound: Bound) -> Setting | None:
    """A drawn setting with what the subject takes for granted; None where that does not fit."""
    changes: dict[str, Any] = {}
    for ours, text in terms.fixed.items():
        if ours in setting.as_strings() or ours == "position":
            changes["lambda_" if ours == "lambda" else ours] = text
    if changes.get("position") == "last":
        changes["position"] = setting.batches - 1
    try:
        made = setting.replace(**changes)
        bound.check(made)
    except InvalidInput:
        return None
    return made


def _again(golden: Sequence[Judged], ask: Asker) -> Judged | None:
    """A question once more, after all others and in a fresh process: the answer must not change."""
    if ask.tired:
        return None
    first = next(
        (
            x
            for x in golden
            if x.case.valid and x.outcome != "unasked" and x.answer.value is not None
        ),
        None,
    )
    if first is None:
        return None
    question = ask.terms.ask(first.case.input)
    later = [ask.subject.ask(question, ask.terms)]
    ask.subject.close()
    later.append(ask.subject.ask(question, ask.terms))
    for answer in later:
        if answer.kind != "value" or answer.value != first.answer.value:
            says = f"the same question got {first.answer} and then {answer}"
            return Judged(first.case, replace(answer, kind="malformed", text=says), "malformed")
    return None


def sorted_out(judged: Sequence[Judged]) -> list[Judged]:
    """Wrong numbers that only lost digits are called so."""
    out = []
    for item in judged:
        if item.outcome in ("low", "high"):
            bound, setting = bound_of(item.case), item.case.setting
            if bound is not None and setting is not None:
                item = refine(item, plain.loss(bound, setting))
        out.append(item)
    left = [item for item in out if item.outcome in ("low", "high")]
    small = all(item.error is not None and abs(item.error) <= SMALL_ERROR for item in left)
    if left and small and {item.outcome for item in left} == {"low", "high"}:
        out = [
            replace(item, outcome="lossy") if item.outcome in ("low", "high") else item
            for item in out
        ]
    if any(item.outcome == "lossy" for item in out):
        out = [_broken_down(item) for item in out]
    return out


def _broken_down(item: Judged) -> Judged:
    """An exception of arithmetic, or a NaN, where plain doubles break down: all digits are lost."""
    arithmetic = item.answer.raised in ("ZeroDivisionError", "OverflowError", "NaN") or (
        re.search("math domain error|division by zero", item.answer.text) is not None
    )
    bound, setting = bound_of(item.case), item.case.setting
    if item.outcome not in ("crashed", "malformed") or not arithmetic or not item.case.valid:
        return item
    if bound is None or setting is None:
        return item
    lost = plain.loss(bound, setting)
    return replace(item, outcome="lossy") if lost is not None and lost.is_infinite() else item


def _below_exact(item: Judged) -> bool | None:
    """Whether a number is below the exact loss of some run; None where that is not known."""
    bound, setting, value = bound_of(item.case), item.case.setting, item.answer.value
    exact: Decimal | None = None
    try:
        if bound is None and item.case.bound != "calibration":
            exact = inquiries.floor_of(item.case.input)
        elif bound is not None and setting is not None and bound.quantity == "renyi-divergence":
            exact = truth(bound, bound.check(setting))
    except InvalidInput:
        return None
    return None if exact is None or value is None else value < exact


# --- the smallest input that fails ---

DEFAULTS = {
    "n": "4", "b": "1", "epochs": "2", "eta": "0.25", "lambda": "1", "beta": "1",
    "sensitivity": "1", "sigma2": "1", "alpha": "2", "bound": "one_update", "orders": "2",
    "epsilons": "1", "delta": "0.1", "rule": "classical", "target_epsilon": "10",
}  # fmt: skip
"""The simplest input; one is small when it differs from it in few parameters."""


def size(given: Mapping[str, str]) -> tuple[int, int, Decimal]:
    """How large an input is: parameters not at their default, length of text, size of counts."""
    odd = sum(text != DEFAULTS.get(name) for name, text in given.items())
    total = sum(len(text) for text in given.values())
    counts = sum(
        (abs(Decimal(given[name])) for name in ("n", "b", "epochs", "position")
         if given.get(name, "x").lstrip("-").isdigit()),
        Decimal(0),
    )  # fmt: skip
    return odd, total, counts


def smaller(given: Mapping[str, str]) -> list[dict[str, str]]:
    """Simpler inputs next to one, the boldest first."""
    out: list[dict[str, str]] = []
    present = {name: text for name, text in DEFAULTS.items() if name in given}
    out.append(present)
    out += _shorter_lists(given)
    if "position" in given:
        out.append({name: text for name, text in given.items() if name != "position"})
    for name in given:
        if name in DEFAULTS:
            out.append({**given, name: DEFAULTS[name]})
    for pair in (("n", "b"), ("lambda", "beta"), ("eta", "lambda", "beta"), ("n", "b", "position")):
        if all(name in given for name in pair):
            changed = {**given, **{name: DEFAULTS.get(name, "0") for name in pair}}
            out.append(changed)
    for name, text in given.items():
        out += [{**given, name: other} for other in simpler_numbers(name, text)]
    here, read = size(given), [_as_read(other) for other in out]
    return [other for other in read if size(other) < here]


def _as_read(given: dict[str, str]) -> dict[str, str]:
    """An input without what the bound in it does not read."""
    if "bound" not in given:
        return given
    wanted = {*NAMED.get(given["bound"], " ".join(given)).split(), *OTHERS}
    return {name: text for name, text in given.items() if name in wanted}


def _shorter_lists(given: Mapping[str, str]) -> list[dict[str, str]]:
    """With one entry of the lists alone, or without one, or with one that is simpler."""
    lists = {name: given[name].split(",") for name in LISTS if given.get(name)}
    if not lists or len({len(parts) for parts in lists.values()}) > 1:
        return []
    count = len(next(iter(lists.values())))
    places = range(count)
    kept = [[i] for i in places] + [list(places[: count // 2]), list(places[count // 2 :])]
    kept += [[j for j in places if j != i] for i in places]
    shorter = [{name: [parts[i] for i in some] for name, parts in lists.items()} for some in kept]
    for name, parts in lists.items():
        usual = [DEFAULTS[name], *(["3"] if name == "orders" else [])]
        for i, text in enumerate(parts):
            shorter += [
                {**lists, name: [*parts[:i], other, *parts[i + 1 :]]}
                for other in (*usual, *simpler_numbers(name, text))
            ]
    return [
        {**given, **{name: ",".join(parts) for name, parts in changed.items()}}
        for changed in shorter
    ]


def simpler_numbers(name: str, text: str) -> list[str]:
    """Numbers near one that are shorter to write."""
    try:
        number = exact(text)
    except InvalidInput:
        return []
    if name in ("n", "b", "epochs", "position"):
        whole = int(number)
        near = {0, 1, 2, 3, 4, 5, 6, 10, whole // 2, whole // 10, whole - 1}
        return [str(item) for item in sorted(near) if abs(item) < abs(whole)]
    out = []
    for digits in (1, 2, 3):
        rounded = short(Decimal(decimal(number)), digits) if number else "0"
        plain_text = format(Decimal(rounded), "f")
        out.append(plain_text if len(plain_text) <= len(rounded) + 1 else rounded)
    return out


def shrink(item: Judged, ask: Asker, effort: str) -> Judged:
    """The smallest input that fails in the same way, found by small steps."""
    about = about_of(item.case)
    if about is None or item.outcome == "hung":
        return item
    budget = MOST_SHRINKS[effort] if not item.answer.fatal else 12
    best, tried = item, {repr(sorted(item.case.input.items()))}
    end = time.monotonic() + SHRINK_SECONDS
    moved = True
    while moved:
        moved = False
        for given in smaller(best.case.input):
            key = repr(sorted(given.items()))
            if key in tried or ask.tired:
                continue
            if budget <= 0 or time.monotonic() > end:
                return best
            tried.add(key)
            budget -= 1
            other = _like(about, given, item, ask)
            if other is not None:
                best, moved = other, True
                break
    return best


def _like(about: About, given: Mapping[str, str], item: Judged, ask: Asker) -> Judged | None:
    """The judgement of another input, if it fails in the same way."""
    try:
        case = at_input(about, given)
    except (InvalidInput, AssertionError, ZeroDivisionError):
        return None
    if case.valid != item.case.valid or case.assumption != item.case.assumption:
        return None
    other = ask(case)
    if other.outcome in ("low", "high") and isinstance(about, Bound) and case.setting is not None:
        other = refine(other, plain.loss(about, case.setting))
    if other.outcome != item.outcome:
        return None
    same_end = item.outcome != "crashed" or other.answer.raised == item.answer.raised
    return other if same_end else None


def at_input(about: About, given: Mapping[str, str]) -> Case:
    """An input with its true answer, or the label of what it violates.

    Raises:
        InvalidInput: the answer is not known.
    """
    if isinstance(about, Conversion):
        return about.case(dict(given), "smallest")
    try:
        return replace(enclosed(about, setting_of(given), "smallest"), input=dict(given))
    except AssumptionViolated as error:
        return Case("smallest", dict(given), False, None, None, error.label, (), about.name)
