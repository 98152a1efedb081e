"""uWSGI's own options, and a user's files that set them: ini without what Stackrace decides, YAML, JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from ....base.errors import LaunchError
from ....base.files import by_last_parts, is_file, read_text, real_path
from ...native_files import Change, Concern, FileReading, NativeFile, Omission, Weight
from ...native_options import NativeOptions, Option, decided, passed, switches
from ...setting import Origin, Setting, Settings, SettingValue
from ..settings import (
    ACCESS_LOG,
    KEEP_ALIVE,
    MOST_SECONDS,
    RECYCLING,
    STATIC,
    in_threads,
    processes,
    threads,
)
from ..templates import PLAIN

_SECTION = "uwsgi"
_LINE = re.compile(r"\s*([^=;#\s\[][^=\s]*)\s*(?:=(.*))?$")
_FILES = ("ini", "yaml", "json", "xml", "include", "inherit")
_INCLUDES = ("ini", "include", "inherit")
_NAMED = re.compile(r":(\w+)$")
"""Name of a section after the name of a file, as in ``uwsgi.ini:name``."""
_MOST_DEEP = 5
_TRUE = ("true", "1", "yes", "on", "")


def _read(text: str, path: Path, folder: Path) -> FileReading:
    """Return the contents of an ini file with its includes. Raises ValueError if it has no section [uwsgi]."""
    if not re.search(r"^[ \t]*\[uwsgi\]", text, re.MULTILINE):
        raise ValueError("it has no section [uwsgi]")
    lines = [line for line in _followed(text, path, folder) if line.key]
    pairs = [(line.key, line.value) for line in lines]
    rows = [(key, value, OPTIONS.row(key).concern) for key, value in pairs if key not in _FILES]
    missing = [
        Omission(
            file=None if line.file == path else line.file,
            line=line.number,
            what=line.whole.strip(),
            why="this other file cannot be read, and may say anything",
            weight=Weight.SIZE,
        )
        for line in lines
        if line.key in _FILES
    ]
    return replace(
        OPTIONS.reading(_said(pairs)),
        changes=tuple(Change(key=key, theirs=value, concern=concern) for key, value, concern in rows if concern),
        omissions=tuple(missing),
        files=frozenset(str(line.file.relative_to(folder)) for line in lines if line.file != path),
    )


def _effective(printed: Mapping[str, object]) -> Settings:
    said = _said((key, str(value)) for key, value in printed.items())
    return {**OPTIONS.defaults, **{name: value for name, value, _ in said if value is not None}}


def _said(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, SettingValue | None, str]]:
    for key, value in pairs:
        row = OPTIONS.row(key)
        if row.setting is not None:
            name = row.setting.name
            yield name, _value(value or "1" * row.is_switch, OPTIONS.defaults[name]), value
        if row.implies is not None:
            yield *row.implies, value


def _pairs_of(text: str, section: str) -> list[tuple[str, str]]:
    return [(line.key, line.value) for line in _lines(text, section) if line.key]


def theirs(file: NativeFile, chosen: Collection[str], kept: Collection[Concern] = ()) -> str:
    """Return section [uwsgi] of ``file`` without options that Stackrace decides and without ``chosen`` settings.

    Options of the concerns ``kept`` stay.
    """
    left = []
    here = file.here or file.path
    for line in _followed(file.text, here, file.folder):
        row = OPTIONS.row(line.key)
        is_left = line.key not in _FILES and (not row.concern or row.concern in kept)
        if is_left and (row.setting is None or row.setting.name not in chosen):
            left.append(_placed(line.whole, file.path if line.file == here else line.file))
    return "\n".join(left)


@dataclass(frozen=True, slots=True)
class _Line:
    key: str
    """Empty in comments and blank lines."""
    value: str
    whole: str
    number: int
    file: Path


def _lines(text: str, section: str, path: Path = Path()) -> Iterator[_Line]:
    """Yield the lines of a section in the file at ``path``."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = line.strip() == f"[{section}]"
        elif inside:
            match = _LINE.match(line)
            key, value = (match[1].replace("_", "-"), (match[2] or "").strip()) if match else ("", "")
            yield _Line(key, value, line, number, path)


def _followed(text: str, path: Path, folder: Path, section: str = _SECTION, depth: int = 0) -> Iterator[_Line]:
    """Yield the lines of a section, with the lines of an included file in place of the line that includes it.

    If the file is not in the project's ``folder``, the line that names it stays.
    """
    for line in _lines(text, section, path):
        other = _included(line.value, path, folder) if line.key in _INCLUDES and depth < _MOST_DEEP else None
        if other is None:
            yield line
        else:
            said = _NAMED.search(line.value)
            yield from _followed(read_text(other), other, folder, said[1] if said else _SECTION, depth + 1)


