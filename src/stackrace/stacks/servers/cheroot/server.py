"""Cheroot: CherryPy's server, one process with a pool of threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...stack import Interface, Protocol, ServerSpec, Setting, SettingValue
from ...tunable import Tunable
from ..contract import BACKLOG, Recipe, Server
from ..settings import KEEP_ALIVE
from ..site import BODILESS, Site, bodiless_files

__all__ = ["SERVER", "Cheroot"]

LAUNCHER = Path(__file__).with_name("launcher.py")


class Cheroot(Server):
    """Starts through a launcher of ours, which lies in the site as ``stackrace_cheroot.py``."""

    spec = ServerSpec(
        name="cheroot",
        title="Cheroot",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=(
            Setting(
                name="threads",
                default=10,
                maximum=1024,
                tunable=Tunable(most=64, steps=10, multiplies=True),
                help="Threads that run the app; raise it when requests wait for a database.",
            ),
            KEEP_ALIVE,
        ),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return cheroot."""
        return ("cheroot>=10",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        return Recipe(
            command=(
                str(site.app.python),
                str(site.directory / "stackrace_cheroot.py"),
                site.listen.address,
                BODILESS,
                str(site.settings["threads"]),
                str(BACKLOG),
                str(site.settings["keep_alive"]),
                # Its threads may wait on kept connections; no load is left when a raced stack is stopped.
                str(site.patience_s(1)),
            ),
            files={"stackrace_cheroot.py": LAUNCHER.read_text(encoding="utf-8"), **bodiless_files(site.app)},
            environment=site.app.import_environment,
        )


SERVER = Cheroot()
