"""Hostile apps, repositories, texts, peers and machines, each made in folders of its own."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.folders import deepen


@dataclass(slots=True)
class Trial:
    """One attack in one world, in folders of its own."""

    folder: Path
    prefix: list[str]
    mark: str = field(default_factory=lambda: f"hostile{secrets.token_hex(6)}")
    variables: dict[str, str] = field(default_factory=dict)
    size: int = field(default_factory=lambda: 10_000 + secrets.randbelow(1_000_000))
    """Bytes of System V memory that the app makes."""

    @property
    def project(self) -> Path:
        """The folder in which the command runs."""
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        """The user's home."""
        return self.folder / "home"

    @property
    def ran(self) -> Path:
        """File that every trap makes."""
        return self.folder / "ran"

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def trap(self, name: str = "trap") -> str:
        """Return a program that betrays that it ran."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho {name} >> {self.ran}\ncat\n")
        path.chmod(0o755)
        return str(path)

    def git(self, *words: str, folder: Path | None = None) -> None:
        """Run git in the project as its owner would."""
        identity = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "protocol.file.allow=always")
        command = ["git", "-c", "init.defaultBranch=main", *identity, *words]
        subprocess.run(command, cwd=folder or self.project, check=True, capture_output=True)


RACE = ["--python", sys.executable, "--stack", "waitress", "--stack", "cheroot", "--no-twin", "-c", "1"]
BUDGET = ["--budget", "10min"]
WSGI = ["--wsgi", "app:app", "--url", "/"]

APP = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
WRITER = """
import ctypes, os, sqlite3, tempfile, threading
HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (HERE, *WHOLE, os.path.expanduser("~"), tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")

def write(when):
    for place in PLACES:
        try:
            with open(os.path.join(place, MARK + when), "a") as file:
                file.write("x")
            with sqlite3.connect(os.path.join(place, MARK + ".sqlite3")) as database:
                database.execute("CREATE TABLE IF NOT EXISTS visit (at)")
                database.execute("INSERT INTO visit VALUES (1)")
            os.utime(place)
        except (OSError, sqlite3.Error):
            pass
    for name in ("dev.sqlite3", "data.txt"):
        try:
            with open(os.path.join(HERE, name), "ab") as file:
                file.write(b"x")
        except OSError:
            pass

write("import")
ctypes.CDLL(None).shmget(0, SIZE, 0o1600)
threading.Thread(target=write, args=("thread",)).start()

def app(environ, start_response):
    write("view")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


def writer(*words: str, git: bool = False, whole: bool = False) -> Callable[[Trial], list[str]]:
    """Return what makes an app that writes wherever it can, and runs ``words`` over it."""

    def make(trial: Trial) -> list[str]:
        places = [str(trial.project)] if whole else []
        trial.write("app.py", f"WHOLE, MARK, SIZE = {places!r}, {trial.mark!r}, {trial.size}\n{WRITER}")
        trial.write("data.txt", "as it was")
        trial.write("race.toml", f'[app]\nwsgi = "app:app"\npython = "{sys.executable}"\n')
        subprocess.run(["sqlite3", "dev.sqlite3", "create table s (x)"], cwd=trial.project, check=False)
        (trial.home / ".cache").mkdir()
        (trial.home / ".profile").write_text("as it was")
        if git:
            for step in (("init", "-q"), ("add", "."), ("commit", "-qm", "1")):
                trial.git(*step)
            trial.write("data.txt", "changed")
        return [*words]

    return make


def page(*words: str, source: str = APP, **files: str) -> Callable[[Trial], list[str]]:
    """Return what makes a harmless app with ``files`` by name, and runs ``words`` over it."""

    def make(trial: Trial) -> list[str]:
        trial.write("app.py", source)
        for name, text in files.items():
            trial.write(name, text)
        return [*words]

    return make


def repository(spoil: Callable[[Trial], None], *words: str) -> Callable[[Trial], list[str]]:
    """Return what makes a repository of one commit, lets ``spoil`` at it, and runs ``words`` over it."""

    def make(trial: Trial) -> list[str]:
        trial.write("app.py", APP)
        trial.write("a.txt", "first\n")
        trial.write(".gitattributes", "*.txt filter=x diff=x merge=x\n")
        for step in (("init", "-q"), ("add", "."), ("commit", "-qm", "1")):
            trial.git(*step)
        spoil(trial)
        return [*words]

    return make


PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.askPass", "core.editor", "core.pager",
    "core.alternateRefsCommand", "credential.helper", "credential.https://localhost.helper", "diff.external",
    "diff.x.command", "diff.x.textconv", "merge.x.driver", "filter.x.clean", "filter.x.smudge", "filter.x.process",
    "gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "interactive.diffFilter",
    "pager.status", "pager.log", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs",
    "sequence.editor", "uploadpack.packObjectsHook", "trailer.x.command", "trailer.x.cmd",
)  # fmt: skip
"""Keys of git-config(1) that name programs."""


