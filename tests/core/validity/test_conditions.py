"""When a check must hold its tongue, whatever its figure: a false alarm costs a result."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.validity.healthy import SHARED, counts, healthy, load, machine, quantiles, result, stack_of
from tests.factories import make_path

from stackrace.base.verdict import Effect
from stackrace.measure.host import Offender
from stackrace.measure.launch import HopUsage
from stackrace.measure.load import EngineShare, SeriesBin
from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.validity.observation import Observation
from stackrace.validity.registry import disturbed, examine, worth_repeating


def findings(observation: Observation) -> dict[str, Effect]:
    return {say.title(finding): finding.effect for finding in examine(observation).findings}


def series(*in_flight: int) -> tuple[SeriesBin, ...]:
    """Two seconds of an open loop: so many under way at the end of each of some equal bins."""
    return tuple(
        SeriesBin(start_s=2.0 * i / len(in_flight), ok=100, errors=0, in_flight=n, p50_s=0.002, p99_s=0.004)
        for i, n in enumerate(in_flight)
    )


def open_loop(**changes: object) -> Observation:
    return healthy(load=load(rate_per_s=10_000.0, concurrency=1000), result=result(**changes))


def crowded(**changes: object) -> Observation:
    """The stack's core was busy all along, a quarter of it with others, for whom the stack had to wait."""
    core = machine(busy_s=2.48, own_s=0.45, stack_cores=1, stack_cores_busy_s=2.0)
    usage = (replace(healthy().usage[0], cpu_s=1.5),)
    return replace(healthy(machine=core, usage=usage, stack_wait_s=3.0), **changes)


def using(cpu_s: float, **changes: object) -> Observation:
    usage = (HopUsage(hop="gunicorn", cpu_s=cpu_s, processes=3, threads=9, pss_bytes=1),)
    return healthy(usage=usage, **changes)


def logging(log_bytes: int, answers: int) -> Observation:
    """250 clients whose requests a slice cut off, of which servers complain in their logs."""
    seen = result(counts=counts(scheduled=answers + 250, in_flight=250), established_peak=250)
    return healthy(log_bytes=log_bytes, load=load(concurrency=250), result=seen)


WARNS, REDOES, INVALIDATES = Effect.WARNS, Effect.REDOES, Effect.INVALIDATES
BUSY = machine(busy_s=0.5 + 1.98 + 4.0, own_s=0.5)
SLOW = quantiles(p50=0.04)
UNFINISHED = result(
    counts=counts(scheduled=120),
    latency=quantiles(count=100, mean=0.4, p50=0.4, p90=0.5, p99=0.6, p999=0.6, max=0.6),
    status_classes={"2xx": 100},
)
FEW = result(counts=counts(scheduled=5, in_flight=0), established_peak=5, connections_opened=5, fairness=0.25)
APART = result(latency=quantiles(mean=0.042, p50=0.042, p90=0.043, p99=0.044, p999=0.044, max=0.044))
PILED = series(*range(0, 4000, 400))

