"""Which directives of a user's nginx stay as they are, which are decided for it, and which a race goes without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ....base.files import by_last_parts
from ...native_options import Change, Concern, NotTaken
from .directives import SERVES_ELSEWHERE, STOCK, Directive, decided, unusable

__all__ = ["PASS", "PROTOCOLS", "SiteFile", "host_of", "kept"]

_APP = "app"
"""The upstream of ours, where the user has none by name."""
PASS = re.compile("(proxy|uwsgi|fastcgi|scgi)_pass")
PROTOCOLS = {"proxy": "http", "uwsgi": "uwsgi", "fastcgi": "fastcgi", "scgi": "scgi"}
_TARGET = re.compile(r"(?:(https?|uwsgis?|suwsgi)://)?(unix:[^:]+(?::)?|[^/]*)(.*)", re.DOTALL)
"""Scheme, place and path of what is forwarded to."""


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
    name: str = _APP
    """How the upstream is called."""
    protocol: str = ""
    target: str = ""
    """Where the app is, as the file has it."""
    changes: list[Change] = field(default_factory=list)
    not_taken: list[NotTaken] = field(default_factory=list)
    root: Directive | None = None
    """The folder of files of the whole server, if it has one."""
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


def host_of(forward: Directive) -> str:
    """Return the place that a directive forwards to, or the name of its upstream."""
    match = _TARGET.fullmatch(forward.args[0] if forward.args else "")
    return match[2].rstrip(":") if match else ""


_SCHEME = "$client_scheme"
"""What a client before nginx spoke, as it says itself: TLS ends where the race does not go."""
_SCHEME_HEADER = re.compile("x-(forwarded-(proto|protocol|scheme|ssl)|scheme|url-scheme)", re.IGNORECASE)
_SUBSTITUTED = re.compile(r"\$\{?[A-Z][A-Z0-9_]+")
"""What a tool such as envsubst puts in: nginx's own variables are in small letters."""
_HOSTS = re.compile(r"\$(http_)?host(:\$\w+)?")


def kept(
    site: SiteFile, directives: Sequence[Directive], static: Mapping[str, Path] | None, folder: Path
) -> Iterator[Directive]:
    """Yield ``directives`` as they are raced, with a note in ``site`` of each that is changed or left out.

    ``static`` are the folders of static files by URL prefix, ``folder`` is the project's.
    """
    for directive in directives:
        if (ready := _ready(site, directive, static, folder)) is not None:
            yield ready


def _ready(
    site: SiteFile, directive: Directive, static: Mapping[str, Path] | None, folder: Path
) -> Directive | None:
    """Return ``directive`` as it is raced, None for one that is not, with a note of what was done."""
    name = directive.name
    if concern := decided(name):
        site.change(directive, concern)
        return None
    if why := unusable(name):
        if directive.args != ["off"]:
            site.leave(directive, why)
        return None
    if not PASS.fullmatch(name) and any(_SUBSTITUTED.search(word) for word in directive.args):
        site.leave(directive, "only the variables of the deployment tell what it says")
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
    if PASS.fullmatch(name) and _is_elsewhere(site, directive):
        # under an if, for example
        site.leave(directive, "it leads to another service")
        return None
    if PASS.fullmatch(name):
        return _forwarded(site, directive)
    if name == "proxy_set_header" and len(directive.args) == 2:
        return _header(site, directive)
    if directive.block is not None and name not in ("map", "geo", "types", "split_clients"):
        inner = list(kept(site, directive.block, static, folder))
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
        PASS.fullmatch(each.name) for each in block
    ):
        site.change(directive, Concern.ADDRESS)
        return None
    prefix = directive.args[-1] if directive.args else ""
    files = next((each for each in block if each.name in ("alias", "root")), None)
    ours = (static or {}).get(prefix if prefix.endswith("/") else f"{prefix}/")
    if files is not None and ours is not None and not any(PASS.fullmatch(each.name) for each in block):
        site.change(files, Concern.PATHS)
        rest = [each for each in block if each is not files]
        place = Directive("alias", [f"{ours}/" if prefix.endswith("/") else str(ours)], files.line)
        return Directive("location", directive.args, directive.line, directive.file,
                         [place, *kept(site, rest, static, folder)])  # fmt: skip
    forwards = any(PASS.fullmatch(each.name) for each in block)
    missing = next((each for each in block if unusable(each.name)), None)
    if missing is not None and not forwards:
        site.leave(directive, f"{missing.name}: {unusable(missing.name)}")
        return None
    named = files or (site.root if _tries(block) else None)
    if named is not None and not forwards and not _falls_back(block) and _placed_for(named, prefix, folder) is None:
        site.leave(directive, f"there is no folder {' '.join(named.args)} in the project")
        return None
    if files is not None and files.name == "root" and (root := _placed_for(files, prefix, folder)):
        site.change(files, Concern.PATHS)
        rest = [Directive("root", [str(root)], files.line) if each is files else each for each in block]
        inner = [each if each.name == "root" else next(kept(site, [each], static, folder), None) for each in rest]
        whole = [each for each in inner if each is not None]
        return Directive("location", directive.args, directive.line, directive.file, whole)
    return Directive("location", directive.args, directive.line, directive.file,
                     list(kept(site, block, static, folder)))  # fmt: skip


def _tries(block: Sequence[Directive]) -> bool:
    return any(each.name == "try_files" for each in block)


def _falls_back(block: Sequence[Directive]) -> bool:
    """Tell whether another location answers what no file is there for."""
    return any(each.name == "try_files" and each.args and each.args[-1].startswith("@") for each in block)


def _placed_for(files: Directive, prefix: str, folder: Path) -> Path | None:
    """Return where files lie in the project; below a root that is the project itself on another machine, too."""
    place = _found(files.args[0] if files.args else "", folder)
    if place is None and files.name == "root" and prefix.strip("/") and (folder / prefix.strip("/")).is_dir():
        return folder
    return place


def _is_elsewhere(site: SiteFile, directive: Directive) -> bool:
    if directive.name in SERVES_ELSEWHERE:
        return True
    if not PASS.fullmatch(directive.name):
        return False
    protocol = PROTOCOLS[directive.name.partition("_")[0]]
    host = host_of(directive)
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
        theirs = _SCHEME if not name.lower().endswith("ssl") else ""
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
    return by_last_parts(given, [folder])
