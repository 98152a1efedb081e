"""bjoern: a WSGI server in C on libev, one process with one thread."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from pathlib import Path

from ...stack import Interface, Protocol, ServerSpec, SettingValue
from ..contract import BACKLOG, Needs, Recipe, Server
from ..site import BODILESS, Site, bodiless_files

__all__ = ["SERVER", "Bjoern"]

LAUNCHER = Path(__file__).with_name("launcher.py")


def _headers() -> tuple[Path, ...]:
    """Return the header of Debian's own Python, of a package of its own; any other Python brings it along."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    return (header,) if header.is_relative_to("/usr/include") else ()


class Bjoern(Server):
    """Starts through a launcher of ours, which lies in the site as ``stackrace_bjoern.py``.

    It has no workers: use ``instances`` behind a front end.
    """

    spec = ServerSpec(
        name="bjoern",
        title="bjoern",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
    )
    # PyPI has its source only, which is compiled against libev when first raced
    drops_requests_on_stop = True
    needs = Needs(
        apt=("libev-dev", "gcc", "libc6-dev", "python3-dev"),
        files=(Path("/usr/include/ev.h"), Path("/usr/bin/gcc"), Path("/usr/include/stdio.h"), *_headers()),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return bjoern."""
        return ("bjoern>=3.2",)

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket."""
        return Recipe(
            command=(
                str(site.app.python),
                str(site.directory / "stackrace_bjoern.py"),
                site.listen.address,
                BODILESS,
                str(BACKLOG),
            ),
            files={"stackrace_bjoern.py": LAUNCHER.read_text(encoding="utf-8"), **bodiless_files(site.app)},
            environment=site.app.import_environment,
        )


SERVER = Bjoern()
