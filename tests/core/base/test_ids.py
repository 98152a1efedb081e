"""Short identifiers."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base import ids
from stackrace.base.errors import InputError


@given(st.integers(0, 2**64 - 1))
def test_every_64_bit_number_has_an_id_of_its_own(number):
    identifier = ids.encode(number)
    assert len(identifier) == 13
    assert ids.is_valid(identifier)
    assert int(identifier, 36) == number


@pytest.mark.parametrize(
    "wrong", ["", "abc", "A" * 13, "z" * 13, "00000000-0000", "0" * 14, "0" * 33, "0" * 13 + "\n"]
)
def test_what_is_no_id_is_told(wrong):
    assert not ids.is_valid(wrong)


@given(st.text(alphabet="0123456789abcdefghijklmnopqrstuvwxyz-", max_size=40))
def test_no_name_can_be_mistaken_for_an_id(text):
    try:
        name = ids.parse_name(text)
    except InputError:
        return
    assert ids.PATTERN.fullmatch(name)
    assert not ids.is_valid(name)


@pytest.mark.parametrize(
    "wrong",
    ["", "short-name", "-before-upgrade", "before-upgrade-", "beforeupgrade", "a-" * 16 + "b", "größer-als-10"],
)
def test_what_cannot_be_a_name_is_refused_with_the_rule(wrong):
    with pytest.raises(InputError, match="13 to 32"):
        ids.parse_name(wrong)


@pytest.mark.parametrize("number", [-1, 2**64])
def test_a_number_beyond_64_bits_is_refused(number):
    with pytest.raises(InputError, match="64 bits"):
        ids.encode(number)


def test_generated_ids_are_valid_and_differ():
    made = {ids.generate() for _ in range(1000)}
    assert len(made) == 1000
    assert all(map(ids.is_valid, made))


def test_the_examples_in_the_docstrings_hold():
    assert doctest.testmod(ids).failed == 0
