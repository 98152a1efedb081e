"""Hypercorn's configuration file, as the options of its command line that say the same."""

from __future__ import annotations

import tomllib

__all__ = ["toml_options"]

_NAMES = {
    "accesslog": "access-logfile",
    "access_log_format": "access-logformat",
    "errorlog": "error-logfile",
    "logconfig": "log-config",
    "loglevel": "log-level",
    "keep_alive_timeout": "keep-alive",
    "pid_path": "pid",
    "use_reloader": "reload",
}
_SAME = [
    "backlog",
    "bind",
    "ca_certs",
    "certfile",
    "ciphers",
    "debug",
    "graceful_timeout",
    "group",
    "insecure_bind",
    "keyfile",
    "keyfile_password",
    "max_requests",
    "max_requests_jitter",
    "quic_bind",
    "read_timeout",
    "root_path",
    "server_names",
    "statsd_host",
    "statsd_prefix",
    "umask",
    "user",
    "verify_mode",
    "websocket_ping_interval",
    "worker_class",
    "workers",
]
"""Those that its command line calls the same, with dashes."""


def toml_options(text: str, _: str) -> list[tuple[str, str | None]]:
    """Return the options of a TOML document, and of Python that reads like one. Raises ValueError for another."""
    options: list[tuple[str, str | None]] = []
    for key, value in tomllib.loads(text).items():
        name = _NAMES.get(key, key.replace("_", "-") if key in _SAME else key if "_" in key else f"{key}_")
        if value is not False:
            said = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            options.append((name, None if value is True else said))
    return options
