"""A project's folders, its small files, and its deployment files, those for production first.

Files with *production*, *prod*, *live* or *deploy* in their name come first, then names without a special word,
then *dev*, *local*, *test*, *ci*, *example* and the like. Among equals, files in *contrib* come last. Then
the kind of file decides: units of systemd and supervisor, Procfile and files of hosting platforms, compose files,
Dockerfiles and their scripts, a server's own configuration file by itself, tasks. A server that reloads changed
code, or one for debugging, is no deployment.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from ..base.files import MOST_BYTES, by_last_parts, is_file, is_present, read_text, walk
from ..base.temporary import temporary_folder

MARK = ".stackrace-export"
"""Name of the file that marks a folder of exported files."""


def is_exported(path: Path) -> bool:
    """Tell whether ``path`` is a folder of exported files, or lies at most two levels below one."""
    return any(is_present(folder / MARK) for folder in (path, *path.parents[:2]))


_MOST_ABOVE = 3
"""Most folders above a project outside a repository that count as the project's."""

_REPOSITORY = (".git", ".hg", ".jj")


def project_folders(root: Path) -> tuple[Path, ...]:
    """Return ``root`` and the folders above it, the nearest first, up to the top of the repository.

    Without a repository, at most three folders above count, and never a home folder or a shared one such as /srv.
    """
    return repository_folders(root) or (root.absolute(), *_folders_above(root.absolute()))


def repository_folders(root: Path) -> tuple[Path, ...]:
    """Return ``root`` and the folders above it, up to the top of the repository; empty without a repository."""
    folders = (root.absolute(), *root.absolute().parents)
    top = next((place for place, folder in enumerate(folders, 1) if _is_top(folder)), 0)
    return folders[:top]


def _folders_above(root: Path) -> Iterator[Path]:
    shared = {Path.home(), Path(temporary_folder()), *map(Path, ("/", "/home", "/srv", "/opt"))}
    for folder in root.parents[:_MOST_ABOVE]:
        if folder in shared:
            return
        yield folder


def _is_top(folder: Path) -> bool:
    return any(is_present(folder / name) for name in _REPOSITORY)


_MOST_VALUES = 50_000
"""Most values of one YAML document: aliases make a short file endless."""


def text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file; empty if it is missing, cannot be read or is too long."""
    try:
        return read_text(path, most_bytes, errors="replace")
    except OSError:
        return ""


def first_line(path: Path) -> str:
    """Return the first line that is not blank, stripped; empty without one."""
    lines = text(path).strip().splitlines()
    return lines[0].strip() if lines else ""


def table(path: Path, *keys: object) -> dict[Any, Any]:
    """Return the table under ``keys`` of a TOML, JSON or YAML file; empty if there is none."""
    return table_in(loaded(path, text(path)), *keys)


def loaded(path: Path, text: str) -> object:
    """Return the YAML, JSON or TOML document in ``text``, by the suffix of ``path``; None if it is not valid."""
    try:
        return _load(path, text)
    except (ValueError, RecursionError):
        return None


def problem_of(path: Path, text: str) -> str:
    """Return why ``text`` is no valid document of the kind that ``path`` has by its suffix; empty if it is."""
    if path.suffix not in (".json", ".toml", ".yml", ".yaml"):
        return ""
    try:
        _load(path, text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def _load(path: Path, text: str) -> object:
    """Return a document. Raises ValueError with the line of the mistake, or RecursionError."""
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".toml":
        return tomllib.loads(text)
    documents = loaded_all(text)
    return documents[0] if documents else None


def loaded_all(text: str) -> list[object]:
    """Return the documents of a YAML file. Raises ValueError with the line of the mistake, or RecursionError."""
    import yaml

    try:
        documents = list(yaml.load_all(text, _loader()))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or "it is no YAML"
        raise ValueError(f"line {mark.line + 1}: {said}" if mark else said) from error
    if sum(1 for _ in islice(_values(documents), _MOST_VALUES)) == _MOST_VALUES:
        raise ValueError(f"it has {_MOST_VALUES} values or more")
    return documents


def _values(node: object) -> Iterator[object]:
    yield node
    node = node.value if isinstance(node, Tagged) else node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _values(each)


def table_in(document: object, *keys: object) -> dict[Any, Any]:
    """Return the table under the nested ``keys`` of a document; empty if there is none."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def listed(value: object) -> list[Any]:
    """Return a list unchanged, None as an empty list, and any other value as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def line_of(table: object, key: object) -> int:
    """Return the line of a table's key; 0 if unknown."""
    return table.lines.get(key, 0) if isinstance(table, Table) else 0


