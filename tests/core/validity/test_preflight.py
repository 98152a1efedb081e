"""Before a race or a load: refused, warned, or silent."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base.verdict import Effect
from stackrace.measure.host import NetworkLimits
from stackrace.measure.load import Load
from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.report.words.findings import LOAD
from stackrace.validity.observation import Preparation
from stackrace.validity.preflight import Destination, address
from stackrace.validity.registry import examine_plan

SOUND = Preparation(
    loads=(Load(concurrency=20), Load(concurrency=100)),
    cores=Resources(stack_cores=(0,), generator_cores=(1,)),
    limits=NetworkLimits(
        descriptors=1024, descriptors_hard=4096, ephemeral_ports=28_232, time_wait=0, tw_reuse=2, accept_queue=4096
    ),
)
BESIDE = (Load(concurrency=100, silent=40, idle=100),)
CLOSING = (Load(concurrency=20, keep_alive=False),)


def plan(**changes: Any) -> Preparation:
    """Change the sound plan, or its limits."""
    limits = {one.name: changes.pop(one.name) for one in fields(NetworkLimits) if one.name in changes}
    return replace(SOUND, limits=replace(SOUND.limits, **limits), **changes)


def found(**changes: Any) -> dict[str, Effect]:
    return {say.title(finding): finding.effect for finding in examine_plan(plan(**changes)).findings}


BOUND = Resources(stack_cores=(0,), generator_cores=(1,), memory_bytes=2**30)
GIB = 2**30
WARNS, INVALIDATES = Effect.WARNS, Effect.INVALIDATES

# what is changed in a sound plan, and all that is found then
PLANS = [
    ({}, {}),
    # kept connections need one port each and no more
    ({"connections_per_s": 1e6}, {}),
    ({"ephemeral_ports": 100}, {}),
    ({"ephemeral_ports": 99}, {"ephemeral ports": INVALIDATES}),
    # Unix sockets need none
    ({"ephemeral_ports": 1, "over_tcp": False}, {}),
    ({"loads": CLOSING, "connections_per_s": 1e6, "over_tcp": False}, {}),
    # the engine alone needs one socket per connection
    ({"descriptors": 164, "sockets_each": 1}, {}),
    ({"descriptors": 163, "sockets_each": 1}, {"file descriptors": INVALIDATES}),
    ({"loads": BESIDE, "descriptors": 404}, {}),
    ({"loads": BESIDE, "descriptors": 403}, {"file descriptors": INVALIDATES}),
    ({"loads": BESIDE, "ephemeral_ports": 240}, {}),
    ({"loads": BESIDE, "ephemeral_ports": 239}, {"ephemeral ports": INVALIDATES}),
    ({"time_wait": 14_116}, {}),
    ({"time_wait": 14_117}, {"ports in TIME_WAIT": WARNS}),
    ({"accept_queue": 100}, {}),
    ({"accept_queue": 99}, {"accept queue": WARNS}),
    ({"cores": Resources(stack_cores=(0, 1), generator_cores=(1,))}, {"shared cores": WARNS}),
    ({"threads": ((0,), (1,))}, {}),
    ({"threads": ((0, 1),)}, {"shared threads": WARNS}),
    ({"cores": BOUND, "memory_bytes": GIB}, {}),
    ({"cores": BOUND, "memory_bytes": GIB - 1}, {"memory limit": INVALIDATES}),
    # without a limit nobody knows what stacks will hold
    ({"memory_bytes": 0.0}, {}),
    ({"disk_bytes": 100 * GIB, "disk_free_bytes": 9 * GIB}, {"disk nearly full": WARNS}),
    ({"disk_bytes": 100 * GIB, "disk_free_bytes": 11 * GIB}, {}),
    ({"disk_bytes": 1000 * GIB, "disk_free_bytes": 100 * GIB}, {}),
]


@pytest.mark.parametrize(("changes", "findings"), PLANS)
def test_what_is_found_in_a_plan(changes, findings):
    assert found(**changes) == findings


@given(st.integers(1, 100_000))
def test_descriptors_are_refused_below_two_per_connection_and_some_spare(concurrency):
    loads, needed = (Load(concurrency=concurrency),), 2 * concurrency + 64
    roomy = {"accept_queue": 10**6, "ephemeral_ports": 10**6}
    enough = found(loads=loads, descriptors=needed, **roomy)
    scant = found(loads=loads, descriptors=needed - 1, **roomy)
    assert (enough, scant) == ({}, {"file descriptors": Effect.INVALIDATES})


def test_the_way_out_of_few_descriptors_depends_on_the_hard_limit():
    (soft,) = examine_plan(plan(descriptors=100)).findings
    (hard,) = examine_plan(plan(descriptors=100, descriptors_hard=100)).findings
    assert say.remedy(soft) == "ulimit -n 264"
    assert "lower [load] concurrency to 18" in say.remedy(hard)


@pytest.mark.parametrize("few", [{"descriptors": 300, "descriptors_hard": 300}, {"ephemeral_ports": 200}])
def test_too_many_connections_beside_the_load_are_refused_by_their_own_names(few):
    (finding,) = examine_plan(plan(loads=BESIDE, **few)).findings
    names = "--silent and --idle (or [load] silent and idle)"
    assert say.refusal(finding).startswith(f"{names}: ")
    assert say.remedy(finding).endswith(f"or lower {names}")
    assert say.refusal(finding, LOAD).startswith("--silent and --idle: ")


@pytest.mark.parametrize(("reuse", "highest"), [(0, 470), (1, 14_116), (2, 14_116)])
def test_ports_are_refused_when_they_do_not_come_free_in_time(reuse, highest):
    def at(rate: float) -> dict[str, Effect]:
        return found(loads=CLOSING, tw_reuse=reuse, connections_per_s=rate)

    assert at(highest) == {}
    assert at(highest + 1) == {"ephemeral ports": Effect.INVALIDATES}


def test_a_load_is_told_of_its_own_flag():
    (few,) = examine_plan(plan(descriptors=100, descriptors_hard=100)).findings
    assert "lower --concurrency to 18" in say.remedy(few, LOAD)
    (none,) = examine_plan(plan(descriptors=64, descriptors_hard=64)).findings
    assert say.remedy(none, LOAD).startswith("raise `ulimit -n` to 264, and its maximum")
    assert "concurrency" not in say.remedy(none, LOAD)


def test_a_machine_with_one_core_is_told_to_be_too_small():
    (single,) = examine_plan(plan(cores=Resources(stack_cores=(0,), generator_cores=(0,)))).findings
    (double,) = examine_plan(plan(cores=Resources(stack_cores=(0, 1), generator_cores=(1,)))).findings
    assert say.remedy(single) == "a machine with at least two cores"
    assert say.remedy(double) == "give the load engine a core that no stack uses (--engine-cores)"


def test_memory_that_is_not_there_for_all_says_for_how_many():
    (some,) = examine_plan(plan(cores=BOUND, memory_bytes=3.5 * 2**30, stacks=5)).findings
    assert (say.title(some), some.effect) == ("memory limit", Effect.WARNS)
    assert say.seen(some) == "3.5 GiB of memory are free, enough for 2 of 5 at once"
    assert "batches" in say.remedy(some)


LOCALHOST = Destination(name="localhost", dialled="127.0.0.1")


def test_one_address_and_no_proxy_is_no_finding():
    assert address(LOCALHOST) is None


@pytest.mark.parametrize(
    ("seen", "effect", "way_out"),
    [
        (
            Destination(name="localhost", dialled="127.0.0.1", others=("::1",)),
            Effect.WARNS,
            "name the address you mean: 127.0.0.1 or [::1]",
        ),
        (
            Destination(name="localhost", dialled="127.0.0.1", answers=False, others=("::1",)),
            Effect.INVALIDATES,
            "name it: [::1]",
        ),
        (
            Destination(name="a.example", dialled="127.0.0.1", proxies={"http_proxy": "http://10.0.0.1:3128"}),
            Effect.WARNS,
            "unset http_proxy, or add a.example to no_proxy",
        ),
    ],
)
def test_another_way_is_told_with_the_way_out(seen: Destination, effect: Effect, way_out: str):
    finding = address(seen)
    assert finding is not None
    assert finding.effect is effect
    assert way_out in say.remedy(finding)
