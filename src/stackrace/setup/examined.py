"""The app, prepared and asked by its own interpreter for its golden answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..apps import DjangoFacts, Examination, Exchange, PythonFacts, read_env_files
from ..deploy.environments import Environments, byte_code
from ..model.app import App
from ..model.errors import AppError, InputError
from ..model.page_time import PageTime
from ..model.preparing import OnPreparing, Preparing, Step
from ..model.url_prefix import by_prefix
from ..model.workload import Request, Workload
from ..spec.request import RaceRequest
from .finding import find_app
from .protected import Protected
from .sessions import Ask, with_bundled_sessions
from .workloads import urls_of, workloads_of

__all__ = ["ExaminedApp", "examined_app", "furnished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedApp:
    """An app that can be launched, and what it is asked for."""

    app: App
    project: App
    """The app with the user's own files, also where it is launched from a copy of them."""
    interpreter: PythonFacts | None
    """None for an app without Python."""
    workloads: tuple[Workload, ...]
    debug: bool
    """Whether it is in its debug mode."""
    notes: tuple[str, ...]
    """Worth telling the user, one sentence each."""
    django: DjangoFacts | None = None
    """What its settings say; None for an app that is none of Django's."""
    ask_again: Callable[[Sequence[Request]], Sequence[Exchange]] | None = None
    """Asks the app itself again, many times, when a stack is accused of a wrong answer."""
    took_s: float = 0.0
    """How long its examination took, in an interpreter of its own: every answer is asked for several times."""
    loading: PageTime = field(default_factory=PageTime)
    """What a process takes to load it and to give each first answer."""


def examined_app(
    request: RaceRequest,
    environments: Environments,
    data: Path,
    beside: Mapping[str, str],
    on_preparing: OnPreparing,
    preparing: Callable[[App], None],
    protecting: Callable[[App], Protected] = Protected.not_at_all,
) -> ExaminedApp:
    """Find the app, prepare it, have it examined by its own interpreter, and ask it for its golden answers.

    ``data`` is a private folder for a bundled app's files, ``beside`` the variables that lead to the app's
    services, which ``preparing`` starts; ``protecting`` comes before anything of the app runs. Raises AppError or
    InputError naming the way out.
    """
    request = with_bundled_sessions(request)
    found_app = find_app(request, environments, data, on_preparing)
    app = furnished(found_app.app, request, beside)
    project = app
    protected = protecting(project)
    app, request = protected.app, protected.moved(request)
    with protected.naming_originals():
        preparing(app)
        _require_folders(request.static or {}, protected)
    on_preparing(Preparing(step=Step.ANSWERS, subject=app.name))
    urls = urls_of(request, found_app.urls)
    begun = time.monotonic()
    examination = _examination(app, request, urls, protected.ask)
    took_s = time.monotonic() - begun
    static = _static(request, app, examination)
    app = replace(app, static=static)
    seen = {url: protected.view.path(folder) for url, folder in static.items()}
    workloads, notes = workloads_of(request, app, replace(examination, static=seen), protected.ask)
    return ExaminedApp(
        app=app,
        project=project,
        interpreter=examination.python,
        workloads=workloads,
        debug=examination.django is not None and examination.django.debug,
        notes=(
            *found_app.notes,
            *protected.notes,
            *protected.warnings,
            *protected.escapes(on_preparing),
            *_instead(examination, urls),
            *notes,
            *examination.notes,
        ),
        django=examination.django,
        ask_again=lambda requests: protected.ask(app, requests, host=examination.host, in_doubt=True).exchanges,
        took_s=took_s,
        loading=examination.loading,
    )


def _require_folders(static: Mapping[str, Path], protected: Protected) -> None:
    """Raise AppError for a folder of static files that is not there, even after the app was prepared."""
    for prefix, folder in static.items():
        place = protected.view.path(folder)
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
    """Return the folders of static files by their prefixes: those asked for, else the app's own."""
    if request.static is not None:
        key, static = "[app] static", request.static
    else:
        key, static = "STATIC_URL", {**examination.static, **app.static}
    try:
        return by_prefix(static)
    except InputError as error:
        way_out = "; or write [app] static = {}, and the app itself sends these files"
        raise InputError(f"{key}: {error.message}{way_out}") from error


def furnished(app: App, request: RaceRequest, beside: Mapping[str, str]) -> App:
    """Return the app with its environment variables and the commands that prepare it."""
    return replace(
        app,
        environment={
            **byte_code(),
            **app.environment,
            **read_env_files(request.env_files),
            **beside,
            **request.environment,
        },
        prepare=app.prepare + request.prepare,
    )


def _examination(app: App, request: RaceRequest, urls: tuple[str, ...], ask_app: Ask) -> Examination:
    """Ask the app for ``urls``; without any for "/", and where that is no page, for the first route that is one."""

    def ask(*paths: str) -> Examination:
        requests = tuple(Request(path=path, headers=request.headers) for path in paths)
        return ask_app(app, requests, host=request.host or "")

    first = ask(*urls)
    if urls or first.exchanges[0].first.status != 404 or first.django is None:
        return first
    for route in first.django.routes:
        if route.startswith("/admin") or "<" in route or "(" in route:
            continue
        page_examination = ask(route)
        if 200 <= page_examination.exchanges[0].first.status < 300:
            return page_examination
    return first


def _instead(examination: Examination, urls: tuple[str, ...]) -> tuple[str, ...]:
    """Say which page is raced where the user named none and "/" is none."""
    asked = examination.exchanges[0]
    if urls or asked.via or asked.request.path == "/":
        return ()
    return (f"/ is no page of this project, so {asked.request.path} is raced; choose with --url.",)
