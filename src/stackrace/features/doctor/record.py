"""What doctor changed, on disk before it is changed: a crash loses nothing."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError
from ...deploy.privileges import private_folder
from .advice import Change

__all__ = ["Journal", "Record"]

_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The changes that are not undone yet."""

    changes: tuple[Change, ...] = ()
    """Oldest first; a key may come twice."""
    boot: str = ""
    """The boot in which they were made: another undoes them."""
    namespace: str = ""
    """The network namespace in which they were made: sysctls below ``net`` belong to one."""

    def original(self, key: str) -> str:
        """Return the value that ``key`` had before the first change."""
        return next(change.before for change in self.changes if change.key == key)

    def ours(self, key: str) -> frozenset[str]:
        """Return every value that ``key`` had or got in our own changes; any other was set by somebody else."""
        return frozenset(
            value for change in self.changes if change.key == key for value in (change.before, change.after)
        )


class Record:
    """The journal's file in ``folder``; it exists as long as there is something to undo."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "doctor.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second doctor out. Raises InputError where the folder cannot be written or another is at work."""
        try:
            private_folder(self.path.parent)
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise InputError("another stackrace doctor is changing settings; wait until it is done") from error
        finally:
            os.close(folder)

    def read(self) -> Journal:
        """Return what is not undone yet. Raises InputError for a file that is not ours or cannot be read."""
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            if document["version"] != _VERSION:
                raise ValueError(f"version {document['version']}")
            changes = tuple(
                Change(key=str(change["key"]), before=str(change["from"]), after=str(change["to"]))
                for change in document["changes"]
            )
            return Journal(changes=changes, boot=document["boot"], namespace=document["namespace"])
        except FileNotFoundError:
            return Journal()
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self.path} is damaged: {error}; it lists settings with their former values: restore them by "
                "hand, then remove it"
            ) from error

    def write(self, journal: Journal) -> None:
        """Replace the file in one step and only return once it is on the disk; an empty journal removes it."""
        if not journal.changes:
            self.path.unlink(missing_ok=True)
            return
        document = {
            "version": _VERSION,
            "boot": journal.boot,
            "namespace": journal.namespace,
            "changes": _rows(journal.changes),
        }
        fresh = self.path.with_suffix(".new")
        try:
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(document, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _rows(changes: Sequence[Change]) -> list[dict[str, str]]:
    return [{"key": change.key, "from": change.before, "to": change.after} for change in changes]


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"the former values cannot be kept in {path}: {error.strerror}; nothing was changed. "
        "Set XDG_DATA_HOME to a writable folder"
    )
