"""Granian: a server in Rust that calls the app through WSGI or ASGI."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from ...native_options import OwnLanguage
from ...stack import Interface, Origin, Protocol, ServerSpec, Setting, SettingValue
from ...tunable import Formula, Tunable
from ..contract import BACKLOG, Recipe, Reload, Server
from ..options import bound_to, own, words
from ..settings import STATIC, access_log, fixed_by
from ..site import Site
from .command import COMMAND

__all__ = ["SERVER", "Granian"]

ONE_PER_CORE = Formula(per_core=1, source="granian, README, Workers and threads")
INTERFACES = {"wsgi": Interface.WSGI, "asgi": Interface.ASGI}
OWN_BACKLOG = 1024
"""Granian's default; it derives its limit of concurrent requests and so its thread count from the backlog."""


LANGUAGE = OwnLanguage.options(
    {
        "interface": "interface",
        "workers": "workers",
        "blocking-threads": "blocking_threads",
        "runtime-threads": "runtime_threads",
        "runtime-mode": "runtime_mode",
        "loop": "loop",
        "task-impl": "task_impl",
        "http": "http",
        "backpressure": "backpressure",
        "http1-keep-alive": "keep_alive",
        "no-http1-keep-alive": "keep_alive",
        "access-log": "access_log",
        "no-access-log": "access_log",
    },
    queue="backlog",
    address="host port uds uds-permissions ssl-certificate ssl-keyfile ssl-keyfile-password url-path-prefix",
    logs="log no-log log-level log-config",
    paths="working-dir factory",
    process="reload reload-paths reload-ignore-dirs reload-ignore-patterns reload-ignore-paths reload-tick "
    "pid-file workers-kill-timeout metrics metrics-address metrics-port version help",
)


def _mount(prefix: str, folder: Path) -> dict[str, object]:
    return {"--static-path-route": f"/{prefix.strip('/')}", "--static-path-mount": folder}


class Granian(Server):
    """Everything is said on the command line."""

    wants_folders = True
    spec = ServerSpec(
        name="granian",
        title="Granian",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset(INTERFACES.values()),
        settings=(
            Setting(
                name="interface",
                default="auto",
                choices=("auto", *INTERFACES),
                implies=INTERFACES,
                origin=Origin.TUNED,
                help="How the app is called; auto takes wsgi where the app offers it, say asgi to compare.",
            ),
            Setting(
                name="workers",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                tunable=Tunable(per_core=4, most=256, formula=ONE_PER_CORE),
                help="Worker processes; its documentation advises one per core.",
            ),
            Setting(
                name="blocking_threads",
                default=0,
                minimum=0,
                maximum=1024,
                only={"interface": ("wsgi",)},
                tunable=Tunable(most=64, steps=7, multiplies=True),
                help="Most threads of each worker that run Python, interface=wsgi only; 0 leaves it to "
                "Granian, set it low for an app that keeps Python's lock busy.",
            ),
            Setting(
                name="runtime_threads",
                default=1,
                maximum=64,
                help="Network threads of each worker; raise it when workers are few and cores many.",
            ),
            Setting(
                name="runtime_mode",
                default="auto",
                choices=("auto", "mt", "st"),
                help="Whether the network threads share one scheduler; its documentation compares them.",
            ),
            Setting(
                name="loop",
                default="auto",
                choices=("auto", "asyncio", "rloop", "uvloop"),
                only={"interface": ("asgi",)},
                help="The event loop, interface=asgi only; auto takes rloop or uvloop where the app's environment "
                "has it, else asyncio.",
            ),
            Setting(
                name="task_impl",
                default="asyncio",
                choices=("asyncio", "rust"),
                only={"interface": ("asgi",)},
                help="Who makes the app's tasks, interface=asgi only; rust is faster and, says its documentation, "
                "experimental.",
            ),
            Setting(
                name="http",
                default="auto",
                choices=("auto", "1", "2"),
                help="The version of HTTP; auto looks at each connection, 1 spares that look.",
            ),
            Setting(
                name="backpressure",
                default=0,
                minimum=0,
                maximum=65536,
                tunable=Tunable(least=4, most=256, steps=4, only={"interface": ("asgi",)}, multiplies=True),
                help="Most requests that each worker works on at once, the others wait; 0 is 1024 divided by "
                "workers, Granian's own choice. Set it to what the database can stand.",
            ),
            Setting(
                name="keep_alive",
                default=True,
                closes={False: "granian:keep_alive=off closes after every answer: leave it on"},
                help="Keep connections for further requests; turn it off to see what that brings.",
            ),
            STATIC,
            access_log("standard output"),
        ),
        processes=fixed_by("workers"),
        own=LANGUAGE,
        command=COMMAND,
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return granian, with the event loop that is asked for."""
        loop = settings["loop"]
        return (f"granian[{loop}]>=2.5",) if loop in ("rloop", "uvloop") else ("granian>=2.5",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        options: dict[str, object] = {
            "--interface": site.app.interface,
            "--workers": site.settings["workers"],
            "--runtime-threads": site.settings["runtime_threads"],
            "--backlog": BACKLOG,
            "--backpressure": site.settings["backpressure"] or max(1, OWN_BACKLOG // int(site.settings["workers"])),
            "--http": site.settings["http"],
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            "--workers-kill-timeout": site.patience_s(2),
            "--log-level": "info" if site.settings["access_log"] or site.production else "warning",
        }
        if site.settings["runtime_mode"] != "auto":
            # the versions for Python 3.9 have no such word
            options["--runtime-mode"] = site.settings["runtime_mode"]
        if site.settings["blocking_threads"] and site.app.interface is Interface.WSGI:
            options["--blocking-threads"] = site.settings["blocking_threads"]
        if site.app.interface is Interface.ASGI:
            options |= {"--loop": site.settings["loop"], "--task-impl": site.settings["task_impl"]}
        options |= bound_to(site.listen)
        folders = site.app.static.items() if site.settings["static"] else ()
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "granian",
                *words(options),
                *(word for prefix, folder in folders for word in words(_mount(prefix, folder))),
                *own(site),
                "--http1-keep-alive" if site.settings["keep_alive"] else "--no-http1-keep-alive",
                "--access-log" if site.settings["access_log"] else "--no-access-log",
                # by its path: a name would become part of the package that the working directory may be
                f"{site.app.entry}:application",
            ),
            environment=site.app.import_environment,
            reload=Reload(by=signal.SIGHUP, source="granian, README, Workers lifecycle"),
        )


SERVER = Granian()
