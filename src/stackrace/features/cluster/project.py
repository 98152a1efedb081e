"""Comparison of a worker's project with the local one: revision, files, interpreter and packages.

Nothing is sent. Every host has a checkout of the project, or a shared folder, and an environment made from
the same requirements.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import App, Entry, EntryKind
from ...app.bundle import DJANGO
from ...app.interpreter import Buildable
from ...app.project_files import is_environment
from ...app.revision import source_of
from ...base.codec import map_paths
from ...base.errors import InputError, said_by
from ...base.files import is_folder, opened, real_path, walk
from ...base.process import repository
from ...base.text import few
from ...deploy.project_data import CACHES
from ...deploy.sqlite_files import is_side
from ...race.preparation.chosen_app import asked_app, guarded_project, python_for
from ...race.request.request import RaceRequest
from ...stacks.servers.site import versions_by_key
from .cluster_options import ClusterRequest
from .lease import refuse_busy

_NOT_RUN = frozenset({"pip", "wheel"})
"""Packages that install others: some tools add them to an environment, others do not."""
_LEFT_OUT = CACHES | {".git", ".hg", ".jj", "node_modules"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Properties of a project that are compared between machines."""

    folder: Path
    commit: str = ""
    """Commit that is checked out; empty without git."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file, by its path relative to ``folder``."""
    python: str = ""
    """Version of the app's interpreter; empty if the app has none yet."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Versions of its installed packages, by name in lower case."""


def request_for_hosts(request: RaceRequest) -> RaceRequest:
    """Return ``request`` for the hosts: with absolute paths, and those in the project moved to its place there.

    An interpreter outside of the project, as of an environment that is active here, has the same path there.
    """
    asked = asked_app(request)
    entry, root = asked.entry, asked.root
    if entry is None:
        # hosts may have a project in the folder that contains none here
        request = replace(request, bundled=request.bundled or DJANGO)
    elif entry.kind not in (EntryKind.RACK, EntryKind.FILES) and request.python is None:
        request = replace(request, python=_outside(root, entry, request))
    spellings = (request.folder, real_path(request.folder))
    part = request.parts.get(ClusterRequest)
    elsewhere = None if part is None else part.cluster_project
    place = elsewhere or request.folder

    def path(given: Path) -> Path:
        if given in (request.python, request.ruby) and not given.is_absolute():
            # python3.12 is a program on a host's own PATH
            return given
        absolute = Path(os.path.normpath(given.absolute()))
        for folder in spellings:
            if absolute.is_relative_to(folder):
                return place / absolute.relative_to(folder)
        return absolute

    def text(given: str) -> str:
        return given if elsewhere is None else given.replace(f"{request.folder}/", f"{place}/")

    def texts(given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return given and tuple(map(text, given))

    if request.entry is not None and request.entry.kind is EntryKind.FILES:
        request = replace(request, entry=replace(request.entry, target=text(request.entry.target)))
    moved = map_paths(request, path)
    return replace(
        moved,
        folder=place,
        source=request.source,
        parts=moved.parts if part is None else moved.parts.having(part),
        environment={name: text(value) for name, value in request.environment.items()},
        prepare=tuple(tuple(map(text, command)) for command in request.prepare),
        stacks=texts(request.stacks),
        workloads=tuple(replace(each, stacks=texts(each.stacks)) for each in moved.workloads),
    )


def _outside(root: Path, entry: Entry, request: RaceRequest) -> Path | None:
    """Return the interpreter of an environment outside of the project, where hosts would not look; else None."""
    try:
        with guarded_project(request) as project:
            found = python_for(root, entry, None, project)
    except InputError:
        return None
    if isinstance(found, Buildable):
        return None
    home = found.python.parent.parent
    return found.python if is_environment(home) and not home.is_relative_to(request.folder) else None


def project_of(request: RaceRequest) -> Project:
    """Return the project of ``request`` as it is on this machine.

    Raises InputError for an unreadable file, and RepositoryError if git refuses to list the tracked files.
    """
    asked, folder = asked_app(request), request.folder
    if asked.entry is None:
        return Project(folder=folder)
    files = {os.path.relpath(path, folder): _digest(path) for path in _files(request)}
    python, packages = _environment(request, asked.entry, asked.root)
    return Project(folder=folder, commit=source_of(folder).commit, files=files, python=python, packages=packages)


def remote_project_of(request: RaceRequest) -> Project | None:
    """Return `project_of` on a worker, for the coordinator; None if this machine has no such folder.

    Raises InputError if this machine takes part in another race.
    """
    refuse_busy()
    return project_of(request) if is_folder(request.folder) else None


def _environment(request: RaceRequest, entry: Entry, root: Path) -> tuple[str, Mapping[str, str]]:
    """Return the version of the app's interpreter and its installed packages; empty before it is built."""
    if entry.kind in (EntryKind.RACK, EntryKind.FILES):
        return "", {}
    facts = None
    # preparing reports errors
    with suppress(InputError), guarded_project(request) as project:
        found = python_for(root, entry, request.python, project)
        if not isinstance(found, Buildable):
            app = App(name="", root=root, entry=entry, python=found.python, environment=request.environment)
            facts = project.facts(app)
    if facts is None:
        return "", {}
    installed = versions_by_key(facts.distributions)
    return facts.version, {name: version for name, version in installed.items() if name not in _NOT_RUN}


def _files(request: RaceRequest) -> Iterator[Path]:
    named = [*request.env_files, request.session, *(workload.session for workload in request.workloads)]
    named += [file for part in request.asked_parts for file in part.files]
    listed = _tracked(request.folder)
    found = [*(_files_below(request.folder) if listed is None else listed), *(path for path in named if path)]
    if request.servers is not None:
        found += _files_below(request.servers) if is_folder(request.servers) else [request.servers]
    yield from (path for path in dict.fromkeys(found) if os.path.lexists(path) and not is_side(path))


def _tracked(folder: Path) -> list[Path] | None:
    """Return the files of the work tree around ``folder`` that git tracks or does not ignore; None without git."""
    found = repository(folder)
    if found is None:
        return None
    top, names = found.top, [*found.tracked(), *found.status().new]
    if Path.home().is_relative_to(top):
        # users with their settings in git have a whole home as work tree
        top = real_path(folder)
    files: list[Path] = []
    for path in dict.fromkeys(found.top / name for name in names):
        if not path.is_relative_to(top) or _LEFT_OUT & set(path.relative_to(top).parts):
            continue
        if path.is_dir() and not path.is_symlink():
            # a nested repository
            files += _tracked(path) or _files_below(path)
        else:
            files.append(path)
    # None if git ignores the project itself
    return files if any(path.is_relative_to(real_path(folder)) for path in files) else None


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in walk(folder):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [
            name for name in folders if name not in links and not (name in _LEFT_OUT or is_environment(here / name))
        ]
        yield from (here / name for name in [*files, *links])


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    try:
        if not path.is_file():
            # sockets and pipes contain no data
            return ""
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read, so it cannot be compared with the hosts': {said_by(error)}; give yourself the "
            "right to read it, or let .gitignore name it if the app does without"
        ) from error


