"""An https-only Django site is told by its proxy's header that the client spoke TLS, through every stack.

Nothing of what a proxy says of the client is lost on the way, whoever stands in between.
"""

import json

import pytest
from tests.chains import single_hops, two_hops
from tests.integration.farm import UNRELIABLE, Farm, Subject, ask, launchable, of_one_process, some_of
from tests.unprotected import examine

from stackrace.app.app import App, Entry, EntryKind, entry_of
from stackrace.app.environment import app_environment
from stackrace.app.golden import golden
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Request
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
BOTH = frozenset({Interface.WSGI, Interface.ASGI})
WSGI, ASGI = frozenset({Interface.WSGI}), frozenset({Interface.ASGI})


CHAINS = two_hops(SPECS, WSGI)
LINKS = {tuple(chain.split("/")[:2]): chain for chain in reversed(CHAINS)}.values()
"""One chain for each protocol of each front end."""
CHOOSY = [chain for chain in CHAINS if chain.endswith(("/gunicorn", "/waitress"))]
"""Of two hosts: of one that minds words that contradict each other, and one that minds a header in two lines."""
BEHIND = [f"haproxy/http/{front}/http/waitress" for front in SPECS if "http" in SPECS[front].forwards]

SOME = [
    *single_hops(SPECS, WSGI),
    "gunicorn:class=gthread",
    "gunicorn:class=asgi",
    # of a header in two lines it takes the last
    "haproxy/http/cheroot",
    "openlitespeed/http/bjoern",
    # behind another front end
    "haproxy/http/nginx/http/waitress",
]
STACKS = [
    *SOME,
    *single_hops(SPECS, ASGI),
    "gunicorn:class=uvicorn",
    "granian:interface=asgi",
    "unit:interface=asgi",
    "uwsgi:http=socket",
    "apache+mod_wsgi:mode=embedded",
    "nginx/http/uvicorn",
    "nginx/http/gunicorn:class=uvicorn",
    "openlitespeed/http/waitress",
    *LINKS,
    *CHOOSY,
    *BEHIND,
]

SAID = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Ssl": "on",
    "X-Forwarded-Port": "443",
    "Forwarded": "for=203.0.113.7;proto=https",
}
"""What a TLS proxy may say of the client."""
APPENDED = ("X-Forwarded-For", "Forwarded")

OWN_WORDS = {
    # it adds its own where a client spoke TLS
    "openlitespeed/http/": ("X-Forwarded-Proto", ("waitress", "bjoern")),
    # it says "off"
    "cherokee/http/": ("X-Forwarded-Ssl", ("gunicorn",)),
}
"""Links that repeat or overwrite headers, whatever the settings, and who refuses them so: docs/stacks.md warns."""

SETTINGS = """
ALLOWED_HOSTS = ["localhost"]
DATABASES = {}
INSTALLED_APPS = []
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware"]
ROOT_URLCONF = "urls"
SECRET_KEY = "no secret"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
USE_TZ = True
"""

URLS = """
from django.http import HttpResponse, JsonResponse
from django.urls import path


def told(request):
    return JsonResponse({name: value for name, value in request.META.items() if "FORWARDED" in name})


urlpatterns = [path("", lambda request: HttpResponse(request.scheme)), path("told/", told)]
"""


@pytest.fixture(scope="module")
def subject(tmp_path_factory, django_python):
    root = tmp_path_factory.mktemp("shop")
    # as awkward as projects are: settings at the top, in a folder that is itself a package
    (root / "__init__.py").touch()
    (root / "settings.py").write_text(SETTINGS)
    (root / "urls.py").write_text(URLS)
    app = App(name="shop", root=root, entry=Entry(kind=EntryKind.DJANGO, target="settings"), python=django_python)
    examination = examine(app, [Request(path="/")])
    yield Subject(
        app=app,
        interpreter=examination.python,
        environments=Environments(cache_folder(), lambda _: None),
        environment=app_environment(app),
        workload=golden(examination),
    )


