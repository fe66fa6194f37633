"""The pytest plugin: golden vectors to parametrise over, and `assert_conforms`.

    from verify.conformance.plugin import assert_conforms, assert_vector, hiddenstate_vectors

    @pytest.mark.parametrize("vector", hiddenstate_vectors("thm-4.2"))
    def test_vector(vector):
        assert_vector(my_bound, vector, map={"lr": "eta"})

    def test_all():
        assert_conforms(my_bound, "thm-4.2", map={"lr": "eta"})

or, without an import, a test with the marker `hiddenstate_vectors("thm-4.2")` gets each of them as
its argument `hiddenstate_vector`, and the fixtures `hiddenstate_assert_vector` and
`hiddenstate_assert_conforms` are these functions.

It is loaded whenever pytest runs where the toolkit is installed, so that it imports nothing
heavy until it is used. The function is called in the process of the tests: a crash or a hang is
theirs; `hiddenstate check` runs it apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verify.conformance.judge import Report
    from verify.conformance.vectors import Vector

MARKER = "hiddenstate_vectors"


def hiddenstate_vectors(bound: str, *, valid: bool | None = None) -> list[Any]:
    """One `pytest.param` a golden vector, with its permanent id.

    bound: a name or a statement id. valid: only those that must be answered, or refused.

    Raises:
        InvalidInput: there are no vectors of that name.
    """
    from verify.conformance.vectors import load

    return [
        pytest.param(vector, id=vector.id)
        for vector in load(bound) if valid in (None, vector.valid)
    ]  # fmt: skip


def assert_vector(
    function: Callable[..., Any],
    vector: Vector,
    *,
    map: Mapping[str, str] | None = None,
    convention: Mapping[str, str] | None = None,
    numbers: str = "float",
    tolerance: object = None,
) -> None:
    """Assert that a function answers one golden vector rightly.

    map: our names by its parameters' names. convention: what it takes for granted.
    numbers, tolerance: as for `hiddenstate check`.

    Raises:
        AssertionError: it does not; the message says what was asked, found and expected.
        InvalidInput: a parameter is not mapped, or a name is none of ours.
    """
    from verify.conformance.compare import FINE

    report = _report(
        function, vector.bound, [vector], map, convention, numbers, tolerance, "quick", False
    )
    __tracebackhide__ = True
    wrong = [item for item in report.judged if item.outcome not in FINE]
    if wrong:
        item = wrong[0]
        text = " ".join(f"{name}={value}" for name, value in vector.input.items())
        raise AssertionError(
            f"{vector.id} ({', '.join(vector.flags)}): {text}: got {item.answer}, expected "
            f"{item.case.expected}"
        )
    if all(item.outcome == "unasked" for item in report.judged):
        pytest.skip(f"{vector.id}: {report.judged[0].says}")


def assert_conforms(
    function: Callable[..., Any],
    bound: str,
    *,
    map: Mapping[str, str] | None = None,
    convention: Mapping[str, str] | None = None,
    numbers: str = "float",
    tolerance: object = None,
    effort: str = "quick",
    properties: bool = True,
) -> Report:
    """Assert that a function computes a bound: all vectors, and the properties.

    Returns the report. The arguments are those of `assert_vector`; effort as for
    `hiddenstate check`.

    Raises:
        AssertionError: it does not; the message is the verdict, the smallest input that shows it
            and the mistake that it looks like.
        InvalidInput: as for `assert_vector`.
    """
    report = _report(function, bound, None, map, convention, numbers, tolerance, effort, properties)
    __tracebackhide__ = True
    if report.passes:
        return report
    lines = [f"{report.subject} as {report.bound}: {report.verdict}: {report.says()}"]
    if report.smallest is not None:
        given = report.smallest.case.input
        text = " ".join(f"{name}={value}" for name, value in given.items())
        lines += [
            f"smallest input  {text}", f"got             {report.smallest.answer}",
            f"expected        {report.smallest.case.expected}",
        ]  # fmt: skip
    if report.diagnosis is not None:
        lines.append(f"diagnosis       {report.diagnosis.mistake}: {report.diagnosis.says}")
    raise AssertionError("\n".join(lines))


def _report(
    function: Callable[..., Any], bound: str, vectors: Any, mapping: Any, convention: Any,
    numbers: str, tolerance: object, effort: str, properties: bool,
) -> Report:  # fmt: skip
    from decimal import Decimal

    from bounds.setting import InvalidInput, exact
    from verify.conformance import judge
    from verify.conformance.subjects import InProcess
    from verify.conformance.translate import NUMBERS

    if numbers not in NUMBERS:
        raise InvalidInput(f"numbers is {numbers!r}; one of {', '.join(NUMBERS)} is wanted")
    every = judge.cases_of(bound)
    name = every[0].bound
    cases = every
    if vectors is not None:
        wanted = {vector.id for vector in vectors}
        cases = [case for case in every if case.id in wanted]
    subject = InProcess(function)
    terms = judge.terms_for(
        subject.parameters, name, every, dict(mapping or {}), dict(convention or {}), numbers,
        subject.name,
    )  # fmt: skip
    limit = None
    if tolerance is not None:
        value = exact(str(tolerance), "tolerance")
        limit = Decimal(value.numerator) / Decimal(value.denominator)
    return judge.run(
        subject, name, terms, cases, tolerance=limit, effort=effort, with_properties=properties,
        shrinks=vectors is None,
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(bound): run the test once for each golden vector of a bound, as its argument "
        "hiddenstate_vector",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise the tests that carry the marker."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is not None and "hiddenstate_vector" in metafunc.fixturenames:
        metafunc.parametrize(
            "hiddenstate_vector", hiddenstate_vectors(*marker.args, **marker.kwargs)
        )


@pytest.fixture
def hiddenstate_assert_conforms() -> Callable[..., Report]:
    """`assert_conforms`, for those who would rather not import it."""
    return assert_conforms


@pytest.fixture
def hiddenstate_assert_vector() -> Callable[..., None]:
    """`assert_vector`, likewise."""
    return assert_vector
