"""One CouchDB database over HTTP: the five requests that publishing needs, and their errors.

The standard library's client is enough: one connection per request, no session.
Source: Apache CouchDB, "API Reference": /{db}, /{db}/{docid}, /{db}/_all_docs.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from ...base.errors import InputError, StoreError
from ...base.process import Background

_USER = "STACKRACE_COUCHDB_USER"
_PASSWORD = "STACKRACE_COUCHDB_PASSWORD"
_EXAMPLE = "https://user:password@couch.example:6984/races"
_NAME = re.compile(r"[a-z][a-z0-9_$()+/-]*")
"""Source: Apache CouchDB, "Databases": PUT /{db}."""


_TIMEOUT_S = 10.0
"""The longest wait for the next bytes of the server."""
_LONGEST_S = 600.0
"""The longest time for one answer, so that a slow server does not block us for ever."""
_MOST_BYTES = 64 << 20
_MOST_DOCUMENT_BYTES = 8_000_000
"""The largest document that is parsed: no CouchDB takes larger ones by default."""
_MOST_VALUES = 500_000
"""The most values of a document: each takes far more memory than the two bytes that it may be written in."""
_PAGE = 500
_MOST_IDS = 20_000
"""The most ids that are listed: a server might send ids for ever."""


class Conflict(Exception):  # noqa: N818 (an answer, not a failure)
    """The document exists already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Ids of the documents in a database."""

    ids: tuple[str, ...]
    cut: str = ""
    """Reason why the list is not complete, beginning with a verb; empty if it is complete."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body as a JSON object; empty if it is none. Raises StoreError if it is too large."""
        if len(self.body) > _MOST_DOCUMENT_BYTES or values_in(self.body) > _MOST_VALUES:
            raise StoreError(
                f"a document has more than {_MOST_DOCUMENT_BYTES // 10**6} MB or {_MOST_VALUES} values: "
                "it is no race"
            )
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database; make it with ``at``. Requests raise StoreError with a remedy; no message shows credentials."""

    secure: bool
    host: str
    port: int
    path: str
    """Percent-encoded path of the database, perhaps behind a proxy's prefix."""
    user: str
    password: str = field(repr=False)

    @classmethod
    def at(cls, url: str, environment: Mapping[str, str] | None = None) -> Database:
        """Return the database that ``url`` names; user and password may be in the environment instead.

        Raises InputError with an example; the message never repeats the URL, which may contain a password.
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
        return cls(
            secure=secure,
            host=parts.hostname,
            port=port or (443 if secure else 80),
            path="".join(f"/{quote(each, safe='')}" for each in (*prefix, name)),
            user=unquote(parts.username or "") or environment.get(_USER, ""),
            password=unquote(parts.password or "") or environment.get(_PASSWORD, ""),
        )

    def __str__(self) -> str:
        """Return the URL without credentials, so that it may be shown."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.path}"

    def open(self, *, create: bool = False) -> None:
        """Require that the database exists and is a CouchDB; with ``create``, create it if it does not exist."""
        answer = self._ask("GET", "")
        if answer.status == 404 and answer.document.get("error") == "not_found":
            if not create:
                raise StoreError(f"there is no database {self}; correct the URL, or create it with --create")
            made = self._ask("PUT", "")
            if made.status not in (201, 202, 412):  # 412: somebody else was faster
                raise self._trouble(made, "does not allow creating the database")
        elif answer.status != 200 or "db_name" not in answer.document:
            raise self._trouble(answer, "is no CouchDB")

    def get(self, identifier: str) -> dict[str, Any] | None:
        """Return the document, its attachments as stubs; None if there is none."""
        answer = self._ask("GET", f"/{quote(identifier, safe='')}")
        if answer.status == 404:
            return None
        if answer.status != 200 or "_id" not in answer.document:
            raise self._trouble(answer, f"does not return document {identifier}")
        if answer.document["_id"] != identifier:
            raise StoreError(f"{self} returns another document than {identifier}, which was asked for")
        return answer.document

    def attachment(self, identifier: str, name: str) -> bytes:
        """Return an attachment of the document."""
        answer = self._ask("GET", f"/{quote(identifier, safe='')}/{quote(name, safe='')}")
        if answer.status != 200:
            raise self._trouble(answer, f"does not return {name} of document {identifier}")
        return answer.body

    def put(self, document: dict[str, Any]) -> None:
        """Store a new document; raises Conflict if the database has one with its id."""
        body = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
        answer = self._ask("PUT", f"/{quote(document['_id'], safe='')}", body)
        if answer.status == 409:
            raise Conflict
        if answer.status not in (201, 202):
            raise self._trouble(answer, "rejects the race")

    def listing(self) -> Listing:
        """Return the ids of all documents in alphabetical order, without design documents.

        The list is cut after ``_MOST_IDS``, or if a later page cannot be read. Raises StoreError if the first page
        cannot be read.
        """
        ids: list[str] = []
        after = ""
        while len(ids) < _MOST_IDS:
            try:
                rows = self._page(after)
            except StoreError as error:
                if not after:
                    raise
                return Listing(ids=tuple(ids), cut=f"broke off: {error.message}")
            page = [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
            ids += [each for each in page if not each.startswith("_")]
            if len(rows) < _PAGE or not page or page[-1] <= after:
                return Listing(ids=tuple(ids))
            after = page[-1]
        return Listing(ids=tuple(ids), cut=f"was cut after {len(ids)} documents")

    def _page(self, after: str) -> list[Any]:
        start = f"&startkey={quote(json.dumps(after))}&skip=1" if after else ""
        answer = self._ask("GET", f"/_all_docs?limit={_PAGE}{start}")
        rows = answer.document.get("rows")
        if answer.status != 200 or not isinstance(rows, list):
            raise self._trouble(answer, "does not list its documents")
        return rows

    def _ask(self, method: str, path: str, body: bytes | None = None) -> _Answer:
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=_TIMEOUT_S)
        try:
            connection.request(method, self.path + path, body, self._headers())
            # a server that sends the head byte by byte could take a minute for a line
            head = Background(connection.getresponse, daemon=True)
            if not head.wait(_TIMEOUT_S):
                raise TimeoutError
            return _read(head.finish())
        except ssl.SSLCertVerificationError as error:
            raise StoreError(
                f"{self}: its certificate is not trusted ({error.verify_message}); use the host name of the "
                "certificate, or trust its authority with the variable SSL_CERT_FILE"
            ) from error
        except TimeoutError as error:
            raise StoreError(f"{self} does not answer in time; try again later") from error
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise StoreError(f"{self} cannot be reached ({reason}); start it, or correct the URL") from error
        except http.client.HTTPException as error:
            raise StoreError(f"{self} does not speak HTTP ({type(error).__name__}); correct the URL") from error
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "*/*", "Content-Type": "application/json"}
        if self.user:
            pair = f"{self.user}:{self.password}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"  # RFC 7617
        return headers

    def _trouble(self, answer: _Answer, otherwise: str) -> StoreError:
        reason = str(answer.document.get("reason", ""))[:200]
        match answer.status:
            case 401 | 403 if self.user:
                message = f"refuses user {self.user!r}; correct the password, or ask for the right"
            case 401 | 403:
                message = f"wants a user: put user:password@ into the URL, or set {_USER} and {_PASSWORD}"
            case 413:
                message = "finds the race too large; raise its max_document_size and max_http_request_size"
            case status if 300 <= status < 400:
                message = "sends us elsewhere; give the URL it really has"
            case status:
                message = f"{otherwise} (status {status}); check that the URL names a CouchDB database"
        return StoreError(f"{self} {message}", detail=reason)


def values_in(text: bytes) -> int:
    """Return the largest number of values that the JSON ``text`` may have."""
    return text.count(b",") + text.count(b"[") + text.count(b"{") + text.count(b":")


def _read(response: http.client.HTTPResponse) -> _Answer:
    deadline = time.monotonic() + _LONGEST_S
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES or time.monotonic() > deadline:
            raise StoreError(
                f"an answer is longer than {_MOST_BYTES >> 20} MiB or {_LONGEST_S:g} s: it is not a race"
            )
    return _Answer(response.status, b"".join(pieces))
