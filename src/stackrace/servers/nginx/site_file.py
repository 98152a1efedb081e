"""A configuration of the user's nginx, made ready to be raced: all of it stays but for what is decided for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...model.own import Change, Concern, NotTaken
from .decided import SERVES_ELSEWHERE, decided, unusable
from .parsing import STOCK, Directive, included, parsed

__all__ = ["APP", "SCHEME", "SiteFile", "site_file"]

APP = "app"
"""The upstream of ours, where the user has none by name."""
SCHEME = "$client_scheme"
"""What a client before nginx spoke, as it says itself: TLS ends where the race does not go."""

_PASS = re.compile("(proxy|uwsgi|fastcgi|scgi)_pass")
_PROTOCOLS = {"proxy": "http", "uwsgi": "uwsgi", "fastcgi": "fastcgi", "scgi": "scgi"}
_TARGET = re.compile(r"(?:(https?|uwsgis?|suwsgi)://)?(unix:[^:]+(?::)?|[^/]*)(.*)", re.DOTALL)
_SCHEME_HEADER = re.compile("x-(forwarded-(proto|protocol|scheme|ssl)|scheme|url-scheme)", re.IGNORECASE)
_HOSTS = re.compile(r"\$(http_)?host(:\$\w+)?")
_BALANCING = frozenset({"server", "resolver", "zone", "sticky", "queue", "state", "ntlm"})
"""What of an upstream block is about where its servers are."""
_SERVER_WORDS = re.compile("(weight|max_conns|max_fails|fail_timeout)=.*")
STOCK_MAIN = "worker_processes auto; events { worker_connections 1024; }"
STOCK_HTTP = "include mime.types; default_type application/octet-stream; sendfile on; keepalive_timeout 65;"
"""What stands around a site in the configuration that nginx's own image has."""


@dataclass(slots=True)
class SiteFile:
    """The parts of a configuration, as they are raced, and what happened to them."""

    main: list[Directive] = field(default_factory=list)
    events: list[Directive] = field(default_factory=list)
    http: list[Directive] = field(default_factory=list)
    """Without servers and the app's upstream."""
    server: list[Directive] = field(default_factory=list)
    """What is in the one that forwards to the app."""
    upstream: list[Directive] = field(default_factory=list)
    """What balances the app's servers; these themselves are left out."""
    server_words: list[str] = field(default_factory=list)
    """What is said of each of them."""
    name: str = APP
    """How the upstream is called."""
    protocol: str = ""
    target: str = ""
    """Where the app is, as the file has it."""
    changes: list[Change] = field(default_factory=list)
    not_taken: list[NotTaken] = field(default_factory=list)
    files: frozenset[str] = frozenset()
    """Other files that it includes."""

    def change(self, directive: Directive, concern: Concern) -> None:
        """Note that ``directive`` is decided otherwise."""
        key = f"{directive.file}: {directive.name}" if directive.file else directive.name
        self.changes.append(Change(key=key, theirs=" ".join(directive.args), concern=concern, line=directive.line))

    def leave(self, directive: Directive, why: str) -> None:
        """Note that the race goes without ``directive``."""
        what = f"{directive.file}: {directive.words}" if directive.file else directive.words
        self.not_taken.append(NotTaken(line=directive.line, what=what, why=why))


def site_file(text: str, path: Path, folder: Path, static: Mapping[str, Path] | None = None) -> SiteFile:
    """Return the configuration ``text`` of the file at ``path`` as it is raced.

    ``folder`` is the project's; ``static`` are the folders of its static files by URL prefix, if these are known.
    Raises ValueError for what nginx could not read, and for a file in which nothing forwards to an app.
    """
    site = SiteFile()
    tree = included(parsed(text), path, folder)
    site.files = frozenset(each.file for top in tree for each in top.walk() if each.file)
    http = [directive for block in _named(tree, "http") for directive in block.block or ()]
    if http or _named(tree, "http"):
        main = [directive for directive in tree if directive.name not in ("http", "events")]
        site.events = [directive for block in _named(tree, "events") for directive in block.block or ()]
    else:
        main, http = parsed(STOCK_MAIN), [*included(parsed(STOCK_HTTP), path, folder), *tree]
        site.events = [directive for block in _named(main, "events") for directive in block.block or ()]
        main = [directive for directive in main if directive.name != "events"]
    chosen = _chosen(site, http)
    _find_app(site, chosen, http)
    site.main = list(_kept(site, main, static, folder))
    around = [directive for directive in http if directive.name not in ("server", "upstream")]
    site.http = list(_kept(site, around, static, folder))
    _leave_upstreams(site, http, chosen)
    site.server = list(_kept(site, chosen.block or [], static, folder))
    _serve_root(site)
    _send_host(site)
    _say_scheme(site)
    return site


