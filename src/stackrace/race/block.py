"""One block: launch every racing stack, warm up, measure all cells in shuffled order, stop everything."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from ..checks import examine
from ..deploy.launcher import START_TIMEOUT_S
from ..deploy.place import Place
from ..model import ids
from ..model.launch import Launch, MemorySample, Slice
from ..model.load import Load
from ..model.stack import Stack
from ..model.verdict import Effect, Verdict
from .events import BlockStarted, LaunchEnded, LaunchStarted, Progress, Sink, SliceEnded, StackDescribed
from .ledger import Ledger
from .schedule import REWARM_S, BlockPlan, Costs, least_budget_s
from .warmup import warm_up

__all__ = ["Block"]

LEAST_PATIENCE_S = 4.0
REDO_SHARE = 4
"""At most one in so many cells of a pass is measured again."""


@dataclass(slots=True, kw_only=True)
class Block:
    """The steps of one block; ``run`` takes them in order.

    ``deadline_s`` is monotonic: no slice ends after it. ``stop_s`` is what stopping is expected to take.
    """

    number: int
    plan: BlockPlan
    loads: Sequence[Load]
    place: Place
    ledger: Ledger
    sink: Sink
    shuffler: random.Random
    deadline_s: float
    warmup_cap_s: float
    stop_s: float

    def run(self, stacks: Sequence[Stack]) -> Costs:
        """Run the block over ``stacks``; returns what it spent beside its slices."""
        order = list(stacks)
        self.shuffler.shuffle(order)
        self.sink(
            BlockStarted(self.number, tuple(stack.path for stack in order), self.deadline_s - time.monotonic())
        )
        up: dict[Stack, str] = {}
        try:
            begun = time.monotonic()
            for stack in order:
                self._launch(stack, up)
            launched = time.monotonic()
            for stack in list(up):
                self._warm_up(stack, up)
            warmed = time.monotonic()
            spent = Costs(
                launch_s=(launched - begun) / len(order),
                warmup_s=(warmed - launched) / len(order),
                # the deadline leaves room for this block's stopping; another would be stopped, too, perhaps later
                stop_s=2 * self.stop_s,
            )
            self._measure(up, least_budget_s(stacks=len(up), levels=len(self.loads), costs=spent))
        finally:
            stopping = time.monotonic()
            self._retire(up)
        return replace(spent, stop_s=time.monotonic() - stopping)

    def _launch(self, stack: Stack, up: dict[Stack, str]) -> None:
        launch = Launch(id=ids.generate(), block=self.number, stack=stack.path)
        self.ledger.enter(launch)
        self.sink(LaunchStarted(launch))
        launched = self.place.launch(stack, self._patience_s)
        if launched.facts is not None and self.ledger.describe(launched.facts):
            self.sink(StackDescribed(launched.facts))
        launch = replace(launch, ready_s=launched.ready_s, failure=launched.failure)
        self.ledger.enter(launch)
        if launch.failure is None:
            up[stack] = launch.id
        else:
            self.sink(LaunchEnded(launch))

    @property
    def _patience_s(self) -> float:
        """How long one start may take: a stack that hangs must not eat the budget of the others."""
        return min(START_TIMEOUT_S, max((self.deadline_s - time.monotonic()) / 3, LEAST_PATIENCE_S))

    def _warm_up(self, stack: Stack, up: dict[Stack, str]) -> None:
        self.sink(Progress("warming up", stack.path))
        spent_s = warm_up(self.place, stack, self._headline, self.warmup_cap_s)
        self.ledger.enter(replace(self.ledger.launch(up[stack]), warmup_s=spent_s))
        self._withdraw_if_dead(stack, up)

    def _measure(self, up: dict[Stack, str], another_s: float) -> None:
        """Take the planned passes, and more of them if what is left would not hold another block anyway."""
        for number in count():
            another_fits = time.monotonic() + another_s < self.deadline_s
            if not up or (number >= self.plan.passes and another_fits):
                return
            cells = self._cells(list(up), self.loads if number < self.plan.side_passes else [self._headline])
            pending = deque(cells)
            redos = max(len(cells) // REDO_SHARE, 1)
            while pending:
                stack, load = pending.popleft()
                if stack not in up:
                    continue
                if time.monotonic() + REWARM_S + self._length_s(load) > self.deadline_s:
                    return
                if self._slice(stack, load, up, may_redo=redos > 0):
                    redos -= 1
                    pending.append((stack, load))

    @property
    def _headline(self) -> Load:
        return max(self.loads, key=lambda load: load.concurrency)

    def _length_s(self, load: Load) -> float:
        return self.plan.slice_s if load == self._headline else self.plan.side_slice_s

    def _cells(self, stacks: Sequence[Stack], loads: Sequence[Load]) -> list[tuple[Stack, Load]]:
        """Shuffle the levels, and within each all stacks: what is compared stands close together in time."""
        levels = self.shuffler.sample(loads, len(loads))
        return [(stack, load) for load in levels for stack in self.shuffler.sample(stacks, len(stacks))]

    def _slice(self, stack: Stack, load: Load, up: dict[Stack, str], *, may_redo: bool) -> bool:
        """Measure one cell; tells whether it is to be done again."""
        self.sink(Progress(f"measuring {load.label}", stack.path))
        timed = replace(load, duration_s=self._length_s(load), requests=None)
        observation = self.place.load(stack, timed, REWARM_S)
        verdict = examine(observation)
        if not may_redo:
            verdict = _kept(verdict)
        measured = Slice(
            index=self.ledger.next_index,
            load=load,
            result=observation.result,
            usage=observation.usage,
            verdict=verdict,
        )
        self.ledger.add(up[stack], measured)
        self.sink(SliceEnded(up[stack], measured))
        self._withdraw_if_dead(stack, up)
        return any(finding.effect is Effect.REDOES for finding in verdict.findings)

    def _withdraw_if_dead(self, stack: Stack, up: dict[Stack, str]) -> None:
        failure = self.place.failure_of(stack)
        if failure is None:
            return
        launch = replace(self.ledger.launch(up.pop(stack)), failure=failure)
        retired = self.place.retire([stack])
        self._close(launch, retired.memory.get(stack.path, ()))

    def _retire(self, up: dict[Stack, str]) -> None:
        self.sink(Progress("stopping", None))
        retired = self.place.retire(list(up))
        for stack, launch_id in up.items():
            launch = self.ledger.launch(launch_id)
            launch = replace(launch, failure=retired.complaints.get(stack.path))
            self._close(launch, retired.memory.get(stack.path, ()))

    def _close(self, launch: Launch, memory: tuple[MemorySample, ...]) -> None:
        launch = replace(launch, memory=memory)
        self.ledger.enter(launch)
        self.sink(LaunchEnded(launch))


def _kept(verdict: Verdict) -> Verdict:
    """On a machine that is always noisy doing again gains nothing: what would be redone counts, with a warning.

    Interleaved pairs meet the same noise, so it widens their limits rather than deceives.
    """
    return Verdict(
        tuple(
            replace(finding, effect=Effect.WARNS) if finding.effect is Effect.REDOES else finding
            for finding in verdict.findings
        )
    )
