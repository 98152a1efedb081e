"""What a stranger says in X-Forwarded-* does not reach the app behind a deployed front; a proxy's words do."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from tests.ordinary import ordinarily
from tests.ports import free_port

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.entry import deployed_source
from stackrace.deploy.privileges import unprivileged
from stackrace.stacks.servers import Endpoint, Hosted, Site, catalogue
from stackrace.stacks.servers.site import OTHERS, Production
from stackrace.stacks.setting import Interface, Protocol, Socket

STRANGER, PROXY = "127.0.0.1", "127.0.0.2"
CLIENT = "203.0.113.7"
SAID = {"X-Forwarded-For": CLIENT, "X-Forwarded-Proto": "https", **dict.fromkeys(OTHERS, "evil.example")}
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
FRONTS = (
    ("nginx", "http"),
    ("nginx", "scgi"),
    ("apache", "http"),
    ("lighttpd", "http"),
    ("lighttpd", "scgi"),
    ("haproxy", "http"),
    ("caddy", "http"),
    ("varnish", "http"),
)


class OverHttp(socketserver.StreamRequestHandler):
    """Answers with the headers that came, by the names that gateways give them."""

    def handle(self):
        self.rfile.readline()
        lines = iter(lambda: self.rfile.readline().decode().strip(), "")
        pairs = (line.split(":", 1) for line in lines)
        came = {f"HTTP_{name.upper().replace('-', '_')}": value.strip() for name, value in pairs}
        self.answer(came, "HTTP/1.1 200 OK")

    def answer(self, came, first):
        body = json.dumps(came).encode()
        fields = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
        self.wfile.write("\r\n".join((first, *fields, "", "")).encode() + body)


class OverScgi(OverHttp):
    """The same, spoken to in SCGI: a length, a colon, names and values that end with zeros, and a comma."""

    def handle(self):
        length = iter(lambda: self.rfile.read(1), b":")
        words = self.rfile.read(int(b"".join(length)) + 1).split(b"\0")
        pairs = zip(words[::2], words[1::2], strict=False)
        self.answer({name.decode(): value.decode() for name, value in pairs}, "Status: 200 OK")


@contextmanager
def app(protocol):
    handler = OverScgi if protocol == "scgi" else OverHttp
    with socketserver.ThreadingTCPServer((STRANGER, 0), handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextmanager
def deployed(name, protocol, folder):
    """Start the front ``name`` as it is deployed, with one proxy that it trusts; yields its port."""
    folders = [folder / kind for kind in ("run", "logs", "tmp", "site")]
    for each in (*folders, folder / "tmp/htdocs"):
        each.mkdir()
    run, logs, temporary, directory = folders
    spec = catalogue().specs[name]
    with app(protocol) as behind:
        site = Site(
            directory=directory,
            listen=Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, port=free_port()),
            settings={setting.name: setting.default for setting in spec.settings},
            app=Hosted(interface=Interface.WSGI, root=folder),
            upstream=(Endpoint(protocol=Protocol(protocol), socket=Socket.TCP, port=behind),),
            production=Production(run=run, logs=logs, temporary=temporary, proxies=(PROXY,)),
        )
        recipe = catalogue().server(name).recipe(site)
        for file, text in recipe.files.items():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            (directory / file).write_text(text)
        command = [*unprivileged(), *recipe.command]
        environment = {**os.environ, "PATH": PATH, **recipe.environment}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        # Apache ends all of its process group
        with subprocess.Popen(command, env=environment, start_new_session=True, **quiet) as server:
            try:
                yield wait_for(site.listen.port, server)
            finally:
                os.killpg(server.pid, signal.SIGKILL)


def wait_for(port, server):
    while server.poll() is None:
        try:
            socket.create_connection((STRANGER, port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return port
    raise AssertionError(server.stderr.read().decode())


def heard(port, who):
    """Return what the app hears when ``who`` says all that a proxy may say."""
    for _ in range(100):
        asking = http.client.HTTPConnection(STRANGER, port, timeout=1800, source_address=(who, 0))
        with closing(asking) as connection:
            connection.request("GET", "/", headers=SAID)
            answer = connection.getresponse()
            came = answer.read()
            # a front end that waits for a core gives up the app's server after a few seconds
            if answer.status not in (502, 503, 504):
                return json.loads(came)
    raise AssertionError(f"{answer.status}: {came}")


@pytest.mark.parametrize(("name", "protocol"), ordinarily(FRONTS, {("nginx", "http"), ("lighttpd", "http")}))
def test_only_a_proxy_is_believed(name, protocol, tmp_path):
    program = catalogue().entries[name].needs.binary
    if not shutil.which(program, path=PATH):
        pytest.skip(f"{program} is not installed")
    with deployed(name, protocol, tmp_path) as port:
        stranger, proxy = heard(port, STRANGER), heard(port, PROXY)
    if protocol in catalogue().entries[name].appends_to_forwarded_for:
        assert stranger.pop("HTTP_X_FORWARDED_FOR").split(", ")[-1] == STRANGER
        assert stranger.pop("HTTP_FORWARDED").endswith(f"for={STRANGER};proto=http")
    assert CLIENT not in json.dumps(stranger)
    assert "evil.example" not in json.dumps(stranger)
    assert stranger.get("HTTP_X_FORWARDED_PROTO", "http") == "http"
    assert CLIENT in (*proxy.get("HTTP_X_FORWARDED_FOR", "").split(", "), proxy.get("REMOTE_ADDR"))
    assert proxy["HTTP_X_FORWARDED_PROTO"] == "https"


def test_the_module_that_meets_clients_drops_as_much_as_a_front():
    wsgi, asgi = (
        deployed_source(
            App(name="site", root=Path("/srv"), entry=entry_of(kind, "site:app")), interface, proxies=()
        )
        for kind, interface in ((EntryKind.WSGI, Interface.WSGI), (EntryKind.ASGI, Interface.ASGI))
    )
    for name in (*OTHERS, "X-Forwarded-For", "X-Forwarded-Proto"):
        assert f'"HTTP_{name.upper().replace("-", "_")}"' in wsgi
        assert f'b"{name.lower()}"' in asgi
