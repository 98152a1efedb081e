"""Find a project's environments: in its folder, above it, in caches of tools, or where a variable says.

No tool is run: this module follows each tool's own rule.
"""

from __future__ import annotations

import base64
import glob
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..base.files import is_file, is_present, matching, read_text, real_path
from ..base.text import package_key
from .project_files import first_line, project_folders, table, table_in, text

_FOLDERS = (".venv", "venv", "env")
_IMAGES = (
    "/venv", "/opt/venv", "/app/.venv", "/app/venv", "/code/.venv", "/usr/src/app/.venv", "/opt/.venv", "/env",
)  # fmt: skip

_IN_IMAGES = Path("/usr/local")
"""Prefix of Python in its official images, into which Dockerfiles install."""

_CONTAINER_SIGNS = (Path("/.dockerenv"), Path("/run/.containerenv"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPython:
    """An interpreter that may be the app's."""

    python: Path
    reason: str
    """Reason for this interpreter, in words; empty if the user gave it."""
    is_sure: bool = True
    """True if the project or the user's shell names it; else it must prove that it can import the app."""


def known_pythons(root: Path, environ: Mapping[str, str] = os.environ) -> Iterator[KnownPython]:
    """Yield the environments that exist for the app in ``root``, the likeliest first, some perhaps twice.

    The order is: the project's folder, its tools' caches, the folders above, the active environment, the usual
    places in images.
    """
    folders = project_folders(root)
    for kind, folder in enumerate(folders):
        yield from _inside(folder, "the project" if not kind else str(folder), is_above=bool(kind))
        for tool in _TOOLS:
            yield from tool(folder, environ)
    yield from _active(environ)
    if any(is_present(sign) for sign in _CONTAINER_SIGNS):
        yield from _known(_IN_IMAGES, f"{_IN_IMAGES}, as in images", is_sure=False)
    for venv in _IMAGES:
        yield from _known(Path(venv), f"{venv}, as in images", is_sure=False)


def installed_folders(python: Path) -> Iterator[tuple[str, Path, bool]]:
    """Yield each package that the environment of ``python`` has from a folder: its name, the folder, and True if it
    is imported from there (an editable install).

    Source: PEP 610, direct_url.json.
    """
    for about in sorted((python.parent.parent / "lib").glob("python3*/site-packages/*.dist-info/direct_url.json")):
        try:
            origin = json.loads(read_text(about))
            folder = real_path(Path(unquote(urlsplit(origin["url"]).path)))
            is_editable = bool(origin.get("dir_info", {}).get("editable"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        yield about.parent.name.partition("-")[0], folder, is_editable


def packages_of(python: Path) -> frozenset[str]:
    """Return the names of the packages in the environment of ``python``, in lower case with dashes.

    Empty if it cannot be told by the environment's folder, because it also has those of the system.
    """
    home = python.parent.parent
    if re.search(r"^include-system-site-packages\s*=\s*true", text(home / "pyvenv.cfg"), re.MULTILINE):
        return frozenset()
    names = (about.name.partition("-")[0] for about in (home / "lib").glob("python3*/site-packages/*.dist-info"))
    return frozenset(map(package_key, names))


def is_executable(path: Path) -> bool:
    """Tell whether ``path`` is a file that this user may execute."""
    return is_file(path) and os.access(path, os.X_OK)


def python_of(folder: Path) -> Path | None:
    """Return the interpreter of the environment in ``folder``; None without an executable one."""
    python = folder.absolute() / "bin" / "python"
    return python if is_executable(python) else None


def _known(folder: Path, reason: str, *, is_sure: bool = True) -> Iterator[KnownPython]:
    if python := python_of(folder):
        yield KnownPython(python=python, reason=reason, is_sure=is_sure)


def _inside(folder: Path, where: str, *, is_above: bool) -> Iterator[KnownPython]:
    """Yield the environments in ``folder``, usual names first; other names above the project are not sure."""
    for name in _FOLDERS:
        yield from _known(folder / name, f"{name}/ in {where}")
    for venv in _environments(folder / ".direnv"):
        yield from _known(venv, f"direnv's {venv.name}/ in {where}")
    for venv in _environments(folder):
        if venv.name not in _FOLDERS:
            yield from _known(venv, f"{venv.name}/ in {where}", is_sure=not is_above)


def _environments(folder: Path) -> list[Path]:
    try:
        return sorted(venv for venv in folder.iterdir() if is_file(venv / "pyvenv.cfg"))
    except OSError:
        return []


def _active(environ: Mapping[str, str]) -> Iterator[KnownPython]:
    if active := environ.get("VIRTUAL_ENV"):
        yield from _known(Path(active), "the active virtual environment")
    if conda := environ.get("CONDA_PREFIX"):
        is_base = environ.get("CONDA_DEFAULT_ENV") == "base"
        yield from _known(Path(conda), "the active conda environment", is_sure=not is_base)


def _uv(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    venv = environ.get("UV_PROJECT_ENVIRONMENT")
    if venv and is_file(folder / "pyproject.toml"):
        yield from _known(folder / venv, "UV_PROJECT_ENVIRONMENT")


def _pdm(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    if named := first_line(folder / ".pdm-python"):
        python = folder / named
        if is_executable(python):
            yield KnownPython(python=python, reason=".pdm-python")


def _named_by_file(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Yield the environment that a file called .venv names, as virtualenvwrapper's plug-ins write it."""
    name = first_line(folder / ".venv")
    if name:
        for venv in (Path(name).expanduser(), _configured_folder(environ, "WORKON_HOME", ".virtualenvs") / name):
            yield from _known(venv if venv.is_absolute() else folder / venv, "the file .venv")


def _virtualenvwrapper(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Yield environments whose .project names ``folder``: ``mkvirtualenv -a``, ``setvirtualenvproject``."""
    for note in matching(_configured_folder(environ, "WORKON_HOME", ".virtualenvs"), "*/.project"):
        if first_line(note) == str(folder):
            yield from _known(note.parent, f"virtualenvwrapper's {note.parent.name}")


def _hatch(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Source: hatch/env/virtual.py, ``VirtualEnvironment.__init__``; hatch/utils/fs.py, ``Path.long_id``."""
    name = _project_name(folder / "pyproject.toml")
    if not name:
        return
    name = package_key(name)
    data = environ.get("HATCH_DATA_DIR") or _configured_folder(environ, "XDG_DATA_HOME", ".local/share") / "hatch"
    yield from _known(Path(data, "env", "virtual", name, _digest(folder), name), "Hatch's environment")


def _pyenv(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Yield the environment that .python-version names; a number there is only an interpreter without packages."""
    name = first_line(folder / ".python-version")
    if name and not re.match(r"(\w+-)?\d", name):
        versions = _configured_folder(environ, "PYENV_ROOT", ".pyenv") / "versions"
        yield from _known(versions / name, ".python-version")


def _poetry(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Source: poetry/utils/env/env_manager.py, ``EnvManager.generate_env_name``."""
    name = _project_name(folder / "pyproject.toml")
    if not name:
        return
    ending = _digest(real_path(folder))
    venvs = _poetry_environments(folder, environ)
    for spelt in (package_key(name), name):
        clean = re.sub(r'[ $`!*@"\\\r\n\t]', "_", spelt.lower())[:42]
        for venv in reversed(matching(venvs, f"{glob.escape(clean)}-{ending}-py*")):
            yield from _known(venv, "Poetry's environment")


def _poetry_environments(folder: Path, environ: Mapping[str, str]) -> Path:
    config = Path(
        environ.get("POETRY_CONFIG_DIR") or _configured_folder(environ, "XDG_CONFIG_HOME", ".config") / "pypoetry"
    )
    caches = _configured_folder(environ, "XDG_CACHE_HOME", ".cache") / "pypoetry"
    set_here, set_for_all = table(folder / "poetry.toml"), table(config / "config.toml")
    cache = environ.get("POETRY_CACHE_DIR") or set_here.get("cache-dir") or set_for_all.get("cache-dir") or caches
    paths = (table_in(settings, "virtualenvs").get("path") for settings in (set_here, set_for_all))
    venv = environ.get("POETRY_VIRTUALENVS_PATH") or next(filter(None, paths), "{cache-dir}/virtualenvs")
    return Path(str(venv).replace("{cache-dir}", str(cache))).expanduser()


def _pipenv(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Source: pipenv/project.py, ``Project._get_virtualenv_hash``."""
    pipfile = folder / "Pipfile"
    if not is_file(pipfile):
        return
    clean = re.sub(r'[ &$`!*@"()\[\]\\\r\n\t]', "_", folder.name)[:42]
    digest = _digest(pipfile)
    venvs = Path(
        environ.get("WORKON_HOME") or _configured_folder(environ, "XDG_DATA_HOME", ".local/share") / "virtualenvs"
    )
    # PIPENV_PYTHON is put behind the name
    for venv in (venvs / f"{clean}-{digest}", *matching(venvs, f"{glob.escape(clean)}-{digest}-*")):
        yield from _known(venv, "Pipenv's environment")


def _conda(folder: Path, environ: Mapping[str, str]) -> Iterator[KnownPython]:
    """Yield the environments with the name in environment.yml: those in conda's list, then the usual folders."""
    listed = text(folder / "environment.yml") or text(folder / "environment.yaml")
    name = re.search(r"^name:\s*['\"]?([\w.-]+)", listed, re.MULTILINE)
    if not name:
        return
    home = _home(environ)
    made = [Path(line) for line in text(home / ".conda" / "environments.txt").splitlines() if line.strip()]
    installed = [environ.get("MAMBA_ROOT_PREFIX", ""), "/opt/conda"]
    installed += [
        str(home / kind) for kind in ("miniconda3", "miniforge3", "anaconda3", "mambaforge", "micromamba")
    ]
    usual = [Path(venv) / "envs" / name[1] for venv in installed if venv]
    for venv in [*(venv for venv in made if venv.name == name[1]), *usual]:
        yield from _known(venv, f"the conda environment {name[1]}")


_TOOLS: tuple[Callable[[Path, Mapping[str, str]], Iterator[KnownPython]], ...] = (
    _uv,
    _pdm,
    _named_by_file,
    _virtualenvwrapper,
    _pyenv,
    _poetry,
    _pipenv,
    _hatch,
    _conda,
)


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _configured_folder(environ: Mapping[str, str], variable: str, usual: str) -> Path:
    return Path(environ.get(variable) or _home(environ) / usual)


def _digest(path: Path) -> str:
    """Return the digest of a path that Poetry, Pipenv and Hatch use in the name of an environment."""
    return base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(path)).digest()).decode()[:8]


def _project_name(pyproject: Path) -> str:
    document = table(pyproject)
    names = (table_in(document, *keys).get("name") for keys in (("tool", "poetry"), ("project",)))
    return next((name for name in names if isinstance(name, str)), "")
