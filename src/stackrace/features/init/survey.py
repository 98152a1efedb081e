"""What a race file for a project could say: its app, asked for its pages by its own interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import App
from ...app.examination import Examination
from ...app.refusal import lacks_static_files, lacks_tables
from ...base.errors import InputError
from ...deploy.environments import Environments, cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing, Preparing, Step, unheard
from ...deploy.seeding import prepare
from ...race.preparation.app import asked_app, find_app
from ...race.preparation.contestants import CurrentStack, current_stack
from ...race.preparation.examination import furnished
from ...race.preparation.pages import AskedPages, Crawling, Page, asked_pages, raced
from ...race.preparation.protection import Protected, protected
from ...race.request.request import RaceRequest
from ...stacks.servers import catalogue

__all__ = ["ProjectSurvey", "survey_project"]

_MIGRATE = ("python", "manage.py", "migrate", "--no-input")
_COLLECT = ("python", "manage.py", "collectstatic", "--no-input")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSurvey:
    """An app and everything that its race file could say."""

    folder: Path
    """The project's."""
    app: App
    examination: Examination
    pages: tuple[Page, ...]
    named: tuple[str, ...] = ()
    """The pages that the user named."""
    notes: tuple[str, ...] = field(default=())
    """How the app and its interpreter were found, one sentence each."""
    current: CurrentStack | None = None
    """What the project runs today; None where its files do not say."""

    @property
    def raced(self) -> tuple[Page, ...]:
        """The pages that are raced, each once."""
        return raced(self.pages, self.named)


def survey_project(
    request: RaceRequest, on_preparing: OnPreparing = unheard, crawling: Crawling | None = None
) -> ProjectSurvey:
    """Find the app that ``request`` means and ask it for its pages, its data protected as in a race.

    Raises InputError where there is no app, AppError where it does not load.
    """
    found = asked_app(request)
    if found.entry is None and request.bundled is None:
        raise InputError(f"there is no app in {request.folder} to write a race file for; give --project, --wsgi, …")
    environments = Environments(cache_folder(), on_preparing, found.project)
    crawling = crawling or Crawling()
    with Guard() as guard:
        found_app = find_app(request, found, environments, guard.directory / "data", on_preparing)
        project = furnished(found_app.app, request, {})
        protection = protected(project, request, guard, {}, on_preparing)
        app = protection.files.app
        asked = asked_pages(protection, app, request, crawling, on_preparing)
        commands = _missing_preparation(asked, app, protection)
        if commands:
            app, project = (replace(each, prepare=commands) for each in (app, project))
            on_preparing(Preparing(step=Step.APP))
            with protection.naming_originals():
                prepare(app, guard)
            asked = asked_pages(protection, app, request, crawling, on_preparing)
    return ProjectSurvey(
        folder=request.folder,
        app=project,
        examination=protection.files.relocation.original(asked.examination),
        pages=protection.files.relocation.original(asked.pages),
        named=request.urls or (),
        current=current_stack(
            request, catalogue(), project.interfaces, entry=project.entry, interpreter=project.python
        ),
        notes=(
            *found_app.notes,
            *protection.files.notes,
            *protection.files.warnings,
            *protection.escapes(on_preparing),
        ),
    )


def _missing_preparation(asked: AskedPages, app: App, protection: Protected) -> tuple[tuple[str, ...], ...]:
    """Return the commands without which pages fail, where they write to copies only."""
    databases = asked.examination.survey.databases
    is_protected = protection.files.is_whole and all(each.engine == "sqlite3" for each in databases)
    if not is_protected or not (app.root / "manage.py").is_file():
        return ()
    replies = [exchange.first for exchange in asked.examination.exchanges]
    migrate = [_MIGRATE] if any(map(lacks_tables, replies)) else []
    return (*migrate, *([_COLLECT] if any(map(lacks_static_files, replies)) else []))
