"""A process that has imported Stackrace already and forks for every command: each would import for half a second.

What a command sees is as ever: its arguments, folder, variables, pipes, and a process of its own to end.
"""

from __future__ import annotations

import atexit
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "OPENBLAS")
"""Variables that begin so are read before the first line of a program, or as it is imported."""
ELSEWHERE = (".apps.", ".migrations.", ".cluster.", ".handler", ".proxy_addon", "__main__")
"""Modules that apps, servers and workers import, and what few commands do."""
MESSAGE_BYTES = 1 << 17


class Warm:
    """The process, as its client sees it: one command at a time."""

    def __init__(self) -> None:
        self._at_start = at_start(os.environ)
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def fits(self, environment: dict[str, str]) -> bool:
        """Tell whether a command with these variables would have started as this process did."""
        return at_start(environment) == self._at_start

    def run(
        self, command: list[str], cwd: str | Path | None, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a Python program with its arguments, as ``subprocess.run`` does; nothing is there to be read."""
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        asked = json.dumps([command, str(cwd or Path.cwd()), environment]).encode()
        socket.send_fds(self._channel, [asked], [out_end, err_end])
        for end in (out_end, err_end):
            os.close(end)
        pid = int(self._channel.recv(MESSAGE_BYTES))
        with ThreadPoolExecutor(2) as pool:
            texts = [pool.submit(text_of, end) for end in (out, err)]
            try:
                printed, said = (each.result(timeout) for each in texts)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._channel.recv(MESSAGE_BYTES)
                raise subprocess.TimeoutExpired(command, timeout) from None
        return subprocess.CompletedProcess(command, int(self._channel.recv(MESSAGE_BYTES)), printed, said)

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait()


def at_start(environment: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """Return those of the variables that only a new process would heed."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def text_of(end: int) -> str:
    """Return all that comes out of a pipe."""
    with open(end) as file:
        return file.read()


def import_all() -> None:
    """Import what commands need, but set nothing up for them."""
    import stackrace
    from stackrace.store.database import configure

    configure()
    for module in pkgutil.walk_packages(stackrace.__path__, "stackrace."):
        if not any(part in module.name for part in ELSEWHERE):
            import_module(module.name)
    # several tests at once would leave each other's servers nothing for seconds
    import_module("stackrace.race.preparation.set_up").can_raise = lambda: False


def asked(channel: socket.socket) -> list[str]:
    """Fork for each command; return it in the new process, all being as it asked."""
    while True:
        message, ends, _, _ = socket.recv_fds(channel, MESSAGE_BYTES, 2)
        if not message:
            os._exit(0)
        if pid := os.fork():
            for end in ends:
                os.close(end)
            channel.send(str(pid).encode())
            channel.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
            continue
        channel.close()
        command, folder, environment = json.loads(message)
        for number, name, end in zip((1, 2), ("stdout", "stderr"), ends, strict=True):
            os.dup2(end, number)
            os.close(end)
            was = getattr(sys, name)
            # a file knows since it was opened whether it can be sought in
            buffering = -1 if number == 1 else 1
            setattr(sys, name, open(number, "w", buffering, was.encoding, was.errors, closefd=False))  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        return command


if __name__ == "__main__":
    import_all()
    sys.argv = asked(socket.socket(fileno=int(sys.argv[1])))
    sys.path[0] = str(Path(sys.argv[0]).parent)
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code or 0
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(code)  # taking all the modules apart takes as long as importing them
