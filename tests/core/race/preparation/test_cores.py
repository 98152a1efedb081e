"""Which cores are whose."""

from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.race.preparation.core_shares import cores_of, quiet, split_cores, usable_cores
from stackrace.race.request.request import RaceRequest

ONE = ((0,),)
TWO = ((0,), (1,))
SMT_ONE = ((0, 1),)
SMT_TWO = ((0, 2), (1, 3))
FOUR = ((0,), (1,), (2,), (3,))
HERE = Path("/nowhere")


@pytest.mark.parametrize(
    ("physical", "stacks", "engine"),
    [
        (ONE, (0,), (0,)),
        (TWO, (0,), (1,)),
        (FOUR, (0, 1, 2), (3,)),
        (SMT_ONE, (0,), (1,)),
        (SMT_TWO, (0, 2), (1,)),
        (((0, 1), (2, 3), (4, 5)), (0, 1, 2, 3), (4,)),
    ],
)
def test_by_default_the_engine_has_a_core_whose_other_threads_stay_idle(physical, stacks, engine):
    assert split_cores(physical) == (stacks, engine)


@pytest.mark.parametrize(
    ("physical", "asked", "stacks", "engine"),
    [
        (FOUR, ((0, 1), None), (0, 1), (3,)),
        (FOUR, ((3,), None), (3,), (2,)),
        (FOUR, (None, (0,)), (1, 2, 3), (0,)),
        (FOUR, ((0,), (2, 3)), (0,), (2, 3)),
        (SMT_TWO, (None, (0,)), (1, 3), (0,)),
        (SMT_TWO, ((0, 1, 2), None), (0, 1, 2), (3,)),
        (ONE, ((0,), None), (0,), (0,)),
    ],
)
def test_what_is_asked_for_holds_and_the_rest_follows(physical, asked, stacks, engine):
    assert split_cores(physical, *asked) == (stacks, engine)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (((0, 1), (1, 2)), "--cores 0-1 and --engine-cores 1-2 share core 1; leave the load engine a core"),
        (((0, 1, 2, 3), None), "--cores 0-3 leaves the load engine no core of 0-3"),
        ((None, (0, 1, 2, 3)), "--engine-cores 0-3 leaves the stacks no core of 0-3"),
    ],
)
def test_cores_that_leave_none_are_refused(asked, said):
    with pytest.raises(InputError, match=said):
        split_cores(FOUR, *asked)


def test_cores_of_others_are_refused():
    beyond = max(usable_cores()) + 1
    with pytest.raises(InputError, match=rf"--cores \(\[race\] cores\): {beyond} has cores .* may not use"):
        cores_of(RaceRequest(folder=HERE, cores=(beyond,)))


def test_memory_in_which_nothing_could_run_is_refused():
    with pytest.raises(InputError, match="fits into 8 MiB; give at least 16 MiB"):
        cores_of(RaceRequest(folder=HERE, memory_bytes=8 * 2**20))


def test_memory_has_no_limit_by_default():
    assert cores_of(RaceRequest(folder=HERE)).memory_bytes is None
    assert cores_of(RaceRequest(folder=HERE, memory_bytes=2**30)).memory_bytes == 2**30


@pytest.mark.parametrize(
    ("physical", "used", "kept"),
    [
        (FOUR, {}, FOUR),
        (FOUR, {2: 0.98}, ((0,), (1,), (3,))),
        (FOUR, {3: 0.98, 0: 0.05}, ((0,), (1,), (2,))),
        (FOUR, {0: 0.9, 1: 0.5, 2: 0.7, 3: 0.6}, ((1,), (3,))),
        (((0, 1), (2, 3), (4, 5)), {3: 0.5}, ((0, 1), (4, 5))),
    ],
)
def test_cores_that_others_use_are_left_to_them_while_two_remain(physical, used, kept):
    assert tuple(quiet(physical, used)) == kept
