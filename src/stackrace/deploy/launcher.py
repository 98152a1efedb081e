"""Starts one stack, waits until it answers rightly, and stops it so that nothing is left."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import LaunchError
from ..model.launch import Failure, FailureKind
from ..model.stack import Stack
from ..model.workload import Workload
from ..servers import Catalogue, Hosted
from .guard import Guard, Status
from .installation import find_binary
from .listening import accepts
from .logs import OUTPUT, tail
from .ports import LOOPBACK, free_port
from .privileges import unprivileged
from .rendering import Part, render_stack
from .wire import ask, difference

__all__ = ["LaunchFailed", "Launcher", "Running"]

POLL_S = 0.02


class LaunchFailed(LaunchError):  # noqa: N818 (a past event, told as such)
    """A stack did not come up; ``failure`` becomes its result."""

    def __init__(self, kind: FailureKind, message: str, log: str = "") -> None:
        super().__init__(message, detail=log)
        self.failure = Failure(kind=kind, message=message, log=log)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A stack that is up. ``parts`` come last hop first, each with its pid; ``started_s`` is monotonic."""

    stack: Stack
    host: str
    port: int
    directory: Path
    parts: tuple[tuple[Part, int], ...]
    started_s: float
    ready_s: float

    @property
    def hops(self) -> dict[str, tuple[int, ...]]:
        """The first process of every instance, by hop name, front first."""
        hops: dict[str, tuple[int, ...]] = {}
        for part, pid in reversed(self.parts):
            hops[part.hop] = (*hops.get(part.hop, ()), pid)
        return hops


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Launches stacks of one app below a guard's directory.

    ``host_for`` gives the app as a stack's last hop sees it. ``timeout_s`` bounds a start, from the first
    process to the first right answer.
    """

    guard: Guard
    catalogue: Catalogue
    host_for: Callable[[Stack], Hosted]
    environment: Mapping[str, str]
    workload: Workload
    cores: tuple[int, ...]
    timeout_s: float = 20.0

    def launch(self, stack: Stack, port: int | None = None) -> Running:
        """Start ``stack`` and return once every request of the workload is answered rightly.

        Raises LaunchFailed, with nothing left running, when a process cannot be started or ends, when it does not
        become ready in time, or when an answer differs from the app's own.
        """
        directory = self._directory()
        started = time.monotonic()
        spawned: list[tuple[Part, int]] = []
        front_port = port or free_port()
        try:
            parts = render_stack(
                stack,
                catalogue=self.catalogue,
                app=self.host_for(stack),
                directory=directory,
                port=front_port,
                cores=max(len(self.cores), 1),
            )
            for part in parts:
                self._check(part)
                spawned.append((part, self._spawn(part)))
                self._wait_listening(part, spawned, started)
            self._wait_right(stack, front_port, spawned, directory, started)
            ready_s = time.monotonic() - started
            # a start may use every core; from here on the stack has its budget and no more
            for _, pid in spawned:
                self.guard.pin(pid, self.cores)
        except BaseException:
            self._abandon(spawned, directory)
            raise
        return Running(
            stack=stack,
            host=LOOPBACK,
            port=front_port,
            directory=directory,
            parts=tuple(spawned),
            started_s=started,
            ready_s=ready_s,
        )

    def failure_of(self, running: Running) -> Failure | None:
        """Tell whether a process of ``running`` ended although nobody asked it to."""
        states = self.guard.status([pid for _, pid in running.parts])
        for part, pid in running.parts:
            code = states[pid].code
            if code is not None:
                return Failure(
                    kind=FailureKind.DIED,
                    message=f"{part.hop} {_ended(code)}",
                    log=tail(part.site.directory),
                )
        return None

    def stop(self, runnings: Sequence[Running]) -> dict[str, Failure]:
        """Stop stacks side by side, front hops first; returns by stack path who had to be forced.

        Afterwards no process of theirs lives and their directories are gone.
        """
        complaints: dict[str, Failure] = {}
        for depth in range(max((len(running.parts) for running in runnings), default=0)):
            batch = [
                (running, *running.parts[len(running.parts) - 1 - depth])
                for running in runnings
                if depth < len(running.parts)
            ]
            complaints |= self._stop_batch(batch)
        for running in runnings:
            shutil.rmtree(running.directory, ignore_errors=True)
        return complaints

    def _directory(self) -> Path:
        number = 1 + sum(1 for _ in self.guard.directory.glob("l*"))
        while True:
            directory = self.guard.directory / f"l{number}"
            try:
                directory.mkdir()
            except FileExistsError:
                number += 1
                continue
            return directory

    def _check(self, part: Part) -> None:
        """Let the server's own checker read the configuration."""
        if not part.recipe.check:
            return
        done = subprocess.run(
            [*unprivileged(), *_absolute(part.recipe.check)],
            cwd=part.site.directory,
            env=self._variables(part),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LaunchFailed(
                FailureKind.NOT_STARTED,
                f"{part.hop} rejects its configuration",
                (done.stderr + done.stdout).strip()[-2000:],
            )

    def _spawn(self, part: Part) -> int:
        try:
            return self.guard.spawn(
                [*unprivileged(), *_absolute(part.recipe.command)],
                environment=self._variables(part),
                folder=part.site.app.root,
                log=part.site.directory / OUTPUT,
                stop=part.recipe.stop,
            )
        except LaunchFailed:
            raise
        except LaunchError as error:
            raise LaunchFailed(FailureKind.NOT_STARTED, error.message) from error

    def _variables(self, part: Part) -> dict[str, str]:
        own = part.recipe.environment
        paths = [source["PYTHONPATH"] for source in (own, self.environment) if source.get("PYTHONPATH")]
        joined = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
        return {**self.environment, "TMPDIR": str(part.site.directory), **own, **joined}

    def _wait_listening(self, part: Part, spawned: Sequence[tuple[Part, int]], started: float) -> None:
        """A front end that meets a closed door may shun it for a minute, so each hop waits for the one behind."""
        while not accepts(part.site.listen):
            self._look_for_ended(spawned)
            if time.monotonic() - started > self.timeout_s:
                raise LaunchFailed(
                    FailureKind.NOT_READY,
                    f"{part.hop} does not listen on {part.site.listen.address} after {self.timeout_s:.0f} s",
                    tail(part.site.directory),
                )
            time.sleep(POLL_S)

    def _wait_right(
        self, stack: Stack, port: int, spawned: Sequence[tuple[Part, int]], directory: Path, started: float
    ) -> None:
        """Ready means: right answers through the whole chain. A first wrong one may only mean not yet."""
        wrong = "no answer"
        kind = FailureKind.NOT_READY
        for request, golden in zip(self.workload.requests, self.workload.answers, strict=True):
            while True:
                left = self.timeout_s - (time.monotonic() - started)
                try:
                    reply = ask(LOOPBACK, port, request, self.workload.host, min(max(left, 0.1), 5.0))
                    wrong = difference(reply, golden)
                    kind = FailureKind.WRONG_ANSWER
                except (OSError, http.client.HTTPException) as error:
                    wrong, kind = f"no answer ({error})", FailureKind.NOT_READY
                if not wrong:
                    break
                self._look_for_ended(spawned)
                # an application that is up and answers otherwise will not change its mind for long
                patience = self.timeout_s if kind is FailureKind.NOT_READY else min(self.timeout_s, 8.0)
                if time.monotonic() - started > patience:
                    raise LaunchFailed(kind, f"{request.method} {request.path}: {wrong}", tail(directory))
                time.sleep(POLL_S)

    def _look_for_ended(self, spawned: Sequence[tuple[Part, int]]) -> None:
        states = self.guard.status([pid for _, pid in spawned])
        for part, pid in spawned:
            code = states[pid].code
            if code is not None:
                raise LaunchFailed(
                    FailureKind.NOT_STARTED, f"{part.hop} {_ended(code)} at start", tail(part.site.directory)
                )

    def _abandon(self, spawned: Sequence[tuple[Part, int]], directory: Path) -> None:
        for _, pid in reversed(spawned):
            self.guard.kill(pid)
        shutil.rmtree(directory, ignore_errors=True)

    def _stop_batch(self, batch: Sequence[tuple[Running, Part, int]]) -> dict[str, Failure]:
        begun = time.monotonic()
        for _, part, pid in batch:
            self.guard.signal(pid, part.recipe.stop)
        complaints: dict[str, Failure] = {}
        waiting = list(batch)
        while waiting:
            states = self.guard.status([pid for _, _, pid in waiting])
            over = time.monotonic() - begun
            still = []
            for running, part, pid in waiting:
                if not states[pid].family:
                    continue
                if over < part.recipe.stop_timeout_s:
                    still.append((running, part, pid))
                    continue
                complaints[running.stack.path] = _unstopped(part, states[pid])
                self.guard.kill(pid)
            waiting = still
            if waiting:
                time.sleep(POLL_S)
        return complaints


def _unstopped(part: Part, status: Status) -> Failure:
    name = signal.Signals(part.recipe.stop).name
    who = "left processes behind" if status.code is not None else "did not end"
    return Failure(
        kind=FailureKind.NOT_STOPPED,
        message=f"{part.hop} {who} within {part.recipe.stop_timeout_s:.0f} s of {name} and was killed",
        log=tail(part.site.directory),
    )


def _ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _absolute(command: tuple[str, ...]) -> tuple[str, ...]:
    """Servers such as nginx live in sbin folders, which a user's PATH may lack."""
    return (find_binary(command[0]) or command[0], *command[1:])
