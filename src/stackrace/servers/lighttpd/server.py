"""lighttpd: a front end that forwards HTTP, FastCGI and SCGI and serves static files itself."""

from __future__ import annotations

from ...model.stack import Origin, Protocol, ServerSpec, Setting, Socket
from ..contract import Needs, Recipe, Server, Site

__all__ = ["SERVER", "Lighttpd"]

ANY_SOCKET = (Socket.UNIX, Socket.TCP)
MODULES = {Protocol.HTTP: "proxy", Protocol.FASTCGI: "fastcgi", Protocol.SCGI: "scgi"}


class Lighttpd(Server):
    """Renders one ``lighttpd.conf``; AJP is left out, since its module hangs on a POST to flup."""

    spec = ServerSpec(
        name="lighttpd",
        title="lighttpd",
        listens=frozenset({Protocol.HTTP}),
        forwards=dict.fromkeys(MODULES, ANY_SOCKET),
        settings=(
            Setting(
                name="workers",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Processes that share the port; 1 is lighttpd's own default, a single event loop.",
            ),
            Setting(
                name="access_log",
                default=False,
                help="Write a line per request to logs/access.log; turn it on to measure what logging costs.",
            ),
        ),
    )
    needs = Needs(apt=("lighttpd",), binary="lighttpd", version=("-v",))

    def recipe(self, site: Site) -> Recipe:
        """Start in the foreground; TERM ends it at once, INT would wait for kept connections."""
        config = str(site.directory / "lighttpd.conf")
        return Recipe(
            command=("lighttpd", "-D", "-f", config),
            check=("lighttpd", "-tt", "-f", config),
            files={
                "lighttpd.conf": self._config(site),
                "logs/.keep": "",
                "tmp/.keep": "",
                "htdocs/.keep": "",
            },
        )

    def _config(self, site: Site) -> str:
        protocol = site.upstream[0].protocol
        block = "http.conf.j2" if protocol is Protocol.HTTP else "gateway.conf.j2"
        forward = self.render(block, site, protocol=protocol)
        return self.render("lighttpd.conf.j2", site, module=MODULES[protocol], forward=forward)


SERVER = Lighttpd()
