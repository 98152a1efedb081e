"""Cherokee: a front end that forwards HTTP, FastCGI, SCGI and uwsgi and serves files itself."""

from __future__ import annotations

from ...setting import Interface, Protocol, Socket
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers
from ..site import Site
from ..templates import MIME_TYPES, to_the_end

_HANDLERS = {Protocol.HTTP: "proxy", Protocol.FASTCGI: "fcgi", Protocol.SCGI: "scgi", Protocol.UWSGI: "uwsgi"}


class Cherokee(Server):
    """Cherokee with one ``cherokee.conf``, the format behind its administration interface.

    ``cherokee`` itself only supervises ``cherokee-worker``, which is the server, so the worker is started.
    """

    spec = ServerSpec(
        name="cherokee",
        title="Cherokee",
        listens=frozenset({Protocol.HTTP}),
        sockets=(Socket.TCP,),
        # its proxy needs a host and a port
        forwards=dict.fromkeys(_HANDLERS, ANY_SOCKET) | {Protocol.HTTP: (Socket.TCP,)},
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Threads of its one process"), UPSTREAM_KEEP_ALIVE, ACCESS_LOG),
    )
    faults = (
        Fault(text="It decodes paths before it forwards them: letters outside ASCII arrive raw over http."),
        Fault(
            text="Over http it also says `X-Forwarded-SSL: off`, which gunicorn refuses beside "
            "`X-Forwarded-Proto: https`."
        ),
        Fault(text="It does not forward bodies in chunks."),
    )
    needs = Needs(
        binary="cherokee-worker",
        version=("-V",),
        elsewhere="build it from github.com/cherokee/webserver and put its cherokee-worker on PATH",
    )

    passes_forwarded_headers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs the worker in the foreground; TERM ends it."""
        path = str(site.directory / "cherokee.conf")
        handler = _HANDLERS[site.forwards] if site.forwards else ""
        config = self.render("cherokee.conf.j2", site, handler=handler, types=MIME_TYPES)
        return Recipe(
            command=("cherokee-worker", "-C", path),
            check=("cherokee-worker", "-t", "-C", path),
            # EXIT_OK_ONCE; 1 is a failure
            check_code=2,
            files={"cherokee.conf": config, "logs/.keep": "", "htdocs/.keep": ""},
        )

    def quoted(self, text: str) -> str:
        """Return ``text``, which extends to the end of its line."""
        return to_the_end(text)


SERVER = Cherokee()
