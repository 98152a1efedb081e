"""Find the app that a folder holds or a word names: Django projects, Rack apps, apps in code and deployment files.

Files are read, never run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shlex import join, quote

from ...base.errors import InputError
from ...base.files import is_file, real_path
from ..app import Entry, EntryKind, entry_of, module_of, parse_target, wrong_spelling
from ..known_pythons import installed_folders, known_pythons
from .candidates import Candidate, ProjectCode, Rank, folders_in
from .code import content, is_aside, parse, python_files

VARIABLE = "DJANGO_SETTINGS_MODULE"

_RACKUP = "config.ru"
_OWN = Path(__file__).absolute()
"""Path of this module: a project that contains it is Stackrace's own checkout, which holds no user's app."""
_MOST_SHOWN = 20


def detect(folder: Path, environ: Mapping[str, str] = os.environ) -> Candidate | None:
    """Return the app of the project in ``folder``; None if the folder holds neither an app nor Python code.

    The folder's manage.py is tried first, then its config.ru; then deployment files, manage.py in folders below and
    the code, if only one app comes into question. DJANGO_SETTINGS_MODULE in ``environ`` wins, as it does for
    manage.py, if it names a module of this folder; FLASK_APP and QUART_APP win over deployment files and code.

    Raises InputError with all candidates if several apps may be meant, with reasons if there is code but no app,
    and for a manage.py that cannot be read or does not say its settings.
    """
    folder = folder.absolute()
    manage = folder / "manage.py"
    if manage.is_file() and (entry := _django(manage, environ)) is not None:
        root = _import_root(folder, entry.target)
        return Candidate(root=root, entry=entry, title="Django", location="" if root == folder else manage.name)
    if (folder / _RACKUP).is_file():
        return Candidate(root=folder, entry=entry_of(EntryKind.RACK, _RACKUP), title="Rack", location="")
    code = ProjectCode(folder)
    if _OWN in code.files:
        return None
    found = _below(code, environ)
    return found and _started_from(found, folder, environ)


def _started_from(found: Candidate, folder: Path, environ: Mapping[str, str]) -> Candidate:
    """Return the app with the project's folder as its root if it lies in ``src`` and is installed from there.

    It is then imported from anywhere, and starts where the project's commands are typed, as its own files expect.
    """
    if found.root != folder / "src" or found.entry.kind is EntryKind.DJANGO:
        return found
    pythons = [known.python for known in known_pythons(folder, environ)]
    installed = any(
        is_editable and origin == real_path(folder)
        for python in pythons
        for _, origin, is_editable in installed_folders(python)
    )
    return replace(found, root=folder) if installed else found


def _below(code: ProjectCode, environ: Mapping[str, str]) -> Candidate | None:
    django = _django_projects(code, environ)
    if (named := code.of_variable(environ)) is not None and not _is_part(named, django):
        return named
    likely = [candidate for candidate in django if candidate.rank is Rank.USUAL]
    deployed = [candidate for candidate in code.deployed() if not _is_part(candidate, django)]
    if len(deployed) == 1 and not likely:
        return deployed[0]
    defined = code.defined(tuple(project.root for project in django))
    clear = _clear(defined)
    if not deployed and len(likely) + len(clear) == 1:
        return (*likely, *clear)[0]
    every = _each_once((*deployed, *django, *defined))
    if every:
        raise _question(code.folder, every)
    chosen = environ.get(VARIABLE, "")
    settings = chosen if chosen and _exists(code.folder, chosen) else _only_settings(code.folder)
    if settings:
        # as for django-admin, which needs no manage.py
        entry = entry_of(EntryKind.DJANGO, settings)
        return Candidate(root=code.folder, entry=entry, title="Django", location=settings)
    if code.has_code:
        raise _nothing(code)
    return None


def _django(manage: Path, environ: Mapping[str, str]) -> Entry | None:
    tree = parse(manage)
    if tree is None:
        raise InputError(f'{manage} cannot be read as Python; name the settings: [app] django = "mysite.settings"')
    modules = tuple(_settings_modules(tree, environ)) or _settings_beyond(tree, manage.parent, environ)
    chosen = environ.get(VARIABLE, "")
    if not modules and not (chosen and b"execute_from_command_line" in (content(manage) or b"")):
        return None
    module = chosen if chosen and _exists(manage.parent, chosen) else next(filter(None, modules), None)
    if module is None and not modules:
        return None
    if module is None:
        module = _only_settings(manage.parent)
    if not module:
        raise _computed(manage, settings_candidates(manage.parent))
    return entry_of(EntryKind.DJANGO, module)


def _computed(manage: Path, candidates: Sequence[str]) -> InputError:
    meant = " or ".join(f"--django {module}" for module in candidates[:_MOST_SHOWN])
    hint = f"; did you mean {meant}?" if meant else ""
    return InputError(
        f'{manage} computes {VARIABLE}; name the settings: [app] django = "mysite.settings", '
        f"or set {VARIABLE}{hint}"
    )


def _import_root(folder: Path, module: str) -> Path:
    """Return the folder that imports start from: manage.py may put a folder beside it, or above, on the path."""
    above = (folder.parent,) if module.startswith(f"{folder.name}.") else ()
    folders = (folder, *folders_in(folder), *above) if module else ()
    return next((each for each in folders if _exists(each, module)), folder)


def _exists(folder: Path, module: str) -> bool:
    path = folder.joinpath(*module.split("."))
    return is_file(path.with_name(f"{path.name}.py")) or is_file(path / "__init__.py")


def _django_projects(code: ProjectCode, environ: Mapping[str, str]) -> list[Candidate]:
    candidates = []
    for manage in (path for path in code.files if path.name == "manage.py" and path.parent != code.folder):
        try:
            entry = _django(manage, environ)
        except InputError:
            entry = Entry(kind=EntryKind.DJANGO, target="")
        if entry is not None:
            location = manage.parent.relative_to(code.folder)
            aside = is_aside(manage.with_name("app.py"), code.folder)
            candidates.append(
                Candidate(
                    root=_import_root(manage.parent, entry.target),
                    entry=entry,
                    title="Django",
                    location=str(location / manage.name),
                    rank=Rank.UNLIKELY if aside or not entry.target else Rank.USUAL,
                )
            )
    return candidates


def _is_part(candidate: Candidate, django: Sequence[Candidate]) -> bool:
    """Tell whether a candidate is the wsgi.py or asgi.py of one of the Django projects, or lies within one."""
    return any(candidate.origin[0].is_relative_to(project.root) for project in django)


_SERVED_FILES = ("wsgi", "asgi", "app", "main", "api")
"""Files that ``flask run`` and ``fastapi run`` look for. Source: the documentation of both."""


def _clear(defined: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with usual names, else those in wsgi.py or asgi.py, else all likely ones.

    Of several in one folder, the only one in a file that frameworks look for is meant. An application in wsgi.py or
    asgi.py is meant for servers, whatever its name. Beside an application in the same file, a factory may fill it
    or make another one, so both are returned.
    """
    usual = [candidate for candidate in defined if candidate.rank is Rank.USUAL]
    if len({each.origin[0].parent for each in usual}) == 1:
        served = [each for each in usual if each.origin[0].stem in _SERVED_FILES]
        usual = served if len(served) == 1 else usual
    factories = [candidate for candidate in defined if candidate.rank is Rank.FACTORY]
    if {each.origin[0] for each in usual if not each.is_filled} & {each.origin[0] for each in factories}:
        return [*usual, *factories]
    for_servers = [each for each in defined if each.rank is Rank.OTHER and each.module in ("wsgi", "asgi")]
    return usual or for_servers or [candidate for candidate in defined if candidate.rank < Rank.UNLIKELY]


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    once: dict[tuple[Path, str], Candidate] = {}
    for candidate in candidates:
        once.setdefault((candidate.root, candidate.entry.target), candidate)
    return sorted(once.values(), key=lambda candidate: candidate.rank)


