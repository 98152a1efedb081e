"""uWSGI: a native server with Python embedded, from the pyuwsgi wheel."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Origin, Protocol, ServerSpec, Setting, SettingValue
from ..contract import Recipe, Server, Site

__all__ = ["SERVER", "Uwsgi"]

OPTIONS = {
    Protocol.HTTP: "http-socket",
    Protocol.UWSGI: "socket",
    Protocol.FASTCGI: "fastcgi-socket",
    Protocol.SCGI: "scgi-socket",
}


class Uwsgi(Server):
    """Renders one ``uwsgi.ini``."""

    spec = ServerSpec(
        name="uwsgi",
        title="uWSGI",
        listens=frozenset(OPTIONS),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="processes",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Worker processes; raise it until the cores are busy or memory is short.",
            ),
            Setting(
                name="threads",
                default=1,
                maximum=1024,
                help="Threads of each worker; raise it when requests wait for a database.",
            ),
            Setting(
                name="http",
                default="auto",
                choices=("auto", "router", "socket"),
                origin=Origin.RECOMMENDED,
                help="Who parses HTTP: router is a process of uWSGI's own that keeps clients' connections, "
                "socket is each worker, without keep-alive; auto is router on TCP and socket on unix.",
            ),
            Setting(
                name="access_log",
                default=False,
                help="Write a line per request to logs/access.log; turn it on to measure what logging costs.",
            ),
        ),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return the wheel that needs no compiler."""
        return ("pyuwsgi",)

    def recipe(self, site: Site) -> Recipe:
        """Run uWSGI within the app's Python; it refuses a backlog above net.core.somaxconn and says so."""
        router = _router(site)
        return Recipe(
            command=(
                str(site.app.python),
                "-c",
                "import pyuwsgi; pyuwsgi.run()",
                "--ini",
                str(site.directory / "uwsgi.ini"),
            ),
            files={
                "uwsgi.ini": self.render("uwsgi.ini.j2", site, router=router, option=OPTIONS[site.listen.protocol]),
                "logs/.keep": "",
            },
            # its master looks for ended workers once a second; several instances on a busy machine took over five
            stop_timeout_s=15.0,
        )


def _router(site: Site) -> bool:
    choice = site.settings["http"]
    if site.listen.protocol is not Protocol.HTTP or choice == "socket":
        return False
    return choice == "router" or not site.listen.is_unix


SERVER = Uwsgi()
