"""A stack is a path: ``nginx/uwsgi/uwsgi:processes=4``, ``apache+mod_wsgi:mode=daemon``.

``/protocol/`` goes over a wire, ``+`` stays inside the same server, ``:`` gives settings. This module holds
the values, and the names under which one stack races more than once; ``stack_path`` reads and writes their text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .native_options import GivenOption, NativeFile, NativeOptions, Signs
from .tunable import Tunable

SettingValue = str | int | bool
Settings = Mapping[str, SettingValue]
"""Settings by name."""


class Protocol(StrEnum):
    """What is spoken on a wire between two hops, or between the client and the first."""

    HTTP = "http"
    FASTCGI = "fastcgi"
    SCGI = "scgi"
    UWSGI = "uwsgi"
    AJP = "ajp"


class Interface(StrEnum):
    """How a server calls the application it hosts."""

    WSGI = "wsgi"
    ASGI = "asgi"
    RACK = "rack"
    FILES = "files"


class Socket(StrEnum):
    """The kind of socket a hop behind another listens on."""

    UNIX = "unix"
    TCP = "tcp"


class Origin(StrEnum):
    """Whose choice a setting's value is."""

    DEFAULT = "default"
    """What the server does when nobody says anything."""
    RECOMMENDED = "recommended"
    """What the server's own documentation advises."""
    HISTORIC = "historic"
    """What a published comparison used."""
    TUNED = "tuned"
    """Chosen for this race, by its author or a tuner."""
    OWN = "own"
    """Said in the server's own language: by an option given as it is, or in a file of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One knob of a server."""

    name: str
    default: SettingValue
    """Its type is the setting's."""
    help: str
    """One sentence."""
    choices: tuple[str, ...] = ()
    """The only values of a text; empty: any."""
    minimum: int = 1
    maximum: int = 4096
    """Of a whole number, inclusive as the minimum."""
    origin: Origin = Origin.DEFAULT
    implies: Mapping[str, Interface] = field(default_factory=dict)
    """Which interface a value hosts, where a server can host several (``class=uvicorn``)."""
    listens: Mapping[str, frozenset[Protocol]] = field(default_factory=dict)
    """The values with which the server knows only some of its protocols, and which."""
    closes: Mapping[SettingValue, str] = field(default_factory=dict)
    """The values with which the server closes each connection after one answer, and the reason with its remedy."""
    only: Mapping[str, tuple[SettingValue, ...]] = field(default_factory=dict)
    """The values of other settings beside which it does anything; empty: it always does. See `idle`."""
    tunable: Tunable | None = None
    """What a tuner tries of it; None where nothing is to be gained, or where that is not for a tuner to decide."""

    def applies(self, settings: Settings) -> bool:
        """Tell whether it does anything beside these ``settings`` of its server; those left out may be anything."""
        return all(name not in settings or settings[name] in values for name, values in self.only.items())

    def is_tuned(self, settings: Settings) -> bool:
        """Tell whether a tuner tries it beside these ``settings`` of its server."""
        return self.tunable is not None and self.applies(settings) and self.tunable.applies(settings)

    @property
    def is_open(self) -> bool:
        """Whether its default takes whichever interface the app offers, where other values say one."""
        return bool(self.implies) and self.default not in self.implies


BEHIND_ANOTHER = (
    Setting(
        name="socket",
        default="auto",
        choices=("auto", *Socket),
        help="Kind of socket towards the hop before; auto takes the first kind that both ends know.",
    ),
    Setting(
        name="instances",
        default=1,
        maximum=64,
        tunable=Tunable(per_core=4, most=64, steps=5),
        help="Independent copies of this server; the hop before balances the load over them.",
    ),
)
"""Settings that every server has when it stands behind another one, beside its own."""

