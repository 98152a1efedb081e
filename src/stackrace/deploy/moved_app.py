"""An app whose files were copied: every path that it is given leads to the copies, its interpreter stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..app import ImportPlaces, app_environment
from ..app.app import App
from .environments import cache_folder
from .relocation import Relocation

__all__ = ["imports_of", "moved_app"]

_IMPORTS = "PYTHONPATH"
_BYTE_CODE = "PYTHONPYCACHEPREFIX"


def moved_app(app: App, relocation: Relocation, imports: Sequence[Path]) -> App:
    """Return ``app`` as it runs from its copy; modules are looked for in ``imports`` first."""
    moved = replace(
        app,
        root=relocation.path(app.root),
        public=app.public and relocation.path(app.public),
        static={url: relocation.path(folder) for url, folder in app.static.items()},
        prepare=tuple(tuple(map(relocation.text, command)) for command in app.prepare),
        environment={name: relocation.text(value) for name, value in app.environment.items()},
    )
    return replace(moved, environment={**moved.environment, **dict(_variables(moved, relocation, imports))})


def _variables(app: App, relocation: Relocation, imports: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for name, value in app_environment(app).items():
        # PATH begins with the interpreter's folder, which is no copy
        if name != "PATH" and (moved := relocation.text(value)) != value:
            yield name, moved
    if imports:
        first = filter(None, [app.environment.get(_IMPORTS)])
        yield _IMPORTS, os.pathsep.join([*first, *map(str, imports)])
    if app.python and app.environment.get(_BYTE_CODE) == str(cache_folder() / "pycache"):
        yield _BYTE_CODE, str(_byte_code(app.python, relocation))


def _byte_code(python: Path, relocation: Relocation) -> Path:
    """Return a folder for byte code: the copy's goes with the copy, the interpreter's own to the cache."""
    assert relocation.place
    folder = relocation.place.with_name("pycache")
    folder.mkdir(exist_ok=True)
    for name in {python.absolute().parts[1], python.resolve().parts[1]} - {relocation.place.parts[1]}:
        kept = cache_folder() / "pycache" / name
        kept.mkdir(parents=True, exist_ok=True)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(kept)
    return folder


def imports_of(places: ImportPlaces, relocation: Relocation) -> tuple[Path, ...]:
    """Return from where the copies of ``places`` are imported; what lies in an environment is not copied.

    A module whose name is not that of its folder has none.
    """
    finders = [_folder_of(name, place) for name, place in places.modules.items()]
    folders = (*places.folders, *filter(None, finders))
    copies = [relocation.path(folder) for folder in folders if relocation.holds(folder)]
    kept = [folder for folder in copies if relocation.place and folder.resolve().is_relative_to(relocation.place)]
    return tuple(dict.fromkeys(kept))


def _folder_of(name: str, place: Path) -> Path | None:
    """Return the folder from which ``place`` is imported as ``name``; None where it has another name there."""
    parts = tuple(name.split("."))
    module = place.parent if place.name == "__init__.py" else place.with_suffix("")
    return module.parents[len(parts) - 1] if module.parts[-len(parts) :] == parts else None
