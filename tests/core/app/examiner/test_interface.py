"""What an object is that is given as the app is told by its arguments, and by whether it is awaited."""

import asyncio
import functools
from functools import partial

import pytest
from asgiref.wsgi import WsgiToAsgi
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler

from stackrace.app.examiner.survey import _interface_of, object_report


def wsgi(environ, start_response): ...


async def asgi(scope, receive, send): ...


class Wsgi:
    def __init__(self, environ, start_response): ...

    def __iter__(self): ...


class Called:
    def __init__(self, call):
        self.call = call

    def __call__(self, scope, receive, send):
        return self.call(scope, receive, send)


class Asgi:
    async def __call__(self, scope, receive, send): ...


class Double:
    def __init__(self, scope): ...


@functools.wraps(asgi)
def wrapped(*arguments, **more): ...


OBJECTS = {
    "wsgi": (
        wsgi,
        Wsgi,
        WSGIHandler.__call__.__get__(object()),
        lambda environ, start: [],
        functools.partial(wsgi),
    ),
    "asgi": (asgi, Asgi(), Called(asgi), wrapped, partial(asgi), ASGIHandler.__call__.__get__(object())),
    "factory": (lambda: wsgi, lambda *, config=None: wsgi),
    "none": (None, "app", 5, asyncio.sleep, type("Site", (), {"__call__": lambda self: self})()),
    "": (lambda *arguments: None, Double, lambda scope: asgi, print, lambda environ, start, more=None: []),
}


@pytest.mark.parametrize("interface", OBJECTS)
def test_objects_are_told_apart(interface):
    assert {_interface_of(application) for application in OBJECTS[interface]} == {interface}


def test_a_wrapper_of_the_standard_library_of_asgi_is_one():
    assert object_report(WsgiToAsgi(wsgi)) == {"interface": "asgi", "type": "asgiref.wsgi.WsgiToAsgi"}
