"""Each way in which uv fails is made to happen, and is blamed on its cause, with the way out.

The packages come from an index on loopback, so no test needs a network.
"""

from __future__ import annotations

import io
import json
import os
import platform
import resource
import subprocess
import sys
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import pytest
from tests import http_servers
from tests.broken_worlds import for_everybody, in_world
from tests.http_servers import Hello, serving
from tests.ordinary import ordinarily

from stackrace.base.process.uv import CAUSES, UNKNOWN

PINS = "loosen the app's pins"
INSTALL = """
import json, sys
from pathlib import Path
from stackrace.app.examiner.messages import PythonFacts
from stackrace.base.errors import StackraceError
from stackrace.deploy.environments import Environments
cache, project, wanted, pins = json.loads(sys.argv[1])
python = Path(sys.executable)
base = Path(sys._base_executable)
facts = PythonFacts(version="", python=python, base=base, site_packages=(), distributions=pins)
try:
    Environments(Path(cache), lambda _: None, Path(project)).layered(facts, wanted)
except StackraceError as error:
    print(json.dumps([error.exit_code, error.message, error.detail]))
"""
BACKEND = """
def get_requires_for_build_wheel(settings=None): return []
def build_wheel(folder, settings=None, metadata=None):
    import subprocess, sys
    {}
"""
HEADER = 'sys.exit("x.c:1:10: fatal error: libpq-fe.h: No such file or directory")'
PYTHON_H = 'sys.exit("x.c:1:10: fatal error: Python.h: No such file or directory")'
COMPILER = "subprocess.check_call(['x86_64-unknown-gcc', '-c', 'x.c'])"


def wheel(name="tiny", version="1.0", requires="", filling=0):
    """Return a wheel's bytes."""
    about, held = f"{name}-{version}.dist-info", io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(f"{name}.py", os.urandom(filling))
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return held.getvalue()


def source(code):
    """Return a source distribution's bytes, whose building runs ``code``."""
    held = io.BytesIO()
    toml = '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
    about = "Metadata-Version: 2.2\nName: tiny\nVersion: 1.0\n"
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, text in {"pyproject.toml": toml, "b.py": BACKEND.format(code), "PKG-INFO": about}.items():
            entry = tarfile.TarInfo(f"tiny-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return held.getvalue()


class Index(Hello):
    """The files of ``server.files``, or always the same ``server.status``."""

    def respond(self):
        name = self.path.strip("/").rpartition("/")[2]
        files, status = self.server.files, self.server.status
        if status is None:
            self.server.leave.wait()
            return
        body = files.get(name)
        if body is None:
            listed = [file for file in files if file.startswith(f"{name}-")]
            more = self.server.more
            body = "".join(f'<a href="/files/{file}"{more}>{file}</a>' for file in listed).encode()
            status = status if status != 200 or listed else 404
        kind = "text/html" if name not in files else "application/octet-stream"
        self.answer(body, status, ("Content-Type", kind))


class Server(http_servers.Server):
    def handle_error(self, request, client_address):
        pass


@contextmanager
def index(files=None, status=200, more="", certificate=None):
    """Run an index of ``files`` and yield its URL."""
    server = Server(Index)
    server.files, server.status, server.more, server.leave = files or {}, status, more, threading.Event()
    if certificate is not None:
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.file, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        try:
            yield f"http{'s' * (certificate is not None)}://127.0.0.1:{server.server_port}/simple"
        finally:
            server.leave.set()


@pytest.fixture
def install(temporary):
    """Return a function that installs from ``url`` in another process; it gives exit code, message and detail."""

    def call(url, *, wanted=("tiny",), pins=None, world=None, begin=None, stranger=False, **variables):
        (temporary / "cache").mkdir(exist_ok=True)
        given = json.dumps([str(temporary / "cache"), str(temporary), wanted, pins or {}])
        command = [sys.executable, "-c", INSTALL, given]
        if world is not None or stranger:
            command = in_world(world or "", command, stranger=stranger)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")},
            "UV_DEFAULT_INDEX": url, "UV_CACHE_DIR": str(temporary / "uv"), "UV_HTTP_RETRIES": "0", **variables,
        }  # fmt: skip
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=temporary, preexec_fn=begin, check=False
        )
        assert done.stdout, done.stderr
        assert not list((temporary / "cache" / "environments").glob("*/bin"))
        return json.loads(done.stdout)

    return call


