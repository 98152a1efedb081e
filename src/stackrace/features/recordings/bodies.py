"""The fields and bodies of a HAR entry. Source: HTTP Archive 1.2.

Exporters add fields that begin with an underscore. They disagree about which fields are optional, null, numbers or
strings, and some write text that is no valid string. So each field is read only when it is needed, and counts as
missing if it cannot be read.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence

from ...measure.engine.url import form_encoded
from .recorded_steps import LeftOut, Skip, value_of

Fields = Mapping[str, object]
_Pairs = Sequence[tuple[str, str]]


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def fields(value: object) -> Fields:
    """Return an object's fields, none for null; raises LeftOut for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LeftOut(Skip.UNREADABLE)
    return value


def text(value: object) -> str | None:
    """Return a string, or a number as a string; None for anything else, and for half a surrogate pair."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    written = str(value)
    return written if written.isascii() or _SURROGATE.search(written) is None else None


def number(value: object) -> float | None:
    """Return a finite number, which may be written as a string; None for anything else."""
    try:
        read = float(text(value) or "")
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def pairs(value: object) -> _Pairs:
    """Return the names and values of a HAR list of headers or form fields, without unreadable ones."""
    if not isinstance(value, list) or not all(isinstance(pair, dict) for pair in value):
        return ()
    read = ((text(pair.get("name")), text(pair.get("value"))) for pair in value)
    return tuple((name, content) for name, content in read if name is not None and content is not None)


FORM = "application/x-www-form-urlencoded"
PAGE_TYPES = ("text/html", "application/xhtml+xml")
_LOST = "\N{REPLACEMENT CHARACTER}"
"""Character in place of bytes that are no valid text: these bytes are lost."""
_UPLOAD_HEADERS = re.compile(r"content-(?:type|length):", re.IGNORECASE | re.ASCII)


def sent(request: Fields, headers: _Pairs) -> bytes:
    """Return the request's body; ``headers`` are the recorded ones.

    Raises LeftOut for a body that the exporter left out, or damaged by treating bytes as text: a replay would send
    something else.
    """
    data, length = fields(request.get("postData")), number(value_of(headers, "content-length"))
    written = text(data.get("text"))
    if written is None and data.get("text") is not None:
        raise LeftOut(Skip.BODY_DAMAGED)
    if written:
        return _whole(data, written, length)
    # Charles lists a form's fields, and leaves out its text
    params = pairs(data.get("params"))
    if params and essence(text(data.get("mimeType")) or "") == FORM:
        return "&".join(f"{form_encoded(name)}={form_encoded(value)}" for name, value in params).encode()
    if params or (number(request.get("bodySize")) or 0) > 0 or (length or 0) > 0:
        raise LeftOut(Skip.BODY_MISSING)
    return b""


def answered(content: Fields, headers: _Pairs) -> bytes | None:
    """Return the answer's body, if a server would send these bytes again to a client without content codings.

    An exporter stores text that it decoded from the bytes. The text gives the same bytes if their number is the
    same.
    """
    body = decoded(content)
    if body is None or (value_of(headers, "content-encoding") or "identity").lower() != "identity":
        return None
    length = number(value_of(headers, "content-length"))
    if length is None and (size := number(content.get("size"))) is not None and size >= 0:
        length = size
    is_certain = _is_base64(content) or body.isascii() or (length is not None and _LOST.encode() not in body)
    return body if is_certain and length in (None, len(body)) else None


def decoded(content: Fields) -> bytes | None:
    """Return an answer's text as bytes, whether or not a server would send these bytes again."""
    written = text(content.get("text"))
    if written is None:
        return None
    return _from_base64(written) if _is_base64(content) else written.encode()


def essence(media_type: str) -> str:
    """Return the media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def _whole(data: Fields, written: str, length: float | None) -> bytes:
    """Return the body; raises LeftOut if its length is not the recorded one, or if it shows that bytes are lost."""
    encoded = _is_base64(data)
    body = _from_base64(written) if encoded else _without_upload_headers(written).encode()
    if body is None or (length is not None and length != len(body)):
        raise LeftOut(Skip.BODY_DAMAGED)
    if length is None and not encoded and _LOST in written:
        raise LeftOut(Skip.BODY_DAMAGED)
    return body


def _without_upload_headers(written: str) -> str:
    """Return a form's body without its headers, which Firefox writes in front of it.

    No form begins like such headers: its fields have no bare line breaks, and a multipart body begins with its
    boundary.
    """
    head, blank_line, body = written.partition("\r\n\r\n")
    return body if blank_line and _UPLOAD_HEADERS.match(head) else written


def _is_base64(data: Fields) -> bool:
    return (text(data.get("encoding")) or "").lower() == "base64"


def _from_base64(written: str) -> bytes | None:
    try:
        return base64.b64decode(written, validate=True)
    except ValueError:
        return None
