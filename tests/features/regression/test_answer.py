"""What a check answers, from launches of two sides."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.factories import each_launch, each_slice, make_finding, make_race, with_workloads
from tests.features.regression.checks import (
    ALLOWED,
    BASE,
    HEAD,
    allowing,
    changing,
    falling,
    grown,
    make_check,
    without_memory,
)  # fmt: skip

from stackrace.app.examination import Exchange
from stackrace.app.examiner.messages import Reply
from stackrace.base.verdict import Effect, Verdict
from stackrace.deploy.wrong_answers import KnownAnswers
from stackrace.features.regression import words
from stackrace.features.regression.check_preparation import _rarely_changing
from stackrace.features.regression.model import FailedLaunches, GateFacts
from stackrace.features.regression.responses import failed_launches, samples_of
from stackrace.features.regression.ruling import decide, gate_answer
from stackrace.measure.launch import FailureKind
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.race.results.comparison import Outcome, Response, State
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending


def states(race):
    return {each.response: each.state for each in gate_answer(race).rulings}


def ruling(race, response):
    return next(each for each in gate_answer(race).rulings if each.response is response)


def test_two_equal_sides_pass_and_say_what_could_have_been_missed():
    race = make_check()
    answer = gate_answer(race)
    assert (answer.outcome, answer.exit_code) == (Outcome.PASSED, 0)
    assert [each.response for each in answer.rulings if not each.response.of_launch] == [
        Response.THROUGHPUT, Response.CPU, Response.P99, Response.ERRORS,
    ]  # fmt: skip
    assert all(each.state is State.CLEAR and 0 <= each.missed < each.terms.limit for each in answer.rulings)
    assert decide(race).settled
    assert not decide(make_check(blocks=0)).settled


@pytest.mark.parametrize(
    ("slower", "response"),
    [
        ({"slower": 0.06}, Response.THROUGHPUT),
        ({"cpu": 0.06}, Response.CPU),
        ({"memory": 0.08}, Response.MEMORY),
        ({"start": 0.2}, Response.START),
    ],
)
def test_each_response_is_judged_by_itself(slower, response):
    race = make_check(blocks=8, **slower)
    answer = gate_answer(race)
    assert (answer.outcome, answer.exit_code) == (Outcome.FAILED, 1)
    assert response in [each.response for each in answer.slower]
    found = ruling(race, response)
    assert found.change.low > found.terms.allowance
    assert (found.alarm, found.blocks) == (3, 3), "the figures are those of the look that confirmed it"
    assert decide(race).settled


def test_errors_of_the_head_are_seen_although_they_make_its_slices_invalid():
    refused = Verdict((make_finding("unexpected-status", Effect.INVALIDATES),))
    race = make_check(errors=40)
    answer = gate_answer(each_slice(race, lambda one: replace(one, verdict=refused), race.stacks[1]))
    assert answer.outcome is Outcome.FAILED
    assert [each.response for each in answer.slower] == [Response.ERRORS]


def test_no_error_in_a_few_requests_leaves_some_possible():
    found = ruling(make_check(rate=5.0), Response.ERRORS)
    assert found.missed > 0.005
    assert ruling(make_check(rate=5000.0), Response.ERRORS).missed < 0.001


def test_what_the_user_leaves_out_is_not_judged():
    answer = gate_answer(make_check(slower=0.5, parts=allowing(cpu=0.01)))
    assert [each.response for each in answer.rulings] == [Response.CPU]
    assert answer.outcome is Outcome.PASSED


def test_a_larger_allowance_moves_the_limit_with_it():
    found = ruling(make_check(slower=0.06, parts=allowing(**{**ALLOWED, "throughput": 0.10})), Response.THROUGHPUT)
    assert found.terms.limit == pytest.approx(0.13)
    assert found.state is State.CLEAR


def test_a_response_without_values_is_no_pass():
    race = without_memory(make_check())
    assert states(race)[Response.MEMORY] is State.UNKNOWN
    assert gate_answer(race).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("died", [False, True])
def test_one_failed_launch_of_the_head_is_no_pass(died):
    race = falling(make_check(blocks=8), 1, died=died)
    answer = gate_answer(race)
    assert all(each.state is State.CLEAR and each.blocks == 6 for each in answer.rulings)
    assert (answer.outcome, answer.exit_code) == (Outcome.UNDECIDED, 3)
    assert answer.failed == FailedLaunches(base=0, head=1, confirmed=False)
    assert answer.needed_s == 6 * 8 * 8.0, "until seven of its launches have failed"
    assert not decide(race).settled, "others may confirm it"


@pytest.mark.parametrize(
    ("made", "blocks"), [(5, (1, 2, 3, 4)), (4, tuple(range(4))), (19, tuple(range(0, 19, 3)))]
)
def test_four_failures_of_the_head_in_a_row_or_seven_in_all_confirm_one_another(made, blocks):
    race = falling(make_check(blocks=made), *blocks)
    answer = gate_answer(race)
    assert (answer.outcome, answer.exit_code) == (Outcome.FAILED, 1)
    assert answer.failed.confirmed
    assert decide(race).settled


@pytest.mark.parametrize("blocks", [(1, 2, 3), (1, 2, 3, 5, 6, 7), (4,)])
def test_fewer_failures_of_the_head_confirm_nothing(blocks):
    race = falling(make_check(blocks=8), *blocks)
    assert gate_answer(race).outcome is Outcome.UNDECIDED
    assert not decide(race).settled


def test_failures_of_both_sides_are_nobodys_and_end_what_would_have_been_a_pass():
    race = falling(falling(make_check(blocks=12), 1, 2, 3, 4), 8, side="base")
    assert gate_answer(race).outcome is Outcome.UNDECIDED
    assert decide(race).settled


def test_where_both_sides_fail_equally_often_the_head_is_blamed_in_less_than_one_of_a_hundred_checks():
    dice, race = random.Random(6), make_check(blocks=20, slices=1)
    blamed = 0
    for _ in range(1000):
        fell = {side: [block for block in range(20) if dice.random() < 0.3] for side in ("base", "head")}
        first = min(fell["base"], default=20)
        before = falling(race, *(block for block in fell["head"] if block < first))
        blamed += failed_launches(before).confirmed
    assert blamed < 10


def test_a_page_that_changes_in_the_head_alone_fails_the_check():
    race = changing(make_check(), "head", page="GET /p", since=2)
    answer = gate_answer(race)
    assert (answer.outcome, answer.exit_code) == (Outcome.FAILED, 1)
    assert "GET /p answers the same question in different ways" in words.answer(race, answer)
    assert "--check '/p status'" in words.answer(race, answer)
    assert decide(race).settled


def test_a_page_that_changed_rarely_while_the_heads_app_was_examined_fails_the_check():
    race = make_check(
        parts=Parts().having(GateFacts(base=BASE, head=HEAD, allowances=ALLOWED, changed_rarely=("GET /p",)))
    )
    answer = gate_answer(race)
    assert answer.outcome is Outcome.FAILED
    assert "GET /p answers the same question in different ways" in words.answer(race, answer)
    assert gate_answer(changing(race, "base", page="GET /p", since=3)).outcome is Outcome.PASSED


def examined(rarely=(), again=b"right", body=b"right"):
    """A side's deployment: its page, pages that rarely changed, and its app when it is asked again."""
    request, asked = Request(path="/p"), []

    def ask_again(requests):
        asked.append(requests)
        reply, other = Reply(200, (), body), Reply(200, (), again)
        return [Exchange(request=each, first=reply, second=other) for each in requests]

    right = Answer(status=200, body=body, content_type="text/plain", sameness=Sameness.BODY)
    workload = Workload(requests=(request,), answers=(right,))
    launcher = SimpleNamespace(known=KnownAnswers(ask=ask_again))
    return SimpleNamespace(
        asked=asked, workloads=(workload,), examined=SimpleNamespace(rarely=rarely), launcher=launcher
    )


