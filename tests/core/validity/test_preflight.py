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
        descriptors=1024,
        descriptors_hard=4096,
        ephemeral_ports=28_232,
        time_wait=0,
        tw_reuse=2,
        accept_queue=4096,
    ),
)
CLOSING = (Load(concurrency=20, keep_alive=False),)


def plan(**changes: Any) -> Preparation:
    """Change the sound plan, or its limits."""
    limits = {one.name: changes.pop(one.name) for one in fields(NetworkLimits) if one.name in changes}
    return replace(SOUND, limits=replace(SOUND.limits, **limits), **changes)


def found(**changes: Any) -> dict[str, Effect]:
    return {say.title(finding): finding.effect for finding in examine_plan(plan(**changes)).findings}


def test_a_sound_plan_has_no_findings():
    assert found() == {}


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


@pytest.mark.parametrize(("reuse", "highest"), [(0, 470), (1, 14_116), (2, 14_116)])
def test_ports_are_refused_when_they_do_not_come_free_in_time(reuse, highest):
    def at(rate: float) -> dict[str, Effect]:
        return found(loads=CLOSING, tw_reuse=reuse, connections_per_s=rate)

    assert at(highest) == {}
    assert at(highest + 1) == {"ephemeral ports": Effect.INVALIDATES}


def test_kept_connections_need_one_port_each_and_no_more():
    assert found(connections_per_s=1e6) == {}
    assert found(ephemeral_ports=100) == {}
    assert found(ephemeral_ports=99) == {"ephemeral ports": Effect.INVALIDATES}


def test_unix_sockets_need_no_ports():
    assert found(ephemeral_ports=1, over_tcp=False) == {}
    assert found(loads=CLOSING, connections_per_s=1e6, over_tcp=False) == {}


def test_the_engine_alone_needs_one_socket_per_connection():
    assert found(descriptors=164, sockets_each=1) == {}
    assert found(descriptors=163, sockets_each=1) == {"file descriptors": Effect.INVALIDATES}


def test_a_load_is_told_of_its_own_flag():
    (few,) = examine_plan(plan(descriptors=100, descriptors_hard=100)).findings
    assert "lower --concurrency to 18" in say.remedy(few, LOAD)


@pytest.mark.parametrize(
    ("check", "silent", "loud"),
    [
        ("ports in TIME_WAIT", {"time_wait": 14_116}, {"time_wait": 14_117}),
        ("accept queue", {"accept_queue": 100}, {"accept_queue": 99}),
        ("shared cores", {}, {"cores": Resources(stack_cores=(0, 1), generator_cores=(1,))}),
        ("shared threads", {"threads": ((0,), (1,))}, {"threads": ((0, 1),)}),
    ],
)
def test_warnings(check, silent, loud):
    assert found(**silent) == {}
    assert found(**loud) == {check: Effect.WARNS}


def test_a_machine_with_one_core_is_told_to_be_too_small():
    (single,) = examine_plan(plan(cores=Resources(stack_cores=(0,), generator_cores=(0,)))).findings
    (double,) = examine_plan(plan(cores=Resources(stack_cores=(0, 1), generator_cores=(1,)))).findings
    assert say.remedy(single) == "a machine with at least two cores"
    assert say.remedy(double) == "leave a core to the load engine alone"


BOUND = Resources(stack_cores=(0,), generator_cores=(1,), memory_bytes=2**30)


def test_memory_that_is_not_there_for_a_single_stack_is_refused():
    assert found(cores=BOUND, memory_bytes=2**30) == {}
    assert found(cores=BOUND, memory_bytes=2**30 - 1) == {"memory limit": Effect.INVALIDATES}
    assert found(memory_bytes=0.0) == {}, "without a limit nobody knows what stacks will hold"


def test_memory_that_is_not_there_for_all_says_for_how_many():
    (some,) = examine_plan(plan(cores=BOUND, memory_bytes=3.5 * 2**30, stacks=5)).findings
    assert (say.title(some), some.effect) == ("memory limit", Effect.WARNS)
    assert say.seen(some) == "3.5 GiB of memory are free, enough for 2 of 5 at once"
    assert "batches" in say.remedy(some)


def test_a_disk_that_is_nearly_full_warns():
    gib = 2**30
    assert found(disk_bytes=100 * gib, disk_free_bytes=9 * gib) == {"disk nearly full": Effect.WARNS}
    assert found(disk_bytes=100 * gib, disk_free_bytes=11 * gib) == {}
    assert found(disk_bytes=1000 * gib, disk_free_bytes=100 * gib) == {}


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
