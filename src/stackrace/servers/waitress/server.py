"""Waitress: one process, one thread for the network, a few for the app."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...model.stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, KEEP_ALIVE_S, Recipe, Server, Site
from ..head import BODILESS, bodiless_files

__all__ = ["SERVER", "Waitress"]

LAUNCHER = Path(__file__).with_name("launcher.py")


class Waitress(Server):
    """Starts through a launcher of ours, which lies in the site as ``stackrace_waitress.py``."""

    spec = ServerSpec(
        name="waitress",
        title="Waitress",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="threads",
                default=4,
                maximum=1024,
                help="Threads that run the app; raise it when requests wait for a database.",
            ),
        ),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return waitress."""
        return ("waitress>=3",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        return Recipe(
            command=(
                str(site.app.python),
                str(site.directory / "stackrace_waitress.py"),
                site.listen.address,
                BODILESS,
                str(site.settings["threads"]),
                str(BACKLOG),
                str(KEEP_ALIVE_S),
            ),
            files={"stackrace_waitress.py": LAUNCHER.read_text(encoding="utf-8"), **bodiless_files(site.app)},
            environment=site.app.import_environment,
        )


SERVER = Waitress()
