"""An interrupted tuning goes on."""

from dataclasses import replace

import pytest
from tests.factories import make_race
from tests.features.tune.test_tuner import tuning

from stackrace.api.resuming import _wanted
from stackrace.base.errors import StoreError
from stackrace.race.results.parts import Parts

RACE = make_race(stacks=2, levels=(10,), blocks=2, ending=None, elapsed_s=60.0)


class Stored:
    """A store of races by id, the newest first."""

    def __init__(self, **races):
        self._races = races

    def unfinished(self):
        return tuple(self._races)

    def load(self, race_id):
        return self._races[race_id]


def test_the_last_tuning_goes_on_though_another_race_was_interrupted_later(monkeypatch):
    monkeypatch.setattr("stackrace.api.resuming.has_manifest", lambda race_id: True)
    monkeypatch.setattr("stackrace.api.resuming.is_racing", lambda race_id: False)
    store = Stored(
        later=RACE,
        tuned=replace(RACE, parts=Parts().having(tuning())),
        earlier=replace(RACE, parts=Parts().having(tuning())),
    )
    assert _wanted("", store, "tuning") == "tuned"
    assert _wanted("", store, "") == "later"
    with pytest.raises(StoreError, match="no tuning was interrupted here; start one with: stackrace tune STACK"):
        _wanted("", Stored(later=RACE), "tuning")
