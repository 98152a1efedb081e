"""What the project runs today, as sentences at the fixed places of a report.

How far it is from the best, and what had to be changed to race it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.numbers import Interval, connections, count, percent, things
from ...base.text import few
from ...race.levels import JudgedLevel
from ...race.results.race import Race
from ...race.results.standing import StandingNotice, Withdrawal
from ...report.figures import limited, listed, share
from ...report.words.findings import failure_kind, failure_message
from ...stacks.native_options import Concern, Weight
from .model import (
    CurrentChange,
    CurrentDeployment,
    CurrentErrors,
    CurrentGap,
    CurrentKind,
    CurrentStanding,
    deployment_of,
    placed,
)

_ALIKE = 0.05
"""Costs that differ by less are about the same."""
_TWICE = (1.9, 2.1)


def notice_of(race: Race, headline: JudgedLevel | None, withdrawals: Sequence[Withdrawal]) -> StandingNotice | None:
    """Return how what the project runs today stands against the stack that the answer names."""
    # with the statistics
    from .standing import current_standing

    return current_standing(race, headline, withdrawals)


def headline(standing: StandingNotice | None) -> str:
    """Say how far it is from the best; empty where nobody knows what is run today."""
    if not isinstance(standing, CurrentStanding):
        return ""
    if standing.errors is not None and standing.kind is CurrentKind.UNMEASURED:
        # see ``news``
        return ""
    yours = _yours(standing.place, is_partial=standing.is_partial)
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
            apart = f"cannot be told from {standing.first}: it delivers {_of(standing.throughput)} of that"
            return f"{yours} {apart}{_costs(standing)}."
    return f"{yours} delivers {_of(standing.throughput)} of {standing.first}{_costs(standing)}."


def _yours(place: str, *, is_partial: bool) -> str:
    """Return what a sentence calls the deployment: what workers it has must be known to call it the user's."""
    name = "What your files say in part" if is_partial else "Your present deployment"
    return f"{name} ({place})" if place else name


def news(standing: StandingNotice | None) -> str:
    """Say where and how what the project runs today fails, and what bounds its queue; empty where it does not."""
    if not isinstance(standing, CurrentStanding) or standing.errors is None:
        return ""
    errors, queue = standing.errors, standing.queue
    on = f" on {errors.workload}" if errors.workload else ""
    where = f"{on} at {connections(errors.load.concurrency)}"
    bound = f"; {queue.server}'s queue holds {count(queue.value)} ({queue.place})" if queue is not None else ""
    return f"{_yours('', is_partial=standing.is_partial)} fails{where}: {_errors(errors)}{bound}."


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
    """Say before a race what the project runs today, or why that is not raced; empty where nothing was found."""
    deployment = deployment_of(race)
    if deployment is None:
        return ""
    yours = _yours(deployment.place, is_partial=deployment.is_partial)
    if race.current:
        return f"{yours} races as {race.current}."
    return f"{yours} is not raced: {deployment.problem.rstrip('.')}."


def details(race: Race) -> tuple[str, ...]:
    """Return what is to be known of the deployment that was raced: its place, what was changed, what is missing."""
    deployment = deployment_of(race)
    return () if deployment is None else tuple(taken_over(deployment, race.current))


def taken_over(deployment: CurrentDeployment, raced: str) -> Iterator[str]:
    """Yield a sentence for each: where the deployment was read, its size, what is changed for a race and missing.

    ``raced`` is the path of its stack; empty where it is not raced.
    """
    if raced:
        beside = [file for file in deployment.read if file != deployment.file]
        read = f"{deployment.place}{f' with {listed(beside)}' if beside else ''}"
        yield f"{_yours('', is_partial=deployment.is_partial)} was read from {read}: {raced}."
        if deployment.effective:
            most = f": at most {things(deployment.at_once, 'request')} at once" if deployment.at_once else ""
            yield f"It takes effect as {', '.join(deployment.effective)}{most}."
    if deployment.changes and raced:
        yield f"Changed for the race: {'; '.join(_changes(deployment.changes))}."
        concerns = {change.concern for change in deployment.changes}
        if same := [words for concern, words in _SAME.items() if concern in concerns]:
            names, ways = zip(*same, strict=True)
            yield f"No stack has the {listed(names)} among these. Every stack gets the same: {'; '.join(ways)}."
    if deployment.variables:
        files = " ".join(f"--env-file {file}" for file in deployment.env_files)
        way = f"{files} gives them to all" if files else "[app] env or --env-file gives them to all"
        yield f"Its files set {few(deployment.variables)} for the app; no stack has them: {way}."
    for each in deployment.differences:
        yield f"{placed(each.file, each.line)} says {each.said}; {each.observed}."
    yield from deployment.warnings
    yield from _gaps(deployment.gaps)
    if deployment.others:
        others = listed(deployment.others[:_MOST_OTHERS])
        yield f"Other deployments were found in {others}; race one with --current FILE."


_SAME = {
    Concern.VARIABLES: ("variables", "those of [app] env and --env-file"),
    Concern.FOLDER: ("folders", "the folder of --project, and PYTHONPATH of [app] env"),
    Concern.UMASK: ("umask", "the umask of the shell that starts Stackrace"),
}
"""What an app gets alike from every stack of a race, and how to change it."""
_MOST_OTHERS = 5
_MOST_SHORTLY = 1


def _changes(changes: Sequence[CurrentChange]) -> Iterator[str]:
    lines: dict[tuple[str, str, str, Concern], list[int]] = {}
    for change in changes:
        lines.setdefault((change.file, change.key, change.theirs, change.concern), []).append(change.line)
    for (file, key, theirs, concern), places in lines.items():
        numbers = ",".join(str(place) for place in places if place)
        yield f"{file}{f':{numbers}' if numbers else ''} {key}{f' {theirs}' if theirs else ''} ({concern})"


def _gaps(gaps: Sequence[CurrentGap]) -> Iterator[str]:
    kinds: dict[tuple[str, str, bool], list[CurrentGap]] = {}
    for gap in sorted(gaps, key=lambda gap: gap.weight is not Weight.SIZE):
        kinds.setdefault((gap.file, gap.why, gap.weight is Weight.ASSUMED), []).append(gap)
    for (file, why, is_assumed), (first, *others) in kinds.items():
        more = "".join(f", {f'{gap.line} ' if gap.line else ''}{gap.what}" for gap in others)
        kind_of_gap = "Assumed" if is_assumed else "Not taken over"
        yield f"{kind_of_gap}: {placed(file, first.line)} {first.what}{more}: {why}."


def shortly(race: Race) -> str:
    """Say shortly what was not taken over of the deployment that was raced, and which others there are."""
    found = deployment_of(race)
    return "" if found is None else " ".join(_shortly(found))


def _shortly(found: CurrentDeployment) -> Iterator[str]:
    missing = [gap for gap in found.gaps if gap.weight is not Weight.ASSUMED]
    assumed = [gap for gap in found.gaps if gap.weight is Weight.ASSUMED]
    for what, gaps in (("Not taken over", missing), ("Assumed", assumed)):
        for first in sorted(gaps, key=lambda gap: gap.weight is not Weight.SIZE)[:1]:
            more = f" and {len(gaps) - 1} more" if gaps[1:] else ""
            yield f"{what}: {placed(first.file, first.line)} {first.what}{more}."
    if found.others:
        left = len(found.others) - _MOST_SHORTLY
        others = listed([*found.others[:_MOST_SHORTLY], *([f"{left} more"] if left > 0 else [])])
        yield f"Also found: {others} (--current FILE)."
