"""A stack is a path: ``nginx/uwsgi/uwsgi:processes=4``, ``apache+mod_wsgi:mode=daemon``.

``/protocol/`` goes over a wire, ``+`` stays inside the same server, ``:`` gives settings. This module holds
the values, and the names under which one stack races more than once; ``stack_path`` parses and formats them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from .native_files import GivenOption, NativeFile, Signs
from .native_options import NativeOptions
from .setting import Interface, Origin, Protocol, Setting, Settings, Socket, Tunable

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
"""Settings of every server that stands behind another one, in addition to its own."""

CACHE = "cache"
"""Setting that declares that a server caches answers; an undeclared cache invalidates a slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCount:
    """Number of processes that do a server's work, without those that only manage them."""

    setting: str
    """Setting that determines the number."""
    least: int
    """Smallest number; 0 if the number follows the load."""
    most: int


def _not_counted(settings: Settings) -> ProcessCount | None:
    return None


def _threads(settings: Settings) -> int:
    return int(settings.get("threads", 1))


def _never(settings: Settings) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """A server's abilities, as far as the grammar of stacks needs them."""

    name: str
    """Name in stack paths."""
    title: str
    """Name in texts."""
    listens: frozenset[Protocol] = frozenset()
    """Protocols that the server listens to; empty if it lives inside another server."""
    forwards: Mapping[Protocol, tuple[Socket, ...]] = field(default_factory=dict)
    """Kinds of socket that the server can connect to, by protocol."""
    balances: bool = True
    """True if it can forward to several instances."""
    hosts: frozenset[Interface] = frozenset()
    inside: frozenset[str] = frozenset()
    """Servers it can live in, as in ``apache+mod_wsgi``; empty: it is a process of its own."""
    asks: Settings = field(default_factory=dict)
    """Settings that it needs in the server around it, unless the path gives others."""
    sockets: tuple[Socket, ...] = (Socket.UNIX, Socket.TCP)
    """Kinds of socket it can listen on behind a front end, preferred first."""
    settings: tuple[Setting, ...] = ()
    processes: Callable[[Settings], ProcessCount | None] = _not_counted
    """Function that returns the number of processes for given settings; None if the settings do not say."""
    threads: Callable[[Settings], int] = _threads
    """Function that returns how many threads of each process run the app; 0 for no limit."""
    preloads: Callable[[Settings], bool] = _never
    """Function that returns True if the app is loaded once, before the processes fork."""
    alone: bool = False
    """True if only one instance can run on a machine, because it writes to fixed paths."""
    native: NativeOptions | None = None
    """The server's own options and start commands; None if Stackrace knows neither."""
    signs: Signs | None = None
    """Signs of the server in a project's files; None if it is no front end or not looked for."""
    suggested_for: frozenset[Interface] = frozenset()
    """Interfaces for which messages suggest the server as a host."""
    package: str = ""
    """PyPI package whose version a path may name; empty for a server from elsewhere."""

    def hosting(self, interface: Interface) -> tuple[str, ...]:
        """Return the parts of paths that name the server as a host of ``interface``: ``granian``,
        ``gunicorn:class=asgi``. The server's name alone if that is enough; empty if it does not host the interface.
        """
        if interface not in self.hosts:
            return ()
        for setting in self.settings:
            if setting.implies and setting.implies.get(str(setting.default), interface) is not interface:
                values = (value for value, implied in setting.implies.items() if implied is interface)
                return tuple(f"{self.name}:{setting.name}={value}" for value in values)
        return (self.name,)

    def idle(self, settings: Settings) -> frozenset[str]:
        """Return the settings without effect beside ``settings``; an open setting (`setting.Setting.is_open`) has
        no known value yet."""
        open_ = {setting.name: setting.default for setting in self.settings if setting.is_open}
        known = {name: value for name, value in settings.items() if name not in open_ or value != open_[name]}
        return frozenset(setting.name for setting in self.settings if not setting.applies(known))

    def setting(self, name: str) -> Setting:
        """Return the setting called ``name``; raises KeyError if there is none."""
        for setting in self.settings:
            if setting.name == name:
                return setting
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One server in a stack."""

    spec: ServerSpec
    protocol: Protocol | None
    """Protocol by which the hop before reaches this hop; None: this hop lives inside the one before."""
    version: str = ""
    """Version of the server that the path names; empty if it names none."""
    chosen: Settings = field(default_factory=dict)
    """Settings that the path gives."""
    settings: Settings = field(default_factory=dict)
    """All settings, including the defaults."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Origin of each setting's value."""
    options: tuple[GivenOption, ...] = ()
    """Options that the path gives in the server's own language."""
    config: str = ""
    """Configuration file that the path names, as written; empty if none."""
    file: NativeFile | None = None
    """Contents of that file; None where a path is parsed without access to files."""

    @property
    def server(self) -> str:
        """Server name in the catalogue."""
        return self.spec.name

    @property
    def instances(self) -> int:
        """Number of copies of the server."""
        return int(self.settings.get("instances", 1))

    @property
    def processes(self) -> ProcessCount | None:
        """Number of working processes of each instance; None if the settings do not say."""
        return self.spec.processes(self.settings)

    @property
    def threads(self) -> int:
        """Number of threads of each process that run the app."""
        return self.spec.threads(self.settings)

    @property
    def promised(self) -> int:
        """Processes times threads of all instances, a rough measure of requests at once; unknown ones count 1."""
        return (self.processes.most if self.processes else 1) * max(self.threads, 1) * self.instances

    @property
    def loaders(self) -> int:
        """Number of processes that load the app at the same time at start; 1 if the settings do not say."""
        processes = None if self.spec.preloads(self.settings) else self.processes
        return self.instances * max(processes.least if processes else 1, 1)

    def resolved(self, interface: Interface) -> Settings:
        """Return the settings in a stack that hosts ``interface``; an open default gets that interface's name."""
        open_choices = {
            setting.name: interface.value
            for setting in self.spec.settings
            if setting.is_open
            and self.settings.get(setting.name) == setting.default
            and interface in setting.implies.values()
        }
        return {**self.settings, **open_choices}

    def identity(self, interface: Interface) -> tuple[object, ...]:
        """Return a key that is equal for equal hops in a stack that hosts by ``interface``, however their paths are
        spelled."""
        # 23 and 23.0.0 are one version, by PEP 440
        version = self.version
        while version.endswith(".0"):
            version = version.removesuffix(".0")
        settings = frozenset(self.resolved(interface).items())
        return self.server, version, self.protocol, settings, self.options, self.config

    @property
    def closes_because(self) -> str:
        """Reason why each connection is closed after one answer; empty if it is not."""
        # a setting that the user's file computes has no value here
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
        """The same stack under the name of its hidden twin."""
        return replace(self, path=twin_path(self.path))

    def on(self, side: Side) -> Stack:
        """Return the same stack under the name of its variant ``side``."""
        return replace(self, path=side_path(self.path, side))

    @property
    def plain(self) -> Stack:
        """The same stack without the mark of its variant."""
        return replace(self, path=without_side(self.path))

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def identity(self) -> tuple[object, ...]:
        """Key that is equal for equal stacks, however their paths are spelled."""
        return self.interface, *(hop.identity(self.interface) for hop in self.hops)

    @property
    def is_alone(self) -> bool:
        """True if a second copy of this stack cannot run, because one of its servers can run only once."""
        return any(hop.spec.alone for hop in self.hops)

    @property
    def keeps_answers(self) -> bool:
        """True if a hop is declared to be a cache, so that answers may not come from the app."""
        return any(hop.settings.get(CACHE) is True for hop in self.hops)

    @property
    def processes(self) -> tuple[tuple[Hop, ...], ...]:
        """Hops grouped by server process: a hop together with those inside it."""
        starts = [index for index, hop in enumerate(self.hops) if index == 0 or hop.protocol is not None]
        return tuple(self.hops[start:end] for start, end in pairwise([*starts, len(self.hops)]))

    @property
    def process_names(self) -> tuple[str, ...]:
        """Names of ``processes`` in reports; a server that appears twice is numbered."""
        plain = ["+".join(hop.server for hop in group) for group in self.processes]
        return tuple(
            name if plain.count(name) == 1 else f"{name}#{plain[: index + 1].count(name)}"
            for index, name in enumerate(plain)
        )


TWIN = "#twin"


def twin_path(path: str) -> str:
    """Return the name of the hidden twin of the stack ``path``; no stack can be spelled so."""
    return path + TWIN


def original_path(path: str) -> str:
    """Return ``path`` without the mark of a twin."""
    return path.removesuffix(TWIN)


class Side(StrEnum):
    """Variant of one app or one stack, if two race under the same path."""

    BASE = "base"
    HEAD = "head"
    ORIGINAL = "original"
    """The stack as the race deployed it."""
    EXPORTED = "exported"
    """The stack as its exported files deploy it."""


def side_path(path: str, side: Side) -> str:
    """Return the name of the variant ``side`` of a stack or twin ``path``; no stack can be spelled so."""
    own = original_path(path)
    return f"{own}#{side}{path[len(own) :]}"


def side_of(path: str) -> Side | None:
    """Return the variant that the name ``path`` marks, also in a twin's name; None if it marks none."""
    return next((side for side in Side if original_path(path).endswith(f"#{side}")), None)


def without_side(path: str) -> str:
    """Return ``path`` without the mark of its variant; a twin stays a twin."""
    return path.replace(f"#{side_of(path)}", "", 1)
