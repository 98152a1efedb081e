"""A race that tunes one stack, from the request to its answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ...api.racing import ReadyRace, ready_race
from ...deploy.preparing import OnPreparing, unheard
from .candidates import candidates, fewest_of
from .request import TuneRequest
from .shaping import shaped

if TYPE_CHECKING:
    from ...store.store import Store

__all__ = ["ready_tuning"]


@contextmanager
def ready_tuning(
    asked: TuneRequest, store: Store | None, on_preparing: OnPreparing = unheard
) -> Iterator[ReadyRace]:
    """Prepare the race of the configurations that ``asked`` means; nothing is left running afterwards.

    Where there are limits, two configurations are launched and loaded first, to know what all need. Raises
    InputError and its kin as a race does, RefusedError where no configuration is within the limits.
    """
    found = candidates(asked)
    with ready_race(
        found.request,
        store,
        on_preparing,
        shape=partial(shaped, asked=found, on_preparing=on_preparing),
        first=fewest_of(found.tuning),
    ) as ready:
        yield ready
