"""What a stack costs by hop, as processes that burn and hold a known amount tell; and what looking may cost."""

import os
import time
from contextlib import contextmanager

import pytest
from tests.core.measure.probe.children import child, says, tell, wait_until

from stackrace.measure.launch import HopUsage
from stackrace.measure.probe import Allowance, MemoryWatch, Sampler, sampler

WAITING = "say(); sys.stdin.readline(); {work}; say(); sys.stdin.read()"
IDLE = "say(); sys.stdin.read()"


def sampler_of(**hops: int) -> Sampler:
    return Sampler({hop: [pid] for hop, pid in hops.items()}, os.getpid())


def used(sampler: Sampler) -> dict[str, HopUsage]:
    return {usage.hop: usage for usage in sampler.end()}


@contextmanager
def sampled(body):
    """A process that has begun and said so, with a sampler that has begun to look at it."""
    with child(body) as process:
        says(process)
        sampler = sampler_of(hop=process.pid)
        sampler.begin()
        yield process, sampler


def once_told(process, sampler):
    """Let the process go on until it says something; return what it used."""
    tell(process)
    says(process)
    return used(sampler)["hop"]


def test_the_hop_that_works_is_the_hop_that_pays():
    with child(WAITING.format(work="burn(0.2)")) as busy, child(IDLE) as idle:
        says(busy)
        says(idle)
        sampler = sampler_of(busy=busy.pid, idle=idle.pid)
        sampler.begin()
        tell(busy)
        says(busy)
        usage = used(sampler)
    assert usage["busy"].cpu_s >= 0.19
    assert usage["busy"].cpu_s > usage["idle"].cpu_s
    assert usage["idle"].processes == 1


def test_a_worker_that_works_and_ends_within_a_slice_still_counts():
    work = "pid = os.fork() or (burn(0.2), os._exit(0)); os.waitpid(pid, 0)"
    with sampled(WAITING.format(work=work)) as seen:
        usage = once_told(*seen)
    assert usage.processes == 1
    assert usage.cpu_s >= 0.15


def test_a_worker_that_ends_is_not_charged_for_its_life_before():
    body = """
pid = os.fork()
if pid == 0:
    burn(0.5)
    say()
    sys.stdin.readline()
    os._exit(0)
os.waitpid(pid, 0)
say()
pause()
"""
    with sampled(body) as seen:
        assert once_told(*seen).cpu_s < 0.4


def test_threads_are_counted_and_their_work_too_after_they_ended():
    work = """
threads = [threading.Thread(target=burn, args=(0.2,)), *(threading.Thread(target=sys.stdin.read) for _ in "ab")]
[thread.start() for thread in threads]
threads[0].join()
say()
threads[1].join()
"""
    with sampled(f"say(); sys.stdin.readline(){work}") as (process, sampler):
        once_told(process, sampler)
        wait_until(lambda: used(sampler)["hop"].threads == 3)  # a joined thread may linger in the kernel
        assert used(sampler)["hop"].cpu_s >= 0.15


def test_an_orphan_still_belongs_to_the_session_it_was_born_in():
    body = """
if os.fork() == 0:
    if os.fork() == 0:
        while os.getppid() == first:
            time.sleep(0.001)
        say(os.getpid())
        sys.stdin.read()
    os._exit(0)
"""
    body = body.replace("if os.fork() == 0:\n    if", "if os.fork() == 0:\n    first = os.getpid()\n    if", 1)
    with sampled(body + "os.wait(); pause()") as (_, sampler):
        wait_until(lambda: used(sampler)["hop"].processes == 2)


def test_a_member_that_leaves_session_and_parent_is_remembered():
    body = """
if os.fork() == 0:
    middle = os.getpid()
    if os.fork() == 0:
        say()
        os.setsid()
        say(os.getpid())
        while os.getppid() == middle:
            time.sleep(0.001)
        say()
        pause()
    sys.stdin.readline()
    os._exit(0)
os.wait()
pause()
"""
    with child(body) as process:
        says(process)
        stray = int(says(process))
        try:
            sampler = sampler_of(hop=process.pid)
            sampler.begin()
            assert once_told(process, sampler).processes == 2
        finally:
            os.kill(stray, 9)


def test_a_hop_that_died_has_no_usage_and_no_error():
    with sampled(IDLE) as (process, sampler):
        process.kill()
        process.wait()
        (usage,) = sampler.end()
    assert (usage.cpu_s, usage.processes, usage.threads) == (0.0, 0, 0)


