"""What exactly was raced, and where."""

from __future__ import annotations

from collections.abc import Iterator

from ...measure.load import Load
from ...race.results.race import Race
from ...stacks.facts import StackFacts
from .. import figures

__all__ = ["facts_view", "host_view"]


def facts_view(race: Race) -> tuple[StackFacts, ...]:
    """Return the facts of every stack in the order raced, empty ones for stacks nothing is known of."""
    known = {facts.stack: facts for facts in race.facts}
    return tuple(known.get(stack, StackFacts(stack=stack)) for stack in race.stacks)


def host_view(race: Race) -> tuple[tuple[str, str], ...]:
    """Return the host's facts and the race's settings as pairs of a name and a text."""
    host, cores = race.host, race.cores
    shared = " (shared: they compete)" if cores.shared else ""
    budget = figures.duration(race.budget_s) if race.budget_s else "none"
    return (
        ("system", f"{host.system}, kernel {host.kernel}"),
        ("processor", f"{host.cpu}, {host.cores} cores"),
        ("memory", f"{figures.mebibytes(host.memory_bytes)} MiB"),
        ("virtualisation", host.virtual or "none"),
        ("Python of stackrace", host.python),
        ("limits", ", ".join(f"{name} {value}" for name, value in host.limits.items()) or figures.NOTHING),
        ("cores of every stack", _cores(cores.stack_cores)),
        ("memory of every stack", _memory(cores.memory_bytes)),
        ("held to them by", cores.enforced.value),
        ("cores of the load engine", _cores(cores.generator_cores) + shared),
        ("question", race.question.value),
        ("difference that does not matter", figures.percent(race.difference)),
        ("budget", f"{budget}, {figures.duration(race.elapsed_s)} used"),
        *_protocol(race),
        *_urls(race),
        ("seed", str(race.seed)),
        ("race", race.id),
        ("started", race.started_at),
        ("stackrace", race.version),
    )


def _protocol(race: Race) -> Iterator[tuple[str, str]]:
    if race.repeats is not None:
        yield (
            "runs of each cell",
            f"{race.repeats}, every one on a fresh launch: {', '.join(map(_length, race.loads))}",
        )
    if race.exhaustive:
        yield "early answers", "did not end the race"
    if race.twin:
        yield "ran twice as a check", race.twin
    if race.resumed:
        yield "interrupted, and gone on with", f"{race.resumed} ×"


def _length(load: Load) -> str:
    length = f"{load.requests} requests" if load.requests else figures.duration(load.duration_s or 0.0)
    return f"{length} at {load.label}"


def _urls(race: Race) -> Iterator[tuple[str, str]]:
    """Yield the URLs that were asked for; a recording is named by its ``file:`` URL."""
    if not race.workloads:
        yield "URLs", ", ".join(race.urls)
    for name, urls in race.workloads.items():
        only = f" (only for {', '.join(race.limits[name])})" if name in race.limits else ""
        yield f"URLs of {name}", ", ".join(urls) + only


def _memory(size: int | None) -> str:
    return "not limited" if size is None else f"{figures.mebibytes(size)} MiB"


def _cores(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers) or figures.NOTHING
