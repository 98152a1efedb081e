"""What this member holds for a coordinator, until that closes it or is not heard of for ``LEASE_S``.

Everything that it starts is a child of a supervisor, which ends it all when this worker dies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar

from ...base.errors import BreakdownError, InputError

__all__ = ["LEASE_S", "LOOK_S", "Leased", "ask", "close", "refuse_busy", "renew", "take"]

_T = TypeVar("_T")

LEASE_S = 20.0
"""Longer than a link is down for a moment, shorter than anybody would wait for an orphan to be gone."""
LOOK_S = 1.0
CLOSES_S = 60.0
"""How long stopping everything may take."""


class Leased(Generic[_T]):
    """A context that is entered in a thread of its own, held, and left when the lease ends."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._renewed_s = time.monotonic()
        self._ends = threading.Event()
        self._up = threading.Event()
        self._over = threading.Event()
        self._ready: _T | None = None
        self._error: BaseException | None = None

    def begin(self, holding: Callable[[], AbstractContextManager[_T]]) -> None:
        """Enter ``holding`` from now on."""
        # a daemon: what it holds ends with the worker, by the supervisor's hand
        threading.Thread(target=self._hold, args=(holding,), daemon=True).start()

    def _hold(self, holding: Callable[[], AbstractContextManager[_T]]) -> None:
        try:
            with holding() as self._ready:
                self._up.set()
                while not self.is_ending:
                    self._ends.wait(LOOK_S)
        except BaseException as error:
            self._error = error
        finally:
            self._ready = None
            self._up.set()
            self._over.set()

    @property
    def is_ending(self) -> bool:
        """Whether it is to be left."""
        return self._ends.is_set() or time.monotonic() - self._renewed_s > LEASE_S

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left."""
        return self._over.is_set()

    @property
    def held(self) -> _T:
        """Return what is held, once it is; raises what entering it raised."""
        self._up.wait()
        if self._ready is None:
            raise self._error or BreakdownError("the race was closed on this machine, as its lease had run out")
        return self._ready

    @contextmanager
    def naming_originals(self) -> Iterator[None]:
        """Let errors of what is asked for here name the user's own files, wherever they lie."""
        yield

    def renew(self) -> None:
        """Hear that the coordinator is still there."""
        self._renewed_s = time.monotonic()

    def close(self) -> None:
        """Leave it, and wait until nothing of it is left."""
        self._ends.set()
        self._over.wait(CLOSES_S)


_current: Leased[Any] | None = None
_lock = threading.Lock()


def take(make: Callable[[], Leased[Any]]) -> None:
    """Hold what ``make`` returns from now on.

    A machine has a part in one race at a time: two would measure each other. Raises InputError for a second.
    """
    global _current
    with _lock:
        refuse_busy()
        _current = make()


def refuse_busy() -> None:
    """Raise InputError while this machine has a part in a race."""
    if _current is not None and not _current.is_over:
        raise InputError("this machine hosts another race; wait for its end, or leave the machine out")


def renew(token: str) -> None:
    """Renew the lease of that token; raises BreakdownError where there is none any more."""
    _own(token).renew()


def ask(token: str, step: Callable[..., Any], args: Sequence[object]) -> Any:
    """Return what ``step``, a method of what is held for that token, returns."""
    mine = _own(token)
    mine.renew()
    with mine.naming_originals():
        return step(mine, *args)


def close(token: str) -> None:
    """Leave what is held for that token, and wait until it is gone; nothing happens where there is none."""
    with _lock:
        mine = _current
    if mine is not None and mine.token == token:
        mine.close()


def _own(token: str) -> Leased[Any]:
    with _lock:
        mine = _current
    if mine is None or mine.token != token:
        raise BreakdownError("the race is not on this machine any more: its worker began anew, or was not heard")
    return mine
