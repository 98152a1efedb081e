"""The report on one screen: at most 32 lines of 100 columns for seven stacks, the answer first."""

import io
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.factories import STACKS, each_slice, make_failure, make_finding, make_race, make_standing, with_workloads

from stackrace.base.text import one_line
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.cli.showing import short_steps
from stackrace.features.current.distance import CurrentErrors, CurrentKind
from stackrace.features.current.model import CurrentDeployment, CurrentGap, CurrentQueue
from stackrace.features.current.notice import news as failing
from stackrace.measure.launch import FailureKind
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending, LeftOut
from stackrace.report.exporter import Format, render
from stackrace.report.merged_standing import standing_of
from stackrace.report.paths import shortened
from stackrace.report.terminal import make_console, print_report
from stackrace.report.words.answer_sentence import answer
from stackrace.report.words.standing_sentences import words_of

LONG = "nginx:config=deploy/production/nginx/sites/shop.conf/uwsgi/uwsgi:config=deploy/production/uwsgi/shop.ini"
LINES, COLUMNS = 32, 100
FINISH = 2
"""A blank line and the report's address, below which the next steps stand."""


def printed(race, standing=None, width=COLUMNS, **how):
    out = io.StringIO()
    print_report(race, standing_of(race) if standing is None else standing, make_console(out, width=width), **how)
    return out.getvalue()


def complained(race, checks, effect=Effect.WARNS):
    """``race``, whose every launch is complained about by so many checks."""
    findings = tuple(
        Finding(check=f"check {place}", effect=effect, seen=f"trouble {place} " * 9, remedy=f"cure {place}")
        for place in range(checks)
    )
    return each_slice(race, lambda one: replace(one, verdict=Verdict(findings)))


FOUND = CurrentDeployment(
    stack=LONG, file="deploy/compose.production.yml", line=12,
    gaps=tuple(CurrentGap(file="deploy/nginx.conf", line=line, what="lua_code_cache on", why=f"it needs {line}")
               for line in (4, 5, 6)),
    others=("Procfile:1", "deploy/systemd/shop.service:3", "fly.toml"),
)  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
NAMES = st.sampled_from(STACKS) | st.just(LONG) | st.sampled_from([f"{LONG}{'x' * 90}{n}" for n in range(3)])


