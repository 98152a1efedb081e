"""Hosts that have prepared a race are compared before it begins."""

from types import SimpleNamespace

import pytest

from stackrace.base.errors import InputError
from stackrace.features.cluster.provider import _refuse_unlike
from stackrace.features.cluster.worker_machine import WorkerMachine
from stackrace.measure.load import Load
from stackrace.measure.workload import Answer, Request, Sameness


def hosted(body=b"hello", stacks=(), cores=(0,)):
    answer = Answer(status=200, body=body, content_type="text/plain", sameness=Sameness.BODY)
    workload = SimpleNamespace(name="", requests=(Request(path="/"),), answers=(answer,))
    plan = SimpleNamespace(
        stacks=tuple(SimpleNamespace(path=stack) for stack in stacks),
        workloads=(workload,),
        race=SimpleNamespace(cores=SimpleNamespace(stack_cores=cores)),
    )
    return SimpleNamespace(plan=plan)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (hosted(body=b"another"), "right answers"),
        (hosted(stacks=("gunicorn",)), "stacks"),
        (hosted(cores=(0, 1)), "cores for stacks"),
    ],
)
def test_hosts_that_would_not_race_the_same_are_named(other, what):
    _refuse_unlike({"host-1": hosted(), "host-2": hosted()})
    with pytest.raises(InputError, match=f"host-1 and host-3 differ in the {what}"):
        _refuse_unlike({"host-1": hosted(), "host-2": hosted(), "host-3": other})


def test_nothing_happens_to_a_stack_of_another_machine():
    machine = WorkerMachine(SimpleNamespace(), SimpleNamespace())
    with pytest.raises(InputError, match="leave --cluster out"):
        machine.load(None, None, Load(concurrency=1), 0.0, meanwhile=print)
