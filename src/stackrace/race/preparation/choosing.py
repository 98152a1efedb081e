"""The choice of stacks and levels: the requested ones, or those that suit the page and the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import InputError, StackError
from ...deploy.installation import require, require_fit
from ...measure.load import Load
from ...measure.resources import Resources
from ...measure.workload import PageTime, Workload
from ...stacks.servers import Catalogue, catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ...stacks.stack_path import parse_stack
from ..pacing.overhead import expected_overhead, launch_s
from ..pacing.pace import lengths_of, response_s
from ..pacing.schedule import FEWEST_BLOCKS, extent_of, plan_block
from ..plan import Cell
from ..request.request import RaceRequest
from ..results.race import LeftOut
from .app_examination import ExaminedApp
from .core_shares import usable_cores
from .defaults import LONGEST_RESPONSE_S, MOST_STACKS, SLOW_CONCURRENCY, budget_s_of, levels_of, most_used

if TYPE_CHECKING:
    from ..pacing.forecast import ForecastInput

_ANY = frozenset(Interface)

FEWEST = 2
"""The fewest stacks that can be compared."""

_ABOUT = 1.1
"""Factor up to which an answer counts as not slower than alone: bursts are short."""

_SHARE_READY = 0.2
"""Share of a budget for examining the app and its stacks; a long budget needs less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Stacks and levels to race."""

    candidates: tuple[Stack, ...]
    """Ready stacks, in the order in which they are taken."""
    left_out: tuple[LeftOut, ...]
    """Stacks left out because they cannot be raced here."""
    number: int
    """Number of candidates to race."""
    levels: tuple[int, ...]
    """Numbers of connections, ascending."""
    workloads: tuple[Workload, ...]
    """Workloads with the bursts of the tried stacks."""
    current: str = ""
    """Path of the project's current stack; empty if there is none."""


def choose(
    request: RaceRequest,
    examined: ExaminedApp,
    catalogue: Catalogue,
    cores: Resources,
    current: Stack | None = None,
    *,
    measured: Callable[[Sequence[Stack]], tuple[Workload, ...]] | None = None,
    all_named: bool = False,
) -> Choice:
    """Return the stacks and levels for the examined app; the project's ``current`` stack is raced in any case.

    ``measured`` tries candidates and returns the workloads with their bursts. With ``all_named`` all requested
    stacks are raced however short the budget is. Raises StackError, MissingError or InputError.
    """
    offered, interpreter = examined.interfaces, examined.interpreter
    python = None if interpreter is None else interpreter.minor
    left_out: tuple[LeftOut, ...] = ()
    if request.stacks is None:
        candidates, left_out = most_used(catalogue, offered, python)
    else:
        candidates = asked(request.stacks, catalogue, offered, python, request.folder)
    candidates, unstarted = _without_lifespan(candidates, examined, catalogue)
    left_out = (*left_out, *unstarted)
    if current is not None:
        candidates = _with_current(current, candidates, most=MOST_STACKS if request.stacks is None else None)
    workloads = examined.workloads if measured is None else measured(candidates)
    ahead = Ahead(request=request, workloads=workloads, cores=cores, loading=examined.loading)
    levels = ahead.levels(candidates)
    number = len(candidates) if all_named and request.stacks is not None else ahead.number(candidates, levels)
    path = "" if current is None else candidates[0].path
    return Choice(
        candidates=candidates, left_out=left_out, number=number, levels=levels, workloads=workloads, current=path
    )


def _without_lifespan(
    stacks: tuple[Stack, ...], examined: ExaminedApp, catalogue: Catalogue
) -> tuple[tuple[Stack, ...], tuple[LeftOut, ...]]:
    """Remove stacks whose servers send no lifespan events, if the ASGI app needs these events.

    Return the other stacks, and the removed ones with the reason. Raises InputError if no stack is left.
    """
    silent = [
        stack
        for stack in stacks
        if stack.interface is Interface.ASGI
        and not catalogue.entries[stack.hops[-1].server].sends_lifespan(stack.hops[-1].settings)
    ]
    if not silent or not (failing := examined.needs_lifespan()):
        return stacks, ()
    reason = f"sends no lifespan events, which this app needs: without them {failing}"
    if len(silent) == len(stacks):
        raise InputError(f"stack {silent[0].path!r} {reason}; race another stack")
    return (
        tuple(stack for stack in stacks if stack not in silent),
        tuple(LeftOut(stack=stack.path, reason=reason) for stack in silent),
    )


def _with_current(current: Stack, others: Sequence[Stack], most: int | None) -> tuple[Stack, ...]:
    """Return ``current`` and the others, at most ``most`` in all; a stack that was requested stands for an equal
    ``current``."""
    same = [other for other in others if other.identity == current.identity]
    first = same[0] if same and most is None else current
    return (first, *(other for other in others if other not in same))[:most]


def asked(
    paths: Sequence[str],
    catalogue: Catalogue,
    offered: frozenset[Interface] = _ANY,
    python: tuple[int, int] | None = None,
    folder: Path | None = None,
) -> tuple[Stack, ...]:
    """Return the requested stacks, even if their servers are not installed.

    Relative paths of configuration files in them start from ``folder``.

    Raises StackError for a path that is illegal or given twice, MissingError for one that does not run with the
    version ``python``.
    """
    stacks = [parse_stack(path, catalogue.specs, offered, folder) for path in paths]
    for index, stack in enumerate(stacks):
        _refuse_repeated(stack, stacks[:index])
        require_fit(stack, catalogue, python)
    return tuple(stacks)


