"""Gunicorn's own options, and its configuration file in Python, which is read without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from ...native_files import Change, Concern, FileReading
from ...native_options import Accelerator, NativeOptions, Option, decided, passed, switches
from ...setting import Formula, Interface, Origin, Protocol, Setting, Settings, SettingValue, Tunable
from ..contract import BACKLOG
from ..settings import ACCESS_LOG, KEEP_ALIVE, MOST_SECONDS, address, recycling, workers

CLASSES = {
    "sync": Interface.WSGI,
    "gthread": Interface.WSGI,
    "gevent": Interface.WSGI,
    "asgi": Interface.ASGI,
    "uvicorn": Interface.ASGI,
    "uvicorn-h11": Interface.ASGI,
}
_TWICE_AND_ONE = Formula(per_core=2, plus=1, source="gunicorn, Design, How Many Workers?")
_H11 = "uvicorn_worker.UvicornH11Worker"
CLASS_OF = {"uvicorn": "uvicorn_worker.UvicornWorker", "uvicorn-h11": _H11}
"""Worker classes that gunicorn does not know by Stackrace's name."""
_CLASSES = {
    "sync": "sync",
    "gthread": "gthread",
    "gevent": "gevent",
    "asgi": "asgi",
    "gunicorn.workers.sync.SyncWorker": "sync",
    "gunicorn.workers.gthread.ThreadWorker": "gthread",
    "gunicorn.workers.ggevent.GeventWorker": "gevent",
    "gunicorn.workers.gasgi.ASGIWorker": "asgi",
    "uvicorn_worker.UvicornWorker": "uvicorn",
    "uvicorn.workers.UvicornWorker": "uvicorn",
    "uvicorn.workers.UvicornH11Worker": "uvicorn-h11",
    "uvicorn_worker.UvicornH11Worker": "uvicorn-h11",
}
"""Worker classes of commands and files, and the setting's value for each."""


def _idle(settings: Settings) -> frozenset[str]:
    """Return the settings without effect for a worker class, besides ``Setting.only``: sync keeps no connection."""
    return frozenset({"keep_alive"} if settings.get("class") == "sync" else ())


def _becomes(settings: Settings) -> Settings:
    """Return the settings with gthread in place of sync for more than one thread, as gunicorn does."""
    threaded = settings.get("class", "sync") == "sync" and settings.get("threads", 1) != 1
    return {**settings, "class": "gthread"} if threaded else settings


def _at_once(settings: Settings) -> int:
    """Return the maximum of requests in progress: one for each worker or thread, with gevent one for each
    connection; 0 for ASGI."""
    each = {"sync": 1, "gthread": settings.get("threads", 1), "gevent": settings.get("worker_connections", 1000)}
    return int(settings.get("workers", 1)) * int(each.get(str(settings.get("class", "sync")), 0))


def _read(text: str, *_: Path) -> FileReading:
    """Return the contents of a ``gunicorn.conf.py``. Raises ValueError if it is no valid Python."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    values = dict(_assigned(module.body))
    reading = OPTIONS.reading(
        (setting, _typed(setting, _literal(values[key])), ast.unparse(values[key]))
        for key, setting in OPTIONS.keys.items()
        if key in values
    )
    computed = dict(reading.computed)
    name = _class(reading.settings)
    if not name and "class" in reading.settings:
        computed["class"] = ast.unparse(values["worker_class"])
    changes = [
        Change(key=key, theirs=ast.unparse(values[key]), concern=concern)
        for key, concern in OPTIONS.decided_keys.items()
        if key in values
    ]
    theirs = str(_literal(values["worker_class"])) if "worker_class" in values else ""
    if theirs and theirs != CLASS_OF.get(name, theirs):
        changes.append(Change(key="worker_class", theirs=theirs, concern=Concern.PATHS))
    if variables := sorted(set(_variables_set(module))):
        changes.append(Change(key="os.environ", theirs=", ".join(variables), concern=Concern.VARIABLES))
    settings = _with_class(reading.settings, name)
    return replace(reading, settings=settings, computed=computed, changes=tuple(changes))


def _effective(printed: Mapping[str, object]) -> Settings:
    values = {setting: _typed(setting, printed[key]) for key, setting in OPTIONS.keys.items() if key in printed}
    known = {**OPTIONS.defaults, **values}
    settings = {key: known[key] for key in OPTIONS.keys.values()}
    plain = {name: value for name, value in settings.items() if value is not None}
    return _with_class(plain, _class(plain))


def _typed(setting: str, value: object) -> SettingValue | None:
    return value if isinstance(value, (str, int)) and type(value) is type(OPTIONS.defaults[setting]) else None


def _with_class(settings: Settings, name: str) -> Settings:
    return {key: name if key == "class" else value for key, value in settings.items() if name or key != "class"}


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names and values that a module assigns, also inside ifs and tries, but not inside functions."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _assigned([*node.body, *node.orelse])


def _variables_set(module: ast.Module) -> Iterator[str]:
    """Yield the names of variables that a file puts into its process's environment; ``…`` for a computed one."""
    for node in ast.walk(module):
        keys: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _is_environ(node.value):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_environ(node.func.value):
            if node.func.attr == "setdefault":
                keys = node.args[:1]
            elif node.func.attr == "update":
                yield from (keyword.arg or "…" for keyword in node.keywords)
                keys = [key for table in node.args if isinstance(table, ast.Dict) for key in table.keys if key]
        yield from (
            key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else "…" for key in keys
        )


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ")


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _class(settings: Settings) -> str:
    name = _CLASSES.get(str(settings.get("class")), "")
    # with more than one thread, gunicorn silently turns sync into gthread
    return "gthread" if name == "sync" and settings.get("threads", 2) != 1 else name


