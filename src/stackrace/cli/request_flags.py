"""Flags for a race's request, which override a race file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..app.app import EntryKind
from ..app.bundle import bundled_names
from ..base.errors import InputError
from ..base.http_syntax import path_fault
from ..base.units import SIZE
from ..extensions import RequestPart, declared, load
from ..race.request.expectations import check_flags, read_check_flags
from .options import OF_THE_APP, Cores, Quantity, right_host, section, servers_option

if TYPE_CHECKING:
    from ..race.request.request import RaceRequest

_app = section(OF_THE_APP)
_ENTRY_OPTIONS = (
    _app("--django", metavar="MODULE", help="Django settings module, such as mysite.settings."),
    _app("--wsgi", metavar="PKG:APP", help="WSGI callable, such as notes:app or notes:create_app()."),
    _app("--asgi", metavar="PKG:APP", help="ASGI callable."),
    _app(
        "--python",
        metavar="PATH",
        type=click.Path(path_type=Path),
        help="Interpreter of the app. Default: its environment in the project, above it, or kept by its tool "
        "(Poetry, PDM, Pipenv, uv, conda), then the active one.",
    ),
    _app(
        "--env-file",
        "env_files",
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="File with variables of the app, such as .env. Repeat it for more. Default: none.",
    ),
    _app(
        "--project",
        "folder",
        metavar="FOLDER",
        type=click.Path(path_type=Path, file_okay=False),
        help="The app's folder. Default: this folder, or the race file's.",
    ),
    _app(
        "--url",
        "urls",
        multiple=True,
        metavar="PATH",
        help="Path to request. Repeat it for more; they are sent in turn. Default: up to five main pages, "
        "the same in each race of the project.",
    ),
)
_host_option = _app(
    "--host",
    metavar="NAME",
    callback=right_host,
    help="Host header. Default: a name that ALLOWED_HOSTS accepts.",
)

PROJECT_OPTIONS = (*_ENTRY_OPTIONS, _host_option)
"""Options for the app and its pages."""


def _any_of(names: tuple[str, ...]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


STARTED_OPTIONS = (
    servers_option,
    _app(
        "--bundled",
        metavar="[NAME]",
        is_flag=False,
        flag_value="django",
        help=f"Race an app that comes with Stackrace: {_any_of(bundled_names())}. Default: django, in a folder "
        "without an app.",
    ),
    *_ENTRY_OPTIONS,
    _app(
        "--new-pages",
        is_flag=True,
        help="Choose the main pages anew. Default: those of the project's last race, as long as they all answer.",
    ),
    _app(
        "--check",
        multiple=True,
        metavar="[PATH ]RULE",
        callback=lambda context, option, texts: read_check_flags(texts),
        help="What a right answer is: status, length, exact or contains:TEXT, of all pages or of one, such as "
        "'/news/ status'. Repeat it for more. Default: what repeats in the app's own answers.",
    ),
)
"""Options for the app that a stack starts with, for verbs that have a Host header of their own."""

APP_OPTIONS = (*STARTED_OPTIONS, _host_option)
"""Options for the app, its requests and its right answers."""

_APP = ("servers", "bundled", *EntryKind, "python", "env_files", "folder", "urls", "host", "check")


_resources = section("What every stack gets")


def of_features(heading: str) -> tuple[Callable[..., Any], ...]:
    """Return the options of features below ``heading``."""
    return tuple(option for part in declared(RequestPart) if part.heading == heading for option in load(part.flags))


BUDGET_OPTIONS = (
    _resources(
        "--cores",
        type=Cores(),
        metavar="LIST",
        help="Cores of every stack, such as 0-3 or 0,2. Default: all but the load engine's.",
    ),
    _resources(
        "--engine-cores",
        type=Cores(),
        metavar="LIST",
        help="Cores of the load engine. Default: one, with all its threads.",
    ),
    _resources(
        "--memory",
        "memory_bytes",
        type=Quantity(SIZE),
        callback=lambda context, option, size: None if size is None else int(size),
        metavar="SIZE",
        help="Memory limit of every stack, such as 512MiB or 2GiB. A stack above it is out. Default: no limit.",
    ),
    _resources(
        "--quota",
        is_flag=True,
        help="The CPU quota of this container is intended: its throttling only gives a warning.",
    ),
    _resources(
        "--no-priority",
        "priority",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Leave engine and stacks at the usual priority. Default: nice -20 where that is allowed (root, "
        "CAP_SYS_NICE), so that other programs cannot disturb the race.",
    ),
)
"""Options for every stack's resources, besides those of features."""


