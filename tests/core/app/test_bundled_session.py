"""Recordings that come with a bundled app, by the names race files use."""

from pathlib import Path

import pytest

from stackrace.app.bundle import session_file
from stackrace.base.errors import InputError

SESSIONS = {"browse": Path("/apps/browse.har")}


@pytest.mark.parametrize("asked", ["bundled:browse", "/races/bundled:browse"])
def test_a_name_stands_for_its_recording(asked):
    assert session_file(Path(asked), SESSIONS) == Path("/apps/browse.har")


def test_a_file_is_itself():
    assert session_file(Path("/races/browse.har"), SESSIONS) == Path("/races/browse.har")


@pytest.mark.parametrize(("sessions", "said"), [(SESSIONS, "known are browse"), ({}, "known are none")])
def test_an_unknown_name_lists_the_known_ones(sessions, said):
    with pytest.raises(InputError, match=said):
        session_file(Path("/races/bundled:brows"), sessions)
