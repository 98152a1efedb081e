"""The standing: from launches to tiers and sentences."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.factories import make_failure, make_load, make_race

from stackrace.base import ids
from stackrace.measure.launch import FailureKind, MemorySample
from stackrace.race.decisions import decisions
from stackrace.race.results.answer import AnswerKind
from stackrace.race.results.race import Ending
from stackrace.race.standing import standing
from stackrace.report.words.findings import failure_message
from stackrace.report.words.standing import words_of
from stackrace.stats.values import Question

from .raced import BAD, launch_of, merged, race_of, race_with_workloads, slice_of


def test_a_clear_winner_is_named_with_its_margin():
    race = race_of({"a": 1000, "b": 1700, "c": 500})
    found = standing(race, merge=merged)
    assert found.settled
    assert [row.stack for row in found.rows] == ["b", "a", "c"]
    assert [row.tier for row in found.rows] == [1, 2, 3]
    assert found.answer.kind is AnswerKind.BEST
    assert (found.answer.stacks, found.answer.next_best, found.answer.rivals) == (("b",), "a", ())
    assert words_of(race, found).answer.startswith("b is the best: it delivers 1.")
    assert words_of(race, found).answer.endswith("the throughput of a, the next best.")
    second = found.rows[1]
    assert second.ratio.low < 1 / 1.7 < second.ratio.high
    assert (found.rows[0].ratio.low, found.rows[0].ratio.high) == (1, 1)


def left_early(second):
    """A race that c left after two blocks: it did 100 requests a second, then ``second``."""
    race = race_of({"a": 1000, "b": 700, "c": 100}, last={"c": 1}, sd=0.01)
    launches = [
        replace(each, slices=(slice_of(second, load=make_load(20)),))
        if (each.stack, each.block) == ("c", 1)
        else each
        for each in race.launches
    ]
    return standing(replace(race, launches=tuple(launches)), merge=merged).rows


def test_a_stack_that_left_early_keeps_its_limits_and_its_tier():
    rows = standing(race_of({"a": 1000, "b": 600, "c": 100}, last={"c": 1}, sd=0.01), merge=merged).rows
    assert [(row.stack, row.tier) for row in rows] == [("a", 1), ("b", 2), ("c", 3)]
    assert rows[1].ratio.high < 1 and rows[2].ratio.high < 1


def test_two_launches_of_two_stacks_answer_but_do_not_order_them():
    race = race_of({"a": 1000, "b": 730}, blocks=2, sd=0.001)
    found = standing(race, merge=merged)
    assert found.settled
    assert [(row.stack, row.tier) for row in found.rows] == [("a", 1), ("b", 1)]
    assert found.rows[1].ratio.low == pytest.approx(found.rows[1].ratio.value / 1.5)
    assert found.rows[1].ratio.high == 1
    assert words_of(race, found).answer.startswith(
        "a is the best, or within 5 % of it: it delivers 1.37× (1.00–2.0"
    )


def test_a_stack_whose_limits_are_a_factor_of_ten_apart_has_none_and_is_in_the_tier_of_the_leader():
    *_, last = left_early(2000)
    assert (last.stack, last.tier) == ("c", 1)
    assert last.ratio.low is last.ratio.high is None


def test_rates_have_the_quotients_of_the_ratios_though_a_stack_left_early():
    rows = race_of({"a": 1000, "b": 700, "c": 100}, last={"c": 1}, sd=0.01, seed=8)
    found = standing(rows, merge=merged).rows
    for row in found:
        quotient = row.throughput_per_s.value / found[0].throughput_per_s.value
        assert quotient == pytest.approx(row.ratio.value)
        assert row.throughput_per_s.low < row.throughput_per_s.value < row.throughput_per_s.high


def test_twins_are_a_tie_once_enough_is_known():
    race = race_of({"a": 1000, "b": 1000, "c": 300}, blocks=28, exhaustive=True)
    found = standing(race, merge=merged)
    assert found.settled
    assert [row.tier for row in found.rows] == [1, 1, 2]
    assert found.answer.kind is AnswerKind.ALIKE
    assert set(found.answer.stacks) == {"a", "b"}
    assert found.answer.within < 0.05
    assert words_of(race, found).answer.endswith(f"; every other stack is slower than {found.answer.stacks[0]}.")
    assert " are equally good: they differ by at most " in words_of(race, found).answer
    assert found.resolution is not None
    assert found.resolution < 0.05


def test_noisy_twins_cannot_be_told_apart_yet():
    race = race_of({"a": 1000, "b": 1000, "c": 50}, blocks=4, sd=0.25)
    found = standing(race, merge=merged)
    assert not found.settled
    assert found.answer.kind is AnswerKind.UNDECIDED
    first, other = found.answer.stacks[0], found.answer.rivals[0]
    assert {first, other} == {"a", "b"}
    assert words_of(race, found).answer.startswith(f"No winner yet: {first} leads; {other} may be better; ")
    assert "c" not in [row.stack for row in found.rows if row.tier == 1]


def test_one_launch_of_each_tells_nothing():
    race = race_of({"a": 1000, "b": 2000}, blocks=1)
    found = standing(race, merge=merged)
    assert not found.settled
    assert "a single launch proves nothing" in words_of(race, found).answer
    assert found.rows[0].stack == "b"
    assert found.rows[1].ratio.low is None
    assert found.rows[0].throughput_per_s.low is None
    assert found.resolution is None


def test_somebody_who_is_good_enough_is_named_before_the_last_doubt_is_gone():
    race = race_of({"a": 1000, "b": 960}, blocks=7, sd=0.03, seed=4)
    found = standing(race, merge=merged)
    assert found.settled
    assert found.answer.kind is AnswerKind.GOOD
    assert found.answer.within == 0.05
    assert words_of(race, found).answer.startswith("a is the best, or within 5 % of it: it delivers 1.0")


def test_when_time_is_over_it_is_said_how_far_the_leader_may_be_behind():
    race = race_of({"a": 1000, "b": 960, "c": 970, "d": 500}, blocks=5, sd=0.06, ending=Ending.BUDGET)
    found = standing(race, merge=merged)
    assert not found.settled
    assert found.answer.kind is AnswerKind.CLOSE
    assert 0.05 < found.answer.within < 0.25
    assert "d" not in found.answer.rivals
    assert " is the best of these, or at most " in words_of(race, found).answer
    assert " behind; " in words_of(race, found).answer
    assert words_of(race, found).answer.endswith(" more would decide.")
    assert found.answer.needed_s > 0


def test_a_leader_that_may_be_far_behind_is_no_advice():
    race = race_of({"a": 1000, "b": 990}, blocks=3, sd=0.3)
    found = standing(race, merge=merged)
    assert found.answer.kind is AnswerKind.UNDECIDED
    assert words_of(race, found).answer.startswith("No winner yet: ")


def test_forty_launches_are_as_many_as_a_race_makes():
    race = race_of({"a": 1000, "b": 1000}, blocks=40, sd=0.3)
    found = standing(race, merge=merged)
    assert not found.settled
    assert "40 launches of each" in words_of(race, found).answer


def test_a_ranking_asks_for_every_place():
    twins = {"a": 2000, "b": 1000, "c": 1000}
    short = race_of(twins, blocks=5, sd=0.05, question=Question.RANKING)
    long = race_of(twins, blocks=40, sd=0.015, question=Question.RANKING)
    early, late = (standing(race, merge=merged) for race in (short, long))
    assert not early.settled
    assert words_of(short, early).answer.startswith("Not every place is settled: a leads; b and c are still")
    assert late.settled
    assert late.answer.kind is AnswerKind.RANKED
    assert words_of(long, late).answer.startswith("Every place is settled; a comes first: it delivers ")


def test_a_race_of_one_stack_gives_its_figure():
    race = race_of({"a": 1000})
    found = standing(race, merge=merged)
    assert found.settled
    assert words_of(race, found).answer.startswith("a delivers ")
    assert words_of(race, found).answer.endswith("with nothing to compare it with.")
    assert found.rows[0].rank == (1, 1)


def test_the_only_stack_that_could_be_measured_has_not_won():
    race = race_of({"a": 1000, "b": 900})
    failed = tuple(
        replace(launch, slices=(), failure=make_failure()) if launch.stack == "b" else launch
        for launch in race.launches
    )
    race = replace(race, launches=failed)
    found = standing(race, merge=merged)
    assert not found.settled
    assert words_of(race, found).answer.startswith("Only a could be measured, at ")
    assert words_of(race, found).answer.endswith("b never became ready.")
    assert [one.stack for one in found.withdrawals] == ["b"]
    assert not decisions(race).settled


def test_when_nothing_could_be_measured_the_answer_says_why():
    race = make_race(2, blocks=2, failures=make_race(2, blocks=0).stacks)
    found = standing(race, merge=merged)
    assert (found.levels, found.rows, found.settled, found.reason) == ((), (), False, None)
    assert words_of(race, found).answer.startswith("Nothing could be measured: ")
    assert "No answer within 30 s" in words_of(race, found).answer
    assert len(found.withdrawals) == 2


def test_a_race_that_has_just_begun_has_no_withdrawals():
    race = make_race(2, blocks=0, ending=None)
    found = standing(race, merge=merged)
    assert words_of(race, found).answer == "Nothing has been measured yet."
    assert found.withdrawals == ()
    assert len(standing(make_race(2, blocks=0, ending=Ending.BUDGET), merge=merged).withdrawals) == 2


def test_slices_that_a_check_refused_count_for_nothing():
    clean = race_of({"a": 1000, "b": 900})
    spoilt = replace(clean, launches=tuple(
        replace(launch, slices=(*launch.slices, slice_of(9, verdict=BAD, errors=7))) for launch in clean.launches
    ))  # fmt: skip
    assert standing(spoilt, merge=merged) == standing(clean, merge=merged)


def test_a_launch_without_a_valid_slice_is_no_replicate():
    race = race_of({"a": 1000, "b": 900}, blocks=6)
    first = race.launches[0]
    spoilt = replace(first, slices=(replace(first.slices[0], verdict=BAD),))
    found = standing(replace(race, launches=(spoilt, *race.launches[1:])), merge=merged)
    assert {row.stack: row.launches for row in found.rows} == {"a": 5, "b": 6}


def test_a_stack_whose_slices_were_all_refused_is_withdrawn_with_the_usual_reason():
    race = race_of({"a": 1000, "b": 900})
    race = replace(race, launches=tuple(
        replace(launch, slices=tuple(replace(one, verdict=BAD) for one in launch.slices))
        if launch.stack == "b" else launch for launch in race.launches
    ))  # fmt: skip
    (withdrawal,) = standing(race, merge=merged).withdrawals
    assert withdrawal.failure.kind is FailureKind.REFUSED
    said = failure_message(withdrawal.failure)
    assert said == "generator and stack share core 1. Give the generator a core of its own."


def test_a_stack_that_failed_once_keeps_its_place():
    race = race_of({"a": 1000, "b": 900})
    failed = launch_of("b", 10, failure=make_failure(FailureKind.DIED))
    found = standing(replace(race, launches=(*race.launches, failed)), merge=merged)
    assert found.withdrawals == ()
    assert {row.stack: row.launches for row in found.rows} == {"a": 10, "b": 10}


def test_a_row_sums_what_its_slices_saw():
    cpu = (("nginx", 0.4), ("gunicorn", 1.6))
    slices = [slice_of(1000, cpu=cpu, errors=3, censored=["p999"]), slice_of(1000, cpu=cpu, histogram=b"i")]
    memory = (MemorySample(at_s=0, pss_bytes={"nginx": 50, "gunicorn": 9000}),)
    race = replace(race_of({"nginx/http/gunicorn": 1}, blocks=0), launches=(
        launch_of("nginx/http/gunicorn", 0, *slices, memory=memory),
        launch_of("nginx/http/gunicorn", 1, slice_of(1000, cpu=cpu)),
    ))  # fmt: skip
    (row,) = standing(race, merge=merged).rows
    assert (row.launches, row.slices, row.errors, row.requests) == (2, 3, 3, 6003)
    assert row.cpu_ms_per_request["gunicorn"] == pytest.approx(1000 * 4.8 / 6003)
    assert row.memory_bytes == {"nginx": 1000, "gunicorn": 9000}
    assert row.latency.count == 3
    assert row.latency.max == max(one.result.latency.max for one in slices)
    assert row.latency.censored == {"p999"}
    assert row.ready_s == 1.0


def test_without_histograms_the_slowest_slice_speaks_for_all():
    launch = launch_of("a", 0, slice_of(1000, histogram=b""), slice_of(500, histogram=b""))
    race = replace(race_of({"a": 1}, blocks=0), launches=(launch,))
    (row,) = standing(race, merge=merged).rows
    assert row.latency == launch.slices[1].result.latency


def test_a_launchs_value_is_the_mean_of_its_slices_logarithms():
    race = replace(race_of({"a": 1}, blocks=0), launches=(launch_of("a", 0, slice_of(500), slice_of(2000)),))
    assert standing(race, merge=merged).rows[0].throughput_per_s.value == pytest.approx(1000)


def test_the_reason_says_where_the_time_goes():
    launches = [
        launch
        for block in range(5)
        for launch in (
            launch_of("nginx/http/gunicorn", block, slice_of(900, cpu=(("nginx", 0.18), ("gunicorn", 0.72)))),
            launch_of("granian", block, slice_of(1300, cpu=(("granian", 0.65),))),
        )
    ]
    race = replace(race_of({"nginx/http/gunicorn": 1, "granian": 1}, blocks=0), launches=tuple(launches))
    assert words_of(race, standing(race, merge=merged)).reason == (
        "nginx/http/gunicorn spends 0.50 ms of CPU time per request (80 % in gunicorn, 20 % in nginx); "
        "the leader, granian, spends 0.25 ms of CPU time per request."
    )


def test_the_reason_admits_that_cpu_time_is_not_it():
    launches = [
        launch
        for block in range(5)
        for launch in (
            launch_of("slow", block, slice_of(800 + block, cpu=(("slow", 0.2),))),
            launch_of("fast", block, slice_of(1300, cpu=(("fast", 2.0),))),
        )
    ]
    race = replace(race_of({"slow": 1, "fast": 1}, blocks=0), launches=tuple(launches))
    assert words_of(race, standing(race, merge=merged)).reason.endswith(
        "per request: CPU time does not explain the difference."
    )


def test_the_headline_is_the_highest_level_that_most_stacks_were_measured_at():
    race = race_of({"a": 1000, "b": 900, "c": 600}, levels=(1, 20, 250))
    launches = tuple(
        launch if launch.stack == "a" else replace(launch, slices=launch.slices[:2]) for launch in race.launches
    )
    race = replace(race, launches=launches)
    found = standing(race, merge=merged)
    assert [len(level.rows) for level in found.levels] == [3, 3, 1]
    assert found.levels[found.headline].load.concurrency == 20
    assert words_of(race, found).answer.startswith("At 20 connections, a is the best: it delivers ")


def test_the_order_of_stacks_and_launches_does_not_matter():
    race = race_of({"a": 1000, "b": 1300, "c": 700, "d": 1010})
    launches = list(race.launches)
    random.Random(2).shuffle(launches)
    other = standing(replace(race, stacks=race.stacks[::-1], launches=tuple(launches)), merge=merged)
    for one, two in zip(standing(race, merge=merged).rows, other.rows, strict=True):
        assert (one.stack, one.tier, one.rank) == (two.stack, two.tier, two.rank)
        assert one.ratio.value == pytest.approx(two.ratio.value)


def test_warnings_are_counted_by_check():
    race = make_race()
    warned = sum(bool(one.verdict.findings) for launch in race.launches for one in launch.slices)
    assert standing(race, merge=merged).warnings == {"shared-cores": warned}


@pytest.mark.parametrize("question", Question)
@pytest.mark.parametrize("stacks", [1, 2, 12])
@pytest.mark.parametrize("blocks", [1, 2, 3, 6])
def test_any_race_has_a_standing(question, stacks, blocks):
    race = make_race(stacks, blocks=blocks, question=question)
    found = standing(race, merge=merged)
    assert len(found.rows) == stacks
    assert words_of(race, found).answer.endswith(".")
    assert [row.tier for row in found.rows[1:]] == sorted(row.tier for row in found.rows[1:])
    assert found.rows[0].ratio.value == 1


def test_of_runs_more_repeats_would_show_more():
    twins = {"a": 1000, "b": 1000}
    for blocks in (1, 50):
        race = race_of(twins, blocks=blocks, sd=0.3, repeats=blocks)
        found = standing(race, merge=merged)
        assert words_of(race, found).answer.endswith(" may be better; more repeats may decide.")


def test_memory_of_a_run_belongs_to_its_own_level():
    def launch(block, level, size):
        memory = (MemorySample(at_s=1.0, pss_bytes={"gunicorn": size}),)
        one = slice_of(1000, load=make_load(level), cpu=())
        return replace(launch_of("a", block, one, memory=memory), id=ids.encode(10 * level + block))

    launches = tuple(launch(block, level, 1000 * level) for block in range(2) for level in (1, 20))
    race = replace(make_race(stacks=["a"], levels=(1, 20), blocks=0), launches=launches, repeats=2)
    found = standing(race, merge=merged)
    assert [level.rows[0].memory_bytes["gunicorn"] for level in found.levels] == [1000, 20_000]


# Several workloads


def test_there_is_a_level_for_each_workload_at_each_load():
    race = race_with_workloads({"static": {"a": 5000, "b": 3000}, "page": {"a": 500, "b": 700}}, levels=(1, 20))
    found = standing(race, merge=merged)
    assert [(level.workload, level.load.concurrency) for level in found.levels] == [
        ("static", 1), ("static", 20), ("page", 1), ("page", 20),
    ]  # fmt: skip
    assert [level.rows[0].stack for level in found.levels] == ["a", "a", "b", "b"]
    assert found.levels[found.headline].where == "on static at c=20"
    assert words_of(race, found).answer.startswith("On static, at 20 connections, a is the best: it delivers ")
    assert found.settled


def test_where_there_is_one_load_the_answer_names_the_workload_alone():
    race = race_with_workloads({"static": {"a": 5000, "b": 4000}, "page": {"a": 500, "b": 700}})
    assert words_of(race, standing(race, merge=merged)).answer.startswith("On static, a is the best")


def test_a_single_stack_with_many_workloads_gives_a_row_for_each():
    rates = {name: {"a": rate} for name, rate in (("text", 9000), ("memcached", 2000), ("orm", 700))}
    race = race_with_workloads(rates)
    found = standing(race, merge=merged)
    assert [len(level.rows) for level in found.levels] == [1, 1, 1]
    assert [level.label for level in found.levels] == ["text, c=20", "memcached, c=20", "orm, c=20"]
    assert all(level.rows[0].throughput_per_s.low is not None for level in found.levels)
    assert words_of(race, found).answer.startswith("On text, a delivers ")
    assert words_of(race, found).answer.endswith("with nothing to compare it with.")


def test_a_workload_for_one_stack_alone_lacks_no_comparison():
    race = race_with_workloads({"static": {"a": 5000}, "page": {"b": 700, "c": 500}})
    assert standing(race, merge=merged).settled


def test_who_failed_elsewhere_is_no_rival_in_the_answer():
    race = race_with_workloads({"static": {"a": 5000}, "page": {"b": 700, "c": 500}})
    launches = tuple(
        replace(launch, slices=(), failure=make_failure()) if launch.stack == "c" else launch
        for launch in race.launches
    )
    race = replace(race, launches=launches)
    found = standing(race, merge=merged)
    assert [withdrawal.stack for withdrawal in found.withdrawals] == ["c"]
    assert "nothing to compare it with" in words_of(race, found).answer
