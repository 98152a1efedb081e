"""Which app a folder holds: a Django project, a Rack app, or what its code and its deployment files say.

Files are read, never run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from shlex import join

from ...base.errors import InputError
from ...base.files import is_file
from ..app import Entry, EntryKind, entry_of
from .candidates import Candidate, ProjectCode, Rank, folders_in
from .code import content, is_aside, parse
from .settings import VARIABLE, settings_candidates, settings_modules

__all__ = ["Project", "detect"]

_RACKUP = "config.ru"
_OWN = Path(__file__).absolute()
"""In Stackrace's own checkout there is nothing of the user's."""
_MOST_SHOWN = 20
"""Candidates in a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project found in a folder."""

    name: str
    root: Path
    """Where its imports start."""
    entry: Entry
    place: str = ""
    """Where the entry was found, relative to the folder: ``Procfile``; empty where it stands in the usual place."""


def detect(folder: Path, environ: Mapping[str, str] = os.environ) -> Project | None:
    """Return the project in ``folder``; None when there is neither one nor any Python code.

    In this order: its manage.py, its config.ru; then what deployment files name, manage.py in folders below, and
    the applications in the code, if that is one. DJANGO_SETTINGS_MODULE in ``environ`` wins, as it does for
    manage.py, if it names a module of this folder.

    Raises InputError with all candidates where it is not clear which is meant, and for a manage.py that cannot be
    read, or does not say its settings.
    """
    folder = folder.absolute()
    manage = folder / "manage.py"
    if manage.is_file() and (entry := _django(manage, environ)) is not None:
        root = _import_root(folder, entry.target)
        return Project(name=folder.name, root=root, entry=entry, place="" if root == folder else manage.name)
    if (folder / _RACKUP).is_file():
        return Project(name=folder.name, root=folder, entry=entry_of(EntryKind.RACK, _RACKUP))
    code = ProjectCode(folder)
    return None if _OWN in code.files else _below(code, environ)


def _below(code: ProjectCode, environ: Mapping[str, str]) -> Project | None:
    django = _django_projects(code, environ)
    likely = [candidate for candidate in django if candidate.rank is Rank.USUAL]
    deployed = [candidate for candidate in code.deployed() if not _is_part(candidate, django)]
    if len(deployed) == 1 and not likely:
        return _project(code, deployed[0])
    defined = code.defined(tuple(project.root for project in django))
    clear = _clear(defined)
    if not deployed and len(likely) + len(clear) == 1:
        return _project(code, (*likely, *clear)[0])
    every = _each_once((*deployed, *django, *defined))
    if every:
        raise _question(code.folder, every)
    if code.has_code:
        raise _nothing(code)
    return None


def _django(manage: Path, environ: Mapping[str, str]) -> Entry | None:
    """Return the entry of the Django project that ``manage`` belongs to, None for another program."""
    tree = parse(manage)
    if tree is None:
        raise InputError(f'{manage} cannot be read as Python; name the settings: [app] django = "mysite.settings"')
    modules = tuple(settings_modules(tree, environ))
    chosen = environ.get(VARIABLE, "")
    if not modules and not (chosen and b"execute_from_command_line" in (content(manage) or b"")):
        return None
    module = chosen if chosen and _exists(manage.parent, chosen) else next(filter(None, modules), None)
    if module is None and not modules:
        return None
    if module is None:
        raise _computed(manage)
    return entry_of(EntryKind.DJANGO, module)


def _computed(manage: Path) -> InputError:
    candidates = settings_candidates(manage.parent)
    meant = " or ".join(f"--django {module}" for module in candidates[:_MOST_SHOWN])
    hint = f"; did you mean {meant}?" if meant else ""
    return InputError(
        f'{manage} computes {VARIABLE}; name the settings: [app] django = "mysite.settings", '
        f"or set {VARIABLE}{hint}"
    )


def _import_root(folder: Path, module: str) -> Path:
    """Return where the settings are imported from: their manage.py may put a folder beside it on the path."""
    places = (folder, *folders_in(folder)) if module else ()
    return next((place for place in places if _exists(place, module)), folder)


def _exists(folder: Path, module: str) -> bool:
    path = folder.joinpath(*module.split("."))
    return is_file(path.with_name(f"{path.name}.py")) or is_file(path / "__init__.py")


def _django_projects(code: ProjectCode, environ: Mapping[str, str]) -> list[Candidate]:
    """Return the Django projects in folders below."""
    candidates = []
    for manage in (path for path in code.files if path.name == "manage.py" and path.parent != code.folder):
        try:
            entry = _django(manage, environ)
        except InputError:
            entry = Entry(kind=EntryKind.DJANGO, target="")
        if entry is not None:
            place = manage.parent.relative_to(code.folder)
            aside = is_aside(manage.with_name("app.py"), code.folder)
            candidates.append(
                Candidate(
                    root=_import_root(manage.parent, entry.target),
                    entry=entry,
                    title="Django",
                    place=str(place / manage.name),
                    rank=Rank.UNLIKELY if aside or not entry.target else Rank.USUAL,
                )
            )
    return candidates


def _is_part(candidate: Candidate, django: Sequence[Candidate]) -> bool:
    """Tell whether a candidate is the wsgi.py or asgi.py of one of the Django projects, or lies within one."""
    return any(candidate.origin[0].is_relative_to(project.root) for project in django)


def _clear(defined: Sequence[Candidate]) -> list[Candidate]:
    """Return the likely candidates of the surest rank; of several ranks that are no usual names, all.

    By whatever name, an application in wsgi.py or asgi.py is there for servers.
    """
    usual = [candidate for candidate in defined if candidate.rank is Rank.USUAL]
    for_servers = [each for each in defined if each.rank is Rank.OTHER and each.module in ("wsgi", "asgi")]
    return usual or for_servers or [candidate for candidate in defined if candidate.rank < Rank.UNLIKELY]


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates by what they would race, the surest first."""
    once: dict[tuple[Path, str], Candidate] = {}
    for candidate in candidates:
        once.setdefault((candidate.root, candidate.entry.target), candidate)
    return sorted(once.values(), key=lambda candidate: candidate.rank)


def _project(code: ProjectCode, candidate: Candidate) -> Project:
    return Project(name=code.folder.name, root=candidate.root, entry=candidate.entry, place=candidate.place)


def _question(folder: Path, candidates: Sequence[Candidate]) -> InputError:
    """Ask which of ``candidates`` is meant, with the flags for each."""
    meant = candidates[0].flags(folder)
    lines = [f"  stackrace run {join(each.flags(folder))}   # {each.title}, {each.place}" for each in candidates]
    more = len(lines) - _MOST_SHOWN
    return InputError(
        f"it is not clear which app of {folder} is meant: did you mean {join(meant)}? "
        "In a race file the same keys stand in [app]; --bundled races the bundled app",
        detail="\n".join([*islice(lines, _MOST_SHOWN), *([f"  and {more} more"] if more > 0 else [])]),
    )


def _nothing(code: ProjectCode) -> InputError:
    reasons = code.out_of_reach()
    others = " and ".join(code.own_servers())
    why = f" ({others} can only be run by the server it brings)" if others else ""
    mended = f": {reasons[0]}" if len(reasons) == 1 else why
    return InputError(
        f"{code.folder} holds Python code, but no app was found in it{mended}; name yours with --wsgi module:app, "
        "--asgi module:app or --django mysite.settings, as in [app] of a race file, "
        "or race the bundled app with --bundled",
        detail="\n".join(f"  {reason}" for reason in reasons[:_MOST_SHOWN]) if len(reasons) > 1 else "",
    )
