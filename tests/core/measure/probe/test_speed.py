"""The machine's speed: measured by real work, frequency and heat read as a machine that has them tells them."""

import os

import pytest

from stackrace.measure.probe import canary_ns, difference, read_machine, speed

CPU = "/sys/devices/system/cpu"
FILES = {
    f"{CPU}/cpu0/cpufreq/scaling_cur_freq": 3_400_000,
    f"{CPU}/cpu1/cpufreq/scaling_cur_freq": 3_000_000,
    f"{CPU}/cpu0/thermal_throttle/core_throttle_count": 3,
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": 17,
    f"{CPU}/cpu1/thermal_throttle/core_throttle_count": 1,
}


@pytest.fixture
def told(monkeypatch):
    told = dict(FILES)
    monkeypatch.setattr(speed, "read_number", lambda path: told.get(path, 0))
    return told


def test_the_canary_costs_cpu_time_and_leaves_the_thread_where_it_was():
    allowed = os.sched_getaffinity(0)
    assert canary_ns(sorted(allowed)) > 0
    assert os.sched_getaffinity(0) == allowed


def test_a_canary_without_a_core_to_run_on_says_nothing():
    assert canary_ns(()) == 0
    assert canary_ns((1023,)) == 0


def test_of_many_cores_the_canary_visits_four():
    assert list(speed._spread(range(16))) == [0, 5, 10, 15]
    assert list(speed._spread((2, 7))) == [2, 7]


def test_frequency_is_the_mean_of_the_cores_and_heat_the_largest_count(told):
    assert speed.frequency_khz((0, 1)) == 3_200_000
    assert speed.heat_stops((0, 1)) == 17
    told.clear()
    assert speed.frequency_khz((0, 1)) == 0
    assert speed.heat_stops((0, 1)) == 0


def test_speed_frequency_and_heat_become_changes(told):
    before = read_machine((), (0,))
    told[f"{CPU}/cpu0/cpufreq/scaling_cur_freq"] = 1_700_000
    told[f"{CPU}/cpu0/thermal_throttle/core_throttle_count"] = 19
    delta = difference(before, read_machine((), (0,)), canary_ns=(300_000, 400_000))
    assert delta.speed_change == -0.25
    assert (delta.canary_before_ns, delta.canary_after_ns) == (300_000, 400_000)
    assert delta.frequency_change == -0.5
    assert delta.heat_stops == 2


def test_what_nobody_measured_is_unknown():
    before = read_machine()
    delta = difference(before, before, canary_ns=(300_000, 0.0))
    assert delta.speed_change is None
    assert (delta.canary_before_ns, delta.canary_after_ns) == (300_000, None)
    assert delta.heat_stops == 0