def test_a_page_is_the_heads_alone_unless_the_bases_app_asked_again_changes_it_too():
    constant, same, flaky = examined(), examined(), examined(again=b"wrong")
    assert _rarely_changing(constant, examined(rarely=("GET /p",))) == ("GET /p",)
    assert _rarely_changing(flaky, examined(rarely=("GET /p",))) == ()
    assert _rarely_changing(same, examined()) == ()
    assert (len(constant.asked), len(flaky.asked), len(same.asked)) == (4, 1, 0)


@pytest.mark.parametrize("sides", [("base",), ("base", "head")])
def test_a_page_that_changes_in_the_base_too_is_no_fault_of_the_head(sides):
    assert gate_answer(changing(make_check(), *sides)).outcome is Outcome.PASSED


def test_a_page_that_changed_last_may_change_in_the_base_next_and_is_no_pass():
    race = changing(make_check(), "head", since=7)
    answer = gate_answer(race)
    assert answer.outcome is Outcome.UNDECIDED
    assert words.answer(race, answer).endswith("which rules out a pass. About 8 s more would probably decide it.")
    assert not decide(replace(race, ending=None)).settled


def test_a_base_that_never_starts_leaves_nothing_to_compare_with():
    race = falling(make_check(), *range(8), side="base")
    assert decide(race).settled
    assert gate_answer(race).outcome is Outcome.REFUSED


