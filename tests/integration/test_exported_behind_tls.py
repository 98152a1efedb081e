"""Exported files behind a real TLS proxy: scheme, host, client and redirects are the public site's, for it alone.

Each stack is exported, started as its units say, and asked by clients through an nginx with a certificate. Then
somebody who is no proxy says the same to the stack itself, and is not believed.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from urllib.parse import urljoin, urlsplit

import pytest
from tests.chains import single_hops, spanning, two_hops
from tests.integration.farm import OFFERED, launchable, of_one_process
from tests.ordinary import ordinarily
from tests.ports import free_port
from tests.tls import make_certificate

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.shutdown import stop
from stackrace.deploy.sockets import accepts, listeners
from stackrace.features.export.export import export_of
from stackrace.features.export.export_files import exported_files
from stackrace.features.export.export_target import target_of
from stackrace.features.export.proof import started
from stackrace.features.export.subject import Subject
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import Endpoint, catalogue
from stackrace.stacks.servers.site import OTHERS
from stackrace.stacks.setting import Interface, Protocol, Socket
from stackrace.stacks.stack_path import parse_stack

HERE, CLIENT, PROXY, STRANGER = "127.0.0.1", "127.0.0.7", "127.0.0.3", "127.0.0.2"
SITE, EVIL = "shop.example", "evil.example"
SAID = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", **dict.fromkeys(OTHERS, EVIL)}

SPECS = catalogue().specs
WSGI, ASGI = frozenset({Interface.WSGI}), frozenset({Interface.ASGI})
FRONTS = ("nginx", "apache", "haproxy", "caddy")
BEHIND = [*two_hops(SPECS, WSGI), *two_hops(SPECS, ASGI)]
MIDDLES = ("nginx/uwsgi/uwsgi", "nginx:socket=tcp/http/gunicorn", "varnish/http/gunicorn", "lighttpd/fastcgi/flup")
"""Servers in the middle of three, over unix sockets but for one; a client has no address there."""
STACKS = (
    *single_hops(SPECS, WSGI),
    "apache+mod_wsgi:mode=embedded",
    "apache+passenger:high_performance=on",
    "uwsgi:http=socket",
    "gunicorn:class=asgi",
    "gunicorn:class=uvicorn",
    "granian:interface=asgi",
    "daphne",
    "hypercorn",
    "uvicorn",
    *(path for path in BEHIND if path.split("/")[:2] in [[front, "http"] for front in FRONTS]),
    *spanning(launchable(two_hops(SPECS, WSGI))),
    *spanning(launchable(two_hops(SPECS, ASGI))),
    "nginx/http/uvicorn:socket=tcp",
    "nginx/http/waitress:socket=tcp",
    *(f"haproxy/http/{middle}" for middle in MIDDLES),
    "nginx/http/haproxy/http/gunicorn",
)
SOME = {"granian", "uwsgi", "uvicorn", "apache+mod_wsgi", "nginx/http/waitress", "haproxy/http/gunicorn"}
"""A guard in Python, a server that believes by itself, one that replaces the client, a front end with the app
inside, one that appends to X-Forwarded-For before a server that counts, and one that passes it on."""

SETTINGS = """
from pathlib import Path

ALLOWED_HOSTS = ["*"]
ASGI_APPLICATION = "gateway.asgi"
DATABASES = {}
INSTALLED_APPS = []
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "urls"
SECRET_KEY = "no secret"
SECURE_REDIRECT_EXEMPT = ["^plain/"]
SECURE_SSL_REDIRECT = True
STATIC_ROOT = Path(__file__).parent / "collected"
STATIC_URL = "/static/"
USE_TZ = True
USE_X_FORWARDED_HOST = True
WSGI_APPLICATION = "gateway.wsgi"
"""
"""A site that leaves the scheme to its server (no SECURE_PROXY_SSL_HEADER), and trusts the host of its proxy."""

URLS = """
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import path


