"""Sentences about the present deployment, for the fixed places of a report.

They say how far the deployment is from the best stack, and what had to be changed to race it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from ...base.numbers import Interval, connections, count, percent
from ...race.judge.levels import JudgedLevel
from ...race.results.race import Race
from ...race.results.standing import StandingNotice, Withdrawal
from ...report.figures import limited, listed, share
from ...report.words.findings import failure_kind, failure_message
from ...stacks.native_files import Weight
from .distance import CurrentErrors, CurrentKind, CurrentStanding
from .model import CurrentDeployment, deployment_of
from .transfer import deployment_title, taken_over

_ALIKE = 0.05
"""Relative difference below which costs are called about the same."""
_TWICE = (1.9, 2.1)
_MOST_SHORTLY = 1


def notice_of(race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]) -> StandingNotice | None:
    """Return how the present deployment compares with the stack that the answer names; None if none is known."""
    # imports the statistics, so only when needed
    from .current_standing import current_standing

    return current_standing(race, headline, withdrawals)


def headline(standing: StandingNotice | None) -> str:
    """Say how far the present deployment is from the best stack; empty if no deployment is known."""
    if not isinstance(standing, CurrentStanding):
        return ""
    if standing.errors is not None and standing.kind is CurrentKind.UNMEASURED:
        # see ``news``
        return ""
    yours = deployment_title(standing.location, is_partial=standing.is_partial)
    match standing.kind:
        case CurrentKind.FIRST:
            return f"{yours} is itself the leader: {standing.stack}."
        case CurrentKind.NOT_RACED:
            return f"{yours} was not raced: {standing.problem.rstrip('.')}."
        case CurrentKind.UNMEASURED:
            return f"{yours}, {standing.stack}, {_failed(standing)}"
        case CurrentKind.OPEN if standing.throughput is None or standing.throughput.low is None:
            seen = f"{yours} delivered {_of(standing.throughput)} of {standing.first}{_costs(standing)}"
            return f"{seen}; launches were too few, or too different, for limits."
        case CurrentKind.OPEN:
            words = f"cannot be told from {standing.first}: it delivers {_of(standing.throughput)} of that"
            return f"{yours} {words}{_costs(standing)}."
    return f"{yours} delivers {_of(standing.throughput)} of {standing.first}{_costs(standing)}."


def news(standing: StandingNotice | None) -> str:
    """Say where and how the present deployment fails, and what limits its queue; empty if it does not fail."""
    if not isinstance(standing, CurrentStanding) or standing.errors is None:
        return ""
    errors, queue = standing.errors, standing.queue
    on = f" on {errors.workload}" if errors.workload else ""
    where = f"{on} at {connections(errors.load.concurrency)}"
    bound = f"; {queue.server}'s queue holds {count(queue.value)} ({queue.location})" if queue is not None else ""
    return f"{deployment_title('', is_partial=standing.is_partial)} fails{where}: {_errors(errors)}{bound}."


def _errors(errors: CurrentErrors) -> str:
    if errors.answered is None:
        return f"{percent(errors.failed or 0.0)} of the requests got no right answer"
    what = str(errors.status) if errors.status else "errors"
    source = f" from {errors.server}" if errors.server else ""
    return f"{percent(errors.answered)} of the answers are {what}{source}"


def _failed(standing: CurrentStanding) -> str:
    if standing.failure is None:
        return "has no measurement yet."
    why = failure_message(standing.failure)
    return f"{failure_kind(standing.failure)}{f': {why}' if why else ''}".rstrip(".") + "."


def _of(ratio: Interval | None) -> str:
    return "an unknown share" if ratio is None else limited(ratio)


def _costs(standing: CurrentStanding) -> str:
    known = (("memory", standing.memory), ("CPU time per request", standing.cpu))
    parts = [f"{_times(ratio)} {what}" for what, ratio in known if ratio is not None]
    return f", with {listed(parts)}" if parts else ""


def _times(ratio: float) -> str:
    if abs(ratio - 1) < _ALIKE:
        return "about the same"
    return "twice the" if _TWICE[0] <= ratio <= _TWICE[1] else f"{share(ratio)}the"


def before(race: Race) -> str:
    """Say before a race how the present deployment is raced, or why it is not; empty if none was found."""
    deployment = deployment_of(race)
    if deployment is None:
        return ""
    yours = deployment_title(deployment.location, is_partial=deployment.is_partial)
    if race.current:
        return f"{yours} races as {race.current}."
    return f"{yours} is not raced: {deployment.problem.rstrip('.')}."


def details(race: Race) -> tuple[str, ...]:
    """Return the sentences about the deployment that was raced: its place, changes for the race, and gaps."""
    deployment = deployment_of(race)
    return () if deployment is None else tuple(taken_over(deployment, race.current))


def shortly(race: Race) -> str:
    """Say in short what was not taken over of the deployment that was raced, and which others were found."""
    found = deployment_of(race)
    return "" if found is None else " ".join(_shortly(found))


def _shortly(found: CurrentDeployment) -> Iterator[str]:
    missing = [gap for gap in found.gaps if gap.weight is not Weight.ASSUMED]
    assumed = [gap for gap in found.gaps if gap.weight is Weight.ASSUMED]
    for what, gaps in (("Not taken over", missing), ("Assumed", assumed)):
        for first in sorted(gaps, key=lambda gap: gap.weight is not Weight.SIZE)[:1]:
            more = f" and {len(gaps) - 1} more" if gaps[1:] else ""
            yield f"{what}: {first.location} {first.what}{more}."
    if found.others:
        left = len(found.others) - _MOST_SHORTLY
        shown = map(found.reached, found.others[:_MOST_SHORTLY])
        others = listed([*shown, *([f"{left} more"] if left > 0 else [])])
        yield f"Also found: {others} (--current {quote(found.reached(found.other_files[0]))})."
