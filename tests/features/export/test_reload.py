"""Reloads of exported units: when one is over, and what becomes of the requests meanwhile."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.factories import make_counts, make_result

from stackrace.base.errors import LaunchError
from stackrace.deploy.incident import HopPids
from stackrace.features.export import reload
from stackrace.features.export.equivalence import Reloaded
from stackrace.features.export.reload import reloaded
from stackrace.measure.workload import Answer, Request, Sameness

HOST = "shop.example"
QUESTION = (
    Request(path="/", think_s=5.0),
    Answer(status=200, body=b"now: 12:00", content_type="text/plain", sameness=Sameness.BODY),
)
OLD = frozenset({2, 3})


class Reloading:
    """A machine, and the stack that it loads, in a time that only sleeping moves.

    After the reload each look at the workers finds the next of ``after``, and in the end always the last.
    """

    def __init__(self, after, *, before=OLD, code=None, answers=1, clients=()):
        self.now, self.told, self.right, self.asked = 100.0, [], 0, None
        self.before, self.after, self.code, self.answers = before, list(after), code, answers
        self.left = list(clients)
        recipe = SimpleNamespace(reload=SimpleNamespace(loses="may reset a connection"))
        self.parts = ((SimpleNamespace(hop="gunicorn", recipe=recipe), 1),)

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.right += self.answers

    def running(self, _stack):
        return self

    def load(self, _stack, workload, load, rewarm_s, *, meanwhile):
        self.asked = workload
        meanwhile(self)
        counts = make_counts(100, non2xx=2)
        result = replace(make_result(), counts=counts, status_classes={"2xx": 100, "5xx": 2})
        return SimpleNamespace(result=result, tried=counts.ok + counts.errors)

    @property
    def processes(self):
        workers, code = self.before, None
        if self.told:
            workers = self.after.pop(0) if len(self.after) > 1 else self.after[0]
            code = self.code
        return (HopPids(hop="gunicorn", first=1, code=code, workers=frozenset(workers)),)

    @property
    def clients(self):
        return frozenset(self.left.pop(0) if self.left else ())


@pytest.fixture
def result_of(monkeypatch):
    def result(stack):
        monkeypatch.setattr(reload, "time", stack)
        return reloaded(stack, None, 0, lambda pid: stack.told.append((pid, stack.right)), HOST, QUESTION)

    return result


def test_a_reload_amid_right_answers_is_over_when_others_have_replaced_the_workers(result_of):
    stack = Reloading([OLD, {2, 3, 4}, {3, 4}, {4, 5}])
    found = result_of(stack)
    assert found == Reloaded(
        hop="gunicorn", asked=102, lost=2, why="2 with status 5xx", known="may reset a connection"
    )
    ((pid, right),) = stack.told
    assert (pid, right) == (1, 20)
    assert stack.after == [{4, 5}]
    # those who come and go are waited for, and then for as many answers as before
    assert stack.right >= right + 2.0 / 0.05 + 20


def test_only_the_status_is_asked_for_and_at_once(result_of):
    stack = Reloading([{4, 5}])
    result_of(stack)
    (request,), (answer,) = stack.asked.requests, stack.asked.answers
    assert (request.path, request.think_s, stack.asked.host) == ("/", 0.0, HOST)
    assert (answer.status, answer.sameness) == (200, Sameness.STATUS)


def test_a_server_without_workers_has_none_to_replace(result_of):
    assert result_of(Reloading([()], before=())).asked == 102


def test_a_request_that_the_reload_left_hanging_is_waited_for(result_of):
    stack = Reloading([{4, 5}], clients=[{70, 71}, {71, 72}, {71, 73}, {74}, {75}])
    result_of(stack)
    assert stack.left == [{75}]


def test_a_client_that_stays_for_ever_does_not_keep_it(result_of):
    assert result_of(Reloading([{4, 5}], clients=[{70}] * 100_000)).asked == 102


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        (Reloading([OLD]), "gunicorn still has its old processes 2 min 30 s after its reload"),
        (Reloading([{4, 5}], code=1), "gunicorn ended at its reload"),
        (Reloading([{4, 5}], answers=0), "gunicorn does not answer 2 min 30 s after its reload"),
        (Reloading([{4 + look} for look in range(9000)]), "still has its old processes"),
    ],
)
def test_a_reload_that_does_not_end_well_is_an_error(result_of, stack, why):
    with pytest.raises(LaunchError, match=why):
        result_of(stack)
