"""Small real races and loads on this machine, with the liar among the stacks; nothing of them is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stackrace.app.app import Entry, EntryKind
from stackrace.deploy.local_machine import LocalMachine
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Nonce, NoncePlace, Workload
from stackrace.race.preparation.prepared import plan_of
from stackrace.race.preparation.set_up import Deployment, set_up
from stackrace.race.request.request import RaceRequest
from stackrace.race.results.race import Race
from stackrace.race.run.runner import run
from stackrace.stacks.stack import Stack
from stackrace.stats.values import Question
from stackrace.validity.registry import check_limits

from .fault import Fault, Found, How, Told, in_race, replayed

HERE = Path(__file__).parent
SERVERS = HERE / "servers"
PAGE = RaceRequest(
    folder=HERE / "app",
    entry=Entry(kind=EntryKind.WSGI, target="page:application"),
    urls=("/",),
    servers=SERVERS,
    timeout_s=1.0,
    seed=1,
)
"""What every race of the suite asks for, unless a fault is about something else."""

STATE: list[Path] = []
"""The file by which launches of the race that runs now are told what to do."""


def liar(lie: str, **settings: object) -> str:
    """Return the stack that tells ``lie``."""
    given = {"lie": lie, **settings}
    return "liar:" + ",".join(f"{name}={value}" for name, value in given.items())


@contextmanager
def staged(asked: RaceRequest) -> Iterator[Deployment]:
    """Set up what is asked for; what launches must know of one another lies in a file that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lies-") as folder:
        Path(folder).chmod(0o777)
        STATE.append(Path(folder, "launches"))
        known = {**asked.environment, "LIES_STATE": str(STATE[-1])}
        try:
            with set_up(replace(asked, environment=known)) as stage:
                yield stage
        finally:
            STATE.pop()


def runs(
    *stacks: str,
    seconds: float = 0.6,
    requests: int | None = None,
    repeats: int = 1,
    concurrency: Sequence[int] = (8,),
    nonce: bool = False,
    twin: bool = False,
    machine: Callable[..., LocalMachine] = LocalMachine,
    **changes: object,
) -> Race:
    """Race ``stacks`` in runs: each on a fresh launch, cold, for ``seconds``, or as many ``requests``.

    ``machine`` may be one that tampers or looks on.
    """
    length = {"run_s": seconds} if requests is None else {"run_requests": requests}
    asked = request(stacks, concurrency, repeats=repeats, **length, **changes)
    return _raced(asked, nonce=nonce, twin=twin, machine=machine)


def slices(
    *stacks: str,
    budget_s: float,
    slice_s: float = 0.5,
    concurrency: Sequence[int] = (8,),
    machine: Callable[..., LocalMachine] = LocalMachine,
    **changes: object,
) -> Race:
    """Race ``stacks`` in slices, warmed up and interleaved, until ``budget_s`` is spent."""
    asked = request(stacks, concurrency, budget_s=budget_s, slice_s=slice_s, exhaustive=True, **changes)
    return _raced(asked, nonce=False, twin=False, machine=machine)


def request(stacks: Sequence[str], concurrency: Sequence[int], **changes: object) -> RaceRequest:
    """Return what is asked for; ``changes`` are fields of the request."""
    usual = replace(PAGE, stacks=tuple(stacks), concurrency=tuple(concurrency), question=Question.RANKING)
    return replace(usual, **changes)  # type: ignore[arg-type]


def _raced(asked: RaceRequest, *, nonce: bool, twin: bool, machine: Callable[..., LocalMachine]) -> Race:
    with staged(asked) as stage:
        plan = replace(plan_of(asked, stage), twin=twin)
        if nonce:
            own = Nonce(place=NoncePlace.HEADER, name="X-Nonce")
            plan = replace(plan, workloads=tuple(replace(one, nonce=own) for one in plan.workloads))
        check_limits(plan.race.loads, plan.race.cores)
        return run(plan, stage.machine(machine), lambda _: None)


def told(
    lie: str,
    does: str,
    *expects: str,
    how: How = How.REAL,
    workers: int = 1,
    **options: object,
) -> Fault:
    """Return the fault of racing a liar that tells ``lie``; ``options`` are those of ``runs``."""
    stack = liar(lie) if workers == 1 else liar(lie, workers=workers)
    return Fault(
        name=lie,
        does=does,
        expects=expects,
        how=how,
        inject=lambda: in_race(runs(stack, **options)),  # type: ignore[arg-type]
        told=Told(stack=stack, options=tuple(options.items())),
    )


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
