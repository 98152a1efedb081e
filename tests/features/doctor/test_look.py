"""What is seen of this machine: its speed, and who else is here."""

import json
import os
import socket
import subprocess
import sys

import pytest

from stackrace.features.doctor.look import Job, _daemons, _jobs, _listeners, _spread, remains


def test_the_spread_leaves_out_the_luckiest_and_the_unluckiest_moments():
    assert _spread([100.0] * 10 + [500.0]) == 0
    assert _spread([100.0] * 10 + [130.0] * 10) == pytest.approx(0.3)


def test_a_few_canaries_or_none_say_nothing():
    assert _spread([100.0, 300.0]) is None
    assert _spread([0.0] * 20) is None


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
    assert _jobs(listed, NOW_S) == (Job(name="apt-daily.timer", due_s=60.0), Job(name="man-db.timer", due_s=600.0))


def test_a_machine_without_systemd_has_no_timers():
    assert _jobs("", NOW_S) == ()
    assert _jobs("Failed to connect to bus: Host is down", NOW_S) == ()


def test_a_running_process_is_a_daemon_by_its_name():
    assert any(name.startswith(("python", "pytest")) for name in _daemons())


def test_a_listener_is_named_with_its_process():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert f"(pid {os.getpid()})" in _listeners((port,))[port]
    assert _listeners((port,)) == {}


def test_a_folder_with_a_process_in_it_and_no_supervisor_is_a_leftover(tmp_path):
    folder = tmp_path / "stackrace-0123abcd"
    folder.mkdir()
    (empty,) = remains([folder])
    assert (empty.pids, empty.guarded) == ((), False)
    waits = "import sys; print(flush=True); sys.stdin.read()"
    left = subprocess.Popen(
        [sys.executable, "-c", waits], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert left.stdout is not None
    with left:
        left.stdout.readline()
        (found,) = remains([folder])
        left.communicate()
    assert (found.pids, found.guarded) == ((left.pid,), False)
