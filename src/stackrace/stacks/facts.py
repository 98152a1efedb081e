"""What exactly a stack was that ran: versions, configurations, commands, settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .native_options import Concern
from .stack import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingFact:
    """One setting of one hop, and whose choice it was."""

    hop: str
    """The server's name."""
    name: str
    """Of an option in the server's own language with its dashes."""
    value: str
    """As a path writes it; for what only the server knows, what its configuration file says."""
    origin: Origin
    """Where the value comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFact:
    """One thing in a configuration file of the user's that the race decided otherwise."""

    hop: str
    """The server's name."""
    key: str
    """As the file calls it."""
    theirs: str
    """The value in the file."""
    concern: Concern
    """What it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFacts:
    """What exactly one stack was."""

    stack: str
    """The stack's path."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version by hop."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """Rendered configuration by file name."""
    commands: tuple[str, ...] = ()
    """The commands that started it, in order."""
    settings: tuple[SettingFact, ...] = ()
    """All its settings, hop by hop."""
    changes: tuple[ChangeFact, ...] = ()
    """What had to be changed in configuration files of the user's."""