def _included(value: str, path: Path, folder: Path) -> Path | None:
    """Return the file of the project that ``value`` names in the file at ``path``; None if there is none."""
    for word, meant in _magic(path):
        value = value.replace(word, meant)
    value = _NAMED.sub("", value)
    if not value.endswith(".ini") or any(letter in value for letter in "%$@"):
        return None
    found = by_last_parts(value, [path.parent, folder], is_file)
    return found if found is not None and real_path(found).is_relative_to(real_path(folder)) else None


def _value(text: str, default: SettingValue) -> SettingValue | None:
    """Return a value in its setting's type; None if uWSGI computes it."""
    if isinstance(default, bool):
        return text.lower() in _TRUE
    return int(text) if text.isascii() and text.isdigit() else None


def _magic(path: Path) -> Iterator[tuple[str, str]]:
    """Yield uWSGI's words for the path of the file that it reads, with their values."""
    yield from (("%d", f"{path.parent}/"), ("%p", str(path)), ("%s", path.name), ("%n", path.stem))


def _placed(line: str, path: Path) -> str:
    """Replace ``%d`` and similar words by the file's own path, because uWSGI reads the line from another file."""
    for word, value in _magic(path):
        if word in line and not PLAIN.fullmatch(value):
            raise LaunchError(f"the name of {str(path)!r}, which it calls {word}, cannot be said in it; rename it")
        line = re.sub(f"(?<!%){word}", lambda _, value=value: value, line)  # type: ignore[misc]
    return line


def _ini_options(text: str, section: str) -> list[tuple[str, str | None]]:
    """Return the options of a section. Raises ValueError if there is none of that name."""
    pairs = _pairs_of(text, section or _SECTION)
    if not pairs:
        raise ValueError(f"it has no section [{section}]")
    return [(key, value or None) for key, value in pairs]