def _named(directives: Sequence[Directive], name: str) -> list[Directive]:
    return [directive for directive in directives if directive.name == name and directive.block is not None]


def _chosen(site: SiteFile, http: Sequence[Directive]) -> Directive:
    """Return the server that forwards to the app: with TLS if one has it, else the first with most to say."""
    servers = _named(http, "server")
    forwarding = [server for server in servers if any(_PASS.fullmatch(each.name) for each in server.walk())]
    if not forwarding:
        raise ValueError("no server in it forwards to an app (proxy_pass, uwsgi_pass, fastcgi_pass, scgi_pass)")
    chosen = max(forwarding, key=lambda server: (_root_pass(server) is not None, _has_tls(server)))
    for server in servers:
        if server is chosen:
            continue
        if server in forwarding:
            site.leave(server, f"a race has one server, that of line {chosen.line}")
        else:
            site.change(server, Concern.ADDRESS)
    return chosen


def _has_tls(server: Directive) -> bool:
    return any(
        each.name == "listen" and ("ssl" in each.args or "443" in each.args[0]) for each in server.block or ()
    )


def _locations(server: Directive) -> Iterator[Directive]:
    for each in server.block or ():
        if each.name == "location":
            yield each
            yield from _locations(each)


def _root_pass(server: Directive) -> Directive | None:
    """Return what forwards pages: of ``location /``, or of the named location that it falls back to."""
    locations = {" ".join(location.args): location for location in _locations(server)}
    root = locations.get("/")
    whole = [*(root.block or () if root else ()), *(server.block or ())]
    fallbacks = [each.args[-1] for each in whole if each.name in ("try_files", "error_page") and each.args]
    for location in (root, *(locations.get(name) for name in fallbacks)):
        for each in location.block or () if location else ():
            if _PASS.fullmatch(each.name):
                return each
    return None


def _find_app(site: SiteFile, server: Directive, http: Sequence[Directive]) -> None:
    """Settle where the app is, in which protocol, and how its upstream is called."""
    passes = [each for each in server.walk() if _PASS.fullmatch(each.name)]
    own = _root_pass(server) or passes[0]
    site.protocol = _PROTOCOLS[own.name.partition("_")[0]]
    host = _host(own)
    block = next((each for each in _named(http, "upstream") if each.args == [host]), None)
    if block is None:
        site.target = host
        return
    site.name = host
    servers = [each for each in block.block or () if each.name == "server"]
    site.target = servers[0].args[0] if servers and servers[0].args else host
    site.server_words = [word for word in (servers[0].args if servers else ()) if _SERVER_WORDS.fullmatch(word)]
    site.upstream = [each for each in block.block or () if each.name not in _BALANCING]
    for each in servers:
        site.change(each, Concern.ADDRESS)


def _host(forward: Directive) -> str:
    match = _TARGET.fullmatch(forward.args[0] if forward.args else "")
    return match[2].rstrip(":") if match else ""


def _leave_upstreams(site: SiteFile, http: Sequence[Directive], server: Directive) -> None:
    """Note the upstreams of other services; those of which nothing in the server speaks are left out unsaid."""
    used = {_host(each) for each in server.walk() if _PASS.fullmatch(each.name)}
    for each in _named(http, "upstream"):
        if each.args != [site.name] and each.args and each.args[0] in used:
            site.leave(each, "it is another service than the app")


