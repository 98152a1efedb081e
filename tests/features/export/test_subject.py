"""Whose request an export takes."""

import pytest
from tests.factories import make_race

from stackrace.base.errors import StoreError
from stackrace.features.export.subject import _request_of
from stackrace.race.request.request import RaceRequest
from stackrace.store import open_store
from stackrace.store.race_lock import race_lock


def test_a_check_has_no_request_and_is_waited_for_as_long_as_it_runs(tmp_path, new_store, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (path := tmp_path / "races.sqlite3").write_bytes(new_store.read_bytes())
    race, here = make_race(2, blocks=1), RaceRequest(folder=tmp_path)
    with open_store(f"sqlite:///{path}") as store:
        store.begin(race)
        with race_lock(race.id, new=True), pytest.raises(StoreError, match="going on at this moment"):
            _request_of(race, here, store)
        request, (note,) = _request_of(race, here, store)
    assert request is here
    assert note.startswith(
        f"Race {race.id} is stored without its request, as a check is, so the app is the one in "
    )
