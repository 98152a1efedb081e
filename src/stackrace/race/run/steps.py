"""Steps of every kind of block: launch, measure, withdraw, retire; each sends its events and is recorded."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ...base import ids
from ...base.errors import InterruptedRace, said_by
from ...base.secrets import masked
from ...base.verdict import Effect, Verdict
from ...deploy.machine import Machine, Retired, Retiring
from ...measure.host import Disturbance
from ...measure.launch import EndedBy, Launch, Shortfall, Slice
from ...measure.load import Load
from ...stacks.stack import Stack, original_path
from ...validity.bottleneck import bottleneck
from ...validity.cores import MOST_TAKEN
from ...validity.observation import Aftermath, LaunchView, Observation
from ...validity.registry import cores_taken, disturbed, examine, examine_launch
from ..events import Activity, LaunchEnded, LaunchStarted, Progress, Sink, SliceEnded, StackDescribed
from ..pacing.overhead import rewarm_s
from ..plan import Cell
from .ledger import Ledger
from .stopwatch import Phase, Stopwatch


class _PendingStops:
    """Actions that wait for stacks to be gone. ``stop_s`` is the time of the last stop, None before any."""

    def __init__(self) -> None:
        self.stop_s: float | None = None
        self._acts: list[Callable[[], None]] = []

    def begin(self, act: Callable[[], None]) -> None:
        """Add ``act``, which waits for stacks that were just told to stop, and records their ends."""
        self._acts.append(act)

    def then(self, act: Callable[[], None]) -> None:
        """Call ``act`` once all stacks are gone: at once if none is stopping."""
        if self._acts:
            self._acts.append(act)
        else:
            act()

    def finish(self) -> None:
        """Wait for all stops, before anything is measured; an interrupted call can be repeated."""
        while self._acts:
            self._acts[0]()
            del self._acts[0]


_LONGEST_WAIT_S = 60.0
"""The longest total wait for quiet in a race without a deadline."""

_OFTEN = 3
"""Excess of disturbed slices over undisturbed ones that is no accident."""
_RESTED = 4
"""Number of rests right after disturbed slices, which shows that other programs work only when the stacks do."""

_LEAST_PATIENCE_S = 8.0
_TIMES_EXPECTED = 2
"""Factor over the expected time that a start may take, however little time is left."""


@dataclass(slots=True)
class _Neighbours:
    """Other programs on the machine, over a whole race."""

    often: int = 0
    """Excess of disturbed slices over undisturbed ones of late, at least 0."""
    ever_quiet: bool = False
    """True if a slice was undisturbed."""
    at_rest: int = 0
    """Number of times that other programs were idle right after they disturbed a slice."""
    patience_s: float = _LONGEST_WAIT_S
    """Time left to wait for quiet in a race without a deadline."""

    @property
    def needed(self) -> bool:
        """True if other programs use the cores in every slice and only then, like a database of the app."""
        return self.at_rest >= _RESTED and not self.ever_quiet

    def disturb(self, disturbed: bool) -> bool:
        """Record a slice; return True if so many were disturbed that it is time to wait."""
        if self.needed:
            return False
        # a stack with many processes may be undisturbed when others are not
        self.often = max(self.often + (1 if disturbed else -1), 0)
        self.ever_quiet = self.ever_quiet or not disturbed
        return disturbed and self.often >= _OFTEN


@dataclass(slots=True, kw_only=True)
class Steps:
    """Steps of a block with its machine, ledger and sink."""

    number: int
    """Number of the block, from 0."""
    machine_name: str = ""
    """Name of the machine, if there are several."""
    machine: Machine
    ledger: Ledger
    sink: Sink
    deadline_s: float = math.inf
    """Monotonic time after which no slice may end; infinite if nothing limits the race."""
    start_s: float = 0.0
    """Expected time of a start."""
    relaunches_failed: bool = False
    """True if failed launches are repeated."""
    watch: Stopwatch = field(default_factory=Stopwatch)
    """Stopwatch for the steps."""
    pending_stops: _PendingStops = field(default_factory=_PendingStops)
    """Stops of the block before: its stacks may still stop while this block's stacks start."""
    neighbours: _Neighbours = field(default_factory=_Neighbours)
    """Other programs on the machine."""
    up: dict[Stack, str] = field(default_factory=dict)
    """Launch ids of the stacks that are up."""
    is_share: bool = False
    """True if the deadline leaves time for later stacks of the same block."""
    _busy: Disturbance | None = None
    """Programs that used the cores when waiting for quiet was given up."""
    _ready: dict[str, dict[str, float]] = field(default_factory=dict)
    """Time spent by phase when a launch was ready, by its id."""

    def launch(self, stack: Stack) -> None:
        """Start ``stack``; it is up afterwards, or its failure is recorded."""
        launch = Launch(id=ids.generate(), block=self.number, stack=stack.path, machine=self.machine_name)
        self.ledger.enter(launch)
        self.sink(LaunchStarted(launch))
        with self.watch.during(Phase.STARTING):
            launched = self.machine.launch(stack, self._patience_s(stack))
        # a twin has the same facts as its original
        named = stack.path == original_path(stack.path)
        if named and launched.facts is not None and self.ledger.describe(launched.facts):
            self.sink(StackDescribed(launched.facts))
        launch = replace(launch, ready_s=launched.ready_s, failure=launched.failure)
        self.ledger.enter(launch)
        if launch.failure is None:
            self.up[stack] = launch.id
            self._ready[launch.id] = self.watch.spent()
            self.ledger.weigh(stack.path, launched.memory_bytes)
            if named and launched.facts is not None:
                self.ledger.hold_to(launched.facts)
        else:
            self._record_end(launch)

    def _patience_s(self, stack: Stack) -> float:
        """Return the longest time for one start: a stack that hangs must not use the budget of the others.

        Where failed stacks are launched again and again, each of these starts must leave time for others.
        """
        expected_s = max(self.start_s, self.ledger.longest_start_s(stack.path))
        least_s = max(_LEAST_PATIENCE_S, _TIMES_EXPECTED * expected_s)
        if self.relaunches_failed and self.ledger.failures_of(stack.path):
            return least_s
        return max((self.deadline_s - time.monotonic()) / 3, least_s)

    def announce(self, cell: Cell) -> None:
        """Send the event that ``cell`` is measured next."""
        self.sink(Progress(Activity.MEASURING, original_path(cell.stack.path), cell))

    def rewarm_s(self, cell: Cell) -> float:
        """Return the seconds of load that the cell's stack needs before a slice."""
        return rewarm_s(self.ledger.answer_s(cell.stack.path, cell.workload.name))

    def measure(
        self, cell: Cell, load: Load, rewarm_s: float, limit_s: float = math.inf, *, side: bool = False
    ) -> Observation:
        """Send ``load`` to the cell's stack after ``rewarm_s`` of unrecorded load, and return the observation.

        The load is cut off after ``limit_s`` recorded seconds. ``side`` is True for a cell of another level than
        the headline.
        """
        with self.watch.during(Phase.PROBING):
            observation = self.machine.load(cell.stack, cell.workload, load, rewarm_s, limit_s)
            self.watch.rebook(observation.result.duration_s, Phase.PROBING, Phase.SIDES if side else Phase.SLICES)
            self.watch.rebook(rewarm_s, Phase.PROBING, Phase.REWARMING)
        return observation

    def rest(self) -> None:
        """Wait until all stacks are idle, so that no stack's last load slows the next stack."""
        with self.watch.during(Phase.RESTING):
            self.machine.rest(max(self.deadline_s - time.monotonic(), 0.0))

    def book(self, cell: Cell, observation: Observation, *, may_redo: bool) -> Verdict:
        """Check the observation of ``cell``, record the slice, and return the verdict.

        If ``may_redo`` is False, checks that would repeat the slice only warn.
        """
        below = self.ledger.throughput_below(self.up[cell.stack], cell.workload.name, cell.load)
        observation = replace(observation, before_per_s=below, needed=self.neighbours.needed)
        verdict = examine(observation)
        if not may_redo:
            verdict = _redos_as_warnings(verdict)
        measured = Slice(
            index=0,
            load=cell.load,
            result=observation.result,
            usage=observation.usage,
            verdict=verdict,
            workload=cell.workload.name,
            conditions=observation.conditions,
            bottleneck=bottleneck(observation),
        )
        measured = self.ledger.add(self.up[cell.stack], measured)
        self.sink(SliceEnded(self.up[cell.stack], measured))
        self.withdraw_if_dead(cell.stack)
        return verdict

    def wait_for_quiet(self, verdict: Verdict) -> bool:
        """Wait until other programs leave the race's cores, if slices are disturbed again and again.

        Return True if the race had to wait, and it is quiet now. Give up at the deadline; without a deadline, after
        waits of ``_LONGEST_WAIT_S`` in the whole race.
        """
        if not self.neighbours.disturb(disturbed(verdict.findings)):
            return False
        begun_s, waited, self._busy = time.monotonic(), False, None
        # without a deadline the race could wait for ever, or each run for the whole patience
        until = self.deadline_s if self.deadline_s < math.inf else begun_s + self.neighbours.patience_s
        try:
            with self.watch.during(Phase.WAITING):
                while (seen := self.machine.disturbance()).share > MOST_TAKEN:
                    if time.monotonic() > until:
                        self._busy = seen
                        return False
                    self.sink(Progress(Activity.WAITING, disturbance=seen))
                    waited = True
        finally:
            self.neighbours.patience_s = max(self.neighbours.patience_s - (time.monotonic() - begun_s), 0.0)
        if not waited and cores_taken(verdict.findings):
            self.neighbours.at_rest += 1
        return waited

    @contextmanager
    def accounting(self, cells: Sequence[Cell]) -> Iterator[None]:
        """Measure ``cells`` inside; then record why launches that are up lack slices, even after an error."""
        try:
            yield
        except BaseException as error:
            self._record_shortfall(cells, broken_off(error))
            raise
        if self._busy is not None:
            who = ", ".join(each.label for each in self._busy.offenders[:1])
            self._record_shortfall(cells, Shortfall(ended_by=EndedBy.BUSY, words=who))
        else:
            self._record_shortfall(cells, Shortfall(ended_by=EndedBy.SHARE if self.is_share else EndedBy.BUDGET))

    def _record_shortfall(self, cells: Sequence[Cell], why: Shortfall) -> None:
        now = self.watch.spent()
        for stack, launch_id in self.up.items():
            launch = self.ledger.launch(launch_id)
            has = {(each.workload, each.load.label) for each in launch.slices}
            if any(cell.stack == stack and cell.level not in has for cell in cells):
                since = {name: now[name] - spent_s for name, spent_s in self._ready[launch_id].items()}
                spent_s = {name: seconds for name, seconds in since.items() if seconds}
                self.ledger.enter(replace(launch, shortfall=replace(why, spent_s=spent_s)))

    def withdraw_if_dead(self, stack: Stack) -> None:
        """End the launch of a stack that died; the block goes on without it."""
        failure = self.machine.failure_of(stack)
        if failure is None:
            return
        launch = replace(self.ledger.launch(self.up.pop(stack)), failure=failure)
        with self.watch.during(Phase.STOPPING):
            retired = self.machine.retire([stack]).finish()
        self._record_aftermath(stack, launch, retired)

    def retire(self) -> None:
        """Start to stop all stacks that are up; their launches end once they are gone (see ``pending_stops``)."""
        self.sink(Progress(Activity.STOPPING))
        going, self.up = dict(self.up), {}
        with self.watch.during(Phase.STOPPING):
            retiring = self.machine.retire(list(going))
        self.pending_stops.begin(lambda: self._finish_retiring(going, retiring))

    def _finish_retiring(self, going: dict[Stack, str], retiring: Retiring) -> None:
        with self.watch.during(Phase.STOPPING):
            retired = retiring.finish()
        self.pending_stops.stop_s = retired.took_s
        while going:
            stack, launch_id = going.popitem()
            launch = self.ledger.launch(launch_id)
            launch = replace(launch, failure=retired.complaints.get(stack.path))
            self._record_aftermath(stack, launch, retired)

    def _record_aftermath(self, stack: Stack, launch: Launch, retired: Retired) -> None:
        launch = replace(launch, memory=retired.memory.get(stack.path, ()))
        self.ledger.weigh(launch.stack, launch.peak_bytes)
        aftermath = retired.aftermaths.get(stack.path, Aftermath())
        verdict = examine_launch(LaunchView(stack=stack, launch=launch, aftermath=aftermath))
        self._record_end(replace(launch, verdict=verdict))

    def _record_end(self, launch: Launch) -> None:
        self.ledger.enter(launch, ended=True)
        self.sink(LaunchEnded(launch))


