"""Reruns on disk: the latest one comes back, whatever else lies beside it."""

import json
from dataclasses import replace

import pytest

from stackrace.base import ids
from stackrace.base.errors import StoreError
from stackrace.features.comparisons.kept import Kept, keep, latest
from stackrace.features.comparisons.rerun import Mode, PartOutcome


def make_kept(**changes):
    kept = Kept(
        id=ids.generate(),
        name="sample-2001",
        made_at="2026-11-22T03:00:00+00:00",
        mode=Mode.QUICK,
        parts=(
            PartOutcome(part="a", race="0" * 13, left_out=("x is left out",)),
            PartOutcome(part="b", trouble="mariadb is not installed"),
        ),
    )
    return replace(kept, **changes)


def test_what_is_kept_comes_back(tmp_path):
    kept = make_kept()
    keep(kept, tmp_path / "new")
    assert latest("sample-2001", tmp_path / "new") == kept


def test_the_one_that_was_kept_last_comes_back_although_the_clock_was_set_back(tmp_path):
    times = ("2026-11-22T03:00:00+00:00", "2026-11-23T03:00:00+00:00", "2026-11-21T03:00:00+00:00")
    for made_at in times:
        keep(make_kept(made_at=made_at), tmp_path)
    assert latest("sample-2001", tmp_path).made_at == times[-1]


def test_other_comparisons_are_others(tmp_path):
    keep(make_kept(name="sample-2001-more"), tmp_path)
    with pytest.raises(StoreError, match="stackrace run historic/sample-2001"):
        latest("sample-2001", tmp_path)


def test_nothing_was_run_yet(tmp_path):
    with pytest.raises(StoreError, match="has not been run yet"):
        latest("sample-2001", tmp_path / "nowhere")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-20],
        lambda text: text.replace('"quick"', '"slow"'),
        lambda text: text.replace('"parts"', '"parst"'),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: json.dumps([1]),
        lambda text: text.replace('[\n        "x is left out"\n      ]', "7"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named(tmp_path, spoil):
    path = keep(make_kept(), tmp_path)
    path.write_text(spoil(path.read_text()))
    with pytest.raises(StoreError) as raised:
        latest("sample-2001", tmp_path)
    assert str(path) in raised.value.message and "move it away" in raised.value.message


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="XDG_DATA_HOME"):
        keep(make_kept(), blocked)
