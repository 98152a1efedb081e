"""Resuming of a race from its checkpoint: the interrupted block is raced again, with unchanged stacks. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...measure.launch import Failure, FailureKind, Launch, Shortfall, StackFacts
from ..results.race import Race

_OF_ONE_LAUNCH = (
    # the run directory, a new one for each racing process
    (re.compile(r"(?<![^\s'\"=:,;()<>])[^\s'\"=:,;()<>]*/stackrace-[0-9a-f]{8}"), "RUN"),
    # ports are drawn anew for each launch, from net.ipv4.ip_local_port_range
    (re.compile(r"(?<![\w.])[1-6]\d{4}(?![\w.])"), "PORT"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """State from which an interrupted race continues, beside its results."""

    request: Mapping[str, object]
    """Request that sets the race up again, in JSON types and without secrets."""
    interpreter: str = ""
    """Interpreter of the app; empty for an app without one."""
    sources: str = ""
    """Digest of the app's files."""
    folder: str = ""
    """Run directory of the last process that raced; empty if the stacks were on other machines."""
    blocks: int = 0
    """Number of whole blocks."""
    spent_s: float = 0.0
    """Seconds of the budget that the race had spent after them."""


def going_on(race: Race, *, done: int, spent_s: float, budget_s: float | None = None) -> Race:
    """Return ``race`` as resumed after ``done`` whole blocks, which took ``spent_s`` of its budget.

    Launches of later blocks are marked as cut short: they stay in the record but enter no statistics, because the
    block is raced again in the same order. ``budget_s`` replaces the budget.
    """
    return replace(
        race,
        launches=tuple(launch if launch.block < done else cut_short(launch) for launch in race.launches),
        ending=None,
        elapsed_s=spent_s,
        budget_s=race.budget_s if budget_s is None else budget_s,
        resumed=race.resumed + 1,
    )


def cut_short(launch: Launch, why: Shortfall | None = None) -> Launch:
    """Return ``launch`` as one that counts nowhere: its block is raced again, or for the reason ``why``.

    An earlier failure stays readable: the launch in its place may fail in the same way.
    """
    if launch.cut_short:
        return launch
    before = launch.failure
    if before is None:
        return replace(launch, failure=Failure(kind=FailureKind.INTERRUPTED, shortfall=why))
    failure = replace(before, kind=FailureKind.INTERRUPTED, before=before.kind, shortfall=why)
    return replace(launch, failure=failure)


def counted(race: Race) -> Race:
    """Return ``race`` without the launches that were cut short."""
    return replace(race, launches=tuple(launch for launch in race.launches if not launch.cut_short))


def blocks_done(race: Race) -> int:
    """Return the number of blocks of ``race`` when it starts, or is resumed: the number of the next one."""
    return 1 + max((launch.block for launch in race.launches if not launch.cut_short), default=-1)


def spent_s(race: Race) -> float:
    """Return the seconds of its budget that ``race`` has spent when it starts, or is resumed."""
    return race.elapsed_s if race.resumed else 0.0


def changed(before: StackFacts, now: StackFacts) -> str:
    """Return what changed about a stack, empty for nothing; ports and run directories are always new."""
    for hop in sorted({*before.versions, *now.versions}):
        was, are = before.versions.get(hop, ""), now.versions.get(hop, "")
        if was != are:
            return f"{hop} was {was or 'absent'}, now it is {are or 'absent'}"
    was_there, is_there = _comparable(before.configs), _comparable(now.configs)
    for name in sorted({*was_there, *is_there}):
        if was_there.get(name) != is_there.get(name):
            return f"its configuration {name} differs"
    if [_without_launch_details(command) for command in before.commands] != [
        _without_launch_details(command) for command in now.commands
    ]:
        return "it is started by another command"
    return ""


def _comparable(configs: Mapping[str, str]) -> dict[str, str]:
    return {name: _without_launch_details(text) for name, text in configs.items()}


def _without_launch_details(text: str) -> str:
    for pattern, word in _OF_ONE_LAUNCH:
        text = pattern.sub(word, text)
    return text
