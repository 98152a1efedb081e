"""Launches many stacks for the tests, two at a time, each in a directory and under a supervisor of its own."""

from __future__ import annotations

import http.client
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Lock

from _pytest.mark import ParameterSet
from tests.ordinary import ordinarily

from stackrace.app.app import App
from stackrace.app.environment import app_environment
from stackrace.app.examiner.messages import PythonFacts
from stackrace.base.errors import MissingError
from stackrace.deploy.environments import Environments
from stackrace.deploy.guard import Guard
from stackrace.deploy.installation import require
from stackrace.deploy.launcher import Launcher
from stackrace.deploy.rendering import hosted
from stackrace.measure.workload import Workload
from stackrace.stacks.servers import Hosted, catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack import Stack
from stackrace.stacks.stack_path import parse_stack

AT_A_TIME = 2
"""Starting a stack is mostly waiting for imports; a third one would only wait for the others."""

HEAD_WITH_A_BODY = ("h2o/fastcgi/flup", "h2o/fastcgi/uwsgi")
"""Stacks that send a body to HEAD: H2O takes off what the app gave over http alone."""

NO_FILES = frozenset({"haproxy", "unit", "varnish"})
"""Front ends that serve no files, so that the hop behind them does."""

UNRELIABLE = "openlitespeed/ajp/"
"""Stacks that begin so garble large answers, and give some none: docs/stacks.md warns of them. That they start and
end is all that can be asked of them."""

OFFERED = frozenset({Interface.WSGI, Interface.ASGI})

Work = Callable[[str, Launcher], None]


def lacking(path: str, offered: frozenset[Interface] = OFFERED) -> str:
    """Say what of a stack is not installed here, empty when all is."""
    entries = catalogue()
    try:
        require(parse_stack(path, entries.specs, offered), entries, sys.version_info[:2])
    except MissingError as error:
        return error.message
    return ""


def is_alone(path: str) -> bool:
    """Tell whether no other stack like this one can be up at the same time."""
    return parse_stack(path, catalogue().specs, frozenset(Interface)).is_alone


def launchable(paths: Iterable[str], offered: frozenset[Interface] = OFFERED) -> list[str]:
    """Return those of ``paths`` of which nothing is missing here.

    A test is generated for each of these only; ``test_installed.py`` names the servers that are missing.
    """
    return [path for path in paths if not lacking(path, offered)]


def of_one_process(path: str) -> str:
    """Return the stack of ``path`` whose last hop, by default of several processes, has one: each loads the app."""
    end = path.rpartition("/")[2]
    settings = {setting.name for setting in catalogue().specs[end.partition(":")[0].rpartition("+")[2]].settings}
    counts = [f"{name}=1" for name in ("workers", "processes") if name in settings and f"{name}=" not in end]
    if not counts or "mode=embedded" in end:
        return path
    return f"{path}{',' if ':' in end else ':'}{counts[0]}"


def some_of(paths: Iterable[str], some: Iterable[str]) -> list[ParameterSet]:
    """Return those of ``paths`` of which nothing is missing here as parameters: all but ``some`` are exhaustive."""
    return ordinarily(launchable(dict.fromkeys(paths)), set(some))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The app that is launched: its environment's interpreter, its variables, and what it should answer."""

    app: App
    interpreter: PythonFacts
    environments: Environments
    environment: Mapping[str, str]
    workload: Workload
    asgi: App | None = None
    """The app where a stack hosts it by ASGI, None for the same."""

    def launcher(self, guard: Guard) -> Launcher:
        """Return a launcher below ``guard``'s directory."""

        def host_for(stack: Stack) -> Hosted:
            entries = catalogue().entries
            needed = {name for hop in stack.hops for name in entries[hop.server].requirements(hop.settings)}
            home = self.environments.layered(self.interpreter, sorted(needed))
            return hosted(
                self.asgi if self.asgi is not None and stack.interface is Interface.ASGI else self.app,
                stack.interface,
                home=home,
                folder=guard.directory,
                app_packages=self.interpreter.site_packages,
            )

        return Launcher(
            guard=guard,
            catalogue=catalogue(),
            host_for=host_for,
            environment=self.environment,
            workloads_for=lambda _: (self.workload,),
            cores=(),
        )


def launcher_of(guard, app, *workloads, servers=None, **variables):
    """Return what launches stacks of ``app``, which has no Python."""
    return Launcher(
        guard=guard,
        catalogue=servers or catalogue(),
        host_for=lambda stack: hosted(app, stack.interface, home=None, folder=guard.directory, app_packages=()),
        environment={**app_environment(app), **variables},
        workloads_for=lambda _: workloads,
        cores=(),
    )


class Farm:
    """Does ``work`` on every one of ``paths``, in their order, ahead of the tests that ask for the outcomes."""

    def __init__(self, paths: Iterable[str], make_launcher: Callable[[Guard], Launcher], work: Work) -> None:
        self._guards = [Guard() for _ in range(AT_A_TIME)]
        self._free: SimpleQueue[Launcher] = SimpleQueue()
        for guard in self._guards:
            self._free.put(make_launcher(guard))
        self._alone = Lock()
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        self._work = work
        self._outcomes: dict[str, Future[None]] = {path: self._pool.submit(self._do, path) for path in paths}

    def outcome(self, path: str) -> None:
        """Wait for ``path``; raises what went wrong with it."""
        self._outcomes[path].result()

    def close(self) -> None:
        """Let what has begun end, drop the rest, and see that nothing is left."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for guard in self._guards:
            guard.close()
            assert not guard.directory.exists()

    def _do(self, path: str) -> None:
        launcher = self._free.get()
        try:
            with self._alone if is_alone(path) else nullcontext():
                self._work(path, launcher)
        finally:
            self._free.put(launcher)


@dataclass(frozen=True, slots=True)
class Got:
    """An answer with its headers, names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(
    port: int, method: str, path: str, body: bytes | None = None, headers: Sequence[tuple[str, str]] = ()
) -> Got:
    """Send one request on a connection of its own; the path goes out as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1800)
    try:
        connection.request(method, path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        content = answer.read()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)
    finally:
        connection.close()


def head_is_bare(path: str) -> bool:
    """Tell whether the stack keeps to RFC 9110 section 9.3.2: no body in an answer to HEAD."""
    return path.partition(":")[0] not in HEAD_WITH_A_BODY


def head(port: int, path: str) -> tuple[int, bytes]:
    """Send HEAD and return the status with every byte that came after the header, which should be none.

    ``http.client`` would not even look for a body.
    """
    request = f"HEAD {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=1800) as connection:
        connection.sendall(request.encode("ascii"))
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    start, _, body = answer.partition(b"\r\n\r\n")
    return int(start.split()[1]), body
