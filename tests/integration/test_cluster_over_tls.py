"""A cluster whose every word goes over TLS, with certificates as Dask's configuration names them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from tests.conftest import STACKRACE, calling
from tests.tls import issue, make_authority

SETTING = "DASK_DISTRIBUTED__COMM__TLS__"
JOINED_S = 300.0


def settings(authority, **certificates):
    """Return the environment in which Dask trusts ``authority``, with a certificate for each part it plays."""
    pairs = {"CA_FILE": authority.file}
    for part, certificate in certificates.items():
        pairs |= {f"{part.upper()}__CERT": certificate.file, f"{part.upper()}__KEY": certificate.key}
    return {f"{SETTING}{name}": str(path) for name, path in pairs.items()}


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A scheduler and a host of stacks that take no word in the clear."""
    folder = tmp_path_factory.mktemp("tls")
    authority = make_authority(folder)
    member, client = issue(authority, "member"), issue(authority, "client")
    environment = {
        **os.environ,
        **settings(authority, scheduler=member, worker=member),
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
    }
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tls://127.0.0.1:{port}"
    scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--protocol", "tls")
    worker = ("dask_worker", address, "--name", "host", "--no-nanny", "--nthreads", "2", "--resources", "stack=1")
    made = SimpleNamespace(
        port=port, address=address, authority=authority, client=settings(authority, client=client)
    )
    with ExitStack() as stack, (folder / "dask.log").open("wb") as log:
        for program, *words in (scheduler, worker):
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", f"distributed.cli.{program}", *words, "--no-dashboard"],
                    env=environment,
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    cwd=folder,
                )
            )
            stack.callback(process.terminate)
        made.members = members(made)
        yield made


def members(made):
    """Wait until somebody has joined, and return who."""
    until = time.monotonic() + JOINED_S
    while True:
        shown = calling(STACKRACE)("cluster", made.address, "--json", **made.client)
        if shown.returncode == 0 and json.loads(shown.stdout):
            return json.loads(shown.stdout)
        assert time.monotonic() < until, shown.stderr
        time.sleep(0.3)


def test_the_bundled_app_is_raced_and_no_word_is_in_the_clear(stackrace, secured):
    (member,) = secured.members
    assert member["contact"].startswith("tls://")
    done = stackrace(
        "run", "--bundled", "--cluster", secured.address, "--stack", "gunicorn", "--stack", "waitress", "-c", "4",
        "--repeats", "1", "--duration", "1s", "--no-twin", "--json", **secured.client,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    assert [slice_ for launch in json.loads(done.stdout)["launches"] for slice_ in launch["slices"]]


def refused(stackrace, address, **environment):
    done = stackrace("run", "--bundled", "--cluster", address, **environment)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_who_speaks_in_the_clear_is_refused_and_told_of_tls(stackrace, secured):
    plain = f"tcp://127.0.0.1:{secured.port}"
    assert "tls://10.0.0.1:8786 of one with TLS" in refused(stackrace, plain)
    required = {**secured.client, "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}
    assert "Dask's configuration requires encryption" in refused(stackrace, plain, **required)


def test_who_has_no_certificate_is_refused(stackrace, secured):
    assert "Dask's configuration has no certificate to show" in refused(stackrace, secured.address)
    only_authority = settings(secured.authority)
    assert "no certificate to show" in refused(stackrace, secured.address, **only_authority)


def test_who_has_a_certificate_of_another_authority_is_refused(stackrace, secured, tmp_path):
    other = make_authority(tmp_path)
    stranger = settings(secured.authority, client=issue(other, "stranger"))
    assert "both certificates come from one authority" in refused(stackrace, secured.address, **stranger)
    distrustful = {**secured.client, **settings(other)}
    assert "both certificates come from one authority" in refused(stackrace, secured.address, **distrustful)


def test_a_certificate_that_is_not_there_is_named(stackrace, secured, tmp_path):
    environment = {**secured.client, f"{SETTING}CLIENT__CERT": str(tmp_path / "none.pem")}
    assert "cannot be used (No such file or directory" in refused(stackrace, secured.address, **environment)
