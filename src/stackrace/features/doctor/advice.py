"""One thing to change on this machine, and what it would be good for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from ...base.verdict import Effect, Finding


class Gain(IntEnum):
    """How much quieter measurements are expected to become; what forbids a race comes first."""

    DECISIVE = 0
    GREAT = 1
    SOME = 2
    LITTLE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A kernel setting from one value to another."""

    key: str
    """A sysctl's name, or a path below /sys."""
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What was seen, why it matters, and what to do about it."""

    finding: Finding
    """What was seen; its remedy is a sentence."""
    why: str
    """Why it matters, in words."""
    gain: Gain
    """What following it is expected to bring."""
    command: str = ""
    """What to type; empty where no command helps."""
    changes: tuple[Change, ...] = ()
    """What ``--apply`` does: safe, and undone exactly by ``--undo``. Empty where it is left to the reader."""

    @property
    def forbids(self) -> bool:
        """Whether no race should start before this is done."""
        return self.gain is Gain.DECISIVE


def advise(
    check: str,
    *,
    seen: str,
    threshold: str,
    remedy: str,
    why: str,
    gain: Gain,
    command: str = "",
    changes: tuple[Change, ...] = (),
) -> Advice:
    """Return an advice. A decisive gain forbids a race; ``changes`` have their own command."""
    effect = Effect.INVALIDATES if gain is Gain.DECISIVE else Effect.WARNS
    finding = Finding(check=check, effect=effect, seen=seen, threshold=threshold, remedy=remedy)
    return Advice(finding=finding, why=why, gain=gain, command=command_of(changes) or command, changes=changes)


def command_of(changes: Sequence[Change]) -> str:
    """Return the shell commands that make ``changes``; they last until the next boot. Source: sysctl(8), tee(1)."""
    sysctls = [shlex.quote(f"{change.key}={change.after}") for change in changes if not change.key.startswith("/")]
    commands = [f"sudo sysctl -w {' '.join(sysctls)}"] if sysctls else []
    values = dict.fromkeys(change.after for change in changes if change.key.startswith("/"))
    for value in values:
        paths = [change.key for change in changes if change.key.startswith("/") and change.after == value]
        commands.append(f"echo {shlex.quote(value)} | sudo tee {' '.join(paths)}")
    return " && ".join(commands)
