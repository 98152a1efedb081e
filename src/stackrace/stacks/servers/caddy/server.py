"""Caddy: a front end written in Go that forwards HTTP and FastCGI and serves files itself."""

from __future__ import annotations

from urllib.parse import quote

from ...native_files import Signs
from ...setting import Interface, Protocol, Socket
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, KEEP_ALIVE, UPSTREAM_KEEP_ALIVE, workers
from ..site import Site
from ..templates import Rendered, in_quotes

_AS_THEY_ARE = "".join(map(chr, range(128)))


class Caddy(Server):
    """Caddy with one ``Caddyfile``, without TLS, admin endpoint or data kept between runs."""

    spec = ServerSpec(
        name="caddy",
        title="Caddy",
        signs=Signs(
            files=r"(.+\.)?Caddyfile(\..+)?",
            forwards=r"^\s*(reverse_proxy|php_fastcgi)\s",
            documents=r"image:\s*\S*\bcaddy(?![\w-])",
        ),
        listens=frozenset({Protocol.HTTP}),
        # over a unix socket a client has no address to trust, and Caddy drops the headers of a proxy
        sockets=(Socket.TCP,),
        forwards={Protocol.HTTP: ANY_SOCKET, Protocol.FASTCGI: ANY_SOCKET},
        hosts=frozenset({Interface.FILES}),
        settings=(
            workers("Threads that run Go code at the same time (GOMAXPROCS), all in one process"),
            KEEP_ALIVE,
            UPSTREAM_KEEP_ALIVE,
            ACCESS_LOG,
        ),
    )
    faults = (
        Fault(
            where="caddy/http/…",
            text="Caddy 2.6.2 sometimes cuts the answer to a POST short when the machine stalls ([issue "
            "5431](https://github.com/caddyserver/caddy/issues/5431)). This counts as a failure.",
            changes_request=True,
        ),
    )
    needs = Needs(apt=("caddy",), apk=("caddy",), binary="caddy", version=("version",))

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs Caddy in the foreground; TERM ends it gracefully and at once, since no client
        is left."""
        config = ("--config", str(site.directory / "Caddyfile"), "--adapter", "caddyfile")
        home = str(site.temporary if site.production else site.directory)
        return Recipe(
            command=("caddy", "run", *config),
            check=("caddy", "validate", *config),
            files={"Caddyfile": self._config(site), "logs/.keep": "", "htdocs/.keep": ""},
            environment={
                "GOMAXPROCS": str(site.settings["workers"]),
                "HOME": home,
                "XDG_CONFIG_HOME": home,
                "XDG_DATA_HOME": home,
            },
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` in quotes; braces and backslashes are refused, because they have a meaning even there."""
        return in_quotes(text, never=("\\", "{", "}"))

    def _config(self, site: Site) -> str:
        # it matches non-ASCII letters of a path by their bytes, but strips them percent-encoded
        static = {quote(prefix, safe=_AS_THEY_ARE): folder for prefix, folder in site.app.static.items()}
        # logrotate rotates the logs in production
        rolled = Rendered(" {\n\t\t\troll_disabled\n\t\t}") if site.production else ""
        return self.render("Caddyfile.j2", site, static=static, rolled=rolled)


SERVER = Caddy()
