"""Commands that run to their end: the end of their output is kept, and none of their processes is left."""

from __future__ import annotations

import errno
import marshal
import os
import selectors
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from ..errors import UNANSWERED, BreakdownError, said_by, shortages_named
from ..secrets import masked, masked_tail
from .deadline import Deadline, OverdueError, tree
from .interruption import held
from .keeper import MOST_ENDING_S
from .priority import raise_process

_MOST_BYTES = 4000
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a command."""

    code: int
    """Exit code, negative for a signal."""
    output: str
    """End of the output, stdout and stderr together, with the app's secrets masked."""


def run(
    command: Sequence[str],
    *,
    folder: Path | None = Path("/"),
    environment: Mapping[str, str] | None = None,
    timeout_s: float,
    most_bytes: int = _MOST_BYTES,
    begin: Callable[[], None] | None = None,
) -> CommandResult:
    """Run ``command`` to its end, in a session of its own; ``begin`` runs first in the new process.

    The command starts in ``folder``; None is the current folder. Many programs read settings and code from the
    folder that they start in, so give a user's folder only if the user asked to run the code in it. The last
    ``most_bytes`` of the output are kept.

    Raises OSError if the command cannot be started, OverdueError if it takes longer than ``timeout_s``, without the
    time in which it could not run. All processes that it started end with it.
    """

    def attend(process: subprocess.Popen[bytes]) -> CommandResult:
        assert process.stdout
        deadline = Deadline(timeout_s, lambda: tree(process.pid))
        return listen(
            process.stdout.fileno(), lambda wait_s: within(wait_s)(process), command, deadline, most_bytes
        )

    return attended(command, attend, folder=folder, environment=environment, stdout=subprocess.PIPE, begin=begin)


QUESTION_S = 5.0
"""Time limit in seconds for a question to a program, such as its version."""


def ask(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    most_bytes: int = _MOST_BYTES,
    limit_s: float | None = None,
) -> CommandResult:
    """Ask a program something, such as its version, like ``run``, within ``limit_s``, by default ``QUESTION_S``.

    If the program cannot be started or does not end in time, the result has code -1 and no output. ``UNANSWERED``
    then names the program, and it is not asked again.
    """
    program, limit_s = shutil.which(command[0]) or command[0], limit_s or QUESTION_S
    if program not in UNANSWERED:
        words = shlex.join((Path(command[0]).name, *command[1:2]))
        try:
            return run(command, environment=environment, timeout_s=limit_s, most_bytes=most_bytes)
        except OverdueError as error:
            why = f"did not end within {limit_s:g} s{error.waiting}; end it or take it off PATH"
        except OSError as error:
            why = f"cannot be started: {said_by(error)}"
        UNANSWERED[program] = f"{words} ({program}) {why}"
    return CommandResult(-1, "")


def listen(
    output: int,
    code: Callable[[float], int | None],
    command: Sequence[str],
    deadline: Deadline,
    most_bytes: int = _MOST_BYTES,
) -> CommandResult:
    """Read the output of ``command`` until it ends, even if its background processes keep ``output`` open.

    ``code`` waits up to the given seconds for the command's exit code; it returns None while the command runs.
    Raises OverdueError after the deadline.
    """
    collected, is_cut, speaks = b"", False, True
    ended: int | None = None
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            # output between the last read and its end is read, too
            if speaks and selector.select(_POLL_S if ended is None else 0.0):
                chunk = os.read(output, 65536)
                is_cut = is_cut or len(collected + chunk) > most_bytes
                collected = (collected + chunk)[-most_bytes:]
                speaks = bool(chunk)
            elif ended is None:
                ended = code(0.0 if speaks else _POLL_S)
            else:
                text = collected.decode("utf-8", "replace")
                return CommandResult(ended, (masked_tail(text) if is_cut else masked(text)).strip())
            if deadline.is_over:
                raise OverdueError(command, deadline)


