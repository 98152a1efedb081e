"""Short identifiers."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.base import ids
from stackrace.base.errors import InputError


@given(st.integers(0, 2**64 - 1))
def test_every_64_bit_number_survives_the_round_trip(number):
    identifier = ids.encode(number)
    assert len(identifier) == 13
    assert ids.is_valid(identifier)
    assert ids.decode(identifier) == number


@pytest.mark.parametrize("wrong", ["", "abc", "A" * 13, "z" * 13, "00000000-0000", "0" * 33, "0" * 13 + "\n"])
def test_what_is_no_id_is_refused(wrong):
    assert not ids.is_valid(wrong)
    with pytest.raises(InputError, match="13 characters"):
        ids.decode(wrong)


@pytest.mark.parametrize(("longer", "version"), [("0" * 14, 1), ("0123456789abcdef" * 2, 19)])
def test_a_longer_id_is_of_a_later_version(longer, version):
    assert ids.version_of(longer) == version
    assert not ids.is_valid(longer)
    with pytest.raises(InputError, match=f"version {version}, from a later Stackrace"):
        ids.decode(longer)


@given(st.text(alphabet="0123456789abcdefghijklmnopqrstuvwxyz-", max_size=40))
def test_no_name_can_be_mistaken_for_an_id_of_any_version(text):
    try:
        name = ids.parse_name(text)
    except InputError:
        return
    assert ids.PATTERN.fullmatch(name)
    assert ids.version_of(name) is None


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
