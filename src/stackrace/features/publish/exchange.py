"""Publishing races, and copying published ones: nothing that exists is ever changed on either side.

A published race is a JSON document for people and views, with most of the measurements in an attachment. ``race``
has everything except the slices and memory samples, whose number grows with the race. The attachment has them, one
line of JSON per launch, so that the document stays far below CouchDB's limit of 8 MB however long the race was.
``launches_sha256`` is the digest of the launches: equal documents mean equal races.
Source: Apache CouchDB, "Base Configuration", max_document_size (attachments are not counted).
"""

from __future__ import annotations

import base64
import getpass
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...base import ids
from ...base.codec import decode, dumps, encode, map_paths
from ...base.errors import StoreError
from ...base.secrets import masked
from ...measure.launch import Launch
from ...race.results.race import Race
from .couchdb import Conflict, Database, Listing, values_in

_TYPE = "stackrace-race"
_SCHEMA = 2
"""Version of this format; documents with another version are not read."""

_ATTACHMENT = "launches.jsonl.gz"
_MOST_BYTES = 64 << 20
"""The most bytes of unpacked measurements: many times those of a long race."""
_MOST_VALUES = 4_000_000
"""The most JSON values of the measurements: each takes far more memory than the two bytes that may encode it."""
_MOST_LAUNCH_VALUES = 200_000
"""The most JSON values of one launch: a validation error for each of them would take even more memory."""

_OTHER_LAUNCHES = "its launches are not those of its attachment"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    document: Mapping[str, Any]
    """The document without its revision and attachments."""
    packed: bytes
    """The attachment, compressed."""

    @property
    def body(self) -> dict[str, Any]:
        """The whole document in one request, so that it is published entirely or not at all."""
        data = base64.b64encode(self.packed).decode("ascii")
        return {**self.document, "_attachments": {_ATTACHMENT: {"content_type": "application/gzip", "data": data}}}


def published(race: Race) -> _Published:
    """Return ``race`` as it is published; the same race gives an equal document on every machine.

    The document has neither the folders of files on this machine nor its user's name.
    """
    race = Anonymizer().race(race)
    lines = (dumps(encode(launch), sort_keys=True) + "\n" for launch in race.launches)
    bulk = "".join(lines).encode("ascii")
    document = {
        "_id": race.id,
        "type": _TYPE,
        "schema": _SCHEMA,
        "race": encode(replace(race, launches=_without_slices(race.launches))),
        "launches_sha256": hashlib.sha256(bulk).hexdigest(),
    }
    return _Published(document=document, packed=gzip.compress(bulk, mtime=0))


def race_from(document: Mapping[str, Any], packed: bytes) -> Race:
    """Return the race that was published as ``document`` with the attachment ``packed``.

    Raises StoreError for anything else: another type, another schema, a value of a wrong type, a damaged or
    foreign attachment.
    """
    identifier = str(document.get("_id"))
    if document.get("type") != _TYPE:
        raise StoreError(f"document {identifier!r} is no race")
    schema = document.get("schema")
    if isinstance(schema, int) and schema > _SCHEMA:
        raise StoreError(
            f"race {identifier!r} was published by a newer Stackrace (schema {schema}); "
            "upgrade with: pip install --upgrade stackrace"
        )
    try:
        if schema != _SCHEMA:
            raise ValueError(f"its schema is {schema!r}, not {_SCHEMA}")
        bulk = _unpacked(packed)
        if hashlib.sha256(bulk).hexdigest() != document.get("launches_sha256"):
            raise ValueError(f"its attachment {_ATTACHMENT} is not the one it was published with")
        if values_in(bulk) > _MOST_VALUES:
            raise ValueError(f"its attachment {_ATTACHMENT} holds more than {_MOST_VALUES} values")
        race: Race = decode(Race, document.get("race"))
        if bulk.count(b"\n") != len(race.launches):
            raise ValueError(_OTHER_LAUNCHES)
        launches = tuple(_launch(line) for line in io.BytesIO(bulk))
        _must_agree(identifier, race, launches)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"race {identifier!r} was not published by a Stackrace: {error or 'too deep'}") from error
    return replace(race, launches=launches)