def test_a_head_that_starts_where_the_base_did_not_once_is_not_worse():
    assert gate_answer(falling(make_check(), 2, side="base")).outcome is Outcome.PASSED


def test_what_only_stops_late_was_measured():
    race = falling(make_check(), *range(8), kind=FailureKind.NOT_STOPPED, died=True)
    assert gate_answer(race).outcome is Outcome.PASSED


def test_an_interruption_is_no_last_look():
    race = make_check(blocks=5, noise=0.03, seed=2, ending=Ending.INTERRUPTED)
    over = replace(race, ending=Ending.BUDGET)
    missed = [
        next(each.missed for each in gate_answer(each).rulings if each.response is Response.THROUGHPUT)
        for each in (race, over)
    ]
    assert missed[0] > missed[1]


def test_samples_say_which_blocks_they_are_of():
    race = make_check(blocks=4)
    lacking = each_launch(race, lambda one: replace(one, memory=()) if one.block == 1 else one, race.stacks[1])
    found = {each.response: each.blocks for each in samples_of(lacking, Response)}
    assert found[Response.MEMORY] == (0, 2, 3)
    assert found[Response.CPU] == found[Response.ERRORS] == (0, 1, 2, 3)


def test_every_workload_has_responses_of_its_own():
    race = with_workloads(make_check(), "pages", "static")
    found = samples_of(race, Response)
    assert [(each.response, each.workload) for each in found if each.response in ("cpu", "start")] == [
        (Response.CPU, "pages"), (Response.CPU, "static"), (Response.START, ""),
    ]  # fmt: skip


def test_requests_of_which_two_in_a_hundred_wait_are_slower():
    """The middle is as it was, and so is throughput."""
    race = make_check(blocks=8, slow=0.02)
    answer = gate_answer(race)
    assert [each.response for each in answer.slower] == [Response.P99]
    found = ruling(race, Response.P99)
    assert found.head > 0.045 > found.base
    assert found.change.value == pytest.approx(found.head / found.base - 1)


@pytest.mark.parametrize("blocks", [2, 8])
def test_a_quantile_with_too_few_answers_leaves_a_check_undecided(blocks):
    race = make_check(blocks=blocks, rate=5.0, ending=Ending.BUDGET)
    found = ruling(race, Response.P99)
    assert found.state in (State.UNKNOWN, State.OPEN)
    assert found.answers < 900
    answer = gate_answer(race)
    assert answer.outcome is Outcome.UNDECIDED
    assert answer.needed_s > 0


def test_a_lower_quantile_is_judged_where_somebody_asks_for_it():
    assert Response.P90 not in [each.response for each in gate_answer(make_check()).rulings]
    answer = gate_answer(make_check(blocks=16, rate=5.0, parts=allowing(p90=0.05, p50=0.05)))
    assert [each.response for each in answer.rulings] == [Response.P90, Response.P50]
    assert answer.outcome is Outcome.PASSED


def test_memory_that_grows_with_requests_is_told_from_memory_that_is_more():
    leak = ruling(grown(make_check(memory=0.08, slices=3), 1153), Response.MEMORY)
    assert leak.state is State.SLOWER
    assert leak.growth.proved
    assert leak.growth.head_bytes == pytest.approx(1153, rel=0.1)
    step = ruling(make_check(memory=0.08, slices=3), Response.MEMORY)
    assert step.growth is not None and not step.growth.proved
    assert ruling(make_check(slices=3), Response.MEMORY).growth is None, "nothing is to be explained"


def test_every_undecided_check_says_how_much_more_time_it_needs():
    for blocks in (2, 3, 4, 8):
        for noise in (0.0, 0.02, 0.1):
            answer = gate_answer(make_check(blocks=blocks, noise=noise, ending=Ending.BUDGET))
            assert (answer.needed_s is None) == (answer.outcome is not Outcome.UNDECIDED)
    assert gate_answer(falling(make_check(blocks=8), 1)).needed_s > 0


def test_another_race_is_no_check():
    with pytest.raises(ValueError, match="no check"):
        gate_answer(make_race())
