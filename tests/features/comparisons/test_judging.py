"""Claims against synthetic races: what holds, what is reversed, what cannot be told, what was not measured."""

from dataclasses import replace

import pytest
from tests.factories import make_failure, make_race

from stackrace.base.numbers import Interval
from stackrace.features.comparisons import words
from stackrace.features.comparisons.cells import PartRace
from stackrace.features.comparisons.claims import Answer, Finding
from stackrace.features.comparisons.judging import _share_of, ruling
from stackrace.features.comparisons.model import Kind, Metric, Technique
from stackrace.features.comparisons.rerun import Ruling
from stackrace.measure.launch import EndedBy, FailureKind, Shortfall
from stackrace.stacks.stack import twin_path

from .reruns import (
    ONE,
    OTHER,
    cell,
    make_claim,
    make_comparison,
    make_launch,
    make_slice,
    paired,
    race_of,
    rerun_of,
)

NOISE = (1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.01)


def rates(rate):
    return [rate * noise for noise in NOISE]


def shuffled(rate):
    return [rate * noise for noise in reversed(NOISE)]


def outcome(race, *claims, **changes):
    return rerun_of(make_comparison(*claims, **changes), race).claims[0]


def finding(answer=Answer.OPEN, **changes):
    return Finding(answer=answer, ratio=Interval(value=1.0, low=0.9, high=1.1), blocks=5, **changes)


RULINGS = {
    Kind.MORE: (Ruling.HOLDS, Ruling.REVERSED, Ruling.SAME),
    Kind.LESS: (Ruling.REVERSED, Ruling.HOLDS, Ruling.SAME),
    Kind.NO_MORE: (Ruling.REVERSED, Ruling.HOLDS, Ruling.HOLDS),
    Kind.SAME: (Ruling.REVERSED, Ruling.REVERSED, Ruling.HOLDS),
}


@pytest.mark.parametrize("kind", RULINGS)
def test_every_answer_decides_every_claim(kind):
    answers = (Answer.MORE, Answer.LESS, Answer.SAME)
    assert tuple(ruling(kind, finding(answer)) for answer in answers) == RULINGS[kind]
    assert all(one.decides for one in RULINGS[kind])


@pytest.mark.parametrize(
    ("kind", "at_most", "at_least"),
    [
        (Kind.MORE, Ruling.NOT_SO, Ruling.UNDECIDED),
        (Kind.LESS, Ruling.UNDECIDED, Ruling.NOT_SO),
        (Kind.NO_MORE, Ruling.HOLDS, Ruling.UNDECIDED),
        (Kind.SAME, Ruling.UNDECIDED, Ruling.UNDECIDED),
    ],
)
def test_one_limit_alone_refutes_the_side_that_was_claimed(kind, at_most, at_least):
    assert ruling(kind, finding(at_most=True)) is at_most
    assert ruling(kind, finding(at_least=True)) is at_least
    assert ruling(kind, finding()) is Ruling.UNDECIDED


def test_a_claim_holds_with_the_published_ratio_within_our_limits_or_is_reversed():
    found = outcome(paired(rates(300), shuffled(200)), make_claim(ratio=1.5))
    assert found.ruling is Ruling.HOLDS
    assert found.now.low < 1.5 < found.now.high
    assert found.now.value == pytest.approx(1.5, rel=0.02)
    assert (found.agrees, found.within) == (True, False)
    turned = outcome(paired(rates(200), shuffled(300)), make_claim(ratio=1.5))
    assert (turned.ruling, turned.agrees) == (Ruling.REVERSED, False)


def test_an_answer_keeps_the_figures_that_last_gave_it():
    early, late = rates(300)[:4], shuffled(200)
    assert outcome(paired(rates(300), late), make_claim()).blocks == 7
    turned = outcome(paired([*early, 100, 100, 100], late), make_claim())
    assert turned.ruling is Ruling.HOLDS
    assert turned.blocks <= 4


