"""A user's nginx configuration, prepared for a race: everything stays except what Stackrace decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ....base.files import by_last_parts
from ...native_files import Change, Concern, Omission
from .directives import SERVES_ELSEWHERE, STOCK, Directive, decided, included, parsed, unusable

_PROTOCOLS = {"proxy": "http", "uwsgi": "uwsgi", "fastcgi": "fastcgi", "scgi": "scgi"}
"""Protocols that nginx's modules forward in, by module."""
_BALANCING = frozenset({"server", "resolver", "zone", "sticky", "queue", "state", "ntlm"})
"""Directives of an upstream block that are about its servers' addresses."""
_SERVER_WORDS = re.compile("(weight|max_conns|max_fails|fail_timeout)=.*")
_STOCK_MAIN = "worker_processes auto; events { worker_connections 1024; }"
_STOCK_HTTP = "include mime.types; default_type application/octet-stream; sendfile on; keepalive_timeout 65;"
"""Configuration around a site in nginx's own image."""
_TARGET = re.compile(r"(?:(https?|uwsgis?|suwsgi)://)?(unix:[^:]+(?::)?|[^/]*)(.*)", re.DOTALL)
"""Scheme, address and path of a forward's target."""
_SCHEME = "$client_scheme"
"""Variable with the client's scheme, as a TLS proxy before nginx reports it: a race itself has no TLS."""
_SCHEME_HEADER = re.compile("x-(forwarded-(proto|protocol|scheme|ssl)|scheme|url-scheme)", re.IGNORECASE)
_SUBSTITUTED = re.compile(r"\$\{?[A-Z][A-Z0-9_]+")
"""Placeholder of a tool such as envsubst; nginx's own variables are in small letters."""
_HOSTS = re.compile(r"\$(http_)?host(:\$\w+)?")
_TESTS_NAME = frozenset({"$host", "$http_host", "$scheme", "$https", "$http_x_forwarded_proto", "$server_port"})


@dataclass(slots=True, kw_only=True)
class SiteFile:
    """Parts of a configuration, as they are raced, and the changes to them."""

    folder: Path
    """The project's folder."""
    static: Mapping[str, Path] = field(default_factory=dict)
    """Folders of static files by URL prefix."""
    main: list[Directive] = field(default_factory=list)
    events: list[Directive] = field(default_factory=list)
    http: list[Directive] = field(default_factory=list)
    """Directives of the http block, without servers and the app's upstream."""
    server: list[Directive] = field(default_factory=list)
    """Directives of the server that forwards to the app."""
    upstream: list[Directive] = field(default_factory=list)
    """Directives of the upstream block, without the app's servers."""
    server_words: list[str] = field(default_factory=list)
    """Parameters of each server in the upstream."""
    name: str = "app"
    """Name of the upstream; ``app`` if the user's configuration names none."""
    protocol: str = ""
    target: str = ""
    """Address of the app, as written in the file."""
    changes: list[Change] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    root: Directive | None = None
    """Directive with the folder of files for the whole server; None if there is none."""
    files: frozenset[str] = frozenset()
    """Other project files that the configuration includes."""

    def change(self, directive: Directive, concern: Concern) -> None:
        """Record that Stackrace decides ``directive`` differently."""
        key = f"{directive.file}: {directive.name}" if directive.file else directive.name
        self.changes.append(Change(key=key, theirs=" ".join(directive.args), concern=concern, line=directive.line))

    def leave(self, directive: Directive, why: str) -> None:
        """Record that the race ignores ``directive``."""
        what = f"{directive.file}: {directive.words}" if directive.file else directive.words
        self.omissions.append(Omission(line=directive.line, what=what, why=why))

    def forwarding(self) -> Iterator[list[Directive]]:
        """Yield the levels that may contain directives about forwarding, the outer ones first."""
        yield from (self.http, self.server, *(each.block or [] for each in _locations(self.server)))