def _launch(line: bytes) -> Launch:
    if values_in(line) > _MOST_LAUNCH_VALUES:
        raise ValueError(f"a launch has more than {_MOST_LAUNCH_VALUES} values")
    launch: Launch = decode(Launch, json.loads(line), "launch")
    return launch


def _without_slices(launches: tuple[Launch, ...]) -> tuple[Launch, ...]:
    """Return the launches without slices and memory samples, which a race's document does not have."""
    return tuple(replace(launch, slices=(), memory=()) for launch in launches)


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        bulk = unpacker.decompress(packed, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"its attachment {_ATTACHMENT} is damaged: {error}") from error
    if not unpacker.eof:
        raise ValueError(f"its attachment {_ATTACHMENT} is cut off, or larger than {_MOST_BYTES >> 20} MiB")
    return bulk


def _must_agree(identifier: str, race: Race, launches: tuple[Launch, ...]) -> None:
    """Raise ValueError unless all parts belong to one race, and all ids are valid."""
    if race.id != identifier:
        raise ValueError("its id is not that of its document")
    if not 0 < race.difference < 1:
        raise ValueError(f"its difference is {race.difference}, no share")
    for each in (race.id, *(launch.id for launch in launches)):
        if not ids.PATTERN.fullmatch(each):
            raise ValueError(f"{each[:40]!r} is no id")
    if encode(_without_slices(launches)) != encode(race.launches):
        raise ValueError(_OTHER_LAUNCHES)


