"""What runs on a member: Dask calls these functions by name, so both sides have the same stackrace."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ... import __version__

__all__ = ["Introduction", "call", "introduce", "now"]

_T = TypeVar("_T")

MACHINE = "STACKRACE_MACHINE"
"""Names the machine where several stand on one kernel, as network namespaces do that stand for machines."""
CALLS = 64
"""Calls that may be under way on one member at once."""
_POOL = ThreadPoolExecutor(CALLS, thread_name_prefix="stackrace")

Introduction = dict[str, Any]
"""What a member says of itself: the fields of ``Member`` that only it knows."""


async def call(function: Callable[..., _T], *args: object) -> _T:
    """Call ``function`` in a thread, so that the worker's own loop goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, partial(function, *args))


async def now() -> float:
    """Return this machine's CLOCK_MONOTONIC, in seconds; at once, without a thread."""
    return time.monotonic()


def introduce() -> Introduction:
    """Say what this machine is."""
    from ...measure.probe import host_facts

    facts = host_facts()
    return {
        "version": __version__,
        "python": platform.python_version(),
        "kernel": facts.kernel,
        "cpu": facts.cpu,
        "cores": tuple(sorted(os.sched_getaffinity(0))),
        "memory_bytes": facts.memory_bytes,
        "machine": os.environ.get(MACHINE) or _boot_id(),
    }


def _boot_id() -> str:
    """Return what only processes below the same kernel see. Source: random(4), boot_id."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
