"""How people start gunicorn: its options, short ones among them, and its variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...native_options import CommandLine
from .own import UNSAID, WORKERS, effective

__all__ = ["COMMAND"]


def _idle(settings: Mapping[str, str | int | bool]) -> frozenset[str]:
    """Return what does nothing with a worker class beside what its settings say: sync keeps no connection."""
    return frozenset({"keep_alive"} if settings.get("class") == "sync" else ())


def _becomes(settings: Mapping[str, str | int | bool]) -> Mapping[str, str | int | bool]:
    """With more than one thread, gunicorn turns sync into gthread."""
    threaded = settings.get("class", "sync") == "sync" and settings.get("threads", 1) != 1
    return {**settings, "class": "gthread"} if threaded else settings


def _at_once(settings: Mapping[str, str | int | bool]) -> int:
    """Return one request for each worker or thread; gevent has as many as connections."""
    each = {"sync": 1, "gthread": settings.get("threads", 1), "gevent": settings.get("worker_connections", 1000)}
    return int(settings.get("workers", 1)) * int(each.get(str(settings.get("class", "sync")), 0))


COMMAND = CommandLine(
    programs=("gunicorn",),
    unsaid=UNSAID,
    short={
        "b": "bind",
        "c": "config",
        "D": "daemon",
        "e": "env",
        "g": "group",
        "h": "help",
        "k": "worker-class",
        "m": "umask",
        "n": "name",
        "p": "pid",
        "R": "enable-stdio-inheritance",
        "t": "timeout",
        "u": "user",
        "v": "version",
        "w": "workers",
    },
    switches=(
        "preload daemon reload spew check-config print-config no-sendfile reuse-port initgroups proxy-protocol "
        "enable-stdio-inheritance capture-output log-syslog disable-redirect-access-to-syslog strip-header-spaces "
        "suppress-ragged-eofs do-handshake-on-connect no-control-socket help version"
    ),
    settings={"preload-app": "preload", "threads": "threads"},
    values={
        "class": {
            **WORKERS,
            "uvicorn.workers.UvicornH11Worker": "uvicorn",
            "uvicorn_worker.UvicornH11Worker": "uvicorn",
        },
    },
    speaks={"protocol": ""},
    becomes=_becomes,
    at_once=_at_once,
    idle=_idle,
    file_option="config",
    found="gunicorn.conf.py",
    asked=Path(__file__).with_name("asked.py"),
    effective=effective,
    arguments="GUNICORN_CMD_ARGS",
    workers="workers",
    unlike=frozenset({"reload", "check-config", "print-config"}),
)
