"""Where a race's time goes."""

import pytest

from stackrace.race.run.stopwatch import Duty, Phase, Stopwatch

from .simulated import PATHS, SPEEDS, Nowhere, race


def test_time_is_booked_to_the_innermost_phase_and_never_twice(clock):
    watch = Stopwatch()
    with watch.during(Phase.WARMING):
        clock.now += 2
        with watch.during(Phase.RESTING):
            clock.now += 3
        clock.now += 4
    clock.now += 5
    assert watch.duty(20.0) == Duty(warming_s=6.0, resting_s=3.0, other_s=11.0)


def test_only_what_was_booked_can_be_booked_elsewhere(clock):
    watch = Stopwatch()
    with watch.during(Phase.PROBING):
        clock.now += 2
        watch.rebook(1.5, Phase.PROBING, Phase.SLICES)
        watch.rebook(1.5, Phase.PROBING, Phase.REWARMING)
    assert watch.duty(2.0) == Duty(slices_s=1.5, rewarming_s=0.5)


def test_a_phase_ends_with_an_interruption_too(clock):
    watch = Stopwatch()
    with pytest.raises(KeyboardInterrupt), watch.during(Phase.STARTING):
        clock.now += 1
        raise KeyboardInterrupt
    clock.now += 1
    assert watch.duty(2.0) == Duty(starting_s=1.0, other_s=1.0)


def test_a_race_tells_where_all_of_its_time_went(clock):
    finished, told = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10))
    duty = finished.duty
    assert told[-1].duty == duty
    assert duty.total_s == pytest.approx(finished.elapsed_s)
    launches = len(finished.launches)
    blocks = len({launch.block for launch in finished.launches})
    assert duty.starting_s == pytest.approx(1.0 * launches)
    # while the next ones start, stopping costs nothing
    assert blocks > 1
    assert duty.stopping_s == pytest.approx(1.0)
    assert duty.calibrating_s == pytest.approx(0.6)
    assert duty.warming_s == pytest.approx(sum(launch.warmup_s for launch in finished.launches))
    assert min(duty.slices_s, duty.sides_s, duty.rewarming_s, duty.resting_s) > 0


def test_an_exhaustive_race_has_no_level_beside_the_others(clock):
    finished, _ = race(clock, Nowhere(clock, SPEEDS), PATHS, levels=(1, 10), exhaustive=True)
    assert finished.duty.slices_s > 0 == finished.duty.sides_s
