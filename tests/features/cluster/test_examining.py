"""A cluster examined: each machine for its part, and all that is wrong with them together."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
from tests.features.cluster.test_members import ENGINE, HOST, OTHER, SECOND
from tests.features.doctor.machines import plan, quiet

from stackrace.base.errors import InputError
from stackrace.base.process import Background
from stackrace.features.cluster import network, provider
from stackrace.features.cluster.connection import MemberLost
from stackrace.features.doctor.all_advice import examine
from stackrace.features.doctor.doctor_report import CLUSTER, is_forbidden, schema


class Machines:
    """A connection to machines that are not there; they remember what they were asked."""

    address = "tcp://10.0.0.1:8786"

    def __init__(self, *members, absent=(), lost=(), cut_off=(), concurrency=100):
        self.members = members
        self.absent = absent
        self.lost = lost
        self.cut_off = cut_off
        self.found = examine(quiet(plan=plan(concurrency)))
        self.asked = {}

    def roll_call(self):
        return self.members, self.absent

    def begin(self, *asked):
        return Background(lambda: self.call(*asked))

    def call(self, whom, function, *args):
        if function is network.listen:
            return 40_000
        if function is network.close:
            return None
        if function is network.round_trips_s:
            if whom.name in self.cut_off:
                raise ConnectionRefusedError(111, "Connection refused")
            return 0.001, 0.002
        if whom.name in self.lost:
            raise MemberLost(f"{whom.name} was lost")
        self.asked[whom.name] = args
        return self.found


def examined(*members, **how):
    machines = Machines(*members, **how)
    return provider._examined(machines, 100, examine), machines.asked


def test_each_is_examined_for_its_part():
    found, asked = examined(HOST, ENGINE, SECOND)
    assert asked == {"host-1": (100, True), "load-1": (50, True), "load-2": (50, True)}
    assert not is_forbidden(found)


def test_a_host_that_sends_its_own_load_shares_its_cores_with_the_engine():
    _, asked = examined(HOST, OTHER)
    assert asked == {"host-1": (100, False), "host-2": (100, False)}


def test_all_faults_are_named_and_other_versions_are_not_asked():
    found, asked = examined(
        HOST,
        replace(OTHER, python="3.11.9"),
        replace(ENGINE, version="0.0.1"),
        replace(SECOND, machine="host-1"),
        absent=(InputError("nobody (tcp://x:1) has no stackrace"),),
        lost=("host-2",),
        cut_off=("load-2",),
    )
    assert set(asked) == {"host-1", "load-2"}
    said = "\n".join(found.conflicts)
    for part in (
        "nobody (tcp://x:1) has no stackrace",
        "load-1 has 0.0.1",
        "host-1 has 3.12, host-2 has 3.11",
        "load-2 is to send load, but shares machine and cores with host-1",
        "host-2 was lost",
    ):
        assert part in said
    assert is_forbidden(found)


@pytest.mark.parametrize(
    "found",
    [
        examined(HOST, ENGINE)[0],
        examined(HOST, replace(ENGINE, version="0.0.1"))[0],
        examined(HOST, concurrency=1_000_000)[0],
        examined()[0],
    ],
    ids=["fits", "other version", "forbidden", "nobody"],
)
def test_its_document_fits_the_published_schema(found):
    jsonschema.validate(json.loads(json.dumps(CLUSTER.document(found))), json.loads(schema()))
