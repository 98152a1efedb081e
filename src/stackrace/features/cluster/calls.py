"""Calls to a worker: how they are packed on their way, and what runs them there.

Dask finds these functions by name, so both sides have the same stackrace.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

__all__ = ["as_bytes", "call", "now", "pickled"]

_T = TypeVar("_T")

_CALLS = 64
"""Calls that may be under way on one worker at once."""
_POOL = ThreadPoolExecutor(_CALLS, thread_name_prefix="stackrace")


async def call(function: Callable[..., _T], *args: object) -> _T:
    """Call ``function`` on a worker in a thread, so that the worker's own loop goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, partial(function, *args))


async def now() -> float:
    """Return the worker's CLOCK_MONOTONIC, in seconds; at once, without a thread."""
    return time.monotonic()


def as_bytes(value: object) -> bytes:
    """Return ``value`` pickled by name; what has no name there, as in a server of the user's own, Dask takes along.

    That is slower. The name ``__main__`` means another module there.
    """
    with suppress(Exception):
        found = pickle.dumps(value)
        if b"__main__" not in found:
            return found
    from distributed.protocol.pickle import dumps

    taken: bytes = dumps(value)
    return taken


def pickled(value: _T) -> _T:
    """Return what arrives as ``value`` wherever it is sent, as a part of anything; here it is of no use.

    It is pickled once: a workload may hold hundreds of requests with their answers, and each engine gets the same.
    """
    return cast(_T, _Pickled(value))


class _Pickled:
    def __init__(self, value: object) -> None:
        self._bytes = as_bytes(value)

    def __reduce__(self) -> tuple[Callable[[bytes], object], tuple[bytes]]:
        return pickle.loads, (self._bytes,)
