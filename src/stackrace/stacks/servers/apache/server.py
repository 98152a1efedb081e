"""Apache httpd: a front end that forwards in five protocols, serves files, and runs mod_wsgi and mod_python
inside."""

from __future__ import annotations

import signal
from pathlib import Path

from ...native_files import Signs
from ...setting import Interface, Origin, Protocol, Setting, Settings, Socket
from ...stack import ProcessCount, ServerSpec
from ..contract import Fault, Needs, Recipe, Reload, Server
from ..settings import ACCESS_LOG, ANY_SOCKET, UPSTREAM_KEEP_ALIVE
from ..site import Endpoint, Fragment, Site
from ..templates import Rendered, in_quotes

_MODULES = Path("/usr/lib/apache2/modules")
_SCHEMES = {
    Protocol.HTTP: "http",
    Protocol.FASTCGI: "fcgi",
    Protocol.SCGI: "scgi",
    Protocol.UWSGI: "uwsgi",
    Protocol.AJP: "ajp",
}


def _processes(settings: Settings) -> ProcessCount:
    setting = "max_workers" if settings["mpm"] == "prefork" else "processes"
    return ProcessCount(setting=setting, least=0, most=int(settings[setting]))


class Apache(Server):
    """Apache with one configuration and only the modules the stack needs; nothing under /etc/apache2 is read."""

    spec = ServerSpec(
        name="apache",
        title="Apache httpd",
        signs=Signs(
            files=r".*\.(conf|vhost)(\..+)?|\.htaccess",
            forwards=r"^\s*(ProxyPass(Match)?\s|RewriteRule\s.*\[([^]]*,)?P\b)",
            documents=r"image:\s*\S*\bhttpd(?![\w-])",
        ),
        listens=frozenset({Protocol.HTTP}),
        sockets=(Socket.TCP,),
        forwards=dict.fromkeys(_SCHEMES, ANY_SOCKET) | {Protocol.AJP: (Socket.TCP,)},
        hosts=frozenset({Interface.FILES}),
        settings=(
            Setting(
                name="mpm",
                default="event",
                choices=("event", "worker", "prefork"),
                help="How connections meet processes and threads; prefork for code that is not thread-safe.",
            ),
            Setting(
                name="processes",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Child processes: fixed with event and worker, those at start (StartServers) with prefork; "
                "more of them loosen Python's lock when the app lives inside.",
            ),
            Setting(
                name="max_workers",
                default=1024,
                maximum=20000,
                origin=Origin.TUNED,
                help="Most requests at once over all children (MaxRequestWorkers, once MaxClients; ServerLimit "
                "follows); lower it to bound memory, raise it above the highest concurrency of the load.",
            ),
            Setting(
                name="min_spare",
                default=5,
                only={"mpm": ("prefork",)},
                help="Idle children kept ready, mpm=prefork only; raise it when load comes in bursts.",
            ),
            Setting(
                name="max_spare",
                default=10,
                only={"mpm": ("prefork",)},
                help="Idle children beyond which some are ended, mpm=prefork only; raise it to max_workers "
                "to keep all that ever started.",
            ),
            Setting(
                name="max_connections_per_child",
                default=0,
                minimum=0,
                maximum=1_000_000,
                help="Connections after which a child is replaced (once MaxRequestsPerChild); 0, the default, is "
                "never; set it where code leaks memory.",
            ),
            Setting(
                name="keep_alive",
                default=True,
                closes={False: "Apache is set to keep no connections: use keep_alive=on, with mpm=event"},
                help="Keep clients' connections; turn it off with mpm=prefork, where each one holds a process.",
            ),
            Setting(
                name="sendfile",
                default=False,
                help="Have the kernel send static files; turn it on where the file system is local.",
            ),
            Setting(
                name="mmap",
                default=True,
                help="Map static files into memory to send them; turn it off where they may be cut while read.",
            ),
            UPSTREAM_KEEP_ALIVE,
            ACCESS_LOG,
        ),
        processes=_processes,
    )
    faults = (
        Fault(
            where="apache/scgi/uwsgi",
            text="PATH_INFO stays percent-encoded and is repeated in SCRIPT_NAME. Simple paths work. "
            "`apache/uwsgi/uwsgi`, `apache/fastcgi/uwsgi` and `apache/scgi/flup` work fully.",
            changes_request=True,
        ),
        Fault(text="Its mod_uwsgi takes seconds per request, so mod_proxy_uwsgi forwards in its place."),
    )
    strips_forwarded_headers = True
    needs = Needs(
        apt=("apache2",),
        binary="apache2",
        files=(_MODULES / "mod_mpm_event.so", Path("/etc/mime.types")),
        version=("-v",),
    )

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs Apache in the foreground; TERM ends it, and after some seconds kills children
        still at work."""
        command = ("apache2", "-f", str(site.directory / "apache.conf"), "-DFOREGROUND")
        inside = site.inside or Fragment()
        return Recipe(
            command=command,
            check=(*command[:3], "-t"),
            files={
                "apache.conf": self._config(site),
                **{f"{folder}/.keep": "" for folder in ("htdocs", "logs", "run")},
                **inside.files,
            },
            # As init systems start it: a Python inside Apache uses the environment of the first python3 on PATH.
            unloadable=inside.unloadable,
            rare_crashes=inside.rare_crashes,
            # WINCH lets requests finish; a race has none left
            stop=site.stop(signal.SIGWINCH),
            reload=_reload(site, inside),
            # its graceful restart would cut off an app that is reloaded by touching a file
            reopens=None if inside.touched else signal.SIGUSR1,
            environment={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` in quotes; ``${NAME}`` and ``* ? [`` are refused: variables and patterns there."""
        return in_quotes(text, escaped='"\\', never=("${", "*", "?", "["))

    def _config(self, site: Site) -> str:
        settings = site.settings
        return self.render(
            "apache.conf.j2",
            site,
            modules=_modules(site),
            threads_per_child=-(-int(settings["max_workers"]) // int(settings["processes"])),
            root=site.empty if site.inside or site.upstream else site.app.root,
            inside=Rendered(f"{site.inside.directives.strip()}\n" if site.inside else ""),
            members=[_member(endpoint, index) for index, endpoint in enumerate(site.upstream)],
            connections=_connections(site),
        )


def _reload(site: Site, inside: Fragment) -> Reload:
    if inside.touched:
        return Reload(touches=inside.touched, source='modwsgi.readthedocs.io, "Reloading Source Code"')
    return Reload(
        by=signal.SIGUSR1,
        source='httpd, "Stopping and Restarting", Graceful Restart',
        loses="closes kept connections: 20 of 26,096 requests were lost, and of 32,567 on new connections none"
        if site.settings["keep_alive"]
        else "",
    )


def _modules(site: Site) -> dict[str, Path]:
    names = [f"mpm_{site.settings['mpm']}", "authz_core", "mime", "alias", "setenvif"]
    if site.production:
        names += ["headers", "reqtimeout"]
    if site.forwards:
        names += ["proxy", f"proxy_{_SCHEMES[site.forwards]}"]
    if len(site.upstream) > 1:
        names += ["proxy_balancer", "slotmem_shm", "lbmethod_byrequests"]
    if not site.upstream and not site.inside:
        names.append("dir")
    modules = {name: _MODULES / f"mod_{name}.so" for name in names}
    return modules | dict(site.inside.modules if site.inside else {})


def _member(endpoint: Endpoint, index: int) -> str:
    scheme = _SCHEMES[endpoint.protocol]
    if endpoint.is_unix:
        # The host is never looked up, but it must differ: mod_proxy tells its workers apart by this URL.
        return f"unix:{endpoint.path}|{scheme}://app{index}"
    return f"{scheme}://{endpoint.address}"


def _connections(site: Site) -> Rendered:
    """Return the parameters for connections to the next hop.

    Connections are kept for http only: FastCGI, SCGI and AJP servers give each connection a worker, and flup's pool
    queues new ones behind kept ones, so that requests wait forever.
    """
    keep = site.settings["upstream_keep_alive"] and site.forwards is Protocol.HTTP
    return Rendered("enablereuse=on ttl=60" if keep else "disablereuse=on")


SERVER = Apache()
