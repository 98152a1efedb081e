"""The turns of a race: once through all stacks at one level, and who came after whom in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..measure.launch import Launch, Slice
from ..stacks.stack import original_path
from .levels import LevelKey, key_of
from .results.race import Race
from .resume import counted

__all__ = ["PlacedSlice", "turns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSlice:
    """One valid slice and where it stood.

    A twin comes after, and is named after, by the name of its original: it leaves the same things behind.
    """

    level: LevelKey
    stack: str
    launch: str
    """The launch's id."""
    block: int
    turn: int
    """Counts the turns of the race, from 0."""
    position: int
    """Within the turn, from 0."""
    after: str
    """The path of the stack under load just before, whatever the level; empty for the first of a block."""
    value: float
    """ln(throughput per s)."""


def turns(race: Race) -> tuple[PlacedSlice, ...]:
    """Return all valid slices in order of time, each with its place in its turn; none of launches cut short.

    A turn ends where the level changes or a stack comes again, unless that is because its slice was refused.
    """
    return tuple(_walk(race))


def _walk(race: Race) -> Iterator[PlacedSlice]:
    blocks: dict[int, list[tuple[Slice, Launch]]] = {}
    for launch in counted(race).launches:
        blocks.setdefault(launch.block, []).extend((slice_, launch) for slice_ in launch.slices)
    turn = -1
    for block in sorted(blocks):
        level, measured, position, after = ("", ""), set[str](), 0, ""
        turn += 1
        for slice_, launch in sorted(blocks[block], key=lambda pair: pair[0].index):
            if key_of(slice_) != level or launch.stack in measured:
                level, measured, position, turn = key_of(slice_), set[str](), 0, turn + 1
            if slice_.verdict.valid:
                measured.add(launch.stack)
            if slice_.verdict.valid and launch.verdict.valid and slice_.throughput_per_s > 0:
                yield PlacedSlice(
                    level=level,
                    stack=launch.stack,
                    launch=launch.id,
                    block=block,
                    turn=turn,
                    position=position,
                    after=after,
                    value=math.log(slice_.throughput_per_s),
                )
            position, after = position + 1, original_path(launch.stack)
