"""The table of checks: every number of the method, every check that runs, and the page that lists them.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/unit/checks/test_table.py`` rewrites the table in docs/checks.md.
"""

import os
import re
from pathlib import Path

import pytest

from stackrace.checks import LAUNCH_CHECKS, PREFLIGHT_CHECKS, RUN_CHECKS, SLICE_CHECKS
from stackrace.checks.address import address
from stackrace.checks.table import CHECKS, NUMBERS, Check, Made

PAGE = Path(__file__).parents[3] / "docs" / "checks.md"

AWAITED = {
    "clocks.clock_stepped",
    "clocks.unstable_clock",
    "machine.pressure",
    "races.answer_sizes",
    "races.canary_drifts",
    "races.carry_over",
    "races.twins_differ",
    "speed.cpu_frequency",
    "speed.machine_speed",
    "speed.overheated",
}
"""Listed in the table before they are there; what has come is looked at like all others."""

MADE = {
    Made.START: {*PREFLIGHT_CHECKS, address},
    Made.SLICE: set(SLICE_CHECKS) - set(RUN_CHECKS),
    Made.RUN: set(RUN_CHECKS),
    Made.LAUNCH: set(LAUNCH_CHECKS),
}
"""Which functions are run when; those on races are the race's."""


def present(check: Check) -> bool:
    """Tell whether a check's function is there."""
    try:
        return callable(check.made_by)
    except (ImportError, AttributeError):
        return False


def test_every_number_of_the_method_has_a_check_in_order():
    numbers = [check.number for check in CHECKS]
    assert set(numbers) == set(NUMBERS)
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.number} {check.name}, {check.made}")
def test_every_function_is_there_and_says_what_it_sees_and_whence(check: Check):
    if not present(check):
        assert check.function in AWAITED
        return
    assert check.seen.endswith((".", "?"))
    assert check.source


def test_every_check_that_runs_is_in_the_table_and_told_when():
    for made, functions in MADE.items():
        listed = {check.made_by for check in CHECKS if check.made is made and present(check)}
        awaited = {name.partition(".")[2] for name in AWAITED}
        assert {one.__name__ for one in functions - listed} <= awaited
        assert {one.__name__ for one in listed - functions} == set(), made


def rows() -> list[str]:
    """Write the table of the page; a bar within a cell would end it, and Markdown's code has one backtick."""
    heads = ("no.", "check", "made", "what is seen", "threshold", "effect", "way out", "source")
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for check in CHECKS:
        told = (check.seen, check.source) if present(check) else ("", "")
        cells = (
            str(check.number),
            check.name,
            check.made,
            told[0],
            check.threshold,
            check.effect,
            check.remedy,
            told[1],
        )
        lines.append(f"| {' | '.join(cell.replace('|', '¦').replace('``', '`') for cell in cells)} |")
    return lines


def test_the_page_lists_them_all():
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"(<!-- checks:[^\n]*-->\n)(.*?)(<!-- end -->)", page, re.DOTALL)
    assert found
    wanted = "\n".join(rows()) + "\n"
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        PAGE.write_text(page[: found.start(2)] + wanted + page[found.end(2) :], encoding="utf-8")
        return
    assert found[2] == wanted, "set STACKRACE_UPDATE_GOLDEN=1 if it is right"
