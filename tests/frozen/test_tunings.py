"""Recorded tunings are shown as they were, and simulated ones try and find what they did."""

from __future__ import annotations

import pytest
from tests.features.tune.test_tuner import PATHS as CONFIGURATIONS
from tests.features.tune.test_tuner import SPEEDS as OF_CONFIGURATIONS
from tests.features.tune.test_tuner import tune
from tests.frozen import product
from tests.frozen.shown import (
    PRINTED,
    as_golden,
    assert_drawn,
    assert_ended,
    assert_printed,
    assert_told_live,
    story,
)

NAMES = product.recorded("tuning")
LEVEL = dict(zip(CONFIGURATIONS, (1400, 900, 1200, 1450, 1500, 1490, 1480), strict=True))
RISING = dict(zip(CONFIGURATIONS, (400, 100, 200, 800, 1500, 1900, 2500), strict=True))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The URL of a store with all of them."""
    return product.store_of(tmp_path_factory.mktemp("frozen") / "races.sqlite3", [*map(product.race, NAMES)])


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("name", NAMES)
def test_a_tuning_is_printed_as_it_was(name, form, store):
    assert_printed(name, form, store)


@pytest.mark.parametrize("name", NAMES)
def test_its_page_is_as_it_was(name, store, tmp_path):
    assert_drawn(name, store, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_its_verb_ends_as_it_did(name, store, tmp_path):
    assert_ended(name, store, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_told_as_it_was_where_stderr_is_no_terminal(name, monkeypatch, capsys):
    assert_told_live(name, monkeypatch, capsys)


TUNINGS = {
    "clear": (OF_CONFIGURATIONS, {}),
    "short": (OF_CONFIGURATIONS, {"budget_s": 30.0}),
    "close": (LEVEL, {"budget_s": 600.0}),
    "at the end": (RISING, {}),
}


@pytest.mark.parametrize("name", TUNINGS)
def test_what_a_tuning_tries_and_finds(name):
    speeds, asked = TUNINGS[name]
    ended, _ = tune(speeds=speeds, **asked)
    found, content = product.found(ended), story(ended)
    content |= {
        "found": found.stack,
        "rivals": list(found.rivals),
        "equals": list(found.equals),
        "tried": found.tried,
        "final launches": found.final_launches,
        "matters": {f"{each.server}.{each.name}": each.matters for each in found.effects},
        "edges": [f"{each.server}.{each.name}={each.value}" for each in found.edges],
    }
    as_golden(f"tuning, {name}", content)
