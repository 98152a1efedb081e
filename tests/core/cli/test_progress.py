"""What is said while a race is prepared, and what events make of the live view."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from tests.factories import make_race
from tests.terminals import Terminal

from stackrace.cli import announcer, progress
from stackrace.cli.announcer import Announcer
from stackrace.cli.event_lines import print_event
from stackrace.cli.progress import LiveSink
from stackrace.cli.stdio import printable_output
from stackrace.deploy.preparing import Preparing, Step
from stackrace.race.events import BlockEnded, BlockStarted, RaceStarted
from stackrace.report.merged_standing import standing_so_far


def test_stacks_that_a_block_leaves_out_have_left_and_who_comes_back_has_not(capsys):
    race = make_race(3, levels=(20,), blocks=2)
    first, second, third = race.stacks
    plan = SimpleNamespace(race=race, budget_s=600.0, stacks=())
    with LiveSink(plan, 0.0) as sink:
        sink(RaceStarted(race))
        sink(BlockStarted(0, (first, second, third, f"{first}#twin"), None))
        sink(BlockEnded(1, race))
        sink(BlockStarted(1, (first, f"{first}#twin", second), None))
        sink(BlockStarted(2, (first, third), None))
        sink(BlockStarted(3, (first, second, third), None))
    one, two, three, four = capsys.readouterr().err.splitlines()
    assert "left the race" not in one + four
    assert f"{third} left the race" in two
    assert f"{second} left the race" in three and f"{third} left" not in three
    assert "provisional first tier" in two


def test_a_program_that_follows_has_the_standing_of_the_view_which_is_computed_once(capsys, monkeypatch):
    race, computed = make_race(3, levels=(20,), blocks=2), []
    monkeypatch.setattr(progress, "standing_so_far", lambda race: computed.append(race) or standing_so_far(race))
    plan = SimpleNamespace(race=race, budget_s=600.0, stacks=())
    with LiveSink(plan, 0.0) as sink:
        for event in (RaceStarted(race), BlockStarted(0, race.stacks, None), BlockEnded(1, race)):
            sink(event)
            print_event(event, sink.standing)
    begun, block, line = map(json.loads, capsys.readouterr().out.splitlines())
    assert (begun["event"], block["event"], line["event"]) == ("race", "block", "standing")
    assert [row["stack"] for row in line["rows"]] == [row.stack for row in standing_so_far(race).rows]
    assert len(computed) == 1


@pytest.mark.parametrize("step", Step)
def test_every_step_has_words_on_one_line(step: Step, capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        announce(Preparing(step=step, subject="shop"))
    words = capsys.readouterr().err
    assert len(words.splitlines()) == 1 and "{" not in words


def test_each_step_is_a_line_where_nobody_looks_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn"))
        announce(Preparing(step=Step.PACKAGES))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert capsys.readouterr().err == "installing uvicorn\ninstalling an environment\nasking shop for its answers\n"


def test_progress_that_changes_often_is_a_line_once_in_a_while(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter(range(100, 1000))
    monkeypatch.setattr(announcer, "time", SimpleNamespace(monotonic=lambda: next(seconds) / 10))
    with Announcer() as announce:
        for number in range(100):
            announce(Preparing(step=Step.PAGES, subject=f"shop: {number} of 100"))
    assert capsys.readouterr().err == "asking shop: 0 of 100\nasking shop: 50 of 100\n"


def test_on_a_terminal_each_step_takes_the_place_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with printable_output(), Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn\x1b[2J"))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    start = "\r\x1b[K"
    assert terminal.getvalue() == f"{start}installing uvicorn …{start}asking shop for its answers …{start}"


def test_a_warning_stays_to_be_read_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Announcer() as announce:
        announce(Preparing(step=Step.CHANGES, subject="x" * 200))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert f"warning: {'x' * 200}\n" in capsys.readouterr().err
