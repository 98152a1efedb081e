"""Hypercorn: an event loop per process that calls the app through ASGI, on asyncio or uvloop."""

from __future__ import annotations

from collections.abc import Mapping

from ...native_options import OwnLanguage
from ...stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, Recipe, Server
from ..options import own, recycling, words
from ..settings import ACCESS_LOG, KEEP_ALIVE, RECYCLING, fixed_by, workers
from ..site import Site
from .command import COMMAND

__all__ = ["SERVER", "Hypercorn"]


LANGUAGE = OwnLanguage.options(
    {
        "workers": "workers",
        "worker-class": "loop",
        "max-requests": "max_requests",
        "max-requests-jitter": "max_requests_jitter",
        "keep-alive": "keep_alive",
        "access-logfile": "access_log",
        "access-log": "access_log",
    },
    abbreviates=True,
    queue="backlog",
    address="bind insecure-bind quic-bind certfile keyfile keyfile-password ca-certs",
    user="user group umask",
    logs="error-log error-logfile log-file log-config log-level access-logformat",
    paths="config",
    process="daemon pid reload graceful-timeout debug help",
)


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
            *RECYCLING,
            KEEP_ALIVE,
            ACCESS_LOG,
        ),
        processes=fixed_by("workers"),
        own=LANGUAGE,
        command=COMMAND,
    )

    cuts = True

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
            "--keep-alive": site.settings["keep_alive"],
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            "--graceful-timeout": site.patience_s(1),
            "--log-level": "warning",
        }
        options |= recycling(site.settings)
        if site.settings["access_log"]:
            options |= {"--access-logfile": site.logs / "access.log", "--log-level": "info"}
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "hypercorn",
                *words(options),
                *own(site),
                f"asgi:{site.app.module}:application",
            ),
            files={"logs/.keep": ""},
            environment=site.app.import_environment,
        )


SERVER = Hypercorn()
