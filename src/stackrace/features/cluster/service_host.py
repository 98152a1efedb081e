"""A member of the cluster that runs an app's services for stacks on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...measure.launch import HopUsage
from .connection import Connection
from .lessee import Lessee
from .network import USE_SERVICES, require_way
from .serving import Serving, open_services
from .settings import Member

__all__ = ["ServiceHost"]


class ServiceHost(Lessee):
    """The machine of ``member``, which runs the services ``names`` of one race for the stacks of one host."""

    def __init__(self, connection: Connection, member: Member, names: Sequence[str]) -> None:
        super().__init__(connection, member)
        self._names = names

    def require_way_from(self, host: Member) -> None:
        """Raise InputError where ``host`` does not get through to them."""
        require_way(self._connection, host, self.member, USE_SERVICES)

    def start(self) -> Mapping[str, str]:
        """Start them; return the variables that lead an app there.

        Raises MissingError for what is not installed there, and LaunchError for one that does not start.
        """
        with self._naming():
            self._take(open_services, self._names, self.member.host)
            return self._ask(Serving.environment)

    def settle(self) -> None:
        """Have them do their maintenance, now that the app has filled them, and hold them to their cores."""
        with self._naming():
            self._ask(Serving.settle)

    def require(self) -> None:
        """Raise BreakdownError where they, or their machine, are not there any more."""
        with self._naming():
            self._ask(Serving.require)

    def spent(self, begun_s: float, ended_s: float) -> tuple[HopUsage, ...]:
        """Return what each used between two moments of our own clock; raises as ``require`` does."""
        clock = self._connection.clock(self.member)
        with self._naming():
            return self._ask(Serving.spent, clock.there(begun_s), clock.there(ended_s))
