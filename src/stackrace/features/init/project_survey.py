"""Survey of a project for its race file: its app, and the app's pages, found with its own interpreter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import App
from ...app.examination import Examination
from ...app.examiner.crawl import SLOW_S
from ...app.refusal import lacks_static_files, lacks_tables
from ...base.errors import InputError
from ...deploy.environments import Environments, cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing, Preparing, Step, ignore_step
from ...deploy.protection import Protection
from ...deploy.seeding import prepare
from ...race.preparation.app_examination import furnished
from ...race.preparation.chosen_app import asked_app, find_app, protected_project
from ...race.preparation.contestants import CurrentStack, current_stack
from ...race.preparation.pages import AskedPages, Crawling, Page, asked_pages, raced, welcome_note
from ...race.request.request import RaceRequest
from ...stacks.servers import catalogue

_MIGRATE = ("python", "manage.py", "migrate", "--no-input")
_COLLECT = ("python", "manage.py", "collectstatic", "--no-input")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSurvey:
    """An app and everything that its race file could say."""

    folder: Path
    """Folder of the project."""
    app: App
    examination: Examination
    pages: tuple[Page, ...]
    named: tuple[str, ...] = ()
    """The pages that the user named."""
    notes: tuple[str, ...] = field(default=())
    """Sentences about the way the app and its interpreter were found."""
    current: CurrentStack | None = None
    """Stack that the project runs today; None if its files do not name it."""

    @property
    def raced(self) -> tuple[Page, ...]:
        """The pages that are raced, each once."""
        return raced(self.pages, self.named)


def survey_project(
    request: RaceRequest, on_preparing: OnPreparing = ignore_step, crawling: Crawling | None = None
) -> ProjectSurvey:
    """Return the app that ``request`` means and its pages; the app's data are protected as in a race.

    Raises InputError if there is no app, AppError if it does not load.
    """
    found = asked_app(request)
    if found.entry is None and request.bundled is None:
        raise InputError(
            f"there is no app in {request.folder} to write a race file for; name it, as in: "
            "stackrace init --project FOLDER, or: stackrace init --wsgi shop:app"
        )
    environments = Environments(cache_folder(), on_preparing, found.project)
    crawling = crawling or Crawling()
    with Guard() as guard:
        folders = protected_project(request, found, guard, on_preparing)
        detected = find_app(request, found, environments, folders, guard.directory / "data", on_preparing)
        project = furnished(detected.app, request, {})
        protection = folders.protect(project, {})
        app = protection.app
        asked = asked_pages(protection, app, request, crawling, on_preparing)
        commands = _missing_preparation(asked, app, protection)
        if commands:
            app, project = (replace(each, prepare=commands) for each in (app, project))
            on_preparing(Preparing(step=Step.APP))
            with protection.view.naming_originals():
                prepare(app, guard)
            asked = asked_pages(protection, app, request, crawling, on_preparing)
    welcome = welcome_note(asked.examination)
    for sentence in welcome:
        on_preparing(Preparing(step=Step.CHOSEN, subject=sentence))
    return ProjectSurvey(
        folder=request.folder,
        app=project,
        examination=protection.view.relocation.original(asked.examination),
        pages=protection.view.relocation.original(asked.pages),
        named=request.urls or (),
        current=current_stack(
            request, catalogue(), project.interfaces, entry=project.entry, interpreter=project.python
        ),
        notes=(
            *detected.notes,
            *protection.notes,
            *protection.warnings,
            *protection.escapes(on_preparing),
            *welcome,
        ),
    )


def _missing_preparation(asked: AskedPages, app: App, protection: Protection) -> tuple[tuple[str, ...], ...]:
    databases = asked.examination.survey.databases
    is_protected = protection.is_whole and all(each.engine == "sqlite3" for each in databases)
    if not is_protected or not (app.root / "manage.py").is_file():
        return ()
    replies = [exchange.first for exchange in asked.examination.exchanges]
    migrate = [_MIGRATE] if any(map(lacks_tables, replies)) else []
    return (*migrate, *([_COLLECT] if any(map(lacks_static_files, replies)) else []))


_ENGINES = {"postgresql": "postgresql", "postgis": "postgresql", "mysql": "mariadb"}
_CACHES = {"redis": "redis", "memcached": "memcached"}
_PACKAGES = {
    "postgresql": ("psycopg", "psycopg2", "psycopg2-binary", "asyncpg"),
    "mariadb": ("mysqlclient", "pymysql", "aiomysql", "asyncmy"),
    "redis": ("redis", "aioredis"),
    "memcached": ("pymemcache", "python-memcached", "pylibmc"),
}


def suggestions(survey: ProjectSurvey) -> dict[str, str]:
    """Return the services that a race could start, with reasons: from Django's settings, or installed clients."""
    found: dict[str, str] = {}
    for service, reason in (
        _services_in_settings(survey) if survey.examination.django is not None else _services_of_packages(survey)
    ):
        found.setdefault(service, reason)
    return found


