"""Every cell without a figure has a reason that was recorded when it happened: nothing is inferred from silence."""

import gzip
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.factories import each_launch, each_slice, make_finding, make_race

from stackrace.base.codec import decode
from stackrace.base.errors import BreakdownError, InterruptedRace, StoreError
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.engine.histogram import quantiles
from stackrace.measure.host import Disturbance, Offender
from stackrace.measure.launch import EndedBy, Failure, FailureKind
from stackrace.race.events import LaunchEnded, LaunchStarted, RaceEnded, RaceStarted, SliceEnded
from stackrace.race.judge.decisions import Decisions
from stackrace.race.judge.ranking import standing, why_missing
from stackrace.race.results.race import Ending, Race
from stackrace.race.run import runner
from stackrace.race.run.resume import going_on
from stackrace.report.words import answer_sentence
from stackrace.report.words.findings import failure_message
from stackrace.validity.cores import contention

from .simulated import PATHS, SPEEDS, Nowhere, plan_for, race

RECORDED = Path(__file__).parents[2] / "frozen" / "recorded"


def reasons(finished):
    """The reason of each cell without a figure, by stack and level; every one is there."""
    stands = standing(finished, merge=quantiles)
    figures = {(row.stack, level.workload, level.load.label) for level in stands.levels for row in level.rows}
    found = {}
    for stack in finished.stacks:
        if not any(stack == placed for placed, *_ in figures):
            found[stack] = why_missing(finished, stack)
            shown = [one.failure for one in stands.withdrawals if one.stack == stack]
            assert shown == [found[stack]]
        for name in tuple(finished.workloads) or ("",):
            for load in finished.loads:
                if stack in finished.limits.get(name, finished.stacks) and (stack, name, load.label) not in figures:
                    found[stack, load.label] = why_missing(finished, stack, (name, load.label))
    for where, failure in found.items():
        assert failure is not None, where
        assert failure != Failure(kind=FailureKind.UNMEASURED), where
        assert failure_message(failure) or failure.kind is not FailureKind.REFUSED, where
    for launch in finished.launches:
        assert launch.slices or launch.failure or launch.shortfall, launch
    return found


def ended_by(found):
    return {where: why.shortfall.ended_by if why.shortfall else why.kind for where, why in found.items()}


def rebuilt(told):
    """The race as a store has it that heard ``told``."""
    launches, begun, last = {}, None, None
    for event in told:
        match event:
            case RaceStarted(race=begun):
                pass
            case LaunchStarted(launch=launch):
                launches[launch.id] = launch
            case SliceEnded(launch_id=launch_id, slice=one):
                launches[launch_id] = replace(launches[launch_id], slices=(*launches[launch_id].slices, one))
            case LaunchEnded(launch=launch):
                launches[launch.id] = launch
            case RaceEnded() as last:
                pass
    return replace(begun, launches=tuple(launches.values()), ending=last.ending)


class Restless(Nowhere):
    """Stacks that do not come to rest from the second time on."""

    def rest(self, limit_s=float("inf")):
        self.clock.now += min(10.0, limit_s)


def test_waiting_for_rest_is_the_reason_of_a_launch_without_a_slice(clock):
    finished, told = race(clock, Restless(clock, SPEEDS), PATHS, budget_s=40.0, levels=(1, 10))
    found = reasons(finished)
    assert found == reasons(rebuilt(told))
    lost = [why for where, why in found.items() if where in PATHS and why.shortfall]
    assert lost and {why.shortfall.ended_by for why in lost} == {EndedBy.BUDGET}
    assert "the budget was over after" in failure_message(lost[0])
    assert "right answer" not in answer_sentence.answer(finished, standing(finished, merge=quantiles))


