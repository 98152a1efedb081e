"""The routes of every framework, asked without importing any."""

import asyncio
import functools
from functools import partial
from types import SimpleNamespace

import pytest
from asgiref.wsgi import WsgiToAsgi
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler

from stackrace.app.examiner.messages import ObjectReport
from stackrace.app.examiner.survey import _interface_of, _with_names, object_report, survey


def pages(application):
    return [*survey(application, is_django=False).pages]


def rule(path, methods=("GET",), arguments=(), defaults=None):
    return SimpleNamespace(rule=path, methods=set(methods), arguments=set(arguments), defaults=defaults)


def flask(*rules):
    return SimpleNamespace(url_map=SimpleNamespace(iter_rules=lambda: rules))


def route(path, methods=("GET",), **more):
    return SimpleNamespace(path=path, methods=set(methods), **more)


def test_flasks_rules_without_arguments_are_pages():
    application = flask(
        rule("/"),
        rule("/<int:id>", arguments=["id"]),
        rule("/new", ["POST"]),
        rule("/all/", ["GET"], ["p"], {"p": 1}),
    )
    assert pages(application) == ["/", "/all/"]


def test_starlettes_routes_and_mounts_are_pages():
    mount = SimpleNamespace(path="/api", routes=[route("/items"), route("/items/{id}")])
    hidden = route("/hidden", include_in_schema=False)
    own = route("/swagger", endpoint=SimpleNamespace(__module__="fastapi.applications"))
    routes = [route("/"), mount, hidden, own, route("/x", ["POST"])]
    assert pages(SimpleNamespace(routes=routes)) == ["/", "/api/items", "/hidden"]


def test_bottles_routes_are_pages():
    routes = [SimpleNamespace(rule="/a", method="GET"), SimpleNamespace(rule="/b", method="POST")]
    assert pages(SimpleNamespace(routes=routes)) == ["/a"]


@pytest.mark.parametrize(
    "application",
    [
        flask(rule("/"), rule("/items/<int:id>/", arguments=["id"]), rule("/", arguments=["host"])),
        SimpleNamespace(routes=[route("/"), SimpleNamespace(path="/items", routes=[route("/<int:id>/")])]),
        SimpleNamespace(routes=[SimpleNamespace(rule="/items/<int:id>/", method="GET"), route("/a*/<b>")]),
    ],
    ids=["flask", "starlette", "bottle"],
)
def test_routes_with_parameters_are_no_pages_but_told(application):
    assert survey(application, is_django=False).routes == ("/items/<int:id>/",)


@pytest.mark.parametrize(
    ("regex", "path"),
    [
        (r"items/(?P<pk>[^/.]+)/", "items/<pk>/"),
        (r"a/(\d+(\d))/(?P<day>[)(]\))/\Z", "a/<value>/<day>/"),
        (r"plain/", "plain/"),
    ],
)
def test_a_regular_expression_is_told_as_a_path(regex, path):
    assert _with_names(regex) == path


def test_the_application_inside_of_middleware_is_asked():
    inner = flask(rule("/inner"))
    assert pages(SimpleNamespace(app=SimpleNamespace(wsgi_app=inner))) == ["/inner"]


def test_an_application_that_tells_nothing_has_no_pages():
    assert pages(lambda environ, start_response: []) == []


def test_an_application_that_fails_to_tell_has_no_pages():
    class Odd:
        @property
        def url_map(self):
            return 5

    assert pages(Odd()) == []


def test_folders_of_static_files_are_found_where_they_exist(tmp_path):
    (tmp_path / "css").mkdir()
    folder = tmp_path / "css"
    application = flask()
    application.static_folder, application.static_url_path = str(folder), "/static"
    assert survey(application, is_django=False).static == {"/static/": folder}
    application.static_folder = str(tmp_path / "nowhere")
    assert survey(application, is_django=False).static == {}
    mounted = SimpleNamespace(path="/files", app=SimpleNamespace(directory=folder), routes=None)
    assert survey(SimpleNamespace(routes=[mounted]), is_django=False).static == {"/files/": folder}


def test_a_route_to_a_single_static_file_is_no_folder(tmp_path):
    statics = SimpleNamespace(directory=str(tmp_path))
    routes = [route("/favicon.ico", app=statics), SimpleNamespace(path="/files", app=statics, routes=[])]
    assert survey(SimpleNamespace(routes=routes), is_django=False).static == {"/files/": tmp_path}


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
    assert object_report(WsgiToAsgi(wsgi)) == ObjectReport("asgi", "asgiref.wsgi.WsgiToAsgi")
