"""An app's services on this member, for stacks on another; leased: see ``leased``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from ...base.errors import BreakdownError
from ...deploy.environments import cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import unheard
from ...deploy.running_services import Services
from ...deploy.templates import Templates
from ...measure.launch import HopUsage
from ...race.preparation.needs import require_services
from .leased import Leased, take
from .spending import Spending

__all__ = ["Serving", "open_services"]


@dataclass(frozen=True, slots=True)
class _Running:
    services: Services
    spending: Spending


class Serving(Leased[_Running]):
    """The services of one race."""

    def __init__(self, token: str, names: Sequence[str], host: str) -> None:
        super().__init__(token)
        self.begin(partial(_running, names, host))

    def environment(self) -> Mapping[str, str]:
        """Return the variables that lead an app there, once all answer; raises what starting them raised."""
        return self.held.services.environment

    def settle(self) -> None:
        """Have all do their maintenance, now that an app has filled them, and bind them to this machine's cores."""
        self.held.services.settle()
        self.held.services.pin()

    def require(self) -> None:
        """Raise BreakdownError where one has ended although nobody asked it to, with its last words."""
        if died := self.held.services.died():
            raise BreakdownError("a service ended in the race", detail=died)

    def spent(self, begun_s: float, ended_s: float) -> tuple[HopUsage, ...]:
        """Return what each used between two moments of this machine's clock; raises as ``require`` does."""
        self.require()
        return self.held.spending.between(begun_s, ended_s)


@contextmanager
def _running(names: Sequence[str], host: str) -> Iterator[_Running]:
    require_services(names)
    templates = Templates(cache_folder(), unheard)
    with Guard() as guard:
        services = Services(names, guard, sorted(os.sched_getaffinity(0)), templates, host)
        services.start()
        with Spending(services.running.pids, guard.pid) as spending:
            yield _Running(services, spending)


def open_services(token: str, names: Sequence[str], host: str) -> None:
    """Begin to start services that apps reach at ``host``; ``Serving.environment`` tells when they answer.

    Raises InputError where this machine has a part in another race.
    """
    take(lambda: Serving(token, names, host))
