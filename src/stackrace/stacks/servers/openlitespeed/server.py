"""OpenLiteSpeed: a front end that forwards in five protocols and serves files itself."""

from __future__ import annotations

from pathlib import Path

from ...setting import Interface, Protocol, Socket
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers
from ..site import Site
from ..templates import ANY, MIME_TYPES, to_the_end

_KINDS = {
    Protocol.HTTP: "proxy",
    Protocol.FASTCGI: "fcgi",
    Protocol.SCGI: "scgi",
    Protocol.UWSGI: "uwsgi",
    # to OpenLiteSpeed, AJP is the protocol of servlet engines
    Protocol.AJP: "servlet",
}
# unlisted files need a type: files without one crash it
_MIME = f"default = {ANY}\n" + "".join(f"{', '.join(suffixes)} = {kind}\n" for kind, suffixes in MIME_TYPES.items())


class OpenLiteSpeed(Server):
    """OpenLiteSpeed with the configurations of a server and a virtual host, below a server root in the site.

    It also writes below /tmp/lshttpd and /dev/shm, whatever its root, so only one can run at a time. Its
    processors stand in the server's configuration, where the balancer finds them. Its AJP garbles answers to
    requests with a body, never answers some requests, and sends paths decoded (1.9.1, built from its sources): the
    comparison of answers decides whether it is raced.
    """

    spec = ServerSpec(
        name="openlitespeed",
        title="OpenLiteSpeed",
        listens=frozenset({Protocol.HTTP}),
        sockets=(Socket.TCP,),
        alone=True,
        forwards=dict.fromkeys(_KINDS, ANY_SOCKET) | {Protocol.AJP: (Socket.TCP,)},
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Worker processes (httpdWorkers)"), UPSTREAM_KEEP_ALIVE, ACCESS_LOG),
    )
    faults = (
        Fault(text="Version 1.9.1 writes to fixed places in /tmp and /dev/shm, so such stacks race one at a time."),
        Fault(text="Over AJP it loses and garbles answers and sends paths decoded: most such stacks are refused."),
        Fault(text="Over http it repeats X-Forwarded-Proto, which waitress refuses and bjoern misreads."),
        Fault(text="Of two files `50%25.txt` and `50%.txt` it may send the wrong one."),
    )
    needs = Needs(
        binary="openlitespeed",
        # the folder of its own installer
        folders=(Path("/usr/local/lsws/bin"),),
        version=("-v",),
        elsewhere="install it as docs.openlitespeed.org/installation/ says; it is looked for on PATH and in "
        "/usr/local/lsws/bin",
    )

    passes_forwarded_headers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs in the foreground: -n with workers below a main process, -d all in one
        process."""
        kind = _KINDS[site.forwards or Protocol.HTTP]
        return Recipe(
            command=("openlitespeed", "-n" if int(site.settings["workers"]) > 1 else "-d"),
            files={
                "conf/httpd_config.conf": self.render("httpd_config.conf.j2", site, kind=kind),
                "conf/vhconf.conf": self.render("vhconf.conf.j2", site, kind=kind),
                "conf/mime.properties": _MIME,
                **{f"{folder}/.keep": "" for folder in ("logs", "tmp", "htdocs")},
            },
            # its server root, which holds conf/; all its own paths are relative to it
            environment={
                "LSWS_HOME": str(site.directory),
                "OLS_PID_FILE": str(site.directory / "openlitespeed.pid"),
            },
        )

    def quoted(self, text: str) -> str:
        """Return ``text``, which extends to the end of its line, or to the brace of a section."""
        return to_the_end(text, never=("$", "{", "}", " "))


SERVER = OpenLiteSpeed()
