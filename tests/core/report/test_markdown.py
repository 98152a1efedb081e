import re
import tomllib
from dataclasses import replace

from tests.factories import STACKS, make_race, make_standing

from stackrace.report.exporter import Format, render
from stackrace.report.words.standing import words_of

from .hostile import hostile_race, hostile_standing


def lines_of(race, standing):
    return render(race, standing, Format.MARKDOWN).splitlines()


def test_the_answer_is_first():
    race = make_race(3)
    standing = make_standing(race)
    assert re.sub(r"[*\\]", "", lines_of(race, standing)[0]) == words_of(race, standing).answer


def test_every_level_has_a_table_with_every_stack():
    race = make_race(4)
    text = "\n".join(lines_of(race, make_standing(race)))
    for load in race.loads:
        assert f"#### {load.label}" in text
    for stack in race.stacks:
        assert text.count(f"| `{stack}` |") == len(race.loads)


def test_table_rows_have_the_header_s_cells_whatever_the_names():
    race = hostile_race()
    tables = [line for line in lines_of(race, hostile_standing(race)) if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1


def test_notes_are_told_since_an_altered_race_says_so_there():
    race = replace(make_race(2), notes=("Altered once.",))
    assert "- Altered once." in lines_of(race, make_standing(race))


def test_hostile_text_is_no_markup():
    race = hostile_race()
    text = "\n".join(lines_of(race, hostile_standing(race)))
    outside_code = re.sub(r"(?s)\\.|```.*?```|(`+).*?\1", "", text)
    assert "<script" not in outside_code
    assert "\x1b" not in text


def test_withdrawn_stacks_are_told():
    race = make_race(3, failures=STACKS[2:3])
    text = "\n".join(lines_of(race, make_standing(race)))
    assert f"`{STACKS[2]}` never became ready" in text and "(no place in the standing)" in text


def test_a_race_of_failures_has_no_table():
    race = make_race(2, failures=STACKS[:2])
    assert not any(line.startswith("|") for line in lines_of(race, make_standing(race)))


def test_the_race_file_in_it_is_toml():
    race = hostile_race()
    text = "\n".join(lines_of(race, hostile_standing(race)))
    fence, body = re.search(r"(?ms)^(`{3,})toml\n(.*?)^\1", text).groups()
    assert len(fence) >= 3
    assert len(tomllib.loads(body)["race"]["stacks"]) == len(race.stacks)
