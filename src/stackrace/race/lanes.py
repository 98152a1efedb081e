"""Blocks on several equal machines at once: each is raced whole on one of them, so that no pair is split.

A round is one block on each machine. Everything that is told of a race is told by the thread that runs it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

from ..base.errors import BreakdownError, InterruptedRace
from ..base.process import Background
from ..stacks.stack import Stack
from .events import BlockStarted, Event, LaunchEnded, LaunchStarted, Progress, Sink
from .ledger import Ledger
from .results.race import Ending
from .steps import Steps

_LOOK_S = 0.2
"""How often it is looked whether a machine has finished its block, while nothing is told."""


class Blocks(Protocol):
    """A kind of block: what each consists of, and how many there are. ``ending`` says why there is no other."""

    ending: Ending

    def check(self, remaining_s: float) -> None:
        """Raise InputError when not even one block is possible in ``remaining_s``, which may be infinite."""

    def another(self, steps: Steps, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block; False when there is to be none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One machine: its steps, and its blocks, whose lengths follow what launches cost there."""

    steps: Steps
    blocks: Blocks


class Lanes:
    """The machines of a race, which advance by whole rounds; ``done`` is the number of blocks that are over."""

    def __init__(
        self, make: Callable[[str, Sink], Lane], machines: Sequence[str], ledger: Ledger, sink: Sink
    ) -> None:
        self._told: SimpleQueue[Event] = SimpleQueue()
        self._stopping = threading.Event()
        self._ledger = ledger
        self._sink = sink
        alone = len(machines) == 1
        self.all = [make(machine, sink if alone else self._tell) for machine in machines]
        self.done = self.all[0].steps.number

    @property
    def first(self) -> Lane:
        """The machine that keeps the time."""
        return self.all[0]

    def finish_stops(self) -> None:
        """Wait until what was told to stop is gone."""
        for lane in self.all:
            lane.steps.pending_stops.finish()
        self._pass_on()

    def round(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Make one more block on each machine; False when there is to be none.

        A machine that is lost leaves the race, and its block counts nowhere. Raises BreakdownError when it was the
        last one.
        """
        blocks = len(self.all)
        if blocks == 1:
            made = self.first.blocks.another(self.first.steps, racing, remaining_s)
        else:
            made = self._together(racing, remaining_s)
        if made:
            # a machine that was lost has used up its number, too
            self.done += blocks
            for number, lane in enumerate(self.all):
                lane.steps.number = self.done + number
        return made

    def _together(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        for number, lane in enumerate(self.all):
            lane.steps.number = self.done + number
        making = {lane.steps.number: Background(partial(_block, lane, racing, remaining_s)) for lane in self.all}
        try:
            while not all(each.wait(0) for each in making.values()):
                self._pass_on(_LOOK_S)
        except BaseException:
            # no machine begins anything new, and all stop what they have
            self._stopping.set()
            for each in making.values():
                each.wait()
            raise
        finally:
            self._pass_on()
        return self._made(making)

    def _made(self, making: dict[int, Background[bool]]) -> bool:
        made, lost = [], []
        for lane in list(self.all):
            try:
                made.append(making[lane.steps.number].finish())
            except BreakdownError as error:
                self.all.remove(lane)
                for launch in self._ledger.cut(lane.steps.number):
                    self._sink(LaunchEnded(launch))
                lost.append(error)
        if not self.all:
            raise lost[0]
        return any(made)

    def _tell(self, event: Event) -> None:
        """Hear what a machine's thread tells; one that is to stop hears it where it would begin something."""
        if self._stopping.is_set() and isinstance(event, (BlockStarted, LaunchStarted, Progress)):
            raise InterruptedRace("the race is to stop")
        self._told.put(event)

    def _pass_on(self, wait_s: float = 0.0) -> None:
        while True:
            try:
                event = self._told.get(timeout=wait_s) if wait_s else self._told.get_nowait()
            except Empty:
                return
            self._sink(event)


def _block(lane: Lane, racing: Sequence[Stack], remaining_s: float) -> bool:
    made = lane.blocks.another(lane.steps, racing, remaining_s)
    # the round ends when all stacks of it are gone: what stopping shows belongs to it
    lane.steps.pending_stops.finish()
    return made