def _question(folder: Path, candidates: Sequence[Candidate]) -> InputError:
    flags = [join(each.flags(Path.cwd())) for each in candidates]
    pairs = zip(flags, candidates, strict=True)
    lines = [f"  stackrace run {words}   # {each.title}, {each.location}" for words, each in pairs]
    more = len(lines) - _MOST_SHOWN
    return InputError(
        f"it is not clear which app of {folder} is meant: did you mean {flags[0]}? "
        "In a race file the same keys stand in [app]; --bundled races the bundled app",
        detail="\n".join([*islice(lines, _MOST_SHOWN), *([f"  and {more} more"] if more > 0 else [])]),
    )


def _nothing(code: ProjectCode) -> InputError:
    reasons = code.out_of_reach()
    others = " and ".join(code.own_servers())
    why = f" ({others} can only be run by the server it brings)" if others else ""
    mended = f": {reasons[0]}" if len(reasons) == 1 else why
    settings = settings_candidates(code.folder)
    meant = f" (did you mean --django {settings[0]}?)" if settings else ""
    return InputError(
        f"{code.folder} holds Python code, but no app was found in it{mended}; name yours with --wsgi module:app, "
        f"--asgi module:app or --django mysite.settings{meant}, as in [app] of a race file, "
        "or race the bundled app with --bundled",
        detail="\n".join(f"  {reason}" for reason in reasons[:_MOST_SHOWN]) if len(reasons) > 1 else "",
    )