@pytest.mark.parametrize("load", range(1, 13))
@pytest.mark.parametrize("run", [None, {"requests": 500}])
def test_an_interruption_is_the_reason_of_what_it_cut(clock, load, run):
    machine = Nowhere(clock, SPEEDS, interrupt_after=load)
    repeats = {"repeats": 2, "budget_s": None} if run else {}
    finished, told = race(clock, machine, PATHS, levels=(1, 10), run=run, **repeats)
    assert finished.ending is Ending.INTERRUPTED
    found = reasons(finished)
    assert found == reasons(rebuilt(told))
    assert set(ended_by(found).values()) <= {EndedBy.INTERRUPTED}
    resumed = going_on(finished, done=1, spent_s=1.0)
    reasons(replace(resumed, ending=Ending.BUDGET))


@pytest.mark.parametrize(
    "stops", [KeyboardInterrupt(), InterruptedRace("stop"), BreakdownError("its supervisor died")]
)
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_what_ends_a_race_while_a_stack_starts_is_that_launch_s_reason(clock, stops, number):
    class Stopping(Nowhere):
        def launch(self, stack, timeout_s):
            if len(self.launches) + 1 == number:
                raise stops
            return super().launch(stack, timeout_s)

    told = []
    plan = plan_for(PATHS, levels=(1, 10))
    with suppress(BreakdownError):
        runner.run(plan, Stopping(clock, SPEEDS), told.append, clock=clock)
    found = reasons(rebuilt(told))
    wanted = EndedBy.ERROR if isinstance(stops, BreakdownError) else EndedBy.INTERRUPTED
    # the fourth is the first of the second block: all have figures by then
    assert (wanted in ended_by(found).values()) is (number < 4)
    if wanted is EndedBy.ERROR and found:
        assert "its supervisor died" in " ".join(map(failure_message, found.values()))


@pytest.mark.parametrize("refuses", [LaunchStarted, SliceEnded, LaunchEnded])
def test_a_full_disk_is_the_reason_of_what_it_cut(clock, refuses):
    heard, books = [], []

    def sink(event):
        if isinstance(event, refuses):
            raise StoreError("no space is left on /data")
        heard.append(event)

    plan = plan_for(PATHS, levels=(1, 10))
    original = runner.Ledger.end

    class Kept(runner.Ledger):
        def end(self, *more):
            books.append(original(self, *more))
            return books[-1]

    runner.Ledger, was = Kept, runner.Ledger
    try:
        with pytest.raises(StoreError, match="no space is left"):
            runner.run(plan, Nowhere(clock, SPEEDS), sink, clock=clock)
    finally:
        runner.Ledger = was
    reasons(books[0])


def test_other_programs_that_keep_the_cores_are_the_reason(clock):
    class Busy(Nowhere):
        def load(self, *args, **more):
            seen = super().load(*args, **more)
            return replace(seen, machine=replace(seen.machine, busy_s=2.0, own_s=0.2, stack_cores_steal_s=0.0))

        def disturbance(self):
            self.clock.now += 5.0
            return Disturbance(share=0.9, offenders=(Offender(pid=7, name="stress", share=0.9),))

    finished, told = race(clock, Busy(clock, SPEEDS), PATHS, budget_s=30.0, levels=(1, 10))
    assert reasons(finished) == reasons(rebuilt(told))


def test_a_block_that_counts_for_nobody_says_whose_slices_were_taken():
    """Right answers in every slice, and no figure: the others had no undisturbed slice in the same blocks."""
    whole = make_race(2, levels=(10,), blocks=2)
    spoiled = Finding(check=contention.declaration.id, effect=Effect.INVALIDATES, value=0.9, limit=0.1)
    found = reasons(each_slice(whole, lambda one: replace(one, verdict=Verdict((spoiled,))), whole.stacks[1]))
    assert found[whole.stacks[0]].shortfall.ended_by is EndedBy.DISTURBED
    assert found[whole.stacks[0]].finding == spoiled


def test_what_refuses_a_launch_is_the_reason_where_all_its_slices_were_right():
    whole = make_race(2, levels=(10,), blocks=2)
    left = make_finding("leftovers", Effect.INVALIDATES)
    refused = each_launch(whole, lambda one: replace(one, verdict=Verdict((left,))), whole.stacks[0])
    assert reasons(refused)[whole.stacks[0]].finding == left


