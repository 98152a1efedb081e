"""Other programs on the race's cores: what they disturb never counts, and the race waits until they are gone."""

import math
from dataclasses import replace

from tests.core.race.simulated import SPEEDS, Nowhere, race
from tests.factories import each_launch, make_race

from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.host import Disturbance, MachineDelta, Offender
from stackrace.race.events import Activity, Progress
from stackrace.race.judge.levels import measured_levels
from stackrace.race.results.race import Ending
from stackrace.race.run.steps import _LONGEST_WAIT_S
from stackrace.report.words.findings import busy, disturbed

PATHS = tuple(SPEEDS)
BUILD = Offender(pid=812, name="cc1", share=0.48)


class Busy(Nowhere):
    """A machine where a build has half of the stacks' core while ``building`` says so."""

    building = staticmethod(lambda now: True)
    only_loaded = False

    def load(self, stack, workload, load, rewarm_s, limit_s=float("inf")):
        begun = self.clock.now
        seen = super().load(stack, workload, load, rewarm_s, limit_s)
        if not (self.building(begun) or self.building(self.clock.now)):
            return seen
        machine = MachineDelta(
            elapsed_s=1.0, cores=2, busy_s=0.5, own_s=0.0, stack_cores=1, stack_cores_busy_s=0.48
        )
        return replace(seen, machine=machine, offenders=(BUILD,))

    def disturbance(self):
        super().disturbance()
        there = self.building(self.clock.now) and not self.only_loaded
        return Disturbance(share=0.48, offenders=(BUILD,)) if there else Disturbance()


def verdicts(finished):
    return [slice_.verdict for launch in finished.launches for slice_ in launch.slices]


def test_what_is_disturbed_all_along_never_counts_and_the_busy_program_is_named(clock):
    finished, events = race(clock, Busy(clock, SPEEDS), PATHS, budget_s=60.0)
    assert finished.ending is Ending.BUDGET and finished.elapsed_s <= 60.0 + 1.0
    assert measured_levels(finished) == []
    assert busy(verdicts(finished)).startswith("this machine is busy: cc1 (pid 812) had 48 % of core 0")
    waits = [event for event in events if isinstance(event, Progress) and event.activity is Activity.WAITING]
    assert disturbed(waits[0].disturbance) == "waiting for quiet: cc1 (pid 812) has 48 % of the race's cores"
    unnamed = replace(waits[0].disturbance, offenders=())
    assert disturbed(unnamed) == "waiting for quiet: other programs have 48 % of the race's cores"


def test_what_the_hypervisor_steals_never_counts_and_is_named(clock):
    machine = Nowhere(clock, SPEEDS)
    machine.load = lambda *asked, load=machine.load: replace(
        load(*asked), machine=MachineDelta(elapsed_s=1.0, cores=2, busy_s=0.5, own_s=0.0, steal_s=0.2)
    )
    finished, _ = race(clock, machine, PATHS, budget_s=60.0)
    assert finished.ending is Ending.BUDGET
    assert measured_levels(finished) == []
    assert busy(verdicts(finished)).startswith("this machine is busy: the hypervisor gave 10 % of this")


def test_runs_without_a_budget_wait_for_a_minute_in_all(clock):
    finished, _ = race(clock, Busy(clock, SPEEDS), PATHS, budget_s=None, repeats=9, run={"requests": 100})
    assert measured_levels(finished) == []
    runs = sum(len(launch.slices) for launch in finished.launches)
    assert runs == 9 * len(PATHS)
    assert finished.elapsed_s < _LONGEST_WAIT_S + 5 * runs


def test_a_race_goes_on_when_the_program_has_ended(clock):
    machine, begun = Busy(clock, SPEEDS), clock.now
    machine.building = lambda now: now < begun + 40.0
    finished, _ = race(clock, machine, PATHS, budget_s=300.0)
    assert {stack for level in measured_levels(finished) for stack in level.stacks} == set(PATHS)
    assert finished.ending is Ending.ANSWERED
    assert all(launch.slices[-1].verdict.valid for launch in finished.launches)


def test_bursts_cost_their_slices_and_no_others(clock):
    machine = Busy(clock, SPEEDS)
    machine.building = lambda now: now % 4.0 < 0.3
    finished, _ = race(clock, machine, PATHS, budget_s=200.0)
    refused = [verdict for verdict in verdicts(finished) if not verdict.valid]
    assert refused
    assert finished.ending is Ending.ANSWERED
    assert busy(verdicts(finished)) != "" and measured_levels(finished)


def test_a_program_that_works_only_while_the_stacks_do_is_taken_for_one_of_the_apps(clock):
    """The user's own database, say: without it no slice would ever count."""
    machine = Busy(clock, SPEEDS)
    machine.only_loaded = True
    finished, _ = race(clock, machine, PATHS, budget_s=300.0)
    assert {stack for level in measured_levels(finished) for stack in level.stacks} == set(PATHS)
    last = verdicts(finished)[-1].findings
    assert [(found.check, found.effect, found.cure) for found in last if found.check == "contention"] == [
        ("contention", Effect.WARNS, "needed")
    ]


def test_a_block_in_which_one_stack_was_only_disturbed_counts_for_none():
    """A stack with many processes gets through where the others do not, and would win in their absence."""
    race = make_race(["a", "b", "c"], blocks=3)
    refused = Verdict((Finding(check="contention", effect=Effect.INVALIDATES),))
    hit = next(launch for launch in race.launches if launch.stack == "b" and launch.block == 1)
    spoilt = replace(hit, slices=tuple(replace(each, verdict=refused) for each in hit.slices))
    launches = tuple(spoilt if launch is hit else launch for launch in race.launches)
    for level in measured_levels(replace(race, launches=launches)):
        assert all(math.isnan(by_block[1]) for by_block in level.values)
        assert not any(math.isnan(by_block[block]) for by_block in level.values for block in (0, 2))


def test_a_disturbed_slice_that_was_measured_again_spoils_no_block():
    race = make_race(["a", "b"], blocks=2)
    refused = Verdict((Finding(check="contention", effect=Effect.INVALIDATES),))
    twice = each_launch(
        race, lambda one: replace(one, slices=(replace(one.slices[0], verdict=refused), *one.slices))
    )
    assert [level.values for level in measured_levels(twice)] == [level.values for level in measured_levels(race)]