def test_processes_of_another_session_are_strangers():
    with child(IDLE) as other, sampled(IDLE) as (_, sampler):
        says(other)
        assert used(sampler)["hop"].processes == 1


def test_newcomers_are_found_though_strangers_are_not_read_again():
    body = "say(); sys.stdin.readline(); os.fork() or pause(); say(); pause()"
    with sampled(body) as (process, sampler):
        assert used(sampler)["hop"].processes == 1
        assert once_told(process, sampler).processes == 2


def test_memory_is_sampled_by_hop():
    with child("x = b'x' * (40 << 20); say(); sys.stdin.read()") as big, child(IDLE) as small:
        says(big)
        says(small)
        sample = sampler_of(big=big.pid, small=small.pid).sample_memory(1.5)
    assert sample.at_s == 1.5
    assert sample.pss_bytes["big"] > sample.pss_bytes["small"] > 0


def test_the_cheap_end_tells_cpu_alone_and_takes_no_memory_sample():
    with child("say(); sys.stdin.readline(); burn(0.05); say(); sys.stdin.read()") as busy, child(IDLE) as calm:
        says(busy)
        says(calm)
        sampler = sampler_of(busy=busy.pid, calm=calm.pid)
        sampler.begin()
        tell(busy)
        says(busy)
        spent_s = sampler.spent_s()
    assert spent_s["busy"] >= 0.05 > spent_s["calm"]
    assert sampler.allowance.spent_s == 0


def test_usage_repeats_the_last_memory_sample_while_none_is_due():
    with child(IDLE) as process:
        says(process)
        sampler = Sampler({"hop": [process.pid]}, os.getpid(), Allowance(least_pause_s=3600))
        sample = sampler.sample_memory(0.0)
        assert used(sampler)["hop"].pss_bytes == sample.pss_bytes["hop"]


def test_the_watch_samples_in_order_until_it_is_stopped():
    with child(IDLE) as process:
        says(process)
        sampler = Sampler({"hop": [process.pid]}, os.getpid(), Allowance(share=1.0, least_pause_s=0.001))
        with MemoryWatch(sampler, time.monotonic()) as watch:
            wait_until(lambda: len(watch.samples) >= 3)
        samples = watch.samples
        assert [one.at_s for one in samples] == sorted(one.at_s for one in samples)
        assert all(one.pss_bytes["hop"] > 0 for one in samples)
        watch.stop()
        assert watch.samples == samples


def test_the_watch_outlives_what_it_watches():
    with child(IDLE) as process:
        says(process)
        sampler = Sampler({"hop": [process.pid]}, os.getpid(), Allowance(share=1.0, least_pause_s=0.001))
        with MemoryWatch(sampler, time.monotonic()) as watch:
            process.kill()
            process.wait()
            wait_until(lambda: bool(watch.samples) and watch.samples[-1].pss_bytes == {"hop": 0})


class Clock:
    """Stands in for the ``time`` module: CPU and wall time advance when told to."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.wall_s = 100.0

    def thread_time(self) -> float:
        return self.cpu_s

    def monotonic(self) -> float:
        return self.wall_s

    def work(self, budget: Allowance, cost_s: float) -> None:
        with budget.work():
            self.cpu_s += cost_s
            self.wall_s += cost_s


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(sampler, "time", clock)
    return clock


@pytest.mark.parametrize(
    ("costs_s", "pause_s"),
    [([], 0.0), ([0.02], 5.0), ([1e-6], 0.5), ([0.02] * 5, 25.0 - 4 * 0.02)],
    ids=["the first is due at once", "paid for with its share", "cheap work still pauses", "several at once"],
)
def test_work_is_paid_for(clock, costs_s, pause_s):
    budget = Allowance()
    for cost_s in costs_s:
        clock.work(budget, cost_s)
    assert budget.pause_s() == pytest.approx(pause_s)
    assert budget.spent_s == pytest.approx(sum(costs_s))


def test_in_the_long_run_the_share_is_kept(clock):
    budget, began = Allowance(share=0.004), clock.wall_s
    for cost_s in (0.01, 0.03, 0.002, 0.05) * 50:
        clock.wall_s += budget.pause_s()
        clock.work(budget, cost_s)
    clock.wall_s += budget.pause_s()
    assert budget.spent_s / (clock.wall_s - began) <= 0.004


def test_work_that_fails_is_booked_too(clock):
    budget = Allowance()
    with pytest.raises(ZeroDivisionError), budget.work():
        clock.cpu_s += 0.02
        raise ZeroDivisionError
    assert budget.pause_s() == pytest.approx(5.0)