def differences(
    local: Project, host: str, remote: Project | None, folder: Path, environment_of: str = "here"
) -> Iterator[str]:
    """Yield each difference of the project on ``host``, in ``folder``, from the ``local`` one, with the remedy.

    The environment of ``local`` is that of another host if this machine has none; ``environment_of`` names
    that host.
    """
    if remote is None:
        yield (
            f"{host} has no folder {folder}; check the project out there, or share its folder, or say where it "
            "lies on all hosts: --cluster-project ([race] cluster_project)"
        )
        return
    if local.commit and remote.commit and local.commit != remote.commit:
        yield (
            f"{host}: {folder} is at commit {remote.commit[:7]}, and {local.folder} is at {local.commit[:7]} here; "
            f"check out the same one there, as with `git -C {folder} checkout {local.commit[:7]}`"
        )
        return
    yield from _other_files(local, host, remote)
    yield from _other_environment(local, host, remote, environment_of)


def _other_files(local: Project, host: str, remote: Project) -> Iterator[str]:
    here, there = local.files, remote.files
    unlike: dict[str, Iterable[str]] = {
        "lacks": here.keys() - there.keys(),
        "has another": [name for name in here.keys() & there.keys() if here[name] != there[name]],
        # without git a host also lists files that git ignores here
        "has in addition": there.keys() - here.keys() if bool(local.commit) == bool(remote.commit) else (),
    }
    said = [f"{verb} {few(sorted(names))}" for verb, names in unlike.items() if names]
    if said:
        yield (
            f"{host}: {remote.folder} is not what {local.folder} is here: it {', '.join(said)}; bring the same "
            "files there, as with `git pull` or rsync, or let .gitignore name what the app does without"
        )


def _other_environment(local: Project, host: str, remote: Project, where: str) -> Iterator[str]:
    way_out = f"make it anew in {remote.folder} there, as with `uv sync` or `pip install -r requirements.txt`"
    if local.python and not remote.python:
        minor = _minor(local.python)
        yield f"{host} has no environment with all that the app imports; {way_out}, with Python {minor}"
    elif local.python and _minor(local.python) != _minor(remote.python):
        yield (
            f"{host}: the app's Python is {remote.python} there, and {local.python} {where}; give it the same "
            f"version, as with `uv sync --python {_minor(local.python)}`"
        )
    elif local.python and local.packages != remote.packages:
        names = sorted({name for name, _ in local.packages.items() ^ remote.packages.items()})
        said = [
            f"{name} {remote.packages.get(name, 'is missing')} ({local.packages.get(name, 'missing')} {where})"
            for name in names
        ]
        yield f"{host}: the app's environment is another: {few(said)}; {way_out}"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
