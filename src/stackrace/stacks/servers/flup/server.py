"""flup: FastCGI, SCGI and AJP for WSGI apps, as Django's ``runfcgi`` used it."""

from __future__ import annotations

from ...setting import Interface, Origin, Protocol, Setting
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Server
from ..site import Site


class Flup(Server):
    """flup behind our launcher, the file ``stackrace_flup.py`` in the site."""

    spec = ServerSpec(
        name="flup",
        title="flup",
        listens=frozenset({Protocol.FASTCGI, Protocol.SCGI, Protocol.AJP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="mode",
                default="prefork",
                choices=("prefork", "threaded"),
                origin=Origin.HISTORIC,
                help="Whether each request has a process or a thread to itself; threaded saves memory, "
                "uses one core.",
            ),
            Setting(
                name="processes",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                only={"mode": ("prefork",)},
                help="Child processes, mode=prefork only; raise it until the cores are busy. runfcgi's minspare, "
                "maxspare and maxchildren in one, since flup's pool never grows.",
            ),
            Setting(
                name="threads",
                default=0,
                minimum=0,
                maximum=1024,
                only={"mode": ("threaded",)},
                help="Most threads at once, mode=threaded only; flup refuses what comes beyond; 0, its "
                "default, is no limit, and runfcgi used 50.",
            ),
            Setting(
                name="min_spare",
                default=1,
                maximum=1024,
                only={"mode": ("threaded",)},
                help="Idle threads kept ready, mode=threaded only; runfcgi used 2.",
            ),
            Setting(
                name="max_spare",
                default=5,
                maximum=1024,
                only={"mode": ("threaded",)},
                help="Idle threads beyond which some are ended, mode=threaded only; raise it when load comes in "
                "bursts.",
            ),
        ),
        package="flup",
    )
    # the last release; flup6, its fork, is broken for SCGI and AJP
    packages = ("flup==1.0.3",)

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket; over AJP that is always TCP."""
        what = (site.listen.protocol, site.settings["mode"], site.listen.address, site.app.module)
        numbers = (site.settings[name] for name in ("processes", "threads", "min_spare", "max_spare"))
        return self.launched(site, *what, *numbers, BACKLOG, bodiless=False)


SERVER = Flup()
