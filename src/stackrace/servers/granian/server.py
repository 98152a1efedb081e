"""Granian: a server in Rust that calls the app through WSGI or ASGI."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Origin, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, Recipe, Server, Site
from ..options import bound_to, words
from ..processes import fixed_by
from ..shared_settings import access_log

__all__ = ["SERVER", "Granian"]

INTERFACES = {"wsgi": Interface.WSGI, "asgi": Interface.ASGI}
OWN_BACKLOG = 1024
"""Granian's default; it derives its limit of concurrent requests and so its thread count from the backlog."""


class Granian(Server):
    """Everything is said on the command line."""

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
                help="Worker processes; its documentation advises one per core.",
            ),
            Setting(
                name="blocking_threads",
                default=0,
                minimum=0,
                maximum=1024,
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
            access_log("standard output"),
        ),
        processes=fixed_by("workers"),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return granian."""
        return ("granian>=2.5",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        options: dict[str, object] = {
            "--interface": site.app.interface,
            "--workers": site.settings["workers"],
            "--runtime-threads": site.settings["runtime_threads"],
            "--runtime-mode": site.settings["runtime_mode"],
            "--backlog": BACKLOG,
            "--backpressure": max(1, OWN_BACKLOG // int(site.settings["workers"])),
            # Its stop waits for kept connections; no load is left when a stack is stopped.
            "--workers-kill-timeout": 2,
            "--log-level": "info" if site.settings["access_log"] else "warning",
        }
        if site.settings["blocking_threads"] and site.app.interface is Interface.WSGI:
            options["--blocking-threads"] = site.settings["blocking_threads"]
        options |= bound_to(site.listen)
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "granian",
                *words(options),
                "--access-log" if site.settings["access_log"] else "--no-access-log",
                f"{site.app.module}:application",
            ),
            environment=site.app.import_environment,
        )


SERVER = Granian()
