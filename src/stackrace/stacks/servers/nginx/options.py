"""nginx's own directives: the table of them, single ones in a configuration of ours, and what a file's own say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ...native_options import Concern, FileReading, GivenOption, NativeOptions, Option, decided
from ...stack import Origin, Setting
from ..settings import ACCESS_LOG, KEEP_ALIVE, UPSTREAM_KEEP_ALIVE, workers
from .directives import Directive
from .site_file import site_file
from .site_parts import SiteFile

__all__ = ["OPTIONS", "with_directives"]

_MAIN = re.compile(
    "debug_points|env|pcre_jit|thread_pool|timer_resolution|worker_(cpu_affinity|priority|rlimit_(core|nofile))"
)
_EVENTS = ("multi_accept", "accept_mutex", "accept_mutex_delay", "use", "worker_aio_requests")


def with_directives(config: str, options: Sequence[GivenOption]) -> str:
    """Return ``config`` with ``options`` as directives, each in place of those of its name that stand there."""
    for name in {option.name for option in options}:
        config = re.sub(rf"^ *{re.escape(name)}\s[^\n]*;\n", "", config, flags=re.MULTILINE)
    for option in reversed(options):
        line = f"{option.name} {option.value if option.value is not None else 'on'};\n"
        if _MAIN.fullmatch(option.name):
            config = line + config
        else:
            block = "events {\n" if option.name in _EVENTS else "http {\n"
            config = config.replace(block, f"{block}    {line}", 1)
    return config


_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _read(text: str, path: Path, folder: Path) -> FileReading:
    """Return what a configuration of nginx's says. Raises ValueError where nothing in it forwards to an app."""
    site = site_file(text, path, folder)
    # how many connections it keeps to the app counts only where its file says it
    defaults = {name: value for name, value in OPTIONS.defaults.items() if name != "upstream_connections"}
    settings, said = dict(defaults), set()
    computed: dict[str, str] = {}
    for name, setting in OPTIONS.keys.items():
        for directive in _everywhere(site):
            if directive.name == name and directive.args:
                said.add(setting)
                value = _value(directive.args[0], defaults[setting])
                settings.pop(setting, None)
                computed.pop(setting, None)
                if value is None:
                    computed[setting] = directive.args[0]
                else:
                    settings[setting] = value
                break
    settings["upstream_keep_alive"] = any(each.name == "keepalive" for each in site.upstream)
    if any(each.name == f"{_MODULES[site.protocol]}_buffering" and each.args == ["off"] for each in _all(site)):
        settings["buffering"] = False
    return FileReading(
        settings=settings,
        said=frozenset(said),
        computed=computed,
        changes=tuple(site.changes),
        not_taken=tuple(site.not_taken),
        forwards=site.protocol,
        target=site.target,
        files=site.files,
    )


_MODULES = {"http": "proxy", "uwsgi": "uwsgi", "fastcgi": "fastcgi", "scgi": "scgi"}


def _everywhere(site: SiteFile) -> Sequence[Directive]:
    """Return the directives of all levels, those that decide first."""
    return [*site.server, *site.http, *site.events, *site.main]


def _all(site: SiteFile) -> Sequence[Directive]:
    return [inner for directive in _everywhere(site) for inner in directive.walk()]


def _value(text: str, default: str | int | bool) -> str | int | bool | None:
    """Return a value as its setting has it; None where only nginx knows it."""
    if isinstance(default, bool):
        return text == "on"
    match = re.fullmatch(r"(\d{1,6})([smh]?)", text)
    number = int(match[1]) * _SECONDS[match[2]] if match else 0
    return number or None


OPTIONS = NativeOptions(
    ends=";{}\n",
    file="nginx.conf",
    read_in=_read,
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
            "tcp_nopush",
            setting=Setting(
                name="tcp_nopush",
                default=True,
                origin=Origin.RECOMMENDED,
                help="Send the head of a file's answer in one packet with the file's start, with sendfile only.",
            ),
            default=False,
        ),
        Option(
            "open_file_cache",
            setting=Setting(
                name="open_file_cache",
                default=0,
                minimum=0,
                maximum=1_000_000,
                help="Files that nginx keeps open, where it serves files; 0 is none.",
            ),
            key="",
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
        *decided(
            Concern.ADDRESS, "listen, server_name, proxy_pass, fastcgi_pass, scgi_pass, uwsgi_pass, grpc_pass"
        ),
        *decided(Concern.ADDRESS, "proxy_set_header, fastcgi_param, scgi_param, uwsgi_param, ssl_certificate"),
        *decided(Concern.ADDRESS, "ssl_certificate_key, return, rewrite, mirror"),
        *decided(Concern.USER, "user"),
        *decided(Concern.LOGS, "error_log, log_format"),
        *decided(Concern.PATHS, "root, alias, include, pid, lock_file, load_module, working_directory"),
        *decided(Concern.PATHS, "client_body_temp_path, proxy_temp_path, fastcgi_temp_path, scgi_temp_path"),
        *decided(Concern.PATHS, "uwsgi_temp_path"),
        *decided(Concern.PROCESS, "daemon, master_process, worker_shutdown_timeout"),
    ),
)
