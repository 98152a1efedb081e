"""Uvicorn: an event loop per process that calls the app through ASGI."""

from __future__ import annotations

import signal

from ...native_files import Concern
from ...native_options import Accelerator, NativeOptions, Option, decided, switches
from ...setting import Interface, Protocol
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Reload, Server
from ..settings import ADDRESS, KEEP_ALIVE, access_log, command_words, fixed_by, recycling, workers
from ..site import Site

_OPTIONS = NativeOptions(
    # fastapi run is Uvicorn with another command line
    programs=("uvicorn", "fastapi"),
    verbs={"run": "", "dev": "--reload"},
    prefix="UVICORN_",
    order="workers max_requests max_requests_jitter keep_alive access_log",
    accelerators=(
        Accelerator(package="uvloop", option="loop", value="asyncio"),
        Accelerator(package="httptools", option="http", value="h11"),
    ),
    rows=(
        Option(
            "workers",
            setting=workers("Worker processes, each with its own event loop"),
            default=1,
            values={"0": 1},
            variable="WEB_CONCURRENCY",
        ),
        Option("backlog", is_queue=True, written=BACKLOG),
        Option("timeout-keep-alive", setting=KEEP_ALIVE, default=5),
        Option(
            "timeout-graceful-shutdown",
            concern=Concern.PROCESS,
            # its stop waits for kept connections; no load is left when a stack is stopped
            written=lambda site: None if site.app.has_before("uvicorn", 0, 22) else site.patience_s(2),
        ),
        Option(
            "timeout-worker-healthcheck",
            # its default of 5 s kills a worker that waits for a core on a busy machine
            written=lambda site: None if site.app.has_before("uvicorn", 0, 37) else 60,
        ),
        Option("forwarded-allow-ips", written=lambda site: site.trusted_proxies),
        Option(
            "log-level",
            concern=Concern.LOGS,
            written=lambda site: "info" if site.settings["access_log"] or site.production else "warning",
        ),
        *recycling("limit-"),
        *ADDRESS,
        Option("access-log no-access-log", setting=access_log("standard output"), is_switch=True),
        *decided(Concern.ADDRESS, "fd, ssl-keyfile, ssl-certfile, ssl-keyfile-password, interface, http2"),
        *decided(Concern.LOGS, "log-config"),
        *switches("use-colors, no-use-colors", Concern.LOGS),
        *decided(Concern.FOLDER, "app-dir"),
        *decided(Concern.PATHS, "app, entrypoint"),
        *switches("factory", Concern.PATHS),
        Option("reload", concern=Concern.PROCESS, is_switch=True, is_for_development=True),
        *decided(Concern.PROCESS, "reload-dir, reload-include, reload-exclude, reload-delay"),
        *switches("version, help", Concern.PROCESS),
        *switches("proxy-headers, server-header, date-header, reset-contextvars"),
    ),
)


class Uvicorn(Server):
    """Uvicorn, configured on the command line only."""

    spec = ServerSpec(
        name="uvicorn",
        title="Uvicorn",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=_OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        native=_OPTIONS,
        suggested_for=frozenset({Interface.ASGI}),
        package="uvicorn",
    )
    # with the accelerators that its documentation recommends; 0.22 is the first with a timeout for its stop, and an
    # app that brings an older one is raced with that, without the timeout
    packages = ("uvicorn[standard]>=0.22",)

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        app = f"{site.app.module}:application"
        return Recipe(
            command=(str(site.app.python), "-m", "uvicorn", *command_words(_OPTIONS, site), app),
            environment=site.app.import_environment,
            reload=Reload(
                by=signal.SIGHUP,
                source="uvicorn, Settings, Built-in process manager",
                loses="resets connections that a worker has not read from yet",
            )
            if int(site.settings["workers"]) > 1
            else None,
        )


SERVER = Uvicorn()
