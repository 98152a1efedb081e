"""mod_wsgi: Python inside Apache, in Apache's own processes or in daemon processes of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ....base.platforms import system_python
from ...native_files import Concern
from ...native_options import NativeOptions, Option, decided, switches
from ...setting import Interface, Origin, Setting, Settings, Tunable
from ...stack import ProcessCount, ServerSpec
from ..apache.server import SERVER as APACHE
from ..contract import Guest, Needs
from ..settings import RECYCLING, fixed_by, in_threads
from ..site import Fragment, Site

_MODULE = Path("/usr/lib/apache2/modules/mod_wsgi.so")


def _processes(settings: Settings) -> ProcessCount | None:
    return fixed_by("processes")(settings) if settings["mode"] == "daemon" else None


# ``mod_wsgi-express start-server`` starts it without a configuration of Apache's
_OPTIONS = NativeOptions(
    in_paths=False,
    programs=("mod_wsgi-express",),
    verbs={"start-server": ""},
    path="apache+mod_wsgi",
    at_once=in_threads,
    is_inside=True,
    rows=(
        Option(
            "mode",
            setting=Setting(
                name="mode",
                default="daemon",
                choices=("daemon", "embedded"),
                origin=Origin.RECOMMENDED,
                help="Where the app runs: in processes of its own, or within Apache's children, whose number "
                "apache:mpm and apache:processes then set.",
            ),
        ),
        Option(
            "processes",
            setting=Setting(
                name="processes",
                default=2,
                maximum=256,
                origin=Origin.HISTORIC,
                only={"mode": ("daemon",)},
                tunable=Tunable(per_core=8, most=256),
                help="Daemon processes, mode=daemon only; raise it when the app keeps one core busy.",
            ),
            default=1,
        ),
        Option(
            "threads",
            setting=Setting(
                name="threads",
                default=15,
                maximum=1024,
                only={"mode": ("daemon",)},
                tunable=Tunable(most=32, multiplies=True),
                help="Threads of each daemon process, mode=daemon only; 1 for code that is not thread-safe.",
            ),
            default=5,
        ),
        Option(
            "maximum-requests",
            setting=replace(
                RECYCLING[0],
                only={"mode": ("daemon",)},
                help="Requests after which a daemon process is replaced, mode=daemon only; 0 is never.",
            ),
        ),
        *decided(Concern.ADDRESS, "host, port"),
        *decided(Concern.USER, "user, group"),
        *switches("access-log, log-to-terminal", Concern.LOGS),
        *decided(Concern.LOGS, "startup-log"),
        *decided(Concern.PATHS, "server-root, url-alias"),
        *decided(Concern.FOLDER, "working-directory"),
        Option("reload-on-changes", is_switch=True, is_for_development=True),
        Option("debug-mode", is_switch=True, is_for_development=True),
        Option("enable-debugger", is_switch=True, is_for_development=True),
        *switches("embedded-mode, help"),
    ),
)


class ModWsgi(Guest):
    """mod_wsgi with the app's environment as Python home; it must be of the Python that the module is linked to."""

    spec = ServerSpec(
        name="mod_wsgi",
        title="mod_wsgi",
        hosts=frozenset({Interface.WSGI}),
        inside=frozenset({"apache"}),
        settings=_OPTIONS.spec_settings,
        processes=_processes,
        native=_OPTIONS,
        suggested_for=frozenset({Interface.WSGI}),
    )
    # The module is linked to the system's own libpython, and a process can hold only one Python.
    needs = Needs(apt=("libapache2-mod-wsgi-py3",), files=(_MODULE,), embeds=system_python())

    quoted = APACHE.quoted

    def fragment(self, site: Site) -> Fragment:
        """Return the directives of the chosen mode."""
        return Fragment(
            modules={"wsgi": _MODULE},
            directives=self.render(f"{site.settings['mode']}.conf.j2", site),
            # at Apache's graceful restart, daemon processes end under requests: 23 of 13,865 were lost
            touched=site.app.entry if site.production and site.settings["mode"] == "daemon" else None,
            unloadable=("Failed to exec Python script file", "cannot be loaded as Python module"),
        )


SERVER = ModWsgi()
