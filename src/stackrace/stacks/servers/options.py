"""Command lines of servers that take all they need as options."""

from __future__ import annotations

from collections.abc import Mapping

from ..stack import SettingValue
from .site import Endpoint, Site

__all__ = ["bound_to", "own", "recycling", "words"]


def bound_to(endpoint: Endpoint) -> dict[str, object]:
    """Return the options ``--uds``, or ``--host`` and ``--port``, that make a server listen at ``endpoint``."""
    if endpoint.is_unix:
        return {"--uds": endpoint.path}
    return {"--host": endpoint.host, "--port": endpoint.port}


def recycling(settings: Mapping[str, SettingValue], prefix: str = "--") -> dict[str, object]:
    """Return the options that replace workers after a number of requests, if the settings ask for it."""
    names = [name for name in ("max_requests", "max_requests_jitter") if settings[name]]
    return {prefix + name.replace("_", "-"): settings[name] for name in names}


def own(site: Site) -> tuple[str, ...]:
    """Return the options that a stack's path gives in the server's own language, as words of its command."""
    return tuple(
        f"--{option.name}" if option.value is None else f"--{option.name}={option.value}" for option in site.options
    )


def words(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return ``options`` as words of a command, each followed by its value."""
    return tuple(str(word) for option in options.items() for word in option)
