"""Tells a member again and again that its coordinator is still there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ...base.errors import StackraceError

__all__ = ["Lease"]


class Lease:
    """Calls ``renew`` every ``every_s`` seconds in a thread of its own, from ``begin`` to ``end``.

    A call that fails is tried again at the next turn: a link may be down for a moment.
    """

    def __init__(self, renew: Callable[[], None], *, every_s: float) -> None:
        self._renew = renew
        self._every_s = every_s
        self._over = threading.Event()

    def begin(self) -> None:
        """Renew from now on."""
        threading.Thread(target=self._keep, daemon=True).start()

    def end(self) -> None:
        """Renew no more."""
        self._over.set()

    def _keep(self) -> None:
        while not self._over.wait(self._every_s):
            try:
                self._renew()
            except StackraceError:
                continue
