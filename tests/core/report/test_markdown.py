import re
import tomllib

from stackrace.report.exporter import Format, render

from .hostile import hostile_race, hostile_standing


def lines_of(race, standing):
    return render(race, standing, Format.MARKDOWN).splitlines()


def test_table_rows_have_the_header_s_cells_whatever_the_names():
    race = hostile_race()
    tables = [line for line in lines_of(race, hostile_standing(race)) if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1


def test_hostile_text_is_no_markup():
    race = hostile_race()
    text = "\n".join(lines_of(race, hostile_standing(race)))
    outside_code = re.sub(r"(?s)\\.|```.*?```|(`+).*?\1", "", text)
    assert "<script" not in outside_code
    assert "\x1b" not in text


def test_the_race_file_in_it_is_toml():
    race = hostile_race()
    text = "\n".join(lines_of(race, hostile_standing(race)))
    fence, body = re.search(r"(?ms)^(`{3,})toml\n(.*?)^\1", text).groups()
    assert len(fence) >= 3
    assert len(tomllib.loads(body)["race"]["stacks"]) == len(race.stacks)
