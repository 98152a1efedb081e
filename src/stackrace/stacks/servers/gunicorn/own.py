"""Gunicorn's own language: its options, and a configuration file in Python, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from ...native_options import Change, Concern, OwnLanguage, OwnReading

__all__ = ["LANGUAGE", "OPTIONS", "TAKEN", "WORKER", "effective"]

OPTIONS = {
    "workers": "workers",
    "worker-class": "class",
    "threads": "threads",
    "worker-connections": "worker_connections",
    "preload": "preload",
    "max-requests": "max_requests",
    "max-requests-jitter": "max_requests_jitter",
    "timeout": "timeout",
    "keep-alive": "keep_alive",
    "asgi-loop": "loop",
    "http-parser": "http_parser",
    "access-logfile": "access_log",
}
"""Its options for which there is a setting."""

_DECIDED = (
    (Concern.ADDRESS, "bind", ("bind",)),
    (Concern.ADDRESS, "protocol", ("protocol",)),
    (Concern.ADDRESS, "proxy_protocol", ("proxy-protocol",)),
    (Concern.ADDRESS, "certfile", ("certfile",)),
    (Concern.ADDRESS, "keyfile", ("keyfile",)),
    (Concern.USER, "user", ("user",)),
    (Concern.USER, "group", ("group",)),
    (Concern.USER, "initgroups", ("initgroups",)),
    (Concern.LOGS, "accesslog", ()),
    (Concern.LOGS, "errorlog", ("error-logfile", "log-file")),
    (Concern.LOGS, "access_log_format", ("access-logformat",)),
    (Concern.LOGS, "loglevel", ("log-level",)),
    (Concern.LOGS, "logconfig", ("log-config",)),
    (Concern.LOGS, "logconfig_dict", ()),
    (Concern.LOGS, "logconfig_json", ("log-config-json",)),
    (Concern.LOGS, "logger_class", ("logger-class",)),
    (Concern.LOGS, "capture_output", ("capture-output",)),
    (Concern.LOGS, "syslog", ("log-syslog",)),
    (Concern.PATHS, "chdir", ("chdir",)),
    (Concern.PATHS, "pythonpath", ("pythonpath",)),
    (Concern.PATHS, "wsgi_app", ()),
    (Concern.PATHS, "paste", ("paste", "paster")),
    (Concern.PATHS, "config", ("config",)),
    (Concern.PROCESS, "pidfile", ("pid",)),
    (Concern.PROCESS, "daemon", ("daemon",)),
    (Concern.PROCESS, "graceful_timeout", ("graceful-timeout",)),
    (Concern.PROCESS, "reload", ("reload", "reload-engine", "reload-extra-file")),
    (Concern.PROCESS, "spew", ("spew",)),
    (Concern.PROCESS, "check_config", ("check-config", "print-config", "help", "version")),
    (Concern.PROCESS, "control_socket", ("control-socket", "no-control-socket")),
)
"""What is decided for it: what about, as its file calls it, and as its options do."""

TAKEN = {key: concern for concern, key, _ in _DECIDED}
"""What a configuration file may set, and what is decided for it."""

REFUSED = {option: concern for concern, _, options in _DECIDED for option in options}

_KEYS = {"preload": "preload_app", "keep-alive": "keepalive"}
"""What its file calls options otherwise than with underscores."""

KEYS = {
    _KEYS.get(option, option.replace("-", "_")): name for option, name in OPTIONS.items() if name != "access_log"
}
"""What its file calls the settings."""


def key_of(option: str) -> str:
    """Return what its file calls ``option``, as ``--worker-class``."""
    name = option.removeprefix("--")
    return {"access-logfile": "accesslog", "log-level": "loglevel", **_KEYS}.get(name, name.replace("-", "_"))


UNSAID: Mapping[str, str | int | bool] = {
    "workers": 1,
    "class": "sync",
    "threads": 1,
    "worker_connections": 1000,
    "preload": False,
    "max_requests": 0,
    "max_requests_jitter": 0,
    "timeout": 30,
    "keep_alive": 2,
    "loop": "auto",
    "http_parser": "auto",
    "access_log": False,
}
"""What gunicorn does where its file says nothing."""

WORKER = {"uvicorn": "uvicorn_worker.UvicornWorker"}
WORKERS = {
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
}
"""The worker classes of files, and what settings call them."""


def read(text: str) -> OwnReading:
    """Return what a ``gunicorn.conf.py`` says. Raises ValueError where it is no Python."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    values = dict(_assigned(module.body))
    settings = dict(UNSAID)
    computed: dict[str, str] = {}
    for key, setting in KEYS.items():
        if key in values:
            value = _literal(values[key])
            if isinstance(value, (str, int, bool)) and type(value) is type(UNSAID[setting]):
                settings[setting] = value
            else:
                computed[setting] = ast.unparse(values[key])
                del settings[setting]
    if name := _class(settings):
        settings["class"] = name
    elif settings.pop("class", None):
        computed["class"] = ast.unparse(values["worker_class"])
    changes = [
        Change(key=key, theirs=ast.unparse(values[key]), concern=concern)
        for key, concern in TAKEN.items()
        if key in values
    ]
    theirs = str(_literal(values["worker_class"])) if "worker_class" in values else ""
    if theirs and theirs != WORKER.get(name, theirs):
        changes.append(Change(key="worker_class", theirs=theirs, concern=Concern.PATHS))
    said = frozenset(setting for key, setting in KEYS.items() if key in values)
    return OwnReading(settings=settings, said=said, computed=computed, changes=tuple(changes))


def effective(printed: Mapping[str, object]) -> Mapping[str, str | int | bool]:
    """Return the settings among what gunicorn says of its file."""
    settings = {}
    for key, setting in KEYS.items():
        value = printed.get(key, UNSAID[setting])
        if isinstance(value, (str, int)) and type(value) is type(UNSAID[setting]):
            settings[setting] = value
    name = _class(settings)
    return {**settings, "class": name} if name else {key: settings[key] for key in settings if key != "class"}


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a module gives values, also within its ifs and tries, but not within functions."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _assigned([*node.body, *node.orelse])


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def _class(settings: Mapping[str, str | int | bool]) -> str:
    name = WORKERS.get(str(settings.get("class")), "")
    # with more than one thread, gunicorn silently turns sync into gthread
    return "gthread" if name == "sync" and settings.get("threads", 2) != 1 else name


LANGUAGE = OwnLanguage(
    refuses=REFUSED, settings=OPTIONS, abbreviates=True, file="gunicorn.conf.py", queue="backlog", read=read
)