_ABROAD = "usr|etc|bin|sbin|lib|lib64|dev|proc|sys|nix"
"""Folders that every machine has, below which nothing is private."""
_PRIVATE = (
    "home|root|Users|srv|opt|var|tmp|mnt|media|data|work|workspace|workspaces|code|src|app|apps|www|project|projects|"
    "private|Volumes|export|scratch|builds"
)
"""Folders that contain projects. Elsewhere a path of two parts may be a URL's; longer paths count as files."""
_NAME = r"[^\s/'\"<>|:;,()\[\]{}=`\x00-\x1f]"
_METHODS = "".join(rf"(?<!\b{method} )" for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_FILE = re.compile(
    rf"{_METHODS}(?<![\w/.~…*\\-])/(?:(?:{_PRIVATE})(?:/{_NAME}+)+|(?!(?:{_ABROAD})/){_NAME}+(?:/{_NAME}+){{2,}})/?"
)
_FILE_URL = re.compile(rf"\bfile:(?://)?(?=/)(?:/{_NAME}+)+")
_USERS_FOLDER = re.compile(r"/(?:home|Users)/[^/]+/?|/root/?")
_COMMON = {"root", "nobody", "user", "admin", "www-data", "ubuntu", "debian", "runner", "app", "django", "python"}
"""User names that identify nobody, and occur in configurations for other reasons."""


class Anonymizer:
    """Rewriter of records: only the last name of a file's path stays, and the user's name is removed.

    Rewriting again changes nothing, so that a fetched race is published unchanged.
    """

    def __init__(self, home: Path | None = None, user: str | None = None) -> None:
        self._home = str(home or Path.home())
        name = user or _user()
        plain = name.isidentifier() and len(name) > 2 and name not in _COMMON
        self._user = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") if plain else None

    def race(self, race: Race) -> Race:
        """Return ``race`` with all its text rewritten, except enum members."""
        urls = self._urls(race.urls)
        workloads = {self.text(name): self._urls(urls) for name, urls in race.workloads.items()}
        return replace(map_paths(race, text=self.text), urls=urls, workloads=workloads)

    def text(self, text: str) -> str:
        """Return ``text`` without the folders of files, the home folder, the user's name, and passwords in URLs."""
        text = masked(text)
        if "/" in text:
            text = _FILE_URL.sub(lambda match: f"file:…/{_last_name(match[0])}", text)
            if len(self._home) > 1:
                text = re.sub(rf"{re.escape(self._home)}(?![\w.-])/?(?=$|[\s'\":;,)])", "~", text)
            text = _FILE.sub(_shortened, text)
        return text if self._user is None else self._user.sub("USER", text)

    def _urls(self, urls: tuple[str, ...]) -> tuple[str, ...]:
        """Return the URLs with the paths of recordings rewritten; paths of requests are no files, and stay."""
        return tuple(self.text(url) if url.startswith("file:") else masked(url) for url in urls)


def _shortened(match: re.Match[str]) -> str:
    path = match[0]
    return "~" if _USERS_FOLDER.fullmatch(path) else f"…/{_last_name(path)}"


def _last_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


_MOST_TROUBLES = 100
"""Number of failed documents after which no more are requested: each may take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Results for the requested races."""

    taken: tuple[str, ...]
    """Ids of the races that were copied."""
    known: tuple[str, ...]
    """Ids of the races that were stored here before."""
    troubles: tuple[str, ...]
    """One sentence for each race that could not be copied."""


def publish(race: Race, database: Database) -> bool:
    """Put ``race`` into ``database``; return False if the same race is there already.

    Raises StoreError if the race still runs, or if its id is published with different content.
    """
    if race.ending is None:
        raise StoreError(
            f"race {race.id} has not ended: it is running, or was killed. A published race never changes, so "
            "let it end first"
        )
    sent = published(race)
    there = database.get(race.id)
    if there is None:
        try:
            database.put(sent.body)
            return True
        except Conflict:
            there = database.get(race.id)
    if there is None or not _agrees(there, race):
        raise StoreError(
            f"race {race.id} is in {database} with different content, which was not changed. One of "
            f"the two was altered; see: stackrace history {race.id}"
        )
    return False


def published_ids(database: Database) -> Listing:
    """Return the ids that may be those of races; the database may have other documents, too."""
    listing = database.listing()
    return replace(listing, ids=tuple(dict.fromkeys(each for each in listing.ids if ids.PATTERN.fullmatch(each))))


def fetch(
    wanted: tuple[str, ...],
    database: Database,
    stored: Callable[[str], Race | None],
    keep: Callable[[Race], None],
    *,
    named: bool,
) -> Fetched:
    """Copy the races with the ids ``wanted`` that are not stored here yet.

    ``stored`` returns the stored race of an id, or None; ``keep`` stores a race. If a race cannot be copied, the
    others still are. Documents that are no races are ignored, but reported if they were ``named``.
    """
    taken: list[str] = []
    known: list[str] = []
    troubles: list[str] = []
    for place, identifier in enumerate(wanted):
        if len(troubles) >= _MOST_TROUBLES:
            troubles.append(f"{len(wanted) - place} more were not tried after so many")
            break
        try:
            document = database.get(identifier)
            if document is None and named:
                raise StoreError(f"there is no race {identifier} in {database}")
            if document is None or (not named and document.get("type") != _TYPE):
                continue
            here = stored(identifier)
            if here is None:
                keep(race_from(document, database.attachment(document["_id"], _ATTACHMENT)))
                taken.append(identifier)
            elif _agrees(document, here):
                known.append(identifier)
            else:
                troubles.append(
                    f"race {identifier} is here with different content, which was not changed. One of the two "
                    f"was altered; see: stackrace history {identifier}"
                )
        except StoreError as error:
            troubles.append(f"{identifier}: {error.message}")
    return Fetched(taken=tuple(taken), known=tuple(known), troubles=tuple(troubles))


def _agrees(document: Mapping[str, Any], ours: Race) -> bool:
    """Return True if ``ours`` would be published as ``document``, apart from the fields that a database adds."""
    content = {name: each for name, each in document.items() if name == "_id" or not name.startswith("_")}
    return content == published(ours).document
