"""Claims as one family: what may be said of a contrast, how often it is wrong, and how far off it is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.comparisons.claims import LOOKS, Answer, Panel, findings, settled

DELTA = math.log(1.05)


def panel(truth, blocks, *, sd=0.02, seed=1, races=(), pairs=None):
    """Cells of these true values, all in one group, and every other one against the first."""
    dice = np.random.default_rng(seed)
    truth = np.asarray(truth, dtype=float)
    noise = dice.normal(0, 1, (*races, len(truth), blocks)) * sd + dice.normal(0, 1, (*races, 1, blocks))
    pairs = pairs or [(i, 0) for i in range(1, len(truth))]
    return Panel(values=truth[:, None] + noise, group=[0] * len(truth), contrasts=pairs)


def answers(found):
    return [Answer(int(one)) for one in found.answer]


def test_each_contrast_gets_the_words_that_are_true_of_it():
    found = settled([panel([0, 0.5, -0.5, 0.001], 12, sd=0.01)], delta=DELTA)
    assert answers(found) == [Answer.MORE, Answer.LESS, Answer.SAME]


def test_a_contrast_that_may_be_either_stays_open_with_the_half_that_is_known():
    found = settled([panel([0, -0.03], 6, sd=0.02, seed=3)], delta=DELTA)
    assert answers(found) == [Answer.OPEN]
    assert (bool(found.below[0]), bool(found.above[0])) == (True, False)


def test_before_the_end_only_planned_looks_are_taken():
    two = panel([0, 1.0], 2, sd=0.001)
    assert answers(settled([two], delta=DELTA, ended=False)) == [Answer.OPEN]
    assert answers(settled([two], delta=DELTA)) == [Answer.MORE]


@pytest.mark.parametrize("blocks", LOOKS[:6])
def test_what_a_race_was_told_on_its_way_its_report_says_too(blocks):
    whole = panel([0, 0.3, 0.1, 0.02, -0.2], 12, sd=0.05)
    part = Panel(values=whole.values[..., :blocks], group=whole.group, contrasts=whole.contrasts)
    before, after = (settled([part], delta=DELTA, ended=False), settled([whole], delta=DELTA))
    told = before.answer != Answer.OPEN
    assert (after.answer[told] == before.answer[told]).all()


def test_the_step_down_finds_what_the_first_step_does_not():
    clear = panel([0, 3.0, 3.0, 3.0, 3.0, 0.062], 6, sd=0.02, seed=8)
    alone = panel([0, 0.062], 6, sd=0.02, seed=8)
    with_clear, without = settled([clear], delta=DELTA), settled([alone], delta=DELTA)
    assert np.isfinite(without.both).all()
    # four answers leave it one of one
    assert with_clear.both[-1] / np.sqrt(with_clear.variance[-1]) < 2.0


@given(st.integers(0, 1000), st.integers(3, 14), st.floats(0.005, 0.3))
def test_the_other_way_round_everything_is_said_the_other_way_round(seed, blocks, sd):
    one = panel([0, 0.2, 0.02, -0.1], blocks, sd=sd, seed=seed)
    turned = Panel(values=one.values, group=one.group, contrasts=[(j, i) for i, j in one.contrasts])
    there, back = settled([one], delta=DELTA), settled([turned], delta=DELTA)
    swapped = {Answer.MORE: Answer.LESS, Answer.LESS: Answer.MORE}
    assert [swapped.get(each, each) for each in answers(there)] == answers(back)
    assert there.estimate == pytest.approx(-back.estimate)
    assert (there.below == back.above).all()


@given(st.integers(0, 1000), st.floats(0.005, 0.3))
def test_the_figures_agree_with_the_answer(seed, sd):
    found = settled([panel([0, 0.3, 0.02, -0.1, 0.0], 8, sd=sd, seed=seed)], delta=DELTA)
    for at, answer in enumerate(answers(found)):
        mean, both, single = found.estimate[at], found.both[at], found.single[at]
        assert {
            Answer.MORE: mean - both > 0, Answer.LESS: mean + both < 0, Answer.SAME: abs(mean) + single < DELTA,
            Answer.OPEN: abs(mean) <= both,
        }[answer]  # fmt: skip


def test_a_pair_that_is_claimed_both_ways_counts_once():
    once = settled([panel([0, 0.06], 5, pairs=[(1, 0)])], delta=DELTA)
    twice = settled([panel([0, 0.06], 5, pairs=[(1, 0), (0, 1)])], delta=DELTA)
    assert twice.both[0] == twice.both[1] == once.both[0]


def test_many_races_at_once_are_judged_as_each_alone():
    many = panel([0, 0.1, 0.02], 9, races=(5,), sd=0.04)
    together = settled([many], delta=DELTA)
    for at in range(5):
        alone = settled([Panel(values=many.values[at], group=many.group, contrasts=many.contrasts)], delta=DELTA)
        assert answers(alone) == [Answer(int(one)) for one in together.answer[at]]


@pytest.mark.parametrize("truth", [[0.0] * 5, [0, DELTA, DELTA, DELTA, DELTA], [0, 0, DELTA, 0.5, -0.02]])
@pytest.mark.parametrize("sd", [0.02, 0.08])
def test_over_all_looks_something_wrong_is_said_in_5_percent_of_families_at_most(truth, sd):
    races = 400
    found = settled([panel(truth, 20, sd=sd, races=(races,), seed=5)], delta=DELTA)
    theta = np.asarray(truth[1:]) - truth[0]
    wrong = (found.answer == Answer.MORE) & (theta <= 0) | (found.answer == Answer.LESS) & (theta >= 0)
    wrong |= ((found.answer == Answer.SAME) | found.below) & (theta >= DELTA)
    # 5 % and twice the standard error of so few races
    assert wrong.any(axis=-1).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / races)


def test_a_noisy_cell_borrows_nothing_of_the_others_quiet():
    sd = np.ones((8, 1)) * 0.02
    sd[1] = 0.4
    found = settled([panel([0.0] * 8, 6, sd=sd, races=(300,), seed=2)], delta=DELTA)
    assert (found.answer[:, 0] != Answer.OPEN).mean() <= 0.05


def test_the_blocks_that_are_needed_do_answer():
    cells = panel([0, 0.08], 5, sd=0.07, seed=4)
    (found,) = findings([cells], difference=0.05)
    assert found.answer is Answer.OPEN
    assert 0 < found.more_blocks < 200
    # as far from 0, with a tighter share of the error rate
    (fewer,) = findings([cells], difference=0.05, share=0.1)
    assert fewer.more_blocks > found.more_blocks
