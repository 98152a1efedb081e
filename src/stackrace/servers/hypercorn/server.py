"""Hypercorn: an event loop per process that calls the app through ASGI, on asyncio or uvloop."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, KEEP_ALIVE_S, Recipe, Server, Site
from ..options import words
from ..processes import fixed_by
from ..shared_settings import ACCESS_LOG, workers

__all__ = ["SERVER", "Hypercorn"]


class Hypercorn(Server):
    """Everything is said on the command line."""

    spec = ServerSpec(
        name="hypercorn",
        title="Hypercorn",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=(
            workers("Worker processes, each with its own event loop"),
            Setting(
                name="loop",
                default="asyncio",
                choices=("asyncio", "uvloop"),
                help="The event loop; choose uvloop for speed.",
            ),
            ACCESS_LOG,
        ),
        processes=fixed_by("workers"),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return hypercorn, with uvloop where it is asked for."""
        return ("hypercorn[uvloop]",) if settings["loop"] == "uvloop" else ("hypercorn",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        options: dict[str, object] = {
            "--bind": f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address,
            "--workers": site.settings["workers"],
            "--worker-class": site.settings["loop"],
            "--backlog": BACKLOG,
            "--keep-alive": KEEP_ALIVE_S,
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            "--graceful-timeout": 1,
            "--log-level": "warning",
        }
        if site.settings["access_log"]:
            options |= {"--access-logfile": site.directory / "logs" / "access.log", "--log-level": "info"}
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "hypercorn",
                *words(options),
                f"asgi:{site.app.module}:application",
            ),
            files={"logs/.keep": ""},
            environment=site.app.import_environment,
        )


SERVER = Hypercorn()
