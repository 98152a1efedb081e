"""Who races in the next block, and who is chosen in the end."""

import math
from dataclasses import replace

import numpy as np
import pytest

from stackrace.features.tune.estimates import Grid
from stackrace.features.tune.search import (
    _FINALISTS,
    _MOST_FINAL_LAUNCHES,
    _SMALL_FINALISTS,
    _SMALL_MOST_LAUNCHES,
    FINAL_LAUNCHES,
    finals,
    largest_field,
    next_round,
    search_launches,
)
from stackrace.features.tune.tuning_result import verdict

PLACES = [(float(i), float(j)) for i in range(6) for j in range(6)]
NAN = math.nan


def row(many):
    """Return the places of a single setting's values."""
    return [(float(i),) for i in range(many)]


def grid(columns, places=PLACES, **changes):
    """Return a grid of blocks, each with a value for every configuration, NaN where it was not launched."""
    values = np.array(columns, dtype=float).reshape(-1, len(places)).T
    whole = Grid(values=values, entered=np.isfinite(values), places=np.array(places), delta=math.log(1.05))
    return replace(whole, **changes)


def unheard(many, places=PLACES, **changes):
    """Return a grid whose first configurations were launched once, and gave nothing that can be believed."""
    return grid([NAN] * len(places), places, entered=np.arange(len(places))[:, None] < many, **changes)


def play(truth, launches, *, sd=0.02, places=PLACES, **changes):
    """Race to the end; returns the choice, who raced in each block, and how many launches were left."""
    dice, columns, raced, left = np.random.default_rng(1), [], [], launches
    while racing := next_round(grid(columns, places, **changes), left):
        if len(racing) > left:
            break
        column = np.full(len(places), NAN)
        column[list(racing)] = np.asarray(truth)[list(racing)] + dice.normal(0, sd, len(racing))
        columns.append(column)
        raced.append(racing)
        left -= len(racing)
    return verdict(grid(columns, places, **changes)), raced, left


def hill(top=(3.0, 2.0)):
    return [-0.1 * ((i - top[0]) ** 2 + (j - top[1]) ** 2) for i, j in PLACES]


def test_all_configurations_that_are_possible_race_first():
    assert next_round(grid([]), 100) == tuple(range(36))
    assert 7 not in next_round(grid([], out=(7,)), 100)


def test_after_one_launch_those_far_behind_leave():
    racing = next_round(grid([hill()]), 200)
    assert len(racing) < 12
    assert PLACES.index((3.0, 2.0)) in racing


def test_the_best_is_found_in_two_launches_a_configuration():
    chosen, raced, _ = play(hill(), 72)
    assert -hill()[chosen.index] <= 0.1 + 1e-9
    assert len(raced[0]) == 36


def test_finalists_are_launched_anew_with_the_references_beside_them():
    _, raced, _ = play(hill(), 90, references=(0, 35))
    final = [racing for racing in raced if {0, 35} <= set(racing) and len(racing) <= _FINALISTS + 2]
    assert len(final) >= FINAL_LAUNCHES


@pytest.mark.parametrize(("truth", "most"), [("hill", 1000), ("alike", 2000)])
def test_it_ends_when_the_finalists_are_told_apart_or_could_not_be(truth, most):
    _, raced, left = play(hill() if truth == "hill" else [0.0] * 36, 10_000)
    assert left > 10_000 - most
    assert 1 < len(raced) < 2 + _MOST_FINAL_LAUNCHES + 3


def test_a_configuration_whose_launches_scatter_loses_against_a_steady_one():
    scattering, steady = 20, 14
    dice = np.random.default_rng(4)
    columns = np.full((8, 36), NAN)
    columns[:, steady] = dice.normal(0, 0.01, 8)
    columns[:, [1, 2]] = dice.normal(-0.5, 0.01, (8, 2))
    columns[:, scattering] = 0.01 + 0.15 * np.array([-1, 1] * 4)
    found = verdict(grid(columns))
    assert found.index == steady
    assert found.scattering == (scattering,)


def test_few_configurations_are_all_finalists():
    _, raced, _ = play([0.0, 0.2, 0.1], 100, places=row(3))
    assert len(raced) >= FINAL_LAUNCHES


