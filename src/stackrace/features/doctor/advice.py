"""One thing to change on this machine, and its expected benefit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...base.verdict import Effect


class Gain(StrEnum):
    """Expected reduction of noise in measurements; problems that forbid a race come first."""

    DECISIVE = "decisive"
    GREAT = "great"
    SOME = "some"
    LITTLE = "little"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A kernel setting from one value to another."""

    key: str
    """Name of a sysctl, or a path below /sys."""
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One thing to change."""

    check: str
    """Title of the check."""
    effect: Effect
    """Effect on a race: invalidates or warns."""
    gain: Gain
    """Expected benefit of following it."""
    seen: str
    """Observation."""
    threshold: str
    """Wanted state."""
    why: str
    """Reason why it matters."""
    remedy: str
    """Remedy."""
    command: str
    """Command for that machine; empty if no command helps."""
    applicable: bool
    """True if `stackrace doctor --apply` on that machine does it."""
    changes: tuple[Change, ...]
    """Kernel settings that this would change: safe, and undone exactly by ``--undo``."""

    @property
    def forbids(self) -> bool:
        """True if no race should start before this is done."""
        return self.gain is Gain.DECISIVE


def advise(
    check: str, *, seen: str, threshold: str, remedy: str, why: str, gain: Gain, command: str = "",
    changes: tuple[Change, ...] = (),
) -> Advice:  # fmt: skip
    """Return an advice. A decisive gain forbids a race; ``changes`` have their own command."""
    return Advice(
        check=check,
        effect=Effect.INVALIDATES if gain is Gain.DECISIVE else Effect.WARNS,
        gain=gain,
        seen=seen,
        threshold=threshold,
        why=why,
        remedy=remedy,
        command=command_of(changes) or command,
        applicable=bool(changes),
        changes=changes,
    )


def command_of(changes: Sequence[Change]) -> str:
    """Return the shell commands that make ``changes``; they last until the next boot. Source: sysctl(8), tee(1)."""
    sysctls = [shlex.quote(f"{change.key}={change.after}") for change in changes if not change.key.startswith("/")]
    commands = [f"sudo sysctl -w {' '.join(sysctls)}"] if sysctls else []
    values = dict.fromkeys(change.after for change in changes if change.key.startswith("/"))
    for value in values:
        paths = [change.key for change in changes if change.key.startswith("/") and change.after == value]
        commands.append(f"echo {shlex.quote(value)} | sudo tee {' '.join(paths)}")
    return " && ".join(commands)
