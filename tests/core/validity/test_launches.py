"""A launch as a whole: each check is silent on a sound one and says what it found on another."""

from dataclasses import replace
from typing import Any

import pytest
from tests.core.validity.healthy import hop_of, load, result, stack_of

from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.launch import Failure, FailureKind, HopUsage, Launch, MemorySample, Slice
from stackrace.measure.load import Counts
from stackrace.report.words import findings as say
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack import Stack
from stackrace.validity.declaration import Made
from stackrace.validity.observation import Aftermath, Complaint, LaunchView
from stackrace.validity.registry import CHECKS, examine_launch

STARTED_S = 1000.0
MIB = 2**20
GIB = 2**30


def slice_of(index: int, ok: int, processes: int = 3) -> Slice:
    """Return a slice of two seconds that begins every ten."""
    counts = Counts(scheduled=ok, ok=ok, non2xx=0, failed={}, timed_out=0, in_flight=0, unsent=0)
    usage = (HopUsage(hop="gunicorn", cpu_s=1.9, processes=processes, threads=9, pss_bytes=90 * MIB),)
    seen = result(started_at=STARTED_S + 10 * (index + 1), counts=counts)
    return Slice(index=index, load=load(), result=seen, usage=usage)


def memory(slope: float) -> tuple[MemorySample, ...]:
    """Return samples every half second while loaded, growing by ``slope`` of 100 MiB per loaded second."""
    moments = [(10 * (turn + 1) + step / 2, 2 * turn + step / 2) for turn in range(4) for step in range(1, 4)]
    return tuple(
        MemorySample(at_s=at_s, pss_bytes={"gunicorn": int(100 * MIB * (1 + slope * loaded_s))})
        for at_s, loaded_s in moments
    )


def view(
    rates: tuple[int, ...] = (20_000, 20_100, 19_950, 20_020, 19_990, 20_060),
    stack: Stack | None = None,
    processes: int = 3,
    growth: float = 0.0,
    failure: Failure | None = None,
    **after: Any,
) -> LaunchView:
    slices = tuple(slice_of(index, ok, processes) for index, ok in enumerate(rates))
    launch = Launch(id="l", block=0, stack="gunicorn", slices=slices, memory=memory(growth), failure=failure)
    sound = Aftermath(started_s=STARTED_S, disk_bytes=100 * GIB, disk_free_bytes=50 * GIB)
    return LaunchView(
        stack=stack or stack_of("gunicorn", workers=2), launch=launch, aftermath=replace(sound, **after)
    )


def found(seen: LaunchView) -> dict[str, Effect]:
    return {say.title(finding): finding.effect for finding in examine_launch(seen).findings}


UNSTOPPED = Failure(kind=FailureKind.NOT_STOPPED, message="gunicorn did not end within 5 s")
CASES: list[tuple[str, dict[str, Any], Effect]] = [
    ("leftover listener", {"strangers": (8001,)}, Effect.INVALIDATES),
    ("leftover listener", {"listeners_left": (8001,)}, Effect.INVALIDATES),
    ("leftover processes", {"processes_left": 2}, Effect.INVALIDATES),
    ("leftover processes", {"failure": UNSTOPPED}, Effect.WARNS),
    ("ports exhausted", {"complaints": {Complaint.NO_PORTS: 3}}, Effect.INVALIDATES),
    ("descriptors exhausted", {"complaints": {Complaint.NO_FILES: 3}}, Effect.INVALIDATES),
    ("not steady", {"rates": (20_000, 20_010, 19_000, 19_010, 18_000, 18_010)}, Effect.WARNS),
    ("memory grows", {"growth": 0.02}, Effect.WARNS),
    ("disk nearly full", {"disk_free_bytes": 9 * GIB}, Effect.WARNS),
    ("other configuration", {"processes": 1}, Effect.WARNS),
    ("other configuration", {"processes": 20}, Effect.WARNS),
    ("reloader", {"reloaders": ("RUN_MAIN=true",)}, Effect.WARNS),
]