def site_file(text: str, path: Path, folder: Path, static: Mapping[str, Path] | None = None) -> SiteFile:
    """Return the configuration ``text`` of the file at ``path`` as it is raced.

    ``folder`` is the project's; ``static`` are the folders of its static files by URL prefix, if known.
    Raises ValueError for text that nginx cannot read, and if nothing in the file forwards to an app.
    """
    site = SiteFile(folder=folder, static=static or {})
    tree = included(parsed(text), path, folder)
    if not _named(tree, "server") and any(each.name == "location" for each in tree):
        # a snippet to include in a server
        tree = [Directive("server", [], tree[0].line, block=tree)]
    site.files = frozenset(each.file for each in _walk(tree) if each.file)
    if not _named(tree, "http"):
        stock = included(parsed(_STOCK_HTTP), path, folder)
        tree = [*parsed(_STOCK_MAIN), Directive("http", [], block=[*stock, *tree])]
    main = [directive for directive in tree if directive.name not in ("http", "events")]
    site.events = _inside(tree, "events")
    http = _inside(tree, "http")
    chosen = _chosen(site, http)
    _find_app(site, chosen, http)
    site.root = next((each for each in chosen.block or () if each.name == "root"), None)
    site.main = _kept(site, main)
    site.http = _kept(site, [directive for directive in http if directive.name not in ("server", "upstream")])
    _leave_upstreams(site, http, chosen)
    site.server = _kept(site, chosen.block or [])
    if not any(each.forwards for each in _walk(site.server)):
        line = next((each.line for each in site.omissions if each.line >= chosen.line), chosen.line)
        raise ValueError(f"line {line}: what forwards to the app cannot be read")
    _serve_root(site)
    _send_host(site)
    _say_scheme(site)
    return site


def _named(directives: Iterable[Directive], name: str) -> list[Directive]:
    return [directive for directive in directives if directive.name == name and directive.block is not None]


def _inside(directives: Iterable[Directive], name: str) -> list[Directive]:
    return [inner for block in _named(directives, name) for inner in block.block or ()]


def _walk(directives: Iterable[Directive]) -> Iterator[Directive]:
    return (each for top in directives for each in top.walk())


def _locations(directives: Iterable[Directive]) -> Iterator[Directive]:
    for each in directives:
        if each.name == "location":
            yield each
            yield from _locations(each.block or ())


def _chosen(site: SiteFile, http: Sequence[Directive]) -> Directive:
    """Return a server that forwards to the app: preferably one that forwards the root location, then one with
    TLS."""
    servers = _named(http, "server")
    forwarding = [server for server in servers if any(each.forwards for each in server.walk())]
    if not forwarding:
        raise ValueError("no server in it forwards to an app (proxy_pass, uwsgi_pass, fastcgi_pass, scgi_pass)")
    chosen = max(forwarding, key=lambda server: (_root_pass(server) is not None, _has_tls(server)))
    for server in servers:
        if server is not chosen and server in forwarding:
            site.leave(server, f"a race has one server, that of line {chosen.line}")
        elif server is not chosen:
            site.change(server, Concern.ADDRESS)
    return chosen


def _has_tls(server: Directive) -> bool:
    return any(
        each.name == "listen" and ("ssl" in each.args or "443" in each.args[0]) for each in server.block or ()
    )


def _root_pass(server: Directive) -> Directive | None:
    locations = {" ".join(location.args): location for location in _locations(server.block or ())}
    root = locations.get("/")
    whole = [*(root.block or () if root else ()), *(server.block or ())]
    fallbacks = [each.args[-1] for each in whole if each.name in ("try_files", "error_page") and each.args]
    candidates = (root, *(locations.get(name) for name in fallbacks))
    inner = (each for location in candidates if location for each in location.block or ())
    return next((each for each in inner if each.forwards), None)


def _host_of(forward: Directive) -> str:
    match = _TARGET.fullmatch(forward.args[0] if forward.args else "")
    return match[2].rstrip(":") if match else ""


def _find_app(site: SiteFile, server: Directive, http: Sequence[Directive]) -> None:
    own = _root_pass(server) or next(each for each in server.walk() if each.forwards)
    site.protocol = _PROTOCOLS[own.name.partition("_")[0]]
    site.target = host = _host_of(own)
    block = next((each for each in _named(http, "upstream") if each.args == [host]), None)
    if block is None:
        return
    site.name = host
    servers = [each for each in block.block or () if each.name == "server"]
    words = servers[0].args if servers else []
    site.target = words[0] if words else host
    site.server_words = [word for word in words if _SERVER_WORDS.fullmatch(word)]
    site.upstream = [each for each in block.block or () if each.name not in _BALANCING]
    for each in servers:
        site.change(each, Concern.ADDRESS)


