"""HAProxy: a load balancer for HTTP that serves no files."""

from __future__ import annotations

import signal

from ...native_files import Signs
from ...setting import Protocol
from ...stack import ServerSpec
from ..contract import Fault, Needs, Recipe, Server
from ..settings import ANY_SOCKET, KEEP_ALIVE, UPSTREAM_KEEP_ALIVE, access_log, workers
from ..site import Site


class Haproxy(Server):
    """HAProxy with one ``haproxy.cfg``.

    Its own FastCGI is left out: PATH_INFO arrives empty unless a rule finds a script's name in the path, which an
    app at the root does not have, and a HEAD request gets 502.
    """

    spec = ServerSpec(
        name="haproxy",
        title="HAProxy",
        signs=Signs(
            files=r".*\.cfg(\..+)?",
            forwards=r"^\s*(backend|listen)\s[\s\S]*^\s+server\s",
            documents=r"image:\s*\S*\bhaproxy(?![\w-])",
        ),
        listens=frozenset({Protocol.HTTP}),
        forwards={Protocol.HTTP: ANY_SOCKET},
        settings=(
            workers("Threads of its one process"),
            KEEP_ALIVE,
            UPSTREAM_KEEP_ALIVE,
            access_log("the standard output, which is kept in output.log"),
        ),
    )
    faults = (
        Fault(
            text="Over FastCGI it finds no PATH_INFO for an app at the root and answers HEAD with "
            "502, so it forwards http only."
        ),
    )
    needs = Needs(apt=("haproxy",), dnf=("haproxy",), apk=("haproxy",), binary="haproxy", version=("-v",))

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs one process in the foreground; TERM ends it at once, USR1 would wait for kept
        connections."""
        config = str(site.directory / "haproxy.cfg")
        return Recipe(
            command=("haproxy", "-db", "-f", config),
            check=("haproxy", "-c", "-q", "-f", config),
            files={"haproxy.cfg": self.render("haproxy.cfg.j2", site)},
            # USR1 lets requests finish; a race has none left
            stop=site.stop(signal.SIGUSR1),
        )


SERVER = Haproxy()
