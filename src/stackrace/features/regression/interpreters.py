"""The stack that both sides of a check are raced on, and the interpreter that each side has."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...api.one_stack import stack_flags
from ...app.app import App, EntryKind
from ...app.bundle import DJANGO, bundled
from ...app.data_paths import import_paths
from ...app.interpreter import Buildable
from ...app.known_pythons import KnownPython, installed_folders
from ...app.lock_files import requirements_of
from ...base.errors import AppError, InputError, MissingError, StackError
from ...base.files import real_path
from ...deploy.environments import Environments
from ...deploy.protection import ProtectedProject
from ...race.preparation.chosen_app import asked_app, python_for
from ...race.preparation.contestants import CurrentStack, current_stack, with_current_deployment
from ...race.preparation.defaults import most_used
from ...race.request.request import RaceRequest
from ...stacks.servers import Catalogue, catalogue
from ...stacks.setting import Protocol
from ...stacks.stack import Side, Stack
from ...stacks.stack_path import parse_stack, stack_text
from .variants import Variant, Variants

_WITHOUT_PYTHON = (EntryKind.RACK, EntryKind.FILES)


def with_interpreters(both: Variants, environments: Environments, project: ProtectedProject) -> Variants:
    """Return both sides with an interpreter each.

    Both have the work tree's own interpreter, unless the user gave a side another one, or their lock files differ:
    then each side has a private environment with the packages of its lock file. Packages of the project that an
    environment imports from the work tree (an editable install, a ``src`` folder) are imported from each side's own
    folder. Interpreters start in the protected view of the head's ``project``. Raises InputError, with the output
    of the installer if an environment cannot be built.
    """
    head = both.sides[Side.HEAD].request
    asked = asked_app(head)
    entry, root = asked.entry, asked.root
    if both.moved is None or entry is None or entry.kind in _WITHOUT_PYTHON:
        return both
    found = python_for(root, entry, head.python, project)
    own = None if isinstance(found, Buildable) else found.python
    top, tree = both.moved
    if own is not None and len({(side.locked, side.request.python) for side in both.sides.values()}) == 1:
        _refuse_installed(own, top)
    app = App(name="", root=root, entry=entry, python=own)
    ours = _imported_below(top, app, project) if own is not None else []
    theirs = {Side.BASE: [tree / each.relative_to(top) for each in ours], Side.HEAD: ours}
    sides = {}
    for side, variant in both.sides.items():
        request = variant.request
        if variant.locked is not None:
            request = replace(request, python=_built(variant.locked, side, _base_of(found), environments, project))
        elif request.python is None and own is not None:
            request = replace(request, python=own)
        sides[side] = replace(variant, request=_importing(request, theirs[side]))
    return replace(both, sides=sides)


def _version_of(request: RaceRequest, project: ProtectedProject) -> tuple[int, int] | None:
    """Return the version of the app's interpreter, such as (3, 12).

    None for an app without Python, or if the interpreter does not start: setting the app up reports that error.
    """
    asked = asked_app(request)
    entry, root = asked.entry, asked.root
    if entry is None:
        ours = bundled(request.bundled or DJANGO)
        entry, root, request = ours.entry, ours.root, replace(request, python=request.python or _ours())
    if entry.kind in _WITHOUT_PYTHON:
        return None
    try:
        found = python_for(root, entry, request.python, project)
        app = App(name="", root=root, entry=entry, python=_base_of(found), environment=request.environment)
        facts = project.facts(app)
    except (AppError, InputError):
        return None
    return None if facts is None else facts.minor


def _base_of(found: KnownPython | Buildable) -> Path:
    return (found.base or _ours()) if isinstance(found, Buildable) else found.python


def _ours() -> Path:
    return Path(sys._base_executable)  # type: ignore[attr-defined]


def _built(locked: Path, side: Side, base: Path, environments: Environments, project: ProtectedProject) -> Path:
    """Build the environment of a side's lock file with the interpreter ``base``; return its own interpreter."""
    text = requirements_of(locked)
    # uv recognizes these files by their names
    name = locked.name if locked.suffix == ".toml" else "requirements.txt"
    # private, and gone afterwards: addresses of packages may hold credentials
    with tempfile.TemporaryDirectory(dir=project.directory) as folder:
        requirements = Path(folder, name)
        requirements.write_text(text, encoding="utf-8")
        try:
            return environments.of_requirements(
                requirements, real_path(base), project.view, flag=f"--{side}-python"
            )
        except MissingError as error:
            raise error.about(f"the {side}'s {locked.name}") from None


