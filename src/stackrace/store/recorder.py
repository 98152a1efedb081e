"""Sinks that write down a race's events: into the store, and into its manifest."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..race.events import (
    BlockEnded,
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
from .manifest import BlockLine, LaunchLine, ManifestFile, SpellLine

if TYPE_CHECKING:
    from .store import Store


class StoreSink:
    """Sink that stores each event at once; events without results are ignored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._race_id = ""

    def __call__(self, event: Event) -> None:
        """Store the result in ``event``; raise StoreError if the database refuses it."""
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


class ManifestSink:
    """Sink that notes every launch and every block at its end; the budget begins at ``begun_s`` (monotonic)."""

    def __init__(
        self,
        file: ManifestFile,
        begun_s: float,
        *,
        folder: Path | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = file
        self._begun_s = begun_s
        self._clock = clock
        self._started: dict[str, float] = {}
        file.append(SpellLine(folder="" if folder is None else str(folder)))

    def __call__(self, event: Event) -> None:
        """Note the end in ``event``; raise StoreError if the disk does not take it."""
        match event:
            case LaunchStarted(launch=launch):
                self._started[launch.id] = self._clock()
            case LaunchEnded(launch=launch):
                took_s = self._clock() - self._started.pop(launch.id, self._clock())
                self._file.append(
                    LaunchLine(
                        launch=launch.id,
                        block=launch.block,
                        stack=launch.stack,
                        ready_s=launch.ready_s,
                        slices=len(launch.slices),
                        took_s=took_s,
                    )
                )
            case BlockEnded(block=block):
                self._file.append(BlockLine(block=block - 1, elapsed_s=self._clock() - self._begun_s))
            case _:
                pass
