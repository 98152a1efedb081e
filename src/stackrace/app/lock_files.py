"""Compare the packages that two revisions require, and return them as a list that can be installed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import urlsplit

from ..base.errors import InputError, said_by
from ..base.files import read_text
from ..base.process import run, uv_program
from ..base.text import package_key, tail
from .project_files import repository_folders

_LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock", "pylock.toml")
"""Names of lock files, which say exactly what is installed; the first that a project has is used."""

LISTS = ("requirements.txt", "requirements/production.txt", "requirements/prod.txt", "requirements/base.txt")
"""Names of requirements files, used if there is no lock file."""

_PYPI = "https://pypi.org/simple"

_LOCAL_SOURCES = {"editable", "virtual", "directory"}
"""Sources of a package that is a folder of the project."""

_EXPORT_S = 60.0
"""Seconds to read a lock file and the projects of its workspace."""

_ELSEWHERE = "from elsewhere"

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^]]*\])?\s*(?P<wanted>.*)")
"""Source: dependency specifiers, packaging.python.org."""

_BEHIND = re.compile(r";|\\$|\s--")
"""Beginning of a marker, a continued line, or an option such as --hash behind a required version."""
_COMMENT = re.compile(r"(^|\s)#.*")


def locks_differ(base: Path, head: Path, base_top: Path, head_top: Path) -> tuple[Path, Path] | None:
    """Return the lock files of two folders of one app if they differ; None if one environment serves both.

    The files are searched in the folders and those above, up to the tops of the work trees. Without lock files, the
    requirements files or the dependencies in pyproject.toml are compared. Raises InputError for an unreadable file.
    """
    both = _requirements_file(base, base_top), _requirements_file(head, head_top)
    if both[0] is None or both[1] is None:
        return None
    try:
        same = both[0].name == both[1].name and _requirements_of(both[0]) == _requirements_of(both[1])
    except OSError as error:
        raise _unreadable(both[1], error) from error
    return None if same else (both[0], both[1])


def _requirements_file(folder: Path, top: Path) -> Path | None:
    for name in (*_LOCKS, *LISTS, "pyproject.toml"):
        for each in (folder, *folder.parents):
            if (each / name).is_file() and (name != "pyproject.toml" or _dependencies(each / name)):
                return each / name
            if each == top:
                break
    return None


def _requirements_of(path: Path) -> object:
    if path.name == "pyproject.toml":
        return _dependencies(path)
    if path.name in _LOCKS:
        return read_text(path, errors="replace")
    return [line.replace(str(path.parent), "") for line in _listed(path)]


def _dependencies(path: Path) -> object:
    try:
        project = tomllib.loads(read_text(path)).get("project", {})
    except (OSError, ValueError):
        return None
    return project.get("dependencies")


def changes_between(base: Mapping[str, str], head: Mapping[str, str]) -> tuple[str, ...]:
    """Return the changes of packages from ``base`` to ``head``, sorted by name, as ``flask 3.1.2 → 3.0.3``."""
    changes = []
    for name in sorted({*base, *head}):
        before, after = base.get(name), head.get(name)
        if before is None:
            changes.append(f"{name} {after} added")
        elif after is None:
            changes.append(f"{name} {before} removed")
        elif before != after:
            changes.append(f"{name} {before} → {after}")
    return tuple(changes)


def versions_named(folder: Path) -> dict[str, str]:
    """Return the versions that the project in ``folder`` requires, by package; empty if no file says them."""
    path = _requirements_file(folder.absolute(), (folder.absolute(), *repository_folders(folder))[-1])
    try:
        return {} if path is None else _versions(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _versions(path: Path) -> dict[str, str]:
    versions: dict[str, list[str]] = {}
    for name, version in _named_versions(path):
        versions.setdefault(package_key(name), []).append(version)
    return {name: " and ".join(sorted(found)) for name, found in versions.items()}


def _named_versions(path: Path) -> Iterator[tuple[str, str]]:
    if path.name == "Pipfile.lock":
        for name, package in json.loads(read_text(path))["default"].items():
            yield name, package.get("version", _ELSEWHERE).removeprefix("==")
    elif path.name in _LOCKS:
        lock = tomllib.loads(read_text(path))
        for package in (*lock.get("package", ()), *lock.get("packages", ())):
            # the project itself is no package of its environment
            own = _LOCAL_SOURCES & {*package.get("source", {}), package.get("source", {}).get("type")}
            if not own and "main" in package.get("groups", ("main",)):
                yield package["name"], package.get("version", _ELSEWHERE)
    else:
        lines = _dependencies(path) if path.name == "pyproject.toml" else _listed(path)
        for line in cast("Iterable[str]", lines or ()):
            if found := _REQUIREMENT.match(line):
                # an address may hold credentials
                wanted = _ELSEWHERE if "@" in found["wanted"] else _BEHIND.split(found["wanted"])[0].strip()
                yield found["name"], wanted.removeprefix("==").strip() or "any"


def requirements_of(lock: Path) -> str:
    """Return the packages of ``lock`` as the text of a requirements file; raise InputError if it cannot be read."""
    try:
        if lock.name == "uv.lock":
            return _exported(lock)
        if lock.name == "poetry.lock":
            return "".join(_poetry(tomllib.loads(read_text(lock))))
        if lock.name == "Pipfile.lock":
            return "".join(_pipfile(json.loads(read_text(lock))))
        if lock.name in ("pyproject.toml", "pylock.toml"):
            return read_text(lock)
        return "".join(f"{line}\n" for line in _listed(lock))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(lock, error) from error


def _unreadable(lock: Path, error: Exception) -> InputError:
    return InputError(
        f"{lock} cannot be read ({said_by(error)}); make its environment yourself, and give it with "
        "--base-python or --head-python"
    )


def _listed(path: Path, visited: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield the lines of a requirements file and of the files that it includes, with absolute paths."""
    for raw in read_text(path, errors="replace").splitlines():
        line = _COMMENT.sub("", raw).strip()
        option, _, rest = line.replace("=", " ", 1).partition(" ") if line.startswith("--") else line.partition(" ")
        target = path.parent / rest.strip()
        if option in ("-r", "--requirement") and path not in visited:
            yield from _listed(target, visited | {path})
        elif option in ("-c", "--constraint", "-e", "--editable"):
            yield f"{option} {target}" if target.exists() else line
        elif line:
            yield str(path.parent / line) if line.startswith(".") else line


