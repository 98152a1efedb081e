"""Which processes are ours to end."""

import os
import subprocess
import sys
import textwrap

import pytest

from stackrace.base.process.processes import Process
from stackrace.deploy import descendants
from stackrace.deploy.descendants import Descendants

PARENT = textwrap.dedent(
    """
    import subprocess, sys, threading
    children = []
    def start():
        children.append(subprocess.Popen(["sleep", "1000"]))
        print(children[0].pid, flush=True)
        sys.stdin.read()
        children[0].kill()
        children[0].wait()
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    """
)


@pytest.fixture
def parent():
    """A process whose only child was started by a thread other than its first."""
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process.pid, int(process.stdout.readline())
    process.communicate()


def test_what_any_thread_of_ours_started_is_ours(parent):
    pid, child = parent
    below = Descendants().living()
    assert below[pid] == (os.getpid(), os.getsid(pid))
    assert below[child] == (pid, os.getsid(pid))
    assert os.getpid() not in below
    assert os.getppid() not in below


def test_a_process_that_ended_is_nobodys(parent):
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert ended.pid not in Descendants().living()


def test_a_stranger_is_read_once_and_again_when_its_id_may_be_another_s(parent, monkeypatch):
    read, stat, now = [], descendants.read_process, [100.0]
    monkeypatch.setattr(descendants, "read_process", lambda pid: read.append(pid) or stat(pid))
    monkeypatch.setattr(descendants.time, "monotonic", lambda: now[0])
    below, stranger = Descendants(), os.getppid()
    for _ in range(3):
        assert parent[1] in below.living()
    assert read.count(stranger) == 1
    assert read.count(parent[1]) == 3
    now[0] += descendants._FORGET_S
    below.living()
    assert read.count(stranger) == 2


def test_an_orphan_that_comes_to_us_while_we_look_is_ours(monkeypatch):
    """Its parent was there when its own line was read, and gone when the parent's was."""
    us, orphan, gone = os.getpid(), 5_000_001, 5_000_002
    lines = {orphan: [_line(gone), _line(us)]}

    def stat(pid):
        parents = lines.get(pid)
        return parents and (parents.pop(0) if len(parents) > 1 else parents[0])

    monkeypatch.setattr(descendants, "pids", lambda: [us, orphan, gone])
    monkeypatch.setattr(descendants, "read_process", stat)
    assert orphan in Descendants().living()


def _line(parent):
    return Process(5_000_001, "orphan", "S", parent, 1, 1, 0, 0, 0)


def test_whoever_was_started_since_the_last_look_is_found():
    below = Descendants()
    for _ in range(20):
        with subprocess.Popen(["sleep", "1000"]) as process:
            assert process.pid in below.living()
            process.kill()
