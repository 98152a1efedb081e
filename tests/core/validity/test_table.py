"""The list of checks: every number of the method, every check that runs, and the page that lists them.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/core/validity/test_table.py`` rewrites the list in docs/checks.md.
"""

import re
from pathlib import Path

import pytest
from tests.core.validity.page import entries
from tests.golden_page import holds

from stackrace.base.verdict import Effect
from stackrace.validity.declaration import Check, Made
from stackrace.validity.registry import DECLARATIONS, EVERY_CHECK

PAGE = Path(__file__).parents[3] / "docs" / "checks.md"

NUMBERS = range(1, 39)
"""Of the method's checks; those without a number came out of experience since."""


def test_every_number_of_the_method_has_a_check():
    assert {check.declaration.number for check in EVERY_CHECK} - {0} == set(NUMBERS)


@pytest.mark.parametrize("check", EVERY_CHECK, ids=lambda check: check.declaration.id)
def test_every_check_says_what_it_is(check: Check):
    declared = check.declaration
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", declared.id)
    assert declared.possible_effects
    assert declared.limits.gravest_first or declared.rule
    assert check.summary.endswith((".", "?"))


def test_an_id_belongs_to_one_declaration():
    assert len(DECLARATIONS) == len({id(check.declaration) for check in EVERY_CHECK})


def test_only_what_is_measured_is_measured_again():
    again = {check.declaration.made for check in EVERY_CHECK if Effect.REDOES in check.declaration.possible_effects}
    assert all(Made.SLICE in made for made in again)


def test_the_page_lists_them_all():
    holds(PAGE, "checks", entries())


def test_the_page_is_short_for_so_many_checks():
    assert len(PAGE.read_text(encoding="utf-8").split()) * 78 <= 3500 * len(DECLARATIONS)
