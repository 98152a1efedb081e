"""nginx: a front end that forwards in four protocols and serves files itself."""

from __future__ import annotations

from pathlib import Path

from ...model.stack import Interface, Protocol, ServerSpec
from ..contract import Needs, Recipe, Server, Site
from ..processes import fixed_by
from ..shared_settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers

__all__ = ["SERVER", "Nginx"]


class Nginx(Server):
    """Renders one ``nginx.conf``; the next hop's protocol, or none, chooses its inner block."""

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
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Worker processes, each with its own event loop"), UPSTREAM_KEEP_ALIVE, ACCESS_LOG),
        processes=fixed_by("workers"),
        suggested_for=frozenset({Interface.FILES}),
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
        if not site.upstream:
            return self.render("nginx.conf.j2", site, upstream="", inner=self.render("files.conf.j2", site))
        protocol = site.upstream[0].protocol
        is_http = protocol is Protocol.HTTP
        keep = is_http and site.settings["upstream_keep_alive"]
        return self.render(
            "nginx.conf.j2",
            site,
            upstream=self.render("upstream.conf.j2", site, keep=keep),
            inner=self.render("http.conf.j2" if is_http else "gateway.conf.j2", site, protocol=protocol),
        )


SERVER = Nginx()
