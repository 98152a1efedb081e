"""Why a server closes connections that were to be kept, and the way out."""

from __future__ import annotations

from ..model.stack import Hop, Stack
from .words import RACE, Words

__all__ = ["why_closed"]


def why_closed(stack: Stack | None, words: Words = RACE) -> str:
    """Return the remedy for ``stack``, whose first hop is the one that the client's connections end at.

    None: nothing is known of the server.

    Source: gunicorn, Design, "Sync Workers"; uWSGI, "Native HTTP support", on http-socket.
    """
    front = stack.hops[0] if stack else None
    keeps = _never_keeps(front) if front else ""
    if keeps:
        return f"{keeps}; or put a front end before it; or {words.close}"
    owner = f"{front.server}'s" if front else "the server's"
    return (
        f"does the app send Connection: close, or are {owner} workers recycled after some requests? "
        f"If it should stay so: {words.close}"
    )


def _never_keeps(front: Hop) -> str:
    """Name a server that closes by design, and its setting that does not; empty for any other."""
    settings = front.settings
    if front.server == "gunicorn" and settings.get("class", "sync") == "sync":
        return "gunicorn's sync worker closes after every answer by design: use class=gthread"
    if front.server == "uwsgi" and settings.get("http") == "socket":
        return "uWSGI's http-socket closes after every answer by design: use http=router"
    if front.server == "apache" and settings.get("keep_alive") is False:
        return "Apache is set to keep no connections: use keep_alive=on, with mpm=event"
    return ""
