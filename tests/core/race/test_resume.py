"""A race that goes on is the race it would have been: same blocks, same order, what was decided stays decided."""

from dataclasses import replace

import pytest
from tests.factories import make_failure, make_race

from stackrace.base.errors import InputError
from stackrace.measure.launch import FailureKind, StackFacts
from stackrace.race.events import BlockEnded, BlockStarted, LaunchStarted, RaceResumed, SliceEnded
from stackrace.race.judge.decisions import decisions
from stackrace.race.judge.ranking import standing
from stackrace.race.results.race import Ending
from stackrace.race.run import runner
from stackrace.race.run.ledger import Ledger
from stackrace.race.run.resume import blocks_done, counted, going_on

from .simulated import PATHS, SPEEDS, Nowhere, asking, plan_for

RUNS = {"repeats": 4, "run": {"requests": 100}, "budget_s": None}


def race(clock, plan, former=None, **how):
    """Race ``plan``, or go on with ``former``; returns the race, what was told, and the order of the loads."""
    nowhere = Nowhere(clock, SPEEDS, **how)
    told = []
    finished = runner.run(replace(plan, race=former or plan.race), nowhere, told.append, clock=clock)
    return finished, told, [(path, name, load.concurrency) for path, name, load, _, _ in nowhere.seen]


def whole_blocks(told):
    """How many blocks were raced to their end, as the checkpoint knows it."""
    return sum(isinstance(event, BlockEnded) for event in told)


def order_of(race, block):
    return [launch.stack for launch in counted(race).launches if launch.block == block]


@pytest.mark.parametrize("interrupt_after", [1, 3, 6, 8, 13, 20])
def test_runs_that_go_on_come_in_the_order_they_would_have_come_in(clock, interrupt_after):
    plan = plan_for(PATHS, levels=(1, 10), seed=11, **RUNS)
    _, _, wanted = race(clock, plan)
    cut, told, before = race(clock, plan, interrupt_after=interrupt_after)
    assert cut.ending is Ending.INTERRUPTED
    done = whole_blocks(told)
    former = going_on(cut, done=done, spent_s=1.0)
    finished, told, after = race(clock, plan, former)
    cells = len(plan.cells(plan.stacks))
    assert before[: done * cells] + after == wanted
    assert finished.ending is Ending.COMPLETED
    assert (finished.resumed, finished.id) == (1, cut.id)
    assert len(counted(finished).launches) == 4 * cells
    assert isinstance(told[0], RaceResumed)


@pytest.mark.parametrize("interrupt_after", [2, 9, 30, 55])
def test_slices_that_go_on_launch_in_the_order_they_would_have_launched_in(clock, interrupt_after):
    plan = plan_for(PATHS, budget_s=120.0, seed=3, exhaustive=True)
    wanted, _, _ = race(clock, plan)
    cut, told, _ = race(clock, plan, interrupt_after=interrupt_after)
    finished, _, _ = race(clock, plan, going_on(cut, done=whole_blocks(told), spent_s=0.0))
    both = min(blocks_done(wanted), blocks_done(finished))
    assert both >= 3
    for block in range(both):
        assert order_of(finished, block) == order_of(wanted, block)


def test_what_was_spent_counts_and_the_budget_is_kept(clock):
    plan = plan_for(PATHS, budget_s=100.0, exhaustive=True)
    cut, told, _ = race(clock, plan, interrupt_after=30)
    former = going_on(cut, done=whole_blocks(told), spent_s=60.0)
    since = clock.now
    finished, _, _ = race(clock, plan, former)
    assert finished.ending is Ending.BUDGET
    assert clock.now - since <= 44.0
    assert 90 <= finished.elapsed_s <= 110


def test_each_block_tells_what_was_spent_by_its_end(clock):
    finished, told, _ = race(clock, plan_for(PATHS, levels=(1,), **RUNS))
    spent_s = [event.race.elapsed_s for event in told if isinstance(event, BlockEnded)]
    assert spent_s == sorted(set(spent_s)) and len(spent_s) == 4
    assert spent_s[0] > 0 and spent_s[-1] <= finished.elapsed_s


def test_a_race_with_no_time_left_for_another_block_ends_and_is_not_refused(clock):
    plan = plan_for(PATHS, budget_s=100.0, exhaustive=True)
    cut, told, _ = race(clock, plan, interrupt_after=40)
    assert whole_blocks(told)
    finished, _, _ = race(clock, plan, going_on(cut, done=whole_blocks(told), spent_s=99.0))
    assert finished.ending is Ending.BUDGET


