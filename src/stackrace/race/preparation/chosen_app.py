"""The app to race: the requested one, the project in the folder, or the bundled one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.app import App, Entry, EntryKind
from ...app.bundle import DJANGO, bundled
from ...app.interpreter import Buildable, find_python, find_ruby, import_problem
from ...app.known_pythons import KnownPython
from ...app.projects.detection import detect
from ...base.errors import AppError, InputError
from ...base.files import is_file, is_folder, is_present, real_path
from ...base.process.namespaces import MEMORY
from ...base.process.view import UNPROTECTED
from ...base.secrets import masked, register_secrets, register_settings
from ...base.text import few
from ...deploy.environments import Environments
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing, Preparing, Step, ignore_step
from ...deploy.protection import ProtectedProject
from ...stacks.setting import Interface
from ..request.request import RaceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedApp:
    """The app to race, before anything of it is prepared or started."""

    entry: Entry | None
    """Entry point; None for the bundled app."""
    root: Path
    """Folder where its imports start."""
    name: str
    location: str = ""
    """File that names a detected project; empty for other apps."""
    offered: frozenset[Interface]

    @property
    def project(self) -> Path | None:
        """Folder of the project whose code is run; None for the bundled app."""
        return None if self.entry is None else self.root


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedApp:
    """An app with its interpreter, not yet prepared."""

    app: App
    urls: tuple[str, ...]
    """URLs to request; empty: the examination chooses."""
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""


def asked_app(request: RaceRequest) -> AskedApp:
    """Return the app that ``request`` names, else the project in its folder, else the bundled app.

    Secrets of ``request`` are masked from now on.
    """
    register_secrets({**request.environment, **request.sent})
    for path in request.stacks or ():
        if register_settings(path) or masked(path, words=False) != path:
            raise InputError(
                f"--stack {path}: a path is kept and shown, so it must not hold a secret; set that as a variable "
                "of the app, with --env-file or [app] env"
            )
    folder, entry = request.folder, request.entry
    if request.bundled is None and entry is not None:
        return AskedApp(entry=entry, root=folder, name=folder.name, offered=entry.interfaces)
    found = detect(folder) if request.bundled is None else None
    if found is None:
        ours = bundled(request.bundled or DJANGO)
        return AskedApp(entry=None, root=folder, name=ours.name, offered=ours.entry.interfaces)
    name, offered = folder.absolute().name, found.entry.interfaces
    return AskedApp(entry=found.entry, root=found.root, name=name, location=found.location, offered=offered)


def _imported_by(entry: Entry) -> str:
    return "django" if entry.kind is EntryKind.DJANGO else entry.target.partition(":")[0]


def find_app(
    request: RaceRequest,
    asked: AskedApp,
    environments: Environments,
    project: ProtectedProject,
    data: Path,
    on_preparing: OnPreparing,
) -> DetectedApp:
    """Return the ``asked`` app of ``request`` with its interpreter, which is tried in the view of its ``project``.

    ``data`` is a private folder for a bundled app's files. Raises AppError or InputError naming the way out.
    """
    entry, root = asked.entry, asked.root
    if entry is None:
        return _bundled(request, environments, data, project, on_preparing)
    where = (
        (f'The app is {entry.target}, found in {asked.location}; name another as [app] {entry.kind} = "…".',)
        if asked.location
        else ()
    )
    if root.is_file():
        raise InputError(f"the app's folder {root} is a file; set [app] root or --project to the folder it lies in")
    if not root.is_dir():
        raise InputError(f"the app's folder {root} does not exist; set [app] root or --project")
    urls = request.urls or ()
    if entry.kind is EntryKind.FILES:
        return DetectedApp(app=_files(entry, root), urls=urls)
    app = App(name=asked.name, root=root, entry=entry, services=request.services)
    if entry.kind is EntryKind.RACK:
        ruby, note = _ruby(request, entry, root)
        return DetectedApp(app=replace(app, ruby=ruby), urls=urls, notes=(note,))
    python, note = _python(request, entry, root, environments, project, on_preparing)
    return DetectedApp(app=replace(app, python=python), urls=urls, notes=(*where, note))


def _files(entry: Entry, root: Path) -> App:
    """Return the app of a folder of files. The folder becomes the app's root, so servers need not know its
    parents."""
    folder = real_path(root / entry.target)
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.is_file() else f"there is no folder {folder}"
        raise InputError(f"{what}; set [app] files to the folder to serve, as in public/")
    return App(name=folder.name, root=folder, entry=replace(entry, target="."))


def _ruby(request: RaceRequest, entry: Entry, root: Path) -> tuple[Path, str]:
    """Return the app's Ruby, and a note about how it was chosen."""
    if not (root / entry.target).is_file():
        raise AppError(f"there is no {root / entry.target}; set [app] rack to the rackup file, as in config.ru")
    ruby = find_ruby(root, request.ruby)
    return ruby, f"The app runs with {ruby}, in production unless [app] env says otherwise."


