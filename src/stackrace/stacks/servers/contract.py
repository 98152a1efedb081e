"""What a catalogue entry must say: what it can do, what it needs, and how to start it on a given site.

A *server* is a process of its own and returns a ``Recipe``. A *guest* (mod_wsgi, mod_python) lives inside a
server and returns a ``Fragment`` of that server's configuration. Neither starts anything: ``deploy`` does.
"""

from __future__ import annotations

import inspect
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ...base.errors import LaunchError
from ...base.files import read_text
from ..stack import ServerSpec, Settings
from .site import OTHERS, Fragment, Site, bodiless_files
from .templates import PLAIN, Rendered, render

BACKLOG = 2048
"""Length of every server's queue of unaccepted connections, as far as the server lets one say; their own
defaults (5, 100, 511…) would decide runs at high concurrency. Linux cuts it to ``net.core.somaxconn``."""

KEEP_ALIVE_S = 75
"""Seconds an idle kept connection lives in every server; nginx lets go of upstream ones after 60."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is known not to work with a server: ``docs/stacks.md`` lists these."""

    text: str
    """Whole sentences, in Markdown."""
    where: str = ""
    """The stacks that have it, as a path spells them: ``apache/scgi/uwsgi``; empty: all of the server's."""
    changes_request: bool = False
    """Whether the app or the client gets something else than was sent, so that some races are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """How a running server takes its configuration, and the app, anew while requests go on."""

    by: signal.Signals
    """Sent to its first process."""
    source: str
    """The section of its manual that says so."""
    renews_app: bool = True
    """Whether a server that hosts the app then loads its code anew."""
    loses: str = ""
    """What was seen to be lost at it, as a clause about the server: ``resets connections …``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to start one server."""

    command: tuple[str, ...]
    """The program and its arguments; it must stay in the foreground."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text by path below the site's directory, written first."""
    check: tuple[str, ...] = ()
    """The server's own configuration checker, run before the start."""
    check_code: int = 0
    """The exit code with which the checker says that all is well."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the app's own; its PYTHONPATH goes before one the app has."""
    stop: signal.Signals = signal.SIGTERM
    """The signal that ends it cleanly."""
    stop_timeout_s: float = 15.0
    """Whoever lives longer after ``stop`` is killed and reported. Most end within one second; daphne took more than
    five on a machine that had half of its time."""
    unloadable: tuple[str, ...] = ()
    """What its logs say of an app that it cannot load, and of nothing else; for servers that live on without it."""
    rare_crashes: tuple[signal.Signals, ...] = ()
    """The signals by which a known fault of its own seldom ends it at start; such a start is made once more."""
    reload: Reload | None = None
    """None where only a stop and a start take anything new."""
    reopens: signal.Signals | None = None
    """The signal at which it closes its logs and opens them again; None for none."""
    arguments_variable: str = ""
    """The environment variable from which it reads further arguments, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What must be on the machine."""

    apt: tuple[str, ...] = ()
    """The Debian packages that bring ``binary`` and ``files``."""
    binary: str = ""
    """A program, looked up on PATH and in the sbin folders."""
    folders: tuple[Path, ...] = ()
    """Where ``binary`` may lie besides."""
    files: tuple[Path, ...] = ()
    """They must exist."""
    version: tuple[str, ...] = ()
    """Arguments that make ``binary`` print its version."""
    embeds: tuple[int, int] | None = None
    """The minor version of the Python that is linked into a Debian module: the only one it can host."""
    before: tuple[int, int] | None = None
    """The first version of Python that the server no longer copes with."""
    elsewhere: str = ""
    """One sentence that tells where a user gets what Debian has no package of."""


class Entry(ABC):
    """What all catalogue entries share."""

    spec: ClassVar[ServerSpec]
    needs: ClassVar[Needs] = Needs()
    packages: ClassVar[tuple[str, ...]] = ()
    """The PyPI requirements that it has whatever its settings; see ``requirements``."""

    faults: ClassVar[tuple[Fault, ...]] = ()
    """What is known not to work."""

    strips_forwarded_headers: ClassVar[bool] = False
    """Whether, deployed, it drops itself what others than the proxies it trusts say in X-Forwarded-*."""

    limits_bodies: ClassVar[bool] = False
    """Whether, deployed, it refuses bodies beyond ``Production.most_body_bytes``."""

    limits_answers: ClassVar[bool] = False
    """Whether, deployed, it gives up an answer after ``Production.answer_s``."""

    trusts_one_proxy: ClassVar[bool] = False
    """Whether it can be told of one proxy only, by its address."""

    passes_forwarded_headers: ClassVar[bool] = False
    """Whether, deployed, it hands on X-Forwarded-* from anybody, since it cannot tell proxies from clients."""

    sends_lifespan: ClassVar[bool] = True
    """Whether it tells an ASGI app that it starts and ends, by lifespan events."""

    drops_requests_on_stop: ClassVar[bool] = False
    """Whether it cuts off the requests that it works on when it is told to end, however patiently that is asked."""

    needs_static_folders: ClassVar[bool] = False
    """Whether it does not start while a folder of static files that it is told of is missing."""

    def requirements(self, settings: Settings) -> tuple[str, ...]:
        """Return the PyPI requirements these settings need, to be layered over the app's environment.

        That of ``spec.package`` comes first.
        """
        return self.packages

    def quoted(self, text: str) -> str:
        """Return ``text`` as this server's configuration writes it: what ``{{ text | quoted }}`` is in templates.

        Raises LaunchError for what it cannot write: here for all that is not ``PLAIN``.
        """
        if not PLAIN.fullmatch(text):
            raise LaunchError(f"{text!r} cannot be said in the configuration of {self.spec.title}; rename it")
        return text

    def render(self, template: str, site: Site, **values: object) -> Rendered:
        """Render this entry's own ``template`` with the site's parts as variables."""
        given = {"backlog": BACKLOG, "keep_alive_s": KEEP_ALIVE_S, "others": OTHERS, "protocol": site.forwards}
        own = {**site.settings, **given, **values}
        return render(self.folders, template, self.quoted, site=site, app=site.app, **own)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where templates are looked for: beside this entry's class, then beside the entries it derives from."""
        classes = (kind for kind in type(self).__mro__ if issubclass(kind, Entry) and kind.__module__ != __name__)
        return tuple(dict.fromkeys(Path(inspect.getfile(kind)).parent for kind in classes))


class Server(Entry):
    """A process of its own."""

    @abstractmethod
    def recipe(self, site: Site) -> Recipe:
        """Say how to start this server on ``site``; pure, starts and writes nothing."""

    def launched(self, site: Site, *arguments: object, bodiless: bool = True) -> Recipe:
        """Return how to start it by the ``launcher.py`` of its folder, which the app's Python runs in the site.

        A ``bodiless`` one hosts the module ``BODILESS``: the server would send a body in answer to HEAD.
        """
        name = f"stackrace_{self.spec.name}.py"
        launcher = read_text(self.folders[0] / "launcher.py")
        return Recipe(
            command=(str(site.app.python), str(site.directory / name), *map(str, arguments)),
            files={name: launcher, **(bodiless_files(site.app) if bodiless else {})},
            environment=site.app.import_environment,
        )


class Guest(Entry):
    """Lives inside a server and speaks that server's configuration language."""

    @abstractmethod
    def fragment(self, site: Site) -> Fragment:
        """Return this guest's part of its server's configuration; pure."""
