"""The manifest on the disk: locked by the process that races, one line appended and synced for each thing."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from ..base.errors import StoreError
from ..deploy.privileges import private_folder
from ..race.events import BlockEnded, Event, LaunchEnded, LaunchStarted
from .manifest import BlockLine, LaunchLine, Line, Manifest, Opening, SpellLine, line_of, parse

__all__ = ["ManifestFile", "ManifestSink", "begin_manifest", "has_manifest", "is_racing", "reopen_manifest"]

_NAME = "manifest.jsonl"


class ManifestFile(AbstractContextManager["ManifestFile"]):
    """A manifest open for appending. Whoever holds it is alone: the kernel frees the lock when a process ends.

    Source: flock(2).
    """

    def __init__(self, path: Path, flags: int = 0) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def append(self, line: Line) -> None:
        """Write ``line`` and wait until it is on the disk; raises StoreError when that fails."""
        try:
            os.write(self._descriptor, line_of(line))
            os.fsync(self._descriptor)
        except OSError as error:
            raise StoreError(
                f"the manifest {self._path} cannot be written: {error.strerror}; free some space, or set "
                "XDG_DATA_HOME to another folder"
            ) from error

    def read(self) -> Manifest:
        """Return what it says so far; raises ValueError for what is none."""
        return parse(self._path.read_bytes())

    def mend(self) -> None:
        """End a line that a crash tore, so that the next one stands alone."""
        text = self._path.read_bytes()
        if text and not text.endswith(b"\n"):
            os.write(self._descriptor, b"\n")


def begin_manifest(folder: Path, opening: Opening) -> ManifestFile:
    """Make the manifest of a race that is about to begin, in ``folder``/ID; it is readable by its owner only.

    Raises StoreError when it cannot be written.
    """
    path = folder / opening.race / _NAME
    try:
        private_folder(path.parent)
        file = ManifestFile(path, os.O_CREAT | os.O_EXCL)
    except OSError as error:
        raise StoreError(
            f"the race's manifest {path} cannot be created: {error.strerror}; set XDG_DATA_HOME to another folder"
        ) from error
    try:
        file.append(opening)
    except BaseException:
        file.__exit__(None, None, None)
        raise
    return file


def reopen_manifest(folder: Path, race_id: str) -> ManifestFile:
    """Return the manifest of a race that is to go on.

    Raises StoreError where there is none, as for a race that another machine made, or while somebody races it.
    """
    path = folder / race_id / _NAME
    try:
        file = _patiently(path)
    except BlockingIOError as error:
        raise StoreError(
            f"race {race_id} is already running in another process: wait for it, or stop it"
        ) from error
    except FileNotFoundError as error:
        raise StoreError(
            f"race {race_id} cannot continue here: its manifest {path} does not exist. Another machine, another "
            "user or an earlier Stackrace may have made it; continue there, or start a new race"
        ) from error
    except OSError as error:
        raise StoreError(
            f"race {race_id} cannot continue: {path} cannot be opened ({error.strerror}); change its owner, or "
            "start a new race"
        ) from error
    file.mend()
    return file


def _patiently(path: Path) -> ManifestFile:
    """Somebody who only asks whether a race goes on holds its lock, too, for a moment."""
    for _ in range(5):
        with suppress(BlockingIOError):
            return ManifestFile(path)
        time.sleep(0.05)
    return ManifestFile(path)


def has_manifest(folder: Path, race_id: str) -> bool:
    """Tell whether the race was made here, by this user, so that it may go on here."""
    return os.access(folder / race_id / _NAME, os.R_OK | os.W_OK)


def is_racing(folder: Path, race_id: str) -> bool:
    """Tell whether a process races it at this moment."""
    try:
        with ManifestFile(folder / race_id / _NAME):
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


class ManifestSink:
    """Notes every launch and every block as they end; ``begun_s`` (monotonic) is where the budget begins."""

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
        """Note what ``event`` brings; raises StoreError when the disk does not take it."""
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
