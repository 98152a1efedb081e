"""Uvicorn: an event loop per process that calls the app through ASGI."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from ...native_options import OwnLanguage
from ...stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, Recipe, Reload, Server
from ..options import bound_to, own, recycling, words
from ..settings import KEEP_ALIVE, RECYCLING, access_log, fixed_by, workers
from ..site import Site
from .command import COMMAND

__all__ = ["SERVER", "Uvicorn"]


LANGUAGE = OwnLanguage.options(
    {
        "workers": "workers",
        "loop": "loop",
        "http": "http",
        "limit-concurrency": "limit_concurrency",
        "limit-max-requests": "max_requests",
        "limit-max-requests-jitter": "max_requests_jitter",
        "timeout-keep-alive": "keep_alive",
        "access-log": "access_log",
        "no-access-log": "access_log",
    },
    queue="backlog",
    address="host port uds fd ssl-keyfile ssl-certfile ssl-keyfile-password interface http2",
    logs="log-config log-level use-colors no-use-colors",
    paths="app-dir factory app entrypoint",
    process="reload reload-dir reload-include reload-exclude reload-delay timeout-graceful-shutdown version help",
)


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
            Setting(
                name="limit_concurrency",
                default=0,
                minimum=0,
                maximum=65536,
                help="Connections of each worker beyond which it answers 503 at once; 0 is no limit.",
            ),
            *RECYCLING,
            KEEP_ALIVE,
            access_log("standard output"),
        ),
        processes=fixed_by("workers"),
        own=LANGUAGE,
        command=COMMAND,
        suggested_for=frozenset({Interface.ASGI}),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return uvicorn with the accelerators its documentation advises; 0.22 is the first to bound its stop.

        An app that brings an older one is raced with that: see ``recipe``.
        """
        return ("uvicorn[standard]>=0.22",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        is_old = site.app.has_before("uvicorn", 0, 22)
        options: dict[str, object] = {
            "--workers": site.settings["workers"],
            "--loop": site.settings["loop"],
            "--http": site.settings["http"],
            "--backlog": BACKLOG,
            "--timeout-keep-alive": site.settings["keep_alive"],
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            **({} if is_old else {"--timeout-graceful-shutdown": site.patience_s(2)}),
            "--forwarded-allow-ips": site.believed,
            "--log-level": "info" if site.settings["access_log"] or site.production else "warning",
        }
        if site.settings["limit_concurrency"]:
            options["--limit-concurrency"] = site.settings["limit_concurrency"]
        options |= recycling(site.settings, "--limit-") | bound_to(site.listen)
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "uvicorn",
                *words(options),
                *own(site),
                "--access-log" if site.settings["access_log"] else "--no-access-log",
                f"{site.app.module}:application",
            ),
            environment=site.app.import_environment,
            reload=Reload(by=signal.SIGHUP, source="uvicorn, Settings, Built-in process manager")
            if int(site.settings["workers"]) > 1
            else None,
        )


SERVER = Uvicorn()