def _kept(
    site: SiteFile, directives: Sequence[Directive], static: Mapping[str, Path] | None, folder: Path
) -> Iterator[Directive]:
    for directive in directives:
        if (kept := _ready(site, directive, static, folder)) is not None:
            yield kept


def _ready(
    site: SiteFile, directive: Directive, static: Mapping[str, Path] | None, folder: Path
) -> Directive | None:
    """Return ``directive`` as it is raced, None for one that is not, with a note of what was done."""
    name = directive.name
    if why := unusable(name):
        site.leave(directive, why)
        return None
    if concern := decided(name):
        site.change(directive, concern)
        return None
    if name == "include" and directive.args and not directive.args[0].startswith("/etc/nginx/"):
        site.leave(directive, "there is no such file in the project")
        return None
    if name == "include" and PurePosixPath(directive.args[0] if directive.args else "").name not in STOCK:
        site.leave(directive, "there is no such file in the project")
        return None
    if _redirects(directive):
        site.change(directive, Concern.ADDRESS)
        return None
    if name == "location":
        return _location(site, directive, static, folder)
    if name in ("root", "alias"):
        return _placed(site, directive, folder)
    if _PASS.fullmatch(name):
        return _forwarded(site, directive)
    if name == "proxy_set_header" and len(directive.args) == 2:
        return _header(site, directive)
    if directive.block is not None and name not in ("map", "geo", "types", "split_clients"):
        inner = list(_kept(site, directive.block, static, folder))
        return Directive(name, directive.args, directive.line, directive.file, inner)
    return directive


def _redirects(directive: Directive) -> bool:
    """Tell whether a directive only sends clients to https or to another name, where no race goes."""
    if directive.name in ("return", "rewrite"):
        return any(word.startswith(("https://", "$redirect")) for word in directive.args) or directive.args == [
            "444"
        ]
    if directive.name == "if":
        tested = directive.args[0] if directive.args else ""
        by_name = tested in ("$host", "$http_host", "$scheme", "$https", "$http_x_forwarded_proto", "$server_port")
        return by_name and all(each.name in ("return", "rewrite") for each in directive.block or ())
    return False


def _location(
    site: SiteFile, directive: Directive, static: Mapping[str, Path] | None, folder: Path
) -> Directive | None:
    """Return a location whose files or whose service are there; the app answers what it is left out for."""
    block = directive.block or []
    elsewhere = next((each for each in block if _is_elsewhere(site, each)), None)
    if elsewhere is not None:
        site.leave(directive, f"it leads to another service: {elsewhere.words}")
        return None
    if any(each.name in ("return", "rewrite") and _redirects(each) for each in block) and not any(
        _PASS.fullmatch(each.name) for each in block
    ):
        site.change(directive, Concern.ADDRESS)
        return None
    prefix = directive.args[-1] if directive.args else ""
    files = next((each for each in block if each.name in ("alias", "root")), None)
    ours = (static or {}).get(prefix if prefix.endswith("/") else f"{prefix}/")
    if files is not None and ours is not None and not any(_PASS.fullmatch(each.name) for each in block):
        site.change(files, Concern.PATHS)
        rest = [each for each in block if each is not files]
        place = Directive("alias", [f"{ours}/" if prefix.endswith("/") else str(ours)], files.line)
        return Directive("location", directive.args, directive.line, directive.file,
                         [place, *_kept(site, rest, static, folder)])  # fmt: skip
    forwards = any(_PASS.fullmatch(each.name) for each in block)
    missing = next((each for each in block if unusable(each.name)), None)
    if missing is not None and not forwards:
        site.leave(directive, f"{missing.name}: {unusable(missing.name)}")
        return None
    is_tried = forwards or any(each.name == "try_files" for each in block)
    if files is not None and not is_tried and _found(files.args[0] if files.args else "", folder) is None:
        site.leave(directive, f"there is no folder {' '.join(files.args)} in the project")
        return None
    return Directive("location", directive.args, directive.line, directive.file,
                     list(_kept(site, block, static, folder)))  # fmt: skip


