"""What a race file for a project could say: its app, asked for its pages by its own interpreter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..apps import Examination, Exchange, detect
from ..apps.crawl import Crawl, Progress
from ..apps.examiner.choice import Choice, choose, links
from ..apps.examiner.sitemaps import located
from ..apps.golden import golden
from ..apps.refusal import lacks_static_files, lacks_tables
from ..deploy.environments import Environments, cache_folder
from ..deploy.guard import Guard
from ..deploy.hosting import prepare
from ..model.app import App, EntryKind
from ..model.errors import AppError, InputError
from ..model.numbers import about
from ..model.preparing import OnPreparing, Preparing, Step, unheard
from ..model.workload import Request
from ..servers import catalogue
from ..spec.request import RaceRequest
from .current import CurrentStack, current_stack
from .examined import furnished
from .finding import find_app, project_run
from .protected import Protected, protected

__all__ = ["TIME_S", "Crawling", "Page", "ProjectSurvey", "survey_project"]

TIME_S = 25.0
"""Spent on asking for pages, from the moment at which the app is loaded."""
LOADING_S = 120.0
MOST_ASKED = 20
"""Pages that Rack apps and plain files, which cannot be asked one by one, are asked for."""

_SITEMAP = "/sitemap.xml"
_MIGRATE = ("python", "manage.py", "migrate", "--no-input")
_COLLECT = ("python", "manage.py", "collectstatic", "--no-input")
_NO_PAGE = re.compile(
    r"^/(__debug__|admin|django-admin|docs|openapi\.json|redoc|schema|static|media|robots\.txt|favicon\.ico|sitemap\.xml)(/|$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A path, and what came of asking for it."""

    path: str
    """The one that answers: the target of a redirect."""
    status: int | None = None
    """None where it was not asked for."""
    seconds: float = 0.0
    """What an answer takes, the first not counted."""
    via: str = ""
    """The path that redirected to it."""
    problem: str = ""
    """Why it cannot be raced; empty where it can."""
    is_main: bool = True
    """Whether it is what visitors come for: neither an administration nor a file for robots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSurvey:
    """An app and everything that its race file could say."""

    folder: Path
    """The project's."""
    app: App
    examination: Examination
    pages: tuple[Page, ...]
    time_s: float = TIME_S
    """What was spent on asking for pages at the most."""
    notes: tuple[str, ...] = field(default=())
    """How the app and its interpreter were found, one sentence each."""
    current: CurrentStack | None = None
    """What the project runs today; None where its files do not say."""

    @property
    def raced(self) -> tuple[Page, ...]:
        """The pages that can be raced, each once."""
        pages = {page.path: page for page in reversed(self.pages) if not page.problem and page.is_main}
        return tuple(reversed(pages.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawling:
    """How the pages of a project are looked for."""

    time_s: float = TIME_S
    sitemap: str = ""
    """The path of a sitemap that robots.txt does not name."""


def survey_project(
    request: RaceRequest, on_preparing: OnPreparing = unheard, crawling: Crawling | None = None
) -> ProjectSurvey:
    """Find the app that ``request`` means and ask it for its pages, its data protected as in a race.

    Raises InputError where there is no app, AppError where it does not load.
    """
    if request.entry is None and request.bundled is None and detect(request.folder) is None:
        raise InputError(f"there is no app in {request.folder} to write a race file for; give --project, --wsgi, …")
    environments = Environments(cache_folder(), on_preparing, project_run(request))
    crawling = crawling or Crawling()
    with Guard() as guard:
        found_app = find_app(request, environments, guard.directory / "data", on_preparing)
        project = furnished(found_app.app, request, {})
        protection = protected(project, request, guard, {}, on_preparing)
        app = protection.app
        asked = _all_asked(protection, app, request, crawling, on_preparing)
        commands = _missing_preparation(asked, app, protection)
        if commands:
            app, project = (replace(each, prepare=commands) for each in (app, project))
            on_preparing(Preparing(step=Step.APP))
            with protection.naming_originals():
                prepare(app, guard)
            asked = _all_asked(protection, app, request, crawling, on_preparing)
    return ProjectSurvey(
        folder=request.folder,
        app=project,
        examination=protection.relocation.original(asked.examination),
        pages=protection.relocation.original(asked.pages),
        time_s=crawling.time_s,
        current=current_stack(request, catalogue(), project.interfaces, entry=project.entry),
        notes=(
            *found_app.notes,
            *protection.notes,
            *protection.warnings,
            *protection.escapes(on_preparing),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the app answered."""

    examination: Examination
    pages: tuple[Page, ...]


def _all_asked(
    protection: Protected, app: App, request: RaceRequest, crawling: Crawling, on_preparing: OnPreparing
) -> _Asked:
    """Ask for the home page, the user's, and all the pages that the app and its sitemaps name."""
    on_preparing(Preparing(step=Step.ANSWERS, subject=app.name))
    if app.entry.kind in (EntryKind.FILES, EntryKind.RACK):
        examination, choice = _asked_in_two_steps(protection, app, request, crawling)
    else:
        crawl = Crawl(
            time_s=crawling.time_s,
            given=request.urls or (),
            sitemap=crawling.sitemap,
            on_progress=lambda progress: on_preparing(Preparing(step=Step.PAGES, subject=_so_far(app, progress))),
        )
        home = Request(path="/", headers=request.headers)
        host = request.host or ""
        examination = protection.ask(app, (home,), host=host, survey=True, crawl=crawl, timeout_s=LOADING_S)
        choice = Choice(list(examination.survey.asked), dict(examination.survey.unasked))
    answered = [_page(exchange, examination) for exchange in examination.exchanges]
    waiting = choice.asked[len(answered) :]
    reasons = dict.fromkeys(waiting, f"not asked for: {_NO_TIME}")
    if examination.cut and waiting:
        reasons[waiting[0]] = examination.cut
    reasons.update((path, f"not asked for: {reason}") for path, reason in choice.unasked.items())
    left = (Page(path=path, problem=reason, is_main=False) for path, reason in reasons.items())
    return _Asked(examination=examination, pages=(*answered, *left))


_NO_TIME = "the time was over (--time)"


def _so_far(app: App, progress: Progress) -> str:
    return f"{app.name} for its pages: {progress.done} of {progress.pages}, about {about(progress.left_s)} left"


def _asked_in_two_steps(
    protection: Protected, app: App, request: RaceRequest, crawling: Crawling
) -> tuple[Examination, Choice]:
    """Ask an app that is loaded for each asking: for what names pages first, then for these."""
    more: dict[str, object] = {} if app.entry.kind is EntryKind.FILES else {"follow": True}

    def ask(*paths: str) -> Examination:
        requests = [Request(path=path, headers=request.headers) for path in paths]
        return protection.ask(app, requests, host=request.host or "", **more)

    named = ("/", "/robots.txt", crawling.sitemap or _SITEMAP)
    first = ask(*named)
    known = {path: exchange.first for path, exchange in zip(named, first.exchanges, strict=True)}

    def fetch(path: str) -> tuple[int, bytes]:
        return (known[path].status, known[path].body) if path in known else (404, b"")

    linked = links(known["/"].body) if known["/"].status == 200 else []
    choice = choose(("/", *(request.urls or ())), located(fetch, crawling.sitemap), first.files, linked)
    try:
        return ask(*choice.asked[:MOST_ASKED]), choice
    except AppError as error:
        return replace(first, exchanges=first.exchanges[:1], cut=error.message), choice


def _missing_preparation(asked: _Asked, app: App, protection: Protected) -> tuple[tuple[str, ...], ...]:
    """Return the commands without which pages fail, where they write to copies only."""
    databases = asked.examination.survey.databases
    is_protected = protection.is_whole and all(each.engine == "sqlite3" for each in databases)
    if not is_protected or not (app.root / "manage.py").is_file():
        return ()
    replies = [exchange.first for exchange in asked.examination.exchanges]
    migrate = [_MIGRATE] if any(map(lacks_tables, replies)) else []
    return (*migrate, *([_COLLECT] if any(map(lacks_static_files, replies)) else []))


def _page(exchange: Exchange, examination: Examination) -> Page:
    path = exchange.request.path
    return Page(
        path=path,
        status=exchange.first.status,
        seconds=exchange.page.wall_s,
        via=exchange.via,
        problem=_problem(exchange, examination),
        is_main=not _NO_PAGE.match(path) and _is_same_page(exchange.via, path),
    )


def _problem(exchange: Exchange, examination: Examination) -> str:
    try:
        golden(replace(examination, exchanges=(exchange,)))
    except AppError as error:
        status = exchange.first.status
        return "answers 404" if status == 404 else error.message.splitlines()[0]
    return ""


def _is_same_page(via: str, path: str) -> bool:
    """A redirect to a page for a login is none of the page that was asked for."""
    return not via or via == "/" or via.rstrip("/") == path.rstrip("/")