def _bundled(
    request: RaceRequest,
    environments: Environments,
    data: Path,
    project: ProtectedProject,
    on_preparing: OnPreparing,
) -> DetectedApp:
    guessed = request.bundled is None
    if guessed and request.source is not None and request.urls is None and request.stacks is None:
        on_preparing(Preparing(step=Step.NO_APP, subject=str(request.source)))
    ours = bundled(request.bundled or DJANGO, request.environment)
    data.mkdir(parents=True, exist_ok=True)
    if ours.entry.kind is EntryKind.RACK:
        app = ours.app(ruby=find_ruby(ours.root, request.ruby), data=data, services=request.services)
        note = f"The app is the bundled one, {ours.name}."
        return DetectedApp(app=app, urls=request.urls or ours.urls, notes=(note,))
    base = request.python or Path(sys._base_executable)  # type: ignore[attr-defined]
    # the user's interpreter starts with the user's modules
    view = UNPROTECTED if request.python is None else project.view
    python = environments.of_requirements(ours.requirements(request.services), base, view)
    note = f"The app is the bundled one, {ours.name}" + (
        ": no project was found in this folder." if guessed else "."
    )
    app = ours.app(python=python, data=data, services=request.services)
    return DetectedApp(app=app, urls=request.urls or ours.urls, notes=(note,))


def _python(
    request: RaceRequest,
    entry: Entry,
    root: Path,
    environments: Environments,
    project: ProtectedProject,
    on_preparing: OnPreparing,
) -> tuple[Path, str]:
    choice = python_for(root, entry, request.python, project)
    if isinstance(choice, Buildable):
        on_preparing(Preparing(step=Step.NO_INTERPRETER, subject=choice.reason))
        base = choice.base or Path(sys._base_executable)  # type: ignore[attr-defined]
        python = environments.of_requirements(choice.requirements, base, project.view)
        return python, f"The app runs in a private environment made from {choice.requirements.name}."
    reason = f" ({choice.reason})" if choice.reason else ""
    return choice.python, f"The app runs with {choice.python}{reason}."


def python_for(
    root: Path, entry: Entry, explicit: Path | None, project: ProtectedProject
) -> KnownPython | Buildable:
    """Return the interpreter for the app, or the requirements to build one from; see ``find_python``.

    An interpreter is tried by importing the app, in the view of its ``project``.
    """

    def problem(python: Path) -> str:
        app = App(name=root.name, root=root, entry=entry, python=python)
        return import_problem(project.app(app), _imported_by(entry), project.view)

    return find_python(root, _imported_by(entry), explicit=explicit, problem=problem)


def protected_project(
    request: RaceRequest, asked: AskedApp, guard: Guard, on_preparing: OnPreparing
) -> ProtectedProject:
    """Return the project of ``request``, in whose view all its programs start; it lives as long as ``guard``."""
    also = () if asked.entry is None else _protected_paths(request)
    return ProtectedProject(asked.root, request.folder, guard, on_preparing, request.most_copied_bytes, also)


@contextmanager
def guarded_project(request: RaceRequest, on_preparing: OnPreparing = ignore_step) -> Iterator[ProtectedProject]:
    """Yield the project of ``request`` for questions to its interpreter, and clean up afterwards."""
    with Guard() as guard:
        yield protected_project(request, asked_app(request), guard, on_preparing)


_KERNELS = (Path("/proc"), Path("/sys"), Path("/dev"))


def _protected_paths(request: RaceRequest) -> tuple[Path, ...]:
    for path in request.protect:
        location = real_path(path)
        is_kernels = any(location.is_relative_to(each) or each.is_relative_to(location) for each in _KERNELS)
        if is_kernels and not location.is_relative_to(MEMORY):
            raise InputError(
                f"[app] protect: {path} is, or holds, what the kernel makes ({few(_KERNELS)}); name the folders on "
                "a disk that the app writes to"
            )
        # the app may create missing ones
        if not (is_folder(path) or is_file(path) or (is_folder(path.parent) and not is_present(path))):
            raise InputError(
                f"[app] protect: {path} is no file and no folder, and none can be made there; name what the app "
                "writes to"
            )
    return tuple(map(real_path, request.protect))