def _services_in_settings(survey: ProjectSurvey) -> Iterator[tuple[str, str]]:
    """Yield the services that the settings name, each with the reason in words."""
    listed = survey.examination.survey
    for database in listed.databases:
        if service := _ENGINES.get(database.engine):
            yield service, f"DATABASES has {database.engine}{f' at {database.address}' if database.address else ''}"
    for backend in listed.caches:
        for sign, service in _CACHES.items():
            if sign in backend.lower():
                yield service, f"CACHES has {backend}"


def _services_of_packages(survey: ProjectSurvey) -> Iterator[tuple[str, str]]:
    """Yield the services whose client packages are installed, each with the reason in words."""
    facts = survey.examination.python
    installed = {name.lower() for name in facts.distributions} if facts is not None else set()
    for service, packages in _PACKAGES.items():
        if clients := [name for name in packages if name in installed]:
            yield service, f"{clients[0]} is installed"


_LOGIN = re.compile(r"log-?in|sign-?in|[?&]next=", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Pages that are not raced for the same reason."""

    reason: str
    pages: tuple[Page, ...]

    @property
    def example(self) -> str:
        """The path of the first page, as it was requested."""
        return self.pages[0].via or self.pages[0].path

    @property
    def detail(self) -> str:
        """The app's message for the example; empty if the reason is enough."""
        page = self.pages[0]
        return page.problem.partition(": ")[2] if _is_telling(page.status or 0) else ""


def _is_telling(status: int) -> bool:
    """Return True if the cause of an answer can be corrected: a Host, a redirect to https, an exception."""
    return status == 400 or 300 <= status < 400 or status >= 500


def hidden(survey: ProjectSurvey, raced: Sequence[Page]) -> tuple[Hidden, ...]:
    """Return the pages of ``survey`` that are not ``raced``, by reason; pages that were requested come first."""
    paths = {page.path for page in raced}
    by_reason: dict[str, dict[str, Page]] = {}
    for page in sorted(survey.pages, key=lambda page: page.status is None):
        if page.path not in paths:
            by_reason.setdefault(_reason(page), {}).setdefault(page.via or page.path, page)
    return tuple(Hidden(reason=reason, pages=tuple(pages.values())) for reason, pages in by_reason.items())


def _reason(page: Page) -> str:
    if page.status is None:
        return page.problem
    if page.status in (401, 403) or (page.via and not page.is_main and _LOGIN.search(page.path)):
        return "wants a login"
    if page.problem:
        return page.problem if page.has_secret else f"answers {page.status}"
    if page.via and not page.is_main:
        return "redirects to another page"
    if page.is_main:
        return "is slow, so it wants a race of its own" if page.seconds > SLOW_S else "answers, too"
    return "is documentation, a file, an administration or an error (--url races it)"
