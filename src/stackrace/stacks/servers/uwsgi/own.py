"""uWSGI's own language: its options, and an ini file of the user's with what is decided for it taken out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ....base.errors import LaunchError
from ...native_options import Change, Concern, NotTaken, OwnFile, OwnLanguage, OwnReading
from ..templates import PLAIN

__all__ = ["LANGUAGE", "effective", "pairs_of", "theirs"]

SETTINGS = {
    "processes": "processes",
    "workers": "processes",
    "threads": "threads",
    "cheaper": "cheaper",
    "cheaper-initial": "cheaper_initial",
    "cheaper-step": "cheaper_step",
    "lazy-apps": "lazy_apps",
    "single-interpreter": "single_interpreter",
    "thunder-lock": "thunder_lock",
    "offload-threads": "offload_threads",
    "max-requests": "max_requests",
    "max-requests-delta": "max_requests_delta",
    "harakiri": "harakiri",
}
"""Its options for which there is a setting."""

UNSAID: Mapping[str, str | int | bool] = {
    "processes": 1,
    "threads": 1,
    "cheaper": 0,
    "cheaper_initial": 0,
    "cheaper_step": 1,
    "http": "auto",
    "lazy_apps": False,
    "single_interpreter": False,
    "thunder_lock": False,
    "offload_threads": 0,
    "max_requests": 0,
    "max_requests_delta": 0,
    "harakiri": 0,
    "static": False,
    "access_log": False,
}
"""What uWSGI does where its file says nothing."""

_DECIDED = {
    Concern.ADDRESS: "http http-to http-socket http11-socket http-keepalive http-auto-chunked https https-socket "
    "socket s uwsgi-socket puwsgi-socket fastcgi-socket scgi-socket raw-socket shared-socket "
    "map-socket protocol socket-protocol chmod-socket chown-socket stats zerg zerg-server subscribe-to fastrouter",
    Concern.USER: "uid gid chroot cap unshare",
    Concern.LOGS: "logto logto2 logger req-logger logdate log-date log-format log-master disable-logging "
    "logformat threaded-logger touch-logreopen log-maxsize log-reopen log-syslog",
    Concern.PATHS: "chdir chdir2 home H virtualenv venv pyhome pythonpath pp python-path module wsgi wsgi-file "
    "file "
    "callable mount manage-script-name plugin plugins "
    "plugins-dir plugin-dir ini yaml json xml inherit",
    Concern.PROCESS: "daemonize daemonize2 pidfile pidfile2 safe-pidfile master-fifo die-on-term exit-on-reload "
    "touch-reload touch-workers-reload py-autoreload py-auto-reload reload-mercy worker-reload-mercy stop reload "
    "emperor vassals need-app catch-exceptions strict master "
    # what it starts beside the app
    "attach-daemon attach-daemon2 smart-attach-daemon smart-attach-daemon2 exec-asap exec-pre-jail exec-post-jail "
    "exec-in-jail exec-as-root exec-as-user exec-pre-app exec-post-app hook-asap hook-pre-jail hook-post-jail "
    "hook-in-jail hook-as-root hook-as-user hook-pre-app hook-post-app hook-accepting hook-accepting1 cron cron2 "
    "unique-cron spooler spooler-processes mule mules farm touch-chain-reload fs-reload",
}
TAKEN = {key: concern for concern, keys in _DECIDED.items() for key in keys.split()}
"""What is decided for it."""

_LINE = re.compile(r"\s*([^=;#\s\[][^=\s]*)\s*(?:=\s*(.*?))?\s*$")
_FILES = ("ini", "yaml", "json", "xml", "include", "inherit")
"""What names another configuration file."""
_ROUTERS = ("http", "https")
_SAYING = {**SETTINGS, "http": "http", "http-socket": "http"}
"""What says something of a setting, though the address beside it is decided."""
_TRUE = ("true", "1", "yes", "on", "")


def read(text: str) -> OwnReading:
    """Return what an ini file says. Raises ValueError where it has no section [uwsgi]."""
    lines = [(key, value) for key, value, _ in _lines(text) if key]
    if not re.search(r"^\s*\[uwsgi\]", text, re.MULTILINE):
        raise ValueError("it has no section [uwsgi]")
    settings = dict(UNSAID)
    computed: dict[str, str] = {}
    for key, value in lines:
        if key in SETTINGS:
            setting = SETTINGS[key]
            known = _value(value, UNSAID[setting])
            settings.pop(setting, None)
            computed.pop(setting, None)
            if known is None:
                computed[setting] = value
            else:
                settings[setting] = known
        elif key in ("http", "http-socket"):
            settings["http"] = "router" if key in _ROUTERS else "socket"
    changes = tuple(
        Change(key=key, theirs=value, concern=TAKEN[key])
        for key, value in lines
        if key in TAKEN and key not in _FILES
    )
    said = frozenset(_SAYING[key] for key, _ in lines if key in _SAYING)
    whole = text.splitlines()
    missing = tuple(
        NotTaken(line=whole.index(line) + 1, what=line.strip(), why="the settings of this other file are missing")
        for key, _, line in _lines(text)
        if key in _FILES
    )
    return OwnReading(settings=settings, said=said, computed=computed, changes=changes, not_taken=missing)


def effective(printed: Mapping[str, object]) -> Mapping[str, str | int | bool]:
    """Return the settings among what uWSGI says of its file."""
    settings = dict(UNSAID)
    for key, value in printed.items():
        if key in SETTINGS and (known := _value(str(value), UNSAID[SETTINGS[key]])) is not None:
            settings[SETTINGS[key]] = known
        elif key in ("http", "http-socket"):
            settings["http"] = "router" if key in _ROUTERS else "socket"
    return settings


def pairs_of(text: str, section: str) -> list[tuple[str, str]]:
    """Return the keys and values of a section."""
    return [(key, value) for key, value, _ in _lines(text, section) if key]


def theirs(file: OwnFile, chosen: Collection[str]) -> str:
    """Return the section [uwsgi] of ``file`` without what is decided for it, and without ``chosen`` settings."""
    kept = []
    for key, _, line in _lines(file.text):
        if key and (key in TAKEN or SETTINGS.get(key) in chosen):
            continue
        kept.append(_placed(line, file.path))
    return "\n".join(kept)


def _lines(text: str, section: str = "uwsgi") -> Iterator[tuple[str, str, str]]:
    """Yield key, value and whole line of a section; the key is empty in comments and blank lines."""
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            inside = line.strip() == f"[{section}]"
        elif inside:
            match = _LINE.match(line)
            yield (match[1].replace("_", "-"), match[2] or "", line) if match else ("", "", line)


def _value(text: str, unsaid: str | int | bool) -> str | int | bool | None:
    """Return a value as its setting has it; None where uWSGI computes it."""
    if isinstance(unsaid, bool):
        return text.lower() in _TRUE
    return int(text) if text.isascii() and text.isdigit() else None


def _placed(line: str, path: Path) -> str:
    """Put the file's own place where it says ``%d`` and the like: its lines are read from elsewhere."""
    for word, value in (("%d", f"{path.parent}/"), ("%p", str(path)), ("%s", path.name), ("%n", path.stem)):
        if word in line and not PLAIN.fullmatch(value):
            raise LaunchError(f"the name of {str(path)!r}, which it calls {word}, cannot be said in it; rename it")
        line = re.sub(f"(?<!%){word}", lambda _, value=value: value, line)  # type: ignore[misc]
    return line


LANGUAGE = OwnLanguage(refuses=TAKEN, settings=SETTINGS, file="uwsgi.ini", queue="listen", read=read)
