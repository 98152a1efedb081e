"""Command lines of servers that take all they need as options."""

from __future__ import annotations

from collections.abc import Mapping

from .contract import Endpoint

__all__ = ["bound_to", "words"]


def bound_to(endpoint: Endpoint) -> dict[str, object]:
    """Return the options ``--uds``, or ``--host`` and ``--port``, that make a server listen at ``endpoint``."""
    if endpoint.is_unix:
        return {"--uds": endpoint.path}
    return {"--host": endpoint.host, "--port": endpoint.port}


def words(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return ``options`` as words of a command, each followed by its value."""
    return tuple(str(word) for option in options.items() for word in option)