_SIGNS = (b"INSTALLED_APPS", b"ROOT_URLCONF")


def _settings_modules(tree: ast.AST, environ: Mapping[str, str] = os.environ) -> Iterator[str | None]:
    """Yield the values assigned to DJANGO_SETTINGS_MODULE, in order; None for a value that must be computed."""
    names = _constants(tree)
    for node in ast.walk(tree):
        value = _assigned(node)
        if value is not None:
            yield _text(value, names, environ)


def _settings_beyond(tree: ast.AST, folder: Path, environ: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return what the project's modules assign from which a manage.py imports its main function."""
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return tuple(module for name in imported for module in settings_set_by(name, folder, environ))


def settings_set_by(module: str, folder: Path, environ: Mapping[str, str] = os.environ) -> tuple[str | None, ...]:
    """Return the settings that the project's ``module`` assigns to DJANGO_SETTINGS_MODULE, as wsgi.py does.

    None stands for a value that must be computed; empty if the module assigns none, or is none of ``folder``.
    """
    path = folder.joinpath(*module.split("."))
    tree = parse(path.with_name(f"{path.name}.py"))
    return () if tree is None else tuple(_settings_modules(tree, environ))


def settings_candidates(folder: Path) -> tuple[str, ...]:
    """Return the modules in ``folder`` that look like Django settings, by name and content."""
    modules = []
    for path in python_files(folder):
        parts = path.relative_to(folder).with_suffix("").parts
        is_named = any("settings" in part or "config" in part for part in parts)
        if is_named and all(map(str.isidentifier, parts)) and _is_settings(path):
            modules.append(".".join(part for part in parts if part != "__init__"))
    return tuple(modules)


def _only_settings(folder: Path) -> str:
    """Return the settings module of ``folder``, without those of tests; empty without one, or with several.

    A package that is a settings module itself stands for the modules in it.
    """
    every = [each for each in settings_candidates(folder) if not each.startswith("test")]
    outer = [each for each in every if not any(each.startswith(f"{other}.") for other in every)]
    return outer[0] if len(outer) == 1 else ""


def _is_settings(path: Path) -> bool:
    """Tell whether a file holds Django settings, or imports all names of common settings as a variant does."""
    if any(sign in (content(path) or b"") for sign in _SIGNS):
        return True
    tree = parse(path)
    stars = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    return any(node.names[0].name == "*" and node.level for node in stars)


def _assigned(node: ast.AST) -> ast.expr | None:
    """Return the right side of ``….setdefault(VARIABLE, x)`` or ``…[VARIABLE] = x``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="setdefault"), args=[ast.Constant(value=str(name)), value]):
            return value if name == VARIABLE else None
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str(name)))], value=value):
            return value if name == VARIABLE else None
    return None


def _constants(tree: ast.AST) -> dict[str, ast.expr]:
    """Return the names that are bound exactly once in the whole file, with their values."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    bound.setdefault(target.id, []).append(node.value)
    return {name: values[0] for name, values in bound.items() if len(values) == 1}


def _text(node: ast.expr, names: Mapping[str, ast.expr], environ: Mapping[str, str], depth: int = 0) -> str | None:
    """Compute a text out of literals, variables of the environment and their defaults; None for anything else."""
    if depth > 10:
        return None

    def inner(part: ast.expr) -> str | None:
        return _text(part, names, environ, depth + 1)

    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if name in names:
            return inner(names[name])
        case ast.JoinedStr(values=parts):
            return _joined([inner(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts])
        case ast.Call(args=[ast.Constant(value=str(name)), *rest], keywords=keywords):
            # os.environ.get, os.getenv, decouple's config(), environ's env(): the variable, else the default
            default = next((each.value for each in keywords if each.arg == "default"), rest[0] if rest else None)
            return environ.get(name) or (inner(default) if default is not None else None)
    return None


def _joined(parts: list[str | None]) -> str | None:
    return None if None in parts else "".join(part for part in parts if part is not None)


_MOST_MEANT = 3
_CALLABLES = (EntryKind.WSGI, EntryKind.ASGI)


def entry_named(kind: EntryKind, target: str, folder: Path) -> Entry:
    """Return the entry of ``target``; raise InputError for a wrong spelling, with the apps in its file as hints."""
    try:
        return entry_of(kind, target)
    except InputError as error:
        file, _, name = target.strip().partition(":")
        if kind not in _CALLABLES or not (file.endswith(".py") or not name):
            raise
        found = _named(target.strip(), folder)
        if not found:
            raise
        raise InputError(wrong_spelling(kind, target, *(each.flags(folder) for each in found))) from error


def flags_named(word: str, folder: Path) -> tuple[str, ...]:
    """Return the flags that race the app named by ``word``, the likeliest first; empty if ``word`` names no app.

    A callable that no file of ``folder`` defines may have either interface; a file without an app gives no flags.
    """
    if found := _named(word, folder):
        return tuple(join(each.flags(folder)) for each in found)
    try:
        target = quote(str(parse_target(EntryKind.WSGI, _dotted(word))))
    except InputError:
        return ()
    return tuple(f"--{kind} {target}" for kind in _CALLABLES)


def _dotted(word: str) -> str:
    file, colon, name = word.partition(":")
    return f"{module_of(file)}{colon}{name}"


def _named(word: str, folder: Path) -> list[Candidate]:
    """Return the apps in the file that ``word`` names, the surest first; for ``file:name`` those of that name."""
    location, _, name = word.partition(":")
    files = [Path(os.path.normpath(folder / each)) for each in _places(location)]
    file = next((each for each in files if each.is_file()), None)
    if file is None:
        return []
    found = ProjectCode(folder if file.is_relative_to(folder) else file.parent).in_file(file)
    if not name:
        return list(found[:_MOST_MEANT])
    called = name.partition("(")[0].strip()
    return [_called(each, name) for each in found if each.name == called]


def _called(candidate: Candidate, name: str) -> Candidate:
    module = candidate.entry.target.partition(":")[0]
    try:
        return (
            replace(candidate, entry=entry_of(candidate.entry.kind, f"{module}:{name}"))
            if "(" in name
            else candidate
        )
    except InputError:
        return candidate


def _places(location: str) -> list[str]:
    if location.endswith(".py"):
        return [location]
    path = location.replace(".", "/")
    return [f"{path}.py", f"{path}/__init__.py"] if module_of(location) else []
