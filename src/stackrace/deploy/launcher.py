"""Start of one stack, until it answers correctly."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from ..base.errors import LaunchError, said_by
from ..base.files import remove_tree
from ..base.process import Deadline, OverdueError
from ..base.secrets import register_secrets
from ..base.temporary import RUN, shortage
from ..measure.engine.visitor import Reply, Visitor, difference, questions
from ..measure.launch import Failure, FailureKind
from ..measure.workload import Request, Workload
from ..stacks.servers import Catalogue, Hosted
from ..stacks.stack import Stack, original_path
from .confinement import Confinement, Group, exceeded
from .guard import Guard
from .installation import find_binary
from .privileges import hand_over, unprivileged
from .rendering import Part, render_stack
from .running_stack import OUTPUT, Running, ended, tail
from .shutdown import COUNT
from .sockets import LOOPBACK, accepts, free_port
from .startup import Workers, awaited_cause, cause, has_logged, last_words
from .wrong_answers import KnownAnswers, accusation

_POLL_S = 0.02
_START_TIMEOUT_S = 20.0
"""Seconds for a start: enough for most apps; an app that was slow in its examination gets more."""
_MOST_START_TIMEOUT_S = 120.0
_STARTS = 5.0
"""Maximum ratio of a start to the examination: several workers on one core load the app at the same time."""
_CHANGE_OF_MIND_S = 8.0
"""Seconds after which a wrong answer is not expected to become right."""
_IN_USE = ("Address already in use", "address already in use")
"""Words of servers for a port that another program has, even if nobody listens on it."""


class LaunchFailed(LaunchError):  # noqa: N818 (names a past event)
    """Error of a stack that did not start; ``failure`` becomes its result."""

    def __init__(self, kind: FailureKind, message: str, log: str = "") -> None:
        super().__init__(message, detail=log)
        self.failure = Failure(kind=kind, message=self.message, log=self.detail)


class _Unlucky(LaunchFailed):
    """Error of a start that is tried once more: a known bug ended the server, or another program has its port."""


@dataclass(slots=True, kw_only=True)
class _Start:
    """A start in progress: its folder, its processes, and its time limit."""

    directory: Path
    port: int
    """Port of the front hop."""
    limit_s: float
    since_s: float = field(init=False)
    deadline: Deadline = field(init=False)
    alive: set[int] = field(default_factory=set)
    """Pids of all living processes of the stack, when last looked at."""
    group: Group | None = None
    spawned: list[tuple[Part, int]] = field(default_factory=list)
    """Started parts with their pids."""
    workers: dict[int, Workers] = field(default_factory=dict)
    """Workers of each first process, by its pid."""

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start counting the time now."""
        self.since_s, self.deadline = time.monotonic(), Deadline(self.limit_s, lambda: self.alive)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Launcher of one app's stacks, below a guard's directory."""

    guard: Guard
    catalogue: Catalogue
    host_for: Callable[[Stack], Hosted]
    """Function that returns the app as a stack's last hop sees it."""
    environment: Mapping[str, str]
    """The app's environment variables."""
    workloads_for: Callable[[Stack], Sequence[Workload]]
    """Function that returns the workloads that a stack must answer."""
    cores: tuple[int, ...]
    """Cores of a stack once it is up; empty for all."""
    confinement: Confinement = field(default_factory=Confinement)
    """Memory limits of stacks."""
    known: KnownAnswers = field(default_factory=KnownAnswers)
    """Current right answers, checked again with the app itself before a stack is blamed."""
    debug: bool = False
    """True if the app runs in debug mode."""
    examination_s: float = 0.0
    """Seconds that the app itself took to load and answer."""
    host: str = LOOPBACK
    """Address that stacks listen on; not loopback if load comes from other machines."""
    laid_out: tuple[int, Callable[[Path], tuple[Part, ...]]] | None = None
    """Port, and function that returns the parts to start in a folder, such as exported files; None to render."""
    reusable: dict[str, Running] = field(default_factory=dict)
    """Running stacks by path; the next launch of the same stack, or of its twin, takes one out and returns it."""

    @property
    def start_timeout_s(self) -> float:
        """Seconds that a start may take, from the first process to the first right answer."""
        return min(max(_START_TIMEOUT_S, _STARTS * self.examination_s), _MOST_START_TIMEOUT_S)

    def launch(self, stack: Stack, *, port: int | None = None, timeout_s: float | None = None) -> Running:
        """Start ``stack`` and return once every URL of its workloads is answered correctly.

        ``timeout_s`` limits the start, by default to ``start_timeout_s``; without ``port`` any free one is used. A
        start that a bug in ``Recipe.rare_crashes`` ends, or that finds a port taken, is tried once more.

        Raises LaunchFailed, with nothing left running, if a process cannot be started or ends, if it is not ready
        in time, or if an answer differs from the app's own.
        """
        kept = self.reusable.pop(original_path(stack.path), None)
        if kept is not None:
            if self.failure_of(kept) is None:
                return replace(kept, stack=stack)
            self.discard(kept)
        try:
            return self._launch(stack, port, timeout_s)
        except _Unlucky:
            return self._launch(stack, port, timeout_s)

    def _launch(self, stack: Stack, port: int | None, timeout_s: float | None) -> Running:
        start = _Start(
            directory=self._directory(),
            port=port or (free_port() if self.laid_out is None else self.laid_out[0]),
            limit_s=self.start_timeout_s if timeout_s is None else timeout_s,
        )
        try:
            start.group = self._group()
            parts = self._parts(stack, start)
            # rendering may have installed the packages of a server
            start.begin()
            self._bring_up(parts, start)
            for workload in self.workloads_for(stack):
                self._wait_right(workload, start)
            ready_s = start.deadline.elapsed_s
            # a start may use every core; from here on the stack runs on its own cores only
            self._pin(start)
        except BaseException as error:
            failed = self._out_of_memory(start.group)
            self._abandon(start.spawned, start.directory, start.group)
            if isinstance(error, LaunchFailed):
                short = shortage(self.guard.directory, RUN)
                if failed is not None or short:
                    kind = error.failure.kind if failed is None else FailureKind.NOT_STARTED
                    message = (failed or error.failure).message + short
                    raise LaunchFailed(kind, message, error.failure.log) from error
            raise
        return Running(
            stack=stack,
            host=self.host,
            port=start.port,
            directory=start.directory,
            parts=tuple(start.spawned),
            started_s=start.since_s,
            ready_s=ready_s,
            group=start.group,
        )

    def _parts(self, stack: Stack, start: _Start) -> tuple[Part, ...]:
        try:
            if self.laid_out is not None:
                return self.laid_out[1](start.directory)
            return render_stack(
                stack,
                catalogue=self.catalogue,
                app=self.host_for(stack),
                directory=start.directory,
                front=(self.host, start.port),
                cores=max(len(self.cores), 1),
            )
        except LaunchError as error:
            raise LaunchFailed(FailureKind.NOT_STARTED, error.message) from error

    def _bring_up(self, parts: Sequence[Part], start: _Start) -> None:
        for _, copies in groupby(parts, key=lambda part: part.hop):
            instances = tuple(copies)
            # all instances of a hop start at the same time: each has to import the whole app
            for part in instances:
                self._check(part)
                _require_free(part)
                start.spawned.append((part, self._spawn(part, start.group)))
            for part in instances:
                self._wait_listening(part, start)

    def failure_of(self, running: Running) -> Failure | None:
        """Return the failure of ``running`` if one of its processes ended unexpectedly; None if all run."""
        states = self.guard.status([pid for _, pid in running.parts])
        for part, pid in running.parts:
            code = states[pid].code
            if code is not None:
                directory = part.site.directory
                message, log = _explained(f"{part.hop} {ended(code)}", last_words(directory)), tail(directory)
                died = Failure(kind=FailureKind.DIED, message=message, log=log)
                return self._out_of_memory(running.group, log) or died
        return None

    def forget(self, paths: Iterable[str]) -> None:
        """End the kept stacks, except those at ``paths``."""
        raced = set(paths)
        for path in [path for path in self.reusable if path not in raced]:
            self.discard(self.reusable.pop(path))

    def discard(self, running: Running) -> None:
        """Kill a stack at once, even with requests in progress, and remove its folder."""
        self._abandon(running.parts, running.directory, running.group)

    def pin(self, running: Running) -> None:
        """Bind a stack to its cores once more: processes started during the first binding may have escaped."""
        for _, pid in running.parts:
            self.guard.pin(pid, self.cores)

    def _out_of_memory(self, group: Group | None, log: str = "") -> Failure | None:
        memory_bytes = self.confinement.memory_bytes
        if group is None or memory_bytes is None or not group.oom_kills:
            return None
        return exceeded(memory_bytes, log=log)

    def _group(self) -> Group | None:
        try:
            return self.confinement.group()
        except OSError as error:
            raise LaunchFailed(
                FailureKind.NOT_STARTED, f"its control group cannot be made: {error.strerror}"
            ) from error

    def _pin(self, start: _Start) -> None:
        """Bind a stack to its cores by affinity, and by its control group, if any, which overrides affinity."""
        for _, pid in start.spawned:
            self.guard.pin(pid, self.cores)
        if start.group is None or not self.cores:
            return
        try:
            start.group.pin(self.cores)
        except OSError as error:
            message = f"its control group cannot be bound to its cores: {error.strerror}"
            raise LaunchFailed(FailureKind.NOT_STARTED, message) from error

    def _directory(self) -> Path:
        directory = Path(tempfile.mkdtemp(prefix="l", dir=self.guard.directory))
        hand_over(directory)
        return directory

    def _check(self, part: Part) -> None:
        for command, right_code in (
            *((each, 0) for each in part.first),
            (part.recipe.check, part.recipe.check_code),
        ):
            if not command:
                continue
            try:
                result = self.guard.view.run(
                    [*part.before, *unprivileged(), *_absolute(command, part.folders)],
                    folder=part.site.directory,
                    environment=self._variables(part),
                    timeout_s=self.start_timeout_s,
                )
            except OverdueError as error:
                message = f"{part.hop} did not end its config test {error.when}"
                raise LaunchFailed(FailureKind.NOT_STARTED, message) from error
            if result.code != right_code:
                raise LaunchFailed(
                    FailureKind.NOT_STARTED,
                    f"{part.hop} rejects its configuration",
                    result.output[-2000:],
                )

    def _spawn(self, part: Part, group: Group | None) -> int:
        try:
            return self.guard.spawn(
                [*part.before, *unprivileged(), *_absolute(part.recipe.command, part.folders)],
                view=self.guard.view,
                environment=self._variables(part),
                folder=part.site.app.root,
                log=part.site.directory / OUTPUT,
                stop=part.recipe.stop,
                group=None if group is None else group.folder,
                data_bytes=self.confinement.data_bytes,
            )
        except LaunchError as error:
            raise LaunchFailed(FailureKind.NOT_STARTED, error.message) from error

    def _variables(self, part: Part) -> dict[str, str]:
        own = part.recipe.environment
        paths = [source["PYTHONPATH"] for source in (own, self.environment) if source.get("PYTHONPATH")]
        joined = {"PYTHONPATH": os.pathsep.join(paths)} if paths else {}
        count = {"STACKRACE_COUNT": str(part.site.directory / COUNT)}
        variables = {**self.environment, "TMPDIR": str(part.site.directory), **count, **own, **joined}
        if home := self.guard.view.variables(variables).get("HOME"):
            # a server may set another one
            variables["STACKRACE_HOME"] = home
        # secrets are collected here, because the app may have been examined in another process
        register_secrets(variables, part.site.app.root.parts)
        return variables

    def _wait_listening(self, part: Part, start: _Start) -> None:
        """Wait until ``part`` listens: a front end that cannot connect to a hop may avoid that hop for a minute.

        Raises LaunchFailed if a process ends, or the time is over.
        """
        while not accepts(part.site.listen):
            self._check_processes(start)
            if start.deadline.is_over:
                raise LaunchFailed(
                    FailureKind.NOT_READY,
                    f"{part.hop} does not listen on {part.site.listen.address} {start.deadline.when}",
                    tail(part.site.directory),
                )
            time.sleep(_POLL_S)

    def _wait_right(self, workload: Workload, start: _Start) -> None:
        """Wait for right answers through the whole chain. A first wrong answer may only mean "not ready"."""
        visitor = Visitor(self.host, start.port, workload)
        for request, golden in questions(self.known.now(workload)):
            wrong, asked = None, f"{request.method} {request.path}"
            while True:
                silence = ""
                try:
                    timeout_s = min(max(start.deadline.left_s, 0.1), 5.0)
                    reply = visitor.ask(request, timeout_s)
                    if not difference(reply, golden):
                        break
                    wrong = reply
                except OSError as error:
                    silence = f"no answer ({said_by(error)})"
                self._check_processes(start)
                # after this time, a wrong answer is not expected to become right
                has_settled = not silence and start.deadline.spent_s > _CHANGE_OF_MIND_S
                if has_settled or start.deadline.is_over:
                    # the time limit may have cut off the last request; an earlier wrong answer says more
                    if wrong is None:
                        raise LaunchFailed(FailureKind.NOT_READY, f"{asked}: {silence}", tail(start.directory))
                    if not self._is_right_after_all(workload, request, wrong):
                        message = f"{asked}: {accusation(request, wrong, golden, debug=self.debug)}"
                        raise LaunchFailed(FailureKind.WRONG_ANSWER, message, tail(start.directory))
                    break
                time.sleep(_POLL_S)

    def _is_right_after_all(self, workload: Workload, request: Request, reply: Reply) -> bool:
        """Ask the app itself again before a stack is blamed; return whether ``reply`` is now right.

        Some answers of an app change rarely, so that its examination has not noticed.
        """
        if not self.known.doubt(workload, [request]):
            return False
        return any(
            asked == request and not difference(reply, golden)
            for asked, golden in questions(self.known.now(workload))
        )

    def _check_processes(self, start: _Start) -> None:
        states = self.guard.status([pid for _, pid in start.spawned])
        start.alive = {pid for state in states.values() for pid in state.alive}
        for part, pid in start.spawned:
            directory, state = part.site.directory, states[pid]
            workers = start.workers.setdefault(pid, Workers(pid))
            workers.look(state.alive)
            words, why = "", cause
            if state.code is not None:
                words, why = f"{part.hop} {ended(state.code)} at start", last_words
            elif workers.end_at_start(directory):
                words = f"the workers of {part.hop} end at start"
            elif has_logged(directory, part.recipe.unloadable):
                words, why = f"{part.hop} cannot load the app", partial(awaited_cause, alive=state.alive)
            if words:
                message = _explained(words, why(directory))
                # a process that ended while its port is in use: another program took the port first
                is_rare = state.code is not None and (
                    -state.code in part.recipe.rare_crashes
                    or accepts(part.site.listen)
                    or has_logged(directory, _IN_USE)
                )
                failed = _Unlucky if is_rare else LaunchFailed
                raise failed(FailureKind.NOT_STARTED, message, tail(directory))

    def _abandon(self, spawned: Sequence[tuple[Part, int]], directory: Path, group: Group | None) -> None:
        for _, pid in reversed(spawned):
            self.guard.kill(pid)
        remove_tree(directory)
        if group is not None:
            group.remove()


def _explained(message: str, reason: str) -> str:
    """Return ``message`` followed by the reason that the logs give, if any."""
    return f"{message}: {reason}" if reason else message


def _require_free(part: Part) -> None:
    """Raise LaunchFailed if another program listens on ``part``'s address and would be mistaken for the stack.

    A free port stays free only until a program binds it, and two hops of one stack may have got the same port.
    """
    if accepts(part.site.listen):
        message = f"{part.hop} cannot listen on {part.site.listen.address}: another program does"
        raise _Unlucky(FailureKind.NOT_STARTED, message)


def _absolute(command: tuple[str, ...], folders: Sequence[Path]) -> tuple[str, ...]:
    return (find_binary(command[0], folders) or command[0], *command[1:])