def said(failure, code, *words):
    """Check that ``failure`` says ``words``, and nothing of pins unless these do."""
    exit_code, message, detail = failure
    for word in words:
        assert word in message, (message, detail)
    assert exit_code == code
    assert (PINS in message) == (PINS in words)
    return detail


VERSION = platform.python_version()
TINY = "tiny-1.0-py3-none-any.whl"
ANSWERS = {
    "it wants a password": ({"status": 401}, 2, "refuses its user", "UV_DEFAULT_INDEX"),
    "it forbids": ({"status": 403}, 2, "refuses its user", "UV_DEFAULT_INDEX"),
    "it is broken": ({"status": 500}, 4, "the package index answers wrongly", "try again later"),
    "it is empty": ({}, 2, "the package index has no version that fits"),
    "it has only another version": (
        {"files": {"tiny-0.5-py3-none-any.whl": wheel(version="0.5")}}, 2, "the package index has no version",
    ),
    "it is silent": ({"status": None}, 4, "does not answer in time", "UV_HTTP_TIMEOUT"),
    "its package wants another Python": (
        {"files": {TINY: wheel()}, "more": ' data-requires-python="&gt;=3.99"'}, 2,
        f"tiny has no release for Python {VERSION};", "--python",
    ),
    "its package is for another system": (
        {"files": {"tiny-1.0-cp38-cp38-win_amd64.whl": b""}}, 2,
        f"tiny has no release for Python {VERSION};",
    ),
    "its package is for this Python on another system": (
        {"files": {"tiny-1.0-py3-none-win_amd64.whl": b""}}, 2,
        "tiny has no release for this machine (",
    ),
    "a header is missing": (
        {"files": {"tiny-1.0.tar.gz": source(HEADER)}}, 2, "libpq-fe.h is missing", "apt-get install libpq-dev",
    ),
    "Python's header is missing": (
        {"files": {"tiny-1.0.tar.gz": source(PYTHON_H)}}, 2, "Python.h is missing", "apt-get install python3-dev",
    ),
    "a compiler is missing": (
        {"files": {"tiny-1.0.tar.gz": source(COMPILER)}}, 2, "x86_64-unknown-gcc is missing",
        "apt-get install build-essential",
    ),
    "a build fails": (
        {"files": {"tiny-1.0.tar.gz": source('sys.exit("not today")')}}, 2, "cannot be built from its source",
    ),
    "a package is no archive": ({"files": {TINY: b"nonsense" * 99}}, 4, "damaged"),
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    ordinarily(
        ANSWERS,
        ("it forbids", "it is empty", "it is silent", "a header is missing", "its package wants another Python"),
    ),
)
def test_what_an_index_answers_is_said(install, case):
    answers, code, *words = ANSWERS[case]
    with index(**answers) as url:
        detail = said(install(url, wanted=["tiny>=1"], UV_HTTP_TIMEOUT="1"), code, *words)
    assert detail, "uv's own words"


def test_only_a_conflict_with_the_apps_pins_advises_to_loosen_them(install):
    files = {TINY: wheel(requires="Requires-Dist: other<1\n"), "other-0.5-py3-none-any.whl": wheel("other", "0.5"),
             "other-2.0-py3-none-any.whl": wheel("other", "2.0")}  # fmt: skip
    with index(files) as url:
        said(install(url, pins={"Other": "2.0"}), 2, "cannot be installed beside the app's", PINS)


NOBODY = {
    "nobody listens": ("http://127.0.0.1:9/simple", {}, 4, "refuses connections"),
    "a name is unknown": ("http://index.invalid/simple", {}, 4, "cannot be resolved"),
    "the proxy is gone": ("https://127.0.0.2/simple", {"HTTPS_PROXY": "http://127.0.0.1:9"}, 4, "HTTPS_PROXY"),
    "uv is offline": ("http://127.0.0.1:9/simple", {"UV_OFFLINE": "1"}, 2, "unset UV_OFFLINE"),
}


