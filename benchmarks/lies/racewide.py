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

from .fault import Fault, How, fault, in_race
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


def _drawn_out(machine: Callable[..., LocalMachine]) -> Race:
    return runs(*TOLD, repeats=7, seconds=0.4, twin=True, machine=machine)


def _recorded(factor: Callable[[Launch], float]) -> Race:
    """Return a recorded race of two stacks and a twin, its launches slowed by ``factor``."""
    paths = STACKS[:2]
    race = make_race(stacks=(*paths, twin_path(paths[0])), levels=(20,), blocks=10, twin=paths[0])
    return _slowed(replace(race, stacks=paths), lambda launch, _: factor(launch))


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


def _fault(name: str, does: str, *expects: str, how: How = How.TIMED, race: Callable[[], Race]) -> Fault:
    return fault(name, does, *expects, how=how, inject=lambda: in_race(race()))


FAULTS: tuple[Fault, ...] = (
    _fault("twins-apart", "a stack's second start is slower than its first", "twins differ",
           race=lambda: _drawn_out(TwinsApart)),
    _fault("ageing", "each launch is slower than the one before", "throughput drifts",
           race=lambda: _drawn_out(Ageing)),
    _fault("restless", "a stack works while another is measured", "idle stacks busy",
           race=lambda: slices(liar("restless"), liar("truth"), budget_s=20.0)),
    _fault("padded", "answers are longer than the other stack's", "answer sizes",
           race=lambda: runs(liar("padded"), liar("truth"))),
    _fault("twins-recorded", "a recorded race: its twin lost a fifth", "twins differ", how=How.REPLAYED,
           race=lambda: _recorded(lambda launch: 0.8 if launch.stack.endswith(TWIN) else 1.0)),
    _fault("drift-recorded", "a recorded race: its throughput lost a third", "throughput drifts", how=How.REPLAYED,
           race=lambda: _recorded(lambda launch: 1 - launch.block / 27 if launch.stack != STACKS[1] else 1.0)),
    _fault("carry-over", "a recorded race: whoever follows one stack is slower", "carry-over", how=How.REPLAYED,
           race=_carried_over),
)  # fmt: skip
