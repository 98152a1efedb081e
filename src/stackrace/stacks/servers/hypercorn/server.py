"""Hypercorn: an event loop per process that calls the app through ASGI, on asyncio or uvloop."""

from __future__ import annotations

import tomllib

from ...native_files import Concern
from ...native_options import NativeOptions, Option, decided, passed, switches
from ...setting import Interface, Protocol, Setting, Settings
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Server
from ..settings import ACCESS_LOG, KEEP_ALIVE, address, command_words, fixed_by, recycling, workers
from ..site import Site


def _toml_options(text: str, _: str) -> list[tuple[str, str | None]]:
    """Return the options of TOML, or of Python that is also valid TOML; raises ValueError for anything else."""
    names = {row.file_key: row.long[0] for row in _OPTIONS.rows if row.file_key}
    options: list[tuple[str, str | None]] = []
    for key, value in tomllib.loads(text).items():
        name = names.get(key, key if "_" in key else f"{key}_")
        if value is not False:
            said = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            options.append((name, None if value is True else said))
    return options


_OPTIONS = NativeOptions(
    programs=("hypercorn",),
    abbreviates=True,
    order="workers loop max_requests max_requests_jitter keep_alive access_log",
    rows=(
        Option("bind b", concern=Concern.ADDRESS, written=address),
        Option(
            "workers w",
            setting=workers("Worker processes, each with its own event loop"),
            default=1,
            # with 0 its only process serves
            values={"0": 1},
        ),
        Option(
            "worker-class k",
            setting=Setting(
                name="loop",
                default="asyncio",
                choices=("asyncio", "uvloop"),
                help="The event loop; choose uvloop for speed.",
            ),
        ),
        Option("backlog", is_queue=True, written=BACKLOG),
        Option("keep-alive", setting=KEEP_ALIVE, key="keep_alive_timeout", default=5),
        # its stop waits for kept connections; no load is left when a stack is stopped
        Option("graceful-timeout", concern=Concern.PROCESS, written=lambda site: site.patience_s(1)),
        Option(
            "log-level",
            key="loglevel",
            concern=Concern.LOGS,
            written=lambda site: "info" if site.settings["access_log"] else "warning",
        ),
        *recycling(),
        Option(
            "access-logfile access-log",
            setting=ACCESS_LOG,
            key="accesslog",
            written=lambda site: site.logs / "access.log" if site.settings["access_log"] else None,
        ),
        *decided(Concern.ADDRESS, "insecure-bind, quic-bind, certfile, keyfile, keyfile-password, ca-certs"),
        *decided(Concern.USER, "user u, group g"),
        *decided(Concern.UMASK, "umask m"),
        Option("error-logfile", concern=Concern.LOGS, key="errorlog"),
        Option("log-config", concern=Concern.LOGS, key="logconfig"),
        Option("access-logformat", concern=Concern.LOGS, key="access_log_format"),
        *decided(Concern.LOGS, "error-log, log-file"),
        Option("config c", concern=Concern.PATHS, reads=_toml_options),
        Option("pid p", concern=Concern.PROCESS, key="pid_path"),
        Option("daemon D", concern=Concern.PROCESS, is_switch=True),
        Option("reload", concern=Concern.PROCESS, key="use_reloader", is_switch=True, is_for_development=True),
        Option("debug", concern=Concern.PROCESS, is_switch=True, is_for_development=True),
        *switches("help", Concern.PROCESS),
        *passed("ciphers, read-timeout, root-path, server-names, statsd-host, statsd-prefix, verify-mode"),
        *passed("websocket-ping-interval"),
    ),
)


class Hypercorn(Server):
    """Hypercorn, configured on the command line only."""

    spec = ServerSpec(
        name="hypercorn",
        title="Hypercorn",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=_OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        native=_OPTIONS,
        package="hypercorn",
    )

    drops_requests_on_stop = True

    def requirements(self, settings: Settings) -> tuple[str, ...]:
        """Return hypercorn, with uvloop if chosen."""
        return ("hypercorn[uvloop]",) if settings["loop"] == "uvloop" else ("hypercorn",)

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        app = f"asgi:{site.app.module}:application"
        return Recipe(
            command=(str(site.app.python), "-m", "hypercorn", *command_words(_OPTIONS, site), app),
            files={"logs/.keep": ""},
            environment=site.app.import_environment,
        )


SERVER = Hypercorn()
