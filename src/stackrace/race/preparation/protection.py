"""The app with its data protected: what it writes goes to copies, and it is asked as it will be raced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import App, EntryKind
from ...app.bundle import is_bundled
from ...app.examination import Examination
from ...app.examine import examine
from ...base.errors import AppError, InputError
from ...base.files import is_file, is_folder, is_present
from ...deploy.guard import Guard, View
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...deploy.project_files import hand_over_below
from ...deploy.protection import Protection, protect
from ..request.request import RaceRequest
from .escapes import Escapes

__all__ = ["Protected", "protected"]


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
