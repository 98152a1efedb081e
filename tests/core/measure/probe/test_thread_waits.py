"""What threads wait for, seen from outside their process."""

import os
import time

import pytest
from tests.core.measure.probe.children import child, says, tell

from stackrace.measure.probe import thread_waits
from stackrace.measure.probe.proc import open_files
from stackrace.measure.probe.thread_waits import ThreadWaits, ThreadWatch

PATIENCE_S = 1800

if not thread_waits._CALLS:
    pytest.skip("the numbers of this machine's system calls are unknown", allow_module_level=True)

WAITS = {
    "a lock": ("lock = threading.Lock(); lock.acquire()", "lock.acquire()", "lock"),
    "a file's lock": (
        "import fcntl, tempfile; ours, theirs = (open(path, 'w') for path in [tempfile.mkstemp()[1]] * 2); "
        "fcntl.flock(ours, fcntl.LOCK_EX)",
        "fcntl.flock(theirs, fcntl.LOCK_EX)",
        "lock",
    ),
    "time": ("", "time.sleep(3600)", "other"),
    "a site": ("import socket; near, far = socket.socketpair()", "near.recv(1)", "other"),
    "requests": ("import select; loop = select.epoll()", "loop.poll()", ""),
}


def watched(process, expected):
    """Wait until the threads that a process starts as soon as it is told wait as ``expected``."""
    watch = ThreadWatch([process.pid])
    tell(process)
    says(process)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        watch._looks.clear()
        watch.look()
        if watch.mean() == expected:
            return
        assert time.monotonic() < deadline, watch.mean()
        time.sleep(0.01)


def waiting(before, call, threads):
    """A child with so many threads that wait, while its first thread waits for its standard input."""
    begin = f"[threading.Thread(target=lambda: {call}, daemon=True).start() for _ in range({threads})]"
    return child(f"{before}\nsay(); sys.stdin.readline()\n{begin}\nsay(); sys.stdin.read()")


@pytest.mark.parametrize(("before", "call", "kind"), WAITS.values(), ids=WAITS)
def test_a_thread_waits_for(before, call, kind):
    with waiting(before, call, 3) as process:
        says(process)
        waits = {"other": 1.0}  # the first thread
        if kind:
            waits[kind] = waits.get(kind, 0.0) + 3.0
        watched(process, ThreadWaits(**waits))


SOCKET = """
import select, socket
near, far = socket.socketpair()

def poll():
    polled = select.poll()
    polled.register(near, select.POLLIN)
    polled.poll()
"""


@pytest.mark.parametrize("call", ["near.recv(1)", "poll()"])
def test_a_database_is_known_by_its_socket(call, monkeypatch):
    with waiting(SOCKET, call, 2) as process:
        says(process)
        sockets = open_files(process.pid).sockets
        monkeypatch.setattr(thread_waits, "database_sockets", lambda: set(sockets))
        watched(process, ThreadWaits(database=2.0, other=1.0))


def test_many_threads_are_left_alone(monkeypatch):
    monkeypatch.setattr(thread_waits, "_MOST_THREADS", 0)
    watch = ThreadWatch([os.getpid()])
    watch.look()
    assert watch.mean() is None


def test_without_a_look_nothing_is_known():
    assert ThreadWatch([os.getpid()]).mean() is None
