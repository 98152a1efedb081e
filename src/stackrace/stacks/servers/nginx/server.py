"""nginx: a front end that forwards in four protocols and serves files itself."""

from __future__ import annotations

import signal
from pathlib import Path

from ...native_options import Signs
from ...stack import Interface, Protocol, ServerSpec
from ..contract import Needs, Recipe, Reload, Server
from ..settings import ANY_SOCKET, fixed_by
from ..site import Site
from ..templates import in_quotes
from .options import OPTIONS, with_directives
from .own_config import own_config

__all__ = ["SERVER", "Nginx"]


class Nginx(Server):
    """Renders one ``nginx.conf``; the next hop's protocol, or none, chooses its inner block."""

    spec = ServerSpec(
        name="nginx",
        title="nginx",
        signs=Signs(
            documents=r"image:\s*\S*\bnginx(-proxy|-unprivileged)?(?![\w-])|ingressClassName:\s*\S*nginx|ingress\.class\S*\s*\S*nginx|nginx\.ingress\."
        ),
        listens=frozenset({Protocol.HTTP}),
        forwards={
            Protocol.HTTP: ANY_SOCKET,
            Protocol.FASTCGI: ANY_SOCKET,
            Protocol.SCGI: ANY_SOCKET,
            Protocol.UWSGI: ANY_SOCKET,
        },
        hosts=frozenset({Interface.FILES}),
        settings=OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        native=OPTIONS,
        suggested_for=frozenset({Interface.FILES}),
    )
    needs = Needs(
        apt=("nginx-light",),
        binary="nginx",
        files=(Path("/etc/nginx/mime.types"),),
        version=("-v",),
    )

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Start the master in the foreground; TERM is its fast shutdown, QUIT would wait for clients."""
        # -e: without it nginx opens the log file compiled into it before it has read the configuration.
        config = str(site.directory / "nginx.conf")
        command = ("nginx", "-e", "stderr", "-p", str(site.directory), "-c", config)
        return Recipe(
            command=command,
            check=(*command, "-t", "-q"),
            files={
                "nginx.conf": with_directives(own_config(site) if site.file else self._config(site), site.options),
                "logs/.keep": "",
                "tmp/.keep": "",
            },
            # QUIT lets requests end; a race has none left
            stop=site.stop(signal.SIGQUIT),
            reload=Reload(by=signal.SIGHUP, source='nginx.org, "Controlling nginx", Changing Configuration'),
            reopens=signal.SIGUSR1,
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` in quotes, where a dollar is no escape but a variable."""
        return in_quotes(text, escaped='"\\', never=("$",))

    def _config(self, site: Site) -> str:
        protocol = site.upstream[0].protocol if site.upstream else None
        is_http = protocol is Protocol.HTTP
        keep = is_http and site.settings["upstream_keep_alive"]
        module = "proxy" if is_http else protocol
        inner = "http.conf.j2" if is_http else "gateway.conf.j2" if protocol else "files.conf.j2"
        return self.render(
            "nginx.conf.j2",
            site,
            options=self.render("options.conf.j2", site, module=module),
            production=self.render("production.conf.j2", site, module=module) if site.production else "",
            upstream=self.render("upstream.conf.j2", site, protocol=protocol, keep=keep) if protocol else "",
            inner=self.render(inner, site, protocol=protocol),
        )


SERVER = Nginx()
