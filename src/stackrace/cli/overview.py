"""Output of ``stackrace`` alone: what it is, what it found here, and the commands to try first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap

from .. import __version__
from ..app.projects.detection import detect
from ..base.errors import InputError
from ..base.platforms import require_linux, this_platform
from ..deploy.installation import missing_item
from ..extensions import Verb
from ..stacks.servers import catalogue

_WIDTH = 80
_TRY = {
    "run": "race {app}: three minutes at most, your files stay as they are",
    "current": "show what this project runs today, as its files say",
    "install --all": "install the servers that are missing",
    "report": "show a race again",
    "web": "browse your races",
}
"""Commands to try first, and what they do."""

_SHOWN = 3


def overview(verbs: Mapping[str, Verb]) -> Iterator[str]:
    """Yield the lines, with those of ``verbs`` that work on this system. Files are read, and no app is loaded."""
    yield f"Stackrace {__version__} races your Python web application across every way of deploying"
    yield "it: a ranking you can believe, the reason, and the configuration that won."
    yield ""
    app, found = _app(Path.cwd())
    yield from wrap(f"In this folder: {found}", _WIDTH, subsequent_indent="  ")
    yield from wrap(f"On this machine: {_servers()}", _WIDTH, subsequent_indent="  ")
    yield ""
    yield "Try:"
    here = this_platform()
    usable = [name for name, verb in verbs.items() if here.is_linux or not verb.needs_linux]
    for command in [command for command in _TRY if command.split()[0] in usable][:_SHOWN]:
        yield f"  stackrace {command:15}{_TRY[command].format(app=app)}"
    yield ""
    yield "All commands: stackrace --help"


def _app(folder: Path) -> tuple[str, str]:
    """Return the app that a race here takes, in two words, and a sentence about it."""
    try:
        found = detect(folder)
    except InputError as error:
        return "it, once it is named", f"{error.message}."
    if found is None:
        return "the bundled app", "no app; a race takes the bundled Django app."
    return "this app", f"{found.title}, {found.entry.target}{f' ({found.location})' if found.location else ''}."


def _servers() -> str:
    """Return a sentence about the servers that are ready, or about where they would be."""
    try:
        require_linux("run", this_platform())
    except InputError as error:
        return f"{error.message}."
    entries = list(catalogue())
    missing = [entry.spec.name for entry in entries if missing_item(entry)]
    ready = f"{len(entries) - len(missing)} of {len(entries)} servers are ready"
    return f"{ready}; missing: {', '.join(missing)}." if missing else f"{ready}."
