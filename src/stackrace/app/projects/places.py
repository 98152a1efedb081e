"""Where files for a project's deployment lie, where it has what a machine names, and which look like production.

First what is called *production*, *prod*, *live* or *deploy*, then what is called nothing special, last what is
called *dev*, *local*, *test*, *ci*, *example* and the like. Among equals what lies in *contrib* comes last. Then
the kind of file decides: units of systemd and supervisor, Procfile and files of hosting platforms, compose files,
Dockerfiles and their scripts, a server's own configuration file by itself, tasks. A server that reloads changed
code, or one for debugging, is no deployment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from ...base.files import by_last_parts, is_file, is_present, walk
from ..project_files import MARK, table

__all__ = ["ProjectFiles", "deployment_folders", "is_development", "is_platform", "likelihood", "stage_of"]

_DEEPEST = 5
_MOST = 2000
_ASIDE = frozenset({"node_modules", "site-packages", "__pycache__", "static", "media", "locale", "migrations"})
_PRODUCTION = re.compile(r"(?<![a-z])(prod|production|live|deploy|deployment)(?![a-z])", re.IGNORECASE)
_DEVELOPMENT = re.compile(
    r"(?<![a-z])(dev|devel|develop|development|devcontainer|local|(reg)?tests?|testing|ci|debug|examples?|samples?|override|"
    r"e2e|mock\w*|bench|benchmarks?|demos?|docs?|staging|preview)(?![a-z])",
    re.IGNORECASE,
)
_CONTRIBUTED = re.compile(r"(^|/)contrib/")
_KINDS = (
    re.compile(r"\.service$|supervisor[^/]*\.conf$|supervisor/[^/]*\.conf$"),
    re.compile(r"(^|/)(Procfile|app\.ya?ml|heroku\.yml|render\.ya?ml|fly\.toml|railway\.(toml|json))$"),
    re.compile(r"compose[^/]*\.ya?ml$"),
    re.compile(r"([Dd]ocker|Container)file[^/]*$|\.sh$|(^|/)[^/.]+$"),
    re.compile(r"gunicorn[^/]*\.py$|uwsgi[^/]*\.ini$"),
)


def deployment_folders(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``root`` and the folders below it, not too deep, with the names of their folders and files.

    Folders of exported files are left out: they are what a race found, not what the project runs.
    """
    for number, (place, folders, names) in enumerate(walk(root)):
        depth = len(Path(place).relative_to(root).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DEEPEST
            and not name.startswith(".")
            and name not in _ASIDE
            and not is_present(Path(place, name, "pyvenv.cfg"))
            and not is_present(Path(place, name, MARK))
        )
        yield Path(place), folders, sorted(names)
        if number > _MOST:
            return


class ProjectFiles:
    """The files of the project at ``root``, by the names that images and machines have for them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def named(self, name: str, bases: Iterable[Path]) -> Path | None:
        """Return the file that ``name`` means: by its last parts in ``bases``, else the only one so called."""
        inside = [base for base in dict.fromkeys(bases) if base.is_relative_to(self.root)]
        if found := by_last_parts(name, inside, is_file):
            return found
        alike = self._by_name.get(PurePosixPath(name).name, ())
        return alike[0] if len(alike) == 1 else None

    @cached_property
    def console_scripts(self) -> dict[str, str]:
        """The programs that installing the project brings, and the modules that they run.

        Source: PyPA, "Entry points specification", and Poetry's tool.poetry.scripts.
        """
        path = self.root / "pyproject.toml"
        scripts = table(path, "project", "scripts") or table(path, "tool", "poetry", "scripts")
        return {str(name): str(target).partition(":")[0] for name, target in scripts.items()}

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        known: dict[str, list[Path]] = {}
        for place, _, names in deployment_folders(self.root):
            for name in names:
                known.setdefault(name, []).append(place / name)
        return known


def stage_of(name: str) -> int:
    """Return 0 for what is called one of production, 2 for one of development, else 1."""
    return 2 if _DEVELOPMENT.search(name) else 0 if _PRODUCTION.search(name) else 1


def likelihood(file: Path, root: Path, service: str = "") -> tuple[int, bool, int]:
    """Return a key by which a project's deployments sort, the likeliest one of production first."""
    name = str(file.relative_to(root)) if file.is_relative_to(root) else file.name
    kind = next((place for place, pattern in enumerate(_KINDS) if pattern.search(name)), len(_KINDS))
    return stage_of(f"{name}/{service}"), bool(_CONTRIBUTED.search(name)), kind


def is_development(file: Path, root: Path) -> bool:
    """Tell whether the file is called one for development, for tests or for show."""
    return likelihood(file, root)[0] > 1


def is_platform(file: Path, root: Path) -> bool:
    """Tell whether a hosting platform reads the file, which has front ends of its own."""
    return bool(_KINDS[1].search(str(file.relative_to(root)) if file.is_relative_to(root) else file.name))