# what is seen, and all that is found in it
FOUND: dict[str, tuple[Observation, dict[str, Effect]]] = {
    "a slow app that leaves a round unfinished": (healthy(result=UNFINISHED), {}),
    "keep-alive off": (
        healthy(load=load(keep_alive=False),
                result=result(connections_opened=20_010, established_peak=17, connect=quantiles(mean=0.0004))), {},
    ),
    "a server that closes, which does not lack connections": (
        healthy(result=result(reconnects=20_000, connections_opened=20_020, established_peak=15)),
        {"reconnects": WARNS}),
    "fewer requests than connections": (healthy(load=load(requests=5, duration_s=None), result=FEW), {}),
    "too few requests for a word on fairness": (
        healthy(result=result(counts=counts(scheduled=399, in_flight=0), fairness=0.3)), {},
    ),
    "repeated connection attempts, counted once": (
        healthy(machine=machine(retransmits=500, syn_retransmits=500)), {"SYN retransmits": WARNS},
    ),
    "answers in two parts, each of which waits for an acknowledgement": (
        healthy(page_s=0.001, machine=machine(delayed_acks=20_000), result=APART),
        {"delayed acknowledgements": WARNS}),
    "a page of which nobody knows how long it takes by itself": (
        healthy(machine=machine(delayed_acks=20_000), result=APART), {},
    ),
    "a page that takes as long by itself": (
        healthy(page_s=0.04, machine=machine(delayed_acks=20_000), result=APART), {},
    ),
    "wrong bodies, which are no failures": (
        healthy(result=result(counts=counts(failed={"body": 3}))), {"wrong body": INVALIDATES},
    ),
    "an open loop with few, idle and uneven connections": (
        open_loop(established_peak=3, dead_time=0.9, fairness=0.2), {},
    ),
    "a lag below a twentieth of the median": (open_loop(latency=SLOW, lag=quantiles(p99=0.002)), {}),
    "a lag beyond it": (open_loop(latency=SLOW, lag=quantiles(p99=0.0021)), {"lag": INVALIDATES}),
    "what would be lag and overload in a closed loop": (
        healthy(result=result(lag=quantiles(p99=1.0), counts=counts(unsent=5000), pool_waits=3,
                              series=series(1, 100, 10_000))), {},
    ),
    "requests that waited for their turn": (open_loop(lag=quantiles(p99=1.0), pool_waits=9), {"pool limit": WARNS}),
    "visitors who pause": (healthy(result=result(dead_time=0.9), pauses=True), {}),
    "connections that are closed by plan": (
        healthy(load=load(requests_per_connection=10), result=result(established_peak=12)), {},
    ),
    "others on the stack's core of a large machine": (
        crowded(), {"foreign CPU": WARNS, "contention": INVALIDATES},
    ),
    "a stack that waits for itself": (
        healthy(machine=machine(stack_cores=1, stack_cores_busy_s=2.0), stack_wait_s=7.0), {},
    ),
    "a speed that nobody knows": (healthy(machine=machine(speed_change=None, frequency_change=None)), {}),
    "a clock that nobody knows": (healthy(machine=machine(clocksource="", clocksource_before="tsc")), {}),
    "a stack that used more than its core has": (using(3.4), {"beyond its cores": INVALIDATES}),
    "an end that is not known to the hundredth": (using(2.1), {}),
    "the same on two cores": (using(3.4, cores=Resources(stack_cores=(0, 1), generator_cores=(2,))), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", FOUND)
def test_all_that_is_found(case):
    seen, effects = FOUND[case]
    assert findings(seen) == effects


# a check, where it speaks, and where it is silent
CONDITIONS: dict[str, tuple[str, list[Observation], list[Observation]]] = {
    "the other stacks and ourselves are not foreign": (
        "foreign CPU", [healthy(machine=BUSY)],
        [healthy(machine=BUSY, idle_cpu_s=4.0), healthy(machine=machine(busy_s=6.48, own_s=4.5))]),
    "unused CPU is silent without a comparison, with a busy engine, with a rising throughput": (
        "unused CPU", [],
        [healthy(usage=()), healthy(usage=(), before_per_s=9_000),
         healthy(usage=(), before_per_s=9_900, result=result(generator_busy=0.71))],
    ),
    "what servers say of requests that were cut off is no access log": (
        "access log", [logging(5000 * 32, 5000)], [logging(250 * 293, 350), logging(250 * 293, 5000)]),
    "dead time is silent when connections rested after failures": (
        "dead time", [healthy(result=result(dead_time=0.9))],
        [healthy(result=result(dead_time=0.9, counts=counts(failed={"connect": 1}))),
         healthy(result=result(dead_time=0.9, counts=counts(timed_out=1)))],
    ),
    "an idle engine with a core of its own was not the limit": (
        "engine ceiling", [healthy(ceiling_per_s=1_000, result=result(generator_busy=0.2), cores=SHARED)],
        [healthy(ceiling_per_s=1_000, result=result(generator_busy=0.2))]),
    "what others find idle, our own helpers and idle stacks are no contention": (
        "contention", [crowded(stack_wait_s=math.inf)],
        [crowded(stack_wait_s=0.05), crowded(idle_cpu_s=0.5),
         crowded(machine=machine(busy_s=2.48, own_s=0.5, stack_cores=1, stack_cores_busy_s=2.0), cores=SHARED)],
    ),
    "answers after the last request was due do not hide a pile": (
        "overload",
        [healthy(load=load(rate_per_s=10_000.0, requests=10_000, duration_s=None),
                 result=result(series=series(*range(0, 4000, 400), *range(4000, 0, -400))))], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONDITIONS)
def test_when_a_check_speaks(case):
    check, loud, silent = CONDITIONS[case]
    assert all(check in findings(seen) for seen in loud)
    assert not any(check in findings(seen) for seen in silent)


def test_a_waiting_generator_only_warns_where_cores_are_shared_by_choice():
    seen = healthy(cores=SHARED, result=result(generator_wait_s=1.5))
    assert findings(seen)["generator waited"] is WARNS


@pytest.mark.parametrize(("quota", "effect"), [(False, Effect.INVALIDATES), (True, Effect.WARNS)])
def test_a_generator_that_a_quota_stops_is_not_told_to_end_other_programs(quota, effect):
    declared = Resources(stack_cores=(0,), generator_cores=(1,), quota=quota)
    seen = healthy(cores=declared, machine=machine(throttled_s=1.0), result=result(generator_wait_s=1.5))
    found = next(each for each in examine(seen).findings if say.title(each) == "generator waited")
    assert found.effect is effect
    assert "CPU quota" in say.remedy(found)


def test_stops_of_several_cores_are_at_most_all_of_the_time():
    seen = healthy(machine=machine(throttled_s=30.0))
    assert next(each for each in examine(seen).findings if say.title(each) == "throttled").value == 1.0


@given(st.integers(1, 64))
def test_the_wait_of_several_threads_is_measured_against_all_their_time(threads):
    seen = healthy(generator_threads=threads, result=result(generator_wait_s=0.05 * threads))
    assert "generator waited" not in findings(seen)


@given(p99=st.floats(0.0, 2.0), tail=st.floats(0.0, 1.0))
def test_the_tail_of_a_bounded_number_of_requests_is_no_dead_time(p99, tail):
    seen = healthy(
        load=load(requests=1000, duration_s=None),
        result=result(latency=quantiles(p99=p99), dead_time=tail * p99 / 2.0),
    )
    assert "dead time" not in findings(seen)


@given(st.floats(0.0, 2.5))
def test_busy_time_below_what_we_know_of_is_no_foreign_cpu(busy_s):
    assert findings(healthy(machine=machine(busy_s=busy_s))) == {}


def test_a_censored_quantile_warns_without_a_single_timeout():
    censored = result(latency=quantiles(censored=frozenset({"p99", "p999"})))
    found = examine(healthy(result=censored)).findings
    assert [say.title(finding) for finding in found] == ["unfinished requests"]
    assert "p99 " in say.seen(found[0])


@given(st.integers(0, 10_000))
def test_what_a_steady_server_has_under_way_is_no_pile(level):
    assert findings(open_loop(series=series(level // 2, level, level, level, level, level))) == {}


def test_a_queue_that_grows_to_the_end_is_overload():
    (found,) = examine(open_loop(series=PILED)).findings
    assert (say.title(found), found.effect) == ("overload", Effect.INVALIDATES)
    assert "10000/s" in say.seen(found)


def test_requests_that_waited_for_a_connection_and_came_late_are_a_pile():
    full = tuple(replace(one, in_flight=20) for one in series(*[0] * 40))
    seen = healthy(load=load(rate_per_s=20_000.0, requests=20_000, duration_s=None), result=result(series=full))
    assert "overload" in findings(seen), "half of the answers came after the last request was due"
    assert "overload" not in findings(replace(seen, load=replace(seen.load, rate_per_s=10_000.0)))


def test_what_works_for_the_app_in_every_slice_only_warns_and_says_so():
    (_, found) = examine(crowded(needed=True, offenders=(Offender(pid=7, name="postgres", share=0.3),))).findings
    assert found.effect is Effect.WARNS
    assert say.seen(found).startswith("postgres (pid 7) had")
    assert "[app] services" in say.remedy(found)


def test_who_had_the_core_is_named_and_what_helps_depends_on_the_priority():
    offenders = (Offender(pid=812, name="cc1", share=0.3), Offender(pid=9, name="make", share=0.1))
    (_, found) = examine(crowded(offenders=offenders)).findings
    assert "cc1 (pid 812)" in say.seen(found)
    assert "as root" in say.remedy(found)
    (_, found) = examine(crowded(offenders=offenders, raised=True)).findings
    assert "as root" not in say.remedy(found)


def test_only_what_may_pass_is_worth_another_try():
    assert worth_repeating(examine(crowded()).findings)
    assert disturbed(examine(crowded()).findings)
    wrong = examine(healthy(result=result(counts=counts(failed={"body": 500})))).findings
    assert not worth_repeating(wrong)
    slower = examine(healthy(machine=machine(speed_change=-0.5))).findings
    assert worth_repeating(slower)
    assert not disturbed(slower)


def test_twice_as_slow_is_as_bad_as_twice_as_fast():
    for change in (1.0, -0.5):
        (found,) = examine(healthy(machine=machine(speed_change=change))).findings
        assert (say.title(found), found.effect) == ("machine speed", Effect.REDOES)
        assert "100 %" in say.seen(found)


REMEMBERED = {"cached_answers": 19_000, "nonces_lost": 19_000, "stale_dates": 19_000}


def remembered(**settings):
    seen = healthy(stack=stack_of("varnish", **settings), result=result(counts=counts(), **REMEMBERED))
    return {say.title(finding) for finding in examine(seen).findings}


def test_a_declared_cache_is_no_finding():
    assert not remembered(cache=True) & {"cached answers", "nonces lost", "stale dates"}


@pytest.mark.parametrize("settings", [{"cache": False}, {}])
def test_a_hidden_one_is(settings):
    assert {"cached answers", "nonces lost", "stale dates"} <= remembered(**settings)


def test_a_server_that_is_not_ours_declares_nothing():
    seen = replace(healthy(result=result(**REMEMBERED)), stack=None)
    assert "cached answers" in {say.title(finding) for finding in examine(seen).findings}


def test_idle_connections_may_have_requests_under_way_at_both_ends():
    assert "hidden retries" in findings(healthy(served=20_300))
    assert "hidden retries" not in findings(healthy(load=load(idle=20), served=20_300))


def of_nothing_right(**changes):
    (found,) = [each for each in examine(healthy(**changes)).findings if each.check == "nothing-right"]
    return say.seen(found)


def test_silent_connections_are_the_reason_where_nothing_was_answered():
    blocked = result(counts=counts(ok=0, scheduled=20, in_flight=20))
    beside = load(silent=1)
    assert of_nothing_right(load=beside, result=blocked) == (
        "none of 20 requests got an answer beside silent connections (1)"
    )
    wrong = result(counts=counts(ok=0, scheduled=20, non2xx=20))
    slow = {"load": beside, "result": blocked, "page_s": 1.5}
    for changes in ({"result": blocked}, slow):
        assert of_nothing_right(**changes) == "none of 20 requests was answered"
    assert of_nothing_right(load=beside, result=wrong) == "none of 20 requests got the right answer"


MIB = 2**20


def told(shares, paths):
    seen = healthy(result=result(engines=shares), network=paths)
    return [say.seen(finding) for finding in examine(seen).findings if finding.check == "network-full"]


def share(name, *, read=0, written=0):
    """What an engine moved in each of the slice's two seconds, in MiB."""
    return EngineShare(name=name, connections=10, bytes_read=2 * read * MIB, bytes_written=2 * written * MIB)


def test_answers_fill_the_way_to_the_engine():
    assert told((share("far", read=90),), (make_path(),)) == [
        "90.0 MiB/s went from host to far, 90 % of what the network carries there: it was the limit, not the stack"
    ]


def test_requests_fill_the_way_to_the_host():
    [said] = told((share("far", read=50, written=45),), (make_path(),))
    assert said.startswith("45.0 MiB/s went from far to host, 90 %")


def test_engines_that_are_fine_alone_fill_the_line_of_their_host_together():
    paths = tuple(make_path(engine=name, host_sends_bytes_per_s=100.0 * MIB) for name in ("one", "two"))
    shares = (share("one", read=45), share("two", read=45))
    assert told(shares, paths)[0].startswith("90.0 MiB/s went from host to one, two, 90 %")
    assert not told((share("one", read=30), share("two", read=45)), paths)


def test_nothing_is_said_where_the_network_was_not_measured():
    assert not told((share("far", read=90),), ())
    unknown = make_path(engine_takes_bytes_per_s=0.0, host_sends_bytes_per_s=0.0)
    assert not told((share("far", read=90),), (unknown,))


WATCHED = machine(
    elapsed_s=2.0,
    own_s=0.5,
    stack_cores=1,
    stack_cores_busy_s=1.9,
    stack_cores_steal_s=0.06,
    canary_before_ns=250_000.0,
    canary_after_ns=300_000.0,
)


def watched(**changes):
    """The stack had 1.5 of the 1.9 s in which its core was busy."""
    usage = (replace(healthy().usage[0], cpu_s=1.5),)
    return healthy(machine=WATCHED, usage=usage, result=result(generator_cpu_s=0.4), **changes)


def test_foreign_is_what_remains_without_the_stack_and_the_others():
    assert watched().foreign_on_stack_cores_s == pytest.approx(0.4)
    assert watched(idle_cpu_s=0.2).foreign_on_stack_cores_s == pytest.approx(0.2)


def test_we_count_where_engine_and_stacks_share_cores():
    assert watched(cores=SHARED).foreign_on_stack_cores_s == pytest.approx(-0.1)


def test_a_slice_keeps_theft_and_canary_of_the_stacks_cores():
    kept = watched().conditions
    assert kept is not None
    assert (kept.elapsed_s, kept.cores, kept.stolen_s) == (2.0, 1, 0.06)
    assert (kept.canary_before_ns, kept.canary_after_ns) == (250_000.0, 300_000.0)
    assert kept.taken == pytest.approx(0.23)


def test_nothing_is_kept_where_nobody_watched_the_cores():
    assert healthy(machine=machine(stack_cores=0)).conditions is None
    assert healthy(machine=replace(WATCHED, elapsed_s=0.0)).conditions is None
