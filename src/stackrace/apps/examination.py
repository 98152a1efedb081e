"""What an examination found out about an app, asked in process, without any server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.app import Entry
from ..model.page_time import PageTime
from ..model.stack import Interface
from ..model.workload import Request

__all__ = ["DjangoFacts", "Examination", "Exchange", "PythonFacts", "Reply", "RubyFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFacts:
    """The app's interpreter: ``base`` is the one its environment was made from, ``prefix`` that environment.

    ``site_packages`` are its folders of packages, in the order of the path; ``distributions`` maps names to
    versions.
    """

    version: str
    python: Path
    base: Path
    prefix: Path
    site_packages: tuple[Path, ...]
    distributions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubyFacts:
    """A Rack app's interpreter and the release of Rack that it loaded."""

    version: str
    ruby: Path
    rack: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DjangoFacts:
    """What Django's settings say.

    ``static_root`` is None unless the folder exists; ``engines`` are keyed by database alias. ``wsgi`` and
    ``asgi`` are the settings' own targets, empty when unset. ``https_only`` is SECURE_SSL_REDIRECT,
    ``https_header`` the header that SECURE_PROXY_SSL_HEADER trusts. ``routes`` are the URLconf's first level.
    """

    version: str
    debug: bool
    allowed_hosts: tuple[str, ...]
    static_url: str
    static_root: Path | None
    engines: Mapping[str, str]
    wsgi: str
    asgi: str
    https_only: bool
    https_header: str
    routes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the app; ``traceback`` is its own, for a status of 500 and more."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    traceback: str = ""

    def header(self, name: str) -> str:
        """Return the first value of the header ``name``, in any case; empty when there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and two answers to it, as different as any two were.

    ``request`` is the one really asked: ``via`` is the path that redirected to it, empty without a redirect;
    ``added`` names the headers it needed beyond what the user gave. ``page`` is what an answer took, the first not
    counted.
    """

    request: Request
    first: Reply
    second: Reply
    via: str = ""
    added: tuple[str, ...] = ()
    page: PageTime = field(default_factory=PageTime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything found out.

    ``python`` is None for Rack apps, which have ``ruby``, and for plain files, which have neither but list some
    of their ``files``. ``host`` is the Host header that was sent; ``static`` maps URL prefixes to folders a front
    end may serve.
    """

    entry: Entry
    interface: Interface
    python: PythonFacts | None
    django: DjangoFacts | None
    host: str
    exchanges: tuple[Exchange, ...]
    static: Mapping[str, Path] = field(default_factory=dict)
    ruby: RubyFacts | None = None
    files: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided for the user, and what he should know of his app, one sentence each."""
        found = []
        if self.django is not None and self.django.debug:
            found.append(f"DEBUG is on in {self.entry.target}: the figures will not be those of production.")
        redirected = {one.via: one.request.path for one in self.exchanges if one.via}
        found.extend(f"{path} redirects to {target}, which is raced." for path, target in redirected.items())
        added = dict.fromkeys(name for one in self.exchanges for name in one.added)
        found.extend(f"The site is https only: {name} is sent, as a TLS proxy would." for name in added)
        return tuple(found)
