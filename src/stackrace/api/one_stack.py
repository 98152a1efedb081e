"""One stack of a race: started to be looked at or loaded, and stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote

from ..base.errors import InputError, LaunchError
from ..deploy.preparing import OnPreparing, Preparing, Step
from ..deploy.running_stack import Running, versions_of
from ..deploy.shutdown import stop
from ..race.preparation.set_up import Deployment, set_up
from ..race.request.request import RaceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class StackUp:
    """Running stack that answers."""

    deployment: Deployment
    running: Running

    @property
    def versions(self) -> dict[str, str]:
        """Version of each server and of the interpreter, by name; empty where it is unknown."""
        runtime = self.running.parts[0][0].site.app.runtime
        return versions_of(self.running.stack, self.deployment.launcher.catalogue, runtime)

    def refuse_dead(self) -> None:
        """Raise LaunchError with the last log lines of a process that ended by itself."""
        failure = self.deployment.launcher.failure_of(self.running)
        if failure is not None:
            raise LaunchError(failure.message, detail=failure.log)


def stack_flags(stacks: Sequence[str]) -> str:
    """Return the flags that choose one of ``stacks``: ``--stack gunicorn or --stack uvicorn``."""
    return " or ".join(f"--stack {quote(path)}" for path in stacks)


def of_one_stack(request: RaceRequest, stack: str | None) -> RaceRequest:
    """Return ``request`` with ``stack`` alone, or with its only stack if ``stack`` is None.

    Workloads for this stack remain, or all if there are none. Raise InputError if the choice is not clear.
    """
    named = request.stacks or ()
    if stack is None and len(named) != 1:
        if not named:
            raise InputError(
                "which stack? Give one, as in --stack gunicorn; `stackrace stacks` lists what there is"
            )
        raise InputError(f"{request.source} races {len(named)} stacks; choose one: {stack_flags(named)}")
    chosen = stack or named[0]
    meeting = [workload for workload in request.workloads if workload.stacks is None or chosen in workload.stacks]
    workloads = tuple(replace(workload, stacks=None) for workload in meeting or request.workloads)
    return replace(request, stacks=(chosen,), workloads=workloads)


@contextmanager
def stack_up(request: RaceRequest, on_preparing: OnPreparing, *, port: int | None = None) -> Iterator[StackUp]:
    """Start the one stack of ``request`` as a race would, yield it, and leave nothing behind.

    Without ``port`` any free port is used. Raise LaunchError if the stack does not come up, and the same errors as
    the preparation of a race.
    """
    with set_up(request, on_preparing) as deployment:
        (chosen,) = deployment.stacks
        on_preparing(Preparing(step=Step.START, subject=chosen.path))
        running = deployment.launcher.launch(chosen, port=port)
        try:
            yield StackUp(deployment=deployment, running=running)
        finally:
            stop(deployment.guard, [running])
