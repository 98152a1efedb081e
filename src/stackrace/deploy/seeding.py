"""Services of an app, filled with its data before anything is measured.

The data that a bundled app's preparation creates depend only on known inputs, so they are created once and kept as
a template. The race that creates the template and all later races start from a copy, and so measure the same thing.
A user's own app is prepared each time: only the user knows when its migrations change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..app.app import App
from ..app.bundle import digest
from ..app.command_lines import display
from ..app.environment import app_environment
from ..base.errors import AppError, LaunchError
from ..base.process import OverdueError
from ..base.temporary import RUN, shortage
from .folder_templates import CACHE, Templates, copy, move, write_out
from .guard import Guard
from .preparing import Preparing, Step
from .running_stack import ended
from .started_services import Services

_DATA_VARIABLE = "APP_DATA"
_URL_VARIABLE = "DATABASE_URL"
_APP = "app"
"""Folder of the app's own files in a template; each service has a folder beside it."""

_ELSEWHERE = re.compile(r"(?<![\w.])[/~]|\.\.")
"""Pattern of a path out of the app's folder, anywhere in a word: /srv/dump.sql, --from=~/dump.sql."""


_PREPARE_TIMEOUT_S = 600


def prepare(app: App, guard: Guard) -> None:
    """Run the app's preparation commands in its folder, with its environment's programs first on PATH.

    Background processes of the commands live as long as ``guard``. If a command fails, its processes are ended,
    and AppError is raised with its output.
    """
    for command in app.prepare:
        name = f"[app] prepare: {display(command)}"
        try:
            result = guard.run(
                command,
                view=guard.view,
                folder=app.root,
                environment=app_environment(app),
                timeout_s=_PREPARE_TIMEOUT_S,
            )
        except OverdueError as error:
            raise AppError(f"{name} did not end {error.when}") from error
        except LaunchError as error:
            raise AppError(f"{name}: {error.message}{_script(command[0], app.root)}") from error
        if result.code:
            raise AppError(f"{name} {ended(result.code)}", detail=result.output)


def _script(program: str, root: Path) -> str:
    """Return how to name a script of the project, if ``program`` is one; empty if not."""
    file = root / program
    if not file.is_file():
        return ""
    return f"; write ./{program.removeprefix('./')}, and make it executable, or name its interpreter: sh {program}"


class Seeding:
    """The services of one race, and ``data``, the private folder of a bundled app's own files.

    Raises InputError and MissingError if services are unavailable; nothing is started yet.
    """

    def __init__(self, names: Sequence[str], guard: Guard, cores: Sequence[int], templates: Templates) -> None:
        self._services = Services(names, guard, cores, templates)
        self._names = ", ".join(names)
        self._templates = templates
        self._guard = guard
        self._run = guard.directory
        self.data = guard.directory / "data"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that lead the app to its services, known before the services run."""
        return self._services.environment

    @property
    def pids(self) -> dict[str, tuple[int, ...]]:
        """Processes of the running services, by service name."""
        return self._services.pids

    def bring_up(self, app: App) -> None:
        """Start the services; fill them and ``data`` by the app's preparation or from its template.

        Raises AppError if a command of the app fails, LaunchError if a service fails, InputError if the
        disk is full; a template is kept only after success.
        """
        if app.prepare and self._repeatable(app):
            build = partial(self._seed, app)
            with self._templates.holding(app.root.name, self._identity(app), build) as kept:
                self._show(Step.COPY, self._names or app.name)
                copy(kept / _APP, self.data, RUN)
                self._services.start(kept)
        else:
            if self._names:
                self._show(Step.START, self._names)
            self._services.start()
            if app.prepare:
                self._show(Step.APP)
                self._prepare(app)
        self._services.pin()
        if self._names or app.prepare:
            # the data are written now, so that the kernel does not write them during a slice
            write_out(self._run)

    def _show(self, step: Step, subject: str = "") -> None:
        self._templates.on_preparing(Preparing(step=step, subject=subject))

    def _seed(self, app: App, folder: Path) -> None:
        """Fill the services and the app's folder by its preparation, then move their data into ``folder``."""
        # one announcement for all steps: data built once do not count against a race's budget
        self._show(Step.DATA, f"{app.name}: {'; '.join(map(display, app.prepare))}")
        self._services.start()
        self._prepare(app)
        self._services.stop()
        self._services.keep(folder)
        move(self.data, folder / _APP, CACHE)
        self.data.mkdir()

    def _prepare(self, app: App) -> None:
        try:
            prepare(app, self._guard)
        except AppError as error:
            if died := self._services.died():
                raise LaunchError(
                    f"{error.message}, because a service ended{shortage(self._run, RUN)}",
                    detail=f"{died}\n{error.detail}",
                ) from error
            raise AppError(f"{error.message}{shortage(self._run, RUN)}", detail=error.detail) from error
        self._services.settle()

    def _repeatable(self, app: App) -> bool:
        """Tell whether all inputs of the preparation are known, and all its outputs are kept."""
        effective = app_environment(app)
        led = {_DATA_VARIABLE: str(self.data.absolute()), _URL_VARIABLE: None, **self.environment}
        return (
            digest(app) is not None
            and all(effective.get(name) == value for name, value in led.items())
            and all(_is_in_project(command, app.root) for command in app.prepare)
        )

    def _identity(self, app: App) -> tuple[str, ...]:
        led = {_DATA_VARIABLE, *self.environment}
        settings = sorted((name, value) for name, value in app.environment.items() if name not in led)
        found = "lib/python3*/site-packages/*.dist-info"
        packages = app.python.parent.parent.glob(found) if app.python else ()
        return (
            str(digest(app)),
            repr(app.prepare),
            repr(settings),
            str(app.python),
            *(path.name for path in sorted(packages)),
            *self._services.identity(),
        )


def _is_in_project(command: Sequence[str], root: Path) -> bool:
    if any(_ELSEWHERE.search(word) for word in command):
        return False
    return any((root / name).is_file() for word in command for name in (word, f"{word.replace('.', '/')}.py"))
