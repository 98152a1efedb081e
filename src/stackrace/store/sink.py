"""The event sink: writes a race down as it tells about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..race.events import (
    Event,
    LaunchEnded,
    LaunchStarted,
    RaceEnded,
    RaceResumed,
    RaceStarted,
    SliceEnded,
    StackDescribed,
    TwinChosen,
)

if TYPE_CHECKING:
    from .store import Store

__all__ = ["StoreSink"]


class StoreSink:
    """Stores each event the moment it is called with it; events that are no results are ignored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._race_id = ""

    def __call__(self, event: Event) -> None:
        """Store what ``event`` brings; raises StoreError when the database refuses."""
        match event:
            case RaceStarted(race=race):
                self._race_id = race.id
                self._store.begin(race)
            case TwinChosen(stack=stack):
                self._store.name_twin(self._race_id, stack)
            case RaceResumed(race=race):
                self._race_id = race.id
                self._store.resume(race)
            case StackDescribed(facts=facts):
                self._store.add_facts(self._race_id, facts)
            case LaunchStarted(launch=launch):
                self._store.add_launch(self._race_id, launch)
            case SliceEnded(launch_id=launch_id, slice=slice_):
                self._store.add_slice(launch_id, slice_)
            case LaunchEnded(launch=launch):
                self._store.end_launch(launch)
            case RaceEnded(ending=ending, elapsed_s=elapsed_s, duty=duty):
                self._store.end(self._race_id, ending, elapsed_s, duty)
            case _:
                pass
