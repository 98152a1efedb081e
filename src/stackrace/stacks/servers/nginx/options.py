"""nginx's own directives: their table, and the settings in a user's configuration file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...native_files import Concern, FileReading
from ...native_options import NativeOptions, Option
from ...setting import Origin, Setting, SettingValue
from ..settings import ACCESS_LOG, KEEP_ALIVE, UPSTREAM_KEEP_ALIVE, workers
from .directives import DECIDED, Directive
from .site_file import site_file

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _read(text: str, path: Path, folder: Path) -> FileReading:
    """Return the contents of an nginx configuration. Raises ValueError if nothing in it forwards to an app."""
    site = site_file(text, path, folder)
    # the innermost level, which wins, comes first
    directives = [*site.server, *site.http, *site.events, *site.main]
    module = "proxy" if site.protocol == "http" else site.protocol
    every = (each for top in directives for each in top.walk())
    reading = OPTIONS.reading(_said(directives))
    settings: dict[str, SettingValue] = {
        **reading.settings,
        "upstream_keep_alive": any(each.name == "keepalive" for each in site.upstream),
        "buffering": not any(each.name == f"{module}_buffering" and each.args == ["off"] for each in every),
    }
    # the number of connections kept to the app counts only if a path gives it
    del settings["upstream_connections"]
    return replace(
        reading,
        settings=settings,
        changes=tuple(site.changes),
        omissions=tuple(site.omissions),
        forwards=site.protocol,
        target=site.target,
        files=site.files,
    )


def _said(directives: Sequence[Directive]) -> Iterator[tuple[str, SettingValue | None, str]]:
    for name, setting in OPTIONS.keys.items():
        args = next((each.args for each in directives if each.name == name and each.args), None)
        if args:
            yield setting, _value(args[0], OPTIONS.defaults[setting]), args[0]


def _value(text: str, default: SettingValue) -> SettingValue | None:
    """Return a value in its setting's type; None if only nginx knows it."""
    if isinstance(default, bool):
        return text == "on"
    match = re.fullmatch(r"(\d{1,6})([smh]?)", text)
    number = int(match[1]) * _SECONDS[match[2]] if match else 0
    return number or None


OPTIONS = NativeOptions(
    ends=";{}\n",
    file="nginx.conf",
    read=_read,
    decided=DECIDED
    | {
        # of a file these are read and made ready, a path can only say them beside ours
        Concern.ADDRESS: f"{DECIDED[Concern.ADDRESS]}|.*_pass|proxy_set_header|.*_param|return|rewrite",
        Concern.PATHS: f"{DECIDED[Concern.PATHS]}|root|alias|include",
    },
    rows=(
        Option("worker_processes", setting=workers("Worker processes, each with its own event loop"), default=1),
        Option(
            "worker_connections",
            setting=Setting(
                name="worker_connections",
                default=4096,
                minimum=64,
                maximum=1_000_000,
                origin=Origin.TUNED,
                help="Most connections of each worker, those to the next hop included; nginx itself says 512.",
            ),
            default=512,
        ),
        Option("keepalive_timeout", setting=KEEP_ALIVE, default=75),
        Option("", setting=UPSTREAM_KEEP_ALIVE, default=False),
        Option(
            "keepalive",
            setting=Setting(
                name="upstream_connections",
                default=64,
                maximum=4096,
                origin=Origin.TUNED,
                help="Idle connections that each worker keeps to the next hop, with upstream_keep_alive only.",
            ),
            key="",
        ),
        Option(
            "proxy_buffering fastcgi_buffering scgi_buffering uwsgi_buffering",
            setting=Setting(
                name="buffering",
                default=True,
                help="Take the next hop's answer as fast as it comes and send it on from memory or a file; off "
                "sends each part on at once.",
            ),
            key="",
        ),
        Option(
            "sendfile",
            setting=Setting(
                name="sendfile",
                default=True,
                origin=Origin.RECOMMENDED,
                help="Let the kernel send files; turn it off to see what copying costs.",
            ),
            default=False,
        ),
        Option(
            "gzip",
            setting=Setting(
                name="gzip",
                default=False,
                help='Compress text for clients that accept it: send Accept-Encoding: gzip, with check = "status", '
                "since the app's own answer is longer.",
            ),
        ),
        Option("access_log", setting=ACCESS_LOG, key=""),
    ),
)
