"""Looking at this machine: read everything once, and watch it for a moment while we do nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ...measure.load import Load
from ...measure.probe import (
    available_bytes,
    canary_ns,
    cpu_by_process,
    difference,
    host_facts,
    memory_bytes,
    network_limits,
    offenders,
    physical_cores,
    read_machine,
)
from ...measure.probe.host import allowed_cores, delegated
from ...measure.resources import Resources
from ...race.preparation.cores import split_cores, usable_cores
from ...validity.observation import Preparation
from .examination import Examination, examine
from .kernel import BOOST, CLOCKS, NO_TURBO, THP, Kernel
from .neighbours import daemons, jobs, listeners, remains
from .surroundings import Surroundings

__all__ = ["examine_machine", "look"]


def examine_machine(watch_s: float, concurrency: int, remote_engine: bool = False) -> Examination:
    """Examine this machine for races at ``concurrency`` connections; takes ``watch_s`` seconds.

    With a ``remote_engine`` stacks and engines are on different machines, so whoever is here has every core of it.
    """
    usable = usable_cores()
    stacks, engine = (usable, ()) if remote_engine else split_cores(physical_cores(usable))
    cores = Resources(stack_cores=stacks, generator_cores=engine)
    return examine(look(Kernel(), cores=cores, concurrency=concurrency, watch_s=watch_s))


_BETWEEN_S = 0.1
_LEAST = 10

_SETTINGS = (
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "vm.swappiness",
    "kernel.nmi_watchdog",
    THP,
    NO_TURBO,
    BOOST,
)


def look(
    kernel: Kernel,
    *,
    cores: Resources,
    concurrency: int,
    watch_s: float = 2.0,
) -> Surroundings:
    """Return what this machine is like for a race at ``concurrency`` connections; takes ``watch_s`` seconds."""
    was_used, before = cpu_by_process(), read_machine((), cores.stack_cores)
    speeds = _watch_speed(cores, watch_s)
    watched, is_used = difference(before, read_machine((), cores.stack_cores)), cpu_by_process()
    memory = memory_bytes()
    disk = Path(tempfile.gettempdir())
    room = shutil.disk_usage(disk)
    governors = kernel.governors()
    return Surroundings(
        host=host_facts(),
        plan=_plan(cores, concurrency),
        watched=watched,
        speed_spread=_spread(speeds),
        offenders=offenders(was_used, is_used, watched.elapsed_s),
        load_average=os.getloadavg()[0],
        settings={key: value for key in (*_SETTINGS, *governors) if (value := kernel.read(key)) is not None},
        governors=governors,
        memory_free_bytes=available_bytes(),
        swap_bytes=memory.get("SwapTotal", 0),
        swap_used_bytes=memory.get("SwapTotal", 0) - memory.get("SwapFree", 0),
        disk=disk,
        disk_bytes=room.total,
        disk_free_bytes=room.free,
        allowed_cores=allowed_cores(),
        delegated=delegated(),
        clocks=tuple((kernel.read(CLOCKS) or "").split()),
        daemons=daemons(),
        jobs=jobs(),
        remains=remains(),
        listeners=listeners(),
    )


def _watch_speed(cores: Resources, watch_s: float) -> list[float]:
    """Return what the canary cost time and again; it works for a few ms in each 100."""
    until, costs = time.monotonic() + watch_s, []
    while (left_s := until - time.monotonic()) > 0:
        costs.append(canary_ns(cores.stack_cores))
        time.sleep(min(_BETWEEN_S, left_s))
    return costs


def _spread(costs: Sequence[float]) -> float | None:
    """Return how much faster the fastest tenth was than the slowest; None where there are too few."""
    valid = sorted(cost for cost in costs if cost > 0)
    if len(valid) < _LEAST:
        return None
    tenth = len(valid) // 10
    return valid[-1 - tenth] / valid[tenth] - 1


def _plan(cores: Resources, concurrency: int) -> Preparation:
    return Preparation(
        loads=(Load(concurrency=concurrency, duration_s=1.0),),
        cores=cores,
        limits=network_limits(),
        threads=physical_cores({*cores.stack_cores, *cores.generator_cores}),
    )