def _leave_upstreams(site: SiteFile, http: Sequence[Directive], server: Directive) -> None:
    """Record the upstreams of other services that the server uses; unused ones are dropped without a record."""
    used = {_host_of(each) for each in server.walk() if each.forwards}
    for each in _named(http, "upstream"):
        if each.args != [site.name] and each.args and each.args[0] in used:
            site.leave(each, "it is another service than the app")


def _serve_root(site: SiteFile) -> None:
    if any(each.name == "location" and each.args == ["/"] for each in site.server):
        return
    blocks = (each.block or [] for each in _locations(site.server))
    block = next((block for block in blocks if any(each.forwards for each in block)), [])
    whole = Directive("proxy_pass", [f"http://{site.name}"])
    root = [whole if each.name == "proxy_pass" else each for each in block]
    site.server.append(Directive("location", ["/"], block=root))


def _send_host(site: SiteFile) -> None:
    """Send the client's Host unless the file sets it: nginx itself would send the name of the upstream."""
    if site.protocol != "http":
        return
    speaking = [level for level in site.forwarding() if any(each.name == "proxy_set_header" for each in level)]
    said = (each for level in speaking for each in level if each.name == "proxy_set_header" and each.args)
    if not any(each.args[0].lower() == "host" for each in said):
        for level in speaking or [site.server]:
            level.append(Directive("proxy_set_header", ["Host", "$http_host"]))


def _say_scheme(site: SiteFile) -> None:
    """Pass the scheme that a TLS proxy reports to a gateway's app, at every level that sets parameters."""
    word = site.protocol
    if word == "http":
        return
    for level in site.forwarding():
        if any(each.name == f"{word}_param" or (each.args and f"{word}_params" in each.args[0]) for each in level):
            level.append(Directive(f"{word}_param", ["HTTPS", "$client_https", "if_not_empty"]))


def _kept(site: SiteFile, directives: Iterable[Directive]) -> list[Directive]:
    """Return ``directives`` as they are raced; ``site`` records those that are changed or left out."""
    ready = (_ready(site, directive) for directive in directives)
    return [each for each in ready if each is not None]


def _ready(site: SiteFile, directive: Directive) -> Directive | None:
    """Return ``directive`` as it is raced, or None to leave it out; ``site`` records the change."""
    name = directive.name
    if concern := decided(name):
        site.change(directive, concern)
        return None
    if why := unusable(name) or _missing(site, directive):
        if directive.args != ["off"] or not unusable(name):
            site.leave(directive, why)
        return None
    if _redirects(directive):
        site.change(directive, Concern.ADDRESS)
        return None
    if name == "location":
        return _location(site, directive)
    if name in ("root", "alias"):
        return _placed(site, directive)
    if directive.forwards:
        return _forwarded(site, directive)
    if name == "proxy_set_header" and len(directive.args) == 2:
        return _header(site, directive)
    if directive.block is not None and name not in ("map", "geo", "types", "split_clients"):
        return replace(directive, block=_kept(site, directive.block))
    return directive


def _missing(site: SiteFile, directive: Directive) -> str:
    if directive.forwards:
        # under an if, for example
        return "it leads to another service" if _is_elsewhere(site, directive) else ""
    if any(_SUBSTITUTED.search(word) for word in directive.args):
        return "only the variables of the deployment tell what it says"
    given = directive.args[0] if directive.args else ""
    is_stock = given.startswith("/etc/nginx/") and PurePosixPath(given).name in STOCK
    return "there is no such file in the project" if directive.name == "include" and not is_stock else ""


def _redirects(directive: Directive) -> bool:
    if directive.name in ("return", "rewrite"):
        is_away = any(word.startswith(("https://", "$redirect")) for word in directive.args)
        return is_away or directive.args == ["444"]
    tests_name = directive.name == "if" and directive.args and directive.args[0] in _TESTS_NAME
    return bool(tests_name) and all(each.name in ("return", "rewrite") for each in directive.block or ())


