"""Mistakes in a deployment's own files, each kind with its sentence and its source.

A kind is a function over the deployment that was read, and one row of `KINDS`. Nothing is measured or run.

Sources of front ends' times: nginx, ngx_http_proxy_module and ngx_http_upstream_module; Caddy, reverse_proxy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...app.project_files import is_platform
from ...app.projects.deployment_command import OPEN, joined_lines, shown, text_of
from ...app.projects.images import exec_form
from ...app.projects.starts import SHELLS, is_known_wrapper
from ...base.secrets import masked_settings
from ...report.figures import listed
from ...stacks.native_files import Concern
from ...stacks.setting import SettingValue
from .deployment_record import Found, Read
from .fronts import Front, found_line
from .grants import connections, memory, router_table, unread_pool
from .hop import ReadHop
from .model import CurrentDifference, CurrentMistake, placed
from .options import line_of, said_at, uses

_VARIABLE = re.compile(r"\$(?:\w+|\{[^}]*\})")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(\d+)(ms|s|m|h|d)?"
_WAITS = re.compile(rf"\b(?:proxy|uwsgi|fastcgi|scgi)_read_timeout\s+{_TIME}\s*;")
_PASSED = re.compile(r"\b(?:proxy|uwsgi|fastcgi|scgi)_pass\s")
_UPSTREAM = re.compile(r"\bupstream\s++[^\s{}]++\s*+\{([^{}]*)\}")
_OF_CADDY = re.compile(r"(?m)^[ \t]*reverse_proxy\s")
_NGINX_S, _CADDY_S = 60.0, 120.0
"""Default seconds that an idle connection is kept; nginx waits as long for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of mistake."""

    id: str
    says: str
    """The sentence behind the place; facts stand in braces."""
    source: str
    find: Callable[[Read], Found]
    prevents_start: bool = False
    """True if the server cannot start with this mistake."""


def mistakes_in(read: Read) -> tuple[CurrentMistake, ...]:
    """Return all mistakes of the deployment ``read``, each once, in the order of the kinds."""
    found = (
        CurrentMistake(kind=kind.id, file=file, line=line, says=kind.says.format_map(facts))
        for kind in KINDS
        for (file, line), facts in kind.find(read)
    )
    return tuple(dict.fromkeys(found))


def why_not_started(mistakes: Iterable[CurrentMistake]) -> str:
    """Return the sentence of the first of ``mistakes`` that prevents a start; empty if none does."""
    fatal = {kind.id for kind in KINDS if kind.prevents_start}
    return next((f"{each.location} {each.says}" for each in mistakes if each.kind in fatal), "")


def _unread_variables(read: Read) -> Found:
    """Yield the variables that only another server reads, and that no file of the deployment uses."""
    hop = read.hop
    for name, value in hop.command.variables.items():
        readers = {spec.title: None for spec in read.servers if spec.native is not None and spec.native.reads(name)}
        if not readers or hop.native.reads(name) or value == OPEN:
            continue
        if not uses(hop, name):
            yield said_at(hop, name), {"name": name, "server": hop.spec.title, "readers": listed(tuple(readers))}


def _unknown_keys(read: Read) -> Found:
    hop = read.hop
    text = _config(hop)
    for key, meant in hop.native.ignored(text):
        hint = f"; {meant} was probably meant" if meant else ""
        yield (hop.config, line_of(text, key)), {"key": key, "server": hop.spec.title, "hint": hint}


def _overridden(read: Read) -> Found:
    """Yield the settings of a file that have no effect, because the command sets another value."""
    hop = read.hop
    text = _config(hop) if hop.native.default_file else ""
    decided = {change.key: change.theirs.strip("\"'") for change in hop.changes if change.file == hop.config}
    for name, given in hop.seen.items() if text else ():
        row = hop.native.row(name)
        setting = row.setting.name if row.setting is not None else ""
        if row.concern not in (None, Concern.ADDRESS) or not (line := line_of(text, row.file_key)):
            continue
        ours: SettingValue | None = hop.settings.get(setting, given) if setting else given
        theirs = hop.file_settings.get(setting) if setting in hop.said else decided.get(row.file_key)
        if theirs is not None and str(theirs) != str(ours):
            said = masked_settings(f"{row.file_key} = {theirs}"), masked_settings(f"--{name} {given}".strip())
            yield (hop.config, line), {"theirs": said[0], "ours": said[1], "place": placed(*hop.location)}


def _literal_variables(read: Read) -> Found:
    """Yield the image instructions in which a variable is not replaced, because no shell reads the words."""
    command = read.hop.command
    if command.file != command.image:
        return
    for number, line in joined_lines(text_of(command.file), "#"):
        instruction, _, rest = line.partition(" ")
        words = exec_form(rest.strip()) if instruction.upper() in ("CMD", "ENTRYPOINT") else ()
        program = words[0].rpartition("/")[2] if words else ""
        # an unknown wrapper may replace variables
        if not words or program in SHELLS or (program in command.wrappers and not is_known_wrapper(program)):
            continue
        literal = [found[0] for word in words if word in command.words and (found := _VARIABLE.search(word))]
        if literal:
            yield (shown(command.file, read.hop.root), number), {"instruction": instruction, "name": literal[0]}


def differences_in(read: Read) -> tuple[CurrentDifference, ...]:
    """Return the sizes that files of other platforms give the same app: each platform may have its own."""
    file, line = read.hop.location
    return tuple(
        CurrentDifference(
            file=file,
            line=line,
            said=ours,
            against=f"{placed(*other.location)}, for another platform, says {theirs}",
        )
        for other, ours, theirs in _of_other_sizes(read)
        if _is_another_platform(read.hop, other)
    )


def _disagreeing(read: Read) -> Found:
    for other, ours, theirs in _of_other_sizes(read):
        if not _is_another_platform(read.hop, other):
            yield read.hop.location, {"ours": ours, "theirs": theirs, "other": placed(*other.location)}


def _is_another_platform(hop: ReadHop, other: ReadHop) -> bool:
    return all(is_platform(each.command.known_by, each.root) for each in (hop, other))


def _of_other_sizes(read: Read) -> Iterator[tuple[ReadHop, str, str]]:
    """Yield other deployments of the same app with other sizes, and both sizes in words.

    Services of one file are meant to differ.
    """
    (ours, _), app = read.hop.effective, _app(read.hop)
    for other in read.others:
        theirs, _ = other.effective
        is_same = other.spec is read.hop.spec and theirs == ours
        is_another = other.command.known_by == read.hop.command.known_by or {app, _app(other)} - {"", app}
        if ours and theirs and not is_same and not is_another:
            yield other, _sized(read.hop, ours), _sized(other, theirs)


def _app(hop: ReadHop) -> str:
    """Return the module of the app; empty if neither the command nor the server's file names it."""
    return hop.app.module if hop.app is not None else ""


