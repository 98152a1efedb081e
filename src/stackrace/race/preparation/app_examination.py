"""The examination: the app is prepared, and its own interpreter asks it for golden answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from ...app.app import App, EntryKind
from ...app.environment import read_env_files
from ...app.examination import Examination, Exchange
from ...app.examiner.crawl import MOST_RACED
from ...app.examiner.messages import DjangoFacts, PythonFacts, Reply, ThreadPool
from ...base.errors import AppError, InputError
from ...base.http_syntax import by_prefix
from ...base.text import few
from ...deploy.environments import Environments, byte_code
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...deploy.protection import ProtectedProject, Protection
from ...measure.workload import PageTime, Request, Workload
from ...stacks.setting import Interface
from ..request.request import RaceRequest
from .chosen_app import AskedApp, find_app
from .pages import Crawling, Page, asked_pages, holds_secret, problem_of, raced, routes_note, welcome_note
from .sessions import with_bundled_sessions
from .stored_pages import StoredPages, stored_pages
from .workloads import urls_of, workloads_of

_CRAWL_S = 10.0
"""The most seconds for finding pages; few apps need more than one second for enough pages."""
_LOADING_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedApp:
    """An app that can be launched, with the workloads for it."""

    app: App
    project: App
    """The app with the user's own files, even if it is launched from a copy of them."""
    interpreter: PythonFacts | None
    """Facts about the app's Python; None for an app without Python."""
    workloads: tuple[Workload, ...]
    debug: bool
    """True if the app is in debug mode."""
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""
    django: DjangoFacts | None = None
    """Django settings; None for other apps."""
    ask_again: Callable[[Sequence[Request]], Sequence[Exchange]] | None = None
    """Function that asks the app itself again, many times, when a stack seems to give a wrong answer."""
    rarely: tuple[str, ...] = ()
    """Pages, as ``GET /path``, that gave a few different answers among many equal ones."""
    needs_lifespan: Callable[[], str] = str
    """Function that asks the app once more and says how it fails without lifespan events, which some ASGI servers
    do not send; empty if it answers."""
    took_s: float = 0.0
    """Seconds that the examination took; every answer is requested several times in it."""
    pool: ThreadPool | None = None
    """The framework's own thread pool that the pages run in; None if they run in none."""
    loading: PageTime = field(default_factory=PageTime)
    """Time that a process takes to load the app and to give each first answer."""

    @property
    def interfaces(self) -> frozenset[Interface]:
        """Interfaces that the app offers with the packages of its environment."""
        has_asgi = self.django is None or self.django.has_asgi
        return self.app.interfaces if has_asgi else self.app.interfaces - {Interface.ASGI}


