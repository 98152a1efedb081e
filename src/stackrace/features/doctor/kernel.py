"""Kernel settings: read, changed for a while, and restored.

Former values are on the disk before a change, so that a crash loses nothing. Sysctls are files below /proc/sys,
the rest is below /sys.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ...base.codec import decode, encode
from ...base.errors import InputError
from ...deploy.privileges import private_folder
from .advice import Change

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


class Kernel:
    """Access to kernel settings; ``root`` is another folder in tests."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def read(self, key: str) -> str | None:
        """Return a setting's value; None if it does not exist or is not readable.

        White space becomes single blanks. If the file lists choices (``always [madvise] never``), the value is the
        chosen one.
        """
        try:
            words = self._path(key).read_text(encoding="ascii", errors="replace").split()
        except OSError:
            return None
        chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
        return chosen[0] if chosen else " ".join(words)

    def write(self, key: str, value: str) -> None:
        """Set a setting; raises OSError if that is forbidden or the value is invalid."""
        descriptor = os.open(self._path(key), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{value}\n".encode("ascii"))
        finally:
            os.close(descriptor)

    def governors(self) -> tuple[str, ...]:
        """Return the keys of all frequency governors; none on most virtual machines.

        Source: Documentation/admin-guide/pm/cpufreq.rst, one policy for each set of cores that share a clock.
        """
        folder = self._path("/sys/devices/system/cpu/cpufreq")
        paths = sorted(folder.glob("policy*/scaling_governor"))
        return tuple(f"/{path.relative_to(self._root)}" for path in paths)

    def _path(self, key: str) -> Path:
        if key.startswith("/"):
            return self._root / key[1:]
        return self._root.joinpath("proc", "sys", *key.split("."))


_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Changes that are not undone yet."""

    changes: tuple[Change, ...] = ()
    """Changes, oldest first; a key may occur twice."""
    boot: str = ""
    """Id of the boot in which they were made: another boot undoes them."""
    namespace: str = ""
    """Network namespace in which they were made: sysctls below ``net`` belong to one."""

    def original(self, key: str) -> str:
        """Return the value of ``key`` before the first change."""
        return next(change.before for change in self.changes if change.key == key)

    def ours(self, key: str) -> frozenset[str]:
        """Return every value of ``key`` before or after our own changes; any other was set by another program."""
        return frozenset(
            value for change in self.changes if change.key == key for value in (change.before, change.after)
        )


class Record:
    """File of the journal in ``folder``; it exists as long as there is something to undo."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "doctor.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock out a second doctor. Raises InputError if the folder is not writable or another doctor runs."""
        try:
            private_folder(self.path.parent)
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise InputError("another stackrace doctor is changing settings; wait until it is done") from None
        finally:
            os.close(folder)

    def read(self) -> Journal:
        """Return the changes not undone yet. Raises InputError for a file that is not ours or not readable."""
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            if (version := document.pop("version")) != _VERSION:
                raise ValueError(f"version {version}")
            journal: Journal = decode(Journal, document)
            return journal
        except FileNotFoundError:
            return Journal()
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{self.path} is damaged: {error}; it lists settings with their former values: restore them by "
                "hand, then remove it"
            ) from error

    def write(self, journal: Journal) -> None:
        """Replace the file in one step and only return once it is on the disk; an empty journal removes it."""
        if not journal.changes:
            self.path.unlink(missing_ok=True)
            return
        fresh = self.path.with_suffix(".new")
        try:
            with fresh.open("w", encoding="utf-8") as file:
                json.dump({"version": _VERSION, **encode(journal)}, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"the former values cannot be kept in {path}: {error.strerror}; nothing was changed. "
        "Set XDG_DATA_HOME to a writable folder"
    )


class State(StrEnum):
    """Outcome of one change."""

    DONE = "done"
    ALREADY = "already so"
    REFUSED = "refused"
    """Refused by the kernel."""
    FOREIGN = "changed by another program"
    """Neither a former value nor ours: left alone."""
    ELSEWHERE = "of another network namespace"
    """Made in another network namespace than the current one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Result of one change."""

    change: Change
    state: State
    now: str = ""
    """Current value of the setting."""
    reason: str = ""
    """The kernel's reason for refusing, in words; empty otherwise."""

    @property
    def settled(self) -> bool:
        """True if the setting has the wanted value."""
        return self.state in (State.DONE, State.ALREADY)


def apply(kernel: Kernel, record: Record, changes: Sequence[Change]) -> tuple[Outcome, ...]:
    """Make ``changes``; their former values are on the disk before the first is made.

    May be called over changes that are not undone yet: the first former values stay. A setting that was changed
    by us and then by another program is left alone. Raises InputError if the record cannot be written.
    """
    with record.locked():
        kept = _since_boot(record.read())
        _refuse_elsewhere(kept, record)
        journal, pending, outcomes = kept, [], []
        for change in changes:
            now = kernel.read(change.key)
            if now is None:
                outcomes.append(Outcome(change=change, state=State.REFUSED, reason="there is no such setting"))
            elif (ours := kept.ours(change.key)) and now not in ours:
                outcomes.append(Outcome(change=change, state=State.FOREIGN, now=now))
            elif now == change.after:
                outcomes.append(Outcome(change=change, state=State.ALREADY, now=now))
            else:
                pending.append(replace(change, before=now))
        if pending:
            journal = Journal(changes=(*kept.changes, *pending), boot=_boot(), namespace=_namespace())
            record.write(journal)
        attempts = [_set(kernel, change) for change in pending]
        refused = {outcome.change for outcome in attempts if not outcome.settled}
        if refused:
            open_changes = tuple(
                change for change in journal.changes if change not in refused or change in kept.changes
            )
            record.write(replace(journal, changes=open_changes))
        return (*outcomes, *attempts)


def undo(kernel: Kernel, record: Record) -> tuple[Outcome, ...]:
    """Restore the former value of every changed setting; the record is removed when all have it.

    Settings that another program changed meanwhile are left alone and stay in the record. After a boot nothing is
    left to undo.
    """
    if not record.path.exists():
        record.read()
        return ()
    with record.locked():
        journal = _since_boot(record.read())
        keys = list(dict.fromkeys(change.key for change in journal.changes))
        outcomes = tuple(_restore(kernel, journal, key) for key in reversed(keys))
        open_keys = {outcome.change.key for outcome in outcomes if not outcome.settled}
        record.write(
            replace(journal, changes=tuple(change for change in journal.changes if change.key in open_keys))
        )
        return outcomes


def _restore(kernel: Kernel, journal: Journal, key: str) -> Outcome:
    now, original = kernel.read(key), journal.original(key)
    change = Change(key=key, before=now or "", after=original)
    if _elsewhere(key, journal):
        return Outcome(change=change, state=State.ELSEWHERE, now=now or "")
    if now is None:
        return Outcome(change=change, state=State.REFUSED, reason="there is no such setting any more")
    if now == original:
        return Outcome(change=change, state=State.ALREADY, now=now)
    if now not in journal.ours(key):
        return Outcome(change=change, state=State.FOREIGN, now=now)
    return _set(kernel, change)


def _since_boot(journal: Journal) -> Journal:
    """Return the journal without changes that a boot has undone: settings after a boot are no changes of ours."""
    return journal if journal.boot == _boot() else Journal()


def _elsewhere(key: str, journal: Journal) -> bool:
    """Return True if a change was made in a network namespace that is not ours."""
    return key.startswith("net.") and journal.namespace != _namespace()


def _refuse_elsewhere(journal: Journal, record: Record) -> None:
    """Raise InputError for a record of another network namespace: one record is about one namespace."""
    if any(_elsewhere(change.key, journal) for change in journal.changes):
        raise InputError(
            f"{record.path} lists settings of another network namespace: undo them there first, remove "
            "it if there is no such namespace any more, or set XDG_DATA_HOME to another folder"
        )


def _set(kernel: Kernel, change: Change) -> Outcome:
    try:
        kernel.write(change.key, change.after)
    except OSError as error:
        return Outcome(change=change, state=State.REFUSED, now=change.before, reason=error.strerror or str(error))
    now = kernel.read(change.key) or ""
    if now != change.after:
        return Outcome(change=change, state=State.REFUSED, now=now, reason=f"the kernel made it {now}")
    return Outcome(change=change, state=State.DONE, now=now)


def _boot() -> str:
    """Return the id of this boot. Source: random(4), boot_id."""
    return Kernel().read("kernel.random.boot_id") or ""


def _namespace() -> str:
    """Return the network namespace. Source: namespaces(7), /proc/PID/ns/net."""
    try:
        return str(Path("/proc/self/ns/net").readlink())
    except OSError:
        return ""