_MORE = frozenset({
    "ca_certs", "cert_reqs", "ciphers", "child_exit", "default_proc_name", "dirty_apps", "dirty_workers",
    "dirty_timeout", "dirty_threads", "dogstatsd_tags", "forwarder_headers", "header_map", "http_protocols",
    "limit_request_line", "limit_request_fields", "limit_request_field_size", "max_requests_jitter",
    "nworkers_changed", "on_exit", "on_reload", "on_starting", "post_fork", "post_request",
    "post_worker_init", "pre_exec", "pre_fork", "pre_request", "proc_name", "proxy_allow_ips", "root_path",
    "secure_scheme_headers", "ssl_context", "ssl_version", "statsd_host", "statsd_prefix", "sendfile",
    "syslog_addr", "syslog_facility", "syslog_prefix", "tmp_upload_dir", "uwsgi_allow_ips", "when_ready",
    "worker_abort", "worker_exit", "worker_int", "worker_tmp_dir",
})  # fmt: skip
"""Settings in gunicorn's files that have no row."""
_ALIKE = 0.8


def _ignored(text: str) -> Iterator[tuple[str, str]]:
    """Yield unused names that are similar to settings, each with the similar setting; other names may be
    variables."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return
    known = {*OPTIONS.keys, *OPTIONS.decided_keys, *(row.file_key for row in OPTIONS.rows), *_MORE}
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for name in sorted(dict(_assigned(module.body)).keys() - known - used):
        for meant in get_close_matches(name, known, n=1, cutoff=_ALIKE):
            yield name, meant


OPTIONS = NativeOptions(
    programs=("gunicorn",),
    ignored=_ignored,
    abbreviates=True,
    arguments="GUNICORN_CMD_ARGS",
    becomes=_becomes,
    at_once=_at_once,
    idle=_idle,
    file="gunicorn.conf.py",
    file_option="config",
    default_file="gunicorn.conf.py",
    read=_read,
    inspector=Path(__file__).with_name("inspector.py"),
    effective=_effective,
    accelerators=(
        *(
            Accelerator(package=each, option="worker-class", value=_H11, only={"class": "uvicorn"})
            for each in ("uvloop", "httptools")
        ),
        Accelerator(package="uvloop", option="asgi-loop", value="asyncio", only={"class": "asgi"}),
    ),
    rows=(
        Option("config c", concern=Concern.PATHS, written=lambda site: site.directory / "gunicorn.conf.py"),
        Option("bind b", concern=Concern.ADDRESS, written=address),
        Option(
            "protocol",
            concern=Concern.ADDRESS,
            protocol="",
            written=lambda site: "uwsgi" if site.listen.protocol is Protocol.UWSGI else None,
        ),
        *switches("proxy-protocol", Concern.ADDRESS),
        *decided(Concern.ADDRESS, "certfile, keyfile"),
        *decided(Concern.USER, "user u, group g"),
        *decided(Concern.UMASK, "umask m"),
        Option("env e", concern=Concern.VARIABLES, key="raw_env"),
        *switches("initgroups", Concern.USER),
        Option("pid p", concern=Concern.PROCESS, key="pidfile"),
        *switches("daemon D", Concern.PROCESS),
        # its graceful stop waits for kept connections; no load is left when a stack is stopped
        Option("graceful-timeout", concern=Concern.PROCESS, written=lambda site: site.patience_s(2)),
        Option("error-logfile log-file", concern=Concern.LOGS, key="errorlog"),
        Option("access-logformat", concern=Concern.LOGS, key="access_log_format"),
        Option(
            "log-level",
            concern=Concern.LOGS,
            key="loglevel",
            written=lambda site: "info" if site.production else "warning",
        ),
        Option("log-config", concern=Concern.LOGS, key="logconfig"),
        Option("", concern=Concern.LOGS, key="logconfig_dict"),
        Option("log-config-json", concern=Concern.LOGS, key="logconfig_json"),
        *decided(Concern.LOGS, "logger-class"),
        *switches("capture-output", Concern.LOGS),
        Option("log-syslog", concern=Concern.LOGS, key="syslog", is_switch=True),
        Option("backlog", is_queue=True, written=lambda site: BACKLOG if site.file is None else None),
        Option("forwarded-allow-ips", written=lambda site: site.trusted_proxies if site.file is None else None),
        Option(
            "workers w",
            setting=workers(
                "Worker processes",
                "its documentation starts from twice the cores plus one",
                per_core=8,
                formula=_TWICE_AND_ONE,
            ),
            default=1,
            variable="WEB_CONCURRENCY",
        ),
        Option(
            "worker-class k",
            setting=Setting(
                name="class",
                default="sync",
                choices=tuple(CLASSES),
                implies=CLASSES,
                # Uvicorn reads the connection itself
                listens=dict.fromkeys(CLASS_OF, frozenset({Protocol.HTTP})),
                # Source: gunicorn, Design, "Sync Workers"
                # gevent changes what the app's own libraries do, which is not for a tuner to decide
                tunable=Tunable(values=("sync", "gthread")),
                closes={"sync": "gunicorn's sync worker closes after every answer by design: use class=gthread"},
                help="What a worker is: sync serves one request at a time without keep-alive, gthread has "
                "threads, gevent greenlets; uvicorn and gunicorn's own asgi host the app's ASGI interface, "
                "uvicorn-h11 without uvloop and httptools. asgi lets only 100 connections wait, whatever the "
                "backlog.",
            ),
            values=_CLASSES,
            written=lambda site: CLASS_OF.get(str(site.settings["class"]), site.settings["class"]),
        ),
        Option(
            "threads",
            setting=Setting(
                name="threads",
                default=4,
                maximum=1024,
                origin=Origin.RECOMMENDED,
                # with more than one thread, gunicorn silently turns sync into gthread
                only={"class": ("gthread",)},
                tunable=Tunable(least=2, most=32, steps=5, multiplies=True),
                help="Threads of each worker, class=gthread only; raise it when requests wait on a database.",
            ),
            default=1,
        ),
        Option(
            "worker-connections",
            setting=Setting(
                name="worker_connections",
                default=1000,
                maximum=65536,
                only={"class": ("gthread", "gevent", "asgi")},
                help="Most connections of each worker at once, class=gthread, gevent and asgi only.",
            ),
        ),
        Option(
            "preload preload-app",
            setting=Setting(
                name="preload",
                default=False,
                tunable=Tunable(values=(False, True), memory_only=True),
                help="Load the app before the workers are forked, so that they share its memory; not every app "
                "survives it.",
            ),
            key="preload_app",
            is_switch=True,
        ),
        *recycling(),
        Option(
            "timeout t",
            setting=Setting(
                name="timeout",
                default=30,
                minimum=0,
                maximum=MOST_SECONDS,
                help="Seconds after which a worker that says nothing is killed, with its request; 0 is never.",
            ),
        ),
        Option("keep-alive", setting=KEEP_ALIVE, key="keepalive", default=2),
        Option(
            "access-logfile",
            setting=ACCESS_LOG,
            key="accesslog",
            concern=Concern.LOGS,
            written=lambda site: site.logs / "access.log" if site.settings["access_log"] else None,
        ),
        *decided(Concern.FOLDER, "chdir, pythonpath"),
        Option("", concern=Concern.PATHS, key="wsgi_app"),
        *decided(Concern.PATHS, "paste paster"),
        Option("reload", concern=Concern.PROCESS, is_switch=True, is_for_development=True),
        Option("reload-engine reload-extra-file", concern=Concern.PROCESS, key=""),
        *switches("spew", Concern.PROCESS),
        Option("check-config", concern=Concern.PROCESS, is_switch=True, is_for_development=True),
        Option("print-config", concern=Concern.PROCESS, key="", is_switch=True, is_for_development=True),
        Option("help h", concern=Concern.PROCESS, key="", is_switch=True),
        Option("version v", concern=Concern.PROCESS, key="", is_switch=True),
        *decided(Concern.PROCESS, "control-socket"),
        Option("no-control-socket", concern=Concern.PROCESS, key="", is_switch=True),
        *passed("name n"),
        *switches("no-sendfile, reuse-port, enable-stdio-inheritance R, disable-redirect-access-to-syslog"),
        *switches("strip-header-spaces, suppress-ragged-eofs, do-handshake-on-connect"),
    ),
)
