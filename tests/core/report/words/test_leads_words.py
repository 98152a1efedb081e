"""The answer over all load levels."""

from dataclasses import replace

from tests.core.race.contests import Entry, contest, flat
from tests.factories import each_launch, make_race, with_workloads

from stackrace.report.merged_standing import standing_of
from stackrace.report.words.standing_sentences import elsewhere

from .worded import told, words


def entry(name, rates):
    return Entry(rates=rates, cpu={name: 0.5})


def test_another_stack_may_lead_at_low_loads():
    found = told({
        "gunicorn": entry("gunicorn", {1: 500, 10: 900, 100: 1300}),
        "waitress": entry("waitress", {1: 600, 10: 1100, 100: 1000}),
    })  # fmt: skip
    assert found.answer.startswith("At 100 connections, gunicorn is the best: it delivers 1.")
    assert found.leads.startswith("At 1 and 10 connections, waitress is ahead by 1.19–1.22× (")
    assert "; at 100, gunicorn is ahead by 1." in found.leads


def test_the_same_stack_everywhere_is_told_in_one_breath():
    rates = {1: 500, 10: 900, 100: 1300}
    found = told({
        "gunicorn": entry("gunicorn", rates),
        "waitress": entry("waitress", {level: rate / 1.8 for level, rate in rates.items()}),
    })  # fmt: skip
    assert found.leads.startswith("At all 3 levels, 1 to 100 connections, gunicorn is ahead by 1.")
    assert found.leads.count("gunicorn") == 1


def test_levels_at_which_nothing_can_be_told_say_so():
    found = told({"a": entry("a", {1: 500, 10: 900, 50: 1000, 100: 1300}),
                  "b": entry("b", {1: 500, 10: 900, 50: 700, 100: 800})}, blocks=3, sd=0.03)  # fmt: skip
    assert found.leads.startswith("At 1 and 10 connections, ")
    assert " cannot be told from " in found.leads
    assert "; from 50 on, a is ahead by" in found.leads


def test_a_difference_nobody_would_notice_is_none():
    found = told(
        {"a": entry("a", flat(900, 1, 10)), "b": entry("b", flat(900, 1, 10))}, blocks=28, sd=0.01, exhaustive=True
    )
    begin = "At both levels, 1 to 10 connections, "
    assert found.leads in (f"{begin}a and b are equally good.", f"{begin}b and a are equally good.")


def test_a_winner_that_does_not_serve_the_apps_web_sockets_says_so():
    entries = {"uwsgi": entry("uwsgi", flat(900)), "daphne": entry("daphne", flat(500))}
    assert told(entries, unserved=("uwsgi",)).answer.endswith(
        "the next best; uwsgi does not serve your WebSockets."
    )
    assert "WebSockets" not in told(entries, unserved=("daphne",)).answer
    alike = told({name: entry(name, flat(900)) for name in "ab"}, blocks=28, exhaustive=True, unserved=("a", "b"))
    assert "b do not serve your WebSockets" in alike.answer or "a do not serve your WebSockets" in alike.answer


def test_one_level_needs_no_such_sentence():
    assert told({"a": entry("a", flat(900)), "b": entry("b", flat(800))}).leads == ""


def test_workloads_have_a_sentence_each():
    entries = {"a": entry("a", flat(900, 1, 10)), "b": entry("b", flat(500, 1, 10))}
    race = contest(entries, workload="static", workloads={"static": ("/s",), "page": ("/p",)})

    def twice(launch):
        return replace(launch, slices=(*launch.slices, *(replace(one, workload="page") for one in launch.slices)))

    found = words(each_launch(race, twice)).leads
    assert found.startswith("On static, at both levels, 1 to 10 connections, a is ahead by ")
    assert ". On page, at both levels, " in found


def test_on_one_screen_the_only_other_level_names_its_workload_too():
    race = with_workloads(make_race(2, (20,)), "static", "pages")
    assert elsewhere(standing_of(race), race).startswith("On pages, at 20 connections, ")


def test_a_stack_measured_alone_at_a_level_has_not_won_it():
    entries = {"a": entry("a", {1: 900, 10: 900}), "b": entry("b", {10: 700})}
    assert "only a was measured" in told(entries).leads
