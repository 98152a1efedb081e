"""The app's data in services on another machine: prepared in each race, as no template could be kept there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..app.app import App
from ..base.errors import AppError
from .copies import RUN, shortage, write_out
from .guard import Guard
from .hosting import prepare
from .preparing import OnPreparing, Preparing, Step
from .running_services import RunningServices

__all__ = ["SeedingApart"]


class SeedingApart:
    """As ``Seeding``, for services that run already; ``environment`` leads there, ``settle`` ends their filling."""

    def __init__(
        self,
        environment: Mapping[str, str],
        settle: Callable[[], None],
        guard: Guard,
        on_preparing: OnPreparing,
    ) -> None:
        self.environment = environment
        self.running = RunningServices(pids={}, environment=environment)
        self.data = guard.directory / "data"
        self._settle = settle
        self._guard = guard
        self._on_preparing = on_preparing

    def bring_up(self, app: App) -> None:
        """Leave the services and ``data`` as the app's preparation does. Raises AppError when a command fails."""
        if app.prepare:
            self._on_preparing(Preparing(step=Step.APP))
            try:
                prepare(app, self._guard)
            except AppError as error:
                said = f"{error.message}{shortage(self._guard.directory, RUN)}"
                raise AppError(said, detail=error.detail) from error
            # written now, it is not written back by the kernel during a slice
            write_out(self._guard.directory)
        self._settle()
