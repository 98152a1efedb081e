"""The app, prepared and asked by its own interpreter for its golden answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..apps import Examination, examine
from ..deploy.environments import Environments, Interpreter, cache_folder
from ..deploy.hosting import prepare
from ..model.app import App
from ..model.preparing import OnPreparing, Preparing, Step
from ..model.workload import Request, Workload
from ..spec.request import RaceRequest
from .finding import find_app
from .sessions import with_bundled_sessions
from .workloads import urls_of, workloads_of

__all__ = ["ExaminedApp", "examined_app"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedApp:
    """An app that can be launched, and what it is asked for."""

    app: App
    interpreter: Interpreter | None
    """None for an app without Python, as is ``python_minor``."""
    workloads: tuple[Workload, ...]
    python_minor: tuple[int, int] | None
    debug: bool
    """Whether it is in its debug mode."""
    notes: tuple[str, ...]
    """Worth telling the user, one sentence each."""


def examined_app(
    request: RaceRequest,
    environments: Environments,
    data: Path,
    beside: Mapping[str, str],
    on_preparing: OnPreparing,
    preparing: Callable[[App], None] = prepare,
) -> ExaminedApp:
    """Find the app, prepare it, have it examined by its own interpreter, and ask it for its golden answers.

    ``data`` is a private folder for a bundled app's files, ``beside`` the variables that lead to the app's
    services, which ``preparing`` starts. Raises AppError or InputError naming the way out.
    """
    request = with_bundled_sessions(request)
    found_app = find_app(request, environments, data, on_preparing)
    app = _furnished(found_app.app, request, beside)
    preparing(app)
    on_preparing(Preparing(step=Step.ANSWERS, subject=app.name))
    urls = urls_of(request, found_app.urls)
    examination = _examination(app, request, urls)
    static = request.static if request.static is not None else {**examination.static, **app.static}
    app = replace(app, static=static)
    workloads, notes = workloads_of(request, app, replace(examination, static=static))
    return ExaminedApp(
        app=app,
        interpreter=_interpreter(examination),
        workloads=workloads,
        python_minor=_minor(examination),
        debug=examination.django is not None and examination.django.debug,
        notes=(*found_app.notes, *_instead(examination, urls), *notes, *examination.notes),
    )


def _furnished(app: App, request: RaceRequest, beside: Mapping[str, str]) -> App:
    """Return the app with its environment variables and the commands that prepare it."""
    return replace(
        app,
        environment={
            # byte code goes to a cache of ours, so that the user's folders stay as they are; images of Python often
            # forbid it altogether, and every launch would compile everything again
            "PYTHONPYCACHEPREFIX": str(cache_folder() / "pycache"),
            "PYTHONDONTWRITEBYTECODE": "",
            **app.environment,
            **beside,
            **request.environment,
        },
        prepare=app.prepare + request.prepare,
    )


def _examination(app: App, request: RaceRequest, urls: tuple[str, ...]) -> Examination:
    """Ask the app for ``urls``; without any for "/", and where that is no page, for the first route that is one."""

    def ask(*paths: str) -> Examination:
        requests = tuple(Request(path=path, headers=request.headers) for path in paths)
        return examine(app, requests, host=request.host or "")

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


def _interpreter(examination: Examination) -> Interpreter | None:
    facts = examination.python
    if facts is None:
        return None
    return Interpreter(
        python=facts.python,
        base=facts.base,
        site_packages=facts.site_packages,
        installed=facts.distributions,
    )


def _minor(examination: Examination) -> tuple[int, int] | None:
    if examination.python is None:
        return None
    major, minor = examination.python.version.split(".")[:2]
    return int(major), int(minor)