def examined_app(
    request: RaceRequest,
    asked: AskedApp,
    environments: Environments,
    project: ProtectedProject,
    data: Path,
    service_variables: Mapping[str, str],
    on_preparing: OnPreparing,
    preparing: Callable[[App], None],
    most_pages: int = MOST_RACED,
) -> ExaminedApp:
    """Find the ``asked`` app, prepare it, let its own interpreter examine it, and get its golden answers.

    Everything runs in the view of ``project``. ``data`` is a private folder for a bundled app's files,
    ``service_variables`` are the variables by which the app finds its services, which ``preparing`` starts.
    ``most_pages`` is the number of pages to race if none is named. Raises AppError or InputError naming the way
    out.
    """
    request = with_bundled_sessions(request)
    detected = find_app(request, asked, environments, project, data, on_preparing)
    original = furnished(detected.app, request, service_variables)
    protection = project.protect(original, service_variables)
    app, copies = protection.app, protection.view.relocation
    static = request.static and {url: copies.path(folder) for url, folder in request.static.items()}
    request = replace(request, static=static)
    with protection.view.naming_originals():
        preparing(app)
        _require_folders(request.static or {}, protection)
    named = urls_of(request, detected.urls)
    kept = stored_pages(original, request, most_pages)
    choice = _Choice(named) if named else _choice(app, request, protection, most_pages, kept, on_preparing)
    on_preparing(Preparing(step=Step.ANSWERS, subject=app.name))

    def ask() -> Examination:
        requests = tuple(Request(path=path, headers=request.headers) for path in choice.paths)
        follow = not named and app.entry.kind is not EntryKind.FILES
        return protection.ask(app, requests, host=request.host or "", follow=follow)

    chosen: tuple[str, ...] = ()
    begun = time.monotonic()
    examination = ask()
    if choice.from_last_race and (lost := _lost_page_note(examination)):
        choice = _main_pages(app, request, protection, most_pages, on_preparing)
        chosen = (f"{lost}; pages are chosen anew.",)
        begun = time.monotonic()
        examination = ask()
    took_s = time.monotonic() - begun
    if not named:
        examination = _able(examination)
        chosen = (*chosen, *_pages_note(examination, choice), *_secret_pages_note(choice.secret))
    chosen = (*chosen, *welcome_note(examination))
    for sentence in (*chosen, *routes_note(choice.routes), *examination.warnings):
        on_preparing(Preparing(step=Step.CHOSEN, subject=sentence))
    static = _static(request, app, examination)
    app = replace(app, static=static)
    seen = {url: protection.view.path(folder) for url, folder in static.items()}
    workloads, notes = workloads_of(request, app, replace(examination, static=seen), protection.ask)
    if not named:
        kept.write([_asked_path(exchange) for exchange in examination.exchanges])
    return ExaminedApp(
        app=app,
        project=original,
        interpreter=examination.python,
        workloads=workloads,
        debug=examination.debug,
        notes=(
            *detected.notes,
            *protection.notes,
            *protection.warnings,
            *protection.escapes(on_preparing),
            *chosen,
            *notes,
            *examination.notes,
        ),
        django=examination.django,
        ask_again=lambda requests: protection.ask(app, requests, host=examination.host, in_doubt=True).exchanges,
        rarely=tuple(f"{each.request.method} {each.request.path}" for each in examination.exchanges if each.rarely),
        needs_lifespan=cache(lambda: _failing_unstarted(app, examination, protection)),
        took_s=took_s,
        pool=examination.pool,
        loading=examination.loading,
    )


def _failing_unstarted(app: App, examination: Examination, protection: Protection) -> str:
    """Return how an app with a lifespan fails without startup events; empty if it answers as with them."""
    if not examination.lifespan:
        return ""
    requests = [exchange.request for exchange in examination.exchanges]
    try:
        unstarted = protection.ask(app, requests, host=examination.host, lifespan=False)
    except AppError:
        return "it does not answer"
    for before, after in zip(examination.exchanges, unstarted.exchanges, strict=True):
        if before.first.status < 400 <= after.first.status:
            return f"{after.request.path} answers {after.first.status}"
    return ""


def _require_folders(static: Mapping[str, Path], protection: Protection) -> None:
    """Raise AppError for a folder of static files that does not exist, even after the app was prepared."""
    for prefix, folder in static.items():
        place = protection.view.path(folder)
        if place.is_file():
            raise AppError(
                f"[app] static: {folder} for {prefix} is a file, not a folder; name the folder of the static "
                f'files, as in static = {{ "{prefix}" = "staticfiles" }}'
            )
        if not place.is_dir():
            raise AppError(
                f"[app] static: there is no folder {folder} for {prefix}; correct its path, or have it made: "
                '[app] prepare = ["python manage.py collectstatic --no-input"]'
            )


def _static(request: RaceRequest, app: App, examination: Examination) -> Mapping[str, Path]:
    """Return the folders of static files by their prefixes: the requested ones, else the app's own."""
    if request.static is not None:
        key, static = "[app] static", request.static
    else:
        key, static = "STATIC_URL", {**examination.static, **app.static}
    try:
        return by_prefix(static)
    except InputError as error:
        way_out = "; or write [app] static = {}, and the app itself sends these files"
        raise InputError(f"{key}: {error.message}{way_out}") from error


