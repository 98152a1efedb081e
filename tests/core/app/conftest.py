"""Examinations and replies that nobody had to make."""

from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.app.app import EntryKind, entry_of
from stackrace.app.examination import Examination, Exchange
from stackrace.app.examiner.messages import DjangoFacts, PythonFacts, Reply
from stackrace.measure.workload import Request
from stackrace.stacks.setting import Interface

PYTHON = PythonFacts(version="3.11.2", python=Path("python"), base=Path("python3"), site_packages=())
DJANGO = DjangoFacts(
    allowed_hosts=("shop.example.com",),
    static_url="/static/",
    static_root=None,
    https_header="",
    routes=("/admin/", "/books/"),
)


@pytest.fixture
def reply():
    """Return a maker of replies: ``reply(200, b"body", location="/x")``."""

    def make(status=200, body=b"hello", traceback="", **headers):
        return Reply(status=status, headers=tuple(headers.items()), body=body, traceback=traceback)

    return make


@pytest.fixture
def examination():
    """Return a maker of examinations with one exchange; keywords change the facts of Django."""

    def make(first, second=None, path="/", via="", added=(), static=None, django=True, debug=False, **facts):
        exchange = Exchange(request=Request(path=path), first=first, second=second or first, via=via, added=added)
        return Examination(
            entry=entry_of(EntryKind.DJANGO, "shop.settings"),
            interface=Interface.WSGI,
            python=PYTHON,
            django=replace(DJANGO, **facts) if django else None,
            debug=debug,
            host="shop.example.com",
            exchanges=(exchange,),
            static=static or {},
        )

    return make
