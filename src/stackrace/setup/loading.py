"""From what the user asked for to an app that has been examined and has golden answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..apps import DJANGO, Buildable, Examination, bundled, detect, examine, find_python, find_ruby
from ..deploy.environments import Environments, Interpreter, cache_folder
from ..deploy.hosting import prepare
from ..model.app import App, Entry, EntryKind
from ..model.errors import AppError, InputError, MissingError
from ..model.preparing import OnPreparing, Preparing, Step
from ..model.stack import Interface
from ..model.workload import Request, Workload
from ..spec.request import RaceRequest
from .bundled_sessions import with_bundled_sessions
from .workloads import urls_of, workloads_of

__all__ = ["LoadedApp", "load_app", "offered_by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedApp:
    """An app ready to be raced. ``notes`` are worth telling the user, one sentence each.

    ``interpreter`` and ``python_minor`` are None for an app without Python.
    """

    app: App
    interpreter: Interpreter | None
    workloads: tuple[Workload, ...]
    python_minor: tuple[int, int] | None
    debug: bool
    notes: tuple[str, ...]


def load_app(
    request: RaceRequest,
    environments: Environments,
    data: Path,
    beside: Mapping[str, str],
    on_preparing: OnPreparing,
    preparing: Callable[[App], None] = prepare,
) -> LoadedApp:
    """Find the app, prepare it, have it examined by its own interpreter, and ask it for its golden answers.

    Without an entry it is the Django project in the request's folder, else the bundled app; ``data`` is a
    private folder for the latter's database, ``beside`` the variables that lead to the app's services, which
    ``preparing`` starts. Raises AppError or InputError naming the way out.
    """
    request = with_bundled_sessions(request)
    app, urls, notes = _find(request, environments, data, on_preparing)
    app = replace(
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
    preparing(app)
    on_preparing(Preparing(step=Step.ANSWERS, subject=app.name))
    urls = urls_of(request, urls)
    examination = _examination(app, request, urls)
    notes = (*notes, *_instead(examination, urls))
    static = request.static if request.static is not None else {**examination.static, **app.static}
    app = replace(app, static=static)
    workloads, said = workloads_of(request, app, replace(examination, static=static))
    notes = (*notes, *said)
    return LoadedApp(
        app=app,
        interpreter=_interpreter(examination),
        workloads=workloads,
        python_minor=_minor(examination),
        debug=examination.django is not None and examination.django.debug,
        notes=(*notes, *examination.notes),
    )


def offered_by(request: RaceRequest) -> frozenset[Interface]:
    """Return what the app of ``request`` will offer, before anything is prepared or started."""
    if request.bundled is not None:
        return bundled(request.bundled).entry.interfaces
    if request.entry is not None:
        return request.entry.interfaces
    project = detect(request.folder)
    return (bundled(DJANGO) if project is None else project).entry.interfaces


def _find(
    request: RaceRequest, environments: Environments, data: Path, on_preparing: OnPreparing
) -> tuple[App, tuple[str, ...], tuple[str, ...]]:
    """Return the app, the URLs to ask for (none: let the examination choose) and notes."""
    entry, root, name = request.entry, request.folder, request.folder.name
    if request.bundled is not None:
        return _bundled(request, environments, data, on_preparing)
    if entry is None:
        project = detect(request.folder)
        if project is None:
            return _bundled(request, environments, data, on_preparing)
        entry, root, name = project.entry, project.root, project.name
    if not root.is_dir():
        raise InputError(f"the app's folder {root} does not exist; set [app] root or --project")
    if entry.kind is EntryKind.FILES:
        return _files(entry, root), request.urls or (), ()
    app = App(name=name, root=root, entry=entry, services=request.services)
    if entry.kind is EntryKind.RACK:
        ruby, note = _ruby(request, entry, root)
        return replace(app, ruby=ruby), request.urls or (), (note,)
    python, note = _python(request, entry, root, environments, on_preparing)
    return replace(app, python=python), request.urls or (), (note,)


def _files(entry: Entry, root: Path) -> App:
    """The folder itself is the app's root, so that servers need not know where it lay."""
    folder = (root / entry.target).resolve()
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; [app] files names the one to serve, as in public/")
    return App(name=folder.name, root=folder, entry=replace(entry, target="."))


def _ruby(request: RaceRequest, entry: Entry, root: Path) -> tuple[Path, str]:
    if not (root / entry.target).is_file():
        raise AppError(f"there is no {root / entry.target}; [app] rack names the rackup file, as in config.ru")
    ruby = find_ruby(root, request.ruby)
    return ruby, f"The app runs with {ruby}, in production unless [app] env says otherwise."


def _bundled(
    request: RaceRequest, environments: Environments, data: Path, on_preparing: OnPreparing
) -> tuple[App, tuple[str, ...], tuple[str, ...]]:
    guessed = request.bundled is None
    if guessed and request.source is not None and request.urls is None and request.stacks is None:
        on_preparing(Preparing(step=Step.NO_APP, subject=str(request.source)))
    ours = bundled(request.bundled or DJANGO)
    if missing := ours.missing():
        raise MissingError(missing)
    data.mkdir(parents=True, exist_ok=True)
    if ours.entry.kind is EntryKind.RACK:
        app = ours.app(ruby=find_ruby(ours.root, request.ruby), data=data, services=request.services)
        return app, request.urls or ours.urls, (f"The app is the bundled one, {ours.name}.",)
    base = request.python or Path(sys._base_executable)  # type: ignore[attr-defined]
    python = environments.of_requirements(ours.requirements(request.services), base)
    note = f"The app is the bundled one, {ours.name}" + (
        ": no project was found in this folder." if guessed else "."
    )
    return ours.app(python=python, data=data, services=request.services), request.urls or ours.urls, (note,)


def _python(
    request: RaceRequest, entry: Entry, root: Path, environments: Environments, on_preparing: OnPreparing
) -> tuple[Path, str]:
    needs = "django" if entry.kind is EntryKind.DJANGO else entry.target.partition(":")[0]
    found = find_python(root, needs, explicit=request.python)
    if isinstance(found, Buildable):
        on_preparing(Preparing(step=Step.NO_INTERPRETER, subject=found.reason))
        python = environments.of_requirements(found.requirements, Path(sys._base_executable))  # type: ignore[attr-defined]
        return python, f"The app runs in a private environment made from {found.requirements.name}."
    return found.python, f"The app runs with {found.python} ({found.reason})."


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
        other = ask(route)
        if 200 <= other.exchanges[0].first.status < 300:
            return other
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
