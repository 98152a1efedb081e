"""Names of comparisons and of their parts, as people type them."""

from pathlib import Path

import pytest

from stackrace.base.errors import InputError
from stackrace.features.comparisons.named import NAMES, file_of, is_whole


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found(name):
    assert is_whole(f"historic/{name}")


@pytest.mark.parametrize(
    "asked", ["race.toml", "other/lighttpd-2008", "historic/lighttpd-2008/race", "lighttpd-2008"]
)
def test_any_other_path_is_none(asked):
    assert not is_whole(asked)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="known: deployment-2010, lighttpd-2008"):
        is_whole("historic/1999")


def test_a_file_of_the_users_own_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("historic").mkdir()
    Path("historic/lighttpd-2008").write_text("")
    assert not is_whole("historic/lighttpd-2008")


@pytest.mark.parametrize("asked", ["historic/mod-wsgi-2009/b-ladder", "historic/mod-wsgi-2009/b-ladder.toml"])
def test_a_part_is_a_race_file(asked):
    assert file_of(Path(asked)).name == "b-ladder.toml"


@pytest.mark.parametrize("asked", ["race.toml", "historic/mod-wsgi-2009", "other/mod-wsgi-2009/b-ladder"])
def test_any_other_path_is_no_part(asked):
    assert file_of(Path(asked)) is None


@pytest.mark.parametrize(("part", "said"), [("ladder", "did you mean b-ladder"), ("comparison", "no part")])
def test_an_unknown_part_lists_near_ones_and_the_data_itself_is_none(part, said):
    with pytest.raises(InputError, match=said):
        file_of(Path(f"historic/mod-wsgi-2009/{part}"))