def _refuse_installed(python: Path, top: Path) -> None:
    """Raise InputError if packages of the project were copied into the environment that both sides would share."""
    for name, folder, is_editable in installed_folders(python):
        if not is_editable and folder.is_relative_to(top):
            raise InputError(
                f"{name} was installed from {folder} into {python.parent.parent}, so base and head would run the "
                "same copy of it; install it so that it is imported from its folder (pip install -e), or give each "
                "side an environment of its own: --base-python, --head-python"
            )


def _imported_below(top: Path, app: App, project: ProtectedProject) -> list[Path]:
    """Return the folders below ``top`` from which the interpreter of ``app`` imports, except its environment's."""
    assert app.python is not None
    prefix = real_path(app.python.parent.parent)
    resolved = dict.fromkeys(map(real_path, import_paths(app, project.view).roots))
    return [each for each in resolved if each.is_relative_to(top) and not each.is_relative_to(prefix)]


def _importing(request: RaceRequest, folders: Sequence[Path]) -> RaceRequest:
    if not folders:
        return request
    given = request.environment.get("PYTHONPATH")
    path = ":".join([*map(str, folders), *([given] if given else [])])
    return replace(request, environment={**request.environment, "PYTHONPATH": path})


def on_stacks(both: Variants, project: ProtectedProject) -> Variants:
    """Return both sides, each with the stack that it is raced on.

    The user may give one stack, for both sides or for each. Otherwise the head's files decide: the stack that the
    project runs today, or the first of the most used stacks that is ready. The base has the same servers, with its
    own configuration if its files describe them; notes say what else differs. Raises InputError for more than one
    stack of a side.
    """
    notes: list[str] = []
    paths = {side: _asked(variant.request) for side, variant in both.sides.items()}
    if not all(paths.values()):
        usual, warnings = _usual(both.sides[Side.HEAD].request, project)
        notes += warnings
        paths[Side.HEAD] = paths[Side.HEAD] or usual.path
        if not paths[Side.BASE]:
            paths[Side.BASE] = usual.path
            if both.moved is not None:
                paths[Side.BASE], others = _of_base(both.sides[Side.BASE].request, usual)
                notes += others
    sides = {side: _with_stack(variant, paths[side]) for side, variant in both.sides.items()}
    return replace(both, sides=sides, notes=(*both.notes, *notes))


def _asked(request: RaceRequest) -> str:
    stacks = request.stacks or ()
    if len(stacks) > 1:
        raise InputError(f"a check races one stack; choose one: {stack_flags(stacks)}")
    return stacks[0] if stacks else ""


def _with_stack(variant: Variant, path: str) -> Variant:
    request = variant.request
    meeting = [each for each in request.workloads if each.stacks is None or path in each.stacks]
    workloads = tuple(replace(each, stacks=None) for each in meeting or request.workloads)
    return replace(variant, request=replace(request, stacks=(path,), workloads=workloads))


def _usual(request: RaceRequest, project: ProtectedProject) -> tuple[Stack, tuple[str, ...]]:
    """Return the stack that the project runs today, with warnings; else the first fitting one of the most used."""
    servers = catalogue().extended(request.servers)
    python = _version_of(request, project)
    current = _current(request, servers, python)
    stack = None if current is None else current.stack
    warnings = () if current is None else current.deployment.warnings
    return stack or most_used(servers, asked_app(request).offered, python)[0][0], warnings


def _current(
    request: RaceRequest, servers: Catalogue, python: tuple[int, int] | None = None
) -> CurrentStack | None:
    return current_stack(
        with_current_deployment(request), servers, asked_app(request).offered, python, request.entry
    )


def _of_base(request: RaceRequest, usual: Stack) -> tuple[str, list[str]]:
    """Return the path of the base's stack, which has the servers of ``usual``, and notes for the user."""
    servers = catalogue().extended(request.servers)
    found = _current(request, servers)
    own = None if found is None else found.stack
    if own is not None and _servers(own) == _servers(usual):
        return own.path, []
    notes = []
    if own is not None:
        notes.append(
            f"The base's own files run {own.path}, and the head runs {usual.path}: both are raced on the head's "
            "servers; to compare servers, give --base-stack and --head-stack."
        )
    try:
        return parse_stack(usual.path, servers.specs, asked_app(request).offered, request.folder).path, notes
    except StackError:
        files = [hop.config for hop in usual.hops if hop.config]
        if not files:
            raise
    path = stack_text([replace(hop, config="", file=None) for hop in usual.hops])
    notes.append(f"The base lacks {', '.join(files)}, so it is raced as {path}, the head as {usual.path}.")
    return path, notes


def _servers(stack: Stack) -> list[tuple[str, Protocol | None]]:
    return [(hop.server, hop.protocol) for hop in stack.hops]
