"""What a slice keeps of the machine, out of what was observed."""

from dataclasses import replace

import pytest
from tests.core.validity.healthy import SHARED, healthy, machine, result

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