def _poetry(lock: Mapping[str, Any]) -> Iterator[str]:
    """Yield requirement lines; a package's group is in ``groups`` (Poetry 2), in ``category``, or not given."""
    for package in lock.get("package", ()):
        groups, source = package.get("groups", [package.get("category", "main")]), package.get("source", {})
        if "main" not in groups or package.get("optional") or source.get("type") == "directory":
            continue
        markers = package.get("markers", "")
        marker = markers.get("main", "") if isinstance(markers, dict) else markers
        yield _requirement_line(_poetry_origin(package["name"], package["version"], source), marker)


def _poetry_origin(name: str, version: str, source: Mapping[str, str]) -> str:
    """Return a package as a requirement with its origin; name and version alone mean PyPI."""
    match source.get("type"):
        case None | "legacy" if _is_pypi(source.get("url", _PYPI)):
            return f"{name}=={version}"
        case "git":
            return _of_git(name, source["url"], source["resolved_reference"], source.get("subdirectory", ""))
        case "url":
            return f"{name} @ {source['url']}"
    raise _refused(name, source.get("url", ""))


def _pipfile(lock: Mapping[str, Any]) -> Iterator[str]:
    sources = {each.get("name", ""): each["url"] for each in lock.get("_meta", {}).get("sources", ())}
    usual = next(iter(sources.values()), _PYPI)
    for name, package in lock["default"].items():
        if "path" in package and (package.get("editable") or package["path"] == "."):
            # the project itself is imported from each revision's folder
            continue
        extras = f"[{','.join(package['extras'])}]" if package.get("extras") else ""
        index = sources.get(package["index"], "") if "index" in package else usual
        yield _requirement_line(_pipfile_origin(f"{name}{extras}", package, index), package.get("markers", ""))


def _pipfile_origin(name: str, package: Mapping[str, Any], index: str) -> str:
    if "git" in package and "ref" in package:
        return _of_git(name, package["git"], package["ref"], package.get("subdirectory", ""))
    if "file" in package and "://" in package["file"]:
        return f"{name} @ {package['file']}"
    if "version" in package and _is_pypi(index):
        return f"{name}{package['version']}"
    raise _refused(name, str(package.get("path") or package.get("file") or index))


def _requirement_line(requirement: str, marker: str) -> str:
    return requirement + (f" ; {marker}" if marker else "") + "\n"


def _of_git(name: str, url: str, reference: str, subdirectory: str) -> str:
    if url.startswith("git@"):
        url = f"ssh://{url.replace(':', '/', 1)}"
    below = f"#subdirectory={subdirectory}" if subdirectory else ""
    return f"{name} @ git+{url.removeprefix('git+')}@{reference}{below}"


def _is_pypi(url: str) -> bool:
    return urlsplit(url).hostname in ("pypi.org", "pypi.python.org")


def _refused(name: str, origin: str) -> InputError:
    """Return the error for a package from elsewhere: a package of this name on PyPI may be anybody's."""
    parts = urlsplit(origin)
    # without the credentials that it may hold
    place = f"{parts.hostname}{parts.path}" if parts.hostname else origin
    return InputError(
        f"{name} comes from {place or 'an unknown place'}, not from PyPI; make the environment yourself, and give "
        "it with --base-python or --head-python"
    )


def _exported(lock: Path) -> str:
    for package in tomllib.loads(read_text(lock)).get("package", ()):
        index = package.get("source", {}).get("registry", _PYPI)
        if not _is_pypi(index):
            # the list that uv exports does not name the index
            raise _refused(package["name"], index)
    # no settings, which may lead to a named pipe: the lock file names the indexes anyway
    words = "--no-config export --frozen --no-dev --no-emit-project --no-hashes --no-header --quiet --output-file"
    with TemporaryDirectory() as folder:
        made = Path(folder, "requirements.txt")
        command = (uv_program(lock.parent), *words.split(), str(made))
        ended = run(command, folder=lock.parent, timeout_s=_EXPORT_S)
        if ended.code:
            raise InputError(f"{lock} cannot be exported", detail="\n".join(tail(ended.output, 20)))
        return read_text(made)
