"""Uvicorn: an event loop per process that calls the app through ASGI."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, KEEP_ALIVE_S, Recipe, Server, Site
from ..options import bound_to, words
from ..processes import fixed_by
from ..shared_settings import access_log, workers

__all__ = ["SERVER", "Uvicorn"]


class Uvicorn(Server):
    """Everything is said on the command line."""

    spec = ServerSpec(
        name="uvicorn",
        title="Uvicorn",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=(
            workers("Worker processes, each with its own event loop"),
            Setting(
                name="loop",
                default="auto",
                choices=("auto", "asyncio", "uvloop"),
                help="The event loop; auto takes uvloop, choose asyncio to see what that brings.",
            ),
            Setting(
                name="http",
                default="auto",
                choices=("auto", "h11", "httptools"),
                help="The HTTP parser; auto takes httptools, choose h11 to see what that brings.",
            ),
            access_log("standard output"),
        ),
        processes=fixed_by("workers"),
        suggested_for=frozenset({Interface.ASGI}),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return uvicorn with the accelerators its documentation advises."""
        return ("uvicorn[standard]",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        options: dict[str, object] = {
            "--workers": site.settings["workers"],
            "--loop": site.settings["loop"],
            "--http": site.settings["http"],
            "--backlog": BACKLOG,
            "--timeout-keep-alive": KEEP_ALIVE_S,
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            "--timeout-graceful-shutdown": 2,
            "--log-level": "info" if site.settings["access_log"] else "warning",
        }
        options |= bound_to(site.listen)
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "uvicorn",
                *words(options),
                "--access-log" if site.settings["access_log"] else "--no-access-log",
                f"{site.app.module}:application",
            ),
            environment=site.app.import_environment,
        )


SERVER = Uvicorn()
