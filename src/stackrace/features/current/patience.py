"""Times that a front end's own file sets: how long it waits for its server, and keeps idle connections to it.

Sources: nginx, ngx_http_proxy_module and ngx_http_upstream_module; Caddy, reverse_proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...app.projects.deployment_command import text_of
from .fronts import Front, found_line

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(\d+)(ms|s|m|h|d)?"
_WAITS = re.compile(rf"\b(?:proxy|uwsgi|fastcgi|scgi)_read_timeout\s+{_TIME}\s*;")
_PASSES = re.compile(r"\b(?:proxy|uwsgi|fastcgi|scgi)_pass\s")
_UPSTREAM = re.compile(r"\bupstream\s++[^\s{}]++\s*+\{([^{}]*)\}")
_OF_CADDY = re.compile(r"(?m)^[ \t]*reverse_proxy\s")
_NGINX_S, _CADDY_S = 60.0, 120.0
"""Default seconds that an idle connection is kept; nginx waits as long for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time that a front end's file sets, with its place."""

    location: tuple[str, int]
    seconds: float


def waits_of(front: Front | None, root: Path) -> list[Span]:
    """Return all times that nginx waits for an answer: one place in its file may override another."""
    text = _configuration(front, root, "nginx")
    found = [(match.start(), _seconds(match, 0.0)) for match in _WAITS.finditer(text)]
    found = found or [(match.start(), _NGINX_S) for match in _PASSES.finditer(text)][:1]
    return [_span(front, text, *each) for each in found]


def kept_by(front: Front | None, root: Path) -> Iterator[Span]:
    """Yield how long nginx or Caddy keeps idle connections to a server that speaks HTTP."""
    text = _configuration(front, root, "nginx")
    for upstream in _UPSTREAM.finditer(text) if re.search(r"\bproxy_http_version\s+1\.1\s*;", text) else ():
        said = re.search(rf"\bkeepalive_timeout\s+{_TIME}\s*;", upstream[1])
        if line := re.search(r"\bkeepalive\s+[1-9]", upstream[1]):
            yield _span(front, text, upstream.start(1) + line.start(), _seconds(said, _NGINX_S))
    text = _configuration(front, root, "caddy")
    if not re.search(r"(?m)^[ \t]*keepalive[ \t]++(?!\d+(?:ms|s|m|h)$)", text):
        for passes in _OF_CADDY.finditer(text):
            said = re.search(rf"(?m)^[ \t]*keepalive[ \t]+{_TIME}$", text)
            yield _span(front, text, (said or passes).start(), _seconds(said, _CADDY_S))


def _configuration(front: Front | None, root: Path, name: str) -> str:
    """Return the text of the front end's file without comments; empty unless it is ``name`` and the file is its."""
    if front is None or front.spec is None or front.spec.name != name:
        return ""
    text, signs = text_of(root / front.file), front.spec.signs
    is_own = front.reading or (signs and signs.forwards and found_line(signs.forwards, text))
    return re.sub(r"(?m)^[ \t]*#.*", "", text) if is_own else ""


def _seconds(said: re.Match[str] | None, default: float) -> float:
    return int(said[1]) * _SECONDS[said[2] or "s"] if said else default


def _span(front: Front | None, text: str, start: int, seconds: float) -> Span:
    return Span(location=(front.file if front else "", text.count("\n", 0, start) + 1), seconds=seconds)
