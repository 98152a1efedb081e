"""A stack's wrong answer in words: what differs, why it may, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

from ..app import unlike
from ..base.numbers import count
from ..base.secrets import masked
from ..measure.workload import Answer, AnswerOrigin, Request, Sameness
from .wire import Reply, difference

__all__ = ["accusation", "under_load"]

_SAFE = ("GET", "HEAD", "OPTIONS")
_REFUSED_FORMS = (400, 403, 419, 422)
"""How Flask-WTF, Django, Laravel and Rails refuse a form whose token they did not give."""

_CSRF = (
    "its CSRF token is refused: a visitor sends the token of the page before, so the HAR file must hold that page "
    "with its body, from the login on, and begin without cookies; or exempt the view in a copy of the app"
)
_NO_FRONT_END = (
    "the app itself does not have this static file, only a front end sends it: race stacks with a front end, or "
    "have the app send its files (WhiteNoise)"
)

_DEBUG = (
    "the app is in its debug mode, in which pages may depend on who asks (Django's INTERNAL_IPS; behind a socket "
    "nobody is internal): race it with DEBUG = False"
)

_SHOWN = 60
"""So many bytes of a wrong answer are shown."""
_BEFORE = 12
"""So many of them stand before the first that differs."""


def accusation(request: Request, reply: Reply, golden: Answer, *, debug: bool = False) -> str:
    """Say how ``reply`` differs from the right answer, and what is likely to help.

    ``debug`` tells whether the app is in its debug mode.
    """
    said = difference(reply, golden)
    if reply.excess:
        return said
    if golden.origin is AnswerOrigin.FILE and reply.status == 404:
        return f"status 404: {_NO_FRONT_END}"
    if _is_refused_form(request, reply, golden):
        return f"{said}; {_CSRF}"
    if golden.status is not None and reply.status != golden.status:
        return said
    said += _where(reply, golden)
    if debug:
        said = f"{said}; {_DEBUG}"
    words = unlike.in_words(golden.body, reply.body) if golden.body else ""
    if not words:
        return said
    rule = (
        f'check = {{ "{request.path}" = "status" }} (--check \'{request.path} status\') or a text it must contain'
    )
    return f"{said}; {'or ' if debug else ''}{words}: say what a right answer is with {rule}"


def under_load(name: str, reply: Reply, golden: Answer, known: Mapping[str, Answer]) -> str:
    """Say what is wrong with ``reply`` to the page ``name``, whose answer was right before the load.

    ``known`` holds the right answers of all pages, by name: an answer may be another page's.
    """
    said = difference(reply, golden)
    if reply.excess:
        return said
    if golden.status is not None and reply.status != golden.status:
        return f"{said}: {_excerpt(_masked(reply.body))}" if reply.body else said
    if other := next((other for other, answer in known.items() if other != name and _is_of(reply, answer)), ""):
        return f"it got the answer to {other}"
    if golden.body != reply.body and golden.body.startswith(reply.body):
        return f"its answer is cut off after {count(len(reply.body))} of {count(len(golden.body))} bytes"
    return said + _where(reply, golden)


def _where(reply: Reply, golden: Answer) -> str:
    """Show where a body that must repeat begins to differ."""
    if golden.sameness is not Sameness.BODY or not golden.body:
        return ""
    shown = [_masked(body) for body in (reply.body, golden.body)]
    alike = unlike.common_bytes(*shown)
    texts = (_excerpt(body[max(0, alike - _BEFORE) :]) for body in shown)
    return f": from byte {count(alike)} on {' where the app has '.join(texts)}"


def _is_of(reply: Reply, answer: Answer) -> bool:
    return bool(answer.body) and answer.sameness is Sameness.BODY and reply.body == answer.body


def _masked(body: bytes) -> bytes:
    """Return ``body`` without secrets, as it is otherwise: an excerpt may begin or end within one."""
    return masked(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _excerpt(body: bytes) -> str:
    return repr(body[:_SHOWN].decode("utf-8", "replace"))


def _is_refused_form(request: Request, reply: Reply, golden: Answer) -> bool:
    if request.method in _SAFE or reply.status not in _REFUSED_FORMS or reply.status == golden.status:
        return False
    return reply.status == 403 or b"csrf" in reply.body.lower() or b"authenticity" in reply.body.lower()
