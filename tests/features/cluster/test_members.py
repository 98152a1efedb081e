"""Who does what on a cluster; what does not fit is refused by name, with the way out."""

from dataclasses import replace
from pathlib import Path

import pytest

from stackrace import __version__
from stackrace.base.errors import InputError
from stackrace.features.cluster.cluster_options import ClusterRequest
from stackrace.features.cluster.members import ClockOffset, Member, Role, assign_roles, conflicts, roles_of
from stackrace.race.request.request import RaceRequest
from stackrace.race.results.parts import Parts

REQUEST = RaceRequest(folder=Path("/srv"), parts=Parts().having(ClusterRequest(cluster="tcp://10.0.0.1:8786")))
CLOCK = ClockOffset(offset_s=3.0, error_s=0.0004, round_trip_s=0.0008, taken_s=1.0)


def member(name, role, **changes):
    whole = Member(
        name=name, contact=f"tcp://{name}:1", host=name, roles=frozenset({role}), version=__version__,
        python="3.12.1", kernel="6.1", cpu="a CPU", cores=(0, 1), memory_bytes=2**30, machine=name, clock=CLOCK,
    )  # fmt: skip
    return replace(whole, **changes)


HOST, OTHER = member("host-1", Role.STACK), member("host-2", Role.STACK)
ENGINE, SECOND = member("load-1", Role.ENGINE), member("load-2", Role.ENGINE)


def test_each_has_its_part():
    roles = assign_roles([HOST, ENGINE, SECOND], REQUEST)
    assert (roles.hosts, roles.engines) == ((HOST,), (ENGINE, SECOND))


def test_hosts_may_send_their_own_load():
    assert assign_roles([HOST, OTHER], REQUEST).engines == ()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([ENGINE], "nobody there hosts stacks"),
        ([HOST, replace(ENGINE, version="0.0.1")], "load-1 has 0.0.1"),
        ([HOST, replace(OTHER, python="3.11.9")], "host-1 has 3.12, host-2 has 3.11"),
        ([HOST, replace(ENGINE, machine="host-1")], "load-1 is to send load, but shares machine and cores"),
        ([HOST, replace(OTHER, machine="host-1")], "host-1 and host-2 host stacks, but share machine and cores"),
        ([HOST, replace(ENGINE, clock=replace(CLOCK, error_s=0.06))], "load-1's clock cannot be compared"),
        ([HOST, replace(ENGINE, clock=None)], "being unknown"),
        ([HOST, OTHER, ENGINE], "2 machines host stacks, and only 1 send load"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(members, said):
    with pytest.raises(InputError) as refused:
        assign_roles(members, REQUEST)
    assert said in refused.value.message


def test_all_that_does_not_fit_can_be_named():
    roles = roles_of([replace(OTHER, version="0.0.1"), HOST, replace(ENGINE, clock=None)])
    said = list(conflicts(roles, "tcp://s:1"))
    assert ["host-2 has 0.0.1" in said[0], "being unknown" in said[1], "only 1 send load" in said[2]] == [True] * 3
    assert len(said) == 3


def test_one_machine_with_cores_of_its_own_for_each_is_fine():
    engine = replace(ENGINE, machine="host-1", cores=(3,))
    assert assign_roles([HOST, engine], REQUEST).engines == (engine,)


def test_cores_of_an_engine_elsewhere_cannot_be_chosen():
    with pytest.raises(InputError, match="--engine-cores"):
        assign_roles([HOST, ENGINE], replace(REQUEST, engine_cores=(3,)))
