"""The benchmark of checks, in miniature."""

import zlib

import numpy as np
from benchmarks.gate.blocks import MODELS, drawn, simulated, slowed
from benchmarks.gate.real import common
from benchmarks.gate.replay import replayed, threshold

from stackrace.race.judge.samples import Values
from stackrace.race.results.comparison import Outcome, Response

DICE = 5


def quiet(**more):
    return simulated(MODELS[0], np.random.default_rng(DICE), budget_s=200.0, **more)


def test_equal_sides_pass_and_a_slower_head_fails():
    assert replayed(quiet(), budget_s=200.0).outcome is Outcome.PASSED
    slower = replayed(slowed(quiet(), 0.15), budget_s=200.0)
    assert slower.outcome is Outcome.FAILED
    assert set(slower.slower) <= {Response.THROUGHPUT, Response.CPU, Response.P99}


def test_a_longer_sleep_costs_no_cpu_time():
    sleepy = slowed(quiet(waits=True), 0.15, sleeps=True)
    assert np.array_equal(sleepy.values[Response.CPU], quiet(waits=True).values[Response.CPU])
    assert replayed(sleepy, budget_s=200.0).outcome is Outcome.FAILED


def test_some_requests_that_wait_are_found_by_p99_alone():
    blocks = slowed(quiet(requests=100), 0.0, waiting=0.02)
    assert np.array_equal(blocks.values[Response.THROUGHPUT], quiet(requests=100).values[Response.THROUGHPUT])
    found = replayed(blocks, budget_s=200.0)
    assert (found.outcome, found.slower) == (Outcome.FAILED, (Response.P99,))


def test_recorded_blocks_are_drawn_until_the_budget_is_spent():
    block = {"race": "a", "seconds": 10.0, "throughput": [100.0, 110.0], "cpu": [0.01, 0.02]}
    blocks = drawn([block], np.random.default_rng(DICE), budget_s=95.0)
    assert list(blocks.ends_s) == [10.0 * n for n in range(1, 10)]
    assert replayed(blocks, budget_s=5.0).outcome is Outcome.UNDECIDED


def test_a_replayed_check_keeps_a_races_order_and_its_sides():
    rows = [
        {"race": race, "seconds": 10.0, "throughput": [base, base + 1]}
        for race, bases in (("a", (100.0, 200.0, 300.0)), ("b", (1000.0, 2000.0)))
        for base in bases
    ]
    firsts = set()
    for seed in range(20):
        pairs = drawn(rows, np.random.default_rng(seed), budget_s=40.0).values[Response.THROUGHPUT]
        assert len({head - base for base, head in pairs}) == 1, "a lasting difference stays one"
        own = [100, 200, 300] if pairs[0].min() < 1000 else [1000, 2000]
        first = own.index(round(pairs[0].min()))
        assert [round(pair.min()) for pair in pairs] == [own[(first + at) % len(own)] for at in range(4)]
        firsts.add((pairs[0].min(), pairs[0, 1] > pairs[0, 0]))
    assert len(firsts) > 5


def test_recorded_responses_are_paired_by_the_blocks_number():
    found = [
        Values(response=Response.CPU, blocks=(0, 1, 2), base=(1.0, 2.0, 3.0), head=(1.5, 2.5, 3.5)),
        Values(response=Response.MEMORY, blocks=(0, 2), base=(10.0, 30.0), head=(11.0, 31.0)),
    ]
    assert list(common("a", found, 20.0)) == [
        {"race": "a", "seconds": 10.0, "cpu": (1.0, 1.5), "memory": (10.0, 11.0)},
        {"race": "a", "seconds": 10.0, "cpu": (3.0, 3.5), "memory": (30.0, 31.0)},
    ]


def test_no_two_models_share_their_random_numbers():
    assert len({zlib.crc32(model.name.encode()) for model in MODELS}) == len(MODELS) == 5


def test_a_threshold_compares_one_launch_with_a_later_one():
    blocks = slowed(quiet(), 0.5)
    assert threshold(blocks, Response.THROUGHPUT, 10.0)
    assert not threshold(slowed(quiet(), -0.3), Response.CPU, 5.0)
