"""The coordinator's end of what a member holds for it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self, TypeVar

from ...base.errors import StackraceError
from ...base.process import Pending
from . import leased
from .connection import Connection, MemberLost
from .lease import Lease
from .settings import Member

__all__ = ["Lessee"]

_T = TypeVar("_T")


class Lessee:
    """What ``member`` holds for us from ``_take`` on; a context manager that leaves nothing running there."""

    def __init__(self, connection: Connection, member: Member) -> None:
        self.member = member
        self._connection = connection
        self._token = secrets.token_hex(8)
        self._lease = Lease(lambda: connection.call(member, leased.renew, self._token), every_s=leased.LEASE_S / 10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lease.end()
        try:
            self._connection.call(self.member, leased.close, self._token)
        except StackraceError:
            # it is lost, and its supervisor stops everything
            return

    def _take(self, function: Callable[..., None], *args: object) -> None:
        """Have it held: ``function`` takes our token first."""
        # getting it may take longer than a lease
        self._lease.begin()
        self._connection.call(self.member, function, self._token, *args)

    def _ask(self, step: Callable[..., _T], *args: object) -> _T:
        return self._begin(step, *args).finish()

    def _begin(self, step: Callable[..., _T], *args: object) -> Pending[_T]:
        """Have it done there as by ``_ask``, and go on meanwhile."""
        return self._connection.begin(self.member, leased.ask, self._token, step, args)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Put the member's name in front of what an error says that has not got it."""
        try:
            yield
        except MemberLost:
            raise
        except StackraceError as error:
            error.message = f"{self.member.name}: {error.message}"
            raise
