"""Where races are published: a database's URL as a value; credentials are kept, and never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from ...base.errors import InputError

__all__ = ["PASSWORD", "USER", "CouchAddress", "couch_address"]

USER = "STACKRACE_COUCHDB_USER"
PASSWORD = "STACKRACE_COUCHDB_PASSWORD"
_EXAMPLE = "https://user:password@couch.example:6984/races"
_NAME = re.compile(r"[a-z][a-z0-9_$()+/-]*")
"""Source: Apache CouchDB, "Databases": PUT /{db}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CouchAddress:
    """One database."""

    secure: bool
    host: str
    port: int
    path: str
    """Quoted; a proxy's prefix may lead it."""
    user: str = ""
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        """The URL without credentials: fit to be shown."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.path}"


def couch_address(url: str, environment: Mapping[str, str] | None = None) -> CouchAddress:
    """Return the address ``url`` names; user and password may be in the environment instead.

    Raises InputError with an example; the message never repeats the URL, which may hold a password.
    """
    environment = os.environ if environment is None else environment
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError(f"this is not the URL of a database; write it like {_EXAMPLE}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[\x00-\x20\x7f]", url):
        raise InputError(f"the database's URL must start with http:// or https:// and a host: {_EXAMPLE}")
    if parts.query or parts.fragment:
        raise InputError(f"the database's URL ends with the database's name, without ? and #: {_EXAMPLE}")
    *prefix, name = [unquote(each) for each in parts.path.strip("/").split("/")]
    if not _NAME.fullmatch(name):
        raise InputError(
            f"the URL must end with a database's name: a-z first, then a-z, 0-9 and _$()+-/, as in {_EXAMPLE}"
        )
    secure = parts.scheme == "https"
    return CouchAddress(
        secure=secure,
        host=parts.hostname,
        port=port or (443 if secure else 80),
        path="".join(f"/{quote(each, safe='')}" for each in (*prefix, name)),
        user=unquote(parts.username or "") or environment.get(USER, ""),
        password=unquote(parts.password or "") or environment.get(PASSWORD, ""),
    )
