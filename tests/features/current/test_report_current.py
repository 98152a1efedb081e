"""What is run today is marked in every report, and what was changed in it is listed."""

import io
import json
from dataclasses import replace

import jsonschema
from tests.factories import STACKS, make_race, make_standing

from stackrace.base.numbers import Interval
from stackrace.features.current.current_standing import current_standing
from stackrace.features.current.distance import CurrentKind, CurrentStanding
from stackrace.features.current.model import CurrentChange, CurrentDeployment, CurrentGap
from stackrace.features.current.notice import details as taken_over
from stackrace.features.current.notice import headline as current
from stackrace.race.results.parts import Parts
from stackrace.report.document import document, schema
from stackrace.report.exporter import Format, render
from stackrace.report.terminal import make_console, print_report
from stackrace.stacks.native_files import Concern, Weight

FOUND = CurrentDeployment(
    stack=STACKS[1],
    file="compose.prod.yml",
    line=12,
    changes=(
        CurrentChange(file="gunicorn.conf.py", line=3, key="bind", theirs="':80'", concern=Concern.ADDRESS),
        CurrentChange(file="nginx.conf", line=7, key="proxy_pass", theirs="http://web", concern=Concern.ADDRESS),
        CurrentChange(file="nginx.conf", line=9, key="proxy_pass", theirs="http://web", concern=Concern.ADDRESS),
    ),
    gaps=(CurrentGap(file="nginx.conf", line=4, what="lua_code_cache on", why="it needs a module"),),
    others=("Procfile:1",),
)
STANDING = CurrentStanding(
    kind=CurrentKind.BEHIND,
    stack=STACKS[1],
    location="compose.prod.yml:12",
    first=STACKS[0],
    throughput=Interval(value=0.61, low=0.55, high=0.67),
    memory=2.0,
)
SENTENCE = f"Your present deployment (compose.prod.yml:12) delivers 0.61 (0.55–0.67) of {STACKS[0]}, with twice the"
CHANGED = "gunicorn.conf.py:3 bind ':80' (address); nginx.conf:7,9 proxy_pass http://web (address)"
GAP = "nginx.conf:4 lua_code_cache on: it needs a module."


def raced(**changes):
    race = replace(make_race(3), current=STACKS[1], parts=Parts().having(FOUND), **changes)
    return race, replace(make_standing(race), current=STANDING)


def test_the_terminal_marks_it_and_lists_what_was_changed():
    out = io.StringIO()
    print_report(*raced(), make_console(out, width=400), details=True)
    text = out.getvalue()
    assert f"{STACKS[1]} (current)" in text
    assert f"{STACKS[0]} (current)" not in text
    for part in (SENTENCE, CHANGED, GAP, "Procfile:1 (--current Procfile)."):
        assert part in text


def test_what_leaves_the_workers_open_is_no_present_deployment():
    open_ = CurrentGap(file="compose.yml", line=3, what="env_file w.env", why="it is missing", weight=Weight.SIZE)
    assumed = CurrentGap(file="compose.yml", line=2, what="image x", why="it is ours", weight=Weight.ASSUMED)
    found = replace(FOUND, gaps=(*FOUND.gaps, assumed, open_), read=("compose.yml", "compose.prod.yml"))
    race = replace(make_race(3), current=STACKS[1], parts=Parts().having(found))
    standing = current_standing(race, None, ())
    assert standing is not None
    assert current(standing).startswith("Your present deployment (in part, compose.prod.yml:12), ")
    said = " ".join(taken_over(race))
    assert "Your present deployment (in part) was read from compose.prod.yml:12 with compose.yml: " in said
    assert said.index("Not taken over: compose.yml:3 env_file w.env") < said.index("nginx.conf:4 lua_code_cache")
    assert "Assumed: compose.yml:2 image x: it is ours." in said


def test_markdown_and_the_page_mark_it():
    markdown = render(*raced(), Format.MARKDOWN).replace("\\", "")
    assert f"`{STACKS[1]}` (current)" in markdown
    assert SENTENCE in markdown
    html = render(*raced(), Format.HTML)
    assert "<small>current</small>" in html
    assert "0.55–0.67" in html
    assert "lua_code_cache on" in html


def test_the_document_says_it_as_data_and_validates():
    built = json.loads(json.dumps(document(*raced())))
    jsonschema.validate(built, json.loads(schema()))
    assert built["race"]["current"] == STACKS[1]
    assert built["race"]["deployment"]["changes"][0]["line"] == 3
    assert built["current"]["throughput"] == {"value": 0.61, "low": 0.55, "high": 0.67}
    assert built["words"]["current"].startswith(SENTENCE)


def test_without_one_nothing_is_marked():
    race = make_race(3)
    built = document(race, make_standing(race))
    assert (built["current"], built["race"]["current"], built["race"]["deployment"]) == (None, None, None)
    assert "(current)" not in render(race, make_standing(race), Format.MARKDOWN)


def test_without_limits_only_what_was_seen_is_said():
    race, standing = raced()
    seen = replace(STANDING, kind=CurrentKind.OPEN, throughput=Interval(value=0.32))
    text = render(race, replace(standing, current=seen), Format.MARKDOWN).replace("\\", "")
    why = "launches were too few, or too different, for limits."
    assert f"delivered 0.32 of {STACKS[0]}, with twice the memory; {why}" in text
    assert "cannot be told" not in text
