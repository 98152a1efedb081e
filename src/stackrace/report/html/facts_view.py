"""What exactly was raced, and where."""

from __future__ import annotations

from ...model.race import Race, StackFacts
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
    return (
        ("system", f"{host.system}, kernel {host.kernel}"),
        ("processor", f"{host.cpu}, {host.cores} cores"),
        ("memory", f"{figures.mebibytes(host.memory_bytes)} MiB"),
        ("virtualisation", host.virtual or "none"),
        ("Python of stackrace", host.python),
        ("limits", ", ".join(f"{name} {value}" for name, value in host.limits.items()) or figures.NOTHING),
        ("cores of every stack", _cores(cores.stack_cores)),
        ("cores of the load engine", _cores(cores.generator_cores) + shared),
        ("question", race.question.value),
        ("difference that does not matter", figures.percent(race.difference)),
        ("budget", f"{figures.duration(race.budget_s)}, {figures.duration(race.elapsed_s)} used"),
        ("URLs", ", ".join(race.urls)),
        ("seed", str(race.seed)),
        ("race", race.id),
        ("started", race.started_at),
        ("stackrace", race.version),
    )


def _cores(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers) or figures.NOTHING
