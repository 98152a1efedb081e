"""``session = "bundled:browse"`` in a race file: the recording that comes with the bundled app."""

from __future__ import annotations

from dataclasses import replace

from ..apps import DJANGO, bundled
from ..apps.bundled_session import session_file
from ..spec.request import RaceRequest

__all__ = ["with_bundled_sessions"]


def with_bundled_sessions(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with every ``bundled:NAME`` as its recording's file; InputError for an unknown name."""
    sessions = bundled(request.bundled or DJANGO).sessions
    return replace(
        request,
        session=None if request.session is None else session_file(request.session, sessions),
        workloads=tuple(
            one if one.session is None else replace(one, session=session_file(one.session, sessions))
            for one in request.workloads
        ),
    )
