"""Forecast of a race before it starts: its likely duration, and the choices that follow."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import about, connections, duration, flag_value, milliseconds, number, percent
from ...base.units import DURATION
from ...race.pacing.forecast import AGAIN, ForecastInput, answer_s, enough_s, fits, forecast_input
from ...race.pacing.overhead import USUAL_LAUNCH_S, planned_launch_s, planned_overhead
from ...race.pacing.pace import SLICE_S, lengths_of, planned_lengths, response_s
from ...race.pacing.schedule import FEWEST_BLOCKS, extent_of, least_budget_s, plan_block
from ...race.plan import RacePlan
from ...race.preparation.defaults import CONCURRENCY
from ...race.request.request import RaceRequest
from ...race.run.twins import first_stacks
from ...stats.judge import blocks_expected
from ...stats.values import Question
from ..figures import listed

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_SIDE_BY_SIDE = 1.3
"""Factor over a single process's loading from which the time of side-by-side loading is mentioned."""

_DIFFERENCES = (0.01, 0.02, 0.03, 0.05, 0.1)
"""Differences to suggest in place of one that is too small."""


def outlook(plan: RacePlan, request: RaceRequest) -> tuple[str, ...]:
    """Return the sentences to read before the race, one or two each; none if everything is as usual.

    The estimates rest on the app's response time and on usual launches; the first blocks give better ones. Runs
    have no forecast: they take as long as they take.
    """
    if plan.race.repeats is not None or plan.budget_s is None:
        return ()
    levels = tuple(_of_levels(plan, request))
    # the page's time is given once, and only if it is the reason
    reason = "" if levels or _needed_slice_s(plan) <= SLICE_S else f"{_page(plan)}. "
    reason += _loading(plan)
    time = (_as_one(reason, sentence) for sentence in _of_time(plan, plan.budget_s))
    return (*levels, *time, *_of_difference(plan))


def estimate(plan: RacePlan) -> str:
    """Return the sentence about the race's likely duration, unless `outlook` has it; empty if unknown."""
    if plan.race.repeats is not None or plan.budget_s is None or plan.race.exhaustive or len(plan.stacks) < 2:
        return ""
    if any(_of_time(plan, plan.budget_s)):
        return ""
    return _needed(plan, answer_s(_forecast(plan), len(plan.stacks)), len(plan.stacks)) + "."


def _needed(plan: RacePlan, seconds: float, stacks: int) -> str:
    least = "at least " if plan.race.question is Question.RANKING else ""
    return f"{_number(stacks).capitalize()} stacks need {least}about {about(seconds)} for an answer"


def _of_levels(plan: RacePlan, request: RaceRequest) -> Iterator[str]:
    """Yield sentences about unusual levels, and about levels at which requests will time out."""
    cores = len(plan.race.cores.stack_cores)
    pages = [workload.page for workload in plan.workloads]
    levels = [load.concurrency for load in plan.race.loads]
    if not request.concurrency and levels[-1] == max(CONCURRENCY) and len(levels) < len(CONCURRENCY):
        others = " ".join(f"-c {level}" for level in CONCURRENCY)
        yield f"Time is short, so the load is {connections(levels[-1])} only. Choose others, as with {others}."
    elif not request.concurrency and tuple(levels) != CONCURRENCY:
        usual = max(CONCURRENCY)
        slowest = max(pages, key=lambda page: response_s(page, usual, cores))
        reason = _page(plan)
        if slowest.bursts:
            stack, most = slowest.bursts[-1].stack, slowest.bursts[-1].connections
            per_s = number(most / response_s(slowest, most, cores))
            reason = (
                f"In short loads {stack or 'a stack'} gave {per_s} right answers per second at {connections(most)}"
            )
        yield (
            f"{reason}, so the load is {listed(levels)} connection{'' if levels == [1] else 's'}: at {usual} "
            f"an answer would take about {about(round(response_s(slowest, usual, cores), 1))}. "
            f"Choose others, as with -c {usual}."
        )
    longest_s = max(response_s(page, max(levels), cores) for page in pages)
    timeout_s = plan.race.loads[-1].timeout_s
    if longest_s > timeout_s:
        yield (
            f"At {connections(levels[-1])} an answer will take about {about(round(longest_s, 1))}, "
            f"but requests time out after {DURATION.format(timeout_s)}. "
            f'Give a lower -c, or [load] timeout = "{flag_value(AGAIN * longest_s)}".'
        )


