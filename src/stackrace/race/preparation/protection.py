"""The app with its data protected: what it writes goes to copies, and it is asked as it will be raced."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import App, EntryKind
from ...app.bundle import is_bundled
from ...app.examination import Examination
from ...app.examine import examine
from ...base.errors import AppError, InputError
from ...base.files import is_file, is_folder, is_present, real_path
from ...base.text import few
from ...deploy.environments import cache_folder
from ...deploy.guard import Guard, View
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...deploy.project_files import Relocation, hand_over_below
from ...deploy.protection import Protection, protect
from ..request.request import RaceRequest

_KINDS = {
    "3306": "mysql",
    "5432": "postgresql",
    "5672": "rabbitmq",
    "6379": "redis",
    "9200": "elasticsearch",
    "11211": "memcached",
    "27017": "mongodb",
}
"""By the usual ports of servers."""


@dataclass(frozen=True, slots=True)
class Escapes:
    """What examinations saw."""

    _written: dict[Path, None] = field(default_factory=dict)
    _imported: dict[Path, None] = field(default_factory=dict)
    _connected: dict[str, None] = field(default_factory=dict)

    def note(self, examination: Examination) -> None:
        """Keep what ``examination`` saw."""
        self._written.update(dict.fromkeys(examination.written))
        self._imported.update(dict.fromkeys(examination.imported))
        self._connected.update(dict.fromkeys(examination.connected))

    def notes(
        self, settled: Sequence[Path], relocation: Relocation, named: Iterable[str] = (), own: Iterable[str] = ()
    ) -> Iterator[str]:
        """Yield a sentence on files written outside of ``settled``, on modules that are no copies, and on servers.

        ``named`` are kinds of servers of which the user knows already, ``own`` variables that lead to the race's.
        """
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        if written := [path for path in self._written if not _is_below(path, (*settled, caches, cache_folder()))]:
            yield _written_words(written, relocation)
        if imported := [path for path in self._imported if relocation.has_copy(path)]:
            yield (
                f"{few(imported)} was imported, and not its copy: an editable install knows it by another name "
                "than its folder's, so that no path leads to the copy. What it writes beside itself may change."
            )
        servers = [each for each in self._connected if _kind(each) not in named and not _is_own(each, settled, own)]
        if servers:
            words = [f"{each} ({_kind(each)})" if _kind(each) else each for each in servers]
            yield (
                f"The app talks to {few(words)}: what it writes there is not copied, and changes in a race. "
                "[app] services starts a private one of many kinds; a variable in [app] env leads it there."
            )


def _kind(place: str) -> str:
    if place.startswith("/"):
        return "postgresql" if "PGSQL" in place else "mysql" if "mysql" in place else ""
    return _KINDS.get(place.rpartition(":")[2], "")


def _is_own(place: str, settled: Iterable[Path], own: Iterable[str]) -> bool:
    """Tell whether ``place`` is a service of the race's own: in its folder, or where its variables lead."""
    if place.startswith("/"):
        return _is_below(Path(place), settled)
    port = place.rpartition(":")[2]
    return any(re.search(rf"\b{port}\b", value) for value in own)


def _written_words(written: Sequence[Path], relocation: Relocation) -> str:
    seen = f"The app writes to {few(written)}, which is not copied, and changes in a race"
    if relocation.place:
        return f"{seen}: its code knows this path from elsewhere. Lead it to another by a variable, [app] env."
    places = {path if _is_shared(path.parent) else path.parent for path in written}
    outermost = sorted(str(place) for place in places if places.isdisjoint(place.parents))
    return f"{seen}. To have it copied, write [app] protect = {json.dumps(outermost, ensure_ascii=False)}."


def _is_shared(folder: Path) -> bool:
    """Tell whether much else lies in ``folder``, as in /tmp, so that a file in it is named by itself."""
    if folder in (Path.home(), Path("/")):
        return True
    with suppress(OSError):
        return bool(folder.stat().st_mode & stat.S_ISVTX)
    return False


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) or path.is_relative_to(real_path(folder)) for folder in folders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """The app as it is raced, what it sees of the files, and what the user should know of it."""

    files: Protection
    """Where the app finds its files, and what of them may change."""
    view: View = field(default_factory=View)
    services: tuple[str, ...] = ()
    """The variables that lead to services of the race's own."""
    seen: Escapes = field(default_factory=Escapes)

    @classmethod
    def not_at_all(cls, app: App) -> Protected:
        """Leave the app with the files themselves."""
        return cls(files=Protection(app=app, is_whole=False, settled=(Path("/"),)))

    def ask(self, app: App, *requests: object, **options: object) -> Examination:
        """Examine ``app`` in this view; see ``examine``."""
        if app.entry.kind is EntryKind.FILES:
            app = replace(app, root=self.view.path(app.root))
        with self.naming_originals():
            examination = examine(app, *requests, begin=self.view.entering(app.root), **options)  # type: ignore[arg-type]
        if self.files.relocation.place:
            # what the app made now, it writes to when it is served
            hand_over_below(self.files.relocation.place)
        self.seen.note(examination)
        return examination

    def escapes(self, on_preparing: OnPreparing) -> tuple[str, ...]:
        """Return what the app did beside all protection, until now, one sentence each, and say it."""
        sentences = tuple(
            self.seen.notes(self.files.settled, self.files.relocation, self.files.servers, self.services)
        )
        _warn(sentences, on_preparing)
        return sentences

    def with_copies(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with the copies' folders of static files."""
        static = request.static and {
            url: self.files.relocation.path(folder) for url, folder in request.static.items()
        }
        return replace(request, static=static)

    @contextmanager
    def naming_originals(self) -> Iterator[None]:
        """Let errors of the app name the user's files, not their copies."""
        try:
            yield
        except AppError as error:
            message, detail = self.files.relocation.original((error.message, error.detail))
            raise AppError(message, detail=detail) from error


def protected(
    app: App, request: RaceRequest, guard: Guard, beside: Mapping[str, str], on_preparing: OnPreparing
) -> Protected:
    """Protect the data of a project; a bundled app writes to a folder of the race's own anyway."""
    if is_bundled(app):
        return Protected.not_at_all(app)
    temporary = guard.directory / "tmp"
    temporary.mkdir()
    # what it leaves there while it is prepared and examined goes with the race
    app = replace(app, environment={"TMPDIR": str(temporary), **app.environment})
    files = protect(app, request.folder, guard, beside, on_preparing, request.most_copied_bytes, _given(request))
    _warn(files.warnings, on_preparing)
    return Protected(files=files, view=guard.view, services=tuple(beside.values()))


def _warn(sentences: Iterable[str], on_preparing: OnPreparing) -> None:
    """Say what may change before a race changes it: its report comes too late."""
    for sentence in sentences:
        on_preparing(Preparing(step=Step.CHANGES, subject=sentence))


def _given(request: RaceRequest) -> tuple[Path, ...]:
    for path in request.protect:
        # what is not there now may be made by the app
        if not (is_folder(path) or is_file(path) or (is_folder(path.parent) and not is_present(path))):
            raise InputError(
                f"[app] protect: {path} is no file and no folder, and none can be made there; name what the app "
                "writes to"
            )
    return tuple(path.resolve() for path in request.protect)
