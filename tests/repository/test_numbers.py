"""Numbers are written in one place: ``model.numbers``, and ``model.units`` for what may be typed again."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stackrace
from stackrace.base import numbers
from stackrace.base.units import COUNT, DURATION, PERCENT, RATE, SIZE

SOURCE = Path(stackrace.__file__).parent

WRITERS = {
    "base/numbers.py": "the rule",
    "base/units.py": "what may be typed again",
    "measure/engine/histogram.py": "the columns of HdrHistogram's own format",
    "report/load_result.py": "a share that is never 100 % before it is all",
    "cli/load/run.py": "a bar of constant width",
    "report/words/load_sentences.py": "rounds a value",
    "report/html/svg.py": "coordinates, and the ticks of an axis, whole or as short as they can be",
    "features/regression/ci.py": "seconds as the schema has them",
    "report/openmetrics.py": "numbers for programs",
}
"""Who may format a number by itself, and what for."""

CHOOSES = re.compile(r":.*(,|_|%|\.\d).*")
"""Format specifications that choose digits or separators; a bare ``g`` writes a setting as it was given."""


def formats(tree: ast.AST):
    """Yield the format specifications of f-strings, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            yield (
                node.lineno,
                ":"
                + "".join(
                    part.value if isinstance(part, ast.Constant) else "0" for part in node.format_spec.values
                ),
            )


def test_nobody_else_chooses_digits_or_separators():
    found = [
        f"{path.relative_to(SOURCE)}:{line} {spec}"
        for path in sorted(SOURCE.rglob("*.py"))
        if str(path.relative_to(SOURCE)) not in WRITERS and "bundled" not in path.parts
        for line, spec in formats(ast.parse(path.read_text(encoding="utf-8")))
        if CHOOSES.fullmatch(spec)
    ]
    assert found == []


def test_the_examples_hold():
    assert doctest.testmod(numbers).failed == 0


def test_figures_have_the_digits_of_the_rule():
    written = {1234.5: "1,234", 99.96: "100", 99.94: "99.9", 9.996: "10.0", 0.0999: "0.10", 0.0994: "0.099"}
    assert {value: numbers.number(value) for value in written} == written


def test_a_share_is_never_rounded_to_nothing():
    assert numbers.percent(0.0004) == "0.04 %"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.7e-8, "<0.001"), (-9.7e-8, ">-0.001"), (1e-6, "0.001"), (0, "0")],
)
def test_what_is_below_a_thousandth_is_said_to_be_less(seconds, text):
    assert numbers.milliseconds(seconds) == text


def test_a_coefficient_keeps_its_digits_however_small():
    assert [numbers.coefficient(value) for value in (0.00012, 4e-05, 0.5, 0)] == ["0.00012", "0.00004", "0.5", "0"]


@given(st.floats(-1e15, 1e15))
def test_no_exponent_is_ever_written(value):
    for write in (numbers.number, numbers.percent, numbers.duration, numbers.coefficient, numbers.milliseconds):
        assert "e" not in write(value), write
    assert "e" not in numbers.setting(value)


@given(st.floats(0, 1e15))
def test_nor_in_what_may_be_typed_again(value):
    for unit in (COUNT, DURATION, PERCENT, RATE, SIZE):
        assert not re.search(r"\de", unit.format(value)), unit
