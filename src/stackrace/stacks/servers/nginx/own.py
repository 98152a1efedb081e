"""nginx's own language: single directives, put into the part of its configuration where they belong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...native_options import OwnLanguage, OwnOption, OwnReading
from .parsing import Directive
from .site import SiteFile
from .site_file import site_file

__all__ = ["DIRECTIVES", "LANGUAGE", "with_directives"]

_OPTIONS = OwnLanguage.options(
    {
        "worker_processes": "workers",
        "worker_connections": "worker_connections",
        "keepalive_timeout": "keep_alive",
        "keepalive": "upstream_connections",
        "proxy_buffering": "buffering",
        "fastcgi_buffering": "buffering",
        "scgi_buffering": "buffering",
        "uwsgi_buffering": "buffering",
        "sendfile": "sendfile",
        "tcp_nopush": "tcp_nopush",
        "open_file_cache": "open_file_cache",
        "gzip": "gzip",
        "access_log": "access_log",
    },
    ends=";{}\n",
    address="listen server_name proxy_pass fastcgi_pass scgi_pass uwsgi_pass grpc_pass proxy_set_header "
    "fastcgi_param scgi_param uwsgi_param ssl_certificate ssl_certificate_key return rewrite mirror",
    user="user",
    logs="error_log log_format",
    paths="root alias include pid lock_file load_module working_directory client_body_temp_path proxy_temp_path "
    "fastcgi_temp_path scgi_temp_path uwsgi_temp_path",
    process="daemon master_process worker_shutdown_timeout",
)

_MAIN = re.compile(
    "debug_points|env|pcre_jit|thread_pool|timer_resolution|worker_(cpu_affinity|priority|rlimit_(core|nofile))"
)
_EVENTS = ("multi_accept", "accept_mutex", "accept_mutex_delay", "use", "worker_aio_requests")


def with_directives(config: str, options: Sequence[OwnOption]) -> str:
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


DIRECTIVES = {
    "workers": "worker_processes",
    "worker_connections": "worker_connections",
    "keep_alive": "keepalive_timeout",
    "sendfile": "sendfile",
    "tcp_nopush": "tcp_nopush",
    "gzip": "gzip",
}
"""The settings that a path may give beside a file, and what the file calls them."""

_UNSAID: dict[str, str | int | bool] = {
    "workers": 1,
    "worker_connections": 512,
    "keep_alive": 75,
    "sendfile": False,
    "tcp_nopush": False,
    "gzip": False,
    "open_file_cache": 0,
    "buffering": True,
    "access_log": False,
    "upstream_keep_alive": False,
}
"""What nginx does where its file says nothing."""
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def _read(text: str, path: Path, folder: Path) -> OwnReading:
    """Return what a configuration of nginx's says. Raises ValueError where nothing in it forwards to an app."""
    site = site_file(text, path, folder)
    settings, said = dict(_UNSAID), set()
    computed: dict[str, str] = {}
    for setting, name in DIRECTIVES.items():
        for directive in _everywhere(site):
            if directive.name == name and directive.args:
                said.add(setting)
                value = _value(directive.args[0], _UNSAID[setting])
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
    return OwnReading(
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


def _value(text: str, unsaid: str | int | bool) -> str | int | bool | None:
    """Return a value as its setting has it; None where only nginx knows it."""
    if isinstance(unsaid, bool):
        return text == "on"
    match = re.fullmatch(r"(\d{1,6})([smh]?)", text)
    number = int(match[1]) * _SECONDS[match[2]] if match else 0
    return number or None


LANGUAGE = replace(_OPTIONS, file="nginx.conf", read_in=_read)
