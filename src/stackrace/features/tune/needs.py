"""Needs of configurations: two are measured under load, and those of all others follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...base.errors import RefusedError
from ...deploy.machine import Machine
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...measure.load import Load
from ...measure.workload import Workload
from ...stacks.stack import Stack
from .model import Infeasible, Needs, TuningLimits, Unfit

PILOT_S = 3.0
"""Seconds of load on a pilot: long enough for several samples of its memory."""
_REWARM_S = 0.5
_PATIENCE_S = 60.0

_WORKERS, _THREADS = 3, 4
"""Approximate number of processes, and of threads in each, of the larger pilot."""


class Size(NamedTuple):
    """Size of a configuration."""

    processes: int
    slots: int | None
    """Number of requests that the app works on at once; None if the settings do not determine it."""


def size_of(stack: Stack) -> Size:
    """Return the size of the server that hosts the app, from its settings."""
    host, settings = stack.hops[-1], stack.hops[-1].resolved(stack.interface)
    processes = host.instances * (host.processes.most if host.processes else 1)
    threads: int | None = host.threads or None
    for setting in host.spec.settings:
        if setting.tunable is not None and setting.tunable.multiplies and setting.is_tuned(settings):
            # without a value the server decides
            threads = int(settings.get(setting.name) or 0) or None
            break
    return Size(processes, None if threads is None else processes * threads)


def pilots(stacks: Sequence[Stack]) -> tuple[Stack, ...]:
    """Return the smallest configuration and, if sizes differ, a larger one that still starts quickly."""
    sizes = {stack: size_of(stack) for stack in stacks}
    sized = [stack for stack in stacks if sizes[stack].slots is not None] or list(stacks)
    smallest = min(sized, key=lambda stack: (sizes[stack].slots or 0, sizes[stack].processes))
    least = sizes[smallest]

    def unlike(stack: Stack) -> float:
        size = sizes[stack]
        threads = (size.slots or size.processes) / size.processes
        return abs(math.log(size.processes / _WORKERS)) + abs(math.log(threads / _THREADS))

    larger = [s for s in sized if sizes[s].processes > least.processes] or [
        s for s in sized if (sizes[s].slots or 0) > (least.slots or 0)
    ]
    return (smallest, min(larger, key=unlike)) if larger else (smallest,)


def measured_needs(
    machine: Machine, stack: Stack, workload: Workload, load: Load, on_preparing: OnPreparing
) -> Needs:
    """Launch ``stack``, load it, and return the most memory and connections it used; nothing is left running.

    Raises RefusedError if it does not start: then nothing is known about similar ones.
    """
    on_preparing(Preparing(step=Step.START, subject=stack.path))
    launched = machine.launch(stack, _PATIENCE_S)
    if launched.failure is not None:
        raise RefusedError(
            f"{stack.path} did not come up, so that nothing is known of what it needs", detail=launched.failure.log
        )
    try:
        machine.load(stack, workload, replace(load, duration_s=PILOT_S, requests=None), _REWARM_S)
    finally:
        retired = machine.retire([stack]).finish()
    samples = retired.memory.get(stack.path, ())
    memory = max((sum(sample.pss_bytes.values()) for sample in samples), default=launched.memory_bytes)
    seen = [sample.connections for sample in samples if sample.connections is not None]
    return Needs(memory_bytes=memory, connections=max(seen, default=None))


def expected_needs(size: Size, measured: Mapping[Stack, Needs]) -> Needs | None:
    """Return the likely needs of a configuration of ``size``; None if they do not follow from its size.

    Memory grows by the same amount for each process, or for each thread if all configurations have the same number
    of processes. Connections grow by the same amount for each request that the app works on at once. The amounts
    follow from one or two ``measured`` configurations, the smallest first.
    """
    sizes = [size_of(stack) for stack in measured]
    by_processes = len(sizes) < 2 or sizes[1].processes > sizes[0].processes
    many = size.processes if by_processes else size.slots
    if many is None:
        return None
    of_each = [*zip(sizes, measured.values(), strict=True)]
    memory = [(one.processes if by_processes else one.slots or 1, needs.memory_bytes) for one, needs in of_each]
    counted = [
        (one.slots or one.processes, needs.connections) for one, needs in of_each if needs.connections is not None
    ]
    level, each = _line(memory) or (memory[0][1], 0.0)
    connections = None
    if counted and size.slots is not None:
        # one point, or two of the same size, show no fixed part: assume that everything grows
        fixed, further = _line(counted) or (0.0, max(y / x for x, y in counted))
        connections = max(math.ceil(fixed + further * size.slots - 1e-9), 0)
    return Needs(memory_bytes=round(level + each * many), connections=connections)


def _line(points: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """Return the line through two points, as its value at zero and its slope, which is never negative.

    None if they do not define a line.
    """
    if len(points) < 2 or points[1][0] <= points[0][0]:
        return None
    (low, least), (high, most) = points
    each = max((most - least) / (high - low), 0.0)
    return least - each * low, each


class Exceeded(NamedTuple):
    """A limit, and a configuration's use of it."""

    kind: Unfit
    """MEMORY or CONNECTIONS."""
    used: int
    """Bytes or connections."""
    limit: int
    """The limit in the same unit."""

    @property
    def times(self) -> float:
        """Use divided by the limit."""
        return self.used / self.limit


def exceeded(limits: TuningLimits, needs: Needs | None) -> list[Exceeded]:
    """Return the ``needs`` that exceed the limits, the most exceeded limit first."""
    if needs is None:
        return []
    uses = (
        (Unfit.MEMORY, needs.memory_bytes, limits.memory_bytes),
        (Unfit.CONNECTIONS, needs.connections or 0, limits.connections),
    )
    found = [Exceeded(kind, used, limit) for kind, used, limit in uses if limit is not None and used > limit]
    return sorted(found, key=lambda one: -one.times)


def beyond(stack: Stack, limits: TuningLimits, measured: Mapping[Stack, Needs]) -> Infeasible | None:
    """Return the limit that ``stack`` is likely to exceed, or was measured to exceed; None if there is none."""
    needs = measured.get(stack) or expected_needs(size_of(stack), measured)
    most = exceeded(limits, needs)
    return (
        Infeasible(stack=stack.path, kind=most[0].kind, needs=needs, measured=stack in measured) if most else None
    )
