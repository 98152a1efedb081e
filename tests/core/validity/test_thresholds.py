"""Each check fires just above its threshold, with the effect it should have, and is silent just below."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.core.validity.healthy import SHARED, counts, healthy, load, machine, quantiles, result, stack_of
from tests.factories import make_path

from stackrace.base.verdict import Effect
from stackrace.measure.launch import HopUsage
from stackrace.measure.load import EngineShare, SeriesBin
from stackrace.measure.resources import Resources
from stackrace.report.words import findings as say
from stackrace.report.words.findings import LOAD
from stackrace.validity.declaration import Made
from stackrace.validity.observation import Observation
from stackrace.validity.registry import CHECKS, examine, examine_run

WARNS, REDOES, INVALIDATES = Effect.WARNS, Effect.REDOES, Effect.INVALIDATES

Make = Callable[[Any], Observation]


def of_result(name: str) -> Make:
    return lambda value: healthy(result=result(**{name: value}))


def opened(**changes: object) -> Observation:
    """An open loop of 10 000/s that the server keeps up with."""
    return healthy(load=load(rate_per_s=10_000.0), result=result(**changes))


def of_machine(name: str, factor: float = 1.0, **others: float) -> Make:
    return lambda value: healthy(machine=machine(**{name: value * factor}, **others))


def of_engines(**changes: Any) -> Observation:
    """A load that two engines sent, one of them like this."""
    shares = (EngineShare(name="one", connections=10), EngineShare(name="two", connections=10, **changes))
    return healthy(result=result(engines=shares))


def moving(**moved: int) -> Observation:
    """Two seconds of load that came over a network which carries 100 MiB/s to the engine, and half of it back."""
    share = EngineShare(name="far", connections=20, **moved)
    return healthy(result=result(engines=(share,)), network=(make_path(),))


def delayed(share: float) -> Observation:
    """Answers of 42 ms to a page of 1 ms, a share of which waited for an acknowledgement."""
    slow = result(latency=quantiles(p50=0.042))
    return healthy(page_s=0.001, result=slow, machine=machine(delayed_acks=round(share * slow.counts.ok)))


def of_clock(name: str) -> Observation:
    return healthy(machine=machine(clocksource=name, clocksource_before="tsc"))


def under_quota(throttled_s: float) -> Observation:
    declared = Resources(stack_cores=(0,), generator_cores=(1,), quota=True)
    return healthy(machine=machine(throttled_s=throttled_s), cores=declared)


def using(cpu_s: float) -> Observation:
    return healthy(usage=(HopUsage(hop="gunicorn", cpu_s=cpu_s, processes=3, threads=9, pss_bytes=1),))


def ended(unfinished: float) -> Observation:
    """A slice at whose end this share of the quantiles reached into unfinished requests."""
    names = frozenset(name for name, share in (("p999", 0.1), ("p99", 0.5), ("p90", 0.9)) if share < unfinished)
    return healthy(result=result(latency=quantiles(censored=names)))


CLOSING = load(keep_alive=False)
CAPACITY_S = 8.0
OURS_S = 0.5 + 1.98

# check, how to make an observation from a figure, the highest figure that is silent, (figure, effect) …
CASES: list[tuple[str, Make, Any, list[tuple[Any, Effect]]]] = [
    ("generator busy", of_result("generator_busy"), 0.85, [(0.86, INVALIDATES)]),
    ("generator waited", of_result("generator_wait_s"), 0.06, [(0.061, WARNS), (0.11, INVALIDATES)]),
    (
        "engine ceiling",
        lambda x: healthy(ceiling_per_s=x, result=result(generator_busy=0.7)),
        15_000,
        [(14_000, WARNS), (11_000, INVALIDATES)],
    ),
    ("dead time", of_result("dead_time"), 0.02, [(0.021, WARNS), (0.051, INVALIDATES)]),
    ("steal", of_machine("steal_s", CAPACITY_S), 0.01, [(0.011, WARNS), (0.051, INVALIDATES)]),
    (
        "foreign CPU",
        lambda x: healthy(machine=machine(busy_s=OURS_S + x * CAPACITY_S)),
        0.0299,
        [(0.031, WARNS), (0.9, WARNS)],
    ),
    (
        "contention",
        lambda x: healthy(machine=machine(stack_cores=2, stack_cores_busy_s=1.98 + 4 * x)),
        0.0499,
        [(0.051, WARNS), (0.101, INVALIDATES)],
    ),
    ("machine speed", of_machine("speed_change"), 0.099, [(0.101, WARNS), (-0.1, WARNS), (0.26, REDOES)]),
    ("CPU frequency", of_machine("frequency_change"), 0.05, [(-0.051, WARNS), (0.151, REDOES)]),
    ("overheated", of_machine("heat_stops"), 0, [(1, REDOES)]),
    ("unstable clock", of_clock, "tsc", [("hpet", WARNS), ("kvm-clock", WARNS)]),
    ("throttled", of_machine("throttled_s"), 0.0, [(0.001, WARNS), (0.021, INVALIDATES)]),
    ("throttled", under_quota, 0.0, [(0.001, WARNS), (1.0, WARNS)]),
    ("swapping", of_machine("swapped_pages"), 0, [(1, WARNS), (256, WARNS), (257, INVALIDATES)]),
    ("major faults", of_machine("major_faults"), 20, [(21, WARNS)]),
    ("clock stepped", of_machine("clock_step_s"), 0.05, [(0.051, WARNS), (-0.051, WARNS)]),
    ("idle stacks busy", lambda x: healthy(idle_cpu_s=x), 0.04, [(0.041, WARNS)]),
    ("beyond its cores", using, 2.2, [(2.21, INVALIDATES)]),
    (
        "listen overflows",
        of_machine("listen_overflows", accepted=10_000),
        0,
        [(1, WARNS), (10, WARNS), (11, INVALIDATES)],
    ),
    ("SYN retransmits", of_machine("syn_retransmits"), 0, [(1, WARNS)]),
    ("retransmits", of_machine("retransmits"), 100, [(101, WARNS)]),
    ("delayed acknowledgements", delayed, 0.5, [(0.51, WARNS)]),
    (
        "established connections",
        lambda x: healthy(result=result(established_peak=x)),
        20,
        [(19, INVALIDATES), (0, INVALIDATES)],
    ),
    ("engine lost", lambda x: of_engines(lost=x), False, [(True, INVALIDATES)]),
    ("engine late", lambda x: of_engines(late_s=x), 0.005, [(0.0051, INVALIDATES), (-0.0051, INVALIDATES)]),
    ("network full", lambda x: moving(bytes_read=int(x * 200 * 2**20)), 0.8, [(0.81, INVALIDATES)]),
    ("engine stalled", lambda x: of_engines(stalled_s=x), 0.05, [(0.051, WARNS), (0.201, INVALIDATES)]),
    (
        "engine network",
        lambda x: of_engines(segments_sent=10_000, retransmits=x),
        10,
        [(11, WARNS), (101, INVALIDATES)],
    ),
    # two seconds of twenty connections
    ("engine network", lambda x: of_engines(segments_sent=10_000, timeouts=x), 0, [(1, WARNS), (3, INVALIDATES)]),
    (
        "engine network",
        lambda x: replace(of_engines(segments_sent=10_000), machine=machine(timeouts=x)),
        0,
        [(1, WARNS), (3, INVALIDATES)],
    ),
    ("fairness", of_result("fairness"), 0.8, [(0.799, WARNS)]),
    ("reconnects", of_result("reconnects"), 20, [(21, WARNS), (20_000, WARNS)]),
    (
        "close ignored",
        lambda x: healthy(load=CLOSING, result=result(connections_opened=int(x))),
        19_801,
        [(19_799, INVALIDATES)],
    ),
    (
        "unexpected status",
        lambda x: healthy(result=result(counts=counts(non2xx=int(x)))),
        0,
        [(1, WARNS), (20, WARNS), (21, INVALIDATES)],
    ),
    (
        "failures",
        lambda x: healthy(result=result(counts=counts(failed={"read": int(x)}))),
        0,
        [(1, WARNS), (200, WARNS), (201, INVALIDATES)],
    ),
    ("timeouts", lambda x: healthy(result=result(counts=counts(timed_out=int(x)))), 0, [(1, WARNS)]),
    ("unfinished requests", ended, 0.2, [(0.6, WARNS), (0.95, WARNS)]),
    ("wrong body", lambda x: healthy(result=result(counts=counts(failed={"body": int(x)}))), 0, [(1, INVALIDATES)]),
    (
        "wrong body",
        lambda x: healthy(result=result(counts=counts(failed={"body": int(x)})), wrongly_accused=int(x)),
        0,
        [(1, REDOES), (1000, INVALIDATES)],
    ),
    ("changing page", lambda x: healthy(changing=("GET /",) * int(x)), 0, [(1, WARNS)]),
    (
        "books unbalanced",
        lambda x: healthy(result=result(counts=counts(ok=20_000 + int(x)))),
        0,
        [(1, INVALIDATES), (-1, INVALIDATES)],
    ),
    (
        "nothing right",
        lambda x: healthy(result=result(counts=counts(scheduled=20 + int(x)))),
        1,
        [(0, INVALIDATES)],
    ),
    ("run cut off", lambda x: healthy(load=load(requests=40_000, duration_s=None), limit_s=x), 2.1, [(2.0, WARNS)]),
    ("lag", lambda x: opened(lag=quantiles(p99=x)), 100e-6, [(101e-6, INVALIDATES)]),
    ("overload", lambda x: opened(counts=counts(unsent=int(x))), 100, [(101, INVALIDATES)]),
    ("pool limit", lambda x: opened(pool_waits=int(x)), 0, [(1, WARNS)]),
    ("nonces lost", of_result("nonces_lost"), 0, [(1, INVALIDATES)]),
    ("cached answers", of_result("cached_answers"), 0, [(1, INVALIDATES)]),
    ("stale dates", of_result("stale_dates"), 0, [(1, WARNS), (20, WARNS), (21, INVALIDATES)]),
    ("retries", of_result("retried"), 20, [(21, WARNS)]),
    ("hidden retries", lambda x: healthy(served=int(x)), 20_260, [(20_261, INVALIDATES), (14_959, INVALIDATES)]),
    ("bytes unaccounted", of_result("surplus_bytes"), 0, [(1, WARNS), (1000, WARNS), (1001, INVALIDATES)]),
    ("ports exhausted", of_result("ports_exhausted"), 0, [(1, INVALIDATES)]),
    ("descriptors exhausted", of_result("files_exhausted"), 0, [(1, INVALIDATES)]),
    ("arrivals", lambda x: opened(arrivals_distance=x), 0.01378, [(0.0139, INVALIDATES), (0.5, INVALIDATES)]),
    ("latency lumps", lambda x: healthy(slow=((0.9, 1), (1.004, int(x)))), 3, [(4, WARNS)]),
    ("latency lumps", lambda x: healthy(slow=((3.01, int(x)),)), 2, [(3, WARNS)]),
    ("not steady", lambda x: lasting([x, 1.0, 1.0]), 1.009, [(1.02, WARNS), (0.9, WARNS)]),
    ("access log", lambda x: healthy(log_bytes=int(x)), 639_999, [(640_000, WARNS)]),
    (
        "logs grow",
        lambda x: healthy(log_bytes=int(x), stack=stack_of("gunicorn", access_log=True)),
        2 << 20,
        [((2 << 20) + 1, WARNS)],
    ),
    ("unused CPU", lambda x: replace(using(x), before_per_s=9_900), 1.6, [(1.59, WARNS), (0, WARNS)]),
]


def lasting(thirds: list[float]) -> Observation:
    """Twelve seconds, whose thirds have these rates, each bin a little more or less."""
    rates = [1000 * third * (1 + (-1) ** number * 0.001) for third in thirds for number in range(40)]
    bins = [
        SeriesBin(start_s=number / 10, ok=round(rate), errors=0, in_flight=20, p50_s=0.002, p99_s=0.004)
        for number, rate in enumerate(rates)
    ]
    return healthy(load=load(duration_s=12.0), result=result(duration_s=12.0, series=tuple(bins)))


def effects(observation: Observation, check: str) -> list[Effect]:
    return [finding.effect for finding in examine(observation).findings if say.title(finding) == check]


def test_a_healthy_slice_has_no_findings():
    assert examine(healthy()).findings == ()


@pytest.mark.parametrize(("check", "make", "silent", "loud"), CASES, ids=[case[0] for case in CASES])
def test_silent_at_the_threshold_and_loud_beyond(check, make, silent, loud):
    assert effects(make(silent), check) == []
    for figure, effect in loud:
        assert effects(make(figure), check) == [effect], figure


def test_a_run_is_told_in_its_own_words():
    found = set()
    for _, make, _, loud in CASES:
        for figure, _ in loud:
            seen = make(figure)
            for cores in (seen.cores, SHARED):
                run = replace(seen, stack=None, usage=(), cores=cores)
                for finding in examine_run(run).findings:
                    found.add(say.title(finding))
                    said = " ".join(part(finding, LOAD) for part in (say.seen, say.threshold, say.remedy))
                    for foreign in ("[load]", "[race]", "slice", "stack", "keep_alive"):
                        assert foreign not in said, (say.title(finding), said)
    assert len(found) == len(CHECKS[Made.RUN])


def test_every_check_is_covered_here_or_by_its_conditions():
    names = {case[0] for case in CASES} | {"shared cores", "debug mode"}
    assert len(names) == len(CHECKS[Made.SLICE])


def test_each_check_has_the_effects_that_it_declares():
    known: dict[str, set[Effect]] = {}
    for name, _, _, loud in CASES:
        known.setdefault(name, set()).update(effect for _, effect in loud)
    declared = {check.declaration.title: set(check.declaration.possible_effects) for check in CHECKS[Made.SLICE]}
    assert known == {name: declared[name] for name in known}


def test_shared_cores_and_debug_mode_warn():
    assert effects(healthy(cores=SHARED), "shared cores") == [WARNS]
    assert effects(healthy(debug=True), "debug mode") == [WARNS]


def test_no_check_divides_by_nothing():
    empty = result(
        duration_s=0.0,
        counts=counts(scheduled=0, in_flight=0),
        latency=quantiles(count=0, mean=0.0, p99=0.0),
        connections_opened=0,
        established_peak=0,
    )
    still = machine(elapsed_s=0.0, busy_s=0.0, own_s=0.0, segments_sent=0, accepted=0)
    for one in (load(), load(keep_alive=False), load(requests=10, duration_s=None)):
        seen = healthy(result=empty, machine=still, load=one, usage=(), before_per_s=1.0, ceiling_per_s=1.0)
        assert not examine(seen).valid


def test_every_finding_says_what_was_seen_the_threshold_and_the_way_out():
    for check, make, _, loud in CASES:
        for figure, _ in loud:
            for finding in examine(make(figure)).findings:
                for part in (say.seen(finding), say.threshold(finding), say.remedy(finding)):
                    assert part and "  " not in part and "None" not in part, (check, part)
