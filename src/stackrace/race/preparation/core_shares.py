"""Cores and memory for each stack, and cores for the load engine."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...base.errors import InputError
from ...base.units import SIZE
from ...measure.resources import Resources, format_cores
from ...validity.cores import MOST_TAKEN

if TYPE_CHECKING:
    from ..request.request import RaceRequest

_FEWEST = 2
"""Fewest physical cores of a race: one for the stacks, one for the engine."""


def usable_cores() -> tuple[int, ...]:
    """Return the cores that this process may run on."""
    return tuple(sorted(os.sched_getaffinity(0)))


def cores_of(request: RaceRequest, *, remote_engine: bool = False) -> Resources:
    """Return the cores and memory of a race: as requested, the rest by ``split_cores``. Raises InputError if not
    available.

    With ``remote_engine``, load engines run on other machines, so stacks may use every core of this machine.
    """
    from ...measure.probe import physical_cores, used_by_core
    from ..request.request import LEAST_MEMORY_BYTES

    if request.memory_bytes is not None and request.memory_bytes < LEAST_MEMORY_BYTES:
        raise InputError(
            f"--memory ([race] memory): no server with a Python app fits into {SIZE.format(request.memory_bytes)}; "
            f"give at least {SIZE.format(LEAST_MEMORY_BYTES)}"
        )
    usable = usable_cores()
    _refuse_unusable("--cores ([race] cores)", request.cores, usable)
    _refuse_unusable("--engine-cores ([race] engine_cores)", request.engine_cores, usable)
    physical: Sequence[Sequence[int]] = physical_cores(usable)
    if request.cores is None and request.engine_cores is None and len(physical) > _FEWEST:
        physical = quiet(physical, used_by_core())
    stacks, engine = split_cores(physical, request.cores, request.engine_cores)
    if remote_engine:
        stacks, engine = request.cores or usable, ()
    return Resources(
        stack_cores=stacks, generator_cores=engine, memory_bytes=request.memory_bytes, quota=request.quota
    )


def quiet(physical: Sequence[Sequence[int]], used: Mapping[int, float]) -> Sequence[Sequence[int]]:
    """Return the idle cores among ``physical``, in order; at least the two with the lowest use.

    ``used`` is the share of each core that is in use now.
    """
    by_use = sorted(physical, key=lambda core: max(used.get(cpu, 0.0) for cpu in core))
    kept = [core for core in by_use if max(used.get(cpu, 0.0) for cpu in core) <= MOST_TAKEN]
    chosen = kept if len(kept) > _FEWEST else by_use[:_FEWEST]
    return [core for core in physical if core in chosen]


def split_cores(
    physical: Sequence[Sequence[int]],
    stacks: Sequence[int] | None = None,
    engine: Sequence[int] | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the stacks' cores and the engine's; ``physical`` are all usable cores, grouped by physical core.

    Defaults: the engine gets one thread of the last physical core that the stacks leave free. The core's other
    threads (SMT siblings) stay idle, because work on them would slow the engine. The stacks get all the rest. If
    there is only one physical core, its threads are divided; a single thread is shared. Raises InputError if both
    are given and overlap, or if one leaves the other nothing.
    """
    usable = [cpu for core in physical for cpu in core]
    if stacks is not None and engine is not None:
        both = set(stacks) & set(engine)
        if both:
            raise InputError(
                f"--cores {format_cores(stacks)} and --engine-cores {format_cores(engine)} share core "
                f"{format_cores(both)}; leave the load engine a core of its own{_without('--cores', stacks, both)}"
            )
        return tuple(stacks), tuple(engine)
    if len(usable) == 1:
        return tuple(usable), tuple(usable)
    if engine is not None:
        rest = _cores_without(physical, engine)
        if not rest:
            raise _no_core_left("--engine-cores", engine, "the stacks", usable)
        return rest, tuple(engine)
    free = _cores_without(physical, stacks or ())
    if not free:
        raise _no_core_left("--cores", stacks or (), "the load engine", usable)
    (mine,) = _last_core(physical, free)
    return tuple(stacks) if stacks is not None else _cores_without(physical, (mine,)), (mine,)


def _cores_without(physical: Sequence[Sequence[int]], taken: Sequence[int]) -> tuple[int, ...]:
    """Return the cores that are not ``taken``, without siblings of taken ones unless nothing else is left."""
    whole = [cpu for core in physical for cpu in core if not set(core) & set(taken)]
    return tuple(whole or [cpu for core in physical for cpu in core if cpu not in taken])


def _last_core(physical: Sequence[Sequence[int]], free: Sequence[int]) -> tuple[int]:
    """Return the first free thread of the last physical core, or its last one if the core is partly taken."""
    core = [core for core in physical if set(core) & set(free)][-1]
    mine = [cpu for cpu in core if cpu in free]
    return (mine[0] if len(mine) == len(core) and len(physical) > 1 else mine[-1],)


def _no_core_left(flag: str, taken: Sequence[int], whom: str, usable: Sequence[int]) -> InputError:
    left = f"{flag} {format_cores(taken)} leaves {whom} no core of {format_cores(usable)}"
    return InputError(f"{left}; give fewer{_without(flag, usable, usable[-1:])}")


def _without(flag: str, cores: Sequence[int], others: Collection[int]) -> str:
    """Return the flag with ``cores`` but ``others``, to be appended to a remedy; empty if none is left."""
    left = [core for core in cores if core not in others]
    return f": {flag} {format_cores(left)}" if left else ""


def _refuse_unusable(name: str, asked: Sequence[int] | None, usable: Sequence[int]) -> None:
    others = set(asked or ()) - set(usable)
    if others:
        raise InputError(
            f"{name}: {format_cores(asked or ())} has cores that this process may not use "
            f"({format_cores(others)}); it may use {format_cores(usable)}"
        )
