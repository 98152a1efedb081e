"""Protection of the user's data in a race: the app writes to copies in the run directory."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ..app.app import App, EntryKind
from ..app.bundle import is_bundled
from ..app.data_paths import DataPaths, data_paths
from ..app.examination import Examination
from ..app.examine import examine, python_facts
from ..app.examiner.messages import PythonFacts
from ..base.errors import InputError, LaunchError, said_by
from ..base.files import MOST_COPIED_BYTES, is_folder, real_path
from ..base.numbers import duration
from ..base.process.landlock import restricts
from ..base.process.namespaces import MEMORY
from ..base.process.view import UNPROTECTED, ProtectedView, Relocation
from ..base.temporary import RUN
from ..base.text import few
from ..base.units import SIZE
from .environments import byte_code, writable_caches
from .escapes import Escapes
from .guard import Guard
from .preparing import OnPreparing, Preparing, Step
from .project_copy import ProjectCopy, Settled
from .project_data import databases_below, hand_over_below, linked_data
from .sqlite_files import bring_in, is_database, size_bytes
from .surroundings import SharedMemory, private_home, surroundings

_FILLED = {
    "postgresql": ("postgresql", "psql"),
    "mysql": ("mariadb", "mariadb -u root $MARIADB_DATABASE"),
}
"""Service, and the command that fills it, by kind of database server.

The service's variables tell the command where the service is.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """The app as it is raced, with its data protected, and notes for the user."""

    app: App
    """The app, with paths to the files that it may change."""
    notes: tuple[str, ...] = ()
    """Sentences about copied data."""
    warnings: tuple[str, ...] = ()
    """Sentences about data that the app may change."""
    is_whole: bool = True
    """True if everything that the app is known to write to is covered or copied."""
    settled: tuple[Path, ...] = ()
    """Files and folders that are covered, copied, or mentioned in the notes."""
    servers: frozenset[str] = frozenset()
    """Kinds of database servers that the settings name."""
    services: tuple[str, ...] = ()
    """Values of the variables that lead to the race's own services."""
    view: ProtectedView = UNPROTECTED
    """View of the files for the app."""
    effects: Escapes = field(default_factory=Escapes)
    """Effects of the app that examinations saw so far."""

    def ask(self, app: App, *requests: object, **options: object) -> Examination:
        """Examine ``app`` in this view; see ``examine``."""
        if app.entry.kind is EntryKind.FILES:
            app = replace(app, root=self.view.path(app.root))
        examination = examine(app, *requests, view=self.view, **options)  # type: ignore[arg-type]
        if root := self.view.relocation.root:
            # the served app may write to files that this examination created
            hand_over_below(root)
        self.effects.note(examination)
        return examination

    def escapes(self, on_preparing: OnPreparing) -> tuple[str, ...]:
        """Announce and return sentences about effects of the app outside all protection."""
        sentences = tuple(self.effects.notes(self.settled, self.view, self.servers, self.services))
        _warn(sentences, on_preparing)
        return sentences


_ALL_FILES = Path("/")