def broken_off(error: BaseException | None) -> Shortfall:
    """Return why launches lack slices after ``error`` ended the race; None means an interruption."""
    if error is None or isinstance(error, (KeyboardInterrupt, InterruptedRace)):
        return Shortfall(ended_by=EndedBy.INTERRUPTED)
    return Shortfall(ended_by=EndedBy.ERROR, words=masked(said_by(error)) or type(error).__name__)


def shuffler_of(seed: int, block: int) -> random.Random:
    """Return a block's random generator, made from seed and number, so that a block raced again keeps its order."""
    return random.Random(f"{seed}/{block}")


def shuffled(cells: Sequence[Cell], shuffler: random.Random) -> list[Cell]:
    """Return the cells with levels shuffled, and stacks shuffled within each level: compared cells stay close in
    time."""
    by_level: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_level.setdefault(cell.level, []).append(cell)
    levels = shuffler.sample(list(by_level.values()), len(by_level))
    return [cell for level in levels for cell in shuffler.sample(level, len(level))]


def _redos_as_warnings(verdict: Verdict) -> Verdict:
    """Return the verdict with warnings in place of redos: on a machine that is always noisy, repeating gains
    nothing.

    Interleaved pairs meet the same noise, so it widens their limits but does not mislead.
    """
    return Verdict(
        tuple(
            replace(finding, effect=Effect.WARNS) if finding.effect is Effect.REDOES else finding
            for finding in verdict.findings
        )
    )
