"""Blocks on several machines at once."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue

from ...base.errors import BreakdownError, InterruptedRace
from ...base.process import Background
from ...deploy.machine import Machine
from ...measure.launch import EndedBy, Shortfall
from ...race.events import BlockStarted, Event, LaunchEnded, LaunchStarted, Progress
from ...race.run.lanes import Course, Lane
from ...stacks.stack import Stack

_LOOK_S = 0.2


class SeveralLanes:
    """Lanes of several equal machines; a round is one block on each of them.

    All events are sent by the thread that runs the race.
    """

    def __init__(self, machines: Mapping[str, Machine], _: Machine, course: Course) -> None:
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._stopping = threading.Event()
        self._course = course
        self.all = [course.lane(machine, name, self._enqueue) for name, machine in machines.items()]
        self.done = self.all[0].steps.number

    def finish_stops(self) -> None:
        """Wait until all stopping stacks are gone."""
        for lane in self.all:
            lane.steps.pending_stops.finish()
        self._pass_on()

    def round(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        """Run one more block on each machine; return False if there is none left.

        A lost machine leaves the race, and its block counts nowhere. Raises BreakdownError if it was the last one.
        """
        blocks = len(self.all)
        if made := self._together(racing, remaining_s):
            # a lost machine has used its number, too
            self.done += blocks
        return made

    def _together(self, racing: Sequence[Stack], remaining_s: float) -> bool:
        for number, lane in enumerate(self.all):
            lane.steps.number = self.done + number
        making = {lane.steps.number: Background(partial(_block, lane, racing, remaining_s)) for lane in self.all}
        try:
            while not all(each.wait(0) for each in making.values()):
                self._pass_on(_LOOK_S)
        except BaseException:
            # no machine starts anything new, and all stop their stacks
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
                why = Shortfall(ended_by=EndedBy.LOST, words=error.message)
                for launch in self._course.ledger.cut(lane.steps.number, why):
                    self._course.sink(LaunchEnded(launch))
                lost.append(error)
        if not self.all:
            raise lost[0]
        return any(made)

    def _enqueue(self, event: Event) -> None:
        """Queue an event of a machine's thread; raises InterruptedRace there if it starts anything after a stop."""
        if self._stopping.is_set() and isinstance(event, (BlockStarted, LaunchStarted, Progress)):
            raise InterruptedRace("the race is to stop")
        self._events.put(event)

    def _pass_on(self, wait_s: float = 0.0) -> None:
        while True:
            try:
                event = self._events.get(timeout=wait_s) if wait_s else self._events.get_nowait()
            except Empty:
                return
            self._course.sink(event)


def _block(lane: Lane, racing: Sequence[Stack], remaining_s: float) -> bool:
    made = lane.blocks.run_next(lane.steps, racing, remaining_s)
    # the round ends when all its stacks are gone: findings of their stops belong to it
    lane.steps.pending_stops.finish()
    return made
