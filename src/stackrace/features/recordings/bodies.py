"""The fields and bodies of a HAR entry. Source: HTTP Archive 1.2; fields with an underscore are exporters'.

Exporters disagree about what is optional, null, a number or a string, and some write text that is no valid string.
So a field is read only when asked for: what cannot be read is not there. Numbers come as text.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Mapping, Sequence

from ...measure.engine.url import form_encoded
from .steps import LeftOut, Skip, value_of

Fields = Mapping[str, object]
Pairs = Sequence[tuple[str, str]]


def fields(value: object) -> Fields:
    """Return an object's fields, of null none; anything else makes the entry unreadable."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LeftOut(Skip.UNREADABLE)
    return value


def text(value: object) -> str | None:
    """Return a string, or a number as it is written; None for anything else, and for half a surrogate pair."""
    if not isinstance(value, str):
        return None
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        return None
    return value


def number(value: object) -> float | None:
    """Return a finite number, or what a string holds."""
    written = text(value)
    if written is None or "_" in written:
        return None
    try:
        value_read = float(written)
    except ValueError:
        return None
    return value_read if math.isfinite(value_read) else None


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
_LENGTH = re.compile(r"\+?\d{1,20}", re.ASCII)


def sent(request: Fields, headers: Pairs) -> bytes:
    """Return the request's body; ``headers`` are those recorded.

    A body that the exporter left out, or damaged by taking bytes for text, is a reason to leave the request out: a
    replay would ask something else.
    """
    data = fields(request.get("postData"))
    written = text(data.get("text"))
    if written is None and data.get("text") is not None:
        raise LeftOut(Skip.BODY_DAMAGED)
    if written:
        return _whole(data, written, _content_length(headers))
    if params := pairs(data.get("params")):
        if essence(text(data.get("mimeType")) or "") != FORM:
            raise LeftOut(Skip.BODY_MISSING)
        return _form(params)
    if (number(request.get("bodySize")) or 0) > 0 or (_content_length(headers) or 0) > 0:
        raise LeftOut(Skip.BODY_MISSING)
    return b""


def answered(content: Fields, headers: Pairs) -> bytes | None:
    """Return the answer's body, if a server would send these bytes again to who accepts no content coding.

    An exporter holds text, decoded from whatever the bytes were: ASCII and UTF-8 come back the same. The recorded
    length, where there is one, has the last word: it notices text that was cut, or lost a byte order mark.
    """
    body = decoded(content)
    if body is None or (value_of(headers, "content-encoding") or "identity").lower() != "identity":
        return None
    is_kept = _is_base64(content) or body.isascii()
    if not is_kept and (_LOST.encode() in body or not _is_utf_8(content, headers)):
        return None
    length = _content_length(headers)
    if length is None:
        size = number(content.get("size"))
        length = int(size) if size is not None and size >= 0 else None
    return body if length in (None, len(body)) else None


def decoded(content: Fields) -> bytes | None:
    """Return an answer's text as bytes, whether or not a server would send these bytes again."""
    written = text(content.get("text"))
    if written is None:
        return None
    return _unpacked(written) if _is_base64(content) else written.encode()


def _content_length(headers: Pairs) -> int | None:
    """Return Content-Length as a number."""
    value = value_of(headers, "content-length")
    return int(value) if value is not None and _LENGTH.fullmatch(value) else None


def essence(media_type: str) -> str:
    """Return the media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def _whole(data: Fields, written: str, length: int | None) -> bytes:
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


def _form(params: Pairs) -> bytes:
    return "&".join(f"{form_encoded(name)}={form_encoded(value)}" for name, value in params).encode()


def _is_utf_8(content: Fields, headers: Pairs) -> bool:
    exported = value_of(headers, "content-type")
    full_type = (text(content.get("mimeType")) or "" if exported is None else exported).lower()
    _, names_charset, charset = full_type.partition("charset=")
    if names_charset:
        return charset.lstrip('" ').startswith(("utf-8", "utf8"))
    # Source: RFC 8259 section 8.1
    return essence(full_type).endswith("json")


def _is_base64(data: Fields) -> bool:
    return (text(data.get("encoding")) or "").lower() == "base64"


def _unpacked(written: str) -> bytes | None:
    """Decode with or without padding and line breaks. Source: RFC 4648 section 4, RFC 2045 section 6.8.

    Bits that no encoder leaves over (RFC 4648 section 3.5) mean that symbols were cut off or changed.
    """
    symbols = re.sub(r"[ \t\n\r\f]+", "", written)
    bare = symbols.removesuffix("=").removesuffix("=")
    padded = bare + "=" * (-len(bare) % 4)
    try:
        body = base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return body if base64.b64encode(body).decode() == padded else None
