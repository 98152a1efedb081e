"""Histograms on common buckets."""

from stackrace.stats.summary import on_common_buckets


def test_each_launch_has_a_row_and_each_bucket_a_column():
    values, counts = on_common_buckets([[(0.001, 3), (0.004, 1)], [(0.002, 5), (0.004, 2)]])
    assert values.tolist() == [0.001, 0.002, 0.004]
    assert counts.tolist() == [[3, 0, 1], [0, 5, 2]]


def test_the_slices_of_a_launch_are_added_up():
    _, counts = on_common_buckets([[(0.001, 3), (0.002, 1), (0.001, 4)]])
    assert counts.tolist() == [[7, 1]]


def test_a_launch_without_answers_keeps_its_row():
    _, counts = on_common_buckets([[(0.001, 3)], []])
    assert counts.tolist() == [[3], [0]]