_T = TypeVar("_T")

_KEEPER = Path(__file__).with_name("keeper.py")


def within(timeout_s: float) -> Callable[[subprocess.Popen[bytes]], int | None]:
    """Return a function that waits for the exit code; None after ``timeout_s`` in which the process could run."""

    def wait(process: subprocess.Popen[bytes]) -> int | None:
        deadline = Deadline(timeout_s, lambda: tree(process.pid))
        while True:
            # the process is polled once more after the deadline
            left_s = deadline.left_s
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(left_s, _POLL_S))
            if not left_s:
                return None

    return wait


@shortages_named()
def attended(
    command: Sequence[str],
    attend: Callable[[subprocess.Popen[bytes]], _T],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
    begin: Callable[[], None] | None = None,
) -> _T:
    """Start ``command`` below a keeper, call ``attend`` with the keeper's process, and return its result.

    The keeper ends as the command does. Nothing that the command started is left afterwards, daemons included,
    even if this process is killed. ``begin`` runs in the keeper first; the command may use the descriptors
    ``pass_fds``. Raises OSError if the command cannot be started, BreakdownError if this machine lacks resources.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "Stackrace starts programs on Linux only", command[0])
    require_system()
    (orders, lifeline), (answer, answers) = os.pipe(), os.pipe()
    # Ctrl-C within Popen would leave an unknown process
    with held() as signals, os.fdopen(lifeline, "wb") as ordering, os.fdopen(answer, "rb") as answering:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_KEEPER), str(orders), str(answers)],
                cwd=folder,
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                pass_fds=(*pass_fds, orders, answers),
                start_new_session=True,
                preexec_fn=begin,
            )
        finally:
            os.close(orders)
            os.close(answers)
        try:
            # programs of a race do not wait behind another race
            _raise_as_we_are(process.pid)
            _raise_as_we_are(_order(command, environment, ordering, answering))
            try:
                signals.release()
                return attend(process)
            finally:
                signals.hold()
        finally:
            with suppress(BrokenPipeError):
                ordering.close()
            # the app may have stopped its keeper
            if within(2 * MOST_ENDING_S)(process) is None:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()


_SYSTEM = {
    "/dev/null": (stat.S_ISCHR, "mknod -m 666 /dev/null c 1 3"),
    "/proc/self/stat": (stat.S_ISREG, "mount -t proc proc /proc"),
}
"""Files that programs need, each with a check of its kind and the command that creates it."""


def require_system() -> None:
    """Raise BreakdownError if this system, perhaps a bare container, lacks files that every program needs."""
    for path, (is_kind, remedy) in _SYSTEM.items():
        fits = False
        with suppress(OSError):
            fits = is_kind(os.stat(path).st_mode)  # noqa: PTH116
        if not fits:
            raise BreakdownError(f"this system has no {path}, which programs need; as root: {remedy}")


def _raise_as_we_are(pid: int) -> None:
    """Give the session of ``pid`` our priority: a process's own priority counts only within its session."""
    if (nice := os.getpriority(os.PRIO_PROCESS, 0)) < 0:
        raise_process(pid, nice)


def _order(
    command: Sequence[str], environment: Mapping[str, str] | None, ordering: IO[bytes], answering: IO[bytes]
) -> int:
    """Make the keeper start ``command``, and return its pid. Raises OSError like exec(3)."""
    words = [os.fsencode(word) for word in command]
    block = None if environment is None else {os.fsencode(k): os.fsencode(v) for k, v in environment.items()}
    with suppress(BrokenPipeError):
        ordering.write(marshal.dumps((words, block)))
        ordering.flush()
    try:
        pid, failed = marshal.load(answering)
    except EOFError:
        raise ChildProcessError(errno.ECHILD, "it was killed", command[0]) from None
    if failed:
        raise OSError(failed, os.strerror(failed), command[0])
    return int(pid)
