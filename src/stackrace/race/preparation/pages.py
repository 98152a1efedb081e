"""The pages of an app, their answers, and the choice of pages to race if none is named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...app.app import App, EntryKind
from ...app.examination import Examination, Exchange
from ...app.examiner.crawl import MOST_RACED, SLOW_S, chosen, example_of, is_main, is_minor
from ...app.examiner.messages import CrawlOrder, Survey
from ...app.golden import golden
from ...base.errors import AppError
from ...base.numbers import about, things
from ...base.secrets import masked, register_secrets, sent
from ...deploy.preparing import OnPreparing, Preparing, Step
from ...deploy.protection import Protection
from ...measure.workload import Request
from ..request.request import RaceRequest

_MOST_ASKED = 20
"""The most pages to request of Rack apps and plain files, which cannot be crawled."""

_SITEMAP = "/sitemap.xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A path, and the result of requesting it."""

    path: str
    """The path that answers; after a redirect, the redirect's target."""
    status: int | None = None
    """HTTP status; None if the page was not requested."""
    seconds: float = 0.0
    """Time of an answer; the first answer does not count."""
    via: str = ""
    """Path that redirected to this page; empty if none did."""
    problem: str = ""
    """Reason why the page cannot be raced; empty if it can be raced."""
    has_secret: bool = False
    """True if the path holds a secret and the user did not name the path; no other problem of the page is then
    searched for."""
    is_main: bool = True
    """True for a page that visitors come for: neither an administration page nor a file for robots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawling:
    """Limits of a search for a project's pages."""

    time_s: float = 25.0
    """Seconds for requesting pages, after the app is loaded."""
    loading_s: float = 120.0
    """Seconds for loading the app and for the answer to its home page."""
    sitemap: str = ""
    """Path of a sitemap that robots.txt does not name."""
    enough: int | None = None
    """Number of raceable pages that end the search; None: all pages are requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPages:
    """The app's answers, and the pages that were found in them."""

    examination: Examination
    pages: tuple[Page, ...]
    """The home page, then the pages that the user named, then all others."""


def raced(pages: Sequence[Page], named: Sequence[str] = (), most: int = MOST_RACED) -> tuple[Page, ...]:
    """Return the pages to race: all ``named`` pages, then main pages up to ``most`` in all.

    A slow page would hide the differences between servers on other pages. Unless it was named, a page is left out
    if it is slow, and slower than the first page, or if another page redirects to it. Minor pages are last.
    """
    able = [page for page in pages if not page.problem and page.is_main]
    landed = {page.path.partition("?")[0] for page in able if page.via}
    able = [page for page in able if page.via or page.path in named or page.path not in landed]
    once = tuple(reversed({page.path: page for page in reversed(able)}.values()))
    limit_s = max([SLOW_S, *(page.seconds for page in once[:1])])
    wanted = [page for page in once if page.path in named or page.via in named]
    others = [page for page in once if page not in wanted and page.seconds <= limit_s]
    others.sort(key=lambda page: is_minor(page.path))
    kept = [*wanted, *others[: max(most - len(wanted), 0)]]
    return tuple(page for page in once if page in kept)


def asked_pages(
    protection: Protection, app: App, request: RaceRequest, crawling: Crawling, on_preparing: OnPreparing
) -> AskedPages:
    """Request the home page, the user's pages, and all pages that the app and its sitemaps name; return the
    answers."""
    on_preparing(Preparing(step=Step.PAGES, subject=f"{app.name} for its pages"))

    def so_far(done: int, pages: int, left_s: float) -> None:
        subject = f"{app.name} for its pages: {done} of {pages}, about {about(left_s)} left"
        on_preparing(Preparing(step=Step.PAGES, subject=subject))

    if app.entry.kind in (EntryKind.FILES, EntryKind.RACK):
        examination = _asked_in_two_steps(protection, app, request, crawling)
    else:
        crawl: CrawlOrder = {
            "given": list(request.urls or ()),
            "headers": [[*pair] for pair in request.headers],
            "sitemap": crawling.sitemap,
            "time_s": crawling.time_s,
            "enough": crawling.enough,
        }
        examination = protection.ask(
            app,
            (Request(path="/", headers=request.headers),),
            host=request.host or "",
            survey=True,
            timeout_s=crawling.loading_s,
            crawl=crawl,
            on_progress=so_far,
        )
    survey = examination.survey
    register_secrets(
        sent((*survey.asked, *survey.unasked, *(each.request.path for each in examination.exchanges)), ())
    )
    answered = [_page(exchange, examination, request.urls or ()) for exchange in examination.exchanges]
    waiting = survey.asked[len(answered) :]
    reasons = dict.fromkeys(waiting, f"not asked for: {_NO_TIME}")
    if examination.cut and waiting:
        reasons[waiting[0]] = examination.cut
    reasons.update((path, f"not asked for: {reason}") for path, reason in survey.unasked.items())
    if survey.routes:
        example = example_of(survey.routes[0])
        reasons.update(dict.fromkeys(survey.routes, f"its path has parameters: name one, as in --url {example}"))
    left = (Page(path=path, problem=reason, is_main=False) for path, reason in reasons.items())
    return AskedPages(examination=examination, pages=(*answered, *left))


