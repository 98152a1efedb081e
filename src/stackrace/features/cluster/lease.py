"""Leases: a worker holds a race for one coordinator, until that closes it or is silent for ``_LEASE_S``.

Everything that a race starts is a child of a supervisor, which ends it all when the worker dies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from ...base.errors import BreakdownError, InputError, StackraceError

_T = TypeVar("_T")

_LEASE_S = 20.0
"""Longer than a link is down for a moment, shorter than anybody would wait for an orphan to be gone."""
_LOOK_S = 1.0
_CLOSES_S = 60.0


class Lease(Generic[_T]):
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
                    self._ends.wait(_LOOK_S)
        except BaseException as error:
            self._error = error
        finally:
            self._ready = None
            self._up.set()
            self._over.set()

    @property
    def is_ending(self) -> bool:
        """Whether it is to be left."""
        return self._ends.is_set() or time.monotonic() - self._renewed_s > _LEASE_S

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

    def renew(self) -> None:
        """Hear that the coordinator is still there."""
        self._renewed_s = time.monotonic()

    def close(self) -> None:
        """Leave it, and wait until nothing of it is left."""
        self._ends.set()
        self._over.wait(_CLOSES_S)


_current: Lease[Any] | None = None
_lock = threading.Lock()


def take(make: Callable[[], Lease[Any]]) -> None:
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
    _lease_of(token).renew()


def ask(token: str, step: Callable[..., Any], args: Sequence[object]) -> Any:
    """Return what ``step``, a method of what is held for that token, returns."""
    mine = _lease_of(token)
    mine.renew()
    return step(mine, *args)


def close(token: str) -> None:
    """Leave what is held for that token, and wait until it is gone; nothing happens where there is none."""
    with _lock:
        mine = _current
    if mine is not None and mine.token == token:
        mine.close()


def _lease_of(token: str) -> Lease[Any]:
    with _lock:
        mine = _current
    if mine is None or mine.token != token:
        raise BreakdownError("the race is not on this machine any more: its worker began anew, or was not heard")
    return mine


class Keepalive:
    """Calls ``renew`` on the coordinator every tenth of a lease, in a thread of its own, from ``begin`` to ``end``.

    A call that fails is tried again at the next turn: a link may be down for a moment.
    """

    def __init__(self, renew: Callable[[], None]) -> None:
        self._renew = renew
        self._over = threading.Event()

    def begin(self) -> None:
        """Renew from now on."""
        threading.Thread(target=self._keep, daemon=True).start()

    def end(self) -> None:
        """Renew no more."""
        self._over.set()

    def _keep(self) -> None:
        while not self._over.wait(_LEASE_S / 10):
            try:
                self._renew()
            except StackraceError:
                continue
