"""Servers that are scripts of a test, launched and loaded like those of the catalogue."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stackrace import app as apps
from stackrace.deploy.launcher import Launcher
from stackrace.deploy.local_machine import LocalMachine
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.stacks.servers import Catalogue, Hosted, Recipe, Server
from stackrace.stacks.setting import Interface, Protocol, Socket
from stackrace.stacks.stack import ServerSpec
from stackrace.stacks.stack_path import parse_stack

CORES = tuple(sorted(os.sched_getaffinity(0)))
GOLDEN = Answer(status=200, body=b"hello", content_type="text/plain", sameness=Sameness.BODY)
WORKLOAD = Workload(requests=(Request(path="/"),), answers=(GOLDEN,))
"""What a script without fault answers rightly."""

_SERVE = """
import http.server, os, signal, subprocess, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = {body!r}
        self.send_response({status})
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
class Listener(http.server.ThreadingHTTPServer):
    allow_reuse_port = True
{extra}
Listener(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

COUNTED = f"""
sys.path.insert(0, {str(Path(apps.__file__).parent)!r})
import counting
counting.counted(None, asgi=False)
answer = Handler.do_GET
"""
"""Lets a script count as an app does: ``counting.cell[0]`` is its number, ``answer`` what it answers with."""


def serving(extra="", *, body=b"hello", status=200):
    """Return the script of a server; what is ``extra`` may change its Handler and its Listener first."""
    return _SERVE.format(body=body, status=status, extra=extra)


HALF_ASLEEP = serving(
    "answer = Handler.do_GET\nturn = __import__('itertools').count()\n"
    "Handler.do_GET = lambda self: (time.sleep(1000 * (next(turn) > 5)), answer(self))\n"
)
"""Answers rightly five times, and then no more."""


class Scripted(Server):
    """A server that is a script; it gets the port to listen on as its only argument."""

    def __init__(self, name, script, *, stop_timeout_s=15.0, rare_crashes=()):
        self.spec = ServerSpec(
            name=name, title=name, listens=frozenset({Protocol.HTTP}), hosts=frozenset({Interface.WSGI}),
            sockets=(Socket.TCP,),
        )  # fmt: skip
        self.script, self.stop_timeout_s, self.rare_crashes = script, stop_timeout_s, rare_crashes

    def recipe(self, site):
        return Recipe(
            command=(sys.executable, str(site.directory / "server.py"), str(site.listen.port)),
            files={"server.py": self.script},
            stop_timeout_s=self.stop_timeout_s,
            rare_crashes=self.rare_crashes,
        )


def servers_of(scripts, **others):
    """Return a catalogue of scripts by name, and of ``others``."""
    return Catalogue({**others, **{name: Scripted(name, script) for name, script in scripts.items()}})


def stack_of(path, servers):
    return parse_stack(path, servers.specs, frozenset({Interface.WSGI}))


def launcher_of(guard, servers, **further):
    """Return a launcher of stacks that host nothing, and have to answer WORKLOAD."""
    return Launcher(
        guard=guard,
        catalogue=servers,
        host_for=lambda stack: Hosted(interface=stack.interface, root=Path("/")),
        environment=dict(os.environ),
        **{"cores": (), "workloads_for": lambda stack: (WORKLOAD,), **further},
    )


def here_of(launcher, cores=None):
    """Return this machine as a machine for what ``launcher`` launches; without a budget all share all cores."""
    return LocalMachine(
        guard=launcher.guard,
        launcher=launcher,
        cores=cores or Resources(stack_cores=CORES, generator_cores=CORES),
        services={},
        debug=False,
    )
