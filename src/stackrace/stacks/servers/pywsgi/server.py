"""gevent's own WSGI server: one process, a greenlet for each connection."""

from __future__ import annotations

from ...stack import Interface, Protocol, ServerSpec
from ..contract import BACKLOG, Recipe, Server
from ..site import BODILESS, Site


class Pywsgi(Server):
    """Starts through a launcher of ours, which lies in the site as ``stackrace_pywsgi.py``."""

    spec = ServerSpec(
        name="pywsgi",
        title="gevent.pywsgi",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
    )
    packages = ("gevent>=24",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        return self.launched(site, site.listen.address, BODILESS, BACKLOG, site.patience_s(1))


SERVER = Pywsgi()