def routes_note(routes: Sequence[str]) -> tuple[str, ...]:
    """Return the sentence about routes with parameters, of which no page is known; none without such routes."""
    if not routes:
        return ()
    such = ", such as" if len(routes) > 1 else ","
    return (
        f"Not raced: {things(len(routes), 'route')} with parameters{such} {routes[0]}; name a page of one, as in "
        f"--url {example_of(routes[0])}.",
    )


_WELCOME = re.compile(rb"docs\.djangoproject\.com/en/[\w.]+/ref/settings/#debug")
"""Link in Django's welcome page, whose texts are translated."""


def welcome_note(examination: Examination) -> tuple[str, ...]:
    """Return the sentence about Django's welcome page, which debug mode shows in a project without pages."""
    if examination.django is not None:
        for exchange in examination.exchanges:
            if exchange.first.status == 200 and _WELCOME.search(exchange.first.body):
                path = exchange.request.path
                return (
                    f"{path} is Django's own welcome page, as the project has no page there: write one, or name "
                    "one with --url.",
                )
    return ()


_NO_TIME = "the time was over (--time)"


def _asked_in_two_steps(protection: Protection, app: App, request: RaceRequest, crawling: Crawling) -> Examination:
    """Request the pages of an app that is loaded for each batch: first the pages that name others, then the named
    pages."""
    more: dict[str, object] = {} if app.entry.kind is EntryKind.FILES else {"follow": True}

    def ask(*paths: str) -> Examination:
        requests = [Request(path=path, headers=request.headers) for path in paths]
        return protection.ask(app, requests, host=request.host or "", **more)

    named = ("/", "/robots.txt", crawling.sitemap or _SITEMAP)
    first = ask(*named)
    known = {path: exchange.first for path, exchange in zip(named, first.exchanges, strict=True)}

    def fetch(path: str) -> tuple[int, bytes]:
        return (known[path].status, known[path].body) if path in known else (404, b"")

    named_ones = ("/", *(request.urls or ()))
    survey = chosen(Survey(pages=first.files), named_ones, known["/"], fetch, crawling.sitemap)
    try:
        return replace(ask(*survey.asked[:_MOST_ASKED]), survey=survey)
    except AppError as error:
        return replace(first, exchanges=first.exchanges[:1], cut=error.message, survey=survey)


def _page(exchange: Exchange, examination: Examination, named: Sequence[str]) -> Page:
    path, has_secret = exchange.request.path, holds_secret(exchange, named)
    return Page(
        path=path,
        status=exchange.first.status,
        seconds=exchange.page.wall_s,
        via=exchange.via,
        problem="its path holds a secret" if has_secret else problem_of(exchange, examination),
        has_secret=has_secret,
        is_main=is_main(path, exchange.via),
    )


def holds_secret(exchange: Exchange, named: Sequence[str] = ()) -> bool:
    """Return True if a path holds a secret and was not ``named`` by the user."""
    paths = {exchange.request.path, exchange.via}
    return paths.isdisjoint(named) and any(masked(path) != path for path in paths)


def problem_of(exchange: Exchange, examination: Examination) -> str:
    """Return the reason why an answer cannot be raced; empty if it can be raced."""
    try:
        golden(replace(examination, exchanges=(exchange,)))
    except AppError as error:
        status = exchange.first.status
        return "answers 404" if status == 404 else error.message.splitlines()[0]
    return ""
