"""What every answer of the site goes out with: text as text, and no leave to do more than show it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from ...base.text import printable

__all__ = ["guarded"]

_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)

Respond = Callable[[HttpRequest], HttpResponse]


def guarded(respond: Respond) -> Respond:
    """Return Django's middleware that cleans pages and sets the headers which browsers obey.

    Source: Content Security Policy Level 3; Fetch Standard, X-Content-Type-Options; RFC 7034.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = respond(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.content = printable(response.content.decode("utf-8", "replace")).encode()
        response["Content-Security-Policy"] = _policy(response.content)
        response["X-Content-Type-Options"] = "nosniff"
        response["X-Frame-Options"] = "DENY"
        response["Referrer-Policy"] = "no-referrer"
        return response

    return answer


def _policy(page: bytes) -> str:
    """Allow the page's own style sheet, which stands in its head before anything foreign, and nothing else."""
    style = _STYLE.search(page)
    allowed = "'none'"
    if style is not None:
        # browsers hash a style sheet with the line ends that they read
        digest = hashlib.sha256(style[1].replace(b"\r\n", b"\n")).digest()
        allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        f"default-src 'none'; style-src {allowed}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
