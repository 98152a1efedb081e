"""Where else than on this machine a race can be: on those that a feature has, such as a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

from ...base.errors import InputError
from ...deploy.preparing import OnPreparing
from ...extensions import PlaceProvider, declared, load
from ..request.request import RaceRequest
from .prepared import PreparedRace

__all__ = ["Machine", "Machines", "Places", "places"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One of the machines."""

    name: str
    roles: tuple[str, ...]
    """What it is for."""
    host: str
    """Its network address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines(Generic[T]):
    """What was found on them."""

    conflicts: tuple[str, ...]
    """Why they do not fit together, each with the way out; no race starts before."""
    examined: tuple[tuple[Machine, T | None], ...]
    """By name; None where a machine could not be examined, as ``conflicts`` say."""


class Places(Protocol):
    """What a `PlaceProvider` offers: machines elsewhere."""

    def prepared(
        self, request: RaceRequest, on_preparing: OnPreparing, *, first: int | None = None
    ) -> AbstractContextManager[PreparedRace]:
        """Prepare the race that ``request`` asks for on those machines, as `prepared` does on this one."""

    def examined(self, address: str, concurrency: int, examine: Callable[[int, bool], T]) -> Machines[T]:
        """Call ``examine`` on each machine at once, with the connections that it has to hold in a race.

        Its second argument says whether stacks and load engines are on different machines.
        """


def places() -> Places:
    """Return the machines to which ``[race] cluster`` leads. Raises InputError where no feature knows any."""
    for provider in declared(PlaceProvider):
        # Dask takes a second to import
        return cast(Places, load(provider.place)())
    raise InputError("--cluster ([race] cluster): no feature that is installed here knows of clusters")