class ProtectedProject:
    """A project's folders, protected when ``view`` is first used, before any user program starts.

    If mount namespaces are allowed, overlays cover the folders of the app, of the project and of its checkout,
    the paths ``also``, which may not exist yet, and the targets of links: every path stays the same. Otherwise
    all of these are copied, at most ``most_bytes``; see ``project_copy``. ``view`` raises InputError if a copy is
    impossible, and nothing starts.
    """

    def __init__(
        self,
        root: Path,
        folder: Path,
        guard: Guard,
        on_preparing: OnPreparing,
        most_bytes: float = MOST_COPIED_BYTES,
        also: Sequence[Path] = (),
    ) -> None:
        self._root = root
        self._folder = folder
        self._guard = guard
        self._on_preparing = on_preparing
        self._most_bytes = most_bytes
        self._also = also
        self._folders = _outermost([root, folder, *_checkout(root)])
        self._refused = ""
        self._outside: dict[Path, str] = {}

    @property
    def directory(self) -> Path:
        """Private folder of the race; programs in the view see it, too."""
        return self._guard.directory

    @property
    def view(self) -> ProtectedView:
        """View of the files in which all user programs start."""
        copy = self._copy
        return self._guard.view if copy is None else copy.view

    @cached_property
    def _linked_data(self) -> tuple[Path, ...]:
        return linked_data(_outermost([self._root, self._folder, *self._also]))

    @cached_property
    def _copy(self) -> ProjectCopy | None:
        """Protect the folders now; return the copy if they cannot be covered."""
        # programs in the view can write to the cache only if it exists before
        byte_code()
        self._refused = _cover(self._folders, self._guard)
        if not self._refused:
            self._cover_more(surroundings(memory=True))
            open_ = tuple(each for each, why in self._outside.items() if why and each != MEMORY)
            if open_ and restricts():
                # these folders become read-only, as with a plain copy
                caches = (folder.resolve() for folder in writable_caches())
                writable = (*self._guard.view.writable, self.directory, *caches)
                redirected = private_home(self.directory / "home", Relocation())
                self._guard.view = replace(
                    self._guard.view, read_only=open_, writable=writable, redirected=redirected
                )
            self._cover_more([*self._linked_data, *self._also])
            return None
        memory = SharedMemory()
        self._guard.afterwards.callback(lambda: _warn(memory.left(), self._on_preparing))
        self._folders = _outermost([*self._folders, *self._also])
        return ProjectCopy(
            self._root, self._folders, self._also, self._guard.directory, self._most_bytes, self._on_preparing
        )

    @property
    def _all_covered(self) -> list[Path]:
        return [*self._folders, *(each for each, why in self._outside.items() if not why)]

    def _cover_more(self, paths: Iterable[Path]) -> None:
        """Cover the folders that contain ``paths``, as far as possible, and record the reasons for failures."""
        covered = self._all_covered
        # a folder itself; for a file or a missing path, the nearest folder above
        holders = (next(filter(is_folder, (path, *path.parents))) for path in paths)
        for each in _outermost(holders, but=covered):
            if each not in self._outside:
                self._outside[each] = _cover([each], self._guard)

    def app(self, app: App) -> App:
        """Return ``app`` as it is started in the view, with a temporary folder that is removed after the race."""
        app = self._with_temporary_folder(app)
        return app if self._copy is None else self._copy.app(app)

    def facts(self, app: App) -> PythonFacts | None:
        """Return the facts about Python and packages of ``app``; see ``python_facts``."""
        return python_facts(app, UNPROTECTED) if is_bundled(app) else python_facts(self.app(app), self.view)

    def _with_temporary_folder(self, app: App) -> App:
        temporary = self._guard.directory / "tmp"
        temporary.mkdir(exist_ok=True)
        return replace(app, environment={**byte_code(), "TMPDIR": str(temporary), **app.environment})

    def protect(self, app: App, leading: Mapping[str, str]) -> Protection:
        """Protect the data that the settings of ``app`` name, too, and return the app as it is raced.

        ``leading`` are the variables that lead to the race's own services. A bundled app writes only to a folder of
        the race. Raises InputError if there is no room for copies, or if a plain copy cannot protect all data.
        """
        if is_bundled(app):
            return Protection(app=app, is_whole=False, settled=(Path("/"),))
        if app.entry.kind is EntryKind.FILES and not app.prepare:
            return Protection(app=app, settled=(app.root,), services=tuple(leading.values()))
        app = self._with_temporary_folder(app)
        protection = self._covered(app, leading) if self._copy is None else self._copied(app, self._copy, leading)
        _warn(protection.warnings, self._on_preparing)
        self._guard.view = self.view
        return replace(protection, services=tuple(leading.values()), view=self.view)

    def _covered(self, app: App, leading: Mapping[str, str]) -> Protection:
        guard = self._guard
        places = data_paths(app, guard.view)
        own = [app.root, self._folder, *self._also, *self._linked_data]
        below = (path for folder in _outermost(own) for path in databases_below(folder))
        files = (path for path in (*below, *places.present_files, *own) if path.is_file())
        databases = sorted(set(map(real_path, files)))
        self._cover_more([*places.present_files, *places.present_folders, *databases])
        uncovered = {each: why for each, why in self._outside.items() if why and not guard.view.is_read_only(each)}
        known = dict.fromkeys([*databases, *places.folders, *self._linked_data])
        open_ = (path for path in known if any(map(real_path(path).is_relative_to, uncovered)))
        changing = [path for path in open_ if not any(map(real_path(path).is_relative_to, self._all_covered))]
        steady = [path for path in databases if path not in changing]
        notes, unsteady = _bring_in(steady, guard, self._on_preparing)
        return Protection(
            app=app,
            notes=notes,
            warnings=(
                *_unsteady_notes(unsteady),
                *_unprotected_notes(uncovered, changing),
                *_shared_notes(places, guard, leading),
            ),
            is_whole=not uncovered,
            settled=(guard.directory, *self._folders, *(set(self._outside) - {*guard.view.read_only, _ALL_FILES})),
            servers=places.kinds_of_servers,
        )

    def _copied(self, app: App, copy: ProjectCopy, leading: Mapping[str, str]) -> Protection:
        app, settled = copy.settle(app)
        notes = (
            f"The app ran in a copy of {', '.join(map(str, self._folders))} ({SIZE.format(copy.size_bytes)}), made "
            f"in {copy.took}, for a race cannot have its own view of the files here: {self._refused}.",
            *_written_notes(copy.copied.databases, copy.took),
        )
        return Protection(
            app=app,
            notes=notes,
            warnings=(
                *_unsteady_notes(copy.copied.unsteady),
                *_mixed_notes(copy.copied.mixed),
                *_uncovered_notes(settled, copy.view),
                *_shared_notes(settled.data, self._guard, leading),
            ),
            is_whole=not settled.uncovered,
            settled=(self._guard.directory, *settled.uncovered),
            servers=settled.data.kinds_of_servers,
        )


