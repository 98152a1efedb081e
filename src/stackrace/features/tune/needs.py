"""What configurations need: two are measured under load, and what all others need follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...base.errors import RefusedError
from ...deploy.place import Place
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...measure.load import Load
from ...measure.workload import Workload
from ...stacks.stack import Stack
from .model import Infeasible, Needs, TuningLimits, Unfit

PILOT_S = 3.0
"""How long a pilot is loaded: long enough for several looks at its memory."""
_REWARM_S = 0.5
_PATIENCE_S = 60.0

_WORKERS, _THREADS = 3, 4
"""About so many processes, and threads in each, has the larger pilot."""


class Size(NamedTuple):
    """How large a configuration is."""

    processes: int
    slots: int | None
    """The requests that the app works on at once; None where the settings do not say."""


def size_of(stack: Stack) -> Size:
    """Return the size of the server that hosts the app, from its settings."""
    host, settings = stack.hops[-1], stack.hops[-1].resolved(stack.interface)
    processes = host.instances * (host.processes.most if host.processes else 1)
    threads: int | None = host.threads or None
    for setting in host.spec.settings:
        if setting.tunable is not None and setting.tunable.multiplies and setting.is_tuned(settings):
            # without a value it is left to the server
            threads = int(settings.get(setting.name) or 0) or None
            break
    return Size(processes, None if threads is None else processes * threads)


def pilots(stacks: Sequence[Stack]) -> tuple[Stack, ...]:
    """Return the smallest configuration, and a larger one that still starts quickly; one where all are alike."""
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


def measured_needs(place: Place, stack: Stack, workload: Workload, load: Load, on_preparing: OnPreparing) -> Needs:
    """Launch ``stack``, load it, and return the most that it was seen to use; nothing of it is left.

    Raises RefusedError where it does not start: then nothing can be said of those like it.
    """
    on_preparing(Preparing(step=Step.START, subject=stack.path))
    launched = place.launch(stack, _PATIENCE_S)
    if launched.failure is not None:
        raise RefusedError(
            f"{stack.path} did not come up, so that nothing is known of what it needs", detail=launched.failure.log
        )
    try:
        place.load(stack, workload, replace(load, duration_s=PILOT_S, requests=None), _REWARM_S)
    finally:
        retired = place.retire([stack]).finish()
    samples = retired.memory.get(stack.path, ())
    memory = max((sum(sample.pss_bytes.values()) for sample in samples), default=launched.memory_bytes)
    seen = [sample.connections for sample in samples if sample.connections is not None]
    return Needs(memory_bytes=memory, connections=max(seen, default=None))


def expected_needs(size: Size, measured: Mapping[Stack, Needs]) -> Needs | None:
    """Return what a configuration of ``size`` is likely to need; None where that does not follow from its size.

    Memory grows by the same for each process, or where there is one process for each thread. Connections grow by
    the same for each request that the app works on at once. What was ``measured`` of one or two configurations, the
    smallest first, tells by how much.
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
        # of one alone, or of two of the same size, nobody knows what does not grow: all is taken to
        fixed, further = _line(counted) or (0.0, max(y / x for x, y in counted))
        connections = max(math.ceil(fixed + further * size.slots - 1e-9), 0)
    return Needs(memory_bytes=round(level + each * many), connections=connections)


def _line(points: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """Return the line through two points, how much it is of none and of each more, level where it would fall.

    None where they do not make one.
    """
    if len(points) < 2 or points[1][0] <= points[0][0]:
        return None
    (low, least), (high, most) = points
    each = max((most - least) / (high - low), 0.0)
    return least - each * low, each


class Exceeded(NamedTuple):
    """A limit, and what a configuration uses of it."""

    kind: Unfit
    """MEMORY or CONNECTIONS."""
    used: int
    """Bytes or connections."""
    limit: int
    """In the same unit."""

    @property
    def times(self) -> float:
        """How many times the limit is used."""
        return self.used / self.limit


def exceeded(limits: TuningLimits, needs: Needs | None) -> list[Exceeded]:
    """Return what of ``needs`` is more than the limits allow, the one that is exceeded most first."""
    if needs is None:
        return []
    uses = (
        (Unfit.MEMORY, needs.memory_bytes, limits.memory_bytes),
        (Unfit.CONNECTIONS, needs.connections or 0, limits.connections),
    )
    found = [Exceeded(kind, used, limit) for kind, used, limit in uses if limit is not None and used > limit]
    return sorted(found, key=lambda one: -one.times)


def beyond(stack: Stack, limits: TuningLimits, measured: Mapping[Stack, Needs]) -> Infeasible | None:
    """Return what of ``stack`` is likely to exceed ``limits``, or does by its own measurement; None for nothing."""
    needs = measured.get(stack) or expected_needs(size_of(stack), measured)
    most = exceeded(limits, needs)
    return (
        Infeasible(stack=stack.path, kind=most[0].kind, needs=needs, measured=stack in measured) if most else None
    )
