"""Phusion Passenger: starts the app's processes for Apache on demand, and ends idle ones."""

from __future__ import annotations

from pathlib import Path
from signal import SIGABRT, SIGSEGV

from ...setting import Interface, Origin, Setting
from ...stack import ServerSpec
from ..apache.server import SERVER as APACHE
from ..contract import Fault, Guest, Needs
from ..site import Fragment, Site

_MODULE = Path("/usr/lib/apache2/modules/mod_passenger.so")


class Passenger(Guest):
    """Passenger for Rack and WSGI apps; each of their processes serves one request at a time."""

    spec = ServerSpec(
        name="passenger",
        title="Phusion Passenger",
        hosts=frozenset({Interface.WSGI, Interface.RACK}),
        inside=frozenset({"apache"}),
        settings=(
            Setting(
                name="max_pool_size",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Most processes of the app; its own default is 6, a published comparison used 30.",
            ),
            Setting(
                name="spawn_method",
                default="smart",
                choices=("smart", "direct"),
                help="How a Rack app's processes begin: smart forks them from one that has loaded the app, direct "
                "loads it in each; WSGI apps are always loaded in each.",
            ),
            Setting(
                name="high_performance",
                default=False,
                help="Skip most of Apache's other modules for the app's requests; turn it on where none is needed.",
            ),
            Setting(
                name="pool_idle_time",
                default=300,
                minimum=0,
                maximum=86400,
                help="Seconds after which an idle process is ended; 0 keeps all that ever started.",
            ),
            Setting(
                name="stat_throttle_rate",
                default=10,
                minimum=0,
                maximum=86400,
                help="Seconds between two looks for the app's files and its restart.txt; 0 looks at every request.",
            ),
        ),
        suggested_for=frozenset({Interface.RACK}),
    )
    faults = (
        Fault(
            where="apache+passenger",
            text="It leaves PATH_INFO percent-encoded for WSGI. Simple paths work.",
            changes_request=True,
        ),
    )
    # Its WSGI loader imports imp, which is gone since Python 3.12.
    needs = Needs(apt=("libapache2-mod-passenger",), files=(_MODULE,), before=(3, 12))

    quoted = APACHE.quoted

    def fragment(self, site: Site) -> Fragment:
        """Return the directives for the app's interface."""
        return Fragment(
            modules={"passenger": _MODULE},
            directives=self.render("passenger.conf.j2", site),
            # it does not create its log itself
            files={"logs/passenger.log": "", "run/passenger/.keep": ""},
            unloadable=("Could not spawn process for application",),
            # Apache unloads its modules once as it starts; before 6.0.21 a Passenger thread may outlive that
            rare_crashes=(SIGABRT, SIGSEGV),
        )


SERVER = Passenger()