def _warn(sentences: Iterable[str], on_preparing: OnPreparing) -> None:
    """Announce possible changes before the race makes them: the report would come too late."""
    for sentence in sentences:
        on_preparing(Preparing(step=Step.CHANGES, subject=sentence))


def _cover(folders: Sequence[Path], guard: Guard) -> str:
    """Cover ``folders``; return the reason if that is impossible, else an empty string."""
    if _ALL_FILES in folders:
        # a running namespace would lose file systems of its own, such as /proc
        return "no view covers all files; name a folder below /, and make it first"
    try:
        if folders:
            guard.cover(folders, writable_caches())
    except LaunchError as error:
        return error.message
    return ""


def _outermost(paths: Iterable[Path], but: Sequence[Path] = ()) -> list[Path]:
    """Return ``paths`` with links resolved, without a path inside another one or inside one of ``but``."""
    resolved = sorted({real_path(path) for path in paths})
    kept: list[Path] = []
    for path in resolved:
        if not any(path.is_relative_to(other) for other in (*kept, *but)):
            kept.append(path)
    return kept


def _checkout(root: Path) -> list[Path]:
    """Return the Git checkout that contains ``root``, if any: settings often name a folder beside ``root``."""
    home = Path.home()
    for folder in (root, *root.parents):
        if folder == home or home.is_relative_to(folder):
            break
        if (folder / ".git").exists():
            return [folder]
    return []


