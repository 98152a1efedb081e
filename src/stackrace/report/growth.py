"""Memory over time in figures: at the start, at most, and at the end of a stack's launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ..base.numbers import duration, mebibytes
from ..measure.launch import Launch, MemorySample
from ..race.results.race import Race
from ..race.results.standing import Level, Standing
from .characters import course
from .level_table import READABLE
from .sheet import Column, Medium, Section, Table, Tone


def memory_sections(race: Race, standing: Standing) -> Iterator[Section]:
    """Yield the memory of each stack at the headline level, in its order; nothing for a race in slices.

    Only runs have launches of their own: in slices all levels share a launch.
    """
    if race.repeats is None or not standing.levels:
        return
    level = standing.levels[standing.headline]
    watched = {row.stack: _memory_series(launches_at(race, level, row.stack)) for row in level.rows}
    if watched := {stack: launches for stack, launches in watched.items() if launches}:
        yield Section(title=f"Memory over time {level.where}, MiB", blocks=(_table(watched),),
                      media=(Medium.SCREEN, Medium.TEXT))  # fmt: skip


_Samples = Sequence[MemorySample]


def launches_at(race: Race, level: Level, stack: str) -> list[Launch]:
    """Return the launches of ``stack`` that were made for runs at ``level``."""
    key = level.workload, level.load.label
    own = (launch for launch in race.launches if launch.stack == stack and not launch.cut_short)
    return [
        launch for launch in own if any((slice_.workload, slice_.load.label) == key for slice_ in launch.slices)
    ]


def _memory_series(launches: Sequence[Launch]) -> list[_Samples]:
    return [launch.memory for launch in launches if len(launch.memory) > 1]


def _table(watched: dict[str, list[_Samples]]) -> Table:
    """Return a line for each stack: medians of its launches, the highest peak, the longest one as bars."""
    launches = watched.values()
    longest = [max(each, key=_span_s) for each in launches]
    starts = (median(samples[0].size_bytes for samples in each) for each in launches)
    ends = (median(samples[-1].size_bytes for samples in each) for each in launches)
    peaks = (max(sample.size_bytes for samples in each for sample in samples) for each in launches)
    return Table(columns=(
        Column(title="stack", cells=tuple(watched), left=True, fold_to=READABLE),
        Column(title="start MiB", cells=tuple(map(mebibytes, starts))),
        Column(title="end MiB", short="end", cells=tuple(map(mebibytes, ends))),
        Column(title="peak MiB", short="peak", cells=tuple(map(mebibytes, peaks))),
        Column(title="over", keep=2, cells=tuple(duration(_span_s(samples)) for samples in longest)),
        Column(title="", keep=1, left=True, tone=Tone.GOOD, media=(Medium.SCREEN,),
               cells=tuple(course([sample.size_bytes for sample in samples]) for samples in longest)),
    ))  # fmt: skip


def _span_s(samples: _Samples) -> float:
    return samples[-1].at_s - samples[0].at_s
