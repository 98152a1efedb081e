"""lighttpd: a front end that forwards HTTP, FastCGI, SCGI and uwsgi and serves files itself."""

from __future__ import annotations

import signal

from ...native_files import Signs
from ...setting import Interface, Protocol
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Reload, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, KEEP_ALIVE, workers
from ..site import Site
from ..templates import in_quotes

# mod_scgi speaks uwsgi as well, since 1.4.42
_MODULES = {Protocol.HTTP: "proxy", Protocol.FASTCGI: "fastcgi", Protocol.SCGI: "scgi", Protocol.UWSGI: "scgi"}


class Lighttpd(Server):
    """lighttpd with one ``lighttpd.conf``; AJP is left out, since its module hangs on a POST to flup.

    It has no ``upstream_keep_alive``: its mod_proxy opens a connection per request.
    """

    spec = ServerSpec(
        name="lighttpd",
        title="lighttpd",
        signs=Signs(
            files=r"lighttpd.*\.conf(\..+)?",
            forwards=r"^\s*(proxy|fastcgi|scgi|uwsgi)\.server\b",
            documents=r"image:\s*\S*\blighttpd(?![\w-])",
        ),
        listens=frozenset({Protocol.HTTP}),
        forwards=dict.fromkeys(_MODULES, ANY_SOCKET),
        hosts=frozenset({Interface.FILES}),
        settings=(workers("Processes that share the port; 1 is lighttpd's own default"), KEEP_ALIVE, ACCESS_LOG),
    )
    faults = (Fault(text="A POST to flup hangs in mod_ajp13, so lighttpd does not forward AJP here."),)
    needs = Needs(apt=("lighttpd",), dnf=("lighttpd",), apk=("lighttpd",), binary="lighttpd", version=("-v",))

    limits_bodies = True
    limits_answers = True
    # its mod_proxy knows the address that connected, not the client that mod_extforward found behind it
    appends_to_forwarded_for = frozenset({Protocol.HTTP})

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs lighttpd in the foreground; TERM ends it at once, INT would wait for kept
        connections."""
        config = str(site.directory / "lighttpd.conf")
        return Recipe(
            command=("lighttpd", "-D", "-f", config),
            check=("lighttpd", "-tt", "-f", config),
            files={"lighttpd.conf": self._config(site), "logs/.keep": "", "tmp/.keep": "", "htdocs/.keep": ""},
            # INT lets requests finish; a race has none left
            stop=site.stop(signal.SIGINT),
            reload=Reload(by=signal.SIGUSR1, source="lighttpd, doc/initscripts.txt"),
            reopens=signal.SIGHUP,
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` in quotes; a backslash is refused, because it is literal unless a quote follows."""
        return in_quotes(text, never=("\\",))

    def _config(self, site: Site) -> str:
        module = _MODULES[site.forwards] if site.forwards else ""
        return self.render("lighttpd.conf.j2", site, module=module, root=site.empty if module else site.app.root)


SERVER = Lighttpd()
