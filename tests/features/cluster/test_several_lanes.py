"""Blocks on several machines at once."""

from __future__ import annotations

from functools import partial

from tests.core.race.conftest import clock
from tests.core.race.simulated import PATHS, SPEEDS, Nowhere, plan_for, race
from tests.core.race.test_reasons import reasons, rebuilt
from tests.core.store.conftest import store, url

from stackrace.base.errors import BreakdownError
from stackrace.features.cluster.several_lanes import SeveralLanes
from stackrace.measure.launch import EndedBy
from stackrace.race.judge.decisions import Decisions
from stackrace.race.run import runner
from stackrace.race.run.resume import Checkpoint, going_on
from stackrace.report.words.findings import failure_message
from stackrace.store.recorder import StoreSink

__all__ = ["clock", "store", "url"]


def test_a_stack_that_was_dropped_comes_back_once_a_machine_is_left_out(clock):
    """After the first round cheroot seems to be beaten; after the second it may be the best."""
    machines = {name: Nowhere(clock, SPEEDS) for name in ("one", "two")}
    seen = []

    def decide(race_):
        number = len({launch.block for launch in race_.launches})
        seen.append({launch.stack for launch in race_.launches if launch.block >= number - 2})
        dropped = frozenset({"cheroot"}) if number == 2 else frozenset()
        return Decisions(settled=number >= 6, dropped=dropped)

    race(clock, machines["one"], tuple(SPEEDS), decide=decide, lanes=partial(SeveralLanes, machines))
    assert [("cheroot" in round_) for round_ in seen[:3]] == [True, False, True]


def test_a_lost_machine_is_the_reason_of_its_launches(clock):
    class Lost(Nowhere):
        def warm_up(self, *args):
            raise BreakdownError("the machine far is lost")

    machines = {"near": Nowhere(clock, SPEEDS), "far": Lost(clock, SPEEDS)}
    finished, told = race(clock, machines["near"], PATHS, budget_s=60.0, lanes=partial(SeveralLanes, machines))
    reasons(finished)
    cut = [launch.failure for launch in rebuilt(told).launches if launch.machine == "far"]
    assert cut and {one.shortfall.ended_by for one in cut} == {EndedBy.LOST}
    assert {failure_message(one) for one in cut} == {"the machine was lost (the machine far is lost)."}


def test_a_race_on_two_machines_goes_on_after_its_last_round(store, clock):
    plan = plan_for(PATHS, levels=(1,), repeats=4, run={"requests": 100}, budget_s=None)
    checkpoint = Checkpoint(request={}, interpreter="", sources="", folder="")
    machines = {name: Nowhere(clock, SPEEDS) for name in ("one", "two")}
    lanes = partial(SeveralLanes, machines)
    raced = runner.run(plan, machines["one"], StoreSink(store, checkpoint), lanes=lanes, clock=clock)
    checkpoint = store.checkpoint(raced.id)
    assert checkpoint.blocks == 1 + max(launch.block for launch in raced.launches) > 1
    former = going_on(raced, done=checkpoint.blocks, spent_s=checkpoint.spent_s)
    assert former.launches == raced.launches
