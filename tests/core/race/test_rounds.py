"""Blocks of slices for cells that are chosen anew before each."""

from stackrace.race.results.race import Ending

from .simulated import PATHS, SPEEDS, Nowhere, race


def levels_of(finished, block):
    return sorted(
        (launch.stack, one.load.concurrency)
        for launch in finished.launches for one in launch.slices if launch.block == block
    )  # fmt: skip


def everything(race, cells):
    return cells


def test_all_cells_are_measured_alike_until_the_budget_is_spent(clock):
    finished, _ = race(
        clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), budget_s=120.0, exhaustive=True, choose=everything
    )
    assert finished.ending is Ending.BUDGET
    assert 80 <= finished.elapsed_s <= 120
    for block in range(3):
        assert levels_of(finished, block) == sorted((path, level) for path in PATHS for level in (1, 10))


def test_what_is_not_wanted_any_more_leaves_its_time_to_the_rest(clock):
    def fewer(race, cells):
        begun = any(launch.slices for launch in race.launches)
        return [one for one in cells if not begun or (one.stack.path, one.load.concurrency) == ("gunicorn", 10)]

    finished, _ = race(
        clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), budget_s=120.0, exhaustive=True, choose=fewer
    )
    whole, _ = race(
        clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), budget_s=120.0, exhaustive=True, choose=everything
    )
    assert {one.stack for one in finished.launches if one.block} == {"gunicorn"}
    assert finished.launches[-1].block > 2 * whole.launches[-1].block
    assert set(levels_of(finished, 1)) == {("gunicorn", 10)}


def test_the_race_is_over_when_no_cell_is_left(clock):
    def two_blocks(race, cells):
        return cells if len(race.launches) < 2 * len(PATHS) else ()

    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, budget_s=120.0, choose=two_blocks)
    assert finished.ending is Ending.ANSWERED
    assert len(finished.launches) == 2 * len(PATHS)


def test_runs_leave_out_what_is_not_wanted_any_more(clock):
    def fewer(race, cells):
        return [one for one in cells if one.stack.path == "waitress"] if race.launches else cells

    finished, _ = race(
        clock, Nowhere(clock, SPEEDS), PATHS, repeats=4, run={"requests": 100}, budget_s=None, choose=fewer
    )  # fmt: skip
    assert [one.stack for one in finished.launches if one.block] == ["waitress"] * 3
