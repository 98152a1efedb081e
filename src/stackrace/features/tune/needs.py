"""What configurations need: two are measured under load, the others follow from them; and the nearest ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...base.errors import RefusedError
from ...base.numbers import percent, things
from ...base.units import SIZE
from ...deploy.place import Place
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...measure.load import Load
from ...measure.workload import Workload
from ...stacks.stack import Hop, SettingValue, Stack
from .model import Exceeded, Infeasible, Needs, TuningLimits, Unfit

PILOT_S = 3.0
"""How long a pilot is loaded: long enough for several looks at its memory."""
_REWARM_S = 0.5
_PATIENCE_S = 60.0

WORKERS, THREADS = 3, 4
"""About so many processes, and threads in each, has the larger pilot."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a configuration is."""

    processes: int
    slots: int | None
    """The requests that the app works on at once; None where the settings do not say."""


def size_of(stack: Stack) -> Size:
    """Return the size of the server that hosts the app, from its settings."""
    host, settings = stack.hops[-1], stack.hops[-1].resolved(stack.interface)
    processes = host.instances * (host.processes.most if host.processes else 1)
    threads = _threads(host, settings)
    return Size(processes, None if threads is None else processes * threads)


def _threads(host: Hop, settings: Mapping[str, SettingValue]) -> int | None:
    """Return how many requests each process works on at once; None where that is left to the server."""
    for setting in host.spec.settings:
        value = settings.get(setting.name)
        if setting.tunable is not None and setting.tunable.multiplies and setting.is_tuned(settings):
            return int(value) if value else None
    return host.threads or None


def pilots(stacks: Sequence[Stack]) -> tuple[Stack, ...]:
    """Return the smallest configuration, and a larger one that still starts quickly; one where all are alike."""
    sizes = {stack: size_of(stack) for stack in stacks}
    sized = [stack for stack in stacks if sizes[stack].slots is not None] or list(stacks)
    smallest = min(sized, key=lambda stack: (sizes[stack].slots or 0, sizes[stack].processes))
    least = sizes[smallest]

    def unlike(stack: Stack) -> float:
        size = sizes[stack]
        threads = (size.slots or size.processes) / size.processes
        return abs(math.log(size.processes / WORKERS)) + abs(math.log(threads / THREADS))

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


_Line = tuple[float, float]
"""What grows by the same each time: how much it is of none, and of each more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What any configuration is likely to need.

    Memory grows by the same for each process, or where there is one process for each thread. Connections grow by
    the same for each request that the app works on at once.
    """

    bytes_by: _Line
    by_processes: bool
    """Whether ``bytes_by`` is by processes, or by threads."""
    connections_by: _Line | None
    """By requests at a time; None where nobody could count them."""

    def needs(self, size: Size) -> Needs | None:
        """Return what a configuration of ``size`` is likely to need; None where that does not follow from it."""
        many = size.processes if self.by_processes else size.slots
        if many is None:
            return None
        connections = None
        if self.connections_by is not None and size.slots is not None:
            connections = max(math.ceil(_at(self.connections_by, size.slots) - 1e-9), 0)
        return Needs(memory_bytes=round(_at(self.bytes_by, many)), connections=connections)


def _at(line: _Line, many: int) -> float:
    return line[0] + line[1] * many


def model_of(measured: Mapping[Stack, Needs]) -> Model:
    """Return the model that one or two measured configurations make, the smallest first."""
    sizes = [size_of(stack) for stack in measured]
    by_processes = len(sizes) < 2 or sizes[1].processes > sizes[0].processes
    memory = [
        (size.processes if by_processes else size.slots or 1, float(needs.memory_bytes))
        for size, needs in zip(sizes, measured.values(), strict=True)
    ]
    counted = [
        (size.slots or size.processes, float(needs.connections))
        for size, needs in zip(sizes, measured.values(), strict=True)
        if needs.connections is not None
    ]
    return Model(
        bytes_by=_through(memory) or (memory[0][1], 0.0),
        by_processes=by_processes,
        # of one alone, or of two of the same size, nobody knows what does not grow: all is taken to
        connections_by=_through(counted) or ((0.0, max(y / x for x, y in counted)) if counted else None),
    )


def _through(points: Sequence[tuple[int, float]]) -> _Line | None:
    """Return the line through two points, level where it would fall; None where they do not make one."""
    if len(points) < 2 or points[1][0] <= points[0][0]:
        return None
    (low, least), (high, most) = points
    each = max((most - least) / (high - low), 0.0)
    return least - each * low, each


def beyond(stack: Stack, limits: TuningLimits, model: Model, measured: Mapping[Stack, Needs]) -> Infeasible | None:
    """Return what of ``stack`` is likely to exceed ``limits``, or does by its own measurement; None for nothing."""
    needs = measured.get(stack) or model.needs(size_of(stack))
    exceeded = limits.exceeded(needs)
    if not exceeded:
        return None
    return Infeasible(stack=stack.path, kind=exceeded[0].kind, needs=needs, measured=stack in measured)


def none_within(stack: str, limits: TuningLimits, out: Sequence[Infeasible]) -> str:
    """Say that no configuration of ``stack`` is within ``limits``, and name every limit that the nearest exceeds.

    ``out``, at least one, are beyond a limit by what they need. The nearest is the one whose most exceeded limit is
    exceeded the least.
    """
    nearest = min(out, key=lambda one: limits.exceeded(one.needs)[0].times)
    exceeded = limits.exceeded(nearest.needs)
    known = "measured under load" if nearest.measured else "computed from two that were measured"
    return (
        f"no configuration of {stack} is within the limits: {nearest.stack} comes nearest and needs "
        f"{' and '.join(map(_much, exceeded))} ({known}); give {' '.join(map(_flag, exceeded))} or more"
    )


def _much(one: Exceeded) -> str:
    """Return what is needed, and how far off that is: ``41 MiB, 37 % more than 30 MiB,``."""
    return f"{_amount(one, one.used)}, {percent(one.times - 1)} more than the limit of {_amount(one, one.limit)}"


def _amount(one: Exceeded, many: int) -> str:
    return SIZE.format(many) if one.kind is Unfit.MEMORY else f"{things(many, 'connection')} to databases"


def _flag(one: Exceeded) -> str:
    """Return the option with a value that would do."""
    if one.kind is Unfit.MEMORY:
        return f"--memory {-(-one.used // 2**20)}MiB"
    return f"--connections {one.used}"
