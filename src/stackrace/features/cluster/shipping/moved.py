"""A request as a host reads it, its files being elsewhere there; and what comes back, as the user knows it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ....app.app import App, EntryKind
from ....base.errors import StackraceError
from ....deploy.app_files import Relocation
from ....deploy.place import Launched, Retired
from ....measure.launch import Failure
from ....race.request.request import RaceRequest
from ....race.results.race import Race
from .texts import relocated

__all__ = ["Abroad", "in_texts", "moved_request"]


def in_texts(relocation: Relocation) -> Relocation:
    """Return the same for texts: /app may be a folder, but it may as well be the path of a page."""
    deep = {name: path for name, path in relocation.copied.items() if len(Path(name).parts) > 2}
    return replace(relocation, copied=deep)


def moved_request(request: RaceRequest, relocation: Relocation) -> RaceRequest:
    """Return ``request`` with its paths as ``relocation`` has them; ``source`` is for messages, and stays."""
    path, text = relocation.path, partial(relocated, in_texts(relocation))
    entry = request.entry
    if entry is not None and entry.kind is EntryKind.FILES and Path(entry.target).is_absolute():
        entry = replace(entry, target=str(path(Path(entry.target))))
    return replace(
        request,
        folder=path(request.folder),
        entry=entry,
        python=_program(request.python, relocation),
        ruby=_program(request.ruby, relocation),
        environment={name: text(value) for name, value in request.environment.items()},
        env_files=tuple(map(path, request.env_files)),
        static=request.static and {url: path(folder) for url, folder in request.static.items()},
        prepare=tuple(tuple(map(text, command)) for command in request.prepare),
        protect=tuple(map(path, request.protect)),
        current=path(request.current) if isinstance(request.current, Path) else request.current,
        servers=request.servers and path(request.servers),
        session=request.session and path(request.session),
        workloads=tuple(
            replace(workload, session=workload.session and path(workload.session)) for workload in request.workloads
        ),
    )


def _program(program: Path | None, relocation: Relocation) -> Path | None:
    """A bare name such as python3.12 is looked for on the host's own PATH; it may be a link, which it stays."""
    if program is None or not program.is_absolute():
        return program
    return relocation.path(program)


@dataclass(frozen=True, slots=True)
class Abroad:
    """Names the user's own paths in all that leaves this host; where nothing was sent they are the same."""

    relocation: Relocation = field(default_factory=Relocation)

    def app(self, app: App) -> App:
        """Return ``app`` as it is on the user's machine."""
        return self.relocation.original(app)

    def race(self, race: Race) -> Race:
        """Return ``race`` in the user's words."""
        original = self.relocation.original
        return replace(
            race,
            urls=original(race.urls),
            workloads=original(race.workloads),
            notes=original(race.notes),
            left_out=original(race.left_out),
            deployment=original(race.deployment),
        )

    def launched(self, launched: Launched) -> Launched:
        """Return what came of a launch in the user's words."""
        original = self.relocation.original
        return replace(launched, facts=original(launched.facts), failure=original(launched.failure))

    def failure(self, failure: Failure | None) -> Failure | None:
        """Return a failure in the user's words."""
        return self.relocation.original(failure)

    def retired(self, retired: Retired) -> Retired:
        """Return what came of a stop in the user's words."""
        return replace(retired, complaints=self.relocation.original(retired.complaints))

    def rename(self, error: StackraceError) -> None:
        """Let ``error`` name the user's files."""
        original = self.relocation.original
        error.message, error.detail = original((error.message, error.detail))
        error.args = original(error.args)
