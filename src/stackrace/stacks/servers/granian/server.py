"""Granian: a server in Rust that calls the app through WSGI or ASGI."""

from __future__ import annotations

import signal

from ...native_files import Concern
from ...native_options import NativeOptions, Option, decided, switches
from ...setting import Formula, Interface, Origin, Protocol, Setting, Settings, Tunable
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Reload, Server
from ..settings import ADDRESS, STATIC, access_log, command_words, fixed_by, workers
from ..site import Site

_ONE_PER_CORE = Formula(per_core=1, source="granian, README, Workers and threads")
_INTERFACES = {"wsgi": Interface.WSGI, "asgi": Interface.ASGI, "asginl": Interface.ASGI}
_ASGI = ("asgi", "asginl")
_DEFAULT_BACKLOG = 1024
"""Granian's default; it derives its limit of concurrent requests, and so its thread count, from the backlog."""


def _backpressure(site: Site) -> int:
    return int(site.settings["backpressure"]) or max(1, _DEFAULT_BACKLOG // int(site.settings["workers"]))


def _blocking_threads(site: Site) -> object:
    return (site.settings["blocking_threads"] or None) if site.app.interface is Interface.WSGI else None


def _mounts(site: Site) -> tuple[object, ...]:
    folders = site.app.static.items() if site.settings["static"] else ()
    return tuple(
        word
        for prefix, folder in folders
        for word in ("--static-path-route", f"/{prefix.strip('/')}", "--static-path-mount", folder)
    )


_OPTIONS = NativeOptions(
    programs=("granian",),
    prefix="GRANIAN_",
    order="interface workers blocking_threads loop backpressure keep_alive static access_log",
    rows=(
        Option(
            "interface",
            setting=Setting(
                name="interface",
                default="auto",
                choices=("auto", *_INTERFACES),
                implies=_INTERFACES,
                origin=Origin.TUNED,
                help="How the app is called; auto takes wsgi where the app offers it, say asgi to compare. "
                "asginl is asgi without lifespan: the app is not told that it starts.",
            ),
            values={name: name for name in _INTERFACES},
            written=lambda site: "asginl" if site.settings["interface"] == "asginl" else site.app.interface,
        ),
        Option(
            "workers",
            setting=workers("Worker processes", "its documentation advises one per core", formula=_ONE_PER_CORE),
            default=1,
        ),
        Option("backlog", is_queue=True, written=BACKLOG),
        Option(
            "backpressure",
            setting=Setting(
                name="backpressure",
                default=0,
                minimum=0,
                maximum=65536,
                tunable=Tunable(least=4, most=256, steps=4, only={"interface": _ASGI}, multiplies=True),
                help="Most requests that each worker works on at once, the others wait; 0 is 1024 divided by "
                "workers, Granian's own choice. Set it to what the database can stand.",
            ),
            written=_backpressure,
        ),
        # its stop waits for kept connections; no load is left when a stack is stopped
        Option("workers-kill-timeout", concern=Concern.PROCESS, written=lambda site: site.patience_s(2)),
        Option(
            "log-level",
            concern=Concern.LOGS,
            written=lambda site: "info" if site.settings["access_log"] or site.production else "warning",
        ),
        Option(
            "blocking-threads",
            setting=Setting(
                name="blocking_threads",
                default=0,
                minimum=0,
                maximum=1024,
                only={"interface": ("wsgi",)},
                tunable=Tunable(most=64, steps=7, multiplies=True),
                help="Most threads of each worker that run Python, interface=wsgi only; 0 leaves it to "
                "Granian, set it low for an app that keeps Python's lock busy.",
            ),
            written=_blocking_threads,
        ),
        Option(
            "loop",
            setting=Setting(
                name="loop",
                default="auto",
                choices=("auto", "asyncio", "rloop", "uvloop"),
                only={"interface": _ASGI},
                help="The event loop, interface=asgi only; auto takes rloop or uvloop where the app's environment "
                "has it, else asyncio.",
            ),
            written=lambda site: site.settings["loop"] if site.app.interface is Interface.ASGI else None,
        ),
        *ADDRESS,
        Option("", setting=STATIC, written=_mounts),
        Option(
            "http1-keep-alive no-http1-keep-alive",
            setting=Setting(
                name="keep_alive",
                default=True,
                closes={False: "granian:keep_alive=off closes after every answer: leave it on"},
                help="Keep connections for further requests; turn it off to see what that brings.",
            ),
            is_switch=True,
        ),
        Option("access-log no-access-log", setting=access_log("standard output"), is_switch=True),
        *decided(Concern.ADDRESS, "uds-permissions, ssl-certificate, ssl-keyfile, ssl-keyfile-password"),
        *decided(Concern.ADDRESS, "url-path-prefix"),
        *switches("log, no-log", Concern.LOGS),
        *decided(Concern.LOGS, "log-config"),
        *decided(Concern.FOLDER, "working-dir"),
        *switches("factory", Concern.PATHS),
        Option("reload", concern=Concern.PROCESS, is_switch=True, is_for_development=True),
        *decided(Concern.PROCESS, "reload-paths, reload-ignore-dirs, reload-ignore-patterns, reload-ignore-paths"),
        *decided(Concern.PROCESS, "reload-tick, pid-file, metrics-address, metrics-port"),
        *switches("metrics, version, help", Concern.PROCESS),
        *switches("http1-pipeline-flush, ws, respawn-failed-workers"),
    ),
)


class Granian(Server):
    """Granian, configured on the command line only."""

    needs_static_folders = True
    spec = ServerSpec(
        name="granian",
        title="Granian",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset(_INTERFACES.values()),
        settings=_OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        native=_OPTIONS,
        package="granian",
    )

    def sends_lifespan(self, settings: Settings) -> bool:
        """Return False for ``asginl``, ASGI without lifespan."""
        return settings["interface"] != "asginl"

    def requirements(self, settings: Settings) -> tuple[str, ...]:
        """Return granian with the chosen event loop."""
        loop = settings["loop"]
        return (f"granian[{loop}]>=2.5",) if loop in ("rloop", "uvloop") else ("granian>=2.5",)

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        # by path: by name, the module would become part of a package if the working directory is one
        app = f"{site.app.entry}:application"
        return Recipe(
            command=(str(site.app.python), "-m", "granian", *command_words(_OPTIONS, site), app),
            environment=site.app.import_environment,
            reload=Reload(by=signal.SIGHUP, source="granian, README, Workers lifecycle"),
        )


SERVER = Granian()