def _loading(plan: RacePlan) -> str:
    """Return the app's time until its first answer, if it makes launches long; the sentence goes on after it."""
    each_s, alone_s = planned_launch_s(plan, plan.left_out), plan.loading.wall_s
    if each_s <= USUAL_LAUNCH_S:
        return ""
    together = f", and {duration(each_s)} in the processes of a stack" if each_s > _SIDE_BY_SIDE * alone_s else ""
    return f"The app takes {duration(alone_s)} to load and to answer first{together}: "


def _as_one(reason: str, sentence: str) -> str:
    """Return ``sentence`` after its reason; after a colon it continues in lower case."""
    return reason + (sentence[0].lower() + sentence[1:] if reason.endswith(": ") else sentence)


def _of_time(plan: RacePlan, budget_s: float) -> Iterator[str]:
    left_out, missing = plan.left_out, listed([stack.path for stack in plan.left_out])
    if plan.race.exhaustive or len(plan.stacks) < 2:
        if left_out:
            yield f"The budget is too short for more stacks. Left out: {missing}."
        return
    if single := _of_one_block(plan, budget_s):
        yield single + (f" Left out: {missing}." if left_out else "")
        return
    forecast, racing, every = _forecast(plan), len(plan.stacks), len(plan.stacks) + len(left_out)
    budget, needed_s = DURATION.format(budget_s), answer_s(forecast, every)
    if left_out:
        yield (
            f"{_needed(plan, needed_s, every)}, {_number(racing)} about {about(answer_s(forecast, racing))}; "
            f"the budget is {budget}. Racing {_number(racing)}. Left out: {missing}. "
            f"To race all, give --budget {flag_value(enough_s(forecast, every))}, which has a margin."
        )
    elif not fits(forecast, racing, budget_s):
        yield (
            f"{_needed(plan, needed_s, racing)}, so {budget} is likely too short. "
            f"Give --budget {flag_value(enough_s(forecast, racing))}, which has a margin, or fewer stacks."
        )


def _of_one_block(plan: RacePlan, budget_s: float) -> str:
    ahead, lengths = extent_of(plan.cells(first_stacks(plan))), planned_lengths(plan)
    overhead = planned_overhead(plan, lengths)
    planned = plan_block(
        ahead, remaining_s=budget_s - plan.loading.wall_s, done=0, overhead=overhead, lengths=lengths
    )
    if planned is None or planned.blocks_left >= FEWEST_BLOCKS:
        return ""
    least_s = plan.loading.wall_s + FEWEST_BLOCKS * least_budget_s(ahead, overhead, lengths)
    return (
        f"A budget of {DURATION.format(budget_s)} holds a single launch of each stack, which proves nothing: "
        f"an answer takes {FEWEST_BLOCKS} or more. Give --budget {flag_value(AGAIN * least_s)} or more, "
        "or fewer stacks."
    )


def _of_difference(plan: RacePlan) -> Iterator[str]:
    """Yield the sentence that the difference is too small to be proved if the best stacks are that close."""
    stacks = len(plan.stacks)
    if stacks < 2 or plan.race.exhaustive or _can_decide(stacks, plan.race.difference):
        return
    larger = next((difference for difference in _DIFFERENCES if _can_decide(stacks, difference)), None)
    proposed = f" Give --difference {100 * larger:g}% to get an answer even then." if larger is not None else ""
    yield (
        f"To prove a difference of {percent(plan.race.difference)} takes more launches than most races make. "
        f"If the best stacks are nearly equally fast, there will be no answer.{proposed}"
    )


def _can_decide(stacks: int, difference: float) -> bool:
    return blocks_expected(stacks, difference=difference, lead=0.0) is not None


def _forecast(plan: RacePlan) -> ForecastInput:
    return forecast_input(
        plan.cells(plan.stacks),
        len(plan.race.cores.stack_cores),
        difference=plan.race.difference,
        twin=plan.twin,
        fixed_slice_s=plan.slice_s,
        launch_s=planned_launch_s(plan, plan.left_out),
        loading_s=plan.loading.wall_s,
    )


def _needed_slice_s(plan: RacePlan) -> float:
    return lengths_of(plan.cells(plan.stacks), len(plan.race.cores.stack_cores), alike=plan.race.exhaustive).slice_s


def _page(plan: RacePlan) -> str:
    took = f"{milliseconds(plan.workloads[0].page.wall_s)} ms"
    if len(plan.workloads) == len(plan.workloads[0].requests) == 1:
        return f"Your page takes {took}"
    return f"Your pages take {took} on average"


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
