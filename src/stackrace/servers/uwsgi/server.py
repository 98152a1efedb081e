"""uWSGI: a native server with Python embedded, from the pyuwsgi wheel."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Origin, ProcessCount, Protocol, ServerSpec, Setting, SettingValue
from ..contract import Recipe, Server, Site
from ..head import BODILESS, bodiless_files
from ..shared_settings import ACCESS_LOG

__all__ = ["SERVER", "Uwsgi"]

OPTIONS = {
    Protocol.HTTP: "http-socket",
    Protocol.UWSGI: "socket",
    Protocol.FASTCGI: "fastcgi-socket",
    Protocol.SCGI: "scgi-socket",
}


def _processes(settings: Mapping[str, SettingValue]) -> ProcessCount:
    most = int(settings["processes"])
    return ProcessCount(setting="processes", least=0 if settings["cheaper"] else most, most=most)


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
                name="cheaper",
                default=0,
                minimum=0,
                maximum=255,
                help="Fewest worker processes: more are started under load, up to processes, and ended without; "
                "0 keeps their number fixed. It must be below processes.",
            ),
            Setting(
                name="cheaper_initial",
                default=0,
                minimum=0,
                maximum=256,
                help="Worker processes at the start, with cheaper only; 0 is as many as cheaper.",
            ),
            Setting(
                name="cheaper_step",
                default=1,
                maximum=256,
                help="Worker processes started at a time, with cheaper only; raise it when load comes in bursts.",
            ),
            Setting(
                name="http",
                default="auto",
                choices=("auto", "router", "socket"),
                # Source: uWSGI, "Native HTTP support", on http-socket
                closes={"socket": "uWSGI's http-socket closes after every answer by design: use http=router"},
                origin=Origin.RECOMMENDED,
                help="Who parses HTTP: router is a process of uWSGI's own that keeps clients' connections, "
                "socket is each worker, without keep-alive; auto is router on TCP and socket on unix.",
            ),
            ACCESS_LOG,
        ),
        processes=_processes,
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return the wheel that needs no compiler."""
        return ("pyuwsgi",)

    def recipe(self, site: Site) -> Recipe:
        """Run uWSGI within the app's Python; it refuses a backlog above net.core.somaxconn and says so."""
        # over the gateway protocols the front end sees to HEAD; over HTTP nobody does
        wrapper = bodiless_files(site.app) if site.listen.protocol is Protocol.HTTP else {}
        return Recipe(
            command=(
                str(site.app.python),
                "-c",
                "import pyuwsgi; pyuwsgi.run()",
                "--ini",
                str(site.directory / "uwsgi.ini"),
            ),
            files={"uwsgi.ini": self._config(site, wrapped=bool(wrapper)), "logs/.keep": "", **wrapper},
        )

    def _config(self, site: Site, *, wrapped: bool) -> str:
        module = BODILESS if wrapped else site.app.module
        path = (site.directory, *site.app.import_path) if wrapped else site.app.import_path
        listen = self.render("listen.ini.j2", site, router=_router(site), option=OPTIONS[site.listen.protocol])
        return self.render("uwsgi.ini.j2", site, listen=listen, module=module, path=path)


def _router(site: Site) -> bool:
    choice = site.settings["http"]
    if site.listen.protocol is not Protocol.HTTP or choice == "socket":
        return False
    return choice == "router" or not site.listen.is_unix


SERVER = Uwsgi()
