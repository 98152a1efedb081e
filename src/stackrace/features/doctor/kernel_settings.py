"""Changing settings for a while, and changing them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ...base.errors import InputError
from .advice import Change
from .kernel import Kernel
from .record import Journal, Record

__all__ = ["Outcome", "State", "apply", "undo"]


class State(StrEnum):
    """What became of one change."""

    DONE = "done"
    ALREADY = "already so"
    REFUSED = "refused"
    """The kernel did not let us."""
    FOREIGN = "changed by another program"
    """It has a value that neither was there before nor is ours: left alone."""
    ELSEWHERE = "of another network namespace"
    """It was changed where we are not now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one change."""

    change: Change
    state: State
    now: str = ""
    """The value that the setting has."""
    reason: str = ""
    """Why the kernel refused, in words; empty otherwise."""

    @property
    def settled(self) -> bool:
        """Whether the setting has the value that was wanted."""
        return self.state in (State.DONE, State.ALREADY)


def apply(kernel: Kernel, record: Record, changes: Sequence[Change]) -> tuple[Outcome, ...]:
    """Make ``changes``; their former values are on the disk before the first is made.

    May be called over changes that are not undone yet: the first former values stay. A setting that was changed
    by us and then by somebody else is left alone. Raises InputError where the record cannot be kept.
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
    """Give every changed setting its former value back; the record goes when all have it.

    What another program changed meanwhile is left alone and stays in the record. After a boot nothing is left to
    undo.
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
    """Forget what a boot has undone: the settings that came with it are nobody's change of ours."""
    return journal if journal.boot == _boot() else Journal()


def _elsewhere(key: str, journal: Journal) -> bool:
    """Whether a change was made in a network namespace that is not ours."""
    return key.startswith("net.") and journal.namespace != _namespace()


def _refuse_elsewhere(kept: Journal, record: Record) -> None:
    """One record cannot speak of two network namespaces."""
    if any(_elsewhere(change.key, kept) for change in kept.changes):
        raise InputError(
            f"{record.path} lists settings of another network namespace: undo them there first, remove "
            "it if there is no such namespace any more, or set XDG_DATA_HOME to another folder"
        )


def _set(kernel: Kernel, change: Change) -> Outcome:
    """Write, and believe only what is read back."""
    try:
        kernel.write(change.key, change.after)
    except OSError as error:
        return Outcome(change=change, state=State.REFUSED, now=change.before, reason=error.strerror or str(error))
    now = kernel.read(change.key) or ""
    if now != change.after:
        return Outcome(change=change, state=State.REFUSED, now=now, reason=f"the kernel made it {now}")
    return Outcome(change=change, state=State.DONE, now=now)


def _boot() -> str:
    """Source: random(4), boot_id: another after each boot."""
    return _text(Path("/proc/sys/kernel/random/boot_id"))


def _namespace() -> str:
    """Source: namespaces(7), /proc/PID/ns/net."""
    try:
        return str(Path("/proc/self/ns/net").readlink())
    except OSError:
        return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
