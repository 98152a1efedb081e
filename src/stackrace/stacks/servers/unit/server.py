"""nginx Unit: hosts WSGI and ASGI apps and plain files, and forwards HTTP."""

from __future__ import annotations

import json
import signal

from ...setting import Interface, Protocol, Setting, Socket
from ...stack import ServerSpec
from ..contract import BACKLOG, Fault, Needs, Recipe, Server
from ..settings import ACCESS_LOG, KEEP_ALIVE, RECYCLING, fixed_by, processes, threads, workers
from ..site import BODILESS, Site, bodiless_files

_HOSTED = {"wsgi": Interface.WSGI, "asgi": Interface.ASGI}

_FORWARDED = {"client_ip": "X-Forwarded-For", "protocol": "X-Forwarded-Proto", "source": ["127.0.0.0/8"]}
"""Proxy headers that it trusts. Source: unit.nginx.org/configuration/#ip-protocol-forwarding."""


class Unit(Server):
    """nginx Unit with a ``conf.json`` in its state directory, from which it starts as after a stop.

    That saves a launcher that would PUT the same JSON over the control socket. Its routes cannot strip a prefix
    from a path, so static files are left to the app. Its connections to the next hop are never kept.
    Source: unit.nginx.org/configuration/ and /howto/source/#startup-options.
    """

    spec = ServerSpec(
        name="unit",
        title="nginx Unit",
        listens=frozenset({Protocol.HTTP}),
        # its upstreams are IP sockets
        forwards={Protocol.HTTP: (Socket.TCP,)},
        hosts=frozenset({*_HOSTED.values(), Interface.FILES}),
        settings=(
            Setting(
                name="interface",
                default="auto",
                choices=("auto", *_HOSTED),
                implies=_HOSTED,
                help="Which interface of the app it calls; auto takes what the app offers, WSGI before ASGI.",
            ),
            processes("Processes of the app"),
            threads("Threads of each process of the app", 1),
            workers("Threads of the router (listen_threads), which meets the clients"),
            RECYCLING[0],
            KEEP_ALIVE,
            ACCESS_LOG,
        ),
        processes=fixed_by("processes"),
    )
    faults = (
        Fault(text="It hosts apps of its module's Python version."),
        Fault(text="Its files have no answer for If-None-Match."),
        Fault(text="Some of its starts never answer: the stack is then refused."),
        Fault(text="It cuts connections that send more than 16 KiB in chunks."),
        Fault(text="Over http it ends a HEAD answer without a length with an empty chunk."),
    )
    needs = Needs(
        binary="unitd",
        version=("--version",),
        elsewhere="install version 1.33 or later and its module for the app's Python, with unitd on PATH: "
        "unit.nginx.org/installation/",
    )

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs Unit in the foreground with a state directory of its own; QUIT stops it,
        because TERM may leave processes."""
        folder = site.directory
        return Recipe(
            command=(
                *("unitd", "--no-daemon"),
                *("--control", f"unix:{folder / 'control'}"),
                *("--pid", str(folder / "unit.pid")),
                *("--log", str(folder / "logs" / "unit.log")),
                *("--statedir", str(folder / "state")),
                *("--tmpdir", str(folder / "tmp")),
            ),
            files={
                "state/conf.json": json.dumps(_config(site), indent=4) + "\n",
                "logs/.keep": "",
                "tmp/.keep": "",
                **(bodiless_files(site.app) if _hosts(site) else {}),
            },
            stop=signal.SIGQUIT,
            # it runs on without a listener
            unloadable=("failed to start application",),
        )


def _hosts(site: Site) -> bool:
    return not site.upstream and site.app.interface is not Interface.FILES


def _config(site: Site) -> dict[str, object]:
    listen = f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address
    config: dict[str, object] = {
        "settings": {
            "listen_threads": site.settings["workers"],
            "http": {
                "idle_timeout": site.settings["keep_alive"],
                "max_body_size": 2**31 - 1,
                # otherwise it answers 411 to a body in chunks
                "chunked_transform": True,
            },
        },
    }
    if site.settings["access_log"]:
        config["access_log"] = str(site.directory / "logs" / "access.log")
    if site.upstream:
        config["upstreams"] = {"app": {"servers": {endpoint.address: {} for endpoint in site.upstream}}}
        passed = "upstreams/app"
    elif not _hosts(site):
        config["routes"] = [{"action": {"share": f"{site.app.root}$uri"}}]
        passed = "routes"
    else:
        config["applications"] = {"app": _application(site)}
        passed = "applications/app"
    return {"listeners": {listen: {"pass": passed, "backlog": BACKLOG, "forwarded": _FORWARDED}}, **config}


def _application(site: Site) -> dict[str, object]:
    return {
        "type": "python 3",
        "protocol": str(site.app.interface),
        "processes": site.settings["processes"],
        "threads": site.settings["threads"],
        **({"limits": {"requests": most}} if (most := site.settings["max_requests"]) else {}),
        "home": str(site.app.home),
        "path": [str(folder) for folder in (site.directory, *site.app.import_path)],
        "working_directory": str(site.app.root),
        # it would send the app's body to HEAD
        "module": BODILESS,
        "callable": "application",
    }


SERVER = Unit()
