"""The supervisor: a small process between Stackrace and the servers, so that nothing ever outlives a race.

It runs as a separate script, on the standard library only, and adopts every orphan below it (child subreaper).
Each line on its standard input is a JSON request, answered by one line on its standard output. When the input
ends (Stackrace was stopped, crashed or killed) it ends everything below it, removes the run directory and exits.

Requests::

    {"do": "spawn", "argv": […], "env": {…}, "cwd": "…", "view": 1 | null,
     "read_only": ["/folder"], "writable": ["/folder/run"], "log": "…", "stop": 15,
     "group": "/sys/fs/cgroup/…" | null, "data": bytes | null}  →  {"pid": 1, "failed": "" | "why"}
    {"do": "signal", "pid": 1, "signal": 15}         →  {}     to that process alone
    {"do": "status", "pids": [1]}                    →  {"1": {"code": null | n, "alive": [pids still alive]}}
    {"do": "kill", "pid": 1}                         →  {"alive": []}      the whole tree, by SIGKILL
    {"do": "pin", "pid": 1, "cores": […]}            →  {}     every thread of the tree, also future ones
    {"do": "raise", "nice": -20,
     "session": "/autogroup-1", "usual": 0}          →  {}     all trees from now on; "usual" is set at the end
    {"do": "cover", "folders": [["/folder", "/layers/0"]], "writable": ["/shown"]}  →  {"pid": 1}  holds the view

A *tree* is a spawned process, all its descendants, and orphans of its session or TMPDIR that were adopted here.
Source: prctl(2) PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG; proc_pid_stat(5).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

if not __package__:
    # run as a script, its interpreter searches modules in the standard library only
    sys.path.append(str(Path(__file__).parents[2]))

from stackrace.base.files import remove_tree
from stackrace.base.process.keeper import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, end_children, reset_signals
from stackrace.base.process.landlock import restrict
from stackrace.base.process.namespaces import cover, enter, separate
from stackrace.base.process.priority import raise_process, restore_autogroup
from stackrace.deploy.descendants import Descendants, ProcessTree, descendants

_GRACE_S = 2.0
"""Seconds that trees may take to end by themselves once Stackrace is gone."""


class _Supervisor:
    def __init__(self) -> None:
        self.trees: dict[int, ProcessTree] = {}
        self.groups: set[str] = set()
        self.view: int | None = None
        self.nice: int | None = None
        self.session: tuple[str, int] | None = None
        self.below = Descendants()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def answer(self, request: dict) -> dict:  # type: ignore[type-arg]
        """Carry out one request and return its answer."""
        match request["do"]:
            case "spawn":
                return self.spawn(request)
            case "signal":
                # once a parent is gone, an orphan with its own session cannot be attributed to a tree
                if spawned := self.trees.get(request["pid"]):
                    spawned.alive(self.below.living())
                with contextlib.suppress(ProcessLookupError):
                    os.kill(request["pid"], request["signal"])
                return {}
            case "status":
                return self.status(request["pids"])
            case "kill":
                return {"alive": self.kill([self.trees[request["pid"]]])}
            case "pin":
                self.pin(self.trees[request["pid"]], request["cores"])
                return {}
            case "raise":
                self.nice, self.session = request["nice"], (request["session"], request["usual"])
                return {}
            case "cover":
                return self.cover(request)
            case other:
                return {"error": f"unknown request {other!r}"}

    def spawn(self, request: dict) -> dict:  # type: ignore[type-arg]
        """Start a process in its own session, with its output going to its log; it is confined before it begins."""
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        pid, error = _forked(lambda _: self._become(request, log), said=_message)
        os.close(log)
        self.trees[pid] = ProcessTree(pid, request["stop"], request["env"].get("TMPDIR", ""))
        if request.get("group"):
            self.groups.add(request["group"])
        return {"pid": pid, "failed": error}

    def _become(self, request: dict, log: int) -> None:  # type: ignore[type-arg]
        os.setsid()
        if self.nice is not None:
            raise_process(os.getpid(), self.nice)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        reset_signals()
        _confine(request.get("group"), request.get("data"))
        if request["view"] is not None:
            enter(request["view"])
        # if even the supervisor is killed, its children die with it
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(request["cwd"])
        if request["read_only"]:
            restrict(request["read_only"], request["writable"])
        os.execvpe(request["argv"][0], request["argv"], request["env"])

    def cover(self, request: dict) -> dict:  # type: ignore[type-arg]
        """Cover folders in the view; the first time, a process stays to hold the view."""
        pid, error = _forked(lambda report: self._cover(request, report))
        if error:
            return {"error": error}
        if self.view is None:
            self.view = pid
            self.trees[pid] = ProcessTree(pid, signal.SIGKILL, "")
        return {"pid": self.view}

    def _cover(self, request: dict, report: int) -> None:  # type: ignore[type-arg]
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        separate() if self.view is None else enter(self.view)
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        cover(request["folders"], request["writable"])
        if self.view is None:
            os.close(report)
            while True:
                signal.pause()

    def status(self, pids: list[int]) -> dict:  # type: ignore[type-arg]
        """Return the state of trees: the first process's exit code, once known, and the living members."""
        self.reap()
        tree = self.below.living()
        trees = (self.trees[pid] for pid in pids)
        return {spawned.pid: {"code": spawned.code, "alive": spawned.alive(tree)} for spawned in trees}

    def reap(self) -> bool:
        """Collect every child that ended, including adopted orphans; return whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid in ProcessTree.firsts:
                self.trees[pid].code = os.waitstatus_to_exitcode(status)
                # the kernel may give this id to an orphan from now on
                ProcessTree.firsts.discard(pid)

    def pin(self, spawned: ProcessTree, cores: list[int]) -> None:
        """Bind a tree to cores and a priority; twice, for processes started during the first round."""
        for _ in range(2):
            for pid in spawned.alive(self.below.living()):
                with contextlib.suppress(OSError):
                    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (hot: no Path objects)
                        with contextlib.suppress(OSError):
                            os.sched_setaffinity(int(task), cores)
                if self.nice is not None:
                    raise_process(pid, self.nice)

    def kill(self, trees: list[ProcessTree]) -> list[int]:
        """Kill trees by SIGKILL; return the pids still alive after five seconds (normally none)."""
        deadline = time.monotonic() + 5.0
        while True:
            self.reap()
            tree = descendants()
            alive = [pid for spawned in trees for pid in spawned.alive(tree)]
            if not alive or time.monotonic() > deadline:
                return alive
            for pid in alive:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def end_all(self) -> None:
        """End every tree by its stop signal, then by force; then end all other processes below this one."""
        if self.session is not None:
            restore_autogroup(*self.session)
        tree = descendants()
        for spawned in self.trees.values():
            # a tree whose first process has ended may still have daemons
            for pid in [spawned.pid] if spawned.code is None else spawned.alive(tree):
                with contextlib.suppress(OSError):
                    os.kill(pid, spawned.stop)
        deadline = time.monotonic() + _GRACE_S
        while descendants() and time.monotonic() < deadline:
            self.reap()
            time.sleep(0.02)
        end_children()
        for group in self.groups:
            with contextlib.suppress(OSError):
                os.rmdir(group)  # noqa: PTH106


def _forked(child: Callable[[int], None], said: Callable[[BaseException], str] = str) -> tuple[int, str]:
    """Run ``child`` in a new process; return its pid, and the text of an error that ends it, empty for none.

    ``said`` makes the text of the error. ``child`` gets the descriptor of the pipe for the text. The process has
    started once it closes the pipe or executes another program.
    """
    failed, report = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        try:
            child(report)
        except BaseException as error:
            os.write(report, said(error).encode())
        finally:
            os._exit(127)
    os.close(report)
    with os.fdopen(failed, "rb") as pipe:
        return pid, pipe.read().decode(errors="replace")


def _message(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)


def _confine(group: str | None, data: int | None) -> None:
    if group:
        with open(f"{group}/cgroup.procs", "w") as members:  # noqa: PTH123
            members.write(str(os.getpid()))
    if data:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = data if hard == resource.RLIM_INFINITY else min(data, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _serve(run_directory: str) -> None:
    supervisor = _Supervisor()
    # while it is locked, systemd-tmpfiles leaves it alone (tmpfiles.d(5), Age)
    with contextlib.suppress(OSError):
        fcntl.flock(os.open(run_directory, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX)
    buffer = b""
    while True:
        readable, _, _ = select.select([0], [], [], 0.5)
        supervisor.reap()
        if not readable:
            continue
        chunk = os.read(0, 65536)
        if not chunk:
            break
        buffer += chunk
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            request = json.loads(line)
            try:
                answer = supervisor.answer(request)
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            with contextlib.suppress(BrokenPipeError):
                os.write(1, json.dumps(answer).encode() + b"\n")
    supervisor.end_all()
    remove_tree(Path(run_directory))


if __name__ == "__main__":
    reset_signals()
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    _serve(sys.argv[1])
