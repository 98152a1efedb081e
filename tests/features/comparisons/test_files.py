"""Names of comparisons and of their parts, as people type them."""

from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.features.comparisons.files import NAMES, comparison_name, part_file


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found(name):
    assert comparison_name(f"historic/{name}") == name


@pytest.mark.parametrize(
    "asked", ["race.toml", "other/lighttpd-2008", "historic/lighttpd-2008/race", "lighttpd-2008"]
)
def test_any_other_path_is_none(asked):
    assert comparison_name(asked) is None


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="known: deployment-2010, lighttpd-2008"):
        comparison_name("historic/1999")


def test_a_file_of_the_users_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("historic").mkdir()
    Path("historic/lighttpd-2008").write_text("")
    assert comparison_name("historic/lighttpd-2008") is None


@pytest.mark.parametrize("asked", ["historic/mod-wsgi-2009/b-ladder", "historic/mod-wsgi-2009/b-ladder.toml"])
def test_a_part_is_a_race_file(asked):
    assert part_file(Path(asked)).name == "b-ladder.toml"


@pytest.mark.parametrize("asked", ["race.toml", "historic/mod-wsgi-2009", "other/mod-wsgi-2009/b-ladder"])
def test_any_other_path_is_no_part(asked):
    assert part_file(Path(asked)) is None


def test_an_unknown_part_lists_near_ones():
    with pytest.raises(InputError, match="did you mean b-ladder"):
        part_file(Path("historic/mod-wsgi-2009/ladder"))


def test_the_data_itself_is_no_part():
    with pytest.raises(InputError, match="no part"):
        part_file(Path("historic/mod-wsgi-2009/comparison"))