def furnished(app: App, request: RaceRequest, service_variables: Mapping[str, str]) -> App:
    """Return the app with its environment variables and the commands that prepare it."""
    return replace(
        app,
        environment={
            **byte_code(),
            **app.environment,
            **read_env_files(request.env_files),
            **service_variables,
            **request.environment,
        },
        prepare=app.prepare + request.prepare,
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    """Pages to race, named or chosen."""

    paths: tuple[str, ...]
    home: Reply | None = None
    """The app's answer to "/"; None if it was not requested."""
    secret: tuple[Page, ...] = ()
    """Pages that are left out only because of a secret in their paths."""
    from_last_race: bool = False
    """True if the pages are those of the project's last race."""
    others: tuple[str, ...] = ()
    """Paths that answer and are left out, because visitors do not come for them."""
    routes: tuple[str, ...] = ()
    """Routes with parameters of which no page was found."""


def _choice(
    app: App,
    request: RaceRequest,
    protection: Protection,
    most: int,
    stored: StoredPages,
    on_preparing: OnPreparing,
) -> _Choice:
    """Return the pages of the project's last race, or if there are none, ``most`` new ones."""
    paths = () if request.new_pages else stored.read()
    return (
        _Choice(paths, from_last_race=True) if paths else _main_pages(app, request, protection, most, on_preparing)
    )


def _main_pages(
    app: App, request: RaceRequest, protection: Protection, most: int, on_preparing: OnPreparing
) -> _Choice:
    """Return the default pages, ``most`` of them.

    If "/" fails or no page answers, return the one page to repair: the message about it names the way out.
    """
    crawling = Crawling(time_s=_CRAWL_S, loading_s=_LOADING_S, enough=most)
    asked = asked_pages(protection, app, request, crawling, on_preparing)
    home = asked.examination.exchanges[0].first
    chosen = raced(asked.pages, most=most)
    secret = tuple(page for page in asked.pages if page.has_secret)
    routes = asked.examination.survey.routes
    if chosen and home.status < 500 and home.status not in _FAULTS:
        others = tuple(page.path for page in asked.pages if page.status == 200 and not (page.is_main or page.via))
        paths = tuple(page.via or page.path for page in chosen)
        return _Choice(paths, home, secret, others=others, routes=routes)
    broken = [page.path for page in asked.pages if (page.status or 0) >= 500]
    closed = [page.path for page in asked.pages if page.status in (401, 403)]
    if secret and not chosen and home.status in (200, 404):
        raise AppError(*_secret_pages_note(secret))
    return _Choice(((*broken, *closed)[:1] if home.status == 404 else ()) or ("/",), home, secret, routes=routes)


def _lost_page_note(examination: Examination) -> str:
    """Return a sentence about the first page of the last race that can no longer be raced; empty if all can be
    raced."""
    for exchange in examination.exchanges:
        problem = "has a secret in its path" if holds_secret(exchange) else problem_of(exchange, examination)
        if problem:
            path = _asked_path(exchange)
            return f"{path} of the last race cannot be raced any more ({problem.removeprefix(path).strip()})"
    return ""


def _asked_path(exchange: Exchange) -> str:
    return exchange.via or exchange.request.path


def _secret_pages_note(pages: Sequence[Page]) -> tuple[str, ...]:
    paths = few([page.via or page.path for page in pages])
    return (f"Not raced, as a secret is in the path: {paths}; name what is to be with --url.",) if pages else ()


_FAULTS = (301, 302, 303, 307, 308, 400)
"""Statuses of "/" that the user has to repair: a redirect that leads elsewhere, a wrong Host."""


def _able(examination: Examination) -> Examination:
    """Return the examination without failing pages: nobody named them, so they are no reason to refuse the race."""
    exchanges = examination.exchanges
    able = tuple(each for each in exchanges if not (holds_secret(each) or problem_of(each, examination)))
    return replace(examination, exchanges=able or exchanges)


def _pages_note(examination: Examination, choice: _Choice) -> tuple[str, ...]:
    """Return the sentence that names the default pages; none for "/" alone, if no other was in question."""
    paths = [_asked_path(exchange) for exchange in examination.exchanges]
    if len(paths) == 1 and problem_of(examination.exchanges[0], examination):
        # what is said of the problem follows
        return ()
    if paths == ["/"] and not choice.from_last_race:
        left = few(choice.others)
        return (f"Only / is raced; left out as no pages for visitors: {left}; choose with --url.",) if left else ()
    why = f"/ answers {choice.home.status}, so " if choice.home and not choice.home.succeeded else ""
    again = ", as in the last race" if choice.from_last_race else ""
    ways = "choose with --url, or anew with --new-pages" if choice.from_last_race else "choose with --url"
    if len(paths) == 1:
        return (f"{why}{paths[0]} is raced{again}; {ways}.",)
    return (f"{why}{len(paths)} pages are raced in turn{again}: {', '.join(paths)}; {ways}.",)
