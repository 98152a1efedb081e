"""A store as version 0.1.0 with its migration 0010 wrote it is read without loss, and reading alters nothing.

``tests/written`` keeps what that version wrote, for good: no later version can write it again. ``races.json.gz`` is
what it read from its own store. The races are one of the very first tables; one with a value in every field, text
that JSON and databases refuse, and numbers that are not finite; one that was interrupted and went on; one whose
process was killed; one that was altered and has a name; and an interrupted one.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, replace

import pytest
from tests.written import RACES, STORE

from stackrace.base.codec import decode, encode
from stackrace.race.results.race import Race
from stackrace.store import open_store

WRITTEN = json.loads(gzip.decompress(RACES.read_bytes()))
for race in WRITTEN["races"].values():
    race.pop("rule", None)  # nothing asks for it any longer


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """The store, opened with today's version."""
    path = tmp_path_factory.mktemp("written") / "races.sqlite3"
    path.write_bytes(gzip.decompress(STORE.read_bytes()))
    with open_store(str(path)) as store:
        yield store


@pytest.mark.parametrize("race_id", WRITTEN["races"])
def test_a_race_of_an_earlier_version_is_read_without_loss(upgraded, race_id):
    """Compared in plain form, where a NaN equals itself. What was that version's default, its file leaves out."""
    read = upgraded.load(race_id)
    assert encode(replace(read, altered="")) == encode(decode(Race, WRITTEN["races"][race_id]))
    assert (read.altered == read.notes[-1]) if WRITTEN["history"].get(race_id) else not read.altered


@pytest.mark.parametrize("race_id", WRITTEN["history"])
def test_an_upgrade_is_no_alteration_and_keeps_the_history_there_is(upgraded, race_id):
    kept = [asdict(alteration) for alteration in upgraded.alterations(race_id)]
    assert json.loads(json.dumps(kept)) == WRITTEN["history"][race_id]


def test_names_and_the_races_that_did_not_end_are_kept(upgraded):
    altered = upgraded.find("before-upgrade-2026")
    assert "altered 3 times" in upgraded.load(altered).notes[-1]
    races = WRITTEN["races"].items()
    unfinished = {race_id for race_id, race in races if race.get("ending") in (None, "interrupted")}
    assert set(upgraded.unfinished()) == unfinished and len(unfinished) == 2
    assert [summary.stacks for summary in upgraded.list(6)] == [2] * 6