def _is_elsewhere(site: SiteFile, directive: Directive) -> bool:
    if directive.name in SERVES_ELSEWHERE:
        return True
    if not _PASS.fullmatch(directive.name):
        return False
    protocol = _PROTOCOLS[directive.name.partition("_")[0]]
    host = _host(directive)
    return protocol != site.protocol or (host not in (site.name, site.target) and "$" not in host)


def _forwarded(site: SiteFile, directive: Directive) -> Directive:
    """Return what forwards to the app, to our upstream."""
    match = _TARGET.fullmatch(directive.args[0])
    rest = match[3] if match else ""
    site.change(directive, Concern.ADDRESS)
    to = f"http://{site.name}{rest}" if directive.name == "proxy_pass" else site.name
    return Directive(directive.name, [to], directive.line, directive.file)


def _header(site: SiteFile, directive: Directive) -> Directive:
    """Return a header as it is sent to the app: its name and the scheme are the client's own."""
    name, value = directive.args
    theirs = None
    if name.lower() == "host" and not _HOSTS.fullmatch(value):
        theirs = "$http_host"
    elif _SCHEME_HEADER.fullmatch(name):
        theirs = SCHEME if not name.lower().endswith("ssl") else ""
    if theirs is None or theirs == value:
        return directive
    site.change(directive, Concern.ADDRESS)
    return Directive(directive.name, [name, theirs], directive.line, directive.file)


def _placed(site: SiteFile, directive: Directive, folder: Path) -> Directive | None:
    """Return a folder of files as it lies in the project; one that is not there is left out."""
    given = directive.args[0] if directive.args else ""
    place = _found(given, folder)
    site.change(directive, Concern.PATHS)
    if place is None:
        return None
    slash = "/" if given.endswith("/") else ""
    return Directive(directive.name, [f"{place}{slash}"], directive.line, directive.file)


def _found(given: str, folder: Path) -> Path | None:
    """Return the folder, or file, of the project that an image calls ``given``: by its last parts."""
    if "$" in given:
        return None
    parts = [part for part in PurePosixPath(given).parts if part not in ("/", ".", "..")]
    return next((place for start in range(len(parts)) if (place := folder.joinpath(*parts[start:])).exists()), None)


def _send_host(site: SiteFile) -> None:
    """Send the client's Host where nothing says which: nginx would send the name of its upstream, which is ours."""
    if site.protocol != "http":
        return
    levels = [site.http, site.server, *(each.block or [] for each in _every_location(site.server))]
    headers = [[each for each in level if each.name == "proxy_set_header"] for level in levels]
    if not any(each.args and each.args[0].lower() == "host" for level in headers for each in level):
        host = Directive("proxy_set_header", ["Host", "$http_host"])
        targets = [level for level, known in zip(levels, headers, strict=True) if known] or [site.server]
        for level in targets:
            level.append(host)


def _every_location(directives: Sequence[Directive]) -> Iterator[Directive]:
    for each in directives:
        if each.name == "location":
            yield each
            yield from _every_location(each.block or ())


def _serve_root(site: SiteFile) -> None:
    """Forward what no location is left for: the app answers it."""
    if any(each.name == "location" and each.args == ["/"] for each in site.server):
        return
    blocks = (each.block or [] for each in _every_location(site.server))
    block = next((block for block in blocks if any(_PASS.fullmatch(each.name) for each in block)), [])
    site.server.append(Directive("location", ["/"], 0, "", [_of_root(site, each) for each in block]))


def _of_root(site: SiteFile, directive: Directive) -> Directive:
    return Directive("proxy_pass", [f"http://{site.name}"]) if directive.name == "proxy_pass" else directive


def _say_scheme(site: SiteFile) -> None:
    """Say to a gateway's app what a TLS proxy before nginx says of the scheme, wherever parameters are given."""
    word = site.protocol
    if word == "http":
        return
    for level in (site.http, site.server, *(each.block or [] for each in _every_location(site.server))):
        if any(each.name == f"{word}_param" or (each.args and f"{word}_params" in each.args[0]) for each in level):
            level.append(Directive(f"{word}_param", ["HTTPS", "$client_https", "if_not_empty"]))
