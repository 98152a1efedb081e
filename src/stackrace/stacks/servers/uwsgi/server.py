"""uWSGI: a native server with Python embedded, from the pyuwsgi wheel."""

from __future__ import annotations

import signal

from ...setting import Interface, Protocol, Settings, SettingValue
from ...stack import ProcessCount, ServerSpec
from ..contract import Recipe, Reload, Server
from ..site import BODILESS, Site, bodiless_files
from ..templates import Rendered, to_the_end
from .options import OPTIONS, theirs

_SOCKETS = {
    Protocol.HTTP: "http-socket",
    Protocol.UWSGI: "socket",
    Protocol.FASTCGI: "fastcgi-socket",
    Protocol.SCGI: "scgi-socket",
}


def _processes(settings: Settings) -> ProcessCount | None:
    if "processes" not in settings:
        return None
    most = int(settings["processes"])
    return ProcessCount(setting="processes", least=0 if settings.get("cheaper", 1) else most, most=most)


def _preloads(settings: Settings) -> bool:
    return not settings.get("lazy_apps", False)


class Uwsgi(Server):
    """uWSGI with one ``uwsgi.ini``."""

    spec = ServerSpec(
        name="uwsgi",
        title="uWSGI",
        listens=frozenset(_SOCKETS),
        hosts=frozenset({Interface.WSGI}),
        settings=OPTIONS.spec_settings,
        processes=_processes,
        preloads=_preloads,
        native=OPTIONS,
        package="pyuwsgi",
    )
    # the wheel needs no compiler
    packages = ("pyuwsgi",)

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs uWSGI within the app's Python; it refuses a backlog above
        net.core.somaxconn."""
        # over the gateway protocols the front end drops the body for HEAD; over HTTP no server does
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
            reload=Reload(
                by=signal.SIGHUP,
                source='uWSGI, "Managing the uWSGI server", Signals',
                loses="closes the connections that its HTTP router holds" if _router(site) else "",
            ),
        )

    def quoted(self, text: str) -> str:
        """Return ``text``, which extends to the end of its line; uWSGI replaces variables in it first."""
        return to_the_end(text, never=("%", "$(", "@(", "="))

    def _config(self, site: Site, *, wrapped: bool) -> str:
        logs = [("logger", "error.log"), *([("req-logger", "access.log")] if site.settings["access_log"] else [])]
        return self.render(
            "uwsgi.ini.j2",
            site,
            router=_router(site),
            option=_SOCKETS[site.listen.protocol],
            theirs=Rendered(
                f"{theirs(site.file, site.chosen, site.kept_concerns)}\n".lstrip() if site.file else ""
            ),
            said=_said(site),
            logs=logs,
            module=BODILESS if wrapped else site.app.module,
            path=(site.directory, *site.app.import_path) if wrapped else site.app.import_path,
            whole=site.file is None,
        )


def _said(site: Site) -> dict[str, SettingValue]:
    """Return the settings to write: all, or beside a user's file only those that the path gives."""
    return {name: value for name, value in site.settings.items() if site.file is None or name in site.chosen}


def _router(site: Site) -> bool:
    choice = site.settings["http"]
    if site.listen.protocol is not Protocol.HTTP or choice == "socket":
        return False
    return choice == "router" or not site.listen.is_unix


SERVER = Uwsgi()