def test_a_larger_budget_is_used(clock):
    plan = plan_for(PATHS, budget_s=100.0, exhaustive=True)
    cut, told, _ = race(clock, plan, interrupt_after=40)
    former = going_on(cut, done=whole_blocks(told), spent_s=90.0, budget_s=200.0)
    assert former.budget_s == 200.0
    finished, _, _ = race(clock, plan, former)
    assert 180 <= finished.elapsed_s <= 220


def test_slices_are_numbered_on(clock):
    plan = plan_for(PATHS, **RUNS)
    cut, told, _ = race(clock, plan, interrupt_after=8)
    last = [event.slice.index for event in told if isinstance(event, SliceEnded)][-1]
    _, told, _ = race(clock, plan, going_on(cut, done=whole_blocks(told), spent_s=1.0))
    indices = [event.slice.index for event in told if isinstance(event, SliceEnded)]
    assert indices == list(range(last + 1, last + 1 + len(indices)))


def test_the_time_that_is_left_is_told_from_what_earlier_blocks_took(clock):
    plan = plan_for(PATHS, **RUNS)
    cut, told, _ = race(clock, plan, interrupt_after=8)
    done = whole_blocks(told)
    _, told, _ = race(clock, plan, going_on(cut, done=done, spent_s=30.0 * done))
    etas = [event.eta_s for event in told if isinstance(event, BlockStarted)]
    assert etas[0] == pytest.approx(30.0 * (4 - done))
    assert etas[-1] < etas[0]


def test_a_stack_that_was_given_up_stays_so(clock):
    plan = plan_for(PATHS, **RUNS)
    cut, told, _ = race(clock, plan, interrupt_after=7, not_starting=["cheroot"])
    done = whole_blocks(told)
    assert done >= 2
    finished, told, _ = race(clock, plan, going_on(cut, done=done, spent_s=1.0))
    assert "cheroot" not in {event.launch.stack for event in told if isinstance(event, LaunchStarted)}
    assert finished.ending is Ending.COMPLETED


def test_failures_of_the_block_that_was_cut_give_nobody_up(clock):
    plan = plan_for(PATHS, levels=(1, 5, 10), **RUNS)
    cut, told, _ = race(clock, plan, interrupt_after=6, not_starting=["cheroot"])
    assert not whole_blocks(told)
    finished, _, _ = race(clock, plan, going_on(cut, done=0, spent_s=0.0))
    assert sum(launch.stack == "cheroot" for launch in counted(finished).launches) == 12


def test_a_stack_that_was_dropped_stays_so():
    raced = make_race(stacks=list(PATHS), levels=(10,), blocks=7, ending=Ending.INTERRUPTED)
    cut = replace(raced, launches=(*raced.launches, replace(raced.launches[0], id="1" * 13, block=7)))
    assert decisions(going_on(cut, done=7, spent_s=1.0)) == decisions(raced)


def test_a_race_whose_question_was_answered_just_before_the_kill_measures_nothing_more(clock):
    plan = plan_for(PATHS, budget_s=3000.0)
    speeds = {"gunicorn": 1000, "waitress": 3000, "cheroot": 1100}
    answered = runner.run(plan, Nowhere(clock, speeds), lambda event: None, clock=clock)
    assert answered.ending is Ending.ANSWERED
    former = going_on(answered, done=blocks_done(answered), spent_s=answered.elapsed_s)
    finished, _, seen = race(clock, plan, former)
    assert finished.ending is Ending.ANSWERED
    assert seen == []


# What is cut


def test_launches_of_the_block_that_was_cut_stay_and_count_nowhere():
    raced = make_race(stacks=3, levels=(10,), blocks=5, ending=Ending.INTERRUPTED)
    former = going_on(raced, done=4, spent_s=12.0)
    assert [launch.id for launch in former.launches] == [launch.id for launch in raced.launches]
    assert [launch.cut_short for launch in former.launches] == [launch.block == 4 for launch in raced.launches]
    assert (former.ending, former.elapsed_s, former.resumed) == (None, 12.0, 1)
    shorter = replace(former, launches=tuple(launch for launch in raced.launches if launch.block < 4))
    merge = lambda histograms: raced.launches[0].slices[0].result.latency  # noqa: E731
    assert standing(former, merge=merge) == standing(shorter, merge=merge)
    assert blocks_done(former) == 4


def test_what_a_cut_launch_had_failed_of_stays_readable():
    raced = make_race(stacks=2, levels=(10,), blocks=1, ending=None)
    died = replace(raced.launches[0], failure=make_failure())
    former = going_on(replace(raced, launches=(died,)), done=0, spent_s=0.0)
    (failure,) = (launch.failure for launch in former.launches)
    assert failure.kind is FailureKind.INTERRUPTED
    assert (failure.before, failure.message) == (make_failure().kind, make_failure().message)
    assert failure.log == make_failure().log


