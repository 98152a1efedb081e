"""nginx's configuration as a tree of directives: parsing, building, and the directives that a race decides."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from ....base.files import by_last_parts, read_text
from ....base.temporary import temporary_folder
from ...native_files import Concern

STOCK = frozenset({"mime.types", "proxy_params", "uwsgi_params", "fastcgi_params", "scgi_params", "fastcgi.conf"})
"""Names of files that come with nginx."""
_PASS = re.compile("(proxy|uwsgi|fastcgi|scgi)_pass")
_TEMPLATE = re.compile(r"\{\{|\{%")
_NEEDS_WORDS = re.compile("listen|include|set|root|alias|try_files|(proxy|uwsgi|fastcgi|scgi|grpc)_pass")
"""Directives that need arguments; nginx refuses them without."""
_HOME = Path("/etc/nginx")
_MOST_DEEP = 5


@dataclass(slots=True)
class Directive:
    """One directive, with its block if it has one."""

    name: str
    args: list[str]
    line: int = 0
    file: str = ""
    """Included file that contains it, relative to the project's folder; empty for the configuration file itself."""
    block: list[Directive] | None = None

    @property
    def forwards(self) -> bool:
        """True if it forwards in a protocol of stacks."""
        return _PASS.fullmatch(self.name) is not None

    @property
    def words(self) -> str:
        """Text of the directive without its block."""
        return " ".join([self.name, *self.args])

    def walk(self) -> Iterator[Directive]:
        """Yield this directive and all directives inside it."""
        yield self
        for inner in self.block or ():
            yield from inner.walk()


def parsed(text: str, file: str = "") -> list[Directive]:
    """Return the directives of ``text``. Raises ValueError with the line for text that nginx cannot read."""
    # imported here because most users of the catalogue never read such a file
    import crossplane

    for number, line in enumerate(text.splitlines() if "_by_lua" not in text else (), 1):
        if _TEMPLATE.search(line):
            raise ValueError(f"line {number}: it is a template; name the file that is made of it")
    with TemporaryDirectory(dir=temporary_folder()) as folder:
        place = Path(folder, "nginx.conf")
        place.write_text(text, encoding="utf-8")
        read = crossplane.parse(str(place), single=True, check_ctx=False, check_args=False)
    for error in read["errors"]:
        said = str(error["error"]).replace(f" in {place}", "")
        said = re.sub(r":\d+$", "", said) or "it is no configuration of nginx's"
        where = f"line {error['line']}: " if error["line"] else ""
        raise ValueError(f"{file}, {where}{said}" if file else where + said)
    directives = [_directive(each, file) for config in read["config"] for each in config["parsed"]]
    for each in (inner for directive in directives for inner in directive.walk()):
        if not each.args and _NEEDS_WORDS.fullmatch(each.name):
            said = f"line {each.line}: {each.name} says nothing"
            raise ValueError(f"{file}, {said}" if file else said)
    return directives


def _directive(read: dict[str, Any], file: str) -> Directive:
    block = read.get("block")
    return Directive(
        name=read["directive"],
        args=list(read["args"]),
        line=read["line"],
        file=file,
        block=None if block is None else [_directive(inner, file) for inner in block],
    )


def built(directives: Sequence[Directive]) -> str:
    """Return the text of ``directives``, with nginx's quoting."""
    import crossplane

    text: str = crossplane.build([_plain(directive) for directive in directives])
    return text + "\n"


def _plain(directive: Directive) -> dict[str, object]:
    plain: dict[str, object] = {"directive": directive.name, "line": 1, "args": directive.args}
    if directive.block is not None:
        plain["block"] = [_plain(inner) for inner in directive.block]
    return plain


def included(directives: Sequence[Directive], path: Path, folder: Path, depth: int = 0) -> list[Directive]:
    """Return ``directives`` with the project's files in place of the ``include`` directives that name them.

    ``path`` is the including file, ``folder`` the project's. Files that come with nginx are included from
    ``/etc/nginx``; any other ``include`` remains. Raises ValueError like ``parsed``.
    """
    whole: list[Directive] = []
    for directive in directives:
        if directive.block is not None:
            directive.block = included(directive.block, path, folder, depth)
        if directive.name != "include" or not directive.args or depth >= _MOST_DEEP:
            whole.append(directive)
            continue
        name = PurePosixPath(directive.args[0]).name
        files = _files(directive.args[0], path, folder)
        if not files and name in STOCK and (_HOME / name).is_file():
            directive.args = [str(_HOME / name)]
        if not files:
            whole.append(directive)
        for file in files:
            shown = str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)
            inner = parsed(read_text(file, errors="replace"), shown)
            whole += included(inner, file, folder, depth + 1)
    return whole


def _files(pattern: str, path: Path, folder: Path) -> list[Path]:
    """Return the project's files that match ``pattern``, a path in an image or on a server, by its last parts."""
    bases = [place for place in (path.parent, *path.parents) if place.is_relative_to(folder)]

    def matching(place: Path) -> list[Path]:
        return [
            file
            for file in (sorted(place.parent.iterdir()) if place.parent.is_dir() else ())
            if file.is_file() and file != path and fnmatch.fnmatchcase(file.name, place.name)
        ]

    # *.conf alone would match any file
    place = by_last_parts(pattern, bases, matching, least=1 + ("*" in pattern))
    return matching(place) if place else []


DECIDED = {
    Concern.ADDRESS: "listen|server_name(_in_redirect)?|ssl(_.*)?|http[23](_.*)?|quic(_.*)?|resolver(_timeout)?|"
    "proxy_ssl_.*|proxy_bind|allow|deny|satisfy|auth_basic(_user_file)?|auth_request(_set)?|"
    "limit_(req|conn|rate).*|mirror(_.*)?|add_trailer|early_hints",
    Concern.USER: "user",
    Concern.LOGS: "access_log|error_log|log_format|log_not_found|log_subrequest|rewrite_log|open_log_file_cache",
    Concern.PATHS: "pid|lock_file|load_module|working_directory|.*_temp_path|.*_store(_access)?|state",
    Concern.PROCESS: "daemon|master_process|worker_shutdown_timeout|worker_priority|debug_.*",
}
"""Patterns of the directives that Stackrace decides, by concern."""
_CACHE = re.compile("(proxy|uwsgi|fastcgi|scgi)_cache(_.*)?|(proxy|uwsgi|fastcgi|scgi)_no_cache|slice")
_MODULES = re.compile("js_.*|perl(_.*)?|xslt_.*|xml_entities|image_filter.*|geoip_.*|stream|mail|otel_.*")
"""Directives of modules that crossplane knows, as those of nginx itself, but that Debian's nginx-light lacks."""
SERVES_ELSEWHERE = frozenset({"grpc_pass", "memcached_pass"})
"""Directives that forward in a protocol that no stack has."""


def decided(name: str) -> Concern | None:
    """Return the concern for which Stackrace decides the directive ``name``; None if it stays."""
    return next((concern for concern, names in DECIDED.items() if re.fullmatch(names, name)), None)


def unusable(name: str) -> str:
    """Return why a race cannot use the directive ``name``; empty if it can."""
    if _CACHE.fullmatch(name):
        return "a cache would answer in the app's place"
    from crossplane.analyzer import DIRECTIVES

    if _MODULES.fullmatch(name) or name not in DIRECTIVES:
        return "it needs a module that nginx itself does not have"
    return ""
