"""docs/races.md leaves no key of race.toml out, and invents none."""

import re
import tomllib
from pathlib import Path

import pytest

from stackrace.race.request.race_file import _keys_of, read_race_file
from stackrace.race.request.tables import NamedWorkloadTable, RaceFileTable

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "races.md").read_text(encoding="utf-8")


def keys():
    for table, shape in _keys_of(RaceFileTable).items():
        named = table == "workloads"
        for key in _keys_of(NamedWorkloadTable if named else shape):
            yield f"[{table}.NAME] {key}" if named else f"[{table}] {key}"


def test_every_key_is_in_the_tables_and_every_key_in_the_tables_exists():
    documented = re.findall(r"^\| `(\[[^`]+)` \|", PAGE, re.M)
    assert sorted(documented) == sorted(keys())


def test_the_example_is_a_race_file(tmp_path):
    (example,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
    assert tomllib.loads(example)
    (tmp_path / "browse.har").write_text("{}")
    (tmp_path / "race.toml").write_text(example)
    assert len(read_race_file(tmp_path / "race.toml", lambda stack: None).workloads) == 2


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", PAGE))
def test_every_link_leads_somewhere(link):
    name, _, anchor = link.partition("#")
    text = (DOCS / name).read_text(encoding="utf-8")
    headings = [line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")]
    assert not anchor or anchor in headings