def test_a_race_that_is_interrupted_again_goes_on_again(clock):
    plan = plan_for(PATHS, levels=(1, 10), **RUNS)
    _, _, wanted = race(clock, plan)
    former, made, done = None, [], 0
    while True:
        now, told, seen = race(clock, plan, former, interrupt_after=9)
        cells = len(plan.cells(plan.stacks))
        made += seen[: whole_blocks(told) * cells]
        done += whole_blocks(told)
        if now.ending is not Ending.INTERRUPTED:
            break
        former = going_on(now, done=done, spent_s=1.0)
    assert made == wanted
    assert now.resumed >= 3


# What changed meanwhile

FACTS = StackFacts(
    stack="nginx/http/gunicorn",
    versions={"nginx": "1.22.1", "gunicorn": "23.0"},
    configs={
        "nginx/nginx.conf": "listen 127.0.0.1:43211;\npid /tmp/stackrace-01ab23cd/l1/pid;\nworker_processes 2;"
    },
    commands=("nginx -p /tmp/stackrace-01ab23cd/l1", "gunicorn --bind 127.0.0.1:39999"),
)


def resumed_ledger():
    race = make_race(stacks=["nginx/http/gunicorn"], blocks=1, ending=None, facts=(FACTS,))
    return Ledger(replace(race, resumed=1))


def test_another_port_and_another_run_directory_are_no_change():
    config = "listen 127.0.0.1:50000;\npid /var/tmp/stackrace-99999999/l1/pid;\nworker_processes 2;"
    commands = ("nginx -p /var/tmp/stackrace-99999999/l1", "gunicorn --bind 127.0.0.1:40001")
    resumed_ledger().hold_to(replace(FACTS, configs={"nginx/nginx.conf": config}, commands=commands))


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"versions": {"nginx": "1.26.0", "gunicorn": "23.0"}}, r"nginx was 1\.22\.1, now it is 1\.26\.0"),
        ({"versions": {"nginx": "1.22.1"}}, "gunicorn was 23.0, now it is absent"),
        ({"configs": {"nginx/nginx.conf": "worker_processes 4;"}}, "configuration nginx/nginx.conf differs"),
        ({"commands": ("nginx", "gunicorn --workers 9")}, "another command"),
    ],
)
def test_a_stack_that_changed_since_is_refused_by_name(now, told):
    with pytest.raises(InputError, match=told) as refused:
        resumed_ledger().hold_to(replace(FACTS, **now))
    assert "nginx/http/gunicorn" in refused.value.message


class Described(Nowhere):
    """A machine that tells what its stacks are; of all of them one version."""

    def __init__(self, clock, version):
        super().__init__(clock, SPEEDS)
        self.version = version

    def launch(self, stack, timeout_s):
        launched = super().launch(stack, timeout_s)
        return replace(launched, facts=StackFacts(stack=stack.path, versions={"server": self.version}))


@pytest.mark.parametrize("plan", [plan_for(PATHS, **RUNS), plan_for(PATHS, exhaustive=True)])
def test_a_race_whose_server_was_upgraded_stops_at_once_leaves_nothing_and_may_still_go_on(clock, plan):
    machine = Described(clock, "1.0")
    machine.interrupt_after = 40 if plan.race.repeats is None else 5
    told = []
    cut = runner.run(plan, machine, told.append, clock=clock)
    done = whole_blocks(told)
    assert done
    upgraded, told = Described(clock, "2.0"), []
    former = going_on(cut, done=done, spent_s=1.0)
    with pytest.raises(InputError, match=r"server was 1\.0, now it is 2\.0"):
        runner.run(replace(plan, race=former), upgraded, told.append, clock=clock)
    assert upgraded.up == []
    assert len([event for event in told if isinstance(event, LaunchStarted)]) == 1
    assert told[-1].ending is Ending.INTERRUPTED
    finished = runner.run(replace(plan, race=former), Described(clock, "1.0"), told.append, clock=clock)
    assert finished.ending in (Ending.COMPLETED, Ending.BUDGET)


def test_a_workload_by_name_goes_on_as_well(clock):
    plan = plan_for(PATHS, workloads=(asking("a"), asking("b")), **RUNS)
    _, _, wanted = race(clock, plan)
    cut, told, before = race(clock, plan, interrupt_after=10)
    _, _, after = race(clock, plan, going_on(cut, done=whole_blocks(told), spent_s=1.0))
    assert before[: whole_blocks(told) * 6] + after == wanted
