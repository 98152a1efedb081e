"""Waitress: one process, one thread for the network, a few for the app."""

from __future__ import annotations

from ...native_files import Concern
from ...native_options import NativeOptions, Option, decided, switches
from ...setting import Interface, Origin, Protocol, Setting
from ...stack import ServerSpec
from ..contract import BACKLOG, Recipe, Server
from ..settings import KEEP_ALIVE, given, in_threads, threads
from ..site import ANYBODY, BODILESS, Site

_OPTIONS = NativeOptions(
    programs=("waitress-serve", "waitress"),
    underscores=True,
    at_once=in_threads,
    rows=(
        Option("threads", setting=threads("Threads that run the app", 4, most=64, steps=10)),
        Option(
            "connection-limit",
            setting=Setting(
                name="connection_limit",
                default=4096,
                maximum=65536,
                origin=Origin.TUNED,
                help="Most connections at once, of which Waitress itself would take 100; the others wait.",
            ),
            default=100,
        ),
        Option("channel-timeout", setting=KEEP_ALIVE, default=120),
        Option("backlog", is_queue=True),
        *decided(Concern.ADDRESS, "host, port, listen, unix-socket, unix-socket-perms, sockets, url-prefix"),
        *switches("ipv4, ipv6", Concern.ADDRESS),
        *decided(Concern.PATHS, "app"),
        *switches("call", Concern.PATHS),
        *switches("help", Concern.PROCESS),
        *switches("expose-tracebacks, asyncore-use-poll, log-socket-errors, log-untrusted-proxy-headers"),
        *switches("clear-untrusted-proxy-headers"),
    ),
)


class Waitress(Server):
    """Waitress behind our launcher, the file ``stackrace_waitress.py`` in the site."""

    spec = ServerSpec(
        name="waitress",
        title="Waitress",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset({Interface.WSGI}),
        settings=_OPTIONS.spec_settings,
        native=_OPTIONS,
        package="waitress",
    )
    packages = ("waitress>=2",)

    strips_forwarded_headers = True
    trusts_one_proxy = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket."""
        settings = site.settings
        numbers = (settings["threads"], BACKLOG, settings["keep_alive"], settings["connection_limit"])
        # no load is left when a raced stack is stopped
        how = (*_proxies(site), site.patience_s(0), *given(site))
        return self.launched(site, site.listen.address, BODILESS, *numbers, *how)


def _proxies(site: Site) -> tuple[str, str]:
    """Return the trusted proxy and the number of proxies in a row; Waitress takes a single address."""
    if site.production is None or site.production.is_behind:
        # so many that none of their headers is dropped; a front end has dropped the headers of strangers
        return ANYBODY, "16"
    return site.trusted_proxies.partition(",")[0], "1"


SERVER = Waitress()