def test_a_sound_launch_has_no_findings():
    assert found(view()) == {}
    assert examine_launch(view()).valid


@pytest.mark.parametrize(("check", "changes", "effect"), CASES)
def test_each_fault_is_named_alone(check: str, changes: dict[str, Any], effect: Effect):
    assert found(view(**changes)) == {check: effect}


def test_every_check_on_launches_is_covered_here():
    assert len({check for check, _, _ in CASES}) == len(CHECKS[Made.LAUNCH])


@pytest.mark.parametrize(
    "changes",
    [
        {"growth": 0.009},
        {"disk_bytes": 0, "disk_free_bytes": 0},
        {"disk_bytes": 1000 * GIB, "disk_free_bytes": 11 * GIB},
        {"disk_bytes": 20 * GIB, "disk_free_bytes": 4 * GIB},
        {"processes": 2},
        {"processes": 8},
        {"rates": (20_000, 18_000, 16_000)},
        {"rates": (20_000, 16_000, 21_000, 19_000, 16_500, 20_500)},
        {"failure": Failure(kind=FailureKind.DIED, message="gunicorn ended")},
    ],
)
def test_what_is_small_unknown_or_chance_is_no_finding(changes: dict[str, Any]):
    assert found(view(**changes)) == {}


def test_memory_that_steps_once_does_not_grow():
    seen = view()
    stepped = tuple(
        replace(one, pss_bytes={"gunicorn": (100 if number < 6 else 120) * MIB})
        for number, one in enumerate(seen.launch.memory)
    )
    assert found(replace(seen, launch=replace(seen.launch, memory=stepped))) == {}


def test_memory_counts_the_seconds_under_load_only():
    seen = view()
    assert [seen.loaded_s(at_s) for at_s in (5, 10, 11, 15, 20.5)] == [0, 0, 1, 2, 2.5]


def test_invalid_slices_do_not_make_a_launch_unsteady():
    void = Verdict((Finding(check="x", effect=Effect.INVALIDATES, seen="", threshold="", remedy=""),))
    seen = view(rates=(20_000, 20_010, 19_000, 19_010, 18_000, 18_010))
    slices = tuple(replace(one, verdict=void) for one in seen.launch.slices)
    assert found(replace(seen, launch=replace(seen.launch, slices=slices))) == {}


def test_a_number_that_follows_the_load_may_be_lower():
    stack = stack_of("gunicorn", workers=2)
    assert found(view(stack=stack, processes=1)) == {"other configuration": Effect.WARNS}
    seen = view(stack=stack_of("uwsgi", processes=9, cheaper=1))
    slices = tuple(replace(one, usage=(replace(one.usage[0], hop="uwsgi"),)) for one in seen.launch.slices)
    assert found(replace(seen, launch=replace(seen.launch, slices=slices))) == {}


def test_copies_of_a_server_are_held_to_so_many_times_its_processes():
    stack = stack_of("gunicorn", workers=2, instances=3)
    assert found(view(stack=stack, processes=9)) == {}
    assert found(view(stack=stack, processes=5)) == {"other configuration": Effect.WARNS}


@pytest.mark.parametrize(("mpm", "silent", "loud"), [("prefork", 160, 164), ("event", 26, 30)])
def test_an_apache_around_mod_wsgi_has_its_own_children_beside(mpm, silent, loud):
    apache = hop_of("apache", mpm=mpm, processes=16, max_workers=150)
    inside = hop_of("mod_wsgi", None, mode="daemon", processes=2)
    stack = Stack(path="apache+mod_wsgi", hops=(apache, inside), interface=Interface.WSGI)
    for processes, expected in ((silent, {}), (loud, {"other configuration": Effect.WARNS})):
        seen = view(stack=stack, processes=processes)
        slices = tuple(
            replace(one, usage=(replace(one.usage[0], hop="apache+mod_wsgi"),)) for one in seen.launch.slices
        )
        assert found(replace(seen, launch=replace(seen.launch, slices=slices))) == expected