def _document_options(text: str, section: str) -> list[tuple[str, str | None]]:
    """Return the options of a YAML or JSON document. Raises ValueError for other text."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    table = document.get(section or _SECTION) if isinstance(document, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"it has no {section or _SECTION}")
    options: list[tuple[str, str | None]] = []
    for key, value in table.items():
        name = str(key).replace("_", "-")
        for each in value if isinstance(value, list) else [value]:
            text = str(each).lower() if isinstance(each, bool) else str(each)
            options.append((name, None if each is True or each is None else text))
    return options


@cache
def _names() -> frozenset[str]:
    """Return the names of all options of uWSGI and its plugins, from a file that was made from their source
    code."""
    return frozenset(read_text(Path(__file__).with_name("names.txt")).split())


def _ignored(text: str) -> Iterator[tuple[str, str]]:
    """Yield names that are no options and that nothing refers to, which uWSGI ignores unless it is told to be
    strict. Each comes with the most similar option, or with nothing.

    Source: uWSGI, "How uWSGI parses config files", Placeholders; "Configuration Options", strict.
    """
    pairs = dict(_pairs_of(text, _SECTION))
    if _value(pairs.get("strict", "no"), default=False):
        # uWSGI itself would report them, and not start
        return
    for key in pairs:
        if key not in _names() and not re.search(rf"%\({'[-_]'.join(map(re.escape, key.split('-')))}\)", text):
            yield key, "".join(get_close_matches(key, _names(), n=1))


def _idle(settings: Settings) -> frozenset[str]:
    """Return the settings without effect unless the path or file asks for the HTTP router by name."""
    return frozenset({"keep_alive", "auto_chunked"} if settings.get("http") != "router" else ())


OPTIONS = NativeOptions(
    programs=("uwsgi", "pyuwsgi"),
    idle=_idle,
    ignored=_ignored,
    underscores=True,
    prefix="UWSGI_",
    at_once=in_threads,
    file="uwsgi.ini",
    file_option="ini",
    file_suffix=".ini",
    read=_read,
    inspector=Path(__file__).with_name("inspector.py"),
    effective=_effective,
    decided={
        Concern.ADDRESS: "http-to|https.*|.*-socket|stats.*|zerg.*|fastrouter.*|subscribe-to",
        Concern.USER: "[ug]id|chroot|cap|unshare",
        Concern.UMASK: "umask",
        Concern.VARIABLES: "(un)?env|(early-)?envdir",
        Concern.LOGS: "((threaded|req|touch)-)?log.*",
        Concern.FOLDER: "chdir2?|pp|python-?path",
        Concern.PATHS: "virtualenv|venv|pyhome|wsgi|wsgi-file|file|callable|mount|plugins?(-dir)?|inherit",
        # the last two lines are programs that it starts beside the app
        Concern.PROCESS: "daemonize2|(safe-)?pidfile2?|master-fifo|stop|((exit-on|fs|touch.*)-)?reload|"
        "(worker-)?reload-mercy|vassals.*|(smart-)?attach-daemon2?|(exec|hook)-.*|(unique-)?cron2?|spooler.*|"
        "mules?|farm",
    },
    rows=(
        Option("processes workers p", setting=processes("Worker processes"), default=1),
        Option("threads", setting=threads("Threads of each worker", 1)),
        Option(
            "cheaper",
            setting=Setting(
                name="cheaper",
                default=0,
                minimum=0,
                maximum=255,
                help="Fewest worker processes: more are started under load, up to processes, and ended without; "
                "0 keeps their number fixed. It must be below processes.",
            ),
        ),
        Option(
            "",
            setting=Setting(
                name="http",
                default="auto",
                choices=("auto", "router", "socket"),
                # Source: uWSGI, "Native HTTP support", on http-socket
                closes={"socket": "uWSGI's http-socket closes after every answer by design: use http=router"},
                origin=Origin.RECOMMENDED,
                help="Who parses HTTP: router is a process of uWSGI's own that keeps clients' connections, "
                "socket is each worker, without keep-alive; auto is router on TCP and socket on unix.",
            ),
        ),
        Option(
            "lazy-apps",
            setting=Setting(
                name="lazy_apps",
                default=False,
                help="Load the app in each worker rather than before they are forked; it costs memory, and apps "
                "that open connections when they are loaded need it.",
            ),
            is_switch=True,
        ),
        Option("", setting=STATIC),
        Option("max-requests R", setting=RECYCLING[0]),
        Option(
            "harakiri t",
            setting=Setting(
                name="harakiri",
                default=0,
                minimum=0,
                maximum=MOST_SECONDS,
                help="Seconds after which a worker is killed that still works on a request; 0 is never.",
            ),
        ),
        Option("", setting=ACCESS_LOG),
        Option("listen l", is_queue=True),
        # listening address and protocol
        Option("http", concern=Concern.ADDRESS, implies=("http", "router")),
        Option("http-socket", concern=Concern.ADDRESS, implies=("http", "socket")),
        Option("socket s", concern=Concern.ADDRESS, protocol="uwsgi"),
        Option("uwsgi-socket", concern=Concern.ADDRESS, protocol="uwsgi"),
        Option("fastcgi-socket", concern=Concern.ADDRESS, protocol="fastcgi"),
        Option("scgi-socket", concern=Concern.ADDRESS, protocol="scgi"),
        Option("protocol", concern=Concern.ADDRESS, protocol=""),
        Option("socket-protocol", concern=Concern.ADDRESS, protocol=""),
        Option(
            "http-keepalive",
            setting=replace(
                KEEP_ALIVE,
                minimum=0,
                only={"http": ("router", "auto")},
                closes={
                    0: "uWSGI's HTTP router closes after every answer without http-keepalive: use keep_alive=5"
                },
                help="Seconds an idle connection is kept, with http=router and auto only; 0 closes it after every "
                "answer, which is uWSGI's own default.",
            ),
            default=0,
            is_switch=True,
        ),
        Option(
            "http-auto-chunked",
            setting=Setting(
                name="auto_chunked",
                default=True,
                origin=Origin.RECOMMENDED,
                only={"http": ("router", "auto")},
                help="Keep connections also where an answer has no length, with http=router and auto only.",
            ),
            default=False,
            is_switch=True,
        ),
        *decided(Concern.ADDRESS, "chmod-socket C"),
        *switches("disable-logging L", Concern.LOGS),
        # paths of the app, its environment and other option files
        Option("ini", concern=Concern.PATHS, reads=_ini_options),
        Option("yaml y", concern=Concern.PATHS, reads=_document_options),
        Option("yml", reads=_document_options),
        Option("json j", concern=Concern.PATHS, reads=_document_options),
        Option("xml x", concern=Concern.PATHS, unreadable=True),
        *switches("manage-script-name", Concern.PATHS),
        *decided(Concern.PATHS, "home H, module w"),
        *switches("die-on-term, need-app, catch-exceptions, strict, master M", Concern.PROCESS),
        *decided(Concern.PROCESS, "daemonize d"),
        Option("py-autoreload py-auto-reload", concern=Concern.PROCESS, is_for_development=True),
        Option("emperor", concern=Concern.PROCESS, is_for_development=True),
        Option("honour-stdin", is_for_development=True),
        *switches(
            "enable-threads T, vacuum, thunder-lock, single-interpreter i, http-chunked-input, memory-report, "
            "py-call-osafterfork, ignore-sigpipe, ignore-write-errors, disable-write-exception, auto-procname"
        ),
        *passed("socket-timeout z, buffer-size b"),
    ),
)
