"""A cluster that is started over SSH: on this machine, by an SSH server of the test's own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import dask
import psutil
import pytest
from tests import ssh_server
from tests.conftest import STACKRACE

from stackrace.base.errors import InputError, MissingError
from stackrace.features.cluster import over_ssh
from stackrace.features.cluster.connection import Connection
from stackrace.features.cluster.settings import Role

RACE = """\
[app]
bundled = "django"

[load]
concurrency = [4]
requests = 100

[race]
hosts = ["one"]
stacks = ["gunicorn:workers=1", "waitress"]
repeats = 1
twin = false
"""


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """A server that knows the user, whose SSH has a name for it and one for nobody."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ssh_server.make_keys(tmp_path)
    home = ssh_server.make_home(tmp_path, {"one": "127.0.0.1", "two": "127.0.0.1"}, port)
    with (home / ".ssh" / "config").open("a") as config:
        config.write(
            f"Host nobody\n  HostName 127.0.0.1\n  Port 1\nHost stranger\n  HostName 127.0.0.1\n  Port {port}\n"
        )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    server = subprocess.Popen(ssh_server.command(tmp_path, "127.0.0.1", port), stdin=subprocess.DEVNULL)
    try:
        ssh_server.wait_for("127.0.0.1", port)
        yield SimpleNamespace(process=psutil.Process(server.pid), folder=tmp_path)
    finally:
        server.terminate()
        server.wait(timeout=120)


def commands(ssh):
    """Return what runs below the server."""
    found = []
    for child in ssh.process.children(recursive=True):
        with suppress(psutil.Error):  # it is gone meanwhile
            found.append(" ".join(child.cmdline()))
    return found


def wait_until_none_is_left(ssh):
    until = time.monotonic() + 300
    while left := commands(ssh):
        assert time.monotonic() < until, left
        time.sleep(0.2)


def test_machines_are_started_with_their_parts_and_nothing_is_left(ssh):
    with over_ssh.started(["one"], ["two"]) as address, Connection(address) as connection:
        members = {member.name: member for member in connection.members()}
        assert {name: member.roles for name, member in members.items()} == {
            "one": {Role.STACK}, "two": {Role.ENGINE},
        }  # fmt: skip
        assert {member.host for member in members.values()} == {"127.0.0.1"}
        assert commands(ssh)
    wait_until_none_is_left(ssh)


def test_a_race_file_names_its_hosts(ssh, brief):
    (ssh.folder / "race.toml").write_text(RACE)
    done = brief("run", "race.toml", "--json", cwd=ssh.folder)
    assert done.returncode in (0, 3), done.stderr
    slices = [slice_ for launch in json.loads(done.stdout)["launches"] for slice_ in launch["slices"]]
    assert slices
    wait_until_none_is_left(ssh)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive)])
def test_a_race_that_is_ended_leaves_nothing_on_its_hosts(ssh, how):
    (ssh.folder / "race.toml").write_text(
        RACE.replace("repeats = 1", "repeats = 100").replace("requests = 100", 'duration = "1s"')
    )
    with subprocess.Popen(
        [STACKRACE, "run", "race.toml"], cwd=ssh.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as race:
        until = time.monotonic() + 300
        while not any("gunicorn" in command for command in commands(ssh)):
            assert time.monotonic() < until, "no stack was started"
            time.sleep(0.2)
        os.kill(race.pid, how)
    assert race.returncode == (130 if how == signal.SIGINT else -how)
    wait_until_none_is_left(ssh)


@pytest.mark.usefixtures("ssh")
def test_every_host_that_is_not_reached_is_named():
    with pytest.raises(InputError) as refused, over_ssh.started(["nobody", "stranger", "one"]):
        pass
    assert "nobody is not reached by SSH" in refused.value.message
    assert "stranger is not reached by SSH" in refused.value.message
    assert "one is" not in refused.value.message


@pytest.mark.usefixtures("ssh")
@pytest.mark.parametrize("python", ["/nowhere/bin/python", sys._base_executable])
def test_a_host_without_stackrace_is_named(monkeypatch, python):
    monkeypatch.setattr(over_ssh.sys, "executable", python)
    with pytest.raises(InputError, match=f"one cannot run stackrace as {python}"), over_ssh.started(["one"]):
        pass


def test_without_asyncssh_it_is_said_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    with pytest.raises(MissingError, match=r"pip install 'stackrace\[cluster\]'"), over_ssh.started(["one"]):
        pass


def test_where_dask_requires_encryption_no_cluster_without_it_is_started():
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        pytest.raises(InputError, match=r"has no TLS"),
        over_ssh.started(["one"]),
    ):
        pass
