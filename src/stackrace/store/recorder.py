"""Sink that writes a race's events into the store, under the lock of the race."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from ..race import events
from ..race.run.resume import Checkpoint
from .race_lock import race_lock

if TYPE_CHECKING:
    from .store import Store


@contextmanager
def recorder(
    store: Store | None, race_id: str, checkpoint: Checkpoint | None = None, *, new: bool = True
) -> Iterator[StoreSink | None]:
    """Yield the sink that keeps a race in ``store``, None without a store; a ``new`` race is locked meanwhile.

    The lock tells other processes that the race runs. Whoever resumes a race has locked it already.
    """
    if store is None:
        yield None
        return
    with race_lock(race_id, new=True) if new else nullcontext():
        yield StoreSink(store, checkpoint)


class StoreSink:
    """Sink that stores each event at once; events without results are ignored.

    A race with a ``checkpoint`` can be resumed: from there at first, then from the end of its last block.
    """

    def __init__(self, store: Store, checkpoint: Checkpoint | None = None) -> None:
        self._store = store
        self._checkpoint = checkpoint
        self._race_id = ""

    def __call__(self, event: events.Event) -> None:
        """Store the result in ``event``; raise StoreError if the database refuses it."""
        match event:
            case events.RaceStarted(race=race):
                self._race_id = race.id
                self._store.begin(race, self._checkpoint)
            case events.TwinChosen(stack=stack):
                self._store.name_twin(self._race_id, stack)
            case events.RaceResumed(race=race):
                assert self._checkpoint is not None
                self._race_id = race.id
                self._store.resume(race, self._checkpoint)
            case events.StackDescribed(facts=facts):
                self._store.add_facts(self._race_id, facts)
            case events.LaunchStarted(launch=launch):
                self._store.add_launch(self._race_id, launch)
            case events.SliceEnded(launch_id=launch_id, slice=slice_):
                self._store.add_slice(launch_id, slice_)
            case events.LaunchEnded(launch=launch):
                self._store.end_launch(launch)
            case events.BlockEnded(block=block, race=race) if self._checkpoint is not None:
                self._checkpoint = replace(self._checkpoint, blocks=block, spent_s=race.elapsed_s)
                self._store.end_block(self._race_id, self._checkpoint)
            case events.RaceEnded(ending=ending, elapsed_s=elapsed_s, duty=duty):
                self._store.end(self._race_id, ending, elapsed_s, duty)
            case _:
                pass
