"""The contract of a catalogue entry: its abilities, its needs, and how to start it on a given site.

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
from ...base.platforms import SystemPackages
from ..setting import Protocol, Settings
from ..stack import ServerSpec
from .site import OTHERS, Fragment, Site, bodiless_files
from .templates import PLAIN, Rendered, render

BACKLOG = 2048
"""Length of every server's queue of unaccepted connections, where it can be set; the servers' own defaults (5, 100,
511…) would decide runs at high concurrency. Linux cuts it to ``net.core.somaxconn``.
"""

KEEP_ALIVE_S = 75
"""Seconds that every server keeps an idle connection; nginx closes upstream ones after 60."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A known problem of a server, listed in ``docs/stacks.md``."""

    text: str
    """Description in whole sentences, in Markdown."""
    where: str = ""
    """Affected stacks, as a path spells them: ``apache/scgi/uwsgi``; empty: all stacks with the server."""
    changes_request: bool = False
    """True if the app or the client gets something else than was sent, so that some races are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """Reload of a server's configuration, and of the app, while requests go on."""

    by: signal.Signals | None = None
    """Signal for its first process; None if ``touches`` is enough."""
    touches: Path | None = None
    """File that is touched to make the server load the app again; the server's own configuration is not read
    again."""
    source: str
    """Section of its manual that describes it."""
    renews_app: bool = True
    """True if a server that hosts the app loads the app's code again."""
    loses: str = ""
    """Observed losses during a reload, as a clause about the server: ``resets connections …``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Command, files and signals to start and stop one server."""

    command: tuple[str, ...]
    """The program and its arguments; it must stay in the foreground."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts by path below the site's directory, written before the start."""
    check: tuple[str, ...] = ()
    """The server's own configuration checker, run before the start."""
    check_code: int = 0
    """Exit code of the checker if all is well."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables added to the app's own; its PYTHONPATH goes before the app's."""
    stop: signal.Signals = signal.SIGTERM
    """Signal that stops it cleanly."""
    stop_timeout_s: float = 15.0
    """Seconds after ``stop`` until it is killed and reported. Most servers stop within one second; daphne took more
    than five on a machine that had half of its time.
    """
    unloadable: tuple[str, ...] = ()
    """Log texts that mean only that the app cannot be loaded; for servers that run on without it."""
    rare_crashes: tuple[signal.Signals, ...] = ()
    """Signals by which a known bug of the server rarely ends it at start; such a start is tried once more."""
    reload: Reload | None = None
    """Reload while it runs; None if only a restart applies changes."""
    reopens: signal.Signals | None = None
    """Signal that makes it reopen its logs; None if there is none."""
    arguments_variable: str = ""
    """Environment variable with additional command-line arguments; empty if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs(SystemPackages):
    """Requirements on the machine; the packages contain ``binary`` and ``files``."""

    binary: str = ""
    """Program to look up on PATH and in the sbin folders."""
    folders: tuple[Path, ...] = ()
    """Additional folders to look for ``binary`` in."""
    files: tuple[Path, ...] = ()
    """Files that must exist."""
    version: tuple[str, ...] = ()
    """Arguments that make ``binary`` print its version."""
    embeds: tuple[int, int] | None = None
    """Minor version of the Python that is linked into the module; it can host no other."""
    before: tuple[int, int] | None = None
    """First version of Python that the server does not support."""
    elsewhere: str = ""
    """Sentence that tells where to get a server that no system has a package of."""


class Entry(ABC):
    """Base class of all catalogue entries."""

    spec: ClassVar[ServerSpec]
    needs: ClassVar[Needs] = Needs()
    packages: ClassVar[tuple[str, ...]] = ()
    """PyPI requirements for any settings; see ``requirements``."""

    faults: ClassVar[tuple[Fault, ...]] = ()
    """Known problems."""

    strips_forwarded_headers: ClassVar[bool] = False
    """True if, when deployed, it strips X-Forwarded-* headers that come from untrusted clients."""

    limits_bodies: ClassVar[bool] = False
    """True if, when deployed, it refuses bodies larger than ``Production.most_body_bytes``."""

    limits_answers: ClassVar[bool] = False
    """True if, when deployed, it times out an answer after ``Production.answer_s``."""

    trusts_one_proxy: ClassVar[bool] = False
    """True if it can trust one proxy only, by its address."""

    passes_forwarded_headers: ClassVar[bool] = False
    """True if, when deployed, it passes on anybody's X-Forwarded-*, because it cannot recognise proxies."""

    appends_to_forwarded_for: ClassVar[frozenset[Protocol]] = frozenset()
    """Protocols over which, when deployed, it keeps anybody's X-Forwarded-For and appends the sender's address."""

    drops_requests_on_stop: ClassVar[bool] = False
    """True if it cuts off requests in progress when it stops, even if asked to stop gracefully."""

    needs_static_folders: ClassVar[bool] = False
    """True if it does not start while one of its folders of static files is missing."""

    def sends_lifespan(self, settings: Settings) -> bool:
        """Return True if it sends an ASGI app lifespan events at start and stop."""
        return True

    def requirements(self, settings: Settings) -> tuple[str, ...]:
        """Return the PyPI requirements these settings need, to be layered over the app's environment.

        The requirement of ``spec.package`` comes first.
        """
        return self.packages

    def quoted(self, text: str) -> str:
        """Return ``text`` as this server's configuration writes it: ``{{ text | quoted }}`` in templates.

        Raises LaunchError for text that cannot be written, which here is everything but ``PLAIN``.
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
        """Template folders: the one of this entry's class, then those of its base classes."""
        classes = (kind for kind in type(self).__mro__ if issubclass(kind, Entry) and kind.__module__ != __name__)
        return tuple(dict.fromkeys(Path(inspect.getfile(kind)).parent for kind in classes))


class Server(Entry):
    """A server that is a process of its own."""

    @abstractmethod
    def recipe(self, site: Site) -> Recipe:
        """Return how to start this server on ``site``; pure, starts and writes nothing."""

    def launched(self, site: Site, *arguments: object, bodiless: bool = True) -> Recipe:
        """Return how to start the server by the ``launcher.py`` of its folder, run by the app's Python in the site.

        With ``bodiless``, the site gets the module ``BODILESS``, because the server would send a body in answer to
        HEAD.
        """
        name = f"stackrace_{self.spec.name}.py"
        launcher = read_text(self.folders[0] / "launcher.py")
        return Recipe(
            command=(str(site.app.python), str(site.directory / name), *map(str, arguments)),
            files={name: launcher, **(bodiless_files(site.app) if bodiless else {})},
            environment=site.app.import_environment,
        )


class Guest(Entry):
    """A module inside a server, configured in that server's language."""

    @abstractmethod
    def fragment(self, site: Site) -> Fragment:
        """Return this guest's part of the server's configuration; pure."""