class Table(dict[Any, Any]):
    """A mapping of a YAML document that knows the lines of its keys."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        """Create an empty table."""
        super().__init__()
        self.lines: dict[object, int] = {}


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value with a tag of compose that says how files are merged."""

    tag: str
    """``!reset`` or ``!override``."""
    value: object


_OLD_TAGS = (":timestamp", ":bool")
"""Kinds of plain YAML values that compose and Kubernetes read as text, such as ``yes`` and ``off``."""


@cache
def _loader() -> Any:
    """Return a YAML loader whose tables know their lines; a value with an unknown tag loads as the plain value."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        letter: [(tag, form) for tag, form in known if not tag.endswith(_OLD_TAGS[: 1 if letter in "tTfF" else 2])]
        for letter, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def table(loader: Any, node: Any) -> Iterator[Table]:
        made = Table()
        yield made
        made.update(loader.construct_mapping(node))
        made.lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}

    def value(loader: Any, tag: str, node: Any) -> object:
        if isinstance(node, yaml.MappingNode):
            plain: object = loader.construct_mapping(node, deep=True)
        elif isinstance(node, yaml.SequenceNode):
            plain = loader.construct_sequence(node, deep=True)
        else:
            plain = loader.construct_object(
                yaml.ScalarNode(loader.resolve(yaml.ScalarNode, node.value, (True, False)), node.value)
            )
        return Tagged(f"!{tag}", plain) if tag in ("reset", "override") else plain

    Loader.add_constructor("tag:yaml.org,2002:map", table)  # type: ignore[no-untyped-call]
    Loader.add_multi_constructor("!", value)  # type: ignore[no-untyped-call]
    return Loader


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
    """Yield the first of ``folders_below``, not too deep, without folders that never hold deployment files."""
    return islice(folders_below(root, _ASIDE, _DEEPEST), _MOST)


def folders_below(
    root: Path, aside: Collection[str], deepest: int = sys.maxsize
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield ``root`` and the folders below it, with the names of their folders and files, sorted.

    Hidden folders, folders named in ``aside``, environments and exported files are left out: an export is the
    result of a race, not what the project runs today.
    """
    above = len(root.parts)
    for folder, inner, names in walk(root):
        place = Path(folder)
        inner[:] = sorted(
            name
            for name in inner
            if len(place.parts) - above < deepest and not name.startswith(".") and name not in aside
            and not is_environment(place / name) and not is_present(place / name / MARK)
        )  # fmt: skip
        yield place, inner, sorted(names)


def is_environment(folder: Path) -> bool:
    """Tell whether ``folder`` is a virtual environment or a conda environment."""
    return is_present(folder / "pyvenv.cfg") or is_present(folder / "conda-meta")


class ProjectFiles:
    """Files of the project at ``root``, which can be found by their names in images and on other machines."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.heard: dict[object, Any] = {}
        """Answers of ``ask_shell`` so far, by question."""

    def named(self, name: str, bases: Iterable[Path]) -> Path | None:
        """Return the file in ``bases`` that ends like ``name``, else the only file of that name; else None."""
        inside = [base for base in dict.fromkeys(bases) if base.is_relative_to(self.root)]
        if found := by_last_parts(name, inside, is_file):
            return found
        alike = self._by_name.get(PurePosixPath(name).name, ())
        return alike[0] if len(alike) == 1 else None

    @cached_property
    def console_scripts(self) -> dict[str, str]:
        """Programs that the project installs, and the modules that they run.

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
    """Return 0 for a name that suggests production, 2 for one that suggests development, else 1."""
    return 2 if _DEVELOPMENT.search(name) else 0 if _PRODUCTION.search(name) else 1


def likelihood(file: Path, root: Path, service: str = "") -> tuple[int, bool, int]:
    """Return a sort key of a project's deployment files, the likeliest for production first."""
    name = str(file.relative_to(root)) if file.is_relative_to(root) else file.name
    kind = next((place for place, pattern in enumerate(_KINDS) if pattern.search(name)), len(_KINDS))
    return stage_of(f"{name}/{service}"), bool(_CONTRIBUTED.search(name)), kind


def is_development(file: Path, root: Path) -> bool:
    """Tell whether the name of the file suggests development, tests or examples."""
    return likelihood(file, root)[0] > 1


def is_platform(file: Path, root: Path) -> bool:
    """Tell whether the file is for a hosting platform, which has its own front ends."""
    return bool(_KINDS[1].search(str(file.relative_to(root)) if file.is_relative_to(root) else file.name))
