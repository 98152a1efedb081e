"""Hostile apps, repositories, texts, peers and machines, each with the command that meets it: see ``hostile``."""

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

SOON_S = 20.0
"""Bad input gets its error within five seconds where nothing else runs; two attacks run at once here."""
RACE_S = 240.0
"""No race of an attack takes longer."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What is made, what is run over it, and what must come of it."""

    make: Callable[[Trial], list[str]]
    """Makes the project; returns the words of the command."""
    codes: frozenset[int] = frozenset({0, 1, 3})
    says: str = ""
    """A pattern of what must be said."""
    hides: str = ""
    """A pattern of what must be said, written, kept or shown nowhere."""
    within_s: float = RACE_S
    changes: bool = False
    """Whether the verb writes into the project because it was asked to."""


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
    here = os.open(trial.project, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("folder", dir_fd=here)
        inner = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
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


BAD = frozenset({1, 2, 3, 4})
ANY = frozenset({0, *BAD})
ATTACKS = {
    **{
        f"writing app: {name}": Attack(make=writer(*words, git=name == "check"), **more)
        for name, words, more in (
            ("init", INIT, {"codes": frozenset({0})}),
            ("run", RUN, {"codes": frozenset({0, 3})}),
            (
                "load",
                ["load", "--stack", "waitress", "race.toml", "-n", "50", "--no-ceiling"],
                {"codes": frozenset({0})},
            ),
            ("capacity", ["capacity", "race.toml", "--stack", "waitress", "--p50", "1us", "--no-ceiling"], {}),
            (
                "tune",
                ["tune", "gunicorn", "--vary", "class", *WSGI, "--python", sys.executable, "-c", "1", *BUDGET],
                {},
            ),
            ("check", CHECK, {}),
            ("install", ["install", "race.toml"], {}),
            ("up", ["sh", "-c", 'exec timeout --preserve-status --signal INT 15 "$@" up waitress race.toml'], {}),
            (
                "export",
                [
                    "export",
                    "race.toml",
                    "waitress",
                    "--to",
                    "../out",
                    "--prove",
                    "--start-only",
                    "--listen",
                    "127.0.0.1:{port}",
                ],
                {},
            ),
        )
    },
    "writing app that spells its path: run": Attack(make=writer(*RUN, whole=True), codes=frozenset({0, 2, 3})),
    "repository's programs: check": Attack(make=repository(top, *CHECK), codes=ANY),
    "repository's programs: run": Attack(make=repository(top, *RUN)),
    "repository's programs: trend": Attack(make=repository(top, "trend"), codes=ANY, within_s=SOON_S),
    "submodule's programs: check": Attack(make=repository(submodule, *CHECK), codes=ANY),
    "partial clone's programs: check": Attack(make=repository(partial, *CHECK), codes=ANY),
    **{
        f"pipe as {name}: {verb}": Attack(
            make=repository(pipe(name), *words), codes=ANY, within_s=90 if verb == "run" else SOON_S
        )
        for name in (".gitignore", ".gitattributes", ".git/info/exclude", ".git/HEAD", ".git/index", ".git/config")
        for verb, words in (("run", RUN), ("trend", ["trend"]))
        if verb == "run" or name in (".git/HEAD", ".git/config")
    },
    "pipe included by .git/config: check": Attack(make=repository(included, *CHECK), codes=BAD, within_s=SOON_S),
    **{
        f"pipe as {name}: init": Attack(make=repository(pipe(name), *INIT), codes=ANY, within_s=SOON_S)
        for name in (
            "uv.toml",
            "pyproject.toml",
            "Dockerfile",
            "compose.yml",
            "Procfile",
            ".env",
            "requirements.txt",
        )
    },
    "variable of 300,000 letters: init": Attack(
        make=page(*INIT, **{"b.env": f"A={'x' * 300_000}"}), within_s=SOON_S
    ),
    "error of 1,000,000 letters: run": Attack(
        make=page(*RUN, source='raise RuntimeError("a." * 500000 + " ://")'), codes=BAD, within_s=60
    ),
    "200,000 variables: init": Attack(make=variables, codes=ANY, within_s=SOON_S),
    "file of procfs: init": Attack(make=kernel_log, within_s=SOON_S),
    "token in a page's path: init": Attack(
        make=page(
            "init",
            "--stdout",
            "--wsgi",
            "app:app",
            "--env-file",
            "t.env",
            source=LINKED,
            **{"t.env": f"API_TOKEN={TOKEN}\n"},
        ),
        hides=TOKEN,
    ),
    "token in a page's path: run": Attack(
        make=page(
            "run",
            "--wsgi",
            "app:app",
            *RACE,
            *BUDGET,
            "--env-file",
            "t.env",
            "--details",
            source=LINKED,
            **{"t.env": f"API_TOKEN={TOKEN}\n"},
        ),
        hides=TOKEN,
    ),
    **{
        f"cluster that is {kind}": Attack(make=silent(kind), codes=BAD, within_s=SOON_S)
        for kind in ("silent", "junk", "endless", "closing")
    },
    "nginx -v that never ends": Attack(make=hanging, within_s=SOON_S),
    **{
        f"protect = {place}": Attack(
            make=page(
                "run",
                "race.toml",
                *RACE,
                *BUDGET,
                **{"race.toml": f'[app]\nwsgi = "app:app"\nprotect = ["{place}"]\n[workload]\nurls = ["/"]\n'},
            ),
            codes=ANY,
        )
        for place in ("/", "/proc", "/sys", "/dev")
    },
    "output that cannot be written": Attack(
        make=shell('exec "$@" stacks 1</dev/null'), codes=frozenset(range(256)), within_s=SOON_S
    ),
    "full output": Attack(make=shell('exec "$@" stacks >/dev/full'), codes=frozenset(range(256)), within_s=SOON_S),
    "working folder that is gone": Attack(
        make=shell('cd "$(mktemp -d)"; rmdir "$PWD"; exec "$@" run --budget 20s'), within_s=SOON_S, codes=BAD
    ),
    "TMPDIR=.": Attack(
        make=shell('TMPDIR=. exec "$@" init --stdout --wsgi app:app --url /'), codes=ANY, within_s=SOON_S
    ),
    "64 descriptors": Attack(
        make=shell(f'ulimit -n 64; exec "$@" {" ".join(RUN)}'), codes=ANY, hides="lower --concurrency to 1"
    ),
    "1,500 folders deep": Attack(make=deep, codes=ANY),
    "page that sleeps": Attack(
        make=page(
            *INIT[:2],
            "--wsgi",
            "app:app",
            "--url",
            "/",
            source='import time\ndef app(e, s):\n    time.sleep(600)\n    yield b""\n',
        ),
        codes=BAD,
    ),
}


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
