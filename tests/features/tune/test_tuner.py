"""A race that tunes, on a place that measures nothing."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.core.race.simulated import Clock, Nowhere, plan_for
from tests.factories import make_race, make_result

from stackrace.api.resuming import _race_id
from stackrace.base.errors import StoreError
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.features.tune.measurements import places_of, unfit
from stackrace.features.tune.model import (
    GoalKind,
    Infeasible,
    Knob,
    Needs,
    Reference,
    Tuning,
    TuningGoal,
    TuningLimits,
    Unfit,
)
from stackrace.features.tune.search import FINAL_LAUNCHES
from stackrace.features.tune.strategy import Tuner
from stackrace.features.tune.tuning_result import leading, tuned
from stackrace.measure.launch import HopUsage, MemorySample
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending
from stackrace.race.run import runner
from stackrace.race.run.resume import going_on

THREADS = ("1", "2", "4", "8", "16", "32", "64")
KNOB = Knob(hop=0, server="waitress", name="threads", values=THREADS, numeric=True)
PATHS = ("waitress", *(f"waitress:threads={n}" for n in THREADS if n != "4"))
SPEEDS = dict(zip(PATHS, (400, 100, 200, 800, 1500, 1100, 700), strict=True))


def tuning(**changes):
    settings = {path: (path.partition("=")[2] or "4",) for path in PATHS}
    whole = Tuning(
        stack="waitress", goal=TuningGoal(), limits=TuningLimits(), knobs=(KNOB,), settings=settings,
        references={Reference.DEFAULT: "waitress"},
    )  # fmt: skip
    return replace(whole, **changes)


def tune(*, budget_s=300.0, speeds=SPEEDS, asked=None, place=None, clock=None, begun=None, **changes):
    clock = clock or Clock()
    place = place or Nowhere(clock, speeds)
    plan = plan_for(PATHS, budget_s=budget_s, slice_s=0.5, together=3, **changes)
    race = replace(begun or plan.race, parts=Parts().having(asked or tuning()))
    tuner = Tuner(ends_s=clock.now + budget_s, clock=clock)
    told = []
    plan = replace(plan, race=race)
    ended = runner.run(plan, place, told.append, scheduling=tuner, clock=clock)
    return ended, place


def test_the_best_configuration_is_found_and_those_far_behind_leave_after_a_launch():
    ended, place = tune()
    found = tuned(ended)
    assert found.settings == {"waitress.threads": "16"}
    launches = {one.stack: one.launches for one in found.responses}
    assert launches["waitress:threads=1"] == 1
    assert FINAL_LAUNCHES <= found.final_launches < found.launches == launches["waitress:threads=16"]
    (given,) = found.against
    assert given.ratio.low < 1500 / 400 < given.ratio.high
    # no more stacks are up at once than are allowed together
    assert max(up for _, up in place.launches) <= 3


def test_a_race_that_goes_on_after_an_interruption_chooses_the_same():
    clock = Clock()
    cut, _ = tune(place=Nowhere(clock, SPEEDS, interrupt_after=19), clock=clock)
    assert cut.ending is Ending.INTERRUPTED
    done = max(launch.block for launch in cut.launches)
    again, _ = tune(begun=going_on(cut, done=done, spent_s=20.0))
    assert tuned(again).stack == "waitress:threads=16"


class Stored:
    """A store of races by id, the newest first; a check has no checkpoint."""

    def __init__(self, **races):
        self._races = races

    def unfinished(self):
        return tuple(self._races)

    def load(self, race_id):
        return self._races[race_id]

    def checkpoint(self, race_id):
        return None if race_id == "check" else race_id


def test_the_last_tuning_goes_on_though_another_race_was_interrupted_later(monkeypatch):
    monkeypatch.setattr("stackrace.api.resuming.made_here", lambda race_id: True)
    monkeypatch.setattr("stackrace.api.resuming.is_racing", lambda race_id: False)
    race = make_race(stacks=2, levels=(10,), blocks=2, ending=None, elapsed_s=60.0)
    tunes = replace(race, parts=Parts().having(tuning()))
    store = Stored(check=race, later=race, tuned=tunes, earlier=tunes)
    assert _race_id("", store, "tuning") == "tuned"
    assert _race_id("", store, "") == "later"
    with pytest.raises(StoreError, match="no tuning was interrupted here; start one with: stackrace tune STACK"):
        _race_id("", Stored(later=race), "tuning")


def test_values_off_the_grid_lie_between_the_steps():
    assert 2 < KNOB.step("6") < 3
    assert (KNOB.step(None), KNOB.step("64"), KNOB.step("512")) == (-1.0, 6.0, 7.0)
    assert math.isnan(KNOB.step("sync"))
    assert np.isnan(places_of(("elsewhere",), tuning())).all()


def with_launches(change, *, blocks=2, asked=None):
    """A race of one configuration whose launches are changed."""
    race = make_race(stacks=["gunicorn:workers=4"], levels=(20,), blocks=blocks)
    return replace(race, parts=Parts().having(asked or tuning()), launches=tuple(map(change, race.launches)))


@pytest.mark.parametrize(
    ("limits", "pss_bytes", "connections", "why"),
    [
        (TuningLimits(memory_bytes=100 * 2**20), 101 * 2**20, None, Unfit.MEMORY),
        (TuningLimits(connections=8), 1, 9, Unfit.CONNECTIONS),
    ],
)
def test_more_under_load_than_allowed_makes_a_configuration_unfit(limits, pss_bytes, connections, why):
    used = MemorySample(at_s=1.0, pss_bytes={"gunicorn": pss_bytes}, connections=connections)
    race = with_launches(lambda one: replace(one, memory=(used,), slices=()), blocks=1, asked=tuning(limits=limits))
    needs = Needs(memory_bytes=pss_bytes, connections=connections)
    assert unfit(race) == (Infeasible(stack="gunicorn:workers=4", kind=why, needs=needs, measured=True),)


def refused(check):
    finding = Finding(check=check, value=0.5, limit=0.1, effect=Effect.INVALIDATES)
    return lambda launch: replace(
        launch, slices=tuple(replace(one, verdict=Verdict((finding,))) for one in launch.slices)
    )


@pytest.mark.parametrize(("check", "why"), [("overload", Unfit.RATE), ("errors", Unfit.FAILED)])
def test_what_gives_nothing_to_believe_in_two_launches_is_unfit(check, why):
    assert [one.kind for one in unfit(with_launches(refused(check)))] == [why]
    assert not unfit(with_launches(refused(check), blocks=1))


def test_memory_is_compared_without_that_of_services():
    goal = TuningGoal(kind=GoalKind.MEMORY, rate_per_s=100.0)
    asked = tuning(goal=goal, settings={"gunicorn:workers=4": ("4",)}, references={})
    usage = (
        HopUsage(hop="gunicorn", cpu_s=0.1, processes=5, threads=5, pss_bytes=50 * 2**20),
        HopUsage(hop="postgresql", cpu_s=0.1, processes=5, threads=5, pss_bytes=500 * 2**20),
    )

    def change(launch):
        slices = tuple(replace(one, usage=usage, result=make_result(100.0)) for one in launch.slices)
        return replace(launch, memory=(), slices=slices)

    found = tuned(with_launches(change, asked=asked))
    assert found.value.value == pytest.approx(50 * 2**20)
    assert found.needs.memory_bytes == 50 * 2**20


def test_how_exactly_requests_were_sent_matters_to_latency_and_not_to_memory():
    late = with_launches(refused("lag"), blocks=3, asked=tuning(goal=TuningGoal(kind=GoalKind.MEMORY)))
    assert not unfit(late)
    assert [one.kind for one in unfit(replace(late, parts=Parts().having(tuning())))] == [Unfit.FAILED]


def test_how_a_search_stands_is_its_leader_and_how_many_are_left():
    ended, _ = tune(budget_s=30.0)
    first = replace(ended, launches=tuple(launch for launch in ended.launches if launch.block == 0))
    left, of = map(
        int, re.fullmatch(r"waitress:threads=16 leads, (\d) of (\d) configurations left", leading(first)).groups()
    )
    assert 1 <= left < of == len(PATHS)
    assert leading(replace(ended, launches=())) == ""


WIDE = replace(KNOB, values=THREADS[:-2], above=THREADS[-2:], least=1, most=1024)
RESERVE = tuple(f"waitress:threads={n}" for n in WIDE.above)


def rising(top):
    """Speeds that grow up to ``top`` threads, and fall then."""
    return {
        path: 1000 - 150 * abs(THREADS.index(n) - THREADS.index(top)) for path, (n,) in tuning().settings.items()
    }


def widened(top, **changes):
    ended, _ = tune(speeds=rising(top), asked=tuning(**{"knobs": (WIDE,), "reserve": RESERVE, **changes}))
    return ended, tuned(ended)


def edges(found):
    return [(edge.name, edge.value, edge.is_largest) for edge in found.edges]


def test_a_range_whose_end_is_the_best_goes_on_until_the_best_lies_inside():
    ended, found = widened("32")
    assert found.stack == "waitress:threads=32"
    assert not {launch.stack for launch in ended.launches if launch.block == 0} & {*RESERVE}
    assert (edges(found), found.of) == ([], 7)


def test_where_the_best_lies_inside_its_range_nothing_beyond_it_is_launched():
    ended, found = widened("8")
    assert found.stack == "waitress:threads=8"
    assert not {launch.stack for launch in ended.launches} & {*RESERVE}
    assert found.of == 5


@pytest.mark.parametrize(("most", "said"), [(1024, [("threads", "64", True)]), (64, [])])
def test_a_best_at_the_end_of_all_that_was_tried_says_so_unless_the_server_takes_no_more(most, said):
    _, found = widened("64", knobs=(replace(WIDE, most=most),))
    assert found.stack == "waitress:threads=64"
    assert edges(found) == said


def test_an_end_that_a_limit_makes_is_none():
    beyond = Infeasible(stack="waitress:threads=64", kind=Unfit.MEMORY, needs=Needs(memory_bytes=2**40))
    race, _ = widened("32", knobs=(replace(KNOB, most=1024),), reserve=(), infeasible=(beyond,))
    race = replace(race, launches=tuple(one for one in race.launches if one.stack != beyond.stack))
    assert tuned(race).edges == ()
