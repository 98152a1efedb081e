"""A remedy knows what the user already set."""

import pytest
from tests.core.validity.healthy import SHARED, counts, healthy, load, machine, result, stack_of

from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.validity.registry import examine

CLOSING = result(reconnects=20_000)
FAST = result(generator_busy=0.95)
FEW = result(established_peak=12)
LOST = machine(listen_overflows=5)
WRONG = counts(non2xx=100)
STUCK = {"before_per_s": 10_000, "usage": ()}

# a check, what is seen, and what its remedy has, or has not
REMEDIES = [
    ("reconnects", healthy(stack=stack_of("gunicorn", **{"class": "sync"}), result=CLOSING), "class=gthread", ""),
    ("reconnects", healthy(result=CLOSING), "", "sync"),
    ("reconnects", healthy(stack=stack_of("uwsgi", http="socket"), result=CLOSING), "http=router", ""),
    ("reconnects", healthy(stack=stack_of("uwsgi", http="auto"), result=CLOSING), "", "http=router"),
    ("generator busy", healthy(cores=SHARED, result=FAST), "a core that no stack uses", ""),
    ("generator busy", healthy(result=FAST), "2 are free", ""),
    ("generator busy", healthy(cores=Resources(stack_cores=(0, 1, 2), generator_cores=(3,)), result=FAST),
     "another machine", ""),
    ("listen overflows", healthy(machine=LOST), "", "keep_alive = true"),
    ("listen overflows",
     healthy(machine=LOST, load=load(keep_alive=False), result=result(connections_opened=20_000)),
     "keep_alive = true", ""),
    ("established connections", healthy(result=FEW, machine=machine(listen_overflows=8)), "backlog", ""),
    ("established connections", healthy(result=FEW), "concurrency to 12", ""),
    ("failures", healthy(result=result(counts=counts(failed={"connect": 1, "read": 7}))), "without an answer", ""),
    ("unexpected status", healthy(result=result(counts=WRONG, status_classes={"2xx": 19_900, "5xx": 100})),
     "turns requests away", ""),
    ("unexpected status", healthy(result=result(counts=WRONG, status_classes={"2xx": 19_900, "4xx": 100})),
     "allowed hosts", ""),
    ("unused CPU", healthy(stack=stack_of("uwsgi", processes=2, threads=1), **STUCK),
     "uwsgi's processes (now 2)", ""),
    ("unused CPU", healthy(stack=stack_of("uwsgi", processes=20, threads=20), **STUCK), "lock in the app", ""),
]  # fmt: skip


@pytest.mark.parametrize(("check", "seen", "words", "others"), REMEDIES, ids=[row[0] for row in REMEDIES])
def test_a_remedy_depends_on_what_is_seen(check, seen, words, others):
    remedy = next(say.remedy(finding) for finding in examine(seen).findings if say.title(finding) == check)
    assert words in remedy
    assert not others or others not in remedy


def test_shared_cores_tell_both_costs_per_request():
    found = examine(healthy(cores=SHARED)).findings
    assert "stack 99 µs, engine 20 µs" in say.seen(found[0])
