"""Limits that a deployment's workers may exceed: memory, open files, a database's connections.

Only numbers in files count. Nothing is assumed about a worker's memory or a database.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ...app.project_files import deployment_folders, is_development, line_of, loaded, table_in
from ...app.projects.code import is_aside, parse, python_files
from ...app.projects.deployment_command import line_with, shown, text_of
from ...app.projects.kubernetes import is_manifest
from ...base.numbers import count, number
from .deployment_record import Found, Place, Read
from .hop import ReadHop
from .model import placed
from .options import said_at, uses

_MIB = 2**20
_MEMORY = re.compile(r"(?i)(?:MemoryMax=|MemoryLimit=|mem_limit: |memory: )(\d+(?:\.\d+)?)([kmgt]?)(i?)b?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_REPLACED_AT = ("reload-on-rss", "evil-reload-on-rss", "workers-max-rss")
"""Options that set the memory, in MiB, at which a worker is replaced."""
_TABLE_MIB = 64
"""Smallest table, in MiB, that is reported; smaller ones hardly count: a million open files take 8 MiB."""
_POOL = re.compile(r"(DATABASE|DB|POSTGRES|SQLALCHEMY)_(MAX_)?POOL(_MAX)?(_SIZE)?")
_IN_URL = re.compile(r"[?&](?:pool_size|max_size|maxsize)=(\d+)")
_PREFIXED = r"env(?:iron|var)?_prefix"
"""Settings that read all variables with a prefix, so that no variable's full name is in the code."""
_ENGINES = ("create_engine", "create_async_engine")
_MAX_OVERFLOW = 10
"""Default number of connections that SQLAlchemy opens beyond pool_size."""
_MAX_CONNECTIONS = re.compile(r"(?m)^(?![ \t]*#).*?\bmax[_-]connections\b[\"' \t]*+(?:[=:,][\"' \t]*+)?(\d+)")
_DATABASES = re.compile(r"compose|postgres|pg|mysql|mariadb|database|db")
_SUFFIXES = (".yml", ".yaml", ".conf", ".cnf")
_BETWEEN = re.compile(r"(?i)pgbouncer|pgcat|odyssey|pgpool|proxysql")
"""Connection poolers: programs between app and database with their own connections."""


def memory(read: Read) -> Found:
    """Yield each memory limit that all workers together exceed before they are replaced."""
    workers = _workers(read.hop)
    for name in _REPLACED_AT:
        each, _ = read.hop.number_of(name) or (0, None)
        for location, limit in _memory_limits(read):
            if workers * each > limit:
                yield location, {"limit": number(limit), "workers": workers, "each": each, "name": name}


def _memory_limits(read: Read) -> Iterator[tuple[Place, float]]:
    """Yield the limits of memory in MiB, each with its place."""
    for gap in read.hop.command.omissions:
        if found := _MEMORY.fullmatch(gap.what):
            file = gap.file or read.hop.command.known_by
            # in Kubernetes, M is a million; elsewhere it is 2**20
            step = 1000 if is_manifest(file) and not found[3] else 1024
            size = float(found[1]) * step ** _POWERS[found[2].lower()]
            yield (shown(file, read.hop.root), gap.line), size / _MIB
    if read.running is not None and (limit := read.running.server.limits.memory_bytes):
        yield (read.running.location, 0), limit / _MIB


def router_table(read: Read) -> Found:
    """Yield the limit of open files for which uWSGI's HTTP router takes very much memory."""
    hop = read.hop
    is_router = hop.spec.name == "uwsgi" and hop.values().get("http") == "router"
    if is_router and not hop.number_of("max-fd") and "UWSGI_MAX_FD" not in hop.command.variables:
        for location, files in list(_open_files(read))[-1:]:
            if (size := files * 8 / _MIB) >= _TABLE_MIB:
                yield location, {"files": count(files), "size": number(size)}


def _open_files(read: Read) -> Iterator[tuple[Place, int]]:
    """Yield the limits of open files in documents, then that of the running server, if any; the last one counts."""
    command, root = read.hop.command, read.hop.root
    for path in command.documents:
        text = text_of(path)
        limits = table_in(loaded(path, text), "services", command.service.partition(" ")[0], "ulimits")
        said = str(table_in(limits, "nofile").get("soft", limits.get("nofile")))
        if said.isdecimal():
            yield (shown(path, root), line_of(limits, "nofile")), int(said)
        if path.suffix in (".service", ".conf") and (line := line_with(r"^LimitNOFILE=\d", text)):
            yield (shown(path, root), line), int(re.findall(r"\d+", text.splitlines()[line - 1])[0])
    if read.running is not None and (limit := read.running.server.limits.open_files):
        yield (read.running.location, 0), limit