def _sized(hop: ReadHop, sizes: Sequence[str]) -> str:
    return f"{hop.spec.title} with {listed(sizes)}"


def _early_timeouts(read: Read) -> Found:
    """Yield the time that the front end waits for an answer, if the server ends requests earlier."""
    waits, (name, limit) = _waits_of(read.front, read.hop.root), _request_limit(read.hop)
    # a shorter wait may override the others
    for wait in waits if all(0 < limit < wait.seconds for wait in waits) else ():
        yield wait.location, _compared(read.hop, wait.seconds, name, limit)


def _late_timeouts(read: Read) -> Found:
    """Yield the time that the front end waits, if the server's files let it work on a request for longer."""
    hop = read.hop
    waits, (name, limit) = _waits_of(read.front, hop.root), _request_limit(hop)
    is_said = name in hop.settings or name in hop.said
    if waits and is_said and all(wait.seconds < limit for wait in waits):
        longest = max(waits, key=lambda wait: wait.seconds)
        yield longest.location, _compared(hop, longest.seconds, name, limit)


def _request_limit(hop: ReadHop) -> tuple[str, int]:
    """Return the setting by which the server ends a request, and its seconds; 0 if the server has no limit."""
    values = _values(hop)
    is_sync = values.get("class") == "sync" and values.get("threads", 1) == 1
    # with other classes gunicorn's time-out is for a worker that hangs, not for a request
    name = "timeout" if is_sync else "harakiri"
    limit = values.get(name)
    return name, limit if isinstance(limit, int) else 0