def told(request):
    meta = request.META
    said = meta.get("HTTP_X_FORWARDED_FOR")
    return JsonResponse({
        "scheme": request.scheme,
        "host": request.get_host(),
        "address": request.build_absolute_uri("/x/"),
        "client": said.split(",")[0].strip() if said else meta["REMOTE_ADDR"],
        "proto": meta.get("HTTP_X_FORWARDED_PROTO", "http"),
        "all": repr(meta),
    })


urlpatterns = [
    path("x/", told),
    path("plain/", told),
    path("plain/hello/", lambda request: HttpResponse("hello")),
    path("away/", lambda request: redirect("/x/")),
    path("far/", lambda request: redirect(request.build_absolute_uri("/x/"))),
]
"""

GATEWAY = '''
"""Django below all paths but /bare/, which an app without a framework answers."""

import json

from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application

django_wsgi, django_asgi = get_wsgi_application(), get_asgi_application()


def answer(path, scheme, host, said, peer, everything):
    if path == "/bare/far":
        return 302, [("Location", f"{scheme}://{host}/bare/")], b""
    told = {
        "scheme": scheme,
        "host": host,
        "address": f"{scheme}://{host}/x/",
        "client": said.split(",")[0].strip() if said else peer,
        "proto": scheme,
        "all": repr(everything),
    }
    return 200, [("Content-Type", "application/json")], json.dumps(told).encode()


def wsgi(environ, start_response):
    path = environ["PATH_INFO"]
    if not path.startswith("/bare/"):
        return django_wsgi(environ, start_response)
    said, peer = environ.get("HTTP_X_FORWARDED_FOR"), environ["REMOTE_ADDR"]
    status, headers, body = answer(
        path, environ["wsgi.url_scheme"], environ["HTTP_HOST"], said, peer, environ
    )
    start_response(f"{status} Said", [*headers, ("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope, receive, send):
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
    if not scope["path"].startswith("/bare/"):
        return await django_asgi(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    peer = (scope.get("client") or [""])[0]
    status, headers, body = answer(
        scope["path"], scope["scheme"], headers["host"], headers.get("x-forwarded-for"), peer, scope
    )
    head = [(name.lower().encode(), value.encode()) for name, value in headers]
    head.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
'''

TLS_PROXY = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr error;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    proxy_bind {proxy};
    proxy_redirect off;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-Host $http_host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-For $remote_addr;
    server {{
        listen {here}:{plain};
        listen {here}:{secure} ssl;
        ssl_certificate {certificate.file};
        ssl_certificate_key {certificate.key};
        location / {{ proxy_pass http://{here}:{behind}; }}
    }}
}}
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def deployment(request, tmp_path_factory, django_python):
    """The site, set up once for all stacks that are asked for."""
    folder = tmp_path_factory.mktemp("shop")
    for name, text in {"settings.py": SETTINGS, "urls.py": URLS, "gateway.py": GATEWAY}.items():
        (folder / name).write_text(text)
    (folder / "collected/docs").mkdir(parents=True)
    (folder / "collected/docs/index.html").write_text("docs")
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    asked = RaceRequest(
        folder=folder,
        entry=entry_of(EntryKind.DJANGO, "settings"),
        python=django_python,
        urls=("/plain/hello/",),
        stacks=tuple(dict.fromkeys(of_one_process(item.callspec.params["path"]) for item in items)),
    )
    with set_up(asked) as ready:
        yield ready, Subject(request=asked)


def port_with_neighbours():
    """Return a port that is free with those after it, where servers behind a front listen; none is a client's."""
    taken, first = listeners(), free_port()
    return next(port for port in range(first, first + 1000) if not taken.keys() & {port, port + 1, port + 2})


@contextmanager
def exported(path, deployment):
    """Export the stack of ``path``, start its files, and yield the export and the port of its front."""
    ready, subject = deployment
    wanted = parse_stack(of_one_process(path), SPECS, OFFERED).path
    (stack,) = (stack for stack in ready.stacks if stack.path == wanted)
    target = partial(target_of, listen=f"{HERE}:{port_with_neighbours()}", proxies=(PROXY,))
    export = export_of(replace(ready, stacks=(stack,)), subject, target)
    running = started(export, ready)
    try:
        yield export, running.port
    finally:
        stop(ready.guard, [running])


