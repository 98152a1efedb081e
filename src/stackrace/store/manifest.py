"""Manifests: files beside the results with all that an interrupted race needs to continue.

A manifest has one line of JSON for each event, in order of time: first the request, then one for each launch and
each block when it ends. It is a file, not a table: it is written in the same order as the store, but waits for the
disk, and the process that races can lock it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ..base.errors import StoreError
from ..deploy.privileges import private_folder
from ..race.results.race import Race
from .address import races_folder

_FORMAT = 1
"""Version of the lines; no other version can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Request of a race: the first line of its manifest."""

    race: str
    version: str
    """Version of Stackrace."""
    store: str
    """Address of the store, without any password."""
    request: Mapping[str, object]
    """Request in the form of ``spec.request_document``."""
    interpreter: str = ""
    """Interpreter of the app; empty for an app without one."""
    sources: str = ""
    """Digest of the app's files."""
    format: int = _FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchLine:
    """One launch that ended."""

    launch: str
    block: int
    stack: str
    ready_s: float | None
    slices: int
    """Number of slices."""
    took_s: float
    """Seconds from the launch's start to its end; launches of one block overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLine:
    """One block that ended."""

    block: int
    elapsed_s: float
    """Seconds of the budget that the whole race had spent by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpellLine:
    """Start or continuation of a race."""

    folder: str
    """Run directory of the race from then on."""


_Line = Opening | SpellLine | LaunchLine | BlockLine

_KINDS: Mapping[str, type[_Line]] = {
    "request": Opening,
    "spell": SpellLine,
    "launch": LaunchLine,
    "block": BlockLine,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Content of a manifest."""

    opening: Opening
    launches: tuple[LaunchLine, ...] = ()
    blocks: tuple[BlockLine, ...] = ()
    folder: str = ""
    """Run directory of the last process that raced."""


def _line_of(line: _Line) -> bytes:
    """Return ``line`` as it is written: a JSON object whose member ``line`` names its kind."""
    kind = next(name for name, shape in _KINDS.items() if type(line) is shape)
    return json.dumps({"line": kind, **asdict(line)}, separators=(",", ":")).encode() + b"\n"


def _parse(text: bytes) -> Manifest:
    """Return the manifest in ``text``; skip lines that a crash left incomplete.

    Raise ValueError if the first line is no request, or of another version.
    """
    first = json.loads(text.partition(b"\n")[0])
    if isinstance(first, dict) and first.get("format", _FORMAT) != _FORMAT:
        raise ValueError(f"another version of Stackrace wrote it (format {first['format']})")
    lines = list(_lines(text))
    if not lines or not isinstance(lines[0], Opening):
        raise ValueError("it does not begin with what was asked for")
    spells = [line for line in lines if isinstance(line, SpellLine)]
    return Manifest(
        opening=lines[0],
        launches=tuple(line for line in lines if isinstance(line, LaunchLine)),
        blocks=tuple(line for line in lines if isinstance(line, BlockLine)),
        folder=spells[-1].folder if spells else "",
    )


def _lines(text: bytes) -> Iterator[_Line]:
    # text after the last end of line was not written completely
    for raw in text.split(b"\n")[:-1]:
        try:
            document = json.loads(raw)
            yield _KINDS[document.pop("line")](**document)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def finished(manifest: Manifest, race: Race) -> tuple[int, float]:
    """Return the number of whole blocks of ``race``, and the seconds of the budget that they took.

    A block counts if the manifest has its end and the store holds every launch of it, as the manifest describes it.
    Only the manifest waits for the disk: after a power failure the store may lack the last launches.
    """
    stored = {launch.id: launch for launch in race.launches}
    ends = {line.block: line.elapsed_s for line in manifest.blocks}
    done, spent_s = 0, 0.0
    while done in ends:
        for line in manifest.launches:
            launch = stored.get(line.launch)
            if line.block != done or (launch is not None and launch.cut_short):
                continue
            if launch is None or len(launch.slices) != line.slices or launch.ready_s != line.ready_s:
                return done, spent_s
        spent_s = ends[done]
        done += 1
    return done, spent_s


class ManifestFile(AbstractContextManager["ManifestFile"]):
    """Manifest open for appending, locked against other processes: the kernel frees the lock when a process ends.

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

    def append(self, line: _Line) -> None:
        """Write ``line`` and wait until it is on the disk; raise StoreError if that fails."""
        try:
            os.write(self._descriptor, _line_of(line))
            os.fsync(self._descriptor)
        except OSError as error:
            raise StoreError(
                f"the manifest {self._path} cannot be written: {error.strerror}; free some space, or set "
                "XDG_DATA_HOME to another folder"
            ) from error

    def read(self) -> Manifest:
        """Return the manifest so far; raise ValueError if the file is none."""
        return _parse(self._path.read_bytes())

    def mend(self) -> None:
        """End an incomplete last line after a crash, so that the next one stands alone."""
        text = self._path.read_bytes()
        if text and not text.endswith(b"\n"):
            os.write(self._descriptor, b"\n")


def begin_manifest(opening: Opening) -> ManifestFile:
    """Create the manifest of a race that is about to begin; only its owner can read it.

    Raise StoreError if it cannot be written.
    """
    path = _path(opening.race)
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


def reopen_manifest(race_id: str) -> ManifestFile:
    """Return the manifest of a race that is to continue.

    Raise StoreError if it does not exist, as for a race of another machine, or if another process races it.
    """
    path = _path(race_id)
    try:
        file = _patiently(path)
    except BlockingIOError:
        # a held lock has the error number of "too many processes", which is not meant here
        raise StoreError(f"race {race_id} is already running in another process: wait for it, or stop it") from None
    except FileNotFoundError as error:
        raise StoreError(
            f"race {race_id} cannot continue here: its manifest {path} does not exist. Another machine or "
            "another user may have made it; continue there, or start a new race"
        ) from error
    except OSError as error:
        raise StoreError(
            f"race {race_id} cannot continue: {path} cannot be opened ({error.strerror}); change its owner, or "
            "start a new race"
        ) from error
    file.mend()
    return file


def _path(race_id: str) -> Path:
    return races_folder() / race_id / "manifest.jsonl"


def _patiently(path: Path) -> ManifestFile:
    """Open the manifest, with some patience: a process that only checks if the race runs locks it for a moment."""
    for _ in range(5):
        with suppress(BlockingIOError):
            return ManifestFile(path)
        time.sleep(0.05)
    return ManifestFile(path)


def has_manifest(race_id: str) -> bool:
    """Return True if this user made the race here, so that it can continue here."""
    return os.access(_path(race_id), os.R_OK | os.W_OK)


def is_racing(race_id: str) -> bool:
    """Return True if a process is racing it at this moment."""
    try:
        with ManifestFile(_path(race_id)):
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False