CACHE = "cache"
"""The setting by which a server that can keep answers declares that it does; a hidden cache invalidates a slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCount:
    """How many processes a server does its work with; those that only manage them are not counted."""

    setting: str
    """The setting that says it."""
    least: int
    """0 where their number follows the load."""
    most: int


def _not_counted(settings: Settings) -> ProcessCount | None:
    return None


def _threads(settings: Settings) -> int:
    return int(settings.get("threads", 1))


def _never(settings: Settings) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """What a catalogue entry can do, as far as the grammar of stacks needs to know."""

    name: str
    """As paths spell it; of what is gone it may be a pair, as ``nginx+mod_wsgi``."""
    title: str
    """As people write it."""
    listens: frozenset[Protocol] = frozenset()
    """Empty for what lives inside another server."""
    forwards: Mapping[Protocol, tuple[Socket, ...]] = field(default_factory=dict)
    """The kinds of socket it can reach, by protocol."""
    balances: bool = True
    """Whether it can forward to several instances."""
    hosts: frozenset[Interface] = frozenset()
    inside: frozenset[str] = frozenset()
    """The servers it can live in, as in ``apache+mod_wsgi``; empty: it stands by itself."""
    asks: Settings = field(default_factory=dict)
    """The settings that it wants of such a server, unless the path says otherwise."""
    sockets: tuple[Socket, ...] = (Socket.UNIX, Socket.TCP)
    """What it can listen on behind a front end, preferred first."""
    settings: tuple[Setting, ...] = ()
    processes: Callable[[Settings], ProcessCount | None] = _not_counted
    """How many processes its settings make it work with; None where they do not say."""
    threads: Callable[[Settings], int] = _threads
    """How many threads of each process run the app with these settings; 0 where there is no limit."""
    preloads: Callable[[Settings], bool] = _never
    """Whether its settings make it load the app once, before it makes its processes."""
    alone: bool = False
    """Whether only one of it can run on a machine, since it writes to fixed places."""
    native: NativeOptions | None = None
    """Its own options, and how people start it; None where Stackrace knows neither."""
    signs: Signs | None = None
    """What shows that a project has it in front of its app; None for what is no front end, or is not looked for."""
    suggested_for: frozenset[Interface] = frozenset()
    """The interfaces for which messages name it as an example of a host."""
    gone: str = ""
    """Why a technique that people still look for can no longer be had, and what took its place."""

    def hosting(self, interface: Interface) -> tuple[str, ...]:
        """Return how a path names it so that it hosts ``interface``: ``granian``, ``gunicorn:class=asgi``.

        Its name alone where that is enough; nothing where it does not host the interface.
        """
        if interface not in self.hosts:
            return ()
        for setting in self.settings:
            if setting.implies and setting.implies.get(str(setting.default), interface) is not interface:
                values = (value for value, implied in setting.implies.items() if implied is interface)
                return tuple(f"{self.name}:{setting.name}={value}" for value in values)
        return (self.name,)

    def idle(self, settings: Settings) -> frozenset[str]:
        """Return which settings do nothing beside ``settings``; what an open one takes is not known yet."""
        open_ = {setting.name: setting.default for setting in self.settings if setting.is_open}
        known = {name: value for name, value in settings.items() if name not in open_ or value != open_[name]}
        return frozenset(setting.name for setting in self.settings if not setting.applies(known))

    def setting(self, name: str) -> Setting:
        """Return the setting called ``name``; raises KeyError when there is none."""
        for setting in self.settings:
            if setting.name == name:
                return setting
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One server in a stack."""

    spec: ServerSpec
    protocol: Protocol | None
    """How the hop before reaches it; None: it lives inside that hop."""
    chosen: Settings = field(default_factory=dict)
    """The settings that the path itself gives."""
    settings: Settings = field(default_factory=dict)
    """All settings, the catalogue's defaults included."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Whose choice each setting is."""
    options: tuple[GivenOption, ...] = ()
    """What the path says in the server's own language."""
    config: str = ""
    """The configuration file that the path names, as written; empty without one."""
    file: NativeFile | None = None
    """That file, where it could be read: paths are also parsed where no files are."""

    @property
    def server(self) -> str:
        """Its server's name in the catalogue."""
        return self.spec.name

    @property
    def instances(self) -> int:
        """How many copies of the server run."""
        return int(self.settings.get("instances", 1))

    @property
    def processes(self) -> ProcessCount | None:
        """How many processes each instance does its work with; None where its settings do not say."""
        return self.spec.processes(self.settings)

    @property
    def threads(self) -> int:
        """How many threads of each process run the app."""
        return self.spec.threads(self.settings)

    @property
    def loaders(self) -> int:
        """How many processes load the app side by side when it starts; one where its settings do not say."""
        processes = None if self.spec.preloads(self.settings) else self.processes
        return self.instances * max(processes.least if processes else 1, 1)

    def resolved(self, interface: Interface) -> Settings:
        """Return its settings in a stack that hosts by ``interface``, of which an open one takes the name."""
        open_choices = {
            setting.name: interface.value
            for setting in self.spec.settings
            if setting.is_open and setting.name in self.settings and interface in setting.implies.values()
        }
        return {**self.settings, **open_choices}

    def identity(self, interface: Interface) -> tuple[object, ...]:
        """Return what it is in a stack that hosts by ``interface``, however its path is spelled."""
        return self.server, self.protocol, frozenset(self.resolved(interface).items()), self.options, self.config

    @property
    def closes_because(self) -> str:
        """Why its settings make it close each connection after one answer; empty where they do not."""
        # a setting that a file of the user's computes has no value here
        reasons = (
            setting.closes.get(self.settings[setting.name], "")
            for setting in self.spec.settings
            if setting.name in self.settings and setting.applies(self.settings)
        )
        return next(filter(None, reasons), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The chain of hops from the client to the app."""

    path: str
    """The canonical text: it parses back to an equal stack and names the stack in every report."""
    hops: tuple[Hop, ...]
    interface: Interface

    def __str__(self) -> str:
        return self.path

    @property
    def twin(self) -> Stack:
        """The same stack under its other name."""
        return replace(self, path=twin_path(self.path))

    def on(self, side: Side) -> Stack:
        """Return the same stack under the name of its variant ``side``."""
        return replace(self, path=side_path(self.path, side))

    @property
    def plain(self) -> Stack:
        """The same stack without its side."""
        return replace(self, path=without_side(self.path))

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def identity(self) -> tuple[object, ...]:
        """What it is, however its path is spelled: two stacks of one identity are one stack."""
        return self.interface, *(hop.identity(self.interface) for hop in self.hops)

    @property
    def is_alone(self) -> bool:
        """Whether no second stack like it can be up, since one of its servers can run only once."""
        return any(hop.spec.alone for hop in self.hops)

    @property
    def keeps_answers(self) -> bool:
        """Whether a hop is declared to be a cache, so that answers may come from it rather than from the app."""
        return any(hop.settings.get(CACHE) is True for hop in self.hops)

    @property
    def processes(self) -> tuple[tuple[Hop, ...], ...]:
        """The hops grouped by operating-system server: a hop together with those inside it."""
        groups: list[list[Hop]] = []
        for hop in self.hops:
            if hop.protocol is None and groups:
                groups[-1].append(hop)
            else:
                groups.append([hop])
        return tuple(tuple(group) for group in groups)

    @property
    def process_names(self) -> tuple[str, ...]:
        """The names of ``processes`` in reports; a server that stands in a stack twice is numbered."""
        plain = ["+".join(hop.server for hop in group) for group in self.processes]
        return tuple(
            name if plain.count(name) == 1 else f"{name}#{plain[: index + 1].count(name)}"
            for index, name in enumerate(plain)
        )


TWIN = "#twin"


def twin_path(path: str) -> str:
    """Return the name under which the hidden twin of the stack ``path`` races; no stack is spelled so."""
    return path + TWIN


def original_path(path: str) -> str:
    """Return the path of the stack that races under the name ``path``: its own, unless it is a twin's."""
    return path.removesuffix(TWIN)


class Side(StrEnum):
    """Which of two variants of one app or of one stack is raced, where both race under one path."""

    BASE = "base"
    HEAD = "head"
    ORIGINAL = "original"
    """As the race deployed it."""
    EXPORTED = "exported"
    """As its exported files deploy it."""


def side_path(path: str, side: Side) -> str:
    """Return the name under which the variant ``side`` of ``path`` races, a stack or a twin; none is spelled so."""
    own = original_path(path)
    return f"{own}#{side}{path[len(own) :]}"


def side_of(path: str) -> Side | None:
    """Return which variant races under the name ``path``, or under it as a twin; None for no variant."""
    return next((side for side in Side if original_path(path).endswith(f"#{side}")), None)


def without_side(path: str) -> str:
    """Return the path of the stack of which ``path`` names a variant; a twin stays one."""
    side = side_of(path)
    if side is None:
        return path
    own = original_path(path)
    return own.removesuffix(f"#{side}") + path[len(own) :]
