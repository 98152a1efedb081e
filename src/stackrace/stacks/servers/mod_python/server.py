"""mod_python: Python inside Apache's own processes, the usual way before mod_wsgi."""

from __future__ import annotations

from pathlib import Path

from ....base.platforms import system_python
from ...setting import Interface
from ...stack import ServerSpec
from ..apache.server import SERVER as APACHE
from ..contract import Guest, Needs
from ..site import Fragment, Site
from ..templates import Rendered

_MODULE = Path("/usr/lib/apache2/modules/mod_python.so")
_HANDLER = Path(__file__).with_name("handler.py")


class ModPython(Guest):
    """mod_python with our own WSGI handler: mod_python's handler answers 200 whatever the app's status is."""

    spec = ServerSpec(
        name="mod_python",
        title="mod_python",
        hosts=frozenset({Interface.WSGI}),
        inside=frozenset({"apache"}),
        # It passes its thread states from thread to thread, which Django's connections refuse: one thread each. A
        # kept connection would hold a process, so none is kept; a fixed pool loads the app once, at its start.
        asks={
            "mpm": "prefork",
            "keep_alive": False,
            "processes": 2,
            "max_workers": 2,
            "min_spare": 1,
            "max_spare": 2,
        },
    )
    # The module is linked to the system's own libpython, and a process can hold only one Python.
    needs = Needs(apt=("libapache2-mod-python",), files=(_MODULE,), embeds=system_python())

    quoted = APACHE.quoted

    def fragment(self, site: Site) -> Fragment:
        """Return the directives and the handler; without a home directive, site-packages join the path."""
        folders = (site.directory / "python", *site.app.import_path, *site.app.site_packages)
        return Fragment(
            modules={"python": _MODULE},
            directives=self.render(
                "mod_python.conf.j2",
                site,
                path=[str(folder) for folder in folders],
                # .pth files in these folders name further folders
                packages=Rendered([str(folder) for folder in site.app.site_packages]),
            ),
            files={"python/stackrace_mod_python.py": _HANDLER.read_text(encoding="utf-8")},
            unloadable=(f"directive_PythonImport: error importing {site.app.module}",),
        )


SERVER = ModPython()
