"""Cells of a part's race: launch values by block, failures, or the reason why there are none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from ...measure.launch import FailureKind, Launch, Slice
from ...race.judge.levels import key_of
from ...race.judge.ranking import why_missing
from ...race.results.race import Race
from ...stats.summary import intervals
from .model import CellName, Metric, Technique
from .rerun import Cause, Gap, Survival

FAILING_SHARE = 0.01
"""Share of requests with a wrong answer or none above which a launch fails."""

_COLLAPSED = (FailureKind.DIED, FailureKind.NOT_READY, FailureKind.NOT_STARTED)

RacedCell = tuple[str, str, int]
"""A cell as raced: path, workload, concurrency. Two techniques may have the same path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRace:
    """The race of one part, with access to cells by their published names."""

    techniques: Mapping[str, Technique]
    """Techniques of the comparison, by key."""
    race: Race

    @property
    def blocks(self) -> int:
        """Number of blocks that have begun."""
        return 1 + max((launch.block for launch in self.race.launches if not launch.cut_short), default=-1)

    def path(self, technique: str) -> str:
        """Return the path of the stack that was raced for ``technique``: the original if possible.

        The substitute is used if the original or its companion was not raced, or has no valid slice.
        """
        meant = self.techniques[technique]
        originals = filter(None, (meant.original, meant.companion))
        if meant.original is None or not all(map(self._was_possible, originals)):
            return meant.path
        return meant.original

    def raced_as(self, cell: CellName) -> RacedCell:
        """Return the cell as raced."""
        return self.path(cell.technique), cell.workload, cell.concurrency

    def values(self, cell: CellName, metric: Metric) -> Mapping[int, float]:
        """Return ln of ``metric`` by block: the mean over the valid slices of the cell's launches in it.

        Memory is each launch's peak, PSS summed over the stack's hops. Slices without a positive value do not
        count.
        """
        logs_by_block: dict[int, list[float]] = {}
        for launch, slices in self._launches(cell):
            valid = [
                _measured(slice_, metric) for slice_ in slices if launch.verdict.valid and slice_.verdict.valid
            ]
            positive = [value for value in valid if value > 0]
            if positive and metric is Metric.MEMORY:
                logs_by_block.setdefault(launch.block, []).append(math.log(max(positive)))
            elif positive:
                logs_by_block.setdefault(launch.block, []).extend(map(math.log, positive))
        return {block: fmean(logs) for block, logs in logs_by_block.items()}

    def ratio(self, metric: Metric, this: CellName, that: CellName) -> float | None:
        """Return the ratio of two cells over their common blocks; None if there are none."""
        first, second = self.values(this, metric), self.values(that, metric)
        both = tuple(first[block] - second[block] for block in sorted(first.keys() & second.keys()))
        return intervals([both])[0].value if both else None

    def survival(self, cell: CellName) -> Survival:
        """Return the number of the cell's failed launches.

        Invalid slices count, too: most are invalid because of the very errors in question. A launch that died
        counts in the cell of its last slice, and in every cell if it had no slice. A launch without an answer and
        without a timeout does not count: its slices were too short.
        """
        failed = launches = errors = requests = 0
        for launch, slices in self._launches(cell):
            died = launch.failure is not None and launch.failure.kind in _COLLAPSED
            last_here = not launch.slices or (bool(slices) and launch.slices[-1] is slices[-1])
            wrong = sum(slice_.result.counts.errors for slice_ in slices)
            sent = sum(slice_.result.counts.ok for slice_ in slices) + wrong
            if not sent and not (died and last_here):
                continue
            launches += 1
            errors, requests = errors + wrong, requests + sent
            failed += (died and last_here) or (sent > 0 and wrong / sent > FAILING_SHARE)
        return Survival(failed=failed, launches=launches, errors=errors / requests if requests else 0.0)

    def gap(self, cell: CellName) -> Gap:
        """Return the recorded reason why a cell has no value."""
        if self.path(cell.technique) not in self.race.stacks:
            return Gap(cause=Cause.LEFT_OUT, technique=cell.technique)
        keys = {key_of(one) for _, slices in self._launches(cell) for one in slices}
        workload = cell.workload if self.race.workloads else ""
        loads = [load.label for load in self.race.loads if load.concurrency == cell.concurrency]
        at = next(iter(keys), (workload, loads[0]) if loads else None)
        failure = why_missing(self.race, self.path(cell.technique), at)
        if failure is not None and failure.kind is FailureKind.REFUSED:
            return Gap(cause=Cause.REFUSED, technique=cell.technique, finding=failure.finding)
        return Gap(cause=Cause.FAILED, technique=cell.technique, failure=failure)

    def _was_possible(self, path: str) -> bool:
        launches = self._of(path)
        measured = any(
            launch.verdict.valid and any(slice_.verdict.valid for slice_ in launch.slices) for launch in launches
        )
        return path in self.race.stacks and (measured or not launches)

    def _launches(self, cell: CellName) -> Iterator[tuple[Launch, list[Slice]]]:
        """Yield the stack's launches, each with its slices in the cell; a race's only workload has no name."""
        for launch in self._of(self.path(cell.technique)):
            yield (
                launch,
                [
                    slice_
                    for slice_ in launch.slices
                    if slice_.load.concurrency == cell.concurrency and slice_.workload in ("", cell.workload)
                ],
            )

    def _of(self, path: str) -> list[Launch]:
        return [launch for launch in self.race.launches if launch.stack == path and not launch.cut_short]


def _measured(slice_: Slice, metric: Metric) -> float:
    match metric:
        case Metric.TIME:
            rate = slice_.throughput_per_s
            return 1 / rate if rate > 0 else 0.0
        case Metric.LATENCY:
            return slice_.result.latency.mean
        case Metric.LONGEST:
            return slice_.result.latency.max
        case Metric.MEMORY:
            return float(sum(usage.pss_bytes for usage in slice_.usage))
        case _:
            return slice_.throughput_per_s
