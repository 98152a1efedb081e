"""Memory over time in figures: what the launches of a stack held at their start, at most, and at their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ..measure.launch import Launch, MemorySample
from ..race.results.race import Race
from ..race.results.standing import Level, Standing
from .characters import course


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """One stack under one load; sizes are the proportional set sizes (PSS) of all hops in bytes."""

    stack: str
    """By path."""
    start_bytes: float
    """The median over its launches."""
    end_bytes: float
    """The median over its launches."""
    peak_bytes: int
    """The most of all launches."""
    span_s: float
    """How long the longest launch was watched, in seconds."""
    curve: str
    """That launch as bars from zero."""


def growths(race: Race, standing: Standing) -> tuple[Growth, ...]:
    """Return the growth of each stack at the headline level, in its order; nothing for a race in slices.

    Only a run has its memory to itself: in slices all levels share a launch.
    """
    if race.repeats is None or not standing.levels:
        return ()
    level = standing.levels[standing.headline]
    watched = {row.stack: _watched(launches_at(race, level, row.stack)) for row in level.rows}
    return tuple(_growth(stack, samples) for stack, samples in watched.items() if samples)


def launches_at(race: Race, level: Level, stack: str) -> list[Launch]:
    """Return the launches of ``stack`` that were made for runs at ``level``."""
    key = level.workload, level.load.label
    own = (launch for launch in race.launches if launch.stack == stack and not launch.cut_short)
    return [
        launch for launch in own if any((slice_.workload, slice_.load.label) == key for slice_ in launch.slices)
    ]


def size(sample: MemorySample) -> int:
    """Return the bytes of all hops together."""
    return sum(sample.pss_bytes.values())


def _watched(launches: Sequence[Launch]) -> list[Sequence[MemorySample]]:
    """Return the samples of those launches that lasted long enough to see memory change."""
    return [launch.memory for launch in launches if len(launch.memory) > 1]


def _growth(stack: str, watched: Sequence[Sequence[MemorySample]]) -> Growth:
    longest = max(watched, key=lambda samples: samples[-1].at_s - samples[0].at_s)
    return Growth(
        stack=stack,
        start_bytes=median(size(samples[0]) for samples in watched),
        end_bytes=median(size(samples[-1]) for samples in watched),
        peak_bytes=max(size(sample) for samples in watched for sample in samples),
        span_s=longest[-1].at_s - longest[0].at_s,
        curve=course([size(sample) for sample in longest]),
    )