def test_what_cannot_be_told_says_how_much_longer_would_tell():
    near = outcome(paired([100, 110, 99, 108], [101, 100, 101, 100], elapsed_s=120.0), make_claim())
    assert near.ruling is Ruling.UNDECIDED
    assert near.more_s > 120
    assert near.more_s % 30 == pytest.approx(0)
    assert outcome(paired([100], [101]), make_claim()).more_s is None


def test_parts_share_the_error_rate_by_their_claims():
    claims = [make_claim(), make_claim(metric=Metric.TIME), make_claim(part="b"), make_claim(Kind.FAILS)]
    assert [_share_of(make_comparison(*claims), part) for part in ("race", "b", "c")] == pytest.approx(
        [2 / 3, 1 / 3, 0]
    )


def test_a_difference_nobody_could_notice_is_said_to_be_none():
    steady = [100, 100.1, 100, 100.1, 100, 99.9, 100]
    found = outcome(paired(steady, steady[::-1]), make_claim())
    assert (found.ruling, found.within) == (Ruling.SAME, True)


def test_the_race_says_what_does_not_matter():
    first, second = [rate * 1.02 for rate in rates(100)], rates(100)
    assert outcome(paired(first, second, difference=0.05), make_claim(Kind.SAME)).ruling is Ruling.HOLDS
    assert outcome(paired(first, second, difference=0.01), make_claim(Kind.SAME)).ruling is Ruling.REVERSED


def test_one_block_gives_a_ratio_without_limits():
    found = outcome(paired([300], [200]), make_claim(ratio=1.5))
    assert found.now == Interval(value=pytest.approx(1.5))
    assert (found.ruling, found.agrees, found.blocks) == (Ruling.UNDECIDED, None, 1)


def test_only_blocks_with_both_cells_count():
    race = paired([300, 80, 310, 350], [305, 90, 300, 290, 400])
    assert outcome(race, make_claim()).blocks == 4


def test_more_claims_make_wider_limits():
    race = paired(rates(300), shuffled(200))
    alone = outcome(race, make_claim())
    in_company = outcome(race, make_claim(), *[make_claim(metric=Metric.LATENCY)] * 9)
    assert in_company.now.value == alone.now.value
    assert in_company.now.high > alone.now.high


@pytest.mark.parametrize("metric", [Metric.LATENCY, Metric.TIME])
def test_latency_is_the_mean_time_and_time_is_one_over_the_throughput(metric):
    found = outcome(paired(rates(100), rates(200)), make_claim(metric=metric))
    assert found.now.value == pytest.approx(2.0)


