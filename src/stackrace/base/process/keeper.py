"""The keeper: a small process between Stackrace and one command, so that nothing of the command outlives it.

It runs as a separate script, with the few modules of the standard library that load quickly. As a child subreaper
it adopts every orphan of the command, daemons included. When the command ends, or when the pipe of its orders
closes (its parent is done, or was killed), it kills all processes below it, and then ends as the command did.

Usage: keeper.py ORDERS ANSWERS, two descriptors. The order is a marshalled (words, environment), in bytes; the
answer is a marshalled (pid, error number), 0 once the command runs.
Source: prctl(2) PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG; proc_pid_stat(5).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import ctypes
import marshal
import os
import select
import sys
import time
from collections.abc import Iterator

PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
MOST_ENDING_S = 5.0
"""Maximum seconds for killing: a process may be stuck in the kernel, or belong to another user."""
_AGAIN_S = 0.001


def reset_signals() -> None:
    """Reset every signal to its default and unblock it, whatever this process's parent ignored or blocked."""
    for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
        _signal.signal(number, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def end_children() -> None:
    """Kill all processes below this subreaper; it adopts the children of a killed child a moment later."""
    until_s = time.monotonic() + MOST_ENDING_S
    while _any_left() and time.monotonic() < until_s:
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, _signal.SIGKILL)
        time.sleep(_AGAIN_S)


def _any_left() -> bool:
    """Collect every child that ended; return whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> Iterator[int]:
    own = b"%d" % os.getpid()
    for name in os.listdir("/proc"):  # noqa: PTH208 (no pathlib, which loads slowly)
        if name.isdigit() and _parent(name) == own:
            yield int(name)


def _parent(name: str) -> bytes:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[1]
    except OSError:
        return b""


def _start(words: list[bytes], environment: dict[bytes, bytes] | None) -> tuple[int, int]:
    """Start the command; return its pid, and the number of the error that prevented the start, or 0."""
    failed, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        number = 0
        try:
            os.setsid()
            reset_signals()
            # if even the keeper is killed, the command dies with it
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, _signal.SIGKILL, 0, 0, 0)
            os.execvpe(words[0], words, os.environb if environment is None else environment)
        except OSError as error:
            number = error.errno or 0
        finally:
            os.write(report, b"%d" % number)
            os._exit(127)
    os.close(report)
    with open(failed, "rb") as pipe:  # noqa: PTH123
        return pid, int(pipe.read() or 0)


def _wait(pid: int, orders: int, children: int) -> int:
    """Wait for the command and return its exit code, or −9 (SIGKILL) once the pipe of orders is closed."""
    poll = select.poll()
    poll.register(orders, 0)
    poll.register(children, select.POLLIN)
    while True:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    return os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            return -int(_signal.SIGKILL)
        if any(descriptor == orders for descriptor, _ in poll.poll()):
            return -int(_signal.SIGKILL)
        os.read(children, 4096)


def _end_like(code: int) -> None:
    if code < 0:
        # the command dumped its core already; this process dumps none
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        reset_signals()
        os.kill(os.getpid(), -code)
    os._exit(code)


def _main(orders: int, answers: int) -> None:
    for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
    children, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    _signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for descriptor in (orders, answers):
        os.set_inheritable(descriptor, False)
    with open(orders, "rb", closefd=False) as ordered:
        pid, failed = _start(*marshal.load(ordered))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.chdir("/")
    try:
        os.write(answers, marshal.dumps((pid, failed)))
        code = _wait(pid, orders, children)
    except BrokenPipeError:
        code = -_signal.SIGKILL
    end_children()
    _end_like(code)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
