"""A session file made of a browser's export: only the entries that are replayed, with the app's secrets masked."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ... import __version__
from ...base.errors import InputError
from ...base.secrets import masked
from ...measure.recording import Recording
from .bodies import decoded
from .recorded_sessions import recording_of, steps_in


def keep(source: Path, out: Path) -> Recording:
    """Write the session of the HAR file ``source`` to ``out``, whole or not at all, and return it.

    Entries that are not replayed, such as those of other servers, are left out. The file contains cookies and typed
    text, so only its owner may read it. Raises InputError if nothing can be replayed, for an access log, and if
    ``out`` cannot be written.
    """
    steps = steps_in(source)
    if steps.origin is None:
        raise InputError(f"{source} is an access log, which races as it is: stackrace run --session {source}")
    try:
        session = _session(steps.entries)
        descriptor, name = tempfile.mkstemp(dir=out.absolute().parent, prefix=f".{out.name}.")
        draft = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(session)
            draft.replace(out)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
    except OSError as error:
        raise InputError(
            f"the session cannot be written to {out}: {error.strerror}; name another place with --out"
        ) from error
    except RecursionError as error:
        raise InputError(f"{source} is nested too deeply; race it as it is: --session {source}") from error
    return recording_of(steps)


def _session(entries: Sequence[Mapping[str, object]]) -> bytes:
    kept = [{**entry, "response": _masked(entry["response"])} for entry in entries]
    log = {"version": "1.2", "creator": {"name": "Stackrace", "version": __version__}, "entries": kept}
    return json.dumps({"log": log}, indent=1).encode()


def _masked(said: Any) -> Any:
    """Return a part of the app's answer with secrets masked, also in a Base64 body."""
    match said:
        case {"encoding": "base64", "text": str()} if (content := decoded(said)) is not None:
            body = content.decode("utf-8", "surrogateescape")
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