@contextmanager
def tls_proxy(behind, certificate, folder):
    """Run a TLS proxy before the port ``behind``; yields its ports by scheme."""
    plain, secure = free_port(), free_port()
    text = TLS_PROXY.format(
        folder=folder, here=HERE, proxy=PROXY, plain=plain, secure=secure, certificate=certificate, behind=behind
    )
    (folder / "tls.conf").write_text(text)
    command = ["nginx", "-c", str(folder / "tls.conf")]
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as nginx:
        try:
            while not accepts(Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, port=secure)):
                assert nginx.poll() is None, nginx.stderr.read().decode()
                time.sleep(0.05)
            yield {"http": plain, "https": secure}
        finally:
            nginx.terminate()


def get(port, path, who, headers=(), certificate=None):
    """Return status, Location and body of ``path`` of the public site, as ``who`` asks for it at ``port``."""
    how = {"timeout": 1800, "source_address": (who, 0)}
    if certificate is None:
        asking = http.client.HTTPConnection(HERE, port, **how)
    else:
        asking = http.client.HTTPSConnection(
            HERE, port, context=ssl.create_default_context(cafile=certificate.file), **how
        )
    with closing(asking) as connection:
        connection.request("GET", path, headers={"Host": SITE, **dict(headers)})
        answer = connection.getresponse()
        return answer.status, answer.headers["Location"], answer.read()


def visited(url, ports, certificate):
    """Return what a browser gets at ``url``; each redirect must lead to the public site over TLS."""
    for _ in range(5):
        scheme, _, path, *_ = urlsplit(url)
        asked = get(ports[scheme], path, CLIENT, certificate=certificate if scheme == "https" else None)
        status, location, body = asked
        if location is None:
            assert status == 200, (url, asked)
            return body
        url = urljoin(url, location)
        assert urlsplit(url)[:2] == ("https", SITE), (status, location)
    raise AssertionError(f"{url} redirects for ever")


@pytest.mark.parametrize("path", ordinarily(launchable(dict.fromkeys(STACKS)), SOME))
def test_an_exported_stack_believes_its_tls_proxy_and_nobody_else(path, deployment, certificate, tmp_path):
    with exported(path, deployment) as (export, port):
        with tls_proxy(port, certificate, tmp_path) as ports:
            for page in ("x/", "x", "away/", "far/", "bare/", "bare/far"):
                told = json.loads(visited(f"https://{SITE}/{page}", ports, certificate))
                public = (told["scheme"], told["host"], told["address"], told["proto"])
                assert public == ("https", SITE, f"https://{SITE}/x/", "https"), (page, told)
                assert told["client"] == CLIENT, (page, told)
            # over plain HTTP the site redirects to itself, once
            assert json.loads(visited(f"http://{SITE}/x/", ports, certificate))["scheme"] == "https"
            if "/static/" in export.hosted.static and export.front.uses(export.hosted.static["/static/"]):
                assert visited(f"https://{SITE}/static/docs/index.html", ports, certificate) == b"docs"
                status, location, _ = get(ports["https"], "/static/docs", CLIENT, certificate=certificate)
                assert status in (301, 308, 404), status
                assert status == 404 or urljoin(f"https://{SITE}/", location) == f"https://{SITE}/static/docs/"
        readme, front = exported_files(export)["README.md"], export.front
        if any(entry.passes_forwarded_headers for entry in front.entries) and front.site.upstream:
            assert "cannot tell that proxy from other clients" in readme
            return
        appends = any(front.site.forwards in entry.appends_to_forwarded_for for entry in front.entries)
        assert ("count from its end" in readme) == appends
        status, location, _ = get(port, "/x/", STRANGER, SAID)
        assert (status, location) == (301, f"https://{SITE}/x/")
        for page in ("/plain/", "/bare/"):
            _, _, body = get(port, page, STRANGER, SAID)
            told = json.loads(body)
            assert (told["scheme"], told["host"], told["proto"]) == ("http", SITE, "http"), told
            assert EVIL not in told["all"]
            assert appends or SAID["X-Forwarded-For"] not in told["all"], told
