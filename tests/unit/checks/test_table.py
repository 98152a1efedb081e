"""The table of checks: every number of the method, every check that runs, and the page that lists them.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/unit/checks/test_table.py`` rewrites the table in docs/checks.md.
"""

from pathlib import Path

import pytest
from tests.golden_page import holds
from tests.unit.checks.table import CHECKS, NUMBERS, Check, Made

from stackrace.checks import LAUNCH_CHECKS, PREFLIGHT_CHECKS, RUN_CHECKS, SLICE_CHECKS
from stackrace.checks.address import address
from stackrace.checks.races import RACE_CHECKS

PAGE = Path(__file__).parents[3] / "docs" / "checks.md"

MADE = {
    Made.START: {*PREFLIGHT_CHECKS, address},
    Made.SLICE: set(SLICE_CHECKS) - set(RUN_CHECKS),
    Made.RUN: set(RUN_CHECKS),
    Made.LAUNCH: set(LAUNCH_CHECKS),
    Made.RACE: set(RACE_CHECKS),
}
"""Which functions are run when."""


def test_every_number_of_the_method_has_a_check_in_order():
    numbers = [check.number for check in CHECKS]
    assert set(numbers) == set(NUMBERS)
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.number} {check.name}, {check.made}")
def test_every_function_is_there_and_says_what_it_sees_and_whence(check: Check):
    assert callable(check.made_by)
    assert check.seen.endswith((".", "?"))
    assert check.source


def test_every_check_that_runs_is_in_the_table_and_told_when():
    for made, functions in MADE.items():
        listed = {check.made_by for check in CHECKS if check.made is made}
        assert {one.__name__ for one in functions ^ listed} == set(), made


def rows() -> list[str]:
    """Write the table of the page; a bar within a cell would end it, and Markdown's code has one backtick."""
    heads = ("no.", "check", "made", "what is seen", "threshold", "effect", "way out", "source")
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for check in CHECKS:
        cells = (
            str(check.number),
            check.name,
            check.made,
            check.seen,
            check.threshold,
            check.effect,
            check.remedy,
            check.source,
        )
        lines.append(f"| {' | '.join(cell.replace('|', '¦').replace('``', '`') for cell in cells)} |")
    return lines


def test_the_page_lists_them_all():
    holds(PAGE, "checks", rows())
