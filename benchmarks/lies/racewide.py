"""Lies that no single slice shows: from launch to launch, from stack to stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from tests.factories import STACKS, make_race

from stackrace.deploy.local_machine import LocalMachine
from stackrace.deploy.machine import Launched
from stackrace.measure.launch import Launch, Slice
from stackrace.race.results.race import Race
from stackrace.stacks.stack import TWIN, Stack, twin_path

from .fault import Fault, Found, How, in_race
from .racing import STATE, liar, runs, slices

TOLD = liar("as-told"), liar("as-told", workers=2)


class TwinsApart(LocalMachine):
    """What starts as a twin finds a machine on which each request costs 0.2 ms more."""

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack``, slower if it is a twin."""
        STATE[-1].write_text("200" if stack.path.endswith(TWIN) else "0")
        return super().launch(stack, timeout_s)


class Ageing(LocalMachine):
    """Each launch is slower than the last by 25 µs per request, whoever it is."""

    def launch(self, stack: Stack, timeout_s: float) -> Launched:
        """Start ``stack``, a little slower than the last."""
        now = int(STATE[-1].read_text()) if STATE[-1].exists() else 0
        STATE[-1].write_text(str(now + 25))
        return super().launch(stack, timeout_s)


def _twins() -> Found:
    return in_race(runs(*TOLD, repeats=7, seconds=0.4, twin=True, machine=TwinsApart))


def _ageing() -> Found:
    return in_race(runs(*TOLD, repeats=7, seconds=0.4, twin=True, machine=Ageing))


def _restless() -> Found:
    return in_race(slices(liar("restless"), liar("truth"), budget_s=20.0))


def _recorded_twins() -> Race:
    """Return a recorded race whose twin is a fifth slower than its original."""
    paths = STACKS[:2]
    race = make_race(stacks=(*paths, twin_path(paths[0])), levels=(20,), blocks=10, twin=paths[0])
    race = replace(race, stacks=paths)
    return _slowed(race, lambda launch, _: 0.8 if launch.stack.endswith(TWIN) else 1.0)


def _recorded_drift() -> Race:
    """Return a recorded race in whose course the twins, and they alone, lose a third of their throughput."""
    paths = STACKS[:2]
    race = make_race(stacks=(*paths, twin_path(paths[0])), levels=(20,), blocks=10, twin=paths[0])
    race = replace(race, stacks=paths)
    return _slowed(race, lambda launch, _: 1 - launch.block / 27 if launch.stack != paths[1] else 1.0)


def _carried_over() -> Race:
    """Return a recorded race in which whoever comes after the first stack loses a fifth of its throughput."""
    race = make_race(stacks=4, levels=(20,), blocks=14)
    ordered = sorted((one.index, launch.stack) for launch in race.launches for one in launch.slices)
    burdened = {index for (_, before), (index, _) in pairwise(ordered) if before == race.stacks[0]}
    return _slowed(race, lambda _, one: 0.8 if one.index in burdened else 1.0)


def _slowed(race: Race, factor: Callable[[Launch, Slice], float]) -> Race:
    """Return ``race`` with each slice's answers spread over a longer time."""

    def slower(launch: Launch, one: Slice) -> Slice:
        result = replace(one.result, duration_s=one.result.duration_s / factor(launch, one))
        return replace(one, result=result)

    launches = (
        replace(launch, slices=tuple(slower(launch, one) for one in launch.slices)) for launch in race.launches
    )
    return replace(race, launches=tuple(launches))


def _fault(name: str, does: str, *expects: str, how: How, race: Callable[[], Race]) -> Fault:
    return Fault(name=name, does=does, expects=expects, how=how, inject=lambda: in_race(race()))


FAULTS: tuple[Fault, ...] = (
    Fault(name="twins-apart", does="a stack's second start is slower than its first", expects=("twins differ",),
          how=How.TIMED, inject=_twins),
    Fault(name="ageing", does="each launch is slower than the one before", expects=("throughput drifts",),
          how=How.TIMED, inject=_ageing),
    Fault(name="restless", does="a stack works while another is measured", expects=("idle stacks busy",),
          how=How.TIMED, inject=_restless),
    _fault("padded", "answers are longer than the other stack's", "answer sizes", how=How.TIMED,
           race=lambda: runs(liar("padded"), liar("truth"))),
    _fault("twins-recorded", "a recorded race: its twin lost a fifth", "twins differ", how=How.REPLAYED,
           race=_recorded_twins),
    _fault("drift-recorded", "a recorded race: its throughput lost a third", "throughput drifts", how=How.REPLAYED,
           race=_recorded_drift),
    _fault("carry-over", "a recorded race: whoever follows one stack is slower", "carry-over", how=How.REPLAYED,
           race=_carried_over),
)  # fmt: skip