def test_one_of_which_nothing_could_be_believed_is_launched_again():
    values = hill()
    values[3] = NAN
    assert 3 in next_round(grid([values], entered=np.ones((36, 1), dtype=bool)), 200)


def test_where_nothing_could_be_believed_all_are_launched_again_until_they_are_out():
    assert len(next_round(unheard(36), 200)) == 36
    assert not next_round(unheard(36, out=tuple(range(36))), 200)


def test_a_reference_that_was_launched_often_does_not_win_for_want_of_finals():
    again = [hill()[0], *[NAN] * 35]
    assert PLACES[verdict(grid([hill(), again, again, again], references=(0,))).index] == (3.0, 2.0)


def test_a_stranger_is_compared_with_and_never_chosen():
    chosen, raced, _ = play([5.0, *hill()[1:]], 120, references=(0,), strangers=(0,))
    assert chosen.index != 0
    assert 0 in raced[-1]
    assert chosen.relative(0) > 1


def selected_by_luck():
    """Twenty configurations, of which number 5 came into the finals by a launch that was 10 % better than usual."""
    first, final = np.zeros(20), np.full(20, NAN)
    first[5] = 0.1
    final[[0, 4, 5, 6, 7]] = (0.0, -0.02, 0.01, -0.02, -0.02)
    return grid([first, *[final] * FINAL_LAUNCHES], row(20), references=(0,))


def test_the_figures_are_from_the_finals_and_not_from_what_brought_a_configuration_there():
    found = verdict(selected_by_luck())
    assert found.index == 5
    assert found.value.value == pytest.approx(math.exp(0.01))
    assert found.launches == FINAL_LAUNCHES
    assert found.ratio(0).value == pytest.approx(math.exp(0.01))
    assert found.relative(0) == pytest.approx(math.exp(-0.01))
    assert found.poor < math.exp(0.01)


def test_finals_are_the_last_blocks_that_only_finalists_and_references_raced_in():
    assert finals(selected_by_luck()) == FINAL_LAUNCHES
    assert finals(grid([hill()])) == 0
    assert finals(grid([[0.0, 0.1]] * 3, row(2))) == 3


def test_in_a_small_field_fewer_finalists_race_right_after_the_first_block_and_not_so_long():
    _, raced, _ = play([0.0] * 10, 10_000, sd=0.03, places=row(10), references=(0,))
    assert len(raced[0]) == 10
    assert all(0 in racing and len(racing) <= _SMALL_FINALISTS + 1 for racing in raced[1:])
    assert FINAL_LAUNCHES <= len(raced[1:]) <= _SMALL_MOST_LAUNCHES


def test_final_launches_that_could_not_be_believed_are_made_up_for():
    told_apart = grid([(0.0, -1.0, -1.0)] * 6, row(3))
    assert not next_round(told_apart, 100)
    values = told_apart.values.copy()
    values[0, 2:] = NAN
    assert 0 in next_round(replace(told_apart, values=values), 100)


@pytest.mark.parametrize(("top", "widens"), [(7, True), (6, True), (3, False)])
def test_a_best_at_the_end_of_its_range_makes_the_range_wider(top, widens):
    chosen, raced, _ = play([-0.2 * abs(top - i) for i in range(8)], 80, places=row(8), reserve=(6, 7))
    assert chosen.index == top
    assert not {6, 7} & {*raced[0]}
    assert any({6, 7} & {*racing} for racing in raced) == widens


def test_a_range_of_two_goes_on_too():
    chosen, raced, left = play([0.0, 0.3, 0.6, 0.5], 60, places=row(4), reserve=(2, 3))
    assert chosen.index == 2
    assert chosen.state.known.count[2] >= FINAL_LAUNCHES
    assert raced[0] == (0, 1)
    assert left > 0


def test_without_time_for_more_the_range_stays():
    _, raced, _ = play([float(i) / 10 for i in range(8)], 14, places=row(8), reserve=(6, 7))
    assert not {6, 7} & {i for racing in raced for i in racing}


def test_so_many_configurations_are_told_apart_as_there_are_launches_for():
    assert search_launches(36, 2) == 36 + 18 + 4 * 6
    assert largest_field(search_launches(12, 2), 2, 36) == 12
    assert largest_field(1e9, 2, 36) == 36
    assert largest_field(3, 2, 36) == 5
    assert largest_field(3, 2, 2) == 2