@pytest.fixture(scope="module")
def farm(request, subject):
    items = [item for item in request.session.items if item.path == request.path]
    asked = [item.callspec.params["path"] for item in items if "path" in item.callspec.params]
    farm = Farm(asked, subject.launcher, launch_and_ask)
    yield farm
    farm.close()


@pytest.mark.parametrize("path", some_of(STACKS, SOME))
def test_an_https_only_site_learns_that_its_client_spoke_tls(path, farm):
    farm.outcome(path)


def launch_and_ask(path, launcher):
    stack = parse_stack(of_one_process(path), SPECS, BOTH)
    overwritten, refusing = next((words for link, words in OWN_WORDS.items() if link in path), ("", ()))
    if path.endswith(refusing):
        with pytest.raises(LaunchFailed, match=r"status (400|301)"):
            launcher.launch(stack, timeout_s=60)
        return
    # the page itself is compared by launch(): "https", where a site that was told nothing would redirect
    running = launcher.launch(stack, timeout_s=60)
    try:
        if path.startswith(UNRELIABLE):
            return
        for name, value in SAID.items():
            what = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7", name: value}
            answer = ask(running.port, "GET", "/told/", headers=[("Host", "localhost"), *what.items()])
            assert answer.status == 200, answer
            arrived = json.loads(answer.body)["HTTP_" + name.upper().replace("-", "_")]
            # whoever forwards a request may add itself to the end of the list
            right = arrived == value or (name in APPENDED and arrived.startswith(value))
            assert right or name == overwritten, (name, arrived)
    finally:
        stop(launcher.guard, [running])


ADDRESS = """
def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}/".encode()]


async def asgi(scope, receive, send):
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
    address = scope["scheme"].encode() + b"://" + dict(scope["headers"])[b"host"] + b"/"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": address})
"""

HOSTS = {
    "wsgi": [
        *single_hops(SPECS, WSGI),
        "caddy/fastcgi/flup",
        "h2o/fastcgi/uwsgi",
        "apache/ajp/flup",
        "openlitespeed/http/gunicorn",
        "openlitespeed/fastcgi/flup",
    ],
    "asgi": ["daphne", "granian", "gunicorn:class=asgi", "hypercorn", "uvicorn", "nginx/http/uvicorn"],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("interface", ["wsgi", pytest.param("asgi", marks=pytest.mark.exhaustive)])
def test_addresses_on_pages_are_the_same_with_every_server(interface, tmp_path, django_python):
    (tmp_path / "address.py").write_text(ADDRESS)
    request = RaceRequest(
        folder=tmp_path,
        entry=entry_of(EntryKind(interface), f"address:{interface}"),
        python=django_python,
        urls=("/",),
        headers=(("X-Forwarded-Proto", "https"),),
        stacks=tuple(map(of_one_process, launchable(HOSTS[interface]))),
    )
    with set_up(request) as deployment:
        assert deployment.workloads[0].answers[0].body == b"https://127.0.0.1/"
        for stack in deployment.stacks:
            # which compares the page
            stop(deployment.guard, [deployment.launcher.launch(stack, timeout_s=60)])


TOLD_OTHERWISE = """
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_SSL", "on")
USE_X_FORWARDED_PORT = True
"""

PORT = """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("", lambda request: HttpResponse(f"{request.scheme} {request.get_port()}"))]
"""


@pytest.mark.parametrize("stack", some_of(["gunicorn", "waitress", "lighttpd/http/gunicorn"], ["waitress"]))
def test_what_the_settings_trust_is_said_whole_and_contradicts_nothing(stack, tmp_path, django_python):
    (tmp_path / "settings.py").write_text(SETTINGS + TOLD_OTHERWISE)
    (tmp_path / "urls.py").write_text(PORT)
    request = RaceRequest(
        folder=tmp_path,
        entry=entry_of(EntryKind.DJANGO, "settings"),
        python=django_python,
        stacks=(of_one_process(stack),),
    )
    with set_up(request) as deployment:
        assert deployment.workloads[0].answers[0].body == b"https 443"
        stop(deployment.guard, [deployment.launcher.launch(deployment.stacks[0], timeout_s=60)])
