"""nginx's own language: single directives, put into the part of its configuration where they belong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...model.own import OwnLanguage, OwnOption

__all__ = ["LANGUAGE", "with_directives"]

LANGUAGE = OwnLanguage.options(
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
