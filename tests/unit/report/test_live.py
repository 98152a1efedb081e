import io
import sys

import pytest
from tests.factories import make_failure, make_race, make_standing

from stackrace.race.activity import Activity
from stackrace.report import LiveState, Mishap
from stackrace.report.live import LiveView


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "30")
    return Terminal()


def state(level="", activity=Activity.WARMING_UP, **changes):
    return LiveState(activity=activity, level=level, slices_planned=96, stack="gunicorn", **changes)


def test_a_pipe_gets_one_plain_line_per_block_and_failure():
    out = io.StringIO()
    mishap = Mishap(stack="bjoern", block=1, failure=make_failure(message="bad \x1b[31mthing\nnext"))
    with LiveView(out) as view:
        for _ in range(3):
            view.update(state(block=1, elapsed_s=4))
            view.update(state(block=1, elapsed_s=9, mishaps=(mishap,)))
        view.update(state(block=2, elapsed_s=65, eta_s=130, slices_done=24, mishaps=(mishap,)))
    assert out.getvalue().splitlines() == [
        "block 1, 0 of 96 slices, 4 s elapsed",
        "block 1: bjoern never became ready: bad thing next",
        "block 2, 24 of 96 slices, 1 min 5 s elapsed, at most 2 min 10 s left",
    ]


def test_a_pipe_gets_the_provisional_first_tier():
    out = io.StringIO()
    race = make_race(3)
    with LiveView(out) as view:
        view.update(state(block=3, standing=make_standing(race, ties=2)))
    assert f"first tier so far: {race.stacks[0]} and 1 more" in out.getvalue()


def test_a_terminal_is_redrawn_at_most_twice_a_second(terminal):
    clock = Clock()
    with LiveView(terminal, now=clock) as view:
        view.update(state("one"))
        drawn = len(terminal.getvalue())
        for _ in range(50):
            clock.now += 0.009
            view.update(state("two"))
        assert len(terminal.getvalue()) == drawn
        clock.now += 0.1
        view.update(state("three"))
        assert "three" in terminal.getvalue() and "two" not in terminal.getvalue()


def test_a_paused_view_writes_nothing(terminal):
    clock = Clock()
    with LiveView(terminal, now=clock) as view:
        view.update(state("one"))
        clock.now += 1
        view.pause()
        drawn = len(terminal.getvalue())
        clock.now += 10
        view.update(state("two"))
        assert len(terminal.getvalue()) == drawn
        view.resume()
        assert "two" in terminal.getvalue()


def test_pausing_first_shows_what_was_held_back(terminal):
    with LiveView(terminal, now=Clock()) as view:
        view.update(state("one"))
        view.update(state("c=20", Activity.MEASURING))
        assert "measuring" not in terminal.getvalue()
        view.pause()
        assert "measuring c=20" in terminal.getvalue()


def test_the_engine_is_calibrated_in_words():
    assert LiveState(activity=Activity.CALIBRATING).action == "calibrating the load engine"


def test_a_paused_pipe_tells_its_lines_afterwards():
    out = io.StringIO()
    with LiveView(out) as view:
        view.pause()
        view.update(state(block=1))
        assert out.getvalue() == ""
        view.resume()
    assert out.getvalue().startswith("block 1")


def test_the_terminal_shows_progress_failures_and_the_provisional_standing(terminal):
    race = make_race(4)
    mishap = Mishap(stack="bjoern", block=1, failure=make_failure())
    with LiveView(terminal) as view:
        view.update(
            state(block=2, slices_done=24, elapsed_s=65, eta_s=130, mishaps=(mishap,), standing=make_standing(race))
        )
        text = terminal.getvalue()
    for words in ("24/96 slices", "1 min 5 s", "2 min 10 s left", "block 2", "bjoern", "nginx/http/gunicorn:"):
        assert words in text


def test_a_long_standing_is_cut_to_the_terminal(terminal, monkeypatch):
    monkeypatch.setenv("LINES", "12")
    with LiveView(terminal) as view:
        view.update(state(standing=make_standing(make_race(18, blocks=1))))
        assert terminal.getvalue().count("\n") < 12


def test_standard_output_stays_where_it_is(terminal, capsys):
    with LiveView(terminal):
        sys.stdout.write("a result\n")
    assert capsys.readouterr().out == "a result\n"


def test_updates_outside_the_view_are_harmless(terminal):
    view = LiveView(terminal)
    view.update(state())
    view.resume()
    assert terminal.getvalue() == ""
