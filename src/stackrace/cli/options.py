"""Options that several verbs share, and their reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ..model.app import EntryKind
from ..model.errors import InputError
from ..model.units import Unit
from ..spec.request import RaceRequest

__all__ = ["AppOptions", "Quantity", "app_options", "gathering", "servers_option", "store_option"]


class Quantity(click.ParamType[float]):
    """A number with its unit: 90s, 20min, 5%."""

    def __init__(self, unit: Unit, *, most: float = float("inf")) -> None:
        self.unit = unit
        self.name = unit.name
        self._most = most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the base unit's value; must be above zero."""
        if isinstance(value, float):
            return value
        try:
            number = self.unit.parse(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)
        if not 0 < number < self._most:
            self.fail(f"{value!r} is out of range; write it like {self.unit.example}", param, ctx)
        return number


_APP_OPTIONS = (
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


def app_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which app, and what to ask it; see ``AppOptions``."""
    for option in reversed(_APP_OPTIONS):
        function = option(function)
    return function


servers_option = click.option(
    "--servers",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with your own servers (NAME/server.py). Default: the race file's, or none.",
)

store_option = click.option(
    "--store",
    metavar="URL",
    envvar="STACKRACE_STORE",
    help="Where results are kept: sqlite:///PATH or postgresql://…  Default: SQLite in the XDG data folder.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOptions:
    """What ``app_options`` say; None or empty: nothing."""

    django: str | None = None
    wsgi: str | None = None
    asgi: str | None = None
    python: Path | None = None
    project: Path | None = None
    urls: tuple[str, ...] = ()
    host: str | None = None

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with what the flags say on top; raises InputError when they contradict each other."""
        from ..apps import entry_of

        entries = {EntryKind.DJANGO: self.django, EntryKind.WSGI: self.wsgi, EntryKind.ASGI: self.asgi}
        named = {kind: target for kind, target in entries.items() if target}
        if len(named) > 1:
            raise InputError(f"give only one of --{', --'.join(named)}")
        if self.project is not None:
            if not self.project.is_dir():
                raise InputError(f"--project {self.project} is no folder")
            request = replace(request, folder=self.project.absolute())
        if named:
            kind, target = next(iter(named.items()))
            request = replace(request, entry=entry_of(kind, target))
        return replace(
            request,
            python=self.python.absolute() if self.python else request.python,
            urls=self.urls or request.urls,
            host=self.host or request.host,
        )


def gathering(**kinds: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Hand a command what its options say as dataclasses: each keyword is one, with fields named like options."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(**given: Any) -> None:
            for name, kind in kinds.items():
                given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            function(**given)

        return command

    return decorate
