"""Values on their way to other machines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

__all__ = ["as_bytes", "pickled"]

_T = TypeVar("_T")


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
