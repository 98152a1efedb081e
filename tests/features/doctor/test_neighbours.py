"""Who else is here: found for real where we can bring it about, on recorded output where not."""

import json
import os
import socket
import subprocess
import sys

from stackrace.features.doctor import neighbours
from stackrace.features.doctor.surroundings import Job

NOW_S = 1_700_000_000.0


def test_timers_due_within_the_hour_are_told_the_nearest_first():
    listed = json.dumps(
        [
            {"next": (NOW_S + 7200) * 1e6, "unit": "fstrim.timer", "activates": "fstrim.service"},
            {"next": (NOW_S + 600) * 1e6, "unit": "man-db.timer", "activates": "man-db.service"},
            {"next": (NOW_S + 60) * 1e6, "unit": "apt-daily.timer", "activates": "apt-daily.service"},
            {"next": None, "unit": "never.timer", "activates": "never.service"},
            {"next": 0, "unit": "nor.timer", "activates": "nor.service"},
        ]
    )
    assert neighbours.jobs(listed, NOW_S) == (
        Job(name="apt-daily.timer", due_s=60.0),
        Job(name="man-db.timer", due_s=600.0),
    )


def test_a_machine_without_systemd_has_no_timers():
    assert neighbours.jobs("", NOW_S) == ()
    assert neighbours.jobs("Failed to connect to bus: Host is down", NOW_S) == ()


def test_a_running_process_is_a_daemon_by_its_name():
    assert any(name.startswith(("python", "pytest")) for name in neighbours.daemons())


def test_a_listener_is_named_with_its_process():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"(pid {os.getpid()})" in neighbours.listeners((port,))[port]
    assert neighbours.listeners((port,)) == {}


def test_a_folder_with_a_process_in_it_and_no_supervisor_is_a_leftover(tmp_path):
    folder = tmp_path / "stackrace-0123abcd"
    folder.mkdir()
    (empty,) = neighbours.remains([folder])
    assert (empty.pids, empty.guarded) == ((), False)
    waits = "import sys; print(flush=True); sys.stdin.read()"
    left = subprocess.Popen(
        [sys.executable, "-c", waits], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert left.stdout is not None
    with left:
        left.stdout.readline()
        (found,) = neighbours.remains([folder])
        left.communicate()
    assert (found.pids, found.guarded) == ((left.pid,), False)
