"""What was meant where a race file is wanted, and the word is none."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from ...app.projects.detection import flags_named
from ...base.errors import StackraceError
from ...base.text import url_meant
from ..request.race_file import StackCheck

__all__ = ["meant_by", "race_file_near"]


def meant_by(path: Path, check_stack: StackCheck) -> str:
    """Return what to write instead of ``path``, which is no race file, to stand behind that."""
    if path.is_dir():
        file = path / "race.toml"
        return f"; did you mean {file if file.is_file() else f'--project {path}'}?"
    if flags := flags_named(str(path), Path.cwd()):
        return f"; did you mean {', or '.join(flags)}?"
    if path.suffix == ".py" and path.is_file():
        return f"; no app was found in it: name yours as in --wsgi {path.stem}:app, or --asgi {path.stem}:app"
    if url := url_meant(str(path)):
        return f"; a race starts the app itself; to load a server that runs: stackrace load {url}"
    if near := race_file_near(path):
        return f"; did you mean {near}?"
    try:
        check_stack(str(path))
    except StackraceError:
        return "; give an existing one, or none for the defaults"
    return f"; did you mean --stack {path}?"


def race_file_near(path: Path) -> str:
    """Return the race file in its folder whose name is most like ``path``; empty where none is like it."""
    try:
        names = [str(file) for file in path.parent.glob("*.toml") if file.name != "pyproject.toml"]
    except OSError:
        return ""
    return next(iter(get_close_matches(str(path), names, n=1)), "")
