"""A server's settings: types and values, the interfaces and protocols that they imply, and what a tuner tries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SettingValue = str | int | bool
Settings = Mapping[str, SettingValue]
"""Settings by name."""


class Protocol(StrEnum):
    """Protocol between two hops, or between the client and the first hop."""

    HTTP = "http"
    FASTCGI = "fastcgi"
    SCGI = "scgi"
    UWSGI = "uwsgi"
    AJP = "ajp"


class Interface(StrEnum):
    """Interface between a server and the application it hosts."""

    WSGI = "wsgi"
    ASGI = "asgi"
    RACK = "rack"
    FILES = "files"


class Socket(StrEnum):
    """Kind of socket that a hop behind another listens on."""

    UNIX = "unix"
    TCP = "tcp"


class Origin(StrEnum):
    """Origin of a setting's value."""

    DEFAULT = "default"
    """The server's default."""
    RECOMMENDED = "recommended"
    """Recommended by the server's own documentation."""
    HISTORIC = "historic"
    """Used by a published comparison."""
    TUNED = "tuned"
    """Chosen for this race, by its author or a tuner."""
    OWN = "own"
    """Given in the server's own language: by one of its options, or in a configuration file from the user."""


_WIDER = 2
"""Number of values to try beyond the largest one, if that was the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A server's own advice for a setting: ``per_core`` times the cores plus ``plus``."""

    per_core: int
    plus: int = 0
    source: str = ""
    """Documentation that gives the advice."""

    def value(self, cores: int) -> int:
        """Return the value for this number of cores."""
        return self.per_core * cores + self.plus

    def __str__(self) -> str:
        """Return the formula as people write it: ``2n + 1``."""
        times = "n" if self.per_core == 1 else f"{self.per_core}n"
        return f"{times} + {self.plus}" if self.plus else times


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunable:
    """Values to try for one setting: ``values``, or ``steps`` whole numbers from ``least`` to the largest.

    The numbers form a geometric series: two more workers matter less to twenty than to two.
    """

    values: tuple[str | int | bool, ...] = ()
    """All values to try, for a setting that is no number or has few values."""
    least: int = 1
    most: int = 0
    """Largest number to try; 0 if only ``per_core`` bounds it."""
    per_core: int = 0
    """Largest number per core, if it grows with the cores; ``most`` bounds it, unless that is 0."""
    steps: int = 6
    """Maximum count of numbers to try, 2 or more."""
    only: Mapping[str, tuple[str | int | bool, ...]] = field(default_factory=dict)
    """Values of other settings with which a tuner tries this one; ``Setting.only`` says with which it has an
    effect."""
    multiplies: bool = False
    """True if each process handles this many requests at once; a database sees them times the processes."""
    formula: Formula | None = None
    """Advice in the server's documentation; None if there is none."""
    memory_only: bool = False
    """True if the setting can only save memory, so that tunings for other goals do not try it."""

    def tried(self, cores: int) -> tuple[str | int | bool, ...]:
        """Return the values to try on this number of ``cores``; numbers ascend.

        >>> Tunable(per_core=8).tried(2)
        (1, 2, 3, 5, 9, 16)
        """
        if self.values:
            return self.values
        most = self.per_core * cores if self.per_core else self.most
        if self.per_core and self.most:
            most = min(most, self.most)
        most = max(most, self.least)
        shares = (step / max(self.steps - 1, 1) for step in range(self.steps))
        return tuple(dict.fromkeys(round(float(self.least * (most / self.least) ** share)) for share in shares))

    def beyond(self, cores: int, least: int, most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return further numbers from ``least`` to ``most``, below and above those tried, each ascending.

        Numbers above continue the growth of the last two tried; each number below is half of the next.

        >>> Tunable(per_core=8, least=4).beyond(2, 1, 256)
        ((1, 2), (22, 30))
        """
        tried = [value for value in self.tried(cores) if not isinstance(value, str | bool)]
        if self.values or len(tried) < 2:
            return (), ()
        growth = max(tried[-1] / tried[-2], 1.25)
        above = [min(round(tried[-1] * growth**step), most) for step in range(1, _WIDER + 1)]
        below: list[int] = []
        # zero often means that the server decides
        while (half := (below or tried)[0] // 2) >= max(least, 1):
            below.insert(0, half)
        return tuple(below), tuple(dict.fromkeys(value for value in above if value > tried[-1]))

    def applies(self, settings: Mapping[str, object]) -> bool:
        """Return True if a tuner tries the setting beside its server's other ``settings``."""
        return all(settings.get(name) in values for name, values in self.only.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of a server."""

    name: str
    default: SettingValue
    """Default value; its type is the setting's type."""
    help: str
    """Help text of one sentence."""
    choices: tuple[str, ...] = ()
    """Allowed values of a text; empty: any."""
    minimum: int = 1
    maximum: int = 4096
    """Largest whole number, inclusive; ``minimum`` is inclusive, too."""
    origin: Origin = Origin.DEFAULT
    implies: Mapping[str, Interface] = field(default_factory=dict)
    """Interface by value, if a server can host several (``class=uvicorn``)."""
    listens: Mapping[str, frozenset[Protocol]] = field(default_factory=dict)
    """Protocols by value, for values with which the server knows only some of its protocols."""
    closes: Mapping[SettingValue, str] = field(default_factory=dict)
    """Values with which the server closes each connection after one answer, each with the reason and its remedy."""
    only: Mapping[str, tuple[SettingValue, ...]] = field(default_factory=dict)
    """Values of other settings, by name, with which this setting has an effect; empty: it always has one. See
    `stack.ServerSpec.idle`."""
    tunable: Tunable | None = None
    """Values for a tuner to try; None if there is nothing to gain, or a tuner must not decide it."""

    def applies(self, settings: Settings) -> bool:
        """Return True if this setting has an effect beside its server's ``settings``; missing ones may have any
        value."""
        return all(name not in settings or settings[name] in values for name, values in self.only.items())

    def is_tuned(self, settings: Settings) -> bool:
        """Return True if a tuner tries this setting beside its server's other ``settings``."""
        return self.tunable is not None and self.applies(settings) and self.tunable.applies(settings)

    @property
    def is_open(self) -> bool:
        """True if the default takes whichever interface the app offers, while other values name one."""
        return bool(self.implies) and self.default not in self.implies
