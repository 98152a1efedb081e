"""Output of ``stackrace`` alone: what it is, what it found here, and the commands to try first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from .. import __version__
from ..app.projects.detection import detect
from ..base.errors import InputError, MissingItem
from ..base.platforms import require_linux, this_platform
from ..base.process import uv_missing
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
    app = _app(Path.cwd())
    here = this_platform()
    missing = _missing() if here.is_linux else []
    yield from wrap(f"In this folder: {app.sentence}", _WIDTH, subsequent_indent="  ")
    yield from wrap(f"On this machine: {_servers(missing)}", _WIDTH, subsequent_indent="  ")
    if here.is_linux and (sentence := uv_missing()):
        yield sentence
    yield ""
    yield "Try:"
    useless = {name for name, verb in verbs.items() if verb.needs_linux and not here.is_linux}
    if not app.is_own:
        useless.add("current")
    if not any(item.install for item in missing):
        useless.add("install")
    for command in [command for command in _TRY if command.split()[0] not in useless][:_SHOWN]:
        yield f"  stackrace {command:15}{_TRY[command].format(app=app.name)}"
    yield ""
    yield "All commands: stackrace --help"


@dataclass(frozen=True, slots=True)
class _App:
    """App that a race here takes."""

    name: str
    sentence: str
    is_own: bool = True
    """True if the folder has one."""


def _app(folder: Path) -> _App:
    try:
        found = detect(folder)
    except InputError as error:
        return _App("it, once it is named", f"{error.message}.")
    if found is None:
        return _App("the bundled app", "no app; a race takes the bundled Django app.", is_own=False)
    where = f" ({found.location})" if found.location else ""
    return _App("this app", f"{found.title}, {found.entry.target}{where}.")


def _missing() -> list[MissingItem]:
    """Return the servers that are not installed here."""
    return [item for entry in catalogue() if (item := missing_item(entry))]


def _servers(missing: Sequence[MissingItem]) -> str:
    """Return a sentence about the servers that are ready, or about where they would be."""
    try:
        require_linux("run", this_platform())
    except InputError as error:
        return f"{error.message}."
    servers = len(list(catalogue()))
    ready = f"{servers - len(missing)} of {servers} servers are ready"
    return f"{ready}; missing: {', '.join(item.name for item in missing)}." if missing else f"{ready}."
