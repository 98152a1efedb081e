"""Flags that say what is raced: merged with a race file's request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click

from ..model.app import EntryKind
from ..model.errors import InputError
from ..spec.request import RaceRequest

__all__ = ["APP_OPTIONS", "RequestFlags", "request_flags", "servers_option"]

_FIELDS = {field.name for field in fields(RaceRequest)}

servers_option = click.option(
    "--servers",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with your own servers (NAME/server.py). Default: the race file's, or none.",
)

APP_OPTIONS = (
    servers_option,
    click.option("--django", metavar="MODULE", help="Django settings module, such as mysite.settings."),
    click.option("--wsgi", metavar="PKG:APP", help="WSGI callable, such as notes:app or notes:create_app()."),
    click.option("--asgi", metavar="PKG:APP", help="ASGI callable."),
    click.option(
        "--python",
        metavar="PATH",
        type=click.Path(path_type=Path),
        help="Interpreter of the app. Default: .venv, venv or env in the project, then the active one.",
    ),
    click.option(
        "--project",
        "folder",
        metavar="FOLDER",
        type=click.Path(path_type=Path, file_okay=False),
        help="The app's folder. Default: this folder, or the race file's.",
    ),
    click.option(
        "--url",
        "urls",
        multiple=True,
        metavar="PATH",
        help="Path to request. Repeat it for more; they are sent in turn. Default: / for your project.",
    ),
    click.option("--host", metavar="NAME", help="Host header. Default: a name that ALLOWED_HOSTS accepts."),
)
"""Which app, and what to ask it."""


@dataclass(frozen=True, slots=True)
class RequestFlags:
    """The flags on the command line; those named like a field of ``RaceRequest`` replace it."""

    given: Mapping[str, Any]

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with the flags on top; raises InputError where they contradict each other or it."""
        _refuse_both(self.given)
        if {"session", "urls"} & self.given.keys():
            request = replace(request, session=None, urls=None, workloads=(), think=False)
        if {"run_requests", "run_s"} & self.given.keys():
            request = replace(request, run_requests=None, run_requests_at={}, run_s=None)
        request = replace(request, **self._changes())
        _refuse_incomplete(request)
        return request

    def _changes(self) -> dict[str, Any]:
        changes = {name: value for name, value in self.given.items() if name in _FIELDS}
        for name in ("folder", "python", "session"):
            if name in changes:
                changes[name] = changes[name].absolute()
        for kind in _entries(self.given):
            from ..apps import entry_of

            changes["entry"] = entry_of(kind, self.given[kind])
        return changes


def _entries(given: Mapping[str, Any]) -> list[EntryKind]:
    return [kind for kind in EntryKind if kind in given]


def _refuse_both(given: Mapping[str, Any]) -> None:
    entries = _entries(given)
    if len(entries) > 1:
        raise InputError(f"give only one of --{', --'.join(entries)}")
    if "folder" in given and not given["folder"].is_dir():
        raise InputError(f"--project {given['folder']} is not a folder")
    if {"session", "urls"} <= given.keys():
        raise InputError("give --session or --url, not both")
    if {"run_requests", "run_s"} <= given.keys():
        raise InputError("give --requests or --duration, not both")


def _refuse_incomplete(request: RaceRequest) -> None:
    # a workload of a race file says itself whether it thinks
    if request.think and request.session is None:
        raise InputError("--think keeps the pauses of a recording; give it with --session")
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
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command ``options``, and hand it those on the command line together, as ``flags``."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        own = signature(function).parameters

        @wraps(function)
        def command(**values: Any) -> None:
            context = click.get_current_context()
            flags = {
                name: values[name]
                for name in values.keys() - own.keys()
                if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
            }
            others = {name: value for name, value in values.items() if name in own}
            function(flags=RequestFlags(flags), **others)

        for option in reversed(options):
            option(command)
        return command

    return decorate
