"""Cheroot: CherryPy's server, one process with a pool of threads."""

from __future__ import annotations

from ...setting import Interface, Protocol
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Server
from ..settings import KEEP_ALIVE, threads
from ..site import BODILESS, Site


class Cheroot(Server):
    """Cheroot behind our launcher, the file ``stackrace_cheroot.py`` in the site."""

    spec = ServerSpec(
        name="cheroot",
        title="Cheroot",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            threads("Threads that run the app", 10, most=64, steps=10),
            KEEP_ALIVE,
        ),
        package="cheroot",
    )
    packages = ("cheroot>=10",)

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        # its threads may wait on kept connections; no load is left when a raced stack is stopped
        numbers = (site.settings["threads"], BACKLOG, site.settings["keep_alive"], site.patience_s(1))
        return self.launched(site, site.listen.address, BODILESS, *numbers)


SERVER = Cheroot()
