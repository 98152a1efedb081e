"""The folder in which verbs are ended: an app, results, a store, a server, a CouchDB."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.couchdb import running_couchdb

from stackrace.deploy.sockets import free_port

from .verbs import Verb

STACKRACE = [sys.executable, "-c", "import sys; from stackrace.__main__ import main; sys.exit(main())"]
"""As the installed command does; at the end of ``-m`` Python itself may end the process by SIGINT."""
FIRST_LINE = "(the verb begins)"
"""First words of a verb that is ended, once it is imported: from here on, nothing may print a traceback."""
_TELLING = f"""
import click, sys
from stackrace import cli
invoke = click.Command.invoke
def tell(verb, context):
    print("{FIRST_LINE}", flush=True)
    return invoke(verb, context)
click.Command.invoke = tell
sys.exit(cli.main())
"""
_APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
_RACE = f"""
[app]
wsgi = "tiny:app"
python = "{sys.executable}"
[race]
stacks = ["waitress", "cheroot"]
"""
_RUN = ["run", "race.toml", "--python", sys.executable, "-c", "5", "--no-twin", "--budget"]
_SERVER = """
from http.server import *
class H(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Length', '2'); self.end_headers()
        self.wfile.write(b'ok')
ThreadingHTTPServer(('127.0.0.1', int(__import__('sys').argv[1])), H).serve_forever()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where a verb runs. ``data`` is as in ``kept`` before each time."""

    folder: Path
    installs: bool
    values: dict[str, object] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        """The app's folder, in which it runs."""
        return self.folder / "app"

    @property
    def temporary(self) -> Path:
        """Its folder for temporary files."""
        return self.folder / "tmp"

    @property
    def data(self) -> Path:
        """Its store and reports."""
        return self.folder / "data" / "stackrace"

    @property
    def cache(self) -> Path:
        """Its environments, where they are not those of always."""
        return self.folder / "cache"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a verb; environments of servers are made once, where they always are."""
        own = {"TMPDIR": str(self.temporary), "XDG_DATA_HOME": str(self.data.parent)}
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        if self.installs:
            own |= {"XDG_CACHE_HOME": str(self.cache), "UV_CACHE_DIR": str(home / "uv")}
        return {**os.environ, **own}

    def words(self, verb: Verb) -> list[str]:
        """Return the command line of ``verb``."""
        return [sys.executable, "-c", _TELLING, *verb.words.format(**self.values, free=free_port()).split()]

    def call(self, *words: str) -> str:
        """Run a verb to its end; returns what it printed."""
        return subprocess.run(
            [*STACKRACE, *words], cwd=self.project, env=self.environment, stdout=subprocess.PIPE, text=True
        ).stdout

    def races(self, condition: str = "TRUE") -> list[str]:
        """Return the ids of races in the store that meet a ``condition`` in SQL."""
        with closing(sqlite3.connect(self.data / "races.sqlite3")) as store:
            return [race for (race,) in store.execute(f"SELECT id FROM stackrace_race WHERE {condition}")]

    def keep(self) -> None:
        """Have everything as it is now before each time."""
        shutil.copytree(self.folder / "data", self.folder / "kept")

    def reset(self, verb: Verb) -> None:
        """Make everything as it was kept."""
        for name in ("data", "cache"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.folder / "kept", self.folder / "data")
        for left in self.temporary.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if verb.makes:
            (self.project / verb.makes).unlink(missing_ok=True)


@contextmanager
def world_of(verb: Verb, folder: Path) -> Iterator[World]:
    """Yield a world with what ``verb`` needs."""
    world = World(folder=folder, installs=verb.installs)
    for path in (world.project, world.temporary, world.data.parent):
        path.mkdir()
    (world.project / "tiny.py").write_text(_APP)
    (world.project / "race.toml").write_text(_RACE)
    with ExitStack() as stack:
        world.values["port"] = stack.enter_context(_serving())
        if "before.json" in verb.words:
            for name in ("before", "after"):
                url = f"http://127.0.0.1:{world.values['port']}/"
                (world.project / f"{name}.json").write_text(
                    world.call("load", url, "-c", "2", "-d", "1s", "--no-ceiling", "--json")
                )
        if verb.races:
            world.call(*_RUN, "14s")
            (world.values["finished"],) = world.races()
            world.values["unfinished"] = _unfinished(world)
        if verb.couch:
            world.values["couch"] = stack.enter_context(running_couchdb())
            world.call(
                "publish", str(world.values["finished"]), f"http://{world.values['couch']}/races", "--create"
            )
        world.keep()
        yield world


def _unfinished(world: World) -> str:
    """Interrupt a race after its first block; returns its id."""
    process = subprocess.Popen(
        [*STACKRACE, *_RUN, "16s"], cwd=world.project, env=world.environment, preexec_fn=hear,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.2)
        for race in world.races("""ending IS NULL AND checkpoint NOT LIKE '%"blocks":0%'"""):
            process.send_signal(signal.SIGINT)
            process.wait()
            return race
    raise TimeoutError("the race made no block")


def hear() -> None:
    """Undo what shells and nohup do to programs in the background, which hear no Ctrl-C and no closed terminal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def _serving() -> Iterator[int]:
    """Yield the port of a server on loopback that answers."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", _SERVER, str(port)], stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()
