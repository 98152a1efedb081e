"""Recorded checks are shown as they were, and simulated ones decide what they decided."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.features.regression.checks import make_check
from tests.frozen import product
from tests.frozen.golden import assert_golden
from tests.frozen.shown import PRINTED, as_golden, assert_drawn, assert_ended, assert_printed, told_live

NAMES = product.recorded("check-")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with all of them."""
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", [*map(product.race, NAMES)])


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("name", NAMES)
def test_a_check_is_printed_as_it_was(name, form, store):
    assert_printed(name, form, store)


@pytest.mark.parametrize("name", NAMES)
def test_its_page_is_as_it_was(name, store, tmp_path):
    assert_drawn(name, store, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_its_verb_ends_as_it_did(name, store, tmp_path):
    assert_ended(name, store, tmp_path)


@pytest.mark.parametrize("form", ["junit", "openmetrics", "markdown"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_written_for_ci_as_it_was(name, form, store, tmp_path):
    written = product.check_file(product.race(name), form, store=store, folder=tmp_path)
    assert_golden(f"{name}/{form}.txt.gz", written)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_as_it_was_where_stderr_is_no_terminal(name, monkeypatch, capsys):
    race = product.race(name)
    sink = product.live_check(SimpleNamespace(budget_s=race.budget_s))
    assert_golden(f"{name}/live.txt", told_live(sink, race, monkeypatch, capsys))


CHECKS = {
    "equal": {},
    "noisy": {"noise": 0.04},
    "slower": {"slower": 0.06},
    "a little slower": {"slower": 0.02, "noise": 0.01},
    "more memory": {"memory": 0.08},
    "more CPU": {"cpu": 0.03, "noise": 0.005},
    "late": {"start": 0.2},
    "wrong": {"errors": 40},
    "slow tail": {"slow": 0.02},
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_a_check_says_after_each_block(name):
    whole = make_check(blocks=10, seed=4, ending=None, **CHECKS[name])
    content = []
    for blocks in range(1, 11):
        so_far = replace(whole, launches=tuple(each for each in whole.launches if each.block < blocks))
        answer = product.checked(so_far)
        states = " ".join(f"{each.response}={each.state}" for each in answer.rulings)
        settled = "over" if product.decided(so_far).settled else "goes on"
        content.append(f"{blocks}: {settled}, {answer.outcome}, {states}")
    as_golden(f"check, {name}", content)