def _location(site: SiteFile, directive: Directive) -> Directive | None:
    """Return a location if its files or its service exist; otherwise None, and the app answers in its place."""
    block = directive.block or []
    elsewhere = next((each for each in block if _is_elsewhere(site, each)), None)
    if elsewhere is not None:
        site.leave(directive, f"it leads to another service: {elsewhere.words}")
        return None
    forwards = any(each.forwards for each in block)
    if not forwards and any(each.name in ("return", "rewrite") and _redirects(each) for each in block):
        site.change(directive, Concern.ADDRESS)
        return None
    prefix = directive.args[-1] if directive.args else ""
    files = next((each for each in block if each.name in ("alias", "root")), None)
    ours = site.static.get(prefix if prefix.endswith("/") else f"{prefix}/")
    if files is not None and ours is not None and not forwards:
        site.change(files, Concern.PATHS)
        place = Directive("alias", [f"{ours}/" if prefix.endswith("/") else str(ours)], files.line)
        return replace(directive, block=[place, *_kept(site, [each for each in block if each is not files])])
    missing = next((each for each in block if unusable(each.name)), None)
    if missing is not None and not forwards:
        site.leave(directive, f"{missing.name}: {unusable(missing.name)}")
        return None
    tried = [each for each in block if each.name == "try_files"]
    # another location answers requests without a file
    falls_back = any(each.args and each.args[-1].startswith("@") for each in tried)
    named = files or (site.root if tried else None)
    if named is not None and not forwards and not falls_back and _placed_for(site, named, prefix) is None:
        site.leave(directive, f"there is no folder {' '.join(named.args)} in the project")
        return None
    if files is not None and files.name == "root" and (root := _placed_for(site, files, prefix)):
        site.change(files, Concern.PATHS)
        placed = [Directive("root", [str(root)], files.line) if each is files else each for each in block]
        inner = ([each] if each.name == "root" else _kept(site, [each]) for each in placed)
        return replace(directive, block=[each for kept in inner for each in kept])
    return replace(directive, block=_kept(site, block))


def _placed_for(site: SiteFile, files: Directive, prefix: str) -> Path | None:
    """Return the folder of the files in the project; for a root, the project itself if it has the prefix."""
    place = _found(site, files)
    if place is None and files.name == "root" and prefix.strip("/") and (site.folder / prefix.strip("/")).is_dir():
        return site.folder
    return place


def _is_elsewhere(site: SiteFile, directive: Directive) -> bool:
    if directive.name in SERVES_ELSEWHERE or not directive.forwards:
        return directive.name in SERVES_ELSEWHERE
    host = _host_of(directive)
    is_other = host not in (site.name, site.target) and "$" not in host
    return _PROTOCOLS[directive.name.partition("_")[0]] != site.protocol or is_other


def _forwarded(site: SiteFile, directive: Directive) -> Directive:
    match = _TARGET.fullmatch(directive.args[0])
    rest = match[3] if match else ""
    site.change(directive, Concern.ADDRESS)
    return replace(directive, args=[f"http://{site.name}{rest}" if directive.name == "proxy_pass" else site.name])


def _header(site: SiteFile, directive: Directive) -> Directive:
    """Return a header as it is sent to the app, with the client's own host and scheme."""
    name, value = directive.args
    theirs = value
    if name.lower() == "host" and not _HOSTS.fullmatch(value):
        theirs = "$http_host"
    elif _SCHEME_HEADER.fullmatch(name):
        theirs = _SCHEME if not name.lower().endswith("ssl") else ""
    if theirs == value:
        return directive
    site.change(directive, Concern.ADDRESS)
    return replace(directive, args=[name, theirs])


def _placed(site: SiteFile, directive: Directive) -> Directive | None:
    """Return a root or alias with its folder in the project; None if there is none."""
    site.change(directive, Concern.PATHS)
    place = _found(site, directive)
    slash = "/" if directive.args and directive.args[0].endswith("/") else ""
    return None if place is None else replace(directive, args=[f"{place}{slash}"])


def _found(site: SiteFile, directive: Directive) -> Path | None:
    """Return the project's folder, or file, for a path in an image, by its last parts; None if there is none."""
    given = directive.args[0] if directive.args else ""
    return None if "$" in given else by_last_parts(given, [site.folder])