def _bring_in(
    databases: Sequence[Path], guard: Guard, on_preparing: OnPreparing
) -> tuple[tuple[str, ...], list[Path]]:
    """Copy the databases; otherwise the kernel would copy them during a start, and while others write.

    Returns sentences about the copies, and the databases that are written to all the time and have no copy.
    """
    if not databases:
        return (), []
    sizes = {path: size_bytes(path) for path in databases}
    names, free = _sized(sizes), shutil.disk_usage(guard.directory).free
    if sum(sizes.values()) > free:
        raise InputError(
            f"there is no room for a copy of {names}: {SIZE.format(free)} are free in {guard.directory.parent}; "
            f"set {RUN} to a folder with more room"
        )
    on_preparing(Preparing(step=Step.DATABASE, subject=names))
    begun, unsteady = time.monotonic(), []
    for path in databases:
        try:
            if not bring_in(path, guard.view):
                unsteady.append(path)
        except (FileNotFoundError, PermissionError):
            # it is gone, or the app cannot read it either
            continue
        except OSError as error:
            raise InputError(f"{path} cannot be copied for the race: {said_by(error)}") from error
    took = duration(time.monotonic() - begun)
    return _written_notes({path: size for path, size in sizes.items() if path not in unsteady}, took), unsteady


def _unsteady_notes(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        what = (
            "there is no copy of it, and the app runs without it"
            if is_database(path)
            else "its copy may mix what it held before and after"
        )
        yield (
            f"Another program writes to {path} all the time: {what}. If the app needs it, stop that program while "
            "the race begins."
        )


def _mixed_notes(paths: Sequence[Path]) -> Iterator[str]:
    where = ", ".join(f"{folder}/" for folder in dict.fromkeys(path.parent for path in paths))
    if where:
        yield (
            f"Another program wrote to files in {where} while they were copied, also the second time: the copies "
            "may not fit together. If the app needs them, as a database, stop that program while the race begins."
        )


def _written_notes(sizes: Mapping[Path, int], took: str) -> tuple[str, ...]:
    words = f"The app wrote to a copy of {_sized(sizes)}, made in {took}; the project stays as it is."
    return (words,) if sizes else ()


def _sized(sizes: Mapping[Path, int]) -> str:
    return few([f"{path.name} ({SIZE.format(size)})" for path, size in sizes.items()])


def _unprotected_notes(uncovered: Mapping[Path, str], changing: Sequence[Path]) -> Iterator[str]:
    what = ", ".join(f"{path}/" if path.is_dir() else str(path) for path in changing) or "files"
    where, why = ", ".join(map(str, uncovered)), "; ".join(dict.fromkeys(uncovered.values()))
    if where:
        yield (
            f"The app writes to {where} itself ({what} may change), for a race cannot have its own view of the "
            f"files there: {why}. Race a copy of the project, or as a user who may make namespaces."
        )


def _uncovered_notes(settled: Settled, view: ProtectedView) -> Iterator[str]:
    if paths := settled.uncovered:
        what = "stays as it is" if all(map(view.is_read_only, paths)) else "may change"
        yield (
            f"The app writes to {', '.join(map(str, paths))}, which is not copied and {what}: it is too large for "
            "[app] copy_limit, or the settings do not spell the path. Lead the app elsewhere by a variable, [app] "
            "env."
        )
    if settled.named:
        what = "it cannot write there" if view.read_only else "what it writes there changes in a race"
        yield (
            f"The app knows {few(settled.named)} by its whole path, not its copy: {what}. Lead it to another by a "
            "variable, [app] env."
        )


def _shared_notes(places: DataPaths, guard: Guard, leading: Mapping[str, str]) -> Iterator[str]:
    own = str(guard.directory)
    for server in places.servers:
        address = f"@{server.host}:{server.port}/"
        led = server.key in leading or any(address in value for value in leading.values())
        if led or server.host.startswith(own):
            continue
        where = f"on {server.host}" if server.host else "of this machine"
        way_out = "give the race a database of its own"
        if server.kind in _FILLED:
            service, line = _FILLED[server.kind]
            way_out = (
                f'give the race one of its own: [app] services = ["{service}"], '
                f'prepare = [{{ run = "{line} < dump.sql", shell = true }}]'
            )
        yield (
            f"The race reads and writes the {server.kind} database {server.name or 'without a name'} {where} "
            f"({server.key}), which is not copied; {way_out}."
        )
