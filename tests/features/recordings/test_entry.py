import pytest

from stackrace.features.recordings.recorded.entry import number, pairs, text


def test_a_field_is_read_as_far_as_it_can_be():
    assert text("aé") == "aé"
    assert text("200") == "200"
    assert number(" 1.5 ") == 1.5
    assert number("-1") == -1.0
    assert number("1e999") is None
    assert number("1_0") is None


@pytest.mark.parametrize("value", [None, ["1"], {}, True, "\ud800"])
def test_what_cannot_be_read_is_not_there(value):
    assert (text(value), number(value)) == (None, None)


def test_pairs_are_read_one_by_one():
    listed = [{"name": "a", "value": "b"}, {"name": "n", "value": "1"}, {"name": "x"}, {"value": "y"}, {}]
    assert pairs(listed) == (("a", "b"), ("n", "1"))


@pytest.mark.parametrize("value", [None, {}, "3", ["1"], "a"])
def test_what_is_no_list_of_pairs_holds_none(value):
    assert pairs(value) == ()
