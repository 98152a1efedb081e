"""Caddy: a front end written in Go that forwards HTTP and FastCGI and serves files itself."""

from __future__ import annotations

from ...model.stack import Interface, Protocol, ServerSpec
from ..contract import Endpoint, Needs, Recipe, Server, Site
from ..shared_settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE, workers

__all__ = ["SERVER", "Caddy"]


class Caddy(Server):
    """Renders one ``Caddyfile`` without TLS, admin endpoint or anything kept between runs."""

    spec = ServerSpec(
        name="caddy",
        title="Caddy",
        listens=frozenset({Protocol.HTTP}),
        forwards={Protocol.HTTP: ANY_SOCKET, Protocol.FASTCGI: ANY_SOCKET},
        hosts=frozenset({Interface.FILES}),
        settings=(
            workers("Threads that run Go code at the same time (GOMAXPROCS), all in one process"),
            UPSTREAM_KEEP_ALIVE,
            ACCESS_LOG,
        ),
    )
    needs = Needs(apt=("caddy",), binary="caddy", version=("version",))

    def recipe(self, site: Site) -> Recipe:
        """Start in the foreground; TERM ends it gracefully and at once, since no client is left."""
        config = ("--config", str(site.directory / "Caddyfile"), "--adapter", "caddyfile")
        home = str(site.directory)
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

    def _config(self, site: Site) -> str:
        block = f"{site.upstream[0].protocol}.caddy.j2" if site.upstream else "files.caddy.j2"
        upstreams = " ".join(_address(endpoint) for endpoint in site.upstream)
        return self.render("Caddyfile.j2", site, inner=self.render(block, site, upstreams=upstreams))


def _address(endpoint: Endpoint) -> str:
    return f"unix/{endpoint.path}" if endpoint.is_unix else endpoint.address


SERVER = Caddy()
