"""A PostgreSQL server of the tests' own: a fresh cluster that listens on a Unix socket only."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

DEADLINE_S = 1800


def find(program):
    """Return the path of one of the server's programs; Debian keeps them off the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)]))


def unprivileged(*command):
    """PostgreSQL refuses root: within a user namespace root is somebody else."""
    return ["unshare", "--user", "--map-user=33", "--map-group=33", *command] if os.geteuid() == 0 else [*command]


@contextmanager
def running_server(folder):
    """A fresh cluster that listens on a socket in ``folder``; stopped at the end."""
    data = f"{folder}/data"
    initdb = [find("initdb"), "-D", data, "-U", "ana", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(unprivileged(*initdb), check=True, capture_output=True)
    postgres = [find("postgres"), "-D", data, "-k", folder, "-h", "", "-F"]
    with Path(folder, "log").open("wb") as log, subprocess.Popen(unprivileged(*postgres), stderr=log) as server:
        try:
            wait_until_ready(server, Path(folder))
            yield server
        finally:
            stop(server)


def stop(server):
    server.send_signal(signal.SIGINT)  # its fast shutdown
    try:
        server.wait(DEADLINE_S)
    finally:
        server.kill()  # does nothing once it has ended


def wait_until_ready(server, folder):
    deadline = time.monotonic() + DEADLINE_S
    status = folder / "data" / "postmaster.pid"
    while not (status.exists() and "ready" in status.read_text()):
        assert server.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.02)
