"""Daphne: one process on Twisted that calls the app through ASGI; Django Channels' reference server."""

from __future__ import annotations

from ...native_files import Concern
from ...native_options import NativeOptions, Option, decided, passed, switches
from ...setting import Interface, Protocol, Settings
from ...stack import ServerSpec
from ..contract import BACKLOG, Fault, Recipe, Server
from ..settings import ACCESS_LOG, command_words
from ..site import BODILESS, Site, bodiless_files


def _endpoint(site: Site) -> str:
    """Return a Twisted endpoint, the only place where Daphne accepts a backlog."""
    listen = site.listen
    tcp = f"tcp:{listen.port}:interface={listen.host}"
    unix = f"unix:address={_quoted(str(listen.path))}:mode=666"
    return f"{unix if listen.is_unix else tcp}:backlog={BACKLOG}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


_OPTIONS = NativeOptions(
    programs=("daphne",),
    abbreviates=True,
    rows=(
        Option("endpoint e", concern=Concern.ADDRESS, written=_endpoint),
        Option("verbosity v", concern=Concern.LOGS, written=0),
        Option("no-server-name", is_switch=True, written=lambda site: not site.app.has_before("daphne", 4)),
        # it trusts everybody, so the option is for a server behind another one only
        Option(
            "proxy-headers",
            is_switch=True,
            written=lambda site: not site.production or site.production.is_behind,
        ),
        Option(
            "access-log",
            setting=ACCESS_LOG,
            written=lambda site: site.logs / "access.log" if site.settings["access_log"] else None,
        ),
        *decided(Concern.ADDRESS, "port p, bind b, unix-socket u, fd"),
        *decided(Concern.LOGS, "log-fmt"),
        *switches("help", Concern.PROCESS),
        *passed("http-timeout t, server-name s"),
    ),
)


_OLD_COMMAND = ("-c", "from daphne.cli import CommandLineInterface; CommandLineInterface.entrypoint()")
"""Command of versions that cannot be run as a module."""


class Daphne(Server):
    """Daphne, configured on the command line only; it has no workers: use ``instances`` behind a front end."""

    spec = ServerSpec(
        name="daphne",
        title="Daphne",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.ASGI}),
        settings=_OPTIONS.spec_settings,
        native=_OPTIONS,
        package="daphne",
    )
    # an app of Channels 2 or 3 brings an older one, and is raced with that
    packages = ("daphne>=4",)
    faults = (
        Fault(
            text="It sends no lifespan events. An app that answers with an error without them "
            "is asked for that before the race, and Daphne is left out."
        ),
    )

    drops_requests_on_stop = True

    def sends_lifespan(self, settings: Settings) -> bool:
        """Return False: Daphne knows no lifespan."""
        return False

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        return Recipe(
            command=(
                str(site.app.python),
                *(_OLD_COMMAND if site.app.has_before("daphne", 4) else ("-m", "daphne")),
                *command_words(_OPTIONS, site),
                f"{BODILESS}:application",
            ),
            files={"logs/.keep": "", **bodiless_files(site.app)},
            environment={"PYTHONPATH": ":".join(map(str, (site.directory, *site.app.import_path)))},
        )


SERVER = Daphne()
