"""Why a server closes connections that were to be kept, and the way out."""

from __future__ import annotations

from ..model.stack import Hop, Stack

__all__ = ["why_closed"]


def why_closed(stack: Stack) -> str:
    """Return the remedy for ``stack``, whose first hop is the one that the client's connections end at.

    Source: gunicorn, Design, "Sync Workers"; uWSGI, "Native HTTP support", on http-socket.
    """
    front = stack.hops[0]
    keeps = _never_keeps(front)
    anew = "keep_alive = false in [load], so that all stacks connect anew"
    if keeps:
        return f"{keeps}; or put a front end before it; or {anew}"
    return (
        f"does the app send Connection: close, or are {front.server}'s workers recycled after some requests? "
        f"If it should stay so: {anew}"
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
