"""Options that several verbs share, and their reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..model.app import EntryKind
from ..model.errors import InputError
from ..model.units import Unit
from ..spec.request import RaceRequest

__all__ = ["Quantity", "app_options", "apply_app_options", "store_option"]


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
    """Add the options that say which app, and what to ask it."""
    for option in reversed(_APP_OPTIONS):
        function = option(function)
    return function


store_option = click.option(
    "--store",
    metavar="URL",
    envvar="STACKRACE_STORE",
    help="Where results are kept: sqlite:///PATH or postgresql://…  Default: SQLite in the XDG data folder.",
)


def apply_app_options(
    request: RaceRequest,
    *,
    django: str | None,
    wsgi: str | None,
    asgi: str | None,
    python: Path | None,
    project: Path | None,
    urls: tuple[str, ...],
    host: str | None,
) -> RaceRequest:
    """Return ``request`` with what the flags say on top; raises InputError when they contradict each other."""
    from ..apps import entry_of

    named = {
        kind: target
        for kind, target in ((EntryKind.DJANGO, django), (EntryKind.WSGI, wsgi), (EntryKind.ASGI, asgi))
        if target
    }
    if len(named) > 1:
        raise InputError(f"give one of --{', --'.join(named)}: an app has one entry")
    if project is not None:
        if not project.is_dir():
            raise InputError(f"--project {project} is no folder")
        request = replace(request, folder=project.absolute())
    if named:
        kind, target = next(iter(named.items()))
        request = replace(request, entry=entry_of(kind, target))
    return replace(
        request,
        python=python.absolute() if python else request.python,
        urls=urls or request.urls,
        host=host or request.host,
    )
