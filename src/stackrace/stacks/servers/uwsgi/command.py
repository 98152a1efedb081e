"""How people start uWSGI: its options, in one of their spellings each, and its variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...native_options import CommandLine
from .files import ini_options, json_options, yaml_options
from .own import UNSAID, effective

__all__ = ["COMMAND"]


def _at_once(settings: Mapping[str, str | int | bool]) -> int:
    """Return how many requests it works on at once: one in each thread."""
    return int(settings.get("processes", 1)) * int(settings.get("threads", 1))


COMMAND = CommandLine(
    programs=("uwsgi", "pyuwsgi"),
    unsaid={**UNSAID, "http": "auto"},
    short={
        "p": "processes",
        "s": "socket",
        "H": "home",
        "w": "module",
        "M": "master",
        "T": "enable-threads",
        "C": "chmod-socket",
        "L": "disable-logging",
        "l": "listen",
        "z": "socket-timeout",
        "d": "daemonize",
        "b": "buffer-size",
        "t": "harakiri",
        "R": "max-requests",
        "i": "single-interpreter",
        "y": "yaml",
        "j": "json",
        "x": "xml",
    },
    switches=(
        "master single-interpreter lazy-apps thunder-lock enable-threads vacuum die-on-term need-app strict "
        "disable-logging manage-script-name catch-exceptions http-keepalive http-auto-chunked http-chunked-input "
        "py-call-osafterfork log-master no-orphans memory-report ignore-sigpipe ignore-write-errors "
        "disable-write-exception log-x-forwarded-for no-default-app auto-procname"
    ),
    says={"http": ("http", "router"), "http-socket": ("http", "socket")},
    speaks={
        "socket": "uwsgi",
        "uwsgi-socket": "uwsgi",
        "fastcgi-socket": "fastcgi",
        "scgi-socket": "scgi",
        "protocol": "",
        "socket-protocol": "",
    },
    at_once=_at_once,
    underscores=True,
    asked=Path(__file__).with_name("asked.py"),
    effective=effective,
    file_option="ini",
    file_suffix=".ini",
    reads={"ini": ini_options, "yaml": yaml_options, "yml": yaml_options, "json": json_options, "xml": None},
    prefix="UWSGI_",
    unlike=frozenset({"py-autoreload", "py-auto-reload", "emperor", "honour-stdin"}),
)
