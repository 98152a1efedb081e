"""The benchmark of checks, in miniature."""

import numpy as np
from benchmarks.gate.blocks import MODELS, drawn, simulated, slowed
from benchmarks.gate.replay import replayed, threshold

from stackrace.model.gate import Outcome, Response

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


def test_recorded_blocks_are_drawn_until_the_budget_is_spent():
    block = {"seconds": 10.0, "throughput": [100.0, 110.0], "cpu": [0.01, 0.02]}
    blocks = drawn([block], np.random.default_rng(DICE), budget_s=95.0)
    assert list(blocks.ends_s) == [10.0 * n for n in range(1, 10)]
    assert {*blocks.values[Response.THROUGHPUT][:, 0]} == {100.0, 110.0}, "sides are exchanged"
    assert replayed(blocks, budget_s=5.0).outcome is Outcome.UNDECIDED


def test_a_threshold_compares_one_launch_with_a_later_one():
    blocks = slowed(quiet(), 0.5)
    assert threshold(blocks, Response.THROUGHPUT, 10.0)
    assert not threshold(slowed(quiet(), -0.3), Response.CPU, 5.0)