@dataclass(frozen=True, slots=True)
class RequestFlags:
    """Flags given on the command line; a flag with the name of a ``RaceRequest`` field replaces its value."""

    given: Mapping[str, Any]

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` overridden by the flags; raise InputError if they contradict each other or the
        request."""
        from ..race.request.request import parts_over

        _refuse_both(self.given)
        parts = parts_over(request.parts, self.given, Path.cwd())
        if {"session", "urls"} & self.given.keys():
            request = replace(request, session=None, urls=None, workloads=(), think=False, check={})
        if {"run_requests", "run_s"} & self.given.keys():
            request = replace(request, run_requests=None, run_requests_at={}, run_s=None)
        request = replace(request, **self._changes(request), parts=parts)
        _refuse_incomplete(request)
        return request

    def _changes(self, request: RaceRequest) -> dict[str, Any]:
        changes = {each.name: self.given[each.name] for each in fields(request) if each.name in self.given}
        for name in ("folder", "python", "session"):
            # python3.12 is a program on PATH
            if name in changes and (name != "python" or len(changes[name].parts) > 1 or changes[name].exists()):
                changes[name] = changes[name].absolute()
        if "env_files" in changes:
            changes["env_files"] = tuple(path.absolute() for path in changes["env_files"])
        for kind in _entries(self.given):
            from ..app.projects.detection import entry_named

            entry = entry_named(kind, self.given[kind], changes.get("folder", request.folder))
            changes |= {"entry": entry, "bundled": None}
        if "bundled" in self.given:
            changes["entry"] = None
        return changes


def _entries(given: Mapping[str, Any]) -> list[EntryKind]:
    return [kind for kind in EntryKind if kind in given]


def _refuse_both(given: Mapping[str, Any]) -> None:
    entries = [*_entries(given), *(["bundled"] if "bundled" in given else [])]
    if len(entries) > 1:
        raise InputError(f"give only one of --{', --'.join(entries)}")
    for path in given.get("urls", ()):
        if fault := path_fault(path):
            raise InputError(f"--url {path!r} {fault}")
    if "folder" in given and not given["folder"].is_dir():
        raise InputError(f"--project {given['folder']} is not a folder")
    if {"session", "urls"} <= given.keys():
        raise InputError("give --session or --url, not both")
    if "new_pages" in given and {"session", "urls"} & given.keys():
        raise InputError("--new-pages has pages chosen; leave it out where --url or --session names them")
    if {"run_requests", "run_s"} <= given.keys():
        raise InputError("give --requests or --duration, not both")


def _refuse_incomplete(request: RaceRequest) -> None:
    """Raise InputError if one setting needs another that is missing, or excludes one that is given."""
    # a workload of a race file has its own setting for think times
    if request.think and request.session is None:
        raise InputError("--think keeps the pauses of a recording; give it with --session")
    if request.check and request.workloads:
        raise InputError("--check is for one workload; give check to each [workloads.NAME] of the race file")
    has_length = request.run_requests is not None or request.run_requests_at or request.run_s is not None
    if has_length and request.repeats is None:
        raise InputError(
            "--requests and --duration set the length of a run; give the number of runs with --repeats"
        )
    if request.repeats is not None and not has_length:
        raise InputError("--repeats needs the length of a run; give --requests or --duration")
    if request.repeats is not None and request.slice_s is not None:
        raise InputError("--repeats makes runs, not slices; leave --slice out")


def request_flags(
    *options: Callable[[Callable[..., Any]], Callable[..., Any]],
    into: str = "flags",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator that adds ``options`` to a command, and passes those that the user gave as its argument
    ``into``."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        names: set[str] = set()

        @wraps(function)
        def command(**values: Any) -> None:
            given = {name: values.pop(name) for name in names}
            values[into] = RequestFlags({name: given[name] for name in names if _is_given(name)})
            function(**values)

        for option in reversed(options):
            option(command)
            names.add(_last_added(command))
        return command

    return decorate


def _last_added(command: Callable[..., None]) -> str:
    parameters: list[click.Parameter] = command.__click_params__  # type: ignore[attr-defined]
    assert parameters[-1].name is not None
    return parameters[-1].name


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def app_words() -> tuple[str, ...]:
    """Return the running command's options about the app, as they are written on a command line."""
    context = click.get_current_context()
    return tuple(
        word
        for option in context.command.params
        if option.name in _APP and _is_given(option.name)
        for value in _values(option, context.params[option.name])
        for word in (option.opts[0], value)
    )


def _values(option: click.Parameter, value: Any) -> Iterable[str]:
    if option.name == "check":
        return check_flags(value)
    return map(str, value) if option.multiple else (str(value),)


def spelt(name: str) -> str:
    """Return the running command's parameter ``name`` as it is spelt on the command line."""
    context = click.get_current_context()
    (parameter,) = (each for each in context.command.params if each.name == name)
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.make_metavar(context)


def given_flags(allowed: set[str]) -> list[str]:
    """Return the parameters on the command line that are not in ``allowed``, as they are spelt, sorted by name."""
    context = click.get_current_context()
    names = sorted(parameter.name for parameter in context.command.params if parameter.name is not None)
    return [
        spelt(name)
        for name in names
        if name not in allowed and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
