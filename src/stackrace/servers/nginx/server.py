"""nginx: a front end that forwards in four protocols and serves static files itself."""

from __future__ import annotations

from pathlib import Path

from ...model.stack import Origin, Protocol, ServerSpec, Setting, Socket
from ..contract import Needs, Recipe, Server, Site

__all__ = ["SERVER", "Nginx"]

ANY_SOCKET = (Socket.UNIX, Socket.TCP)


class Nginx(Server):
    """Renders one ``nginx.conf``; the protocol of the next hop chooses the forward block."""

    spec = ServerSpec(
        name="nginx",
        title="nginx",
        listens=frozenset({Protocol.HTTP}),
        forwards={
            Protocol.HTTP: ANY_SOCKET,
            Protocol.FASTCGI: ANY_SOCKET,
            Protocol.SCGI: ANY_SOCKET,
            Protocol.UWSGI: ANY_SOCKET,
        },
        settings=(
            Setting(
                name="workers",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Worker processes, each with its own event loop; raise it to the number of cores.",
            ),
            Setting(
                name="access_log",
                default=False,
                help="Write a line per request to logs/access.log; turn it on to measure what logging costs.",
            ),
        ),
    )
    needs = Needs(
        apt=("nginx-light",),
        binary="nginx",
        files=(Path("/etc/nginx/mime.types"),),
        version=("-v",),
    )

    def recipe(self, site: Site) -> Recipe:
        """Start the master in the foreground; TERM is its fast shutdown, QUIT would wait for clients."""
        # -e: without it nginx opens the log file compiled into it before it has read the configuration.
        config = str(site.directory / "nginx.conf")
        command = ("nginx", "-e", "stderr", "-p", str(site.directory), "-c", config)
        return Recipe(
            command=command,
            check=(*command, "-t", "-q"),
            files={"nginx.conf": self._config(site), "logs/.keep": "", "tmp/.keep": ""},
        )

    def _config(self, site: Site) -> str:
        protocol = site.upstream[0].protocol
        block = "http.conf.j2" if protocol is Protocol.HTTP else "gateway.conf.j2"
        return self.render(
            "nginx.conf.j2",
            site,
            upstream=self.render("upstream.conf.j2", site, protocol=protocol),
            forward=self.render(block, site, protocol=protocol),
        )


SERVER = Nginx()
