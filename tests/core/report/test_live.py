import io
import sys

import pytest
from tests.factories import STACKS, make_failure, make_race, make_standing
from tests.terminals import Terminal

from stackrace.race.events import Activity
from stackrace.report.live import LiveState, LiveView, Mishap


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


def test_the_standing_is_the_progress_with_who_has_left_and_when_an_answer_is_likely(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    race = make_race(5, failures={STACKS[4]: make_failure()})
    mishap = Mishap(stack=STACKS[4], block=1, failure=make_failure())
    with LiveView(terminal) as view:
        view.update(
            state(
                block=3, stacks=race.stacks, out={STACKS[3]: 2}, answer_s=40, standing=make_standing(race),
                mishaps=(mishap,),
            )
        )  # fmt: skip
        lines = terminal.getvalue().splitlines()
    assert any("about 40 s to the likely answer" in line for line in lines)
    assert any(line.startswith("Provisional standing at c=100; it may change") for line in lines)
    (first,) = (line for line in lines if line.startswith(STACKS[0]))
    assert "━●" in first
    (left,) = (line for line in lines if "left (block 2)" in line)
    assert left.startswith("nginx/http/gunicorn:")
    assert any(line.startswith(STACKS[4].split(",")[0]) and "never became ready" in line for line in lines)
    assert "\x1b[3" not in terminal.getvalue()


def test_before_the_first_block_all_stacks_wait_in_the_standing(terminal):
    with LiveView(terminal) as view:
        view.update(state(block=1, stacks=STACKS[:3]))
        text = terminal.getvalue()
    assert "No standing yet" in text
    assert all(stack.split(",")[0] in text for stack in STACKS[:3])


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
