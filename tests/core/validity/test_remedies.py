"""A remedy knows what the user already set."""

from tests.core.validity.healthy import SHARED, counts, healthy, load, machine, result, stack_of

from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.validity.observation import Observation
from stackrace.validity.registry import examine


def remedy(observation: Observation, check: str) -> str:
    return next(say.remedy(finding) for finding in examine(observation).findings if say.title(finding) == check)


CLOSING = result(reconnects=20_000)


def test_gunicorns_sync_worker_is_named():
    assert "class=gthread" in remedy(
        healthy(stack=stack_of("gunicorn", **{"class": "sync"}), result=CLOSING), "reconnects"
    )


def test_gunicorns_other_workers_are_not_blamed_for_it():
    assert "sync" not in remedy(healthy(result=CLOSING), "reconnects")


def test_uwsgi_is_blamed_only_without_its_router():
    plain = healthy(stack=stack_of("uwsgi", http="socket"), result=CLOSING)
    routed = healthy(stack=stack_of("uwsgi", http="auto"), result=CLOSING)
    assert "http=router" in remedy(plain, "reconnects")
    assert "http=router" not in remedy(routed, "reconnects")


def test_a_busy_engine_gets_a_core_of_its_own_first_then_free_ones_then_another_machine():
    fast = result(generator_busy=0.95)
    full = Resources(stack_cores=(0, 1, 2), generator_cores=(3,))
    assert "a core that no stack uses" in remedy(healthy(cores=SHARED, result=fast), "generator busy")
    assert "2 are free" in remedy(healthy(result=fast), "generator busy")
    assert "another machine" in remedy(healthy(cores=full, result=fast), "generator busy")


def test_overflowing_queues_suggest_keep_alive_only_where_it_is_off():
    lost = machine(listen_overflows=5)
    kept, closed = healthy(machine=lost), healthy(machine=lost, load=load(keep_alive=False))
    assert "keep_alive = true" not in remedy(kept, "listen overflows")
    assert "keep_alive = true" in remedy(
        healthy(machine=lost, load=closed.load, result=result(connections_opened=20_000)), "listen overflows"
    )


def test_missing_connections_blame_the_queue_only_when_it_overflowed():
    few = result(established_peak=12)
    assert "backlog" in remedy(healthy(result=few, machine=machine(listen_overflows=8)), "established connections")
    assert "concurrency to 12" in remedy(healthy(result=few), "established connections")


def test_a_failure_is_explained_by_its_commonest_stage():
    failed = result(counts=counts(failed={"connect": 1, "read": 7}))
    assert "without an answer" in remedy(healthy(result=failed), "failures")


def test_server_errors_and_client_errors_have_different_remedies():
    wrong = counts(non2xx=100)
    turned_away = result(counts=wrong, status_classes={"2xx": 19_900, "5xx": 100})
    not_found = result(counts=wrong, status_classes={"2xx": 19_900, "4xx": 100})
    assert "turns requests away" in remedy(healthy(result=turned_away), "unexpected status")
    assert "allowed hosts" in remedy(healthy(result=not_found), "unexpected status")


def test_unused_cores_name_the_knob_that_is_smaller_than_the_concurrency():
    stuck = {"before_per_s": 10_000, "usage": ()}
    narrow = healthy(stack=stack_of("uwsgi", processes=2, threads=1), **stuck)
    wide = healthy(stack=stack_of("uwsgi", processes=20, threads=20), **stuck)
    assert "uwsgi's processes (now 2)" in remedy(narrow, "unused CPU")
    assert "lock in the app" in remedy(wide, "unused CPU")


def test_shared_cores_tell_both_costs_per_request():
    found = examine(healthy(cores=SHARED)).findings
    assert "stack 99 µs, engine 20 µs" in say.seen(found[0])
