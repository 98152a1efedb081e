"""Puma: Ruby's most used server, processes with a pool of threads each."""

from __future__ import annotations

from ...setting import Interface, Origin, Protocol, Setting, Settings, Tunable
from ...stack import ServerSpec
from ..contract import Needs, Recipe, Server
from ..settings import KEEP_ALIVE, fixed_by, threads
from ..site import Site


def _preloads(settings: Settings) -> bool:
    return True


class Puma(Server):
    """Puma with one ``puma.rb``; the app's own ``config/puma.rb`` is not read."""

    spec = ServerSpec(
        name="puma",
        title="Puma",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.RACK}),
        settings=(
            Setting(
                name="workers",
                default=2,
                minimum=0,
                maximum=256,
                origin=Origin.TUNED,
                tunable=Tunable(per_core=4, most=256, steps=5),
                help="Worker processes, forked after the app is loaded; 0, its own default, is a single process.",
            ),
            threads("Threads of each worker, a fixed number", 5),
            KEEP_ALIVE,
        ),
        processes=fixed_by("workers"),
        preloads=_preloads,
        suggested_for=frozenset({Interface.RACK}),
    )
    needs = Needs(apt=("puma",), dnf=("rubygem-puma",), binary="puma", version=("--version",))

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs Puma by the app's own Ruby: the app's bundled Puma, else the one beside Ruby,
        else Debian's."""
        bundle = ("-rbundler/setup",) if "puma" in site.app.rack.gems else ()
        return Recipe(
            command=(
                str(site.app.rack.ruby),
                *bundle,
                "-S",
                "puma",
                "--config",
                str(site.directory / "puma.rb"),
                str(site.app.rack.config),
            ),
            files={"puma.rb": self.render("puma.rb.j2", site)},
        )


SERVER = Puma()
