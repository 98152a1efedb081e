"""What the twins and drift make of a standing."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from tests.factories import each_launch, each_slice, make_load

from stackrace.base.verdict import Effect
from stackrace.measure.load import TargetResult
from stackrace.race.judge.decisions import decisions
from stackrace.race.judge.race_view import race_view
from stackrace.race.judge.ranking import standing
from stackrace.race.results.answer import Answer, AnswerKind
from stackrace.report.words import findings as say
from stackrace.report.words.standing_sentences import words_of

from .raced import launch_of, merged, race_of, slice_of

HEADLINE = ("", "c=20")


def twinned(rates, *, twin="a", ratio=1.0, blocks=10, sd=0.02, drift=0.0, alone=(), levels=(20,), seed=3):
    """A race with a twin that is ``ratio`` times as fast as its original; blocks drift, but for those ``alone``."""
    dice = random.Random(seed)
    speeds = rates | {f"{twin}#twin": rates[twin] * ratio}
    launches, index = [], 0
    for block in range(blocks):
        weather = dice.gauss(0, 0.05)
        for stack in dice.sample(list(speeds), len(speeds)):
            moved = 0.0 if stack in alone else drift * block / (blocks - 1)
            slices = []
            for level in levels:
                rate = speeds[stack] * math.exp(weather + moved + dice.gauss(0, sd))
                slices.append(replace(slice_of(rate, load=make_load(level)), index=index))
                index += 1
            launches.append(launch_of(stack, block, *slices))
    race = race_of(rates, blocks=0, levels=levels)
    return replace(race, launches=tuple(launches), twin=twin)


def checks_of(found):
    return {say.title(one): one.effect for one in found.verdict.findings}


def without_twin(race):
    return replace(race, twin="", launches=tuple(one for one in race.launches if "#" not in one.stack))


def test_a_twins_launches_count_as_its_originals():
    race = twinned({"a": 1000, "b": 1300, "c": 700})
    found, without = (standing(one, merge=merged) for one in (race, without_twin(race)))
    assert found.verdict.valid
    assert found.settled
    assert {row.stack: (row.launches, row.slices) for row in found.rows} == {
        "a": (10, 20),
        "b": (10, 10),
        "c": (10, 10),
    }
    assert [row.stack for row in found.rows] == [row.stack for row in without.rows]
    assert found.answer.kind is without.answer.kind


def test_twins_that_differ_void_the_race_and_the_answer_says_so_first():
    race = twinned({"a": 1000, "b": 1300}, ratio=1.2)
    found = standing(race, merge=merged)
    assert not found.verdict.valid
    assert not found.settled
    assert found.answer == Answer(kind=AnswerKind.VOID)
    assert (found.leads, found.reason, found.costs, found.conditions) == ((), None, None, ())
    assert words_of(race, found).answer.startswith(
        "This race is void: a ran twice under two names, and at c=20 its twin delivered 1."
    )
    assert checks_of(found)["twins differ"] is Effect.INVALIDATES
    # what was measured stays there to look at
    assert {row.stack for row in found.rows} == {"a", "b"}


def test_any_level_can_void_a_race_and_all_levels_share_the_error():
    race = twinned({"a": 1000, "b": 1300}, levels=(1, 20))
    wide, narrow = race_view(race, HEADLINE).twins[1], race_view(twinned({"a": 1000, "b": 1300}), HEADLINE).twins[0]
    assert race_view(race, HEADLINE).twins[0].where == "at c=1"
    assert wide.low < 1 < wide.high and narrow.low < 1 < narrow.high


def test_identical_twins_seldom_void_a_race():
    """25 races see a check that voids one in five of them."""
    voided = sum(
        not standing(
            twinned({"a": 1000, "b": 1010, "c": 990}, seed=seed, levels=(1, 20)), merge=merged
        ).verdict.valid
        for seed in range(25)
    )
    assert voided <= 1


def test_a_race_whose_twins_differ_decides_to_go_on():
    assert decisions(twinned({"a": 1000, "b": 1300})).settled
    assert not decisions(twinned({"a": 1000, "b": 1300}, ratio=1.2)).settled


def test_a_drift_that_all_share_is_told_and_no_more():
    found = standing(twinned({"a": 1000, "b": 1300}, drift=-0.3), merge=merged)
    assert found.verdict.valid
    assert checks_of(found)["throughput drifts"] is Effect.WARNS
    assert found.answer.kind in (AnswerKind.BEST, AnswerKind.GOOD)
    assert found.answer.stacks == ("b",)


def test_a_drift_that_one_stack_does_not_share_voids_the_race():
    race = twinned({"a": 1000, "b": 1300}, drift=-0.4, alone=("b",))
    found = standing(race, merge=merged)
    assert checks_of(found)["throughput drifts"] is Effect.INVALIDATES
    assert words_of(race, found).answer.startswith("This race is void: the stacks ended ")
    assert " changed otherwise" in words_of(race, found).answer


def lengthened(one):
    return replace(one, result=replace(one.result, bytes_read=one.result.counts.ok * 11_000))


def test_longer_answers_are_told_with_their_stacks():
    found = standing(each_slice(race_of({"a": 1000, "b": 1300}), lengthened, "b"), merge=merged)
    (finding,) = found.verdict.findings
    assert say.title(finding) == "answer sizes"
    assert say.seen(finding) == "at c=20 an answer of b is 11000 bytes long, one of a 10240"
    assert found.verdict.valid


def test_answers_half_read_at_the_end_of_a_slice_are_no_difference():
    def at(peak):
        crowded = lambda one: replace(one, result=replace(one.result, established_peak=peak))  # noqa: E731
        race = each_slice(each_slice(race_of({"a": 1000, "b": 1300}), lengthened, "b"), crowded)
        return [say.title(one) for one in standing(race, merge=merged).verdict.findings]

    assert at(20) == ["answer sizes"]
    assert at(1000) == []


def test_answers_of_several_urls_are_compared_once_rounds_in_the_middle_no_longer_show():
    def of_urls(one, peak):
        target = TargetResult(name="GET /", counts=one.result.counts, latency=one.result.latency)
        return replace(one, result=replace(one.result, targets=(target,), established_peak=peak))

    race = race_of({"a": 1000, "b": 1300})
    least = min(one.result.counts.ok for launch in race.launches for one in launch.slices)

    def said(peak):
        longer = each_slice(each_slice(race, lengthened, "b"), lambda one: of_urls(one, peak))
        return [say.title(one) for one in standing(longer, merge=merged).verdict.findings]

    assert said(least // 50) == ["answer sizes"]
    assert said(10 * least) == []


def test_a_launch_that_its_own_checks_refuse_does_not_count():
    race = race_of({"a": 1000, "b": 1300})
    refused = standing(twinned({"a": 1000, "b": 1300}, ratio=1.5), merge=merged).verdict
    marked = each_launch(race, lambda one: replace(one, verdict=refused) if one.block < 4 else one, "b")
    found = standing(marked, merge=merged)
    assert {row.stack: row.launches for row in found.rows} == {"a": 10, "b": 6}
