"""The ladder's mix against two predictions from the rungs."""

from stackrace.historic.mix import mix_note
from stackrace.historic.reading import read_comparison

from .reruns import make_launch, make_slice, race_of

COMPARISON = read_comparison("mod-wsgi-2009")
(MIX,) = COMPARISON.mixes
PATH = COMPARISON.techniques["ladder"].path


def race(**rates):
    slices = [make_slice(rate, 100, name) for name, rate in rates.items()]
    return race_of(make_launch(PATH, 0, *slices), stacks=(PATH,))


def test_both_predictions_are_given_from_the_rungs_of_now_and_then():
    note = mix_note(COMPARISON, race(memcached=2000.0, sqlalchemy=500.0, mix=1450.0), MIX)
    assert note == (
        "The mix reached 0.73 of the rate of memcached alone. From today's rungs the mean of the rates, its "
        "author's arithmetic, predicts 0.88, the mean of the times 0.73; from the rungs of then they predict "
        "0.89 and 0.79."
    )


def test_a_missing_rung_leaves_no_note():
    assert mix_note(COMPARISON, race(memcached=2000.0, mix=1450.0), MIX) == ""
    assert mix_note(COMPARISON, race(memcached=2000.0, sqlalchemy=500.0), MIX) == ""


def test_without_a_race_there_is_no_note():
    assert mix_note(COMPARISON, None, MIX) == ""
