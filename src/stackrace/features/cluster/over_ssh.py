"""A cluster of our own: a scheduler and workers started over SSH, and ended afterwards.

Who logs in where, and by which key, says SSH's own configuration, ~/.ssh/config.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...base.errors import BreakdownError, InputError, MissingError, StackraceError
from ...base.foreign import said_by
from . import tether
from .connection import INSTALL, quieten
from .settings import Role

__all__ = ["QUIET", "started"]

CONNECT_S = 10.0
"""How long a host is waited for."""
JOINS_S = 30.0
"""How long workers may take to join once they run."""
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""Members that look at themselves all the time use 2 % of a core while nothing is to be done, instead of 0.5 %."""
_SSH = {"connect_timeout": CONNECT_S, "login_timeout": CONNECT_S}
_TETHER = [tether.__name__]
_ASK = (
    "import os, distributed, stackrace.features.cluster.tether; "
    "print(os.environ.get('SSH_CONNECTION', '').split()[2:3])"
)
"""Whether all that is needed is there, and at which address of its own the host was reached: ssh(1)."""


@contextmanager
def started(hosts: Sequence[str], engine_hosts: Sequence[str] = ()) -> Iterator[str]:
    """Start a scheduler on the first of ``hosts`` and a worker on each machine; yield the scheduler's address.

    All end afterwards, and when this process is killed. Raises MissingError without asyncssh, and InputError that
    names every host that is not reached or has no stackrace.
    """
    _refuse_early()
    from distributed.deploy.spec import SpecCluster
    from distributed.deploy.ssh import Scheduler, Worker

    roles = {**dict.fromkeys(hosts, Role.STACK), **dict.fromkeys(engine_hosts, Role.ENGINE)}
    own = asyncio.run(_asked(tuple(roles)))
    # Dask reads from these lines that they run
    settings = {"DASK_LOGGING__DISTRIBUTED": "info", **QUIET}
    python = shlex.join(["env", *(f"{name}={value}" for name, value in settings.items()), sys.executable])

    def process(kind: type, name: str, options: dict[str, object], **more: str) -> dict[str, object]:
        ssh = {"address": name, "connect_options": _SSH, "remote_python": python}
        return {"cls": kind, "options": {**ssh, **more, "kwargs": {**own[name], **options, "preload": _TETHER}}}

    scheduler = process(Scheduler, hosts[0], {"port": 0, "dashboard": False, "dashboard_address": ":0"})
    workers = {
        name: process(
            Worker, name, {"name": name, "nthreads": 2, "resources": {role: 1}}, worker_class="distributed.Worker"
        )
        for name, role in roles.items()
    }
    quieten()
    try:
        cluster = SpecCluster(workers, scheduler, name="stackrace")
    except Exception as error:
        raise _not_started(error) from error
    try:
        _wait_for(cluster, len(workers))
        yield cluster.scheduler_address
    finally:
        # one that is lost has ended by itself
        with suppress(Exception):
            cluster.sync(_take_leave, tuple(cluster.workers.values()))
        with suppress(Exception):
            cluster.close()


def _wait_for(cluster: Any, workers: int) -> None:
    """Workers say where they are before they join."""
    try:
        cluster.wait_for_workers(workers, timeout=JOINS_S)
    except Exception as error:
        raise _not_started(error) from error


def _not_started(error: Exception) -> BreakdownError:
    return BreakdownError(
        f"[race] hosts: no cluster came about there ({said_by(error)}); the machines have to reach each other's "
        "ports, too. Start the scheduler and workers yourself to see what they say, and give [race] cluster"
    )


async def _take_leave(workers: Sequence[Any]) -> None:
    """Let the workers end by themselves, so that their folders go with them; Dask kills what is left."""
    for worker in workers:
        worker.proc.stdin.write_eof()
    await asyncio.wait_for(asyncio.gather(*(worker.proc.wait() for worker in workers)), tether.ENDS_S)


async def _asked(hosts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the options of each host by which Dask listens at its own address, where that is known."""
    answers = await asyncio.gather(*map(_ask, hosts), return_exceptions=True)
    wrong = [answer for answer in answers if isinstance(answer, BaseException)]
    for error in wrong:
        if not isinstance(error, StackraceError):
            raise error
    if wrong:
        raise InputError("\n".join(str(error) for error in wrong))
    return dict(zip(hosts, answers, strict=True))  # type: ignore[arg-type]


async def _ask(host: str) -> dict[str, str]:
    import asyncssh

    try:
        async with asyncssh.connect(host, **_SSH) as connection:
            # the path is the same on all machines, as is the project's
            done = await connection.run(shlex.join([sys.executable, "-c", _ASK]))
    except (OSError, asyncssh.Error) as error:
        raise InputError(
            f"[race] hosts: {host} is not reached by SSH ({said_by(error) or type(error).__name__}); "
            f"`ssh {host} true` has to work without a question, by what ~/.ssh/config says"
        ) from error
    if done.exit_status != 0:
        said = str(done.stderr).strip().rpartition("\n")[2]
        raise InputError(
            f"[race] hosts: {host} cannot run stackrace as {sys.executable} ({said}); install there, under the "
            f"same path, the version that runs here: {INSTALL}"
        )
    return _address(str(done.stdout))


def _address(said: str) -> dict[str, str]:
    address = said.strip(" \n[]'")
    return {"host": address} if address else {}


def _refuse_early() -> None:
    try:
        import asyncssh  # noqa: F401
        from distributed.security import Security
    except ImportError as error:
        raise MissingError(f"[race] hosts needs Dask and asyncssh: {INSTALL}") from error
    if Security().require_encryption:
        raise InputError(
            "[race] hosts: the cluster that it starts has no TLS, which Dask's configuration requires; start a "
            "scheduler and workers yourself, and give [race] cluster"
        )
