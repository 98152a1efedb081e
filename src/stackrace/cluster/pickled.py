"""One value for many members, pickled once."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TypeVar, cast

__all__ = ["pickled"]

_T = TypeVar("_T")


def pickled(value: _T) -> _T:
    """Return what arrives as ``value`` wherever it is sent, as a part of anything; here it is of no use.

    A workload may hold hundreds of requests with their answers, and each engine gets the same.
    """
    return cast(_T, _Pickled(value))


class _Pickled:
    def __init__(self, value: object) -> None:
        self._bytes = pickle.dumps(value)

    def __reduce__(self) -> tuple[Callable[[bytes], object], tuple[bytes]]:
        return pickle.loads, (self._bytes,)
