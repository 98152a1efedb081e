"""The ladder's mix against two predictions from the rungs."""

from dataclasses import replace

from stackrace.features.comparisons.mix import mix_outcome
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.report.words import mix_sentence

from .reruns import make_launch, make_slice, race_of

COMPARISON = read_comparison("mod-wsgi-2009")
(MIX,) = COMPARISON.mixes
PATH = COMPARISON.techniques["ladder"].path


def race(**rates):
    slices = [make_slice(rate, 100, name) for name, rate in rates.items()]
    return race_of(make_launch(PATH, 0, *slices), stacks=(PATH,))


def test_both_predictions_are_given_from_the_rungs_of_now_and_then():
    outcome = mix_outcome(COMPARISON, race(memcached=2000.0, sqlalchemy=500.0, mix=1450.0), MIX)
    assert mix_sentence(outcome) == (
        "The mix reached 0.73 of the rate of memcached alone. From today's rungs the mean of the rates, its "
        "author's arithmetic, predicts 0.88, the mean of the times 0.73; from the rungs of then they predict "
        "0.89 and 0.79."
    )


def test_a_missing_rung_leaves_no_outcome():
    assert mix_outcome(COMPARISON, race(memcached=2000.0, mix=1450.0), MIX) is None
    assert mix_outcome(COMPARISON, race(memcached=2000.0, sqlalchemy=500.0), MIX) is None


def test_without_published_rungs_there_is_no_prediction_of_then():
    bare = replace(COMPARISON, figures=())
    outcome = mix_outcome(bare, race(memcached=2000.0, sqlalchemy=500.0, mix=1450.0), MIX)
    assert outcome.then is None
    assert mix_sentence(outcome).endswith("the mean of the times 0.73.")


def test_without_a_race_there_is_none():
    assert mix_outcome(COMPARISON, None, MIX) is None
