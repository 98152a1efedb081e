"""Sets Django up inside this process, for our one application, whatever the user's environment says."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from django.apps import apps
from django.conf import settings
from django.db import connections

from ..base.errors import StoreError
from .address import Address, PostgresqlDatabase, SqliteFile
from .authors import sign_every_connection

__all__ = ["configure", "connect", "is_read_only"]

_APPLICATION = "stackrace.store"
_BUSY_TIMEOUT_S = 30
"""How long a writer waits while another race writes to the same file."""
_CONNECT_TIMEOUT_S = 5

_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"
"""Readers never wait for a running race, and a commit survives the death of its process at any moment.

NORMAL does not wait for the disk at each commit, so storing a slice does not disturb the next one; only a
power failure can cost the last slices. Source: SQLite, "Write-Ahead Logging", section 3.
"""

_aliases: dict[Address, str] = {}


def configure() -> None:
    """Set Django up, once; later calls do nothing. DJANGO_SETTINGS_MODULE is the user's and is not read."""
    if not settings.configured:
        settings.configure(
            INSTALLED_APPS=[_APPLICATION], LOGGING_CONFIG=None, TIME_ZONE="UTC", USE_I18N=False, USE_TZ=True
        )
    apps.populate(settings.INSTALLED_APPS)
    sign_every_connection()
    if not apps.is_installed(_APPLICATION):
        raise StoreError(f"Django is in use in this process: add {_APPLICATION!r} to its INSTALLED_APPS")


def connect(address: Address) -> str:
    """Make ``address`` known to Django and return its alias; nothing is opened yet."""
    if address not in _aliases:
        alias = f"store{len(_aliases)}"
        known = connections.configure_settings({"default": {}, alias: _database(address)})
        connections.settings[alias] = known[alias]
        _aliases[address] = alias
    return _aliases[address]


def is_read_only(address: Address) -> bool:
    """Tell whether a store is there that can be read and not be written, nor anything beside it."""
    if not isinstance(address, SqliteFile) or not address.path.is_file():
        return False
    return not (os.access(address.path, os.W_OK) and os.access(address.path.parent, os.W_OK))


def _has_log(path: Path) -> bool:
    """Tell whether the last commits are in a log beside the file. Source: SQLite, "Write-Ahead Logging", 5."""
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def _database(address: Address) -> dict[str, object]:
    """Return Django's description of ``address``."""
    match address:
        case SqliteFile(path=path) if is_read_only(address):
            return {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": f"file:{quote(str(path))}?{'mode=ro' if _has_log(path) else 'immutable=1'}",
            }
        case SqliteFile(path=path):
            return {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(path),
                "OPTIONS": {
                    "init_command": _PRAGMAS,
                    "timeout": _BUSY_TIMEOUT_S,
                    "transaction_mode": "IMMEDIATE",
                },
            }
        case PostgresqlDatabase():
            return {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address.name,
                "USER": address.user,
                "PASSWORD": address.password,
                "HOST": address.host,
                "PORT": str(address.port or ""),
                "OPTIONS": {
                    "connect_timeout": str(_CONNECT_TIMEOUT_S),
                    "application_name": "stackrace",  # history tells it beside the user
                    **dict(address.options),
                },
            }