@pytest.mark.parametrize("ending", Ending)
def test_a_stack_that_was_never_launched_has_the_reason_of_the_race_s_end(ending):
    whole = make_race(2, levels=(10,), blocks=1)
    launches = tuple(launch for launch in whole.launches if launch.stack == whole.stacks[0])
    found = reasons(replace(whole, launches=launches, ending=ending))
    assert found[whole.stacks[1]].shortfall.ended_by.value == ending.value


def test_a_stack_that_waits_for_its_turn_has_no_reason_yet():
    whole = make_race(2, levels=(10,), blocks=1)
    launches = tuple(replace(launch, slices=()) for launch in whole.launches[:1])
    running = replace(whole, launches=launches, ending=None)
    assert [why_missing(running, stack) for stack in running.stacks] == [None, None]


def test_a_level_that_was_never_reached_says_what_came_before(clock):
    slow = dict.fromkeys(PATHS, 1000)
    for budget_s in range(15, 60, 3):
        machine = Nowhere(clock, slow)
        machine.rest_s = 2.0
        try:
            finished, told = race(clock, machine, PATHS, budget_s=float(budget_s), levels=(1, 5, 10))
        except Exception as error:
            assert "budget" in str(error)
            continue
        assert reasons(finished) == reasons(rebuilt(told))


def test_stacks_that_do_not_fit_into_memory_together_have_reasons(clock):
    for rest_s in (0.1, 2.0, 6.0):
        machine = Nowhere(clock, SPEEDS)
        machine.rest_s, machine.room, machine.sizes = rest_s, 100, dict.fromkeys(PATHS, 60)
        finished, told = race(clock, machine, PATHS, budget_s=40.0, levels=(1, 10))
        assert reasons(finished) == reasons(rebuilt(told))


@pytest.mark.parametrize("dropped", PATHS)
def test_a_stack_that_the_strategy_drops_or_that_fails_has_reasons(clock, dropped):
    def decide(so_far):
        return Decisions(settled=False, dropped=frozenset({dropped}))

    finished, told = race(clock, Nowhere(clock, SPEEDS, dying={dropped}), PATHS, budget_s=60.0, decide=decide)
    assert reasons(finished) == reasons(rebuilt(told))
    failing = Nowhere(clock, SPEEDS, not_starting=set(PATHS) - {dropped})
    finished, told = race(clock, failing, PATHS, budget_s=60.0)
    assert reasons(finished) == reasons(rebuilt(told))


def test_cells_that_the_strategy_leaves_out_have_reasons(clock):
    finished, told = race(
        clock, Nowhere(clock, SPEEDS), PATHS, budget_s=60.0, levels=(1, 10),
        choose=lambda so_far, cells: [cell for cell in cells if cell.stack.path != "cheroot"],
    )  # fmt: skip
    found = reasons(finished)
    assert "cheroot" in found and found == reasons(rebuilt(told))


def test_a_run_whose_budget_ended_while_its_stack_started_is_not_made(clock, monkeypatch):
    class Slow(Nowhere):
        def launch(self, stack, timeout_s):
            self.clock.now += 30.0
            return super().launch(stack, timeout_s)

    finished, told = race(clock, Slow(clock, SPEEDS), PATHS, budget_s=20.0, run={"requests": 500}, repeats=3)
    found = reasons(finished)
    assert found == reasons(rebuilt(told))
    assert set(ended_by(found).values()) == {EndedBy.BUDGET}


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json.gz")), ids=lambda path: path.name)
def test_recorded_races_have_reasons(path):
    def races(value):
        if isinstance(value, dict):
            if "launches" in value and "stacks" in value and "host" in value:
                yield decode(Race, value, path.name)
            else:
                for each in value.values():
                    yield from races(each)
        elif isinstance(value, list):
            for each in value:
                yield from races(each)

    for each in races(json.loads(gzip.decompress(path.read_bytes()))):
        if each.ending is not None:
            reasons(each)