@st.composite
def races(draw):
    stacks = tuple(draw(st.lists(NAMES, min_size=1, max_size=7, unique=True)))
    failing = draw(st.lists(st.sampled_from(stacks), unique=True))
    failures = {
        stack: make_failure(draw(st.sampled_from(FailureKind)), draw(TEXT), log="line\n" * 9) for stack in failing
    }
    levels = draw(st.sampled_from([(20,), (1, 10, 100), (1, 2, 5, 10, 20, 50, 100, 200)]))
    race = make_race(stacks, levels, blocks=draw(st.integers(1, 3)), failures=failures)
    race = complained(race, draw(st.integers(0, 9)), draw(st.sampled_from([Effect.WARNS, Effect.INVALIDATES])))
    if draw(st.booleans()):
        race = with_workloads(race, "static", "pages")
    if draw(st.booleans()):
        race = replace(race, current=stacks[-1], parts=Parts().having(FOUND))
    return replace(
        race,
        app=draw(TEXT),
        entry=draw(TEXT),
        urls=tuple(draw(st.lists(TEXT, max_size=9))) if not race.workloads else (),
        ending=draw(st.sampled_from(Ending)),
        left_out=tuple(LeftOut(stack=stack, reason=draw(TEXT)) for stack in STACKS[7 : draw(st.integers(7, 12))]),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(races(), st.booleans(), st.booleans())
def test_any_race_of_seven_stacks_fits_on_a_screen_with_the_answer_first(race, void, fails):
    standing = standing_of(race)
    if standing.current is not None and fails:
        errors = CurrentErrors(load=race.loads[-1], workload="pages", answered=0.56, status=502, server="nginx")
        queue = CurrentQueue(server="uWSGI", file="deploy/production/uwsgi/shop.ini", line=4, value=10)
        standing = replace(standing, current=replace(standing.current, errors=errors, queue=queue))
    if void:
        standing = replace(standing, verdict=Verdict((make_finding("twins", Effect.INVALIDATES),)))
    lines = [*printed(race, standing).splitlines(), *[""] * FINISH, *short_steps(race, standing)]
    assert len(lines) <= LINES, "\n".join(lines)
    assert max(map(cell_len, lines)) <= COLUMNS
    begin = answer(race, standing)
    begin = one_line(shortened(begin, race) if standing.verdict.valid else begin)
    news = one_line(failing(standing.current))
    assert bare("".join(lines[:4])).startswith((bare(news) + bare(begin))[: 80 + len(bare(news))])


def test_the_most_that_can_be_said_fits_too():
    stacks = tuple(f"{LONG}{'x' * 90}{n}" for n in range(7))
    race = complained(make_race(stacks, (1, 2, 5, 10, 20, 50, 100, 200), blocks=1), 9)
    debug = Verdict((Finding(check="debug-mode", effect=Effect.WARNS),))
    first = race.launches[0]
    first = replace(first, slices=tuple(replace(one, verdict=debug) for one in first.slices))
    race = replace(
        race,
        launches=(first, *race.launches[1:]),
        current=stacks[-1],
        parts=Parts().having(FOUND),
        app="shop " * 99,
    )
    standing = standing_of(race)
    errors = CurrentErrors(load=race.loads[-1], workload="pages " * 40, answered=0.56)
    failing_too = replace(standing, current=replace(standing.current, errors=errors))
    altered = replace(race, altered="This result was altered in its store. " * 9)
    for raced, each in ((race, standing), (race, failing_too), (altered, standing), (altered, failing_too)):
        lines = printed(raced, each).splitlines()
        assert len(lines) + FINISH + 2 <= LINES, "\n".join(lines)
        assert max(map(cell_len, lines)) <= COLUMNS


def bare(text):
    return "".join(text.split())


def test_everything_else_is_said_with_details():
    race = replace(
        complained(make_race(7, failures={STACKS[6]: make_failure()}), 9),
        current=STACKS[0], parts=Parts().having(replace(FOUND, stack=STACKS[0])),
        left_out=(LeftOut(stack="apache+mod_wsgi", reason="mod_wsgi embeds Python 3.11"),),
    )  # fmt: skip
    words = words_of(race, standing_of(race))
    text = " ".join(printed(race, width=500, details=True).split())
    for said in (
        words.answer,
        words.leads,
        words.reason,
        words.costs,
        words.current,
        *words.conditions,
        *race.notes,
    ):
        assert said in text
    for place in range(9):
        assert f"trouble {place}" in text and f"cure {place}" in text
    for said in ("ImportError: No module named 'shop'", "it needs 6", "fly.toml", "mod_wsgi embeds Python 3.11",
                 "c=1", f"Race {race.id}, seed {race.seed}."):  # fmt: skip
        assert said in text


def test_what_matters_stands_directly_below_the_answer():
    race = replace(make_race(3, levels=(20,)), entry="shop.wsgi:application", current=STACKS[0],
                   parts=Parts().having(replace(FOUND, stack=STACKS[0])))  # fmt: skip
    debug = Verdict((Finding(check="debug-mode", effect=Effect.WARNS),))
    race = each_slice(race, lambda one: replace(one, verdict=debug))
    for details in (False, True):
        top = printed(race, details=details).split("Standing")[0].split("For ")[0]
        words = " ".join(top.split())
        for said in ("Debug mode is on", "shop (shop.wsgi:application), / and /items/?page=3",
                     "compose.production.yml:12", "Not taken over: deploy/nginx.conf:4 lua_code_cache on",
                     "Procfile:1"):  # fmt: skip
            assert said in words
    assert "debug mode" not in printed(race)


def test_a_long_path_is_spelt_out_once_in_the_table():
    race = replace(make_race((*STACKS[:2], LONG), levels=(20,)), current=LONG, parts=Parts().having(FOUND))
    text = printed(race)
    assert "your deployment" in text.split("Standing")[1].lower() or "our present deployment" in text
    table = "".join(text.split("Standing")[1].split())
    assert "nginx:config=deploy/production/nginx/" in table and "(current)" in table
    assert "/production/" not in text.split("Standing")[0]


def test_one_cause_has_one_line():
    failing = dict.fromkeys(STACKS[1:5], make_failure())
    text = printed(complained(make_race(5, levels=(20,), failures=failing), 6))
    assert text.count("No answer within 30 s") == 1
    assert "and 4 more: --details" in text


def test_checks_that_see_the_same_cause_share_a_line():
    findings = tuple(
        Finding(check=check, effect=effect, seen=f"{check} was seen")
        for check, effect in (
            ("foreign-cpu", Effect.WARNS), ("contention", Effect.REDOES), ("generator-waited", Effect.WARNS),
            ("reconnects", Effect.WARNS),
        )
    )  # fmt: skip
    race = each_slice(make_race(3, levels=(20,)), lambda one: replace(one, verdict=Verdict(findings)))
    lines = [line for line in printed(race, make_standing(race)).splitlines() if line[:1] in "✗↻!" and line]
    assert lines == [
        "↻ contention, foreign CPU, generator waited: 15 slices redone: contention was seen",
        "! reconnects: 15 slices warned about: reconnects was seen",
    ]


@pytest.mark.parametrize("details", [False, True])
def test_what_fails_under_load_comes_first(details):
    race = replace(make_race(3), current=STACKS[0], parts=Parts().having(replace(FOUND, stack=STACKS[0])))
    errors = CurrentErrors(load=race.loads[-1], answered=0.56, status=502, server="nginx")
    standing = standing_of(race)
    standing = replace(standing, current=replace(standing.current, errors=errors, kind=CurrentKind.UNMEASURED))
    news = "Your present deployment fails at 100 connections: 56 % of the answers are 502 from nginx."
    assert printed(race, standing, details=details).startswith(f"{news}\n")
    page = render(race, standing, Format.HTML)
    assert page.index("56 % of the answers are 502") < page.index("<h1")


def test_a_standing_without_limits_fits_too():
    race = make_race(7, blocks=1)
    assert len(printed(race, make_standing(race, limits=False, settled=False)).splitlines()) <= LINES
