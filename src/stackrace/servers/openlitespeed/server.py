"""OpenLiteSpeed: a front end that forwards in five protocols and serves files itself."""

from __future__ import annotations

from pathlib import Path

from ...model.stack import Interface, Protocol, ServerSpec, Socket
from ..contract import Needs, Recipe, Server, Site
from ..shared_settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers

__all__ = ["SERVER", "OpenLiteSpeed"]

KINDS = {
    Protocol.HTTP: "proxy",
    Protocol.FASTCGI: "fcgi",
    Protocol.SCGI: "scgi",
    Protocol.UWSGI: "uwsgi",
    # it knows AJP as what servlet engines speak
    Protocol.AJP: "servlet",
}
MIME = """\
html, htm = text/html
txt = text/plain
css = text/css
js = text/javascript
json = application/json
xml = text/xml
png = image/png
jpg, jpeg = image/jpeg
gif = image/gif
svg = image/svg+xml
ico = image/x-icon
woff2 = font/woff2
"""


class OpenLiteSpeed(Server):
    """Renders a server's and a virtual host's configuration below a server root of the site's own.

    Whatever its root, it also writes below /tmp/lshttpd and /dev/shm, so that one of it can run at a time.
    """

    spec = ServerSpec(
        name="openlitespeed",
        title="OpenLiteSpeed",
        listens=frozenset({Protocol.HTTP}),
        sockets=(Socket.TCP,),
        forwards=dict.fromkeys(KINDS, ANY_SOCKET) | {Protocol.AJP: (Socket.TCP,)},
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Worker processes (httpdWorkers)"), UPSTREAM_KEEP_ALIVE, ACCESS_LOG),
    )
    needs = Needs(
        binary="openlitespeed",
        # where its own installer puts it
        folders=(Path("/usr/local/lsws/bin"),),
        version=("-v",),
        elsewhere="install it as docs.openlitespeed.org/installation/ says; it is looked for on PATH and in "
        "/usr/local/lsws/bin",
    )

    def recipe(self, site: Site) -> Recipe:
        """Start it in the foreground: -n with workers below a main process, -d all in one process."""
        return Recipe(
            command=("openlitespeed", "-n" if int(site.settings["workers"]) > 1 else "-d"),
            files={
                "conf/httpd_config.conf": self.render("httpd_config.conf.j2", site),
                "conf/vhconf.conf": self._virtual_host(site),
                "conf/mime.properties": MIME,
                **{f"{folder}/.keep": "" for folder in ("logs", "tmp", "htdocs")},
            },
            # its server root, which holds conf/; every path of its own follows from it
            environment={
                "LSWS_HOME": str(site.directory),
                "OLS_PID_FILE": str(site.directory / "openlitespeed.pid"),
            },
        )

    def _virtual_host(self, site: Site) -> str:
        protocol = site.upstream[0].protocol if site.upstream else Protocol.HTTP
        keep = site.settings["upstream_keep_alive"] and protocol is Protocol.HTTP
        return self.render("vhconf.conf.j2", site, kind=KINDS[protocol], keep=keep)


SERVER = OpenLiteSpeed()
