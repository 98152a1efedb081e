"""A look of one's own at the machine around every slice, so that what a check says of it can be confirmed.

It reads by other means than the checks: another piece of work for the speed, on either side of the race's own; the
sockets that every process opens; and the time stolen over the whole of a load.
"""

from __future__ import annotations

import math
import os
import random
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from stackrace.deploy.local_machine import LocalMachine
from stackrace.measure.load import Load
from stackrace.measure.probe import canary_ns
from stackrace.measure.workload import Workload
from stackrace.stacks.stack import Stack
from stackrace.validity.observation import Observation

TURNS = 12
NUMBERS = random.Random(1).sample(range(10**6), 1500)
LOOK_AFTER_S = 0.2
"""When connections are counted, where they are kept: so long after the recorded stretch began all are open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What the witness saw of one slice.

    ``stolen`` is a share of the machine's time; ``speed`` how much faster the stack's cores were after than before,
    in ln units, and ``claimed`` the same as the race's own canary had it, None where it was not asked. ``fairness``
    is Jain's index as the numbers of connections per process explain it, 1 where one process serves all.
    """

    stolen: float
    speed: float
    claimed: float | None
    fairness: float


class Watched(LocalMachine):
    """This machine, with the witness looking on; ``sights`` are kept by when the engine began to record."""

    def __init__(self, sights: dict[float, Sight], **stage: object) -> None:
        super().__init__(**stage)  # type: ignore[arg-type]
        self._sights = sights

    def load(
        self, stack: Stack, workload: Workload, load: Load, rewarm_s: float, limit_s: float = math.inf
    ) -> Observation:
        """Load as ever, between two looks at the machine, with one at the connections meanwhile."""
        running = self._up[stack.path].running
        front = next(iter(running.hops.values()))
        spread: list[int] = []
        idle = sockets(front)
        look = threading.Timer(rewarm_s + LOOK_AFTER_S, lambda: spread.extend(opened(idle, sockets(front))))
        costs: list[float] = []
        stolen, whole = stolen_s()
        if load.keep_alive:
            look.start()
        try:
            with patch("stackrace.deploy.local_machine.probe.canary_ns", lambda cores: beside_canary(cores, costs)):
                seen = super().load(stack, workload, load, rewarm_s, limit_s)
        finally:
            look.cancel()
        stolen_now, whole_now = stolen_s()
        change = seen.machine.speed_change
        self._sights[seen.result.started_at] = Sight(
            stolen=(stolen_now - stolen) / max(whole_now - whole, 1e-9),
            speed=math.log(costs[0] / costs[-1]),
            claimed=None if change is None else math.log(1 + change),
            fairness=explained_fairness(spread),
        )
        return seen


def beside_canary(cores: Sequence[int], costs: list[float]) -> float:
    """Run the race's own canary between two halves of the witness's work, whose cost joins ``costs``.

    Where speed moves within milliseconds, nothing but the same milliseconds can confirm it.
    """
    before_ns = _least_ns(cores)
    canary = canary_ns(cores)
    after_ns = _least_ns(cores)
    costs.append(math.sqrt(before_ns * after_ns))
    return canary


def _least_ns(cores: Sequence[int]) -> float:
    """Return what some turns of sorting cost on ``cores`` in ns of CPU time: the least, their mean."""
    allowed = os.sched_getaffinity(0)
    costs = []
    try:
        for core in cores:
            os.sched_setaffinity(0, {core})
            costs.append(min(_turn_ns() for _ in range(TURNS)))
    finally:
        os.sched_setaffinity(0, allowed)
    return statistics.fmean(costs)


def _turn_ns() -> int:
    begun = time.thread_time_ns()
    sorted(NUMBERS)
    return time.thread_time_ns() - begun


def sockets(roots: Sequence[int]) -> Mapping[int, Set[str]]:
    """Return the sockets that each of the processes from ``roots`` down holds, by its id.

    Source: proc_pid_fd(5), proc_tid_children(5). /proc/net/tcp, which would tell connections from the rest, holds
    thousands of lines once connections were closed, and reading it takes the engine's core for long.
    """
    return {pid: {held for held in _held(pid) if held.startswith("socket:")} for pid in _below(roots)}


def opened(before: Mapping[int, Set[str]], now: Mapping[int, Set[str]]) -> list[int]:
    """Return how many sockets each process has opened meanwhile, those that opened some."""
    return [more for pid, held in now.items() if (more := len(held - before.get(pid, set())))]


def _below(roots: Sequence[int]) -> Iterator[int]:
    for pid in roots:
        yield pid
        try:
            children = [path.read_text(encoding="ascii") for path in Path(f"/proc/{pid}/task").glob("*/children")]
        except OSError:
            continue  # ended meanwhile
        yield from _below([int(child) for each in children for child in each.split()])


def _held(pid: int) -> Iterator[str]:
    for path in Path(f"/proc/{pid}/fd").glob("*"):
        # closed meanwhile, or not ours to see
        with suppress(OSError):
            yield str(path.readlink())


def explained_fairness(spread: Sequence[int]) -> float:
    """Return Jain's index over connections, where processes answer as much but serve ``spread`` connections each.

    Of w processes, one with c connections answers 1/(w·c) on each: (Σx)²/(n·Σx²) is w²/(n·Σ1/c). It is 1 for none.
    """
    return len(spread) ** 2 / (sum(spread) * sum(1 / each for each in spread)) if spread else 1.0


def stolen_s() -> tuple[float, float]:
    """Return the seconds stolen and all seconds of all cores. Source: proc_stat(5)."""
    times = machine_s()
    return times["steal"], sum(times.values())


def machine_s() -> Mapping[str, float]:
    """Return the seconds of all cores by what they were spent on."""
    first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    names = "user", "nice", "system", "idle", "wait", "irq", "softirq", "steal"
    return {
        name: int(ticks) / os.sysconf("SC_CLK_TCK") for name, ticks in zip(names, first.split()[1:9], strict=True)
    }


@contextmanager
def witness() -> Iterator[dict[str, float]]:
    """Yield a table that holds, once the block is over, the shares of the machine that went to others.

    What was neither idle nor spent by us and by the children that we waited for, the whole race among them, was
    spent by others. Source: proc_stat(5); times(2).
    """
    seen: dict[str, float] = {}
    before, ours = machine_s(), sum(os.times()[:4])
    yield seen
    spent = {name: value - before[name] for name, value in machine_s().items()}
    ours = sum(os.times()[:4]) - ours
    capacity = max(sum(spent.values()), 1e-9)
    seen["others"] = max(0.0, spent["user"] + spent["nice"] + spent["system"] - ours) / capacity
    seen["stolen"] = spent["steal"] / capacity
