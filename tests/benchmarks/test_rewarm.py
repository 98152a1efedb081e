"""What the experiment on re-warms makes of slices."""

import math
from types import SimpleNamespace

import pytest
from benchmarks.method import rewarm
from benchmarks.method.rewarm import Seen


def seen(number, stack, value, **changes):
    """One slice of a round."""
    usual = {"look_s": rewarm.USUAL_LOOK_S, "rewarm_s": rewarm.USUAL_REWARM_S, "first": 0.0, "idle": 0.0}
    return Seen(round=number, stack=stack, value=value, **{**usual, **changes})


def test_the_beginning_is_held_against_the_rest_without_the_last_bin_which_is_cut():
    series = tuple(SimpleNamespace(ok=count) for count in (50, 50, 100, 100, 100, 3))
    first, value = rewarm.logs(SimpleNamespace(series=series, throughput_per_s=math.e))
    assert (first, value) == (pytest.approx(math.log(0.5)), pytest.approx(1.0))


def test_what_all_slices_of_a_round_share_is_no_noise():
    shared = [seen(n, stack, base + 0.3 * n) for n in range(4) for stack, base in (("a", 1.0), ("b", 2.0))]
    assert rewarm.deviation(shared) == pytest.approx(0.0)
    own = [seen(n, stack, 0.1 * (-1) ** (n + (stack == "b"))) for n in range(4) for stack in "ab"]
    assert rewarm.deviation(own) > 0.1


def test_a_level_is_held_against_the_same_stack_in_the_same_round():
    slices = [seen(n, "a", 1.0 + n, rewarm_s=w) for n in range(2) for w in rewarm.REWARMS_S]
    rows = {row["condition"]: row for row in rewarm.rows_of(slices) if row["slices"]}
    assert rows["re-warm 0 s"]["level %"].startswith("+0.0")
