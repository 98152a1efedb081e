"""The standing: from launches to tiers and sentences."""

from __future__ import annotations

import random
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from tests.factories import each_launch, each_slice, make_failure, make_load, make_race

from stackrace.base import ids
from stackrace.measure.launch import FailureKind, MemorySample
from stackrace.race.judge.decisions import decisions
from stackrace.race.judge.ranking import standing
from stackrace.race.results.answer import AnswerKind
from stackrace.race.results.race import Ending
from stackrace.report.words.findings import failure_message
from stackrace.report.words.standing_sentences import words_of
from stackrace.stats.values import Question

from .raced import BAD, launch_of, merged, race_of, race_with_workloads, slice_of


def failed(launch):
    return replace(launch, slices=(), failure=make_failure())


def found_and_said(race):
    found = standing(race, merge=merged)
    return found, words_of(race, found).answer


TWINS = {"a": 2000, "b": 1000, "c": 1000}
SAID = {
    "a clear winner is named with its margin": (
        race_of({"a": 1000, "b": 1700, "c": 500}), AnswerKind.BEST,
        "b is the best: it delivers 1.* the throughput of a, the next best."),
    "two launches of two stacks answer": (
        race_of({"a": 1000, "b": 730}, blocks=2, sd=0.001), AnswerKind.GOOD,
        "a is the best, or equal to it: it delivers 1.37× (1.00–2.0*"),
    "equal stacks are a tie once enough is known": (
        race_of({"a": 1000, "b": 1000, "c": 300}, blocks=28, exhaustive=True), AnswerKind.ALIKE,
        "* are equally good: they differ by at most *; every other stack is slower than [ab]."),
    "noisy ones cannot be told apart yet": (
        race_of({"a": 1000, "b": 1000, "c": 50}, blocks=4, sd=0.25), AnswerKind.UNDECIDED,
        "No winner yet: [ab] leads; [ab] may be better; *"),
    "one launch of each tells nothing": (
        race_of({"a": 1000, "b": 2000}, blocks=1), AnswerKind.UNDECIDED, "*a single launch proves nothing*",
    ),
    "who is good enough is named before the last doubt is gone": (
        race_of({"a": 1000, "b": 960}, blocks=7, sd=0.03, seed=4), AnswerKind.GOOD,
        "a is the best, or within 4 % of it: it delivers 1.0*"),
    "when time is over it is said how far the leader may be behind": (
        race_of({"a": 1000, "b": 960, "c": 970, "d": 500}, blocks=5, sd=0.06, ending=Ending.BUDGET),
        AnswerKind.CLOSE,
        "* is the best of these, or at most * behind; d is slower; * more would decide (--budget *min).",
    ),
    "a leader that may be far behind is no advice": (
        race_of({"a": 1000, "b": 990}, blocks=3, sd=0.3), AnswerKind.UNDECIDED, "No winner yet: *",
    ),
    "forty launches are as many as a race makes": (
        race_of({"a": 1000, "b": 1000}, blocks=40, sd=0.3), AnswerKind.CLOSE, "*40 launches of each*",
    ),
    "a ranking asks for every place": (
        race_of(TWINS, blocks=5, sd=0.05, question=Question.RANKING), AnswerKind.UNDECIDED,
        "Not every place is settled: a leads; b and c are still*"),
    "and ends once each is settled": (
        race_of(TWINS, blocks=40, sd=0.015, question=Question.RANKING), AnswerKind.RANKED,
        "Every place is settled; a comes first: it delivers *"),
    "a stack alone gives its figure": (
        race_of({"a": 1000}), AnswerKind.ALONE, "a delivers * with nothing to compare it with.",
    ),
    "of few runs more repeats would show more": (
        race_of({"a": 1000, "b": 1000}, blocks=1, sd=0.3, repeats=1), AnswerKind.UNDECIDED,
        "* may be better; more repeats may decide (--repeats 2)."),
    "of many runs as well": (
        race_of({"a": 1000, "b": 1000}, blocks=50, sd=0.3, repeats=50), AnswerKind.CLOSE,
        "* may be better; more repeats may decide (--repeats 100)."),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_a_race_answers(case):
    race, kind, words = SAID[case]
    found, said = found_and_said(race)
    assert found.answer.kind is kind
    assert fnmatchcase(said, words), said
    assert found.settled == (kind not in (AnswerKind.UNDECIDED, AnswerKind.CLOSE))


def test_a_winner_has_its_rows_in_order_and_limits_around_the_truth():
    found = standing(race_of({"a": 1000, "b": 1700, "c": 500}), merge=merged)
    assert [(row.stack, row.tier) for row in found.rows] == [("b", 1), ("a", 2), ("c", 3)]
    assert (found.answer.stacks, found.answer.next_best, found.answer.rivals) == (("b",), "a", ())
    second = found.rows[1]
    assert second.ratio.low < 1 / 1.7 < second.ratio.high
    assert (found.rows[0].ratio.low, found.rows[0].ratio.high) == (1, 1)


def left_early(second):
    """A race that c left after two blocks: it did 100 requests a second, then ``second``."""
    race = race_of({"a": 1000, "b": 700, "c": 100}, last={"c": 1}, sd=0.01)
    then = (slice_of(second, load=make_load(20)),)
    raced = each_launch(race, lambda one: replace(one, slices=then) if one.block == 1 else one, "c")
    return standing(raced, merge=merged).rows


def test_a_stack_that_left_early_keeps_its_limits_and_its_tier():
    rows = standing(race_of({"a": 1000, "b": 600, "c": 100}, last={"c": 1}, sd=0.01), merge=merged).rows
    assert [(row.stack, row.tier) for row in rows] == [("a", 1), ("b", 2), ("c", 3)]
    assert rows[1].ratio.high < 1 and rows[2].ratio.high < 1


def test_two_launches_of_two_stacks_do_not_order_them():
    found = standing(race_of({"a": 1000, "b": 730}, blocks=2, sd=0.001), merge=merged)
    assert [(row.stack, row.tier) for row in found.rows] == [("a", 1), ("b", 1)]
    assert found.rows[1].ratio.low == pytest.approx(found.rows[1].ratio.value / 1.5)
    assert found.rows[1].ratio.high == 1


@pytest.mark.parametrize(("second", "tier"), [(2000, 1), (110, None)])
def test_a_stack_with_limits_a_factor_of_ten_apart_has_none_and_no_tier_if_the_rule_made_it_leave(second, tier):
    *_, last = left_early(second)
    assert (last.stack, last.tier) == ("c", tier)
    assert last.ratio.low is last.ratio.high is None


def test_limits_a_factor_of_ten_apart_stay_if_they_prove_an_order():
    *_, last = left_early(140)
    assert (last.stack, last.tier) == ("c", 2)
    assert 10 * last.ratio.low < last.ratio.high < 1


def test_rates_have_the_quotients_of_the_ratios_though_a_stack_left_early():
    rows = race_of({"a": 1000, "b": 700, "c": 100}, last={"c": 1}, sd=0.01, seed=8)
    found = standing(rows, merge=merged).rows
    for row in found:
        quotient = row.throughput_per_s.value / found[0].throughput_per_s.value
        assert quotient == pytest.approx(row.ratio.value)
        assert row.throughput_per_s.low < row.throughput_per_s.value < row.throughput_per_s.high


def test_equal_stacks_share_the_first_tier():
    found = standing(SAID["equal stacks are a tie once enough is known"][0], merge=merged)
    assert [row.tier for row in found.rows] == [1, 1, 2]
    assert set(found.answer.stacks) == {"a", "b"}
    assert found.answer.within < 0.05 and found.resolution < 0.05
    noisy = standing(SAID["noisy ones cannot be told apart yet"][0], merge=merged)
    assert {noisy.answer.stacks[0], noisy.answer.rivals[0]} == {"a", "b"}
    assert "c" not in [row.stack for row in noisy.rows if row.tier == 1]


def test_one_launch_of_each_has_no_limits():
    found = standing(race_of({"a": 1000, "b": 2000}, blocks=1), merge=merged)
    assert found.rows[0].stack == "b"
    assert found.rows[1].ratio.low is found.rows[0].throughput_per_s.low is found.resolution is None


def test_how_far_the_leader_may_be_behind_and_how_long_an_answer_takes_are_figures():
    found = standing(SAID["when time is over it is said how far the leader may be behind"][0], merge=merged)
    assert 0.05 < found.answer.within < 0.25
    assert "d" not in found.answer.rivals
    assert found.answer.needed_s > 0
    assert standing(race_of({"a": 1000}), merge=merged).rows[0].rank == (1, 1)


def test_the_only_stack_that_could_be_measured_has_not_won():
    race = each_launch(race_of({"a": 1000, "b": 900}), failed, "b")
    found, said = found_and_said(race)
    assert not found.settled
    assert fnmatchcase(said, "Only a could be measured, at * b never became ready.")
    assert [one.stack for one in found.withdrawals] == ["b"]
    assert not decisions(race).settled


def test_when_nothing_could_be_measured_the_answer_says_why():
    race = make_race(2, blocks=2, failures=make_race(2, blocks=0).stacks)
    found, said = found_and_said(race)
    assert (found.levels, found.rows, found.settled, found.reason) == ((), (), False, None)
    assert fnmatchcase(said, "Nothing could be measured: *No answer within 30 s*")
    assert len(found.withdrawals) == 2


def test_a_race_that_has_just_begun_has_no_withdrawals():
    race = make_race(2, blocks=0, ending=None)
    found = standing(race, merge=merged)
    assert words_of(race, found).answer == "Nothing has been measured yet."
    assert found.withdrawals == ()
    assert len(standing(make_race(2, blocks=0, ending=Ending.BUDGET), merge=merged).withdrawals) == 2


def test_slices_that_a_check_refused_count_for_nothing():
    clean = race_of({"a": 1000, "b": 900})
    more = slice_of(9, verdict=BAD, errors=7)
    spoilt = each_launch(clean, lambda one: replace(one, slices=(*one.slices, more)))
    assert standing(spoilt, merge=merged) == standing(clean, merge=merged)


def test_a_launch_without_a_valid_slice_is_no_replicate():
    race = race_of({"a": 1000, "b": 900}, blocks=6)
    first = race.launches[0]
    spoilt = replace(first, slices=(replace(first.slices[0], verdict=BAD),))
    found = standing(replace(race, launches=(spoilt, *race.launches[1:])), merge=merged)
    assert {row.stack: row.launches for row in found.rows} == {"a": 5, "b": 6}


def test_a_stack_whose_slices_were_all_refused_is_withdrawn_with_the_usual_reason():
    race = each_slice(race_of({"a": 1000, "b": 900}), lambda one: replace(one, verdict=BAD), "b")
    (withdrawal,) = standing(race, merge=merged).withdrawals
    assert withdrawal.failure.kind is FailureKind.REFUSED
    said = failure_message(withdrawal.failure)
    assert said == "generator and stack share core 1. Way out: Give the generator a core of its own."


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


def reason_of(*raced):
    """What is said of where the time of stacks goes, each with its rate and its CPU time by hop."""
    launches = tuple(
        launch_of(name, block, slice_of(rate + block, cpu=cpu)) for block in range(5) for name, rate, cpu in raced
    )
    race = replace(race_of(dict.fromkeys([name for name, *_ in raced], 1), blocks=0), launches=launches)
    return words_of(race, standing(race, merge=merged)).reason


def test_the_reason_says_where_the_time_goes():
    front = ("nginx/http/gunicorn", 900, (("nginx", 0.18), ("gunicorn", 0.72)))
    assert reason_of(front, ("granian", 1300, (("granian", 0.65),))) == (
        "nginx/http/gunicorn spends 0.50 ms of CPU time per request (80 % in gunicorn, 20 % in nginx); "
        "the leader, granian, spends 0.25 ms of CPU time per request."
    )


def test_the_reason_admits_that_cpu_time_is_not_it():
    said = reason_of(("slow", 800, (("slow", 0.2),)), ("fast", 1300, (("fast", 2.0),)))
    assert said.endswith("per request: CPU time does not explain the difference.")


def test_the_headline_is_the_highest_level_that_most_stacks_were_measured_at():
    race = race_of({"a": 1000, "b": 900, "c": 600}, levels=(1, 20, 250))
    race = each_launch(race, lambda one: replace(one, slices=one.slices[:2]), "b", "c")
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
    race = each_launch(race, failed, "c")
    found = standing(race, merge=merged)
    assert [withdrawal.stack for withdrawal in found.withdrawals] == ["c"]
    assert "nothing to compare it with" in words_of(race, found).answer
