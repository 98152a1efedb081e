"""Times that a front end's own file sets: how long it waits for its server, and keeps idle connections to it.

Sources: nginx, ngx_http_proxy_module and ngx_http_upstream_module; Apache, mod_proxy; HAProxy, Configuration
Manual, 4.2 and 5.2; Caddy, reverse_proxy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ...app.projects.deployment_command import text_of
from .fronts import Front, found_line

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(\d+)(ms|s|min|m|h|d)?"
_WAITS = {
    "nginx": re.compile(rf"\b(?:proxy|uwsgi|fastcgi|scgi)_read_timeout\s+{_TIME}\s*;"),
    # after a balancer's name, timeout= is the time to wait for a free member
    "apache": re.compile(
        r"(?im)^[ \t]*(?:ProxyTimeout[ \t]+|(?:ProxyPass|BalancerMember)[ \t](?!.*balancer:).*[ \t]timeout=)"
        rf"{_TIME}\b"
    ),
    "haproxy": re.compile(rf"(?m)^[ \t]*timeout[ \t]+server[ \t]+{_TIME}\b"),
    "caddy": re.compile(rf"(?m)^[ \t]*response_header_timeout[ \t]+{_TIME}[ \t]*$"),
}
_PASSES = {
    "nginx": re.compile(r"\b(?:proxy|uwsgi|fastcgi|scgi)_pass\s"),
    "apache": re.compile(
        r"(?im)^[ \t]*(?:ProxyPass[ \t]+(?:\"?/\"?[ \t]+)?|BalancerMember[ \t]+)\"?(?:unix:[^|\s]*\|)?http://.*"
    ),
    # in other modes a client's first request uses a new connection, and the client may repeat later ones
    "haproxy": re.compile(r"(?m)^[ \t]*http-reuse[ \t]+(?:always|aggressive)\b"),
    "caddy": re.compile(r"(?m)^[ \t]*reverse_proxy\s"),
}
_UPSTREAM = re.compile(r"\bupstream\s++[^\s{}]++\s*+\{([^{}]*)\}")
_NGINX_S, _CADDY_S, _HAPROXY_S = 60.0, 120.0, 5.0
"""Default seconds that an idle connection is kept; nginx waits as long for an answer."""
_NO_REUSE = re.compile(r"(?i)disablereuse=on|enablereuse=off|proxy-nokeepalive|proxy-initial-not-pooled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A time that a front end's file sets, with its place."""

    location: tuple[str, int]
    seconds: float
    """Seconds; infinite without a limit."""


def waits_of(front: Front | None, root: Path) -> list[Span]:
    """Return all times that the front end waits for an answer: one place in its file may override another."""
    name, text = _configuration(front, root)
    found = [(match.start(), _seconds(match, 0.0, name)) for match in _all(_WAITS, name, text)]
    if name == "nginx" and not found:
        found = [(match.start(), _NGINX_S) for match in _all(_PASSES, name, text)][:1]
    return [_span(front, text, *each) for each in found]


def kept_by(front: Front | None, root: Path) -> Iterator[Span]:
    """Yield how long the front end keeps idle connections to a server that speaks HTTP."""
    name, text = _configuration(front, root)
    if name == "nginx":
        for upstream in _UPSTREAM.finditer(text) if re.search(r"\bproxy_http_version\s+1\.1\s*;", text) else ():
            said = re.search(rf"\bkeepalive_timeout\s+{_TIME}\s*;", upstream[1])
            if line := re.search(r"\bkeepalive\s+[1-9]", upstream[1]):
                yield _span(front, text, upstream.start(1) + line.start(), _seconds(said, _NGINX_S))
        return
    for passes in _all(_PASSES, name, text):
        if name == "apache" and not _NO_REUSE.search(text):
            yield _span(front, text, passes.start(), _seconds(re.search(rf"[ \t]ttl={_TIME}\b", passes[0]), inf))
        elif name == "haproxy":
            said = re.search(rf"\bpool-purge-delay[ \t]+{_TIME}\b", text)
            yield _span(front, text, passes.start(), _seconds(said, _HAPROXY_S, name))
        elif name == "caddy" and not re.search(r"(?m)^[ \t]*keepalive[ \t]++(?!\d+(?:ms|s|m|h)$)", text):
            said = re.search(rf"(?m)^[ \t]*keepalive[ \t]+{_TIME}$", text)
            yield _span(front, text, (said or passes).start(), _seconds(said, _CADDY_S))


def _configuration(front: Front | None, root: Path) -> tuple[str, str]:
    """Return the name of a front end and its file's text without comments; both empty if the file is not known."""
    if front is None or front.spec is None or front.spec.name not in _WAITS:
        return "", ""
    text, signs = text_of(root / front.file), front.spec.signs
    is_own = front.reading or (signs and signs.forwards and found_line(signs.forwards, text))
    return (front.spec.name, re.sub(r"(?m)^[ \t]*#.*", "", text)) if is_own else ("", "")


def _all(patterns: dict[str, re.Pattern[str]], name: str, text: str) -> Iterator[re.Match[str]]:
    return patterns[name].finditer(text) if name else iter(())


def _seconds(said: re.Match[str] | None, default: float, name: str = "") -> float:
    return int(said[1]) * _SECONDS[said[2] or ("ms" if name == "haproxy" else "s")] if said else default


def _span(front: Front | None, text: str, start: int, seconds: float) -> Span:
    return Span(location=(front.file if front else "", text.count("\n", 0, start) + 1), seconds=seconds)
