"""What mitmproxy does besides while it records: each side sees the address that it knows, and each answer is told.

Run by mitmproxy's own interpreter, so nothing of ours is imported. The order comes as JSON in STACKRACE_RECORDING.
Source: mitmproxy's documentation, "Event Hooks".
"""

from __future__ import annotations

import json
import os
import re
import sys
from urllib.parse import urlsplit

from mitmproxy import http

_ORDER = json.loads(os.environ["STACKRACE_RECORDING"])
_BROWSER: str = _ORDER["browser"]
"""The proxy's origin, where the browser is."""
_APP: str = _ORDER["app"]
"""The app's origin as the app knows itself."""
_UPSTREAM: str = _ORDER["upstream"]
"""Where it really listens."""
_HEADERS: list[list[str]] = _ORDER["headers"]
"""Added to each request, as a front end in production would."""

_OURS = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.IGNORECASE)
"""How a browser calls this machine; the port may be another where one is forwarded."""
_REFUSED = ":no_entry:"

_TEXT = ("text/", "application/json", "application/javascript", "application/xhtml+xml")


def request(flow: http.HTTPFlow) -> None:
    """Say to the app what it would hear without a proxy.

    It hears its own name, so it cannot itself refuse a page that leads a name of its own here (DNS rebinding): only
    the names of this machine get through. Source: RFC 9110, section 15.5.20.
    """
    if not _OURS.fullmatch(flow.request.host_header or ""):
        flow.marked = _REFUSED
        words = f"This is a recording proxy for {_BROWSER}/ and takes no other host than 127.0.0.1 and localhost.\n"
        flow.response = http.Response.make(421, words, {"Content-Type": "text/plain; charset=utf-8"})
        return
    flow.request.host_header = urlsplit(_APP).netloc
    for name in ("Origin", "Referer"):
        value = flow.request.headers.get(name, "")
        if value == _BROWSER or value.startswith(_BROWSER + "/"):
            flow.request.headers[name] = _APP + value.removeprefix(_BROWSER)
    for name, value in _HEADERS:
        flow.request.headers[name] = value


def responseheaders(flow: http.HTTPFlow) -> None:
    """Let events through as they come; everything else is held until it is whole."""
    if flow.response and flow.response.headers.get("Content-Type", "").startswith("text/event-stream"):
        flow.response.stream = True


def response(flow: http.HTTPFlow) -> None:
    """Keep the browser with the proxy, and tell what was answered."""
    answer = flow.response
    assert answer is not None
    if flow.marked == _REFUSED:
        return
    if "Location" in answer.headers:
        answer.headers["Location"] = _for_browser(answer.headers["Location"])
    answer.headers.pop("Strict-Transport-Security", None)
    answer.headers.set_all("Set-Cookie", [_plain(cookie) for cookie in answer.headers.get_all("Set-Cookie")])
    if answer.headers.get("Content-Type", "").startswith(_TEXT) and answer.raw_content:
        _rewrite(answer)
    seen = {"method": flow.request.method, "path": flow.request.path, "status": answer.status_code}
    sys.stdout.write(json.dumps(seen) + "\n")
    sys.stdout.flush()


def _rewrite(answer: http.Response) -> None:
    try:
        content = answer.get_content(strict=True)
    except ValueError:
        return
    if content and (rewritten := _for_browser_bytes(content)) != content:
        answer.content = rewritten


def _for_browser(text: str) -> str:
    for origin in (_APP, _UPSTREAM):
        if text == origin or text.startswith(origin + "/"):
            return _BROWSER + text.removeprefix(origin)
    return text


def _for_browser_bytes(content: bytes) -> bytes:
    for origin in {_APP, _UPSTREAM}:
        content = content.replace(origin.encode() + b"/", _BROWSER.encode() + b"/")
    return content


def _plain(cookie: str) -> str:
    """A browser returns it to the proxy, which has another name and no https."""
    parts = cookie.split(";")
    kept = [part for part in parts[1:] if part.strip().partition("=")[0].lower() not in ("secure", "domain")]
    return ";".join([parts[0], *kept])
