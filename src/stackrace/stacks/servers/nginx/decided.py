"""Which of nginx's directives a race decides about, and which it can do nothing with."""

from __future__ import annotations

import re

from ...native_options import Concern

__all__ = ["SERVES_ELSEWHERE", "decided", "unusable"]

_ADDRESS = re.compile(
    "listen|server_name(_in_redirect)?|ssl(_.*)?|http[23](_.*)?|quic(_.*)?|resolver(_timeout)?|proxy_ssl_.*|proxy_bind|"
    "allow|deny|satisfy|auth_basic(_user_file)?|auth_request(_set)?|limit_(req|conn|rate).*|mirror(_.*)?|"
    "add_trailer|early_hints"
)
_LOGS = re.compile("access_log|error_log|log_format|log_not_found|log_subrequest|rewrite_log|open_log_file_cache")
_PATHS = re.compile("pid|lock_file|load_module|working_directory|.*_temp_path|.*_store(_access)?|state")
_PROCESS = re.compile("daemon|master_process|worker_shutdown_timeout|worker_priority|debug_.*")
_CACHE = re.compile("(proxy|uwsgi|fastcgi|scgi)_cache(_.*)?|(proxy|uwsgi|fastcgi|scgi)_no_cache|slice")
_MODULES = re.compile(
    ".*_by_lua(_block|_file)?|lua_.*|js_.*|perl(_.*)?|xslt_.*|xml_entities|image_filter.*|geoip_.*|brotli.*|"
    "passenger_.*|stream|mail|modsecurity.*|more_.*|vhost_traffic_status.*|pagespeed.*|otel_.*|opentracing.*"
)
SERVES_ELSEWHERE = frozenset({"grpc_pass", "memcached_pass"})
"""What forwards in a protocol that no stack has."""


def decided(name: str) -> Concern | None:
    """Return what the directive ``name`` is about that is decided for it; None where it stays."""
    if name == "user":
        return Concern.USER
    by_concern = {Concern.ADDRESS: _ADDRESS, Concern.LOGS: _LOGS, Concern.PATHS: _PATHS, Concern.PROCESS: _PROCESS}
    return next((concern for concern, names in by_concern.items() if names.fullmatch(name)), None)


def unusable(name: str) -> str:
    """Say why a race goes without the directive ``name``; empty where it does not."""
    if _CACHE.fullmatch(name):
        return "a cache would answer in the app's place"
    from crossplane.analyzer import DIRECTIVES

    if _MODULES.fullmatch(name) or name not in DIRECTIVES:
        return "it needs a module that nginx itself does not have"
    return ""
