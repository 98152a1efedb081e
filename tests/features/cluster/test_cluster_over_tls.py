"""A cluster whose every word goes over TLS, with certificates as Dask's configuration names them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from types import SimpleNamespace

import dask
import pytest
from distributed import Client
from distributed.security import Security
from tests.conftest import STACKRACE, calling
from tests.features.cluster.lab import QUIET
from tests.ports import free_port
from tests.tls import issue, make_authority

from stackrace.base.errors import InputError
from stackrace.features.cluster.connection import Connection

JOINED_S = 1800
ENCRYPTED = {"distributed.comm.require-encryption": True}


def settings(authority, **certificates):
    """Return Dask's settings to trust ``authority``, with a certificate for each part it plays."""
    pairs = {"ca-file": authority.file}
    for part, certificate in certificates.items():
        pairs |= {f"{part}.cert": certificate.file, f"{part}.key": certificate.key}
    return {f"distributed.comm.tls.{name}": str(path) for name, path in pairs.items()}


def variables(of_dask):
    """Return settings of Dask as variables of an environment."""
    return {
        "DASK_" + name.upper().replace(".", "__").replace("-", "_"): str(value) for name, value in of_dask.items()
    }


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A scheduler and a host of stacks that take no word in the clear."""
    folder = tmp_path_factory.mktemp("tls")
    authority = make_authority(folder)
    member, client = issue(authority, "member"), issue(authority, "client")
    environment = {
        **os.environ,
        **variables(settings(authority, scheduler=member, worker=member) | ENCRYPTED),
        **QUIET,
    }
    port = free_port()
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
    with dask.config.set(made.client), Client(made.address, timeout=JOINED_S, security=Security()) as client:
        client.wait_for_workers(1, timeout=JOINED_S)
    shown = calling(STACKRACE)("cluster", made.address, "--json", **variables(made.client))
    return json.loads(shown.stdout)


@pytest.mark.exhaustive
def test_the_bundled_app_is_raced_and_no_word_is_in_the_clear(brief, secured):
    (member,) = secured.members
    assert member["contact"].startswith("tls://")
    done = brief(
        "run", "--bundled", "--cluster", secured.address, "--stack", "gunicorn:workers=1",
        "--stack", "waitress", "-c", "4", "--repeats", "1", "--requests", "100", "--no-twin", "--json",
        **variables(secured.client),
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    assert [slice_ for launch in json.loads(done.stdout)["launches"] for slice_ in launch["slices"]]


def refused(address, of_dask):
    with dask.config.set(of_dask), pytest.raises(InputError) as caught, Connection(address):
        pass
    return caught.value.message


@pytest.mark.exhaustive
def test_who_speaks_in_the_clear_is_refused_and_told_of_tls(secured):
    plain = f"tcp://127.0.0.1:{secured.port}"
    assert "tls://10.0.0.1:8786 of one with TLS" in refused(plain, {})
    assert "Dask's configuration requires encryption" in refused(plain, secured.client | ENCRYPTED)


def test_who_has_no_certificate_is_refused(stackrace, secured):
    done = stackrace("run", "--bundled", "--cluster", secured.address)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Dask's configuration has no certificate to show" in done.stderr
    assert "no certificate to show" in refused(secured.address, settings(secured.authority))


def test_who_has_a_certificate_of_another_authority_is_refused(secured, tmp_path):
    other = make_authority(tmp_path)
    stranger = settings(secured.authority, client=issue(other, "stranger"))
    assert "both certificates come from one authority" in refused(secured.address, stranger)
    distrustful = secured.client | settings(other)
    assert "both certificates come from one authority" in refused(secured.address, distrustful)


def test_a_certificate_that_is_not_there_is_named(secured, tmp_path):
    nowhere = secured.client | {"distributed.comm.tls.client.cert": str(tmp_path / "none.pem")}
    assert "cannot be used (No such file or directory" in refused(secured.address, nowhere)
