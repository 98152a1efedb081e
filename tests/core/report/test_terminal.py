import io
import re
from dataclasses import replace

import pytest
from tests.factories import STACKS, make_race, make_standing, with_workloads
from tests.terminals import Terminal

from stackrace.base.numbers import Interval
from stackrace.measure.launch import StackFacts
from stackrace.race.results.race import LeftOut
from stackrace.report.exporter import Format, render
from stackrace.report.merged_standing import standing_of
from stackrace.report.sheet import Item, Listing
from stackrace.report.terminal import _block, make_console, print_report

from .hostile import hostile_race, hostile_standing


def printed(race, standing, width=80):
    out = io.StringIO()
    print_report(race, standing, make_console(out, width=width), details=True)
    return out.getvalue()


def test_what_is_left_out_stands_at_the_top_with_its_reason():
    absent = (
        LeftOut(stack="apache+mod_wsgi", reason="mod_wsgi embeds Python 3.11"),
        LeftOut(stack="nginx/uwsgi/uwsgi", reason="nginx is not installed"),
        LeftOut(stack="nginx/http/apache+mod_wsgi", reason="mod_wsgi embeds Python 3.11"),
    )
    race = replace(make_race(3, levels=(20,)), left_out=absent)
    top = printed(race, make_standing(race), width=300).split("Standing")[0]
    assert (
        "Left out: apache+mod_wsgi and nginx/http/apache+mod_wsgi (mod_wsgi embeds Python 3.11); "
        "nginx/uwsgi/uwsgi (nginx is not installed)."
    ) in top
    page = render(race, make_standing(race), Format.HTML)
    assert page.index("</table>") < page.index("(mod_wsgi embeds") < page.index("<h2>Latency")
    assert "Left out" not in printed(replace(race, left_out=()), make_standing(race))


def test_versions_are_named_and_whose_they_are_where_there_are_several():
    race = make_race(["nginx/http/gunicorn", "gunicorn@23.0.0"], levels=(20,))
    versions = (
        {"nginx": "1.22.1", "gunicorn": "25.0.3", "python": "3.12.1"},
        {"gunicorn": "23.0.0", "python": "3.12.1"},
    )
    facts = [StackFacts(stack=path, versions=each) for path, each in zip(race.stacks, versions, strict=True)]
    race = replace(race, facts=tuple(facts))
    several = "gunicorn 25.0.3 (nginx/http/gunicorn) and gunicorn 23.0.0 (gunicorn@23.0.0)"
    assert f"Versions: nginx 1.22.1, Python 3.12.1, {several}." in printed(race, make_standing(race), width=300)
    out = io.StringIO()
    print_report(race, make_standing(race), make_console(out, width=100))
    assert "Versions: nginx 1.22.1, Python 3.12.1, gunicorn 25.0.3 and gunicorn 23.0.0." in out.getvalue()


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        ("; run: pip install uv", "… run: pip install uv"),
        (": it has another Python, as its log shows in many words: use the system's", "… use the system's"),
        (
            "; its page shows more: see what its log says of the others, and race without",
            "… its page shows more: see what its log says of th…",
        ),
        (
            ": it has one, as its log shows, but nobody knows why, nor what to do about it, or whether",
            "words long…",
        ),
    ],
)
def test_an_item_that_is_cut_keeps_its_last_clause(end, kept):
    item = Item(text=f"gunicorn did not start: {'long words ' * 9}here{end}")
    out = io.StringIO()
    make_console(out, width=100).print(*_block(Listing(items=(item,), room=1)))
    line = out.getvalue().rstrip()
    assert line.startswith("- gunicorn did not start: long words")
    assert line.endswith(kept)
    assert len(line) <= 100


@pytest.mark.parametrize("width", [60, 80, 100, 160, 220])
def test_no_line_is_wider_than_the_terminal(width):
    race = make_race(18, levels=(1, 5, 20, 100, 250), blocks=2, failures=STACKS[17:])
    text = printed(race, make_standing(race, ties=3, censored=("p99", "max"), errors=2), width)
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 100])
def test_paths_break_only_after_a_separator(width):
    race = make_race(STACKS[:6])
    table = printed(race, make_standing(race, errors=1), width).split("Refused")[0]
    for stack in STACKS[:6]:
        for piece in re.split(r"(?<=[/+,:])", stack):
            assert piece in table
    assert "…" not in table


def test_every_level_has_its_table():
    race = with_workloads(make_race(1, levels=(1, 20)), "text", "orm")
    headings = [line for line in printed(race, standing_of(race), 120).splitlines() if line.startswith("Standing ")]
    assert sorted(heading.partition(",")[0] for heading in headings) == [
        "Standing on orm at c=1", "Standing on orm at c=20", "Standing on text at c=1", "Standing on text at c=20"
    ]  # fmt: skip


def test_less_important_columns_go_first():
    race = make_race(3)
    wide, narrow = (printed(race, make_standing(race), width) for width in (220, 80))
    assert "launches  " not in narrow and "longest" not in narrow
    for title in ("longest", "CPU ms/req", "by hop", "MiB", "launches"):
        assert title in wide
    for title in ("tier", "stack", "req/s", "vs leader, 95 %"):
        assert title in narrow


def test_the_median_without_the_network_stands_beside_it_where_there_is_one():
    race = make_race(2, levels=(20,))
    plain = make_standing(race)
    [level] = plain.levels
    first, *others = level.rows
    away = (replace(first, p50_without_network_s=0.00123), *others)
    table = printed(race, replace(plain, levels=(replace(level, rows=away),)), width=220)
    assert "p50 w/o network" in table and "1.23" in table
    assert "network" not in printed(race, plain, width=220)


def test_errors_are_never_dropped():
    race = make_race(3)
    assert "errors" in printed(race, make_standing(race, errors=5), 80)


@pytest.mark.parametrize("no_color", [True, False])
def test_a_terminal_gets_colour_unless_that_is_refused(no_color, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    race = make_race(3, failures=STACKS[2:3])
    out = Terminal()
    print_report(race, make_standing(race), make_console(out), details=True)
    assert ("\x1b[" in out.getvalue()) is not no_color


def test_a_stream_that_cannot_write_the_signs_gets_others():
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    race = make_race(3)
    print_report(race, make_standing(race, censored=("p99",)), make_console(out, width=200), details=True)
    out.flush()
    assert b"?" in raw.getvalue()


def test_hostile_text_sends_no_control_characters():
    race = hostile_race()
    text = printed(race, hostile_standing(race), 120)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_limits_that_are_too_wide_are_a_dash_and_those_near_one_show_their_side():
    race = make_race(3, levels=(20,))
    standing = make_standing(race)
    first, second, third = standing.rows
    near = replace(second, tier=2, ratio=Interval(value=0.9968, low=0.99, high=0.99996))
    wide = replace(third, tier=1, ratio=Interval(value=0.4))
    standing = replace(standing, levels=(replace(standing.levels[0], rows=(first, wide, near)),))
    text = printed(race, standing, width=120)
    assert "0.997 (0.99–0.99996)" in text and "0.40 (–)" in text
    assert "1.00 (" not in text
