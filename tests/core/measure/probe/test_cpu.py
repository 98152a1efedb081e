"""The arithmetic of CPU accounts, on families made up for it."""

import math

from hypothesis import given
from hypothesis import strategies as st

from stackrace.measure.probe.kernel_counters import _Account, offenders, spent_ns, waited_s

ROOT, WORKER, OTHER = (10, 1), (11, 2), (12, 3)
times = st.integers(0, 10**12)


def account(key: tuple[int, int], parent: int, own_ns: int, reaped_ns: int = 0) -> _Account:
    return _Account(key[0], parent, own_ns, reaped_ns)


def family(*members: tuple[tuple[int, int], int, int, int]) -> dict[tuple[int, int], _Account]:
    return {key: account(key, parent, own, reaped) for key, parent, own, reaped in members}


@given(times, times, times, times)
def test_survivors_count_by_what_they_gained(a, b, gained_a, gained_b):
    before = family((ROOT, 1, a, 0), (WORKER, 10, b, 0))
    after = family((ROOT, 1, a + gained_a, 0), (WORKER, 10, b + gained_b, 0))
    assert spent_ns(before, after) == gained_a + gained_b


@given(times, times)
def test_newcomers_count_in_full(a, born):
    assert spent_ns(family((ROOT, 1, a, 0)), family((ROOT, 1, a, 0), (WORKER, 10, born, 0))) == born


@given(times, times, times)
def test_a_worker_that_ended_counts_by_what_it_gained(a, b, gained):
    before = family((ROOT, 1, a, 0), (WORKER, 10, b, 0))
    assert spent_ns(before, family((ROOT, 1, a, b + gained))) == gained


@given(times, times)
def test_a_worker_that_was_born_and_ended_between_counts_in_full(a, life):
    assert spent_ns(family((ROOT, 1, a, 0)), family((ROOT, 1, a, life))) == life


@given(times, times, times)
def test_a_whole_branch_that_ended_counts_by_what_it_gained(a, b, gained):
    before = family((ROOT, 1, 5, 0), (WORKER, 10, a, 0), (OTHER, 11, b, 0))
    assert spent_ns(before, family((ROOT, 1, 5, a + b + gained))) == gained


@given(times)
def test_a_worker_nobody_waited_for_takes_nothing_away(lost):
    before = family((ROOT, 1, 0, 0), (WORKER, 10, lost, 0))
    assert spent_ns(before, family((ROOT, 1, 3, 0))) == 3


def test_a_reused_id_is_another_process():
    before = family((ROOT, 1, 0, 0), ((11, 2), 10, 900, 0))
    after = family((ROOT, 1, 0, 1000), ((11, 99), 10, 50, 0))
    assert spent_ns(before, after) == 150


def test_a_family_that_is_gone_spent_nothing_we_know_of():
    assert spent_ns(family((ROOT, 1, 7, 0)), {}) == 0


def test_the_greediest_come_first_and_the_idle_not_at_all():
    before = {1: 0, 2: 5_000_000_000, 3: 0}
    after = {1: 19_000_000, 2: 6_000_000_000, 3: 100_000_000, 4: 500_000_000}
    found = offenders(before, after, 2.0)
    assert [(offender.pid, round(offender.share, 3)) for offender in found] == [(2, 0.5), (4, 0.25), (3, 0.05)]


def test_threads_wait_all_together_newcomers_with_all_they_have():
    assert waited_s({1: 10**9, 2: 0}, {1: 3 * 10**9, 2: 0, 3: 5 * 10**8}) == 2.5


def test_nobody_knows_how_long_a_thread_waited_that_ended():
    assert waited_s({1: 0, 2: 0}, {1: 0}) == math.inf