@pytest.mark.parametrize("case", ordinarily(NOBODY, ("a name is unknown",)))
def test_a_network_that_leads_nowhere_is_said(install, case):
    url, variables, code, *words = NOBODY[case]
    said(install(url, **variables), code, *words)


def test_a_machine_without_a_network_is_said(install):
    # the address is one for documentation, to which no route leads
    said(install("http://192.0.2.1/simple", world='exec unshare --net "$@"'), 4, "there is no network")


def test_a_certificate_that_nobody_vouches_for_is_said(install, certificate):
    with index(certificate=certificate) as url:
        said(install(url), 4, "the certificate of the package index is not trusted", "SSL_CERT_FILE")


DISKS = {
    "the cache of uv is full": ("full uv", 4, "the disk is full", "UV_CACHE_DIR"),
    "the cache of uv becomes full": ("small uv size=300k", 4, "the disk is full", "UV_CACHE_DIR"),
    "the cache of uv has no inodes": ("small uv nr_inodes=3", 4, "inodes are used up"),
    "the cache of uv is read-only": ("small uv ro", 4, "uv cannot write to its cache", "UV_CACHE_DIR"),
    "the environment becomes full": ("small cache size=300k", 4, "the disk is full", "XDG_CACHE_HOME"),
    "the cache of uv is a file": ("touch uv", 4, "uv's cache cannot be used", "UV_CACHE_DIR"),
}


@pytest.mark.parametrize("case", ordinarily(DISKS, ("the environment becomes full",)))
def test_a_disk_that_takes_nothing_is_said(install, case):
    world, code, *words = DISKS[case]
    with index({TINY: wheel(filling=500_000)}) as url:
        said(install(url, world=world), code, *words)


def test_a_cache_of_somebody_else_is_said(install, temporary):
    (temporary / "cache").mkdir()
    for_everybody(temporary)
    (temporary / "uv").mkdir(mode=0o700)
    with index({TINY: wheel()}) as url:
        said(install(url, stranger=True), 4, "uv cannot write to its cache", "UV_CACHE_DIR")


LIMITS = {
    "the size of files": (resource.RLIMIT_FSIZE, 40_000, "ulimit -f"),
    "the number of open files": (resource.RLIMIT_NOFILE, 12, "ulimit -n"),
}


@pytest.mark.parametrize("case", LIMITS)
def test_a_limit_is_named(install, case):
    limit, most, *words = LIMITS[case]
    with index({TINY: wheel(filling=500_000)}) as url:
        begin = lambda: resource.setrlimit(limit, (most, most))  # noqa: E731
        said(install(url, begin=begin), 4, *words)


def program(folder: Path, text: str) -> Path:
    """Write a program that is found in place of uv."""
    folder.mkdir(exist_ok=True)
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("kill -9 $$", 4, "uv was killed, perhaps because memory ran out"),
        ("kill -11 $$", 4, "uv was ended by a signal"),
        ("echo 'memory allocation of 4096 bytes failed' >&2; exit 1", 4, "the memory does not suffice"),
        ("echo \"error: unexpected argument '--project' found\" >&2; exit 2", 2, "this uv is too old; update it"),
        ("echo 'a new kind of trouble' >&2; exit 2", 2, "uv failed; its own words above say why"),
    ],
)
def test_a_uv_that_ends_otherwise_is_said_with_its_words(install, temporary, text, code, words):
    path = program(temporary / "bin", text)
    uv = Path(sys.executable).with_name("uv")
    detail = said(install("http://127.0.0.1:9", world=f"mount --bind {path} {uv}"), code, words)
    assert ("a new kind" in detail) == ("a new kind" in text)


def test_a_uv_that_cannot_be_started_is_said(install, temporary):
    path = program(temporary / "bin", "")
    path.chmod(0o644)
    uv = Path(sys.executable).with_name("uv")
    said(install("http://127.0.0.1:9", world=f"mount --bind {path} {uv}"), 2, "cannot be started", "variable UV")


def test_every_sign_is_a_pattern_of_bounded_work():
    for cause in (*CAUSES, UNKNOWN):
        assert not {"*", "{"} & set(cause.signs), cause.signs