def traps(trial: Trial, folder: Path) -> None:
    """Have every key of a repository's configuration name a program, and change a file that a filter would read."""
    for key in PROGRAMS:
        trial.git("config", key, trial.trap(f"git-{key.replace('/', '-')}"), folder=folder)
    trial.git("config", "submodule.sub.update", f"!{trial.trap('git-update')}", folder=folder)
    for name in (path for path in folder.glob("*.txt")):
        os.utime(name, (1, 1))


def top(trial: Trial) -> None:
    """Set the traps in the repository itself."""
    traps(trial, trial.project)


def partial(trial: Trial) -> None:
    """Make it a partial clone that lacks the file's content."""
    top(trial)
    for key, value in (("remote.origin.url", "ssh://localhost/x"), ("remote.origin.promisor", "true")):
        trial.git("config", key, value)
    trial.git("config", "extensions.partialClone", "origin")
    found = subprocess.run(
        ["git", "-c", "core.fsmonitor=", "rev-parse", "HEAD:a.txt"],
        cwd=trial.project,
        capture_output=True,
        text=True,
    ).stdout.strip()
    (trial.project / ".git/objects" / found[:2] / found[2:]).unlink()


def submodule(trial: Trial) -> None:
    """Set the traps in a submodule."""
    other = trial.folder / "other"
    other.mkdir()
    for step in (("init", "-q"), ("config", "core.autocrlf", "false")):
        trial.git(*step, folder=other)
    (other / "f.txt").write_text("hi\n")
    (other / ".gitattributes").write_text("* filter=x\n")
    for step in (("add", "."), ("commit", "-qm", "s")):
        trial.git(*step, folder=other)
    trial.git("submodule", "-q", "add", str(other), "sub")
    trial.git("commit", "-qm", "2")
    traps(trial, trial.project / "sub")


def pipe(name: str) -> Callable[[Trial], None]:
    """Return what puts a named pipe in the place of a file of the repository."""

    def spoil(trial: Trial) -> None:
        path = trial.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    return spoil


def included(trial: Trial) -> None:
    """Include a named pipe in the repository's configuration."""
    os.mkfifo(trial.folder / "pipe")
    trial.git("config", "include.path", str(trial.folder / "pipe"))


CHECK = ["check", *WSGI, *RACE[:4], "--base", "HEAD", *BUDGET]
RUN = ["run", *WSGI, *RACE, *BUDGET]
INIT = ["init", "--stdout", *WSGI]
TOKEN = "tOk3n-5a1cde97f0b2"
"""A secret that must be shown nowhere."""
LINKED = f"""
def app(environ, start_response):
    body = b'<a href="/p?api_key={TOKEN}">p</a><a href="/q">q</a>'
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [body]
"""


def silent(kind: str) -> Callable[[Trial], list[str]]:
    """Return what shows the machines of a cluster at a port that is silent, sends junk, or never ends."""
    return lambda trial: ["cluster", f"tcp://127.0.0.1:{PEERS[kind]}"]


def hanging(trial: Trial) -> list[str]:
    """Put an nginx on PATH that never ends."""
    path = trial.folder / "bin" / "nginx"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nexec sleep 600\n")
    path.chmod(0o755)
    trial.variables["PATH"] = f"{path.parent}{os.pathsep}{os.environ['PATH']}"
    return ["stacks", "nginx"]


def deep(trial: Trial) -> list[str]:
    """Make folders below the project that no path can name."""
    trial.write("app.py", APP)
    deepen(trial.project)
    return RUN


def kernel_log(trial: Trial) -> list[str]:
    """Link a file of the project to one of procfs that never ends."""
    trial.write("app.py", APP)
    (trial.project / "compose.yml").symlink_to("/proc/kmsg")
    return INIT


def variables(trial: Trial) -> list[str]:
    """Write a file of more variables than anybody has."""
    trial.write("app.py", APP)
    trial.write("many.env", "".join(f"NAME_{number}=value{number}\n" for number in range(200_000)))
    return [*INIT, "--env-file", "many.env"]


def shell(line: str) -> Callable[[Trial], list[str]]:
    """Return what runs a line of the shell, in which ``"$@"`` is the command."""

    def make(trial: Trial) -> list[str]:
        trial.write("app.py", APP)
        return ["sh", "-c", line]

    return make


PEERS: dict[str, int] = {}
"""Ports of peers on loopback while there are any, by what they do."""


@contextmanager
def peers() -> Iterator[None]:
    """Have peers on loopback that are silent, send junk, never end, or close."""

    def attend(kind: str, listener: socket.socket) -> None:
        kept = []
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            if kind == "closing":
                connection.close()
            elif kind != "silent":
                threading.Thread(target=pour, args=(connection, kind == "endless"), daemon=True).start()

    def pour(connection: socket.socket, without_end: bool) -> None:
        with suppress(OSError):
            connection.sendall(b"\xff" * 64)
            while without_end:
                connection.sendall(b"\x00\x00\x01" * 1000)
                time.sleep(0.01)

    listeners = {kind: socket.create_server(("127.0.0.1", 0)) for kind in ("silent", "junk", "endless", "closing")}
    for kind, listener in listeners.items():
        threading.Thread(target=attend, args=(kind, listener), daemon=True).start()
    PEERS.update((kind, listener.getsockname()[1]) for kind, listener in listeners.items())
    yield
    for listener in listeners.values():
        listener.close()
