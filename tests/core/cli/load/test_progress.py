"""The line that tells how far a run is."""

from __future__ import annotations

import io

import pytest
from tests.terminals import Terminal

from stackrace.cli.load.run import ProgressLine, _progress_text
from stackrace.measure.load import Load


class Ascii(Terminal):
    encoding = "ascii"


BY_TIME = Load(concurrency=1, duration_s=10.0)
BY_NUMBER = Load(concurrency=1, requests=1000)


@pytest.mark.parametrize(
    ("load", "seen", "expected"),
    [
        (BY_TIME, (500, 0, 2.5, 200.0), ("25%", "200/s", "7.5 s left")),
        (BY_TIME, (500, 3, 11.0, 200.0), ("100%", "3 errors", "0 s left")),
        (BY_NUMBER, (240, 10, 1.0, 250.0), ("25%", "10 errors", "3 s left")),
        (BY_NUMBER, (0, 0, 1.0, 0.0), ("0%", "waiting for answers")),
        (Load(concurrency=1, requests=1000, rate_per_s=100.0), (200, 0, 2.0, 90.0), ("20%", "90.0/s", "8 s left")),
    ],
)
def test_the_line_tells_share_rate_errors_and_time_left(load: Load, seen: tuple, expected: tuple[str, ...]) -> None:
    ok, errors, elapsed_s, rate_per_s = seen
    line = _progress_text(load, 0.0, ok, errors, elapsed_s, rate_per_s)
    assert "\n" not in line
    for part in expected:
        assert part in line


def test_a_warm_up_is_told_and_does_not_count() -> None:
    assert _progress_text(BY_TIME, 2.0, 0, 0, 0.5, 0.0) == "warming up, 1.5 s left"
    assert "10%" in _progress_text(BY_TIME, 2.0, 100, 0, 3.0, 100.0)


def test_nothing_is_drawn_on_a_pipe_or_beside_json(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        line = ProgressLine(BY_TIME, 0.0, quiet=quiet, stream=stream)
        line.calibrating()
        line.draw(1, 1, 1.0)
        line.clear()
        assert stream.getvalue() == ""


def test_errors_are_red_unless_colour_is_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for unwanted in (False, True):
        if unwanted:
            monkeypatch.setenv("NO_COLOR", "1")
        else:
            monkeypatch.delenv("NO_COLOR", raising=False)
        stream = Terminal()
        line = ProgressLine(BY_TIME, 0.0, quiet=False, stream=stream)
        line.draw(100, 1, 1.0)
        line.clear()
        assert ("\x1b[31m" in stream.getvalue()) is not unwanted
        assert stream.getvalue().endswith("\r\x1b[K")


def test_a_terminal_without_bars_gets_question_marks() -> None:
    stream = Ascii()
    ProgressLine(BY_TIME, 0.0, quiet=False, stream=stream).draw(100, 0, 1.0)
    assert stream.getvalue().isascii()
