"""What events make of the live view."""

from types import SimpleNamespace

from tests.factories import make_race

from stackrace.cli.progress import LiveSink
from stackrace.race.events import BlockEnded, BlockStarted, RaceStarted


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
