"""Daphne: one process on Twisted that calls the app through ASGI; Django Channels' reference server."""

from __future__ import annotations

from collections.abc import Mapping

from ...native_options import OwnLanguage
from ...stack import Interface, Protocol, ServerSpec, SettingValue
from ..contract import BACKLOG, Recipe, Server
from ..options import own
from ..settings import ACCESS_LOG
from ..site import BODILESS, Site, bodiless_files
from .command import COMMAND

__all__ = ["SERVER", "Daphne"]


LANGUAGE = OwnLanguage.options(
    {"access-log": "access_log"},
    abbreviates=True,
    address="port bind unix-socket fd endpoint",
    logs="verbosity log-fmt",
    process="help",
)


class Daphne(Server):
    """Everything is said on the command line; it has no workers: use ``instances`` behind a front end."""

    spec = ServerSpec(
        name="daphne",
        title="Daphne",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=(ACCESS_LOG,),
        own=LANGUAGE,
        command=COMMAND,
    )

    cuts = True
    sends_lifespan = False

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return daphne."""
        return ("daphne>=4",)

    def recipe(self, site: Site) -> Recipe:
        """Bind through a Twisted endpoint, the only place where it takes a backlog."""
        listen = site.listen
        tcp = f"tcp:{listen.port}:interface={listen.host}"
        unix = f"unix:address={_quoted(str(listen.path))}:mode=666"
        where = unix if listen.is_unix else tcp
        access_log = str(site.logs / "access.log")
        log = ("--access-log", access_log) if site.settings["access_log"] else ()
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "daphne",
                "--endpoint",
                f"{where}:backlog={BACKLOG}",
                "--verbosity",
                "0",
                *(() if site.app.has_before("daphne", 4) else ("--no-server-name",)),
                # it believes everybody, so only what another server hands on
                *(() if site.production and not site.production.is_behind else ("--proxy-headers",)),
                *log,
                *own(site),
                f"{BODILESS}:application",
            ),
            files={"logs/.keep": "", **bodiless_files(site.app)},
            environment={"PYTHONPATH": ":".join(map(str, (site.directory, *site.app.import_path)))},
        )


def _quoted(text: str) -> str:
    """Escape what separates the parts of a Twisted endpoint."""
    return text.replace("\\", "\\\\").replace(":", "\\:")


SERVER = Daphne()