def test_memory_is_each_launchs_peak():
    launches = [
        make_launch(stack, block, make_slice(100, memory=memory), make_slice(100, memory=memory // 2))
        for stack, memory in ((ONE, 4 * 10**8), (OTHER, 10**8))
        for block in range(5)
    ]
    found = outcome(race_of(*launches), make_claim(metric=Metric.MEMORY))
    assert found.now.value == pytest.approx(4.0)
    assert found.ruling is Ruling.HOLDS


@pytest.mark.parametrize(("blocks", "limited"), [(9, False), (10, True)])
def test_the_longest_request_has_limits_only_from_many_blocks(blocks, limited):
    race = paired(range(100, 100 + blocks), range(200, 200 + blocks))
    found = outcome(race, make_claim(metric=Metric.LONGEST), make_claim())
    assert (found.now.low is not None) is limited
    assert rerun_of(make_comparison(make_claim(metric=Metric.LONGEST)), race).family == limited


def test_claims_about_one_stack_compare_its_workloads():
    launches = [
        make_launch(ONE, block, make_slice(rate, workload="a"), make_slice(rate / 4, workload="b"))
        for block, rate in enumerate(rates(100))
    ]
    race = race_of(*launches, stacks=(ONE,))
    claim = make_claim(this=cell(workload="a"), that=cell(workload="b"))
    assert outcome(race, claim).now.value == pytest.approx(4.0, rel=0.01)


def test_a_levels_cell_takes_no_other_levels_slices():
    launches = [
        make_launch(stack, 0, make_slice(rate, 1), make_slice(rate * level_factor, 20))
        for stack, rate, level_factor in ((ONE, 100, 3), (OTHER, 100, 1))
    ]
    claim = make_claim(this=cell(concurrency=20), that=cell("other", concurrency=20))
    assert outcome(race_of(*launches), claim).now.value == pytest.approx(3.0)


# Not measured, and why

ONCE = make_launch(ONE, 0, make_slice(100))
NOT_MEASURED = {
    "its part could not be run": None,
    "other never became ready: No answer within 30 s.": race_of(
        ONCE, make_launch(OTHER, 0, failure=make_failure())
    ),
    "other was left out": race_of(ONCE, stacks=(ONE,)),
    "other was refused: generator and stack share core 1": race_of(
        ONCE, make_launch(OTHER, 0, make_slice(100, refused=True))
    ),
    "other got no measurement: 1 launch ended before a slice: the race was interrupted": race_of(
        ONCE, make_launch(OTHER, 0, shortfall=Shortfall(ended_by=EndedBy.INTERRUPTED))
    ),
    "other got no measurement: the question was answered before its turn": race_of(ONCE),
    "the two were never measured in the same block": race_of(ONCE, make_launch(OTHER, 1, make_slice(100))),
}


@pytest.mark.parametrize("said", NOT_MEASURED)
def test_what_was_not_measured_says_why(said):
    found = outcome(NOT_MEASURED[said], make_claim())
    assert (found.ruling, words.reason(found)) == (Ruling.NOT_MEASURED, said)


# Failing and living


@pytest.mark.parametrize(
    ("errors", "fails", "lives"),
    [
        ((0, 0, 0), Ruling.REVERSED, Ruling.HOLDS),
        ((50, 50, 0), Ruling.HOLDS, Ruling.REVERSED),
        ((50, 0, 0), Ruling.UNDECIDED, Ruling.UNDECIDED),
        ((0,), Ruling.UNDECIDED, Ruling.UNDECIDED),
        ((50,), Ruling.UNDECIDED, Ruling.UNDECIDED),
    ],
)
def test_failing_is_judged_by_several_launches_with_more_than_one_error_in_a_hundred(errors, fails, lives):
    race = race_of(*(make_launch(ONE, block, make_slice(100, errors=wrong)) for block, wrong in enumerate(errors)))
    assert outcome(race, make_claim(Kind.FAILS)).ruling is fails
    assert outcome(race, make_claim(Kind.LIVES)).ruling is lives


def test_slices_that_were_refused_for_their_errors_count_as_failures():
    race = race_of(*(make_launch(ONE, block, make_slice(100, errors=100, refused=True)) for block in (0, 1)))
    found = outcome(race, make_claim(Kind.FAILS))
    assert (found.ruling, words.reason(found)) == (Ruling.HOLDS, "2 of 2 launches failed, 33 % of all requests")


def test_a_launch_that_answered_nothing_in_short_slices_says_nothing():
    race = race_of(make_launch(ONE, 0, make_slice(0.001, refused=True)))
    for kind in (Kind.FAILS, Kind.LIVES):
        found = outcome(race, make_claim(kind))
        assert (found.ruling, found.blocks) == (Ruling.NOT_MEASURED, 0)
        assert words.reason(found).startswith("one was refused")


def test_a_launch_that_died_failed_where_it_was_last_seen():
    died = make_failure(FailureKind.DIED)
    race = race_of(
        *(make_launch(ONE, block, make_slice(100, 20), make_slice(100, 500), failure=died) for block in (0, 1))
    )
    assert outcome(race, make_claim(Kind.FAILS, this=cell(concurrency=500))).ruling is Ruling.HOLDS
    assert outcome(race, make_claim(Kind.LIVES, this=cell(concurrency=20))).ruling is Ruling.HOLDS


def test_a_launch_that_died_before_any_slice_failed_everywhere():
    race = race_of(*(make_launch(ONE, block, failure=make_failure(FailureKind.DIED)) for block in (0, 1)))
    assert outcome(race, make_claim(Kind.FAILS)).ruling is Ruling.HOLDS


def test_a_claim_of_failing_that_was_never_tried():
    found = outcome(race_of(), make_claim(Kind.FAILS))
    assert (found.ruling, words.reason(found)) == (
        Ruling.NOT_MEASURED,
        "one got no measurement: the question was answered before its turn",
    )


# Then and now


def test_a_table_has_ratios_to_its_first_row():
    rerun = rerun_of(make_comparison(), paired(rates(400), rates(100)))
    first, other = rerun.tables[0].rows
    assert (first.then, other.then) == ((1.0,), (pytest.approx(2 / 3),))
    assert (first.now, other.now) == ((pytest.approx(1.0),), (pytest.approx(0.25),))


def test_a_table_without_a_race_keeps_its_rows():
    assert [row.now for row in rerun_of(make_comparison(), None).tables[0].rows] == [(None,), (None,)]


ORIGINAL, BESIDE = "openlitespeed/fastcgi/flup", "openlitespeed/ajp/flup"
BOTH = [make_launch(ONE, 0, make_slice(300)), make_launch(OTHER, 0, make_slice(100))]


def rerun_with_original(*launches, companion=None):
    """A rerun in which "other" is gone, and its original was tried."""
    comparison = make_comparison()
    gone = replace(
        comparison.techniques["other"],
        original=ORIGINAL,
        companion=companion,
        gone="It is gone.",
        instead="Its kin.",
    )
    comparison = replace(comparison, techniques={**comparison.techniques, "other": gone})
    stacks = (ONE, OTHER, ORIGINAL, *filter(None, [companion]))
    return rerun_of(comparison, race_of(*launches, stacks=stacks)), gone


def test_an_original_that_could_be_raced_stands_for_itself_and_nobody_says_that_a_substitute_did():
    rerun, _ = rerun_with_original(*BOTH, make_launch(ORIGINAL, 0, make_slice(150)))
    assert rerun.claims[0].now.value == pytest.approx(2.0)
    technique = rerun.comparison.techniques["other"]
    assert (technique.path, technique.gone, technique.instead) == (ORIGINAL, None, None)


@pytest.mark.parametrize(
    "tried", [{"failure": make_failure(FailureKind.WRONG_ANSWER)}, {"slices": (make_slice(150, refused=True),)}]
)
def test_an_original_that_answers_nothing_rightly_leaves_its_place_to_the_substitute(tried):
    failed = make_launch(ORIGINAL, 0, *tried.get("slices", ()), failure=tried.get("failure"))
    rerun, gone = rerun_with_original(*BOTH, failed)
    assert rerun.claims[0].now.value == pytest.approx(3.0)
    assert rerun.comparison.techniques["other"] == gone


@pytest.mark.parametrize(
    ("tried", "ratio"), [({"failure": make_failure()}, 3.0), ({"slices": (make_slice(90),)}, 2.0)]
)
def test_an_original_is_not_held_against_a_substitute(tried, ratio):
    companion = make_launch(BESIDE, 0, *tried.get("slices", ()), failure=tried.get("failure"))
    launches = (*BOTH, make_launch(ORIGINAL, 0, make_slice(150)), companion)
    rerun, _ = rerun_with_original(*launches, companion=BESIDE)
    assert rerun.claims[0].now.value == pytest.approx(ratio)


def test_a_twins_launches_are_nobodys():
    race = make_race(stacks=["a", "b"])
    beside = tuple(replace(one, id=one.id[::-1], stack=twin_path("a")) for one in race.launches if one.stack == "b")
    with_twin = replace(race, launches=(*race.launches, *beside), twin="a")
    at = cell(concurrency=20)
    for path in ("a", "b"):
        own = {"one": Technique(title="One", path=path)}
        twinned, alone = (PartRace(techniques=own, race=each) for each in (with_twin, race))
        for metric in (Metric.THROUGHPUT, Metric.MEMORY):
            assert twinned.values(at, metric) == alone.values(at, metric)
        assert twinned.survival(at) == alone.survival(at)
