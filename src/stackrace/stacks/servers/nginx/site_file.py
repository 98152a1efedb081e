"""A configuration of the user's nginx, made ready to be raced: all of it stays but for what is decided for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...native_options import Concern
from .directives import Directive, included, parsed
from .site_parts import PASS, PROTOCOLS, SiteFile, host_of, kept

__all__ = ["site_file"]

_BALANCING = frozenset({"server", "resolver", "zone", "sticky", "queue", "state", "ntlm"})
"""What of an upstream block is about where its servers are."""
_SERVER_WORDS = re.compile("(weight|max_conns|max_fails|fail_timeout)=.*")
_STOCK_MAIN = "worker_processes auto; events { worker_connections 1024; }"
_STOCK_HTTP = "include mime.types; default_type application/octet-stream; sendfile on; keepalive_timeout 65;"
"""What stands around a site in the configuration that nginx's own image has."""


def site_file(text: str, path: Path, folder: Path, static: Mapping[str, Path] | None = None) -> SiteFile:
    """Return the configuration ``text`` of the file at ``path`` as it is raced.

    ``folder`` is the project's; ``static`` are the folders of its static files by URL prefix, if these are known.
    Raises ValueError for what nginx could not read, and for a file in which nothing forwards to an app.
    """
    site = SiteFile()
    tree = included(parsed(text), path, folder)
    if not _named(tree, "server") and any(each.name == "location" for each in tree):
        # a snippet, to be included in a server
        tree = [Directive("server", [], tree[0].line, block=tree)]
    site.files = frozenset(each.file for top in tree for each in top.walk() if each.file)
    http = [directive for block in _named(tree, "http") for directive in block.block or ()]
    if http or _named(tree, "http"):
        main = [directive for directive in tree if directive.name not in ("http", "events")]
        site.events = [directive for block in _named(tree, "events") for directive in block.block or ()]
    else:
        main, http = parsed(_STOCK_MAIN), [*included(parsed(_STOCK_HTTP), path, folder), *tree]
        site.events = [directive for block in _named(main, "events") for directive in block.block or ()]
        main = [directive for directive in main if directive.name != "events"]
    chosen = _chosen(site, http)
    _find_app(site, chosen, http)
    site.root = next((each for each in chosen.block or () if each.name == "root"), None)
    site.main = list(kept(site, main, static, folder))
    around = [directive for directive in http if directive.name not in ("server", "upstream")]
    site.http = list(kept(site, around, static, folder))
    _leave_upstreams(site, http, chosen)
    site.server = list(kept(site, chosen.block or [], static, folder))
    if not any(PASS.fullmatch(each.name) for top in site.server for each in top.walk()):
        line = next((each.line for each in site.not_taken if each.line >= chosen.line), chosen.line)
        raise ValueError(f"line {line}: what forwards to the app cannot be read")
    _serve_root(site)
    _send_host(site)
    _say_scheme(site)
    return site


def _named(directives: Sequence[Directive], name: str) -> list[Directive]:
    return [directive for directive in directives if directive.name == name and directive.block is not None]


def _chosen(site: SiteFile, http: Sequence[Directive]) -> Directive:
    """Return the server that forwards to the app: with TLS if one has it, else the first with most to say."""
    servers = _named(http, "server")
    forwarding = [server for server in servers if any(PASS.fullmatch(each.name) for each in server.walk())]
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
            if PASS.fullmatch(each.name):
                return each
    return None


def _find_app(site: SiteFile, server: Directive, http: Sequence[Directive]) -> None:
    """Settle where the app is, in which protocol, and how its upstream is called."""
    passes = [each for each in server.walk() if PASS.fullmatch(each.name)]
    own = _root_pass(server) or passes[0]
    site.protocol = PROTOCOLS[own.name.partition("_")[0]]
    host = host_of(own)
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


def _leave_upstreams(site: SiteFile, http: Sequence[Directive], server: Directive) -> None:
    """Note the upstreams of other services; those of which nothing in the server speaks are left out unsaid."""
    used = {host_of(each) for each in server.walk() if PASS.fullmatch(each.name)}
    for each in _named(http, "upstream"):
        if each.args != [site.name] and each.args and each.args[0] in used:
            site.leave(each, "it is another service than the app")


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
    block = next((block for block in blocks if any(PASS.fullmatch(each.name) for each in block)), [])
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
