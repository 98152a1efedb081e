"""nginx: a front end that forwards in four protocols and serves files; accepts a user's configuration, too."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from ....base.errors import LaunchError, said_by
from ...native_files import GivenOption, Signs
from ...setting import Interface, Protocol, SettingValue
from ...stack import ServerSpec
from ..contract import BACKLOG, Needs, Recipe, Reload, Server
from ..settings import ANY_SOCKET, fixed_by
from ..site import Endpoint, Site
from ..templates import in_quotes
from .directives import Directive, built
from .options import OPTIONS
from .site_file import SiteFile, site_file


class Nginx(Server):
    """nginx with one ``nginx.conf``; the next hop's protocol, or none, selects its inner block."""

    spec = ServerSpec(
        name="nginx",
        title="nginx",
        signs=Signs(
            documents=r"image:\s*\S*\bnginx(-proxy|-unprivileged)?(?![\w-])|ingressClassName:\s*\S*nginx|ingress\.class\S*\s*\S*nginx|nginx\.ingress\."
        ),
        listens=frozenset({Protocol.HTTP}),
        forwards={
            Protocol.HTTP: ANY_SOCKET,
            Protocol.FASTCGI: ANY_SOCKET,
            Protocol.SCGI: ANY_SOCKET,
            Protocol.UWSGI: ANY_SOCKET,
        },
        hosts=frozenset({Interface.FILES}),
        settings=OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        native=OPTIONS,
        suggested_for=frozenset({Interface.FILES}),
    )
    needs = Needs(
        apt=("nginx-light",),
        dnf=("nginx-core", "nginx-mimetypes"),
        apk=("nginx",),
        binary="nginx",
        files=(Path("/etc/nginx/mime.types"),),
        version=("-v",),
    )

    limits_bodies = True
    limits_answers = True

    def recipe(self, site: Site) -> Recipe:
        """Return a command that runs the master in the foreground; TERM is its fast shutdown, QUIT would wait for
        clients."""
        # -e: without it nginx opens the log file compiled into it before it has read the configuration.
        config = str(site.directory / "nginx.conf")
        command = ("nginx", "-e", "stderr", "-p", str(site.directory), "-c", config)
        return Recipe(
            command=command,
            check=(*command, "-t", "-q"),
            files={
                "nginx.conf": _with_directives(
                    _users_config(site) if site.file else self._config(site), site.options
                ),
                "logs/.keep": "",
                "tmp/.keep": "",
            },
            # QUIT lets requests finish; a race has none left
            stop=site.stop(signal.SIGQUIT),
            reload=Reload(by=signal.SIGHUP, source='nginx.org, "Controlling nginx", Changing Configuration'),
            reopens=signal.SIGUSR1,
        )

    def quoted(self, text: str) -> str:
        """Return ``text`` in quotes; a dollar is refused, because it cannot be escaped."""
        return in_quotes(text, escaped='"\\', never=("$",))

    def _config(self, site: Site) -> str:
        is_http = site.forwards is Protocol.HTTP
        inner = "http.conf.j2" if is_http else "gateway.conf.j2" if site.forwards else "files.conf.j2"
        return self.render("nginx.conf.j2", site, inner=inner, module="proxy" if is_http else site.forwards)


_MAIN = re.compile("env|pcre_jit|thread_pool|timer_resolution|worker_(cpu_affinity|rlimit_(core|nofile))")
_EVENTS = ("multi_accept", "accept_mutex", "accept_mutex_delay", "use", "worker_aio_requests")


def _with_directives(config: str, options: Sequence[GivenOption]) -> str:
    """Return ``config`` with ``options`` as directives, each in place of all directives with its name."""
    for name in {option.name for option in options}:
        config = re.sub(rf"^ *{re.escape(name)}\s[^\n]*;\n", "", config, flags=re.MULTILINE)
    for option in reversed(options):
        line = f"{option.name} {option.value if option.value is not None else 'on'};\n"
        if _MAIN.fullmatch(option.name):
            config = line + config
        else:
            block = "events {\n" if option.name in _EVENTS else "http {\n"
            config = config.replace(block, f"{block}    {line}", 1)
    return config


_TEMPORARY = ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")


