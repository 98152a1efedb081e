"""Keys of race.toml that are valid by themselves, but contradict each other or name missing files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...base.text import did_you_mean
from ...measure.resources import format_cores
from ...measure.workload import EVERY_PATH
from .tables import NamedWorkloadTable, RaceFileTable, WorkloadTable

_Where = tuple[str, ...]


def contradictions(parsed: RaceFileTable, folder: Path, *, recordings: bool) -> Iterator[tuple[_Where, str]]:
    """Yield each contradiction of a race file: the path of the key, and what to change. File paths start from
    ``folder``.

    If ``recordings`` is False, recordings that the race file names need not exist yet.
    """
    yield from _workloads(parsed)
    yield from _limits(parsed)
    yield from _lengths(parsed)
    yield from _cores(parsed)
    if recordings:
        yield from _recordings(parsed, folder)
    yield from _env_files(parsed, folder)
    yield from _services(parsed)
    yield from _checks(parsed)


def _workloads(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    if parsed.workloads is not None and "workload" in parsed.model_fields_set:
        yield ("workload",), "give one [workload], or several as [workloads.NAME], not both"


def _limits(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    """Check that workloads name only stacks of the race, and that each of these has a workload."""
    workloads, racing = parsed.workloads or {}, parsed.race.stacks
    for name, table in workloads.items():
        where = ("workloads", name, "stacks")
        for stack in table.stacks or ():
            if racing is None:
                yield where, "name the stacks of the race first, as [race] stacks"
                break
            if stack not in racing:
                yield where, f"{stack!r} is not among [race] stacks; add it there"
    if racing is None or not workloads or any(table.stacks is None for table in workloads.values()):
        return
    met = {stack for table in workloads.values() for stack in table.stacks or ()}
    for stack in racing:
        if stack not in met:
            yield ("race", "stacks"), f"no workload has {stack!r}; add it to one, or leave it out"


def _lengths(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    """Check that runs have a length and slices have none, because slices are cut to fit the budget."""
    load, race = parsed.load, parsed.race
    given = "requests" if load.requests is not None else "duration" if load.run_s is not None else None
    if race.repeats is not None and given is None:
        how = 'as [load] requests = 500 or [load] duration = "1min"'
        yield ("race", "repeats"), f"say how long each run is, {how}"
    if race.repeats is None and given is not None:
        yield (
            ("load", given),
            "is the length of a run; give the number of runs, too, as in [race] repeats = 5, "
            "or set the length of slices with [race] slice",
        )
    if race.repeats is not None and race.slice_s is not None:
        yield ("race", "slice"), "[race] repeats measures runs, not slices; give only one of them"
    if isinstance(load.requests, dict):
        yield from _request_counts(load.requests, load.concurrency)


def _cores(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    """Check that no core is shared: an engine on the stacks' core slows the fastest stacks most."""
    race = parsed.race
    both = set(race.cores or ()) & set(race.engine_cores or ())
    if both:
        yield ("race", "engine_cores"), f"core {format_cores(both)} is also in [race] cores; leave it out there"


def _request_counts(requests: dict[int, int], concurrency: list[int] | None) -> Iterator[tuple[_Where, str]]:
    where = ("load", "requests")
    if concurrency is None:
        yield where, "has a number for each concurrency, so give [load] concurrency, too"
        return
    for level in requests:
        if level not in concurrency:
            yield where, f"{level} is not among [load] concurrency; add it there, or leave it out"
    for level in dict.fromkeys(concurrency):
        if level not in requests:
            yield where, f"has no number for {level} connections; give one for each concurrency"


def _env_files(parsed: RaceFileTable, folder: Path) -> Iterator[tuple[_Where, str]]:
    for name in parsed.app.env_file:
        if not (folder / name).is_file():
            yield ("app", "env_file"), f"there is no file {name!r}; paths are relative to this file"


def _services(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    names = parsed.app.services
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        line = f'services = ["{name}", "{name}#2"]'
        yield ("app", "services"), f"{name!r} stands there twice; leave one out, or number a second one: {line}"


def _recordings(parsed: RaceFileTable, folder: Path) -> Iterator[tuple[_Where, str]]:
    for where, table in _workload_tables(parsed).items():
        session = table.session
        if session is None or session.startswith("bundled:"):
            continue
        if (folder / session).is_dir():
            yield (*where, "session"), f"{session!r} is a folder; name a HAR file or an access log"
        elif not (folder / session).exists():
            way_out = "export it from your browser as HAR, or correct the path, which is relative to this file"
            yield (*where, "session"), f"there is no recording {session!r}; {way_out}"


def _workload_tables(parsed: RaceFileTable) -> dict[_Where, WorkloadTable | NamedWorkloadTable]:
    tables: dict[_Where, WorkloadTable | NamedWorkloadTable] = {("workload",): parsed.workload}
    return tables | {("workloads", name): table for name, table in (parsed.workloads or {}).items()}


def _checks(parsed: RaceFileTable) -> Iterator[tuple[_Where, str]]:
    """Check that rules name only requested URLs; the URLs of a recording are not known yet."""
    for where, table in _workload_tables(parsed).items():
        for path in table.check.keys() - {EVERY_PATH} - set(table.urls or ()):
            if table.urls is not None:
                yield (*where, "check"), f"{path!r} is not among its urls{did_you_mean(path, table.urls)}"
