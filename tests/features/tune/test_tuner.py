"""A race that tunes, on a place that measures nothing."""

import math
import re
from dataclasses import replace

import pytest
from tests.core.race.simulated import Clock, Nowhere, plan_for
from tests.factories import make_race, make_result

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
    tuning_of,
)
from stackrace.features.tune.result import leading, tuned
from stackrace.features.tune.search import FINAL_LAUNCHES
from stackrace.features.tune.strategy import Tuner
from stackrace.measure.launch import HopUsage, MemorySample
from stackrace.race import runner
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending

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
    tuner = Tuner(tuning=tuning_of(race), ends_s=clock.now + budget_s, clock=clock)
    told = []
    plan = replace(plan, race=race)
    ended = runner.run(plan, place, told.append, open_cells=tuner, decide=tuner.decide, clock=clock)
    return ended, place


def test_the_best_configuration_is_found_and_those_far_behind_leave_after_a_launch():
    ended, _ = tune()
    found = tuned(ended)
    assert found.stack == "waitress:threads=16"
    assert ended.ending is Ending.ANSWERED
    assert found.settings == {"waitress.threads": "16"}
    launches = {one.stack: one.launches for one in found.responses}
    assert launches["waitress:threads=1"] == 1
    assert launches["waitress:threads=16"] > FINAL_LAUNCHES


def test_it_is_compared_with_the_stack_as_given_within_limits():
    found = tuned(tune()[0])
    (given,) = found.against
    assert given.reference is Reference.DEFAULT
    assert given.ratio.low < 1500 / 400 < given.ratio.high


def test_no_more_stacks_are_up_at_once_than_are_allowed_together():
    _, place = tune()
    assert max(up for _, up in place.launches) <= 3


def test_a_short_budget_ends_with_what_is_known():
    ended, _ = tune(budget_s=30.0)
    assert ended.ending is Ending.BUDGET
    assert tuned(ended).stack == "waitress:threads=16"


def test_a_race_that_goes_on_after_an_interruption_chooses_the_same():
    clock = Clock()
    cut, _ = tune(place=Nowhere(clock, SPEEDS, interrupt_after=19), clock=clock)
    assert cut.ending is Ending.INTERRUPTED
    done = max(launch.block for launch in cut.launches)
    from stackrace.race.resume import going_on

    again, _ = tune(begun=going_on(cut, done=done, spent_s=20.0))
    assert tuned(again).stack == "waitress:threads=16"


def test_a_setting_that_decides_is_said_to_matter():
    (effect,) = tuned(tune()[0]).effects
    assert effect.matters and effect.known
    assert effect.best == "16"


def test_values_off_the_grid_lie_between_the_steps():
    asked = tuning(settings={"a": ("6",), "b": (None,), "c": ("64",), "d": ("sync",)})
    places = places_of(("a", "b", "c", "d", "e"), asked)
    assert 2 < places[0][0] < 3
    assert list(places[1:3, 0]) == [-1.0, 6.0]
    assert math.isnan(places[3][0])
    assert math.isnan(places[4][0])


def with_launches(change, *, blocks=2, asked=None):
    """A race of one configuration whose launches are changed."""
    race = make_race(stacks=["gunicorn:workers=4"], levels=(20,), blocks=blocks)
    return replace(race, parts=Parts().having(asked or tuning()), launches=tuple(map(change, race.launches)))


def test_more_memory_under_load_than_allowed_makes_a_configuration_unfit():
    asked = tuning(limits=TuningLimits(memory_bytes=100 * 2**20))

    def large(launch):
        return replace(launch, memory=(MemorySample(at_s=1.0, pss_bytes={"gunicorn": 101 * 2**20}),), slices=())

    (one,) = unfit(with_launches(large, blocks=1, asked=asked))
    assert (one.kind, one.measured, one.needs.memory_bytes) == (Unfit.MEMORY, True, 101 * 2**20)


def test_more_connections_under_load_than_allowed_make_a_configuration_unfit():
    asked = tuning(limits=TuningLimits(connections=8))

    def many(launch):
        return replace(launch, memory=(MemorySample(at_s=1.0, pss_bytes={"gunicorn": 1}, connections=9),))

    (one,) = unfit(with_launches(many, blocks=1, asked=asked))
    assert (one.kind, one.needs.connections) == (Unfit.CONNECTIONS, 9)


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


def test_finalists_that_are_not_told_apart_are_rivals():
    alike = dict.fromkeys(PATHS, 400)
    found = tuned(tune(speeds=alike, budget_s=25.0)[0])
    assert found.rivals


def test_how_a_search_stands_is_its_leader_and_how_many_are_left():
    ended, _ = tune(budget_s=30.0)
    first = replace(ended, launches=tuple(launch for launch in ended.launches if launch.block == 0))
    left, of = map(
        int, re.fullmatch(r"waitress:threads=16 leads, (\d) of (\d) configurations left", leading(first)).groups()
    )
    assert 1 <= left < of == len(PATHS)
    assert leading(replace(ended, launches=())) == ""


def test_the_figures_say_from_how_many_launches_they_are():
    found = tuned(tune()[0])
    assert FINAL_LAUNCHES <= found.final_launches <= found.launches


WIDE = replace(KNOB, values=THREADS[:-2], above=THREADS[-2:], least=1, most=1024)
RESERVE = tuple(f"waitress:threads={n}" for n in WIDE.above)


def rising(top):
    """Speeds that grow up to ``top`` threads, and fall then."""
    return {
        path: 1000 - 150 * abs(THREADS.index(n) - THREADS.index(top)) for path, (n,) in tuning().settings.items()
    }


def test_a_range_whose_end_is_the_best_goes_on_until_the_best_lies_inside():
    ended, _ = tune(speeds=rising("32"), asked=tuning(knobs=(WIDE,), reserve=RESERVE))
    found = tuned(ended)
    assert found.stack == "waitress:threads=32"
    assert not {launch.stack for launch in ended.launches if launch.block == 0} & {*RESERVE}
    assert found.edges == ()
    assert found.of == 7


def test_a_best_at_the_end_of_all_that_was_tried_says_so():
    found = tuned(tune(speeds=rising("64"), asked=tuning(knobs=(WIDE,), reserve=RESERVE))[0])
    assert found.stack == "waitress:threads=64"
    (edge,) = found.edges
    assert (edge.name, edge.value, edge.is_largest) == ("threads", "64", True)


def test_an_end_that_a_limit_or_the_server_makes_is_none():
    speeds = rising("64")
    beyond = Infeasible(stack="waitress:threads=64", kind=Unfit.MEMORY, needs=Needs(memory_bytes=2**40))
    assert tuned(tune(speeds=speeds, asked=tuning(knobs=(replace(KNOB, most=64),)))[0]).edges == ()
    (edge,) = tuned(tune(speeds=speeds, asked=tuning(knobs=(replace(KNOB, most=1024),)))[0]).edges
    assert edge.value == "64"
    at_most = tuning(knobs=(replace(KNOB, most=1024),), infeasible=(beyond,))
    race = tune(speeds=rising("32"), asked=at_most)[0]
    race = replace(race, launches=tuple(one for one in race.launches if one.stack != beyond.stack))
    assert tuned(race).edges == ()


def test_where_the_best_lies_inside_its_range_nothing_beyond_it_is_launched():
    ended, _ = tune(speeds=rising("8"), asked=tuning(knobs=(WIDE,), reserve=RESERVE))
    assert tuned(ended).stack == "waitress:threads=8"
    assert not {launch.stack for launch in ended.launches} & {*RESERVE}
    assert tuned(ended).of == 5