def _users_config(site: Site) -> str:
    """Return the user's configuration as text. Raises LaunchError for a setting that a file does not allow."""
    assert site.file is not None
    try:
        theirs = site_file(site.file.text, site.file.here or site.file.path, site.file.folder, site.app.static)
    except OSError as error:
        raise LaunchError(f"what {site.file.path} includes cannot be read: {said_by(error)}") from error
    except ValueError as error:
        raise LaunchError(f"{site.file.path} cannot be used: {error}") from error
    for name in sorted(site.chosen - {"socket", "instances"}):
        _set(theirs, name, site.settings[name])
    if site.production is not None:
        _move(theirs, site.file.folder, site.app.root)
    return built([*_main(theirs, site), _block("events", theirs.events), _block("http", _http(theirs, site))])


def _main(theirs: SiteFile, site: Site) -> list[Directive]:
    return [
        Directive("daemon", ["off"]),
        Directive("pid", [str(site.runtime / "nginx.pid")]),
        Directive("error_log", [str(site.logs / "error.log"), "warn" if site.production else "error"]),
        *theirs.main,
    ]


def _http(theirs: SiteFile, site: Site) -> list[Directive]:
    temporary = [Directive(f"{name}_temp_path", [str(site.temporary / name)]) for name in _TEMPORARY]
    servers = [Directive("server", [_address(one), *theirs.server_words]) for one in site.upstream]
    listen = Directive("listen", [_address(site.listen), f"backlog={BACKLOG}"])
    return [
        Directive("access_log", _access_log(site)),
        *temporary,
        *_scheme(site),
        *theirs.http,
        _block("upstream", [*servers, *theirs.upstream], theirs.name),
        _block("server", [listen, *theirs.server]),
    ]


def _access_log(site: Site) -> list[str]:
    log = str(site.logs / "access.log")
    if site.production is not None:
        return [log, "combined", "buffer=64k", "flush=5s"]
    return [log] if site.settings.get("access_log") else ["off"]


def _scheme(site: Site) -> list[Directive]:
    """Return the maps that tell the app the scheme of the client, as a TLS proxy in front reports it.

    In production only a known proxy is trusted; a race trusts every client.
    """
    said = "$http_x_forwarded_proto"
    if site.production is None:
        scheme, trusted = [_map(said, "$client_scheme", {"default": said, "": "$scheme"})], said
    else:
        known = [Directive(proxy, ["1"]) for proxy in site.production.proxies]
        pairs = {"1:http": "http", "1:https": "https"}
        scheme = [
            _block("geo", [Directive("default", [str(int(site.production.is_behind))]), *known], "$is_proxy"),
            _map(f"$is_proxy:{said}", "$client_scheme", {"default": "$scheme", **pairs}),
        ]
        trusted = "$client_scheme"
    return [*scheme, _map(trusted, "$client_https", {"default": "$https", "https": "on"})]


def _map(source: str, name: str, pairs: Mapping[str, str]) -> Directive:
    return _block("map", [Directive(key, [value]) for key, value in pairs.items()], source, name)


def _move(theirs: SiteFile, folder: Path, root: Path) -> None:
    """Replace paths in ``folder``, the project on this machine, by paths in ``root``."""
    for level in (theirs.main, theirs.events, theirs.http, theirs.upstream, theirs.server):
        for directive in (each for top in level for each in top.walk()):
            directive.args = [_moved(word, str(folder), str(root)) for word in directive.args]


def _moved(word: str, folder: str, root: str) -> str:
    is_inside = word == folder or word.startswith(f"{folder}/")
    return root + word.removeprefix(folder) if is_inside else word


def _block(name: str, inner: Sequence[Directive], *args: str) -> Directive:
    return Directive(name, list(args), block=list(inner))


def _address(endpoint: Endpoint) -> str:
    return f"unix:{Path(endpoint.address)}" if endpoint.is_unix else endpoint.address


def _set(theirs: SiteFile, name: str, value: SettingValue) -> None:
    if name == "access_log":
        return
    names = {setting: key for key, setting in OPTIONS.keys.items()}
    if name not in names:
        known = ", ".join(sorted((*names, "access_log")))
        raise LaunchError(f"beside a configuration file of nginx's, {name}= cannot be given, only {known}")
    directive = names[name]
    levels = {"workers": theirs.main, "worker_connections": theirs.events}
    for level in (theirs.main, theirs.events, theirs.http, theirs.server):
        level[:] = [each for each in level if each.name != directive]
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    levels.get(name, theirs.http).append(Directive(directive, [text]))


SERVER = Nginx()
