"""bjoern: a WSGI server in C on libev, one process with one thread."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from ...setting import Interface, Protocol
from ...stack import ServerSpec
from ..contract import BACKLOG, Needs, Recipe, Server
from ..site import BODILESS, Site


def _headers() -> tuple[Path, ...]:
    """Return ``Python.h`` of Debian's own Python, which has a package of its own; empty for Pythons that include
    it."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    return (header,) if header.is_relative_to("/usr/include") else ()


class Bjoern(Server):
    """bjoern behind our launcher, the file ``stackrace_bjoern.py`` in the site.

    It has no workers: use ``instances`` behind a front end.
    """

    spec = ServerSpec(
        name="bjoern",
        title="bjoern",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        package="bjoern",
    )
    packages = ("bjoern>=3.2",)
    # PyPI has only its source, which is compiled against libev before the first race
    drops_requests_on_stop = True
    needs = Needs(
        apt=("libev-dev", "gcc", "libc6-dev", "python3-dev"),
        apk=("libev-dev", "gcc", "musl-dev", "python3-dev"),
        files=(Path("/usr/include/ev.h"), Path("/usr/bin/gcc"), Path("/usr/include/stdio.h"), *_headers()),
    )

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        return self.launched(site, site.listen.address, BODILESS, BACKLOG)


SERVER = Bjoern()
