"""Leases: a worker holds a race for one coordinator, until the coordinator closes it or is silent for ``_LEASE_S``.

Everything that a race starts is a child of a supervisor, which ends it all if the worker dies.
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
"""Seconds; longer than a short network failure, shorter than anybody would wait for the end of an orphaned race."""
_LOOK_S = 1.0
_CLOSES_S = 60.0


class Lease(Generic[_T]):
    """A context that is entered in its own thread, held, and left at the end of the lease."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._renewed_s = time.monotonic()
        self._ends = threading.Event()
        self._up = threading.Event()
        self._over = threading.Event()
        self._ready: _T | None = None
        self._error: BaseException | None = None

    def begin(self, holding: Callable[[], AbstractContextManager[_T]]) -> None:
        """Start the thread that enters the context ``holding()`` and holds it."""
        # a daemon: the supervisor ends the race together with the worker
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
        """True if the context is to be left."""
        return self._ends.is_set() or time.monotonic() - self._renewed_s > _LEASE_S

    @property
    def is_over(self) -> bool:
        """True if the context has been left."""
        return self._over.is_set()

    @property
    def held(self) -> _T:
        """Value of the entered context; waits for it, and raises its exception."""
        self._up.wait()
        if self._ready is None:
            raise self._error or BreakdownError("the race was closed on this machine, as its lease had run out")
        return self._ready

    def renew(self) -> None:
        """Record a sign of life of the coordinator."""
        self._renewed_s = time.monotonic()

    def close(self) -> None:
        """Leave the context, and wait until it is left."""
        self._ends.set()
        self._over.wait(_CLOSES_S)


_current: Lease[Any] | None = None
_lock = threading.Lock()


def take(make: Callable[[], Lease[Any]]) -> None:
    """Hold the lease that ``make`` returns from now on.

    A machine takes part in one race at a time: two would disturb each other. Raises InputError during another race.
    """
    global _current
    with _lock:
        refuse_busy()
        _current = make()


def refuse_busy() -> None:
    """Raise InputError while this machine takes part in a race."""
    if _current is not None and not _current.is_over:
        raise InputError("this machine hosts another race; wait for its end, or leave the machine out")


def renew(token: str) -> None:
    """Renew the lease with this token; raises BreakdownError if there is none any more."""
    _lease_of(token).renew()


def ask(token: str, step: Callable[..., Any], args: Sequence[object]) -> Any:
    """Return the result of ``step``, a method of the lease with this token."""
    mine = _lease_of(token)
    mine.renew()
    return step(mine, *args)


def close(token: str) -> None:
    """Close the lease with this token, and wait until it is gone; does nothing if there is none."""
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
    """Thread that calls ``renew`` on the coordinator every tenth of a lease, from ``begin`` to ``end``.

    A failed call is repeated at the next turn: the network may fail for a moment.
    """

    def __init__(self, renew: Callable[[], None]) -> None:
        self._renew = renew
        self._over = threading.Event()

    def begin(self) -> None:
        """Begin to renew."""
        threading.Thread(target=self._renew_until_over, daemon=True).start()

    def end(self) -> None:
        """Stop renewing."""
        self._over.set()

    def _renew_until_over(self) -> None:
        while not self._over.wait(_LEASE_S / 10):
            try:
                self._renew()
            except StackraceError:
                continue
