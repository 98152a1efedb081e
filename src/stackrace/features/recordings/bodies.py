"""The fields and bodies of a HAR entry. Source: HTTP Archive 1.2; fields with an underscore are exporters'.

Exporters disagree about what is optional, null, a number or a string, and some write text that is no valid string.
So a field is read only when asked for: what cannot be read is not there.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence

from ...measure.engine.url import form_encoded
from .recorded_steps import LeftOut, Skip, value_of

Fields = Mapping[str, object]
Pairs = Sequence[tuple[str, str]]


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def fields(value: object) -> Fields:
    """Return an object's fields, of null none; anything else makes the entry unreadable."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LeftOut(Skip.UNREADABLE)
    return value


def text(value: object) -> str | None:
    """Return a string, or a number as one; None for anything else, and for half a surrogate pair."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    written = str(value)
    return written if written.isascii() or _SURROGATE.search(written) is None else None


def number(value: object) -> float | None:
    """Return a finite number, or what a string holds."""
    try:
        read = float(text(value) or "")
    except ValueError:
        return None
    return read if math.isfinite(read) else None


def pairs(value: object) -> Pairs:
    """Return names with their values, as headers and forms are listed; unreadable ones are passed over."""
    if not isinstance(value, list) or not all(isinstance(pair, dict) for pair in value):
        return ()
    read = ((text(pair.get("name")), text(pair.get("value"))) for pair in value)
    return tuple((name, content) for name, content in read if name is not None and content is not None)


FORM = "application/x-www-form-urlencoded"
PAGE_TYPES = ("text/html", "application/xhtml+xml")
_LOST = "\N{REPLACEMENT CHARACTER}"
"""Stands where a byte could not be made text: what it was is lost."""
_UPLOAD_HEADERS = re.compile(r"content-(?:type|length):", re.IGNORECASE | re.ASCII)


def sent(request: Fields, headers: Pairs) -> bytes:
    """Return the request's body; ``headers`` are those recorded.

    A body that the exporter left out, or damaged by taking bytes for text, is a reason to leave the request out: a
    replay would ask something else.
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


def answered(content: Fields, headers: Pairs) -> bytes | None:
    """Return the answer's body, if a server would send these bytes again to who accepts no content coding.

    An exporter holds text, decoded from whatever the bytes were. It is the same bytes if it has their number.
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
    return _unpacked(written) if _is_base64(content) else written.encode()


def essence(media_type: str) -> str:
    """Return the media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def _whole(data: Fields, written: str, length: float | None) -> bytes:
    """Return text that is as long as was said; where nothing was said, text without a sign of loss."""
    encoded = _is_base64(data)
    body = _unpacked(written) if encoded else _without_upload_headers(written).encode()
    if body is None or (length is not None and length != len(body)):
        raise LeftOut(Skip.BODY_DAMAGED)
    if length is None and not encoded and _LOST in written:
        raise LeftOut(Skip.BODY_DAMAGED)
    return body


def _without_upload_headers(written: str) -> str:
    """Firefox puts the headers of a form in front of its body.

    No form begins so by itself: its fields hold no bare line breaks, and a multipart body begins with its boundary.
    """
    head, blank_line, body = written.partition("\r\n\r\n")
    return body if blank_line and _UPLOAD_HEADERS.match(head) else written


def _is_base64(data: Fields) -> bool:
    return (text(data.get("encoding")) or "").lower() == "base64"


def _unpacked(written: str) -> bytes | None:
    try:
        return base64.b64decode(written, validate=True)
    except ValueError:
        return None