def connections(read: Read) -> Found:
    """Yield the limit of a database's connections that the pools of all processes together may exceed."""
    hop = read.hop
    limits, processes = _connection_limits(hop), _workers(hop) * hop.command.instances
    pools = list(_pools(hop)) if limits and processes else []
    if len({limit for _, limit in limits}) == len({size for _, size in pools}) == 1:
        (where, limit), (location, pool) = limits[0], pools[0]
        facts = {"limit": limit, "processes": processes, "pool": pool, "place": placed(*location)}
        if (most := processes * pool) > limit:
            yield where, {**facts, "most": most}


def _connection_limits(hop: ReadHop) -> list[tuple[Place, int]]:
    """Return the limits of a database's connections in files; empty if a pooler stands between it and the app."""
    paths = [folder / name for folder, _, names in deployment_folders(hop.root) for name in names]
    paths = [path for path in paths if path.name.endswith(_SUFFIXES) and _DATABASES.search(path.name)]
    paths = [path for path in paths if not is_development(path, hop.root)]
    texts = {path: text_of(path) for path in (*hop.command.documents, *paths)}
    if any(map(_BETWEEN.search, (*texts.values(), *hop.command.variables.values()))):
        return []
    return [
        ((shown(path, hop.root), text.count("\n", 0, found.start(1)) + 1), int(found[1]))
        for path, text in texts.items()
        for found in _MAX_CONNECTIONS.finditer(text)
    ]


def _pools(hop: ReadHop) -> Iterator[tuple[Place, int]]:
    """Yield the sizes of a process's connection pools in variables and in the project's code."""
    code = _code(hop)
    for name, value in hop.command.variables.items():
        in_url = _IN_URL.search(value) if "://" in value else None
        is_pool = _POOL.fullmatch(name) and any(name in text for text in code.values())
        said = value if is_pool else in_url[1] if in_url else ""
        if said.isdecimal():
            yield said_at(hop, name), int(said)
    for path in (path for path, text in code.items() if "pool" in text):
        for node in ast.walk(tree) if (tree := parse(path)) else ():
            if (size := _pool_of(node)) and isinstance(node, ast.expr):
                yield (shown(path, hop.root), node.lineno), size


def _pool_of(node: ast.AST) -> int:
    """Return the literal size of a pool: in Django's OPTIONS, or of an SQLAlchemy engine; else 0."""
    size: object = None
    more: object = 0
    match node:
        case ast.Dict(keys=keys, values=values):
            pool = next((each for key, each in zip(keys, values, strict=True) if _literal(key) == "pool"), None)
            size = said.get("max_size") if isinstance(said := _literal(pool), dict) else None
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=keywords) if name in _ENGINES:
            said = {each.arg: _literal(each.value) for each in keywords}
            size, more = said.get("pool_size"), said.get("max_overflow", _MAX_OVERFLOW)
    return size + more if isinstance(size, int) and isinstance(more, int) else 0


def _literal(node: ast.expr | None) -> object:
    with suppress(ValueError, TypeError, SyntaxError, RecursionError):
        return ast.literal_eval(node) if node is not None else None
    return None


def unread_pool(read: Read) -> Found:
    """Yield the variables for a connection pool that no code of the project reads, in upper or lower case."""
    hop = read.hop
    # the variables of a running process include all of its machine's
    for name in filter(_POOL.fullmatch, hop.command.environment if read.running is None else ()):
        texts = _code(hop).values()
        is_read = any(re.search(f"(?i:{name})|{_PREFIXED}", text) for text in texts)
        if texts and not is_read and not uses(hop, name):
            yield said_at(hop, name), {"name": name}


def _code(hop: ReadHop) -> dict[Path, str]:
    """Return the text of each Python file of the project that is no test, example or the like, by its path."""
    return {path: text_of(path) for path in python_files(hop.root) if not is_aside(path, hop.root)}


def _workers(hop: ReadHop) -> int:
    """Return the number of the server's processes; 0 if unknown."""
    values = hop.values() if hop.effective[0] else {}
    return next((int(values[name]) for name in ("processes", "workers") if name in values), 0)
