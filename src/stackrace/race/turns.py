"""The turns of a race: once through all stacks at one level, and who came after whom in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.launch import Launch, Slice
from ..model.race import Race
from ..model.stack import original_path
from ..model.verdict import Effect
from .levels import level_of
from .resume import counted

__all__ = ["Measured", "turns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One valid slice and where it stood.

    ``turn`` numbers the race's turns; ``position`` counts from 0 within the turn; ``after`` is the path of the
    stack that was under load just before, whatever the level, empty for the first of a block. A twin comes after,
    and is named after, by the name of its original: it leaves the same things behind. ``value`` is ln(throughput).
    """

    level: tuple[str, str]
    stack: str
    launch: str
    block: int
    turn: int
    position: int
    after: str
    value: float


def turns(race: Race) -> tuple[Measured, ...]:
    """Return all valid slices in order of time, each with its place in its turn; none of launches cut short.

    A turn ends where the level changes or a stack comes again, unless it comes again because its slice was redone.
    """
    return tuple(_walk(race))


def _walk(race: Race) -> Iterator[Measured]:
    blocks: dict[int, list[tuple[Slice, Launch]]] = {}
    for launch in counted(race).launches:
        blocks.setdefault(launch.block, []).extend((one, launch) for one in launch.slices)
    turn = -1
    for block in sorted(blocks):
        level, seen, position, after = ("", ""), set[str](), 0, ""
        turn += 1
        for one, launch in sorted(blocks[block], key=lambda pair: pair[0].index):
            if level_of(one) != level or launch.stack in seen:
                level, seen, position, turn = level_of(one), set[str](), 0, turn + 1
            if not any(finding.effect is Effect.REDOES for finding in one.verdict.findings):
                seen.add(launch.stack)
            if one.verdict.valid and launch.verdict.valid and one.result.throughput_per_s > 0:
                yield Measured(
                    level=level, stack=launch.stack, launch=launch.id, block=block, turn=turn, position=position,
                    after=after, value=math.log(one.result.throughput_per_s),
                )  # fmt: skip
            position, after = position + 1, original_path(launch.stack)
