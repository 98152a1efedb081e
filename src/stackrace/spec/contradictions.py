"""Keys of race.toml that are fine by themselves and contradict each other, or the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..model.core_lists import format_cores
from .tables import RaceFileTable

__all__ = ["contradictions"]

Where = tuple[str, ...]


def contradictions(parsed: RaceFileTable, folder: Path) -> Iterator[tuple[Where, str]]:
    """Yield every contradiction with the key where it stands; paths are relative to ``folder``."""
    yield from _workloads(parsed)
    yield from _limits(parsed)
    yield from _lengths(parsed)
    yield from _cores(parsed)
    yield from _recordings(parsed, folder)


def _workloads(parsed: RaceFileTable) -> Iterator[tuple[Where, str]]:
    if parsed.workloads is not None and "workload" in parsed.model_fields_set:
        yield ("workload",), "workload: give one [workload], or several as [workloads.NAME], not both"


def _limits(parsed: RaceFileTable) -> Iterator[tuple[Where, str]]:
    """A workload's stacks are some of those that race, and none of these may be left with nothing to do."""
    workloads, racing = parsed.workloads or {}, parsed.race.stacks
    for name, table in workloads.items():
        where = ("workloads", name, "stacks")
        for stack in table.stacks or ():
            if racing is None:
                yield where, f"workloads.{name}.stacks: name the stacks of the race first, as [race] stacks"
                break
            if stack not in racing:
                yield where, f"workloads.{name}.stacks: {stack!r} is not among [race] stacks; add it there"
    if racing is None or not workloads or any(table.stacks is None for table in workloads.values()):
        return
    met = {stack for table in workloads.values() for stack in table.stacks or ()}
    for stack in racing:
        if stack not in met:
            yield ("race", "stacks"), f"race.stacks: no workload has {stack!r}; add it to one, or leave it out"


def _lengths(parsed: RaceFileTable) -> Iterator[tuple[Where, str]]:
    """Runs have a length, and only runs have one: slices are cut to fit the budget."""
    load, race = parsed.load, parsed.race
    given = "requests" if load.requests is not None else "duration" if load.duration is not None else None
    if race.repeats is not None and given is None:
        yield (
            ("race", "repeats"),
            'race.repeats: say how long each run is, as [load] requests = 500 or [load] duration = "1min"',
        )
    if race.repeats is None and given is not None:
        yield (
            ("load", given),
            f"load.{given}: is the length of a run; give the number of runs, too, as in [race] repeats = 5, "
            "or set the length of slices with [race] slice",
        )
    if race.repeats is not None and race.slice is not None:
        yield (
            ("race", "slice"),
            "race.slice: [race] repeats measures runs, not slices; give only one of them",
        )
    if isinstance(load.requests, dict):
        yield from _numbers(load.requests, load.concurrency)


def _cores(parsed: RaceFileTable) -> Iterator[tuple[Where, str]]:
    """A load engine that shares a core with the stacks slows those most that are fastest."""
    race = parsed.race
    both = set(race.cores or ()) & set(race.engine_cores or ())
    if both:
        yield (
            ("race", "engine_cores"),
            f"race.engine_cores: core {format_cores(both)} is also in [race] cores; leave it out there",
        )


def _numbers(requests: dict[int, int], concurrency: list[int] | None) -> Iterator[tuple[Where, str]]:
    where, key = ("load", "requests"), "load.requests"
    if concurrency is None:
        yield where, f"{key}: has a number for each concurrency, so give [load] concurrency, too"
        return
    for level in requests:
        if level not in concurrency:
            yield where, f"{key}: {level} is not among [load] concurrency; add it there, or leave it out"
    for level in dict.fromkeys(concurrency):
        if level not in requests:
            yield where, f"{key}: has no number for {level} connections; give one for each concurrency"


def _recordings(parsed: RaceFileTable, folder: Path) -> Iterator[tuple[Where, str]]:
    sessions: dict[Where, str | None] = {("workload",): parsed.workload.session}
    sessions |= {("workloads", name): table.session for name, table in (parsed.workloads or {}).items()}
    for where, session in sessions.items():
        if session is None or session.startswith("bundled:"):
            continue
        if not (folder / session).exists():
            key = ".".join((*where, "session"))
            yield (*where, "session"), f"{key}: there is no recording {session!r}; paths are relative to this file"
