"""uWSGI: a native server with Python embedded, from the pyuwsgi wheel."""

from __future__ import annotations

import signal
from collections.abc import Mapping

from ...stack import Interface, Origin, ProcessCount, Protocol, ServerSpec, Setting, SettingValue
from ...tunable import Tunable
from ..contract import Recipe, Reload, Server
from ..settings import ACCESS_LOG, MOST_REQUESTS, MOST_SECONDS, RECYCLING, STATIC
from ..site import BODILESS, Site, bodiless_files
from ..templates import Rendered, to_the_end
from .command import COMMAND
from .own import LANGUAGE, theirs

__all__ = ["SERVER", "Uwsgi"]

OPTIONS = {
    Protocol.HTTP: "http-socket",
    Protocol.UWSGI: "socket",
    Protocol.FASTCGI: "fastcgi-socket",
    Protocol.SCGI: "scgi-socket",
}


def _processes(settings: Mapping[str, SettingValue]) -> ProcessCount | None:
    if "processes" not in settings:
        return None
    most = int(settings["processes"])
    return ProcessCount(setting="processes", least=0 if settings.get("cheaper", 1) else most, most=most)


def _preloads(settings: Mapping[str, SettingValue]) -> bool:
    return not settings.get("lazy_apps", False)


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
                tunable=Tunable(per_core=8, most=256),
                help="Worker processes; raise it until the cores are busy or memory is short.",
            ),
            Setting(
                name="threads",
                default=1,
                maximum=1024,
                tunable=Tunable(most=32, multiplies=True),
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
            Setting(
                name="lazy_apps",
                default=False,
                help="Load the app in each worker rather than before they are forked; it costs memory, and apps "
                "that open connections when they are loaded need it.",
            ),
            Setting(
                name="single_interpreter",
                default=False,
                help="Run the app in the process's main interpreter; extensions in C may need it.",
            ),
            Setting(
                name="thunder_lock",
                default=False,
                help="Let only one worker at a time accept connections; its documentation advises it for many "
                "processes with threads.",
            ),
            Setting(
                name="offload_threads",
                default=0,
                minimum=0,
                maximum=64,
                help="Threads of each worker that send files for it; raise it with static=on.",
            ),
            STATIC,
            RECYCLING[0],
            Setting(
                name="max_requests_delta",
                default=0,
                minimum=0,
                maximum=MOST_REQUESTS,
                help="Requests added to max_requests for each next worker, so that they are not all replaced at "
                "once.",
            ),
            Setting(
                name="harakiri",
                default=0,
                minimum=0,
                maximum=MOST_SECONDS,
                help="Seconds after which a worker is killed that still works on a request; 0 is never.",
            ),
            ACCESS_LOG,
        ),
        processes=_processes,
        preloads=_preloads,
        own=LANGUAGE,
        command=COMMAND,
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return the wheel that needs no compiler."""
        return ("pyuwsgi",)

    limits_bodies = True
    limits_answers = True

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
            reload=Reload(
                by=signal.SIGHUP,
                source='uWSGI, "Managing the uWSGI server", Signals',
                loses="closes the connections that its HTTP router holds" if _router(site) else "",
            ),
        )

    def quoted(self, text: str) -> str:
        """Return ``text``, which goes to the end of its line; it is searched for variables before it is read."""
        return to_the_end(text, never=("%", "$(", "@(", "="))

    def _config(self, site: Site, *, wrapped: bool) -> str:
        module = BODILESS if wrapped else site.app.module
        path = (site.directory, *site.app.import_path) if wrapped else site.app.import_path
        listen = self.render("listen.ini.j2", site, router=_router(site), option=OPTIONS[site.listen.protocol])
        logs = [("logger", "error.log"), *([("req-logger", "access.log")] if site.settings["access_log"] else [])]
        options = self.render("options.ini.j2", site, said=_said(site))
        if site.file:
            options = Rendered(f"{theirs(site.file, site.chosen)}\n{options}")
        return self.render(
            "uwsgi.ini.j2",
            site,
            listen=listen,
            options=options,
            production=self.render("production.ini.j2", site, said=_said(site), logs=logs)
            if site.production
            else "",
            module=module,
            path=path,
            whole=site.file is None,
        )


def _said(site: Site) -> dict[str, SettingValue]:
    """Return the settings to write: all, or beside a file of the user's those that the path gives."""
    return {name: value for name, value in site.settings.items() if site.file is None or name in site.chosen}


def _router(site: Site) -> bool:
    choice = site.settings["http"]
    if site.listen.protocol is not Protocol.HTTP or choice == "socket":
        return False
    return choice == "router" or not site.listen.is_unix


SERVER = Uwsgi()
