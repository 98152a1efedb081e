"""One stack, launched as in a race and loaded in ways that no race knows: open loops, shared cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from stackrace.deploy.local_machine import LocalMachine
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Workload
from stackrace.stacks.stack import Stack

from .fault import Found
from .racing import request, staged
from .replaying import replayed


class Up:
    """A stack that is up."""

    def __init__(self, machine: LocalMachine, stack: Stack, workload: Workload) -> None:
        self._machine, self._stack, self._workload = machine, stack, workload

    def found(self, load: Load) -> Found:
        """Send ``load`` and return what the checks say of it."""
        return replayed(self._machine.load(self._stack, self._workload, load, 0.0))


@contextmanager
def up(path: str, *, cores: Resources | None = None) -> Iterator[Up]:
    """Have the stack ``path`` up; ``cores`` are those of stack and engine unless they are to be the usual ones."""
    with staged(request([path], [1])) as stage:
        stack = stage.stacks[0]
        machine = replace(stage, cores=cores or stage.cores).machine()
        launched = machine.launch(stack, 10.0)
        assert launched.failure is None, launched.failure
        try:
            yield Up(machine, stack, stage.workloads[0])
        finally:
            machine.retire([stack]).finish()


def observed(path: str, load: Load) -> Found:
    """Return what the checks say of one load on the stack ``path``."""
    with up(path) as running:
        return running.found(load)