def _compared(hop: ReadHop, seconds: float, name: str, limit: int) -> Mapping[str, object]:
    return {"front": f"{seconds:g} s", "server": hop.spec.title, "name": name, "limit": f"{limit} s"}


def _short_keep_alive(read: Read) -> Found:
    """Yield the idle connections that the front end keeps for longer than its server does."""
    kept = _values(read.hop).get("keep_alive")
    for idle in _kept_by(read.front, read.hop.root):
        if isinstance(kept, int) and 0 < kept < idle.seconds:
            facts = {"front": f"{idle.seconds:g} s", "server": read.hop.spec.title, "kept": f"{kept} s"}
            yield idle.location, facts


def _closing_router(read: Read) -> Found:
    """Yield a router that closes connections which its clients, or the front end before it, would keep."""
    hop = read.hop
    is_asked = read.front is None or read.front.wire(hop.speaks) == "http"
    would_keep = read.front is None or any(_kept_by(read.front, hop.root))
    if is_asked and would_keep and hop.spec.name == "uwsgi" and _values(hop).get("http") == "router":
        is_kept = hop.seen.keys() & {"http-keepalive"} or line_of(_config(hop), "http-keepalive")
        if not is_kept:
            line = line_of(_config(hop), "http")
            yield ((hop.config, line) if line else hop.location), {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A time that a front end's file sets, with its place."""

    location: tuple[str, int]
    seconds: float


def _waits_of(front: Front | None, root: Path) -> list[_Span]:
    """Return all times that nginx waits for an answer: one place in its file may override another."""
    text = _configuration(front, root, "nginx")
    found = [(match.start(), _seconds(match, 0.0)) for match in _WAITS.finditer(text)]
    found = found or [(match.start(), _NGINX_S) for match in _PASSED.finditer(text)][:1]
    return [_span(front, text, *each) for each in found]


def _kept_by(front: Front | None, root: Path) -> Iterator[_Span]:
    """Yield how long nginx or Caddy keeps idle connections to a server that speaks HTTP."""
    text = _configuration(front, root, "nginx")
    for upstream in _UPSTREAM.finditer(text) if re.search(r"\bproxy_http_version\s+1\.1\s*;", text) else ():
        said = re.search(rf"\bkeepalive_timeout\s+{_TIME}\s*;", upstream[1])
        if line := re.search(r"\bkeepalive\s+[1-9]", upstream[1]):
            yield _span(front, text, upstream.start(1) + line.start(), _seconds(said, _NGINX_S))
    text = _configuration(front, root, "caddy")
    if not re.search(r"(?m)^[ \t]*keepalive[ \t]++(?!\d+(?:ms|s|m|h)$)", text):
        for passes in _OF_CADDY.finditer(text):
            said = re.search(rf"(?m)^[ \t]*keepalive[ \t]+{_TIME}$", text)
            yield _span(front, text, (said or passes).start(), _seconds(said, _CADDY_S))


def _configuration(front: Front | None, root: Path, name: str) -> str:
    """Return the text of the front end's file without comments; empty unless it is ``name`` and the file is its."""
    if front is None or front.spec is None or front.spec.name != name:
        return ""
    text, signs = text_of(root / front.file), front.spec.signs
    is_own = front.reading or (signs and signs.forwards and found_line(signs.forwards, text))
    return re.sub(r"(?m)^[ \t]*#.*", "", text) if is_own else ""


def _seconds(said: re.Match[str] | None, default: float) -> float:
    return int(said[1]) * _SECONDS[said[2] or "s"] if said else default


def _span(front: Front | None, text: str, start: int, seconds: float) -> _Span:
    return _Span(location=(front.file if front else "", text.count("\n", 0, start) + 1), seconds=seconds)


def _values(hop: ReadHop) -> Mapping[str, SettingValue]:
    """Return the settings that take effect and whose values are known."""
    values = hop.values()
    return {name: value for name, value in values.items() if name not in hop.idle(values) | hop.computed}


def _config(hop: ReadHop) -> str:
    return text_of(hop.root / hop.config) if hop.config else ""


_PATIENCE = "gunicorn, Settings, timeout; uWSGI, Configuration Options, harakiri; nginx, proxy_read_timeout"
KINDS = (
    Kind(
        id="literal-variable",
        says="is a list of words, so no shell replaces {name} and the container cannot start: "
        'write {instruction} without brackets, or begin it with "sh", "-c"',
        source="Dockerfile reference, Shell and exec form",
        find=_literal_variables,
        prevents_start=True,
    ),
    Kind(
        id="unread-variable",
        says="{name}: {server} does not read this variable, which is for {readers}",
        source="Settings and environment variables in each server's documentation",
        find=_unread_variables,
    ),
    Kind(
        id="unread-pool",
        says="{name}: no file of the project reads this variable",
        source="The project's files",
        find=unread_pool,
    ),
    Kind(
        id="unknown-key",
        says="{key}: {server} has no such setting and ignores it{hint}",
        source="uWSGI, Configuration Options (strict); gunicorn, Settings",
        find=_unknown_keys,
    ),
    Kind(
        id="overridden",
        says="{theirs} has no effect, for the command at {place} says {ours}",
        source="gunicorn, Configuration Overview: the command line goes before the configuration file",
        find=_overridden,
    ),
    Kind(
        id="disagreement",
        says="starts {ours}, but {other} starts {theirs}",
        source="The two files",
        find=_disagreeing,
    ),
    Kind(
        id="early-timeout",
        says="waits {front} for an answer, but {server} ends a request after {limit} ({name})",
        source=_PATIENCE,
        find=_early_timeouts,
    ),
    Kind(
        id="late-timeout",
        says="gives an answer up after {front}, but {server} works on a request for {limit} ({name}): "
        "nobody waits for that any more",
        source=_PATIENCE,
        find=_late_timeouts,
    ),
    Kind(
        id="short-keep-alive",
        says="keeps idle connections for {front}, but {server} closes them after {kept}: "
        "a request on one that closes just then fails",
        source="nginx, ngx_http_upstream_module, keepalive_timeout; Caddy, reverse_proxy, keepalive",
        find=_short_keep_alive,
    ),
    Kind(
        id="closing-router",
        says="uWSGI's HTTP router closes each connection after one answer; http-keepalive would keep it",
        source="uWSGI, HTTP/HTTPS router, keepalive",
        find=_closing_router,
    ),
    Kind(
        id="router-table",
        says="allows {files} open files, for each of which uWSGI's HTTP router takes 8 bytes when it starts: "
        "{size} MiB; max-fd limits them",
        source="uWSGI, plugins/corerouter/corerouter.c, and issue 2299",
        find=router_table,
    ),
    Kind(
        id="memory",
        says="allows {limit} MiB, but each of {workers} workers is replaced only at {each} MiB ({name}): "
        "the kernel may end them first",
        source="uWSGI, Configuration Options, reload-on-rss; Granian, workers-max-rss; cgroup-v2, memory.max",
        find=memory,
    ),
    Kind(
        id="connections",
        says="allows {limit} connections, but {processes} processes with up to {pool} each ({place}) may open "
        "{most}",
        source="PostgreSQL, max_connections; Django, Databases, Connection pool; psycopg_pool, ConnectionPool; "
        "SQLAlchemy, create_engine, pool_size and max_overflow",
        find=connections,
    ),
)
