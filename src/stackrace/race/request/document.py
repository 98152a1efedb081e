"""A request as plain JSON, and back: what a race needs to be set up once more, by another process.

Secrets among the app's variables are left out; they are read again where they come from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ...base.codec import decode, encode, map_paths
from ...base.errors import InputError
from ...base.secrets import secrets_in
from .race_file import read_race_file
from .request import RaceRequest

_SECRETS = "secrets"
"""The names of the variables that are left out."""


def request_document(request: RaceRequest) -> dict[str, object]:
    """Return ``request`` with absolute paths, in types that JSON knows.

    A race may go on from another folder. Links stay: a virtual environment's interpreter is one.
    """
    secret = [name for name, value in request.environment.items() if any(secrets_in(name, value))]
    told = {name: value for name, value in request.environment.items() if name not in secret}
    asked = map_paths(replace(request, environment=told), path=Path.absolute)
    return {**encode(asked), _SECRETS: encode(tuple(secret), tuple[str, ...])}


def request_from(document: object, environ: Mapping[str, str] = os.environ) -> RaceRequest:
    """Undo ``request_document``, with secrets from the race file, or else from ``environ``.

    Raises ValueError for what is no request of this version, InputError where a secret is in neither.
    """
    members = dict(document) if isinstance(document, Mapping) else document
    lacking = members.pop(_SECRETS, []) if isinstance(members, dict) else []
    secret: tuple[str, ...] = decode(tuple[str, ...], lacking, _SECRETS)
    request: RaceRequest = decode(RaceRequest, members, "RaceRequest")
    return replace(request, environment={**request.environment, **_secrets(secret, request.source, environ)})


def _secrets(names: tuple[str, ...], source: Path | None, environ: Mapping[str, str]) -> dict[str, str]:
    known = dict(environ)
    if names and source is not None:
        with suppress(InputError):
            known |= read_race_file(source, lambda stack: None, recordings=False).environment
    if lacking := sorted(name for name in names if name not in known):
        where = "" if source is None else f", or in [app] env of {source},"
        raise InputError(
            f"the values of {', '.join(lacking)} were not kept, as they are secrets: set them in the environment"
            f"{where} and try again"
        )
    return {name: known[name] for name in names}
