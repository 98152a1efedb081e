"""What a proxy recorded, kept as a file that is a session to race."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...base.errors import InputError
from ...base.secrets import masked
from ...measure.recording import Recording
from .recording import read_recording
from .recording_proxy import Side

__all__ = ["keep"]


def keep(har: bytes, side: Side, out: Path) -> Recording:
    """Write what was recorded to ``out``, whole or not at all, and return it as it will be replayed.

    It holds cookies and what was typed, so nobody else may read it; the app's secrets in its answers are masked.
    Raises InputError where nothing was recorded that can be replayed, or where it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=out.absolute().parent, prefix=f".{out.name}.")
        draft = Path(name)
    except OSError as error:
        raise _unwritable(out, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_as_the_app_knows_it(har, side))
        recording = read_recording(draft)
        draft.replace(out)
    except OSError as error:
        raise _unwritable(out, error) from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    return recording


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"the recording cannot be written to {out}: {error.strerror}; name another place with --out")


def _as_the_app_knows_it(har: bytes, side: Side) -> bytes:
    """Return the document with the app's own origin in its URLs, and without what only the front end added."""
    document = json.loads(har)
    entries = [entry for entry in document["log"]["entries"] if entry["response"].get("status")]
    if not entries:
        raise InputError("nothing was recorded: no request was answered; browse through the proxy while it runs")
    added = {name.lower() for name, _ in side.headers}
    for entry in entries:
        request = entry["request"]
        parts = urlsplit(request["url"])
        request["url"] = side.origin + parts._replace(scheme="", netloc="").geturl()
        request["headers"] = [pair for pair in request["headers"] if pair["name"].lower() not in added]
        _keep_bytes(request)
        entry["response"] = _masked(entry["response"])
    document["log"]["entries"] = entries
    return json.dumps(document, indent=1).encode()


def _masked(said: Any) -> Any:
    """Return what the app said without its secrets; a body in Base64, too, where it has any."""
    match said:
        case {"encoding": "base64", "text": str() as text}:
            body = base64.b64decode(text).decode("utf-8", "surrogateescape")
            if (shown := masked(body)) == body:
                return said
            return {**said, "text": base64.b64encode(shown.encode("utf-8", "surrogateescape")).decode()}
        case dict():
            return {name: _masked(each) for name, each in said.items()}
        case list():
            return [_masked(each) for each in said]
        case str():
            return masked(said)
    return said


def _keep_bytes(request: dict[str, Any]) -> None:
    """Write a body that is no text, such as an upload, in Base64: mitmproxy makes each byte a letter of Latin-1."""
    data = request.get("postData") or {}
    letters = data.get("text") or ""
    if not letters.isascii() and len(letters) == request.get("bodySize") and max(letters) <= "\xff":
        data |= {"text": base64.b64encode(letters.encode("latin-1")).decode(), "encoding": "base64"}