def unserved(stacks: Iterable[Stack], examined: ExaminedApp) -> tuple[str, ...]:
    """Return the paths of the stacks that do not serve the app's WebSockets: WSGI has none."""
    if examined.django is None or not examined.django.web_sockets:
        return ()
    return tuple(stack.path for stack in stacks if stack.interface is Interface.WSGI)


def _refuse_repeated(stack: Stack, others: Sequence[Stack]) -> None:
    same = next((other for other in others if other.identity == stack.identity), None)
    if same is None:
        return
    if same.path == stack.path:
        raise StackError(f"stack {stack.path!r} is given twice; give each once")
    raise StackError(
        f"stacks {same.path!r} and {stack.path!r} are one: they differ in nothing but what a setting is anyway, "
        "with this app; give one of them"
    )


def ready_stack(path: str) -> Stack:
    """Return the stack at ``path``; raises StackError for an illegal one, MissingError if a server is missing."""
    stack = parse_stack(path, catalogue().specs, _ANY)
    require(stack, catalogue())
    return stack


def _levels_for(request: RaceRequest, workloads: Iterable[Workload], cores: int) -> tuple[int, ...]:
    """Return the requested load levels, or the first default ones at which no page takes too long to answer.

    A page that takes too long alone may get as many connections as do not slow it. Runs, whose length may be given
    by level, keep the usual defaults.
    """
    usual = levels_of(request)
    if request.concurrency or request.repeats is not None:
        return usual
    pages = [workload.page for workload in workloads]

    def suits(levels: tuple[int, ...]) -> bool:
        return all(
            response_s(page, max(levels), cores) <= max(LONGEST_RESPONSE_S, _ABOUT * response_s(page, 1, cores))
            for page in pages
        )

    return next((levels for levels in (usual, *SLOW_CONCURRENCY) if suits(levels)), SLOW_CONCURRENCY[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """Facts about a race before its levels and stacks are chosen."""

    request: RaceRequest
    workloads: tuple[Workload, ...]
    cores: Resources
    loading: PageTime
    """Time for one process to load the app."""

    def levels(self, stacks: Sequence[Stack]) -> tuple[int, ...]:
        """Return the numbers of connections; if time is short, only the highest of the default ones."""
        levels = _levels_for(self.request, self.workloads, len(self.cores.stack_cores))
        if self.request.concurrency or not self._is_bounded or self.request.exhaustive:
            return levels
        fewest = stacks[:FEWEST] if self.request.stacks is None else stacks
        helps = not self._holds_blocks(fewest, levels) and self._holds_blocks(fewest, levels[-1:])
        return levels[-1:] if helps else levels

    def number(self, stacks: Sequence[Stack], levels: Sequence[int]) -> int:
        """Return the number of ``stacks`` to race: for default stacks, as many as the budget can likely decide
        between.

        For named stacks, as many as the budget can launch twice, because a single launch proves nothing.
        """
        request, budget_s = self.request, budget_s_of(self.request)
        if not self._is_bounded or budget_s is None:
            return len(stacks)
        if request.stacks is None:
            from ..pacing.forecast import likely_stacks  # imports the statistics, which verbs that list do without

            return likely_stacks(self._forecast(stacks, levels), budget_s, len(stacks))
        if request.exhaustive or request.workloads:
            return len(stacks)
        numbers = range(len(stacks), FEWEST - 1, -1)
        return next((each for each in numbers if self._holds_blocks(stacks[:each], levels)), len(stacks))

    @property
    def _is_bounded(self) -> bool:
        return self.request.repeats is None and budget_s_of(self.request) is not None

    def _holds_blocks(self, stacks: Sequence[Stack], levels: Sequence[int]) -> bool:
        from ..pacing.forecast import READY_S

        request, budget_s = self.request, budget_s_of(self.request)
        assert budget_s is not None
        twins = [stacks[0].twin] if request.twin and len(stacks) >= FEWEST else []
        cells = self._cells([*stacks, *twins], levels)
        lengths = lengths_of(cells, len(self.cores.stack_cores), alike=request.exhaustive, fixed_s=request.slice_s)
        overhead = expected_overhead(budget_s, len(stacks), lengths, self._launch_s(stacks))
        # an app that is slow to examine is slow to load, too
        left_s = budget_s - min(READY_S, _SHARE_READY * budget_s) - self.loading.wall_s
        planned = plan_block(extent_of(cells), remaining_s=left_s, done=0, overhead=overhead, lengths=lengths)
        return planned is not None and planned.blocks_left >= FEWEST_BLOCKS

    def _forecast(self, stacks: Sequence[Stack], levels: Sequence[int]) -> ForecastInput:
        from ..pacing.forecast import forecast_input

        return forecast_input(
            self._cells(stacks[:1], levels),
            len(self.cores.stack_cores),
            difference=self.request.difference,
            twin=self.request.twin,
            fixed_slice_s=self.request.slice_s,
            alike=self.request.exhaustive,
            launch_s=self._launch_s(stacks),
            loading_s=self.loading.wall_s,
        )

    def _launch_s(self, stacks: Sequence[Stack]) -> float:
        return launch_s(stacks, self.loading, len(usable_cores()))

    def _cells(self, stacks: Sequence[Stack], levels: Sequence[int]) -> list[Cell]:
        return [
            Cell(stack=stack, workload=workload, load=Load(concurrency=level))
            for workload in self.workloads
            for level in levels
            for stack in stacks
        ]
