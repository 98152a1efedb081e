"""What is seen while a visit is recorded."""

from __future__ import annotations

import io

import pytest

from stackrace.base.errors import LaunchError
from stackrace.cli.edge import printable_output
from stackrace.features.recordings.recording_proxy import Seen
from stackrace.features.recordings.verb import _watch


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Proxy:
    """Has one request to tell of, and is gone then."""

    origin = "http://127.0.0.1:8000"

    def __init__(self) -> None:
        self._told = False

    def require_alive(self) -> None:
        if self._told:
            raise LaunchError("it is gone")

    def news(self):
        self._told = True
        yield Seen(method="GET", path="/\x1b[2J", status=200)


def test_on_a_terminal_the_last_request_is_drawn_over_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with printable_output():
        failure = _watch(Proxy(), None)
    assert failure is not None
    assert "\r\x1b[K1 request; the last: GET / 200\n" in terminal.getvalue()
