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

    They lie on lines through the ``measured`` configurations, the smaller first: memory over the processes, or over
    the slots if these have equally many processes; connections over the slots.
    """
    sizes, needs = [size_of(stack) for stack in measured], [*measured.values()]
    processes, slots = [one.processes for one in sizes], [one.slots or one.processes for one in sizes]
    grows = processes[0] < processes[-1]
    many = size.processes if grows else size.slots
    if many is None:
        return None
    memory = _on_line(processes if grows else slots, [one.memory_bytes for one in needs], many)
    counted = [one.connections for one in needs if one.connections is not None]
    connections = None
    if size.slots is not None and len(counted) == len(needs):
        connections = math.ceil(_on_line(slots, counted, size.slots) - 1e-9)
    return Needs(memory_bytes=round(memory), connections=connections)


def _on_line(places: Sequence[int], values: Sequence[int], at: int) -> float:
    """Return the value at a place of the line through one or two points; it never falls, and is never negative."""
    apart = places[-1] - places[0]
    each = max((values[-1] - values[0]) / apart, 0.0) if apart else 0.0
    return max(values[0] + each * (at - places[0]), 0.0)


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
