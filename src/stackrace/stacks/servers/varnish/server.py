"""Varnish: a cache for HTTP that forwards what it does not keep, and serves no files."""

from __future__ import annotations

from pathlib import Path

from ...native_files import Signs
from ...setting import Origin, Protocol, Setting
from ...stack import CACHE, ServerSpec
from ..contract import BACKLOG, Needs, Recipe, Server
from ..settings import ANY_SOCKET, KEEP_ALIVE, UPSTREAM_KEEP_ALIVE, workers
from ..site import Site


class Varnish(Server):
    """Varnish with one ``default.vcl``; it has no ``access_log``: a separate program writes its logs."""

    spec = ServerSpec(
        name="varnish",
        title="Varnish",
        signs=Signs(
            files=r".*\.vcl(\..+)?", forwards=r"^\s*backend\s+\w+\s*\{", documents=r"image:\s*\S*\bvarnish(?![\w-])"
        ),
        listens=frozenset({Protocol.HTTP}),
        forwards={Protocol.HTTP: ANY_SOCKET},
        settings=(
            Setting(
                name=CACHE,
                default=False,
                origin=Origin.TUNED,
                help="Keep answers as its built-in rules have it: GET without cookies, two minutes unless the app "
                "says otherwise; off passes everything on, so that the app is measured.",
            ),
            workers("Thread pools (thread_pools), each of up to 5000 threads"),
            KEEP_ALIVE,
            UPSTREAM_KEEP_ALIVE,
        ),
    )
    # It compiles its configuration to machine code at each start.
    drops_requests_on_stop = True
    needs = Needs(
        apt=("varnish", "gcc", "libc6-dev"),
        dnf=("varnish", "gcc", "glibc-devel"),
        apk=("varnish", "gcc", "musl-dev"),
        binary="varnishd",
        files=(Path("/usr/bin/gcc"), Path("/usr/include/stdio.h")),
        version=("-V",),
    )

    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs manager and worker in the foreground, without jail, management port or shared
        folders."""
        vcl = str(site.directory / "default.vcl")
        listen = f"{site.listen.path},HTTP,mode=666" if site.listen.is_unix else f"{site.listen.address},HTTP"
        parameters = {
            "thread_pools": site.settings["workers"],
            "listen_depth": BACKLOG,
            "timeout_idle": site.settings["keep_alive"],
        }
        return Recipe(
            command=(
                "varnishd",
                "-F",
                *("-j", "none"),
                *("-n", str(site.directory / "work")),
                *("-a", listen),
                *("-T", "none"),
                *("-f", vcl),
                *("-s", "malloc,64m"),
                *(word for name, value in parameters.items() for word in ("-p", f"{name}={value}")),
            ),
            check=("varnishd", "-C", "-j", "none", "-n", str(site.directory / "check"), "-f", vcl),
            files={"default.vcl": self.render("default.vcl.j2", site)},
        )


SERVER = Varnish()
