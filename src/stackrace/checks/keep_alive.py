"""Why a server closes connections that were to be kept."""

from __future__ import annotations

from ..model.stack import Stack

__all__ = ["why_closed"]


def why_closed(stack: Stack | None) -> str:
    """Say why the first hop, at which the client's connections end, closes by design; empty where it does not.

    Source: gunicorn, Design, "Sync Workers"; uWSGI, "Native HTTP support", on http-socket.
    """
    if stack is None:
        return ""
    server, settings = stack.hops[0].server, stack.hops[0].settings
    if server == "gunicorn" and settings.get("class", "sync") == "sync":
        return "gunicorn's sync worker closes after every answer by design: use class=gthread"
    if server == "uwsgi" and settings.get("http") == "socket":
        return "uWSGI's http-socket closes after every answer by design: use http=router"
    if server == "apache" and settings.get("keep_alive") is False:
        return "Apache is set to keep no connections: use keep_alive=on, with mpm=event"
    return ""
