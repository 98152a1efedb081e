"""Our side of the supervisor: start it, send it requests, and clean up if it dies."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from ..base.errors import BreakdownError, InputError, LaunchError, said_by, shortage_of
from ..base.files import is_present, remove_tree
from ..base.process import CommandResult, Deadline, held, listen, require_system, within
from ..base.process.keeper import PR_SET_CHILD_SUBREAPER
from ..base.process.priority import NICE, autogroup, before_races, raised
from ..base.process.view import UNPROTECTED, ProtectedView
from ..base.temporary import ANOTHER_FOLDER, RUN, temporary_folder
from ..stacks.servers import PLAIN
from .descendants import descendants
from .privileges import hand_over

_SCRIPT = Path(__file__).with_name("supervisor.py")

_LONGEST_TMPDIR = 40
RUN_DIRECTORY = re.compile(r"stackrace-[0-9a-f]{8}")
"""Pattern of run directories' names; tempfile's names have underscores, which host names in URLs must not have."""


@dataclass(frozen=True, slots=True)
class Status:
    """State of a spawned process and its tree."""

    code: int | None
    """The first process's exit code, negative for a signal; None while it runs."""
    alive: tuple[int, ...]
    """Pids of its living members."""


class Guard:
    """A running supervisor with its run directory; a context manager that leaves nothing behind.

    ``directory`` is private, plain, short (unix socket paths end at 107 bytes) and removed at the end.
    """

    def __init__(self) -> None:
        require_system()
        self._layers = itertools.count()
        self._covered: list[Path] = []
        self._raised = contextlib.ExitStack()
        self.afterwards = contextlib.ExitStack()
        """Callbacks to run after the last process has ended."""
        self.raised = False
        """True if spawned and pinned processes have a higher priority than other programs."""
        self.view = UNPROTECTED
        """View of the files for all user programs that it starts."""
        # this process adopts orphans if the supervisor itself is killed
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # once it runs, the supervisor removes the directory; until then nobody does
        with held() as signals:
            try:
                self.directory = _new_private_folder()
            except OSError as error:
                raise shortage_of(error, RUN) or InputError(
                    f"no run directory can be made: {said_by(error, where=True)}; set TMPDIR to a "
                    f"writable folder, whose path has at most {_LONGEST_TMPDIR} of the characters "
                    f"a-z, A-Z, 0-9, _, ., / and -, as with: {ANOTHER_FOLDER}"
                ) from error
            self._made = self.directory.stat()
            try:
                hand_over(self.directory)
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(_SCRIPT), str(self.directory)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd="/",
                )
            except BaseException:
                remove_tree(self.directory)
                raise
            assert self._process.stdin
            assert self._process.stdout
            self._exchange = _Exchange(self._process.stdin, self._process.stdout)
            try:
                signals.release()
            except BaseException:
                # until it has its own session, Ctrl-C ends the supervisor, too
                self.close()
                raise

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self._process.pid

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        gone = removed(error)
        self.close()
        if gone is not None:
            raise gone from error

    def spawn(
        self,
        argv: Sequence[str],
        *,
        view: ProtectedView,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        stop: signal.Signals,
        group: Path | None = None,
        data_bytes: int | None = None,
    ) -> int:
        """Start a process in ``view`` and ``folder``, with its output appended to ``log``; return its pid.

        It starts in the control group ``group``, and may use ``data_bytes`` of private memory, if given.
        Raises LaunchError if it cannot be started.
        """
        answer = self._ask(
            do="spawn",
            argv=list(argv),
            env=view.variables(environment),
            cwd=str(view.relocation.path(folder)),
            view=view.pid,
            read_only=[*map(str, view.read_only)],
            writable=[*map(str, view.writable)],
            log=str(log),
            stop=int(stop),
            group=None if group is None else str(group),
            data=data_bytes,
        )
        if answer["failed"]:
            raise LaunchError(f"{argv[0]} cannot be started: {answer['failed']}")
        pid: int = answer["pid"]
        return pid

    def run(
        self,
        command: Sequence[str],
        *,
        view: ProtectedView,
        environment: Mapping[str, str],
        folder: Path,
        timeout_s: float,
    ) -> CommandResult:
        """Run ``command`` to its end in ``view`` and ``folder``; its background processes live until ``close``.

        If it fails or takes too long, all its processes are killed. Raises LaunchError if it cannot be started,
        OverdueError if it takes longer than ``timeout_s``, not counting time in which it could not run.
        """
        # not a file: its output may exceed the disk
        pipe = self.directory / "output"
        os.mkfifo(pipe)
        output = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            pid = self.spawn(
                command, view=view, environment=environment, folder=folder, log=pipe, stop=signal.SIGTERM
            )
            result = None
            try:
                deadline = Deadline(timeout_s, lambda: self.status([pid])[pid].alive)
                result = listen(output, lambda wait_s: self._wait_for_code(pid, wait_s), command, deadline)
            finally:
                if result is None or result.code:
                    self.kill(pid)
            return result
        finally:
            os.close(output)
            pipe.unlink()

    def _wait_for_code(self, pid: int, wait_s: float) -> int | None:
        time.sleep(wait_s)
        return self.status([pid])[pid].code

    def cover(self, folders: Sequence[Path], writable: Sequence[Path] = ()) -> None:
        """Protect ``folders``: processes spawned from now on write to copies in the run directory.

        The folders are absolute, resolved, and none is in another. ``writable`` are folders in them that are not
        covered.
        Afterwards ``view`` is what such processes see. Raises LaunchError if that is impossible here.
        """
        layers = [str(self.directory / "layers" / str(next(self._layers))) for _ in folders]
        # folders covered before stay covered inside a new one
        shown = [path for path in (self.directory, *writable, *self._covered) if is_present(path)]
        answer = self._ask(
            do="cover",
            folders=list(zip(map(str, folders), layers, strict=True)),
            writable=[str(path.resolve()) for path in shown],
        )
        self.view = replace(self.view, pid=answer["pid"], writable=(*self.view.writable, *folders))
        self._covered += folders

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to one process; no error if it is gone."""
        self._ask(do="signal", pid=pid, signal=int(number))

    def status(self, pids: Sequence[int]) -> dict[int, Status]:
        """Return the state of spawned processes and their trees, by pid.

        Raises BreakdownError if the run directory is gone: failures after that are not the processes' fault.
        """
        if not self._is_original():
            raise _removed_error(self.directory)
        states = self._ask(do="status", pids=list(pids))
        return {pid: Status(states[str(pid)]["code"], tuple(states[str(pid)]["alive"])) for pid in pids}

    def _is_original(self) -> bool:
        """Tell whether the run directory is still the original: programs that write to it may create it anew."""
        with contextlib.suppress(OSError):
            return os.path.samestat(self._made, self.directory.stat())
        return False

    def prioritise(self, group: Path | None) -> None:
        """Raise the priority of this process, and of all it spawns or pins from now on, until the guard is closed.

        ``group`` is the control group of this process; see ``priority.raised``.
        """
        session, usual = autogroup(os.getpid())
        # if this process is killed, the supervisor restores its terminal's session
        self._ask(do="raise", nice=NICE, session=session, usual=before_races(usual or 0))
        self._raised.enter_context(raised(group))
        self.raised = True

    def pin(self, pid: int, cores: Sequence[int]) -> None:
        """Bind a spawned process and its whole tree to ``cores``; processes that they start later inherit it."""
        if cores:
            self._ask(do="pin", pid=pid, cores=list(cores))

    def kill(self, pid: int) -> None:
        """End a spawned process with its whole tree by SIGKILL."""
        self._ask(do="kill", pid=pid)

    def close(self) -> None:
        """End everything that was spawned and remove the run directory; safe to call twice."""
        self._raised.close()
        self._exchange.close()
        if within(_CLOSES_S)(self._process) is None:
            self._process.kill()
            self._process.wait()
        self._sweep()
        self.afterwards.close()

    def _sweep(self) -> None:
        """Clean up if the supervisor was killed before it could; normally there is nothing left to do.

        Other children of the program that uses us are in the program's own session, and stay.
        """
        if self._process.returncode == 0:
            return
        deadline, own = time.monotonic() + 5.0, os.getsid(0)
        while strays := [pid for pid, (_, session) in descendants().items() if session != own]:
            if time.monotonic() > deadline:
                break
            for pid in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        remove_tree(self.directory)

    def _ask(self, **request: object) -> _Answer:
        answer = self._exchange.ask(request)
        if answer is None:
            raise BreakdownError("the supervisor was killed, and all its servers with it")
        if "error" in answer:
            raise LaunchError(f"the supervisor cannot {request['do']}: {answer['error']}")
        return answer


def removed(error: BaseException | None) -> BreakdownError | None:
    """Return the error to report if ``error`` is due to a run directory removed while in use; else None."""
    if not isinstance(error, FileNotFoundError):
        return None
    path = Path(str(error.filename))
    gone = [each for each in (path, *path.parents) if RUN_DIRECTORY.fullmatch(each.name) and not each.exists()]
    return _removed_error(gone[0]) if gone else None


def _removed_error(directory: Path) -> BreakdownError:
    return BreakdownError(
        f"the run directory {directory} was removed while it was in use, perhaps by a cleaner of temporary files; "
        f"set TMPDIR to a folder that none clears, as with: {ANOTHER_FOLDER}"
    )


def _temporary() -> str:
    """Return the folder for temporary files; /tmp if that path is too long for sockets, or not plain."""
    folder = temporary_folder()
    return folder if len(folder) <= _LONGEST_TMPDIR and PLAIN.fullmatch(folder) else "/tmp"


def _new_private_folder() -> Path:
    for _ in range(100):
        folder = Path(_temporary(), f"stackrace-{secrets.token_hex(4)}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder
    raise FileExistsError(f"no free name below {_temporary()}")


_LOOK_S = 1.0
_CLOSES_S = 15.0

_Answer = Mapping[str, Any]
_Question = tuple[bytes, "SimpleQueue[_Answer | None]"]


class _Exchange:
    """Requests over one pipe and answers from another, one line each; any thread may ask.

    A separate thread holds the pipes, because Python runs signal handlers in the main thread only: an interrupted
    caller stops waiting, and the exchange still completes. SimpleQueue is written in C, so a signal cannot leave
    one of its locks held, unlike Queue and Event.
    """

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        # a flag: before Python 3.13, an interrupted is_alive() considers the thread ended (bpo-46726)
        self._over = False
        threading.Thread(target=self._run, args=(questions, answers), daemon=True).start()

    def ask(self, request: Mapping[str, object]) -> _Answer | None:
        """Return the answer to ``request``; None if the supervisor is gone."""
        answer: SimpleQueue[_Answer | None] = SimpleQueue()
        self._questions.put((json.dumps(request).encode() + b"\n", answer))
        while True:
            # the thread may have ended before it reached this question
            over = self._over
            try:
                return answer.get(timeout=0.0 if over else _LOOK_S)
            except Empty:
                if over:
                    return None

    def close(self) -> None:
        """Close both pipes after the pending requests are answered; safe to call twice."""
        self._questions.put(None)

    def _run(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        while question := self._questions.get():
            line, answer = question
            answer.put(_exchanged(line, questions, answers))
        self._over = True
        with contextlib.suppress(BrokenPipeError):
            questions.close()
        answers.close()


def _exchanged(line: bytes, questions: IO[bytes], answers: IO[bytes]) -> _Answer | None:
    with contextlib.suppress(BrokenPipeError, ValueError):
        questions.write(line)
        questions.flush()
        answer: _Answer = json.loads(answers.readline())
        return answer
    return None
