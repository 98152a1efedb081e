"""A check in every format."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as Tree

import jsonschema
import pytest
from tests.factories import each_launch, make_finding
from tests.features.regression.checks import allowing, falling, grown, make_check, without_memory

from stackrace.api.resuming import unfinished
from stackrace.base.errors import StoreError
from stackrace.base.verdict import Effect, Verdict
from stackrace.features.regression import words
from stackrace.features.regression.kind import KIND, rendered, schema
from stackrace.features.regression.model import Contender, GateFacts, gate_of
from stackrace.features.regression.ruling import gate_answer
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending
from stackrace.race.run.stopwatch import Duty
from stackrace.report.terminal import _drawn, make_console
from stackrace.store import open_store

HOSTILE = "</script>\x1b[31m|`\"'&\n"

CHECKS = {
    "passed": make_check(),
    "failed": make_check(slower=0.06),
    "undecided": make_check(blocks=3, noise=0.05, ending=Ending.BUDGET),
    "refused": make_check(blocks=0, ending=Ending.INTERRUPTED),
}


@pytest.fixture(params=CHECKS)
def outcome(request):
    return request.param


def written(outcome, form):
    return rendered(CHECKS[outcome], form)


def told(race):
    return words.answer(race, gate_answer(race))


def suite_of(race):
    (suite,) = Tree.fromstring(rendered(race, "junit"))
    return suite


def test_an_undecided_check_says_why():
    noisy = {"blocks": 3, "noise": 0.05}
    assert told(make_check(**noisy, ending=Ending.INTERRUPTED)).startswith("Undecided: the check was interrupted.")
    assert told(without_memory(make_check(ending=Ending.BUDGET))) == (
        "Undecided: memory could not be measured. Nothing is known of memory. More time would not decide it."
    )
    assert told(falling(make_check(), 2)) == (
        "Undecided: 1 of the head's 8 launches failed (never became ready), and none of the base's 8 launches, "
        "which rules out a pass, but does not show that the change is the reason. About 7 min more would "
        "probably decide it."
    )
    race = make_check(blocks=8, noise=0.05, ending=Ending.BUDGET)
    void = Verdict((make_finding("leftovers", Effect.INVALIDATES),))
    refused = each_launch(race, lambda one: replace(one, verdict=void) if one.block > 2 else one)
    assert told(refused).startswith("Undecided: 5 of 8 pairs of launches were refused. ")


def test_time_that_went_by_waiting_for_other_programs_is_told():
    race = make_check(blocks=2, ending=Ending.BUDGET, duty=Duty(slices_s=100.0, waiting_s=200.0))
    waited = "3 min 20 s went by waiting until other programs left the race's cores"
    assert told(race).startswith(f"Undecided: {waited}.")
    assert f", of which {waited}. The limits" in words.details(race, gate_answer(race))
    quiet = make_check()
    assert "waiting" not in words.details(quiet, gate_answer(quiet))


def test_errors_and_failed_launches_have_sentences_of_their_own():
    assert re.match(
        r"Failed: 1\.9\d points more requests fail, at least 1\.9\d points, where 0\.10 points is allowed;",
        told(make_check(errors=40)),
    )
    assert told(falling(make_check(), 2, 3, 4, 5)) == (
        "Failed: 4 of the head's 8 launches failed (never became ready), and none of the base's 8 launches."
    )


@pytest.mark.parametrize(("blocks", "tag"), [((2, 3, 4, 5), "failure"), ((2,), "skipped")])
def test_failed_launches_are_a_case_of_their_own(blocks, tag):
    race = falling(make_check(), *blocks)
    suite = suite_of(race)
    (case,) = (case for case in suite.findall("testcase") if case.get("name") == "launches")
    assert [each.tag for each in case] == [tag, "system-out"]
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == (tag == "failure")
    assert case[0].get("message").startswith(f"{len(blocks)} of the head's 8 launches failed")
    assert int(suite.get("tests")) == 7
    document = json.loads(rendered(race, "json"))
    jsonschema.validate(document, json.loads(schema()))
    assert document["failed_launches"] == {"base": 0, "head": len(blocks), "confirmed": tag == "failure"}


def test_the_document_keeps_its_schema(outcome):
    document = json.loads(written(outcome, "json"))
    jsonschema.validate(document, json.loads(schema()))
    assert document["outcome"] == outcome
    assert document["exit_code"] == {"passed": 0, "failed": 1, "undecided": 3, "refused": 3}[outcome]
    assert document["words"]["answer"] == told(CHECKS[outcome])


def test_base_and_head_stay_on_a_narrow_screen(capsys):
    make_console(width=80).print(_drawn(KIND.sections(CHECKS["failed"])))
    lines = capsys.readouterr().out.splitlines()
    (header,) = (line for line in lines if "change" in line and "base" in line)
    assert header.split() == ["base", "head", "change"]
    assert max(map(len, lines)) <= 80


def test_packages_that_differ_are_named():
    gate = replace(gate_of(CHECKS["passed"]), packages=("flask 3.1.2 → 3.0.3",))
    race = replace(CHECKS["passed"], parts=Parts().having(gate))
    assert words.side_notes(gate)[2] == "Packages differ: flask 3.1.2 → 3.0.3."
    for form in ("markdown", "html"):
        assert "flask 3.1.2 → 3.0.3" in rendered(race, form)
    assert json.loads(rendered(race, "json"))["packages"] == ["flask 3.1.2 → 3.0.3"]
    many = replace(gate, packages=tuple(f"p{number} 1 → 2" for number in range(20)))
    assert words.side_notes(many)[2].endswith("p7 1 → 2 and 12 other packages.")


def test_a_quantile_that_lacks_answers_says_how_many_and_what_else_can_be_judged():
    text = told(make_check(blocks=16, rate=5.0, ending=Ending.BUDGET))
    assert "P99 needs more answers: 320 of each side came, and 900 are the least;" in text
    alone = told(make_check(blocks=16, rate=5.0, parts=allowing(p99=0.05), ending=Ending.BUDGET))
    assert alone.endswith("To leave it out: --allow 'p99 any'; to judge p90 instead, add --allow 'p90 5%'.")
    assert " min more would probably decide it (--budget" in alone


def test_memory_that_grows_without_end_is_told_from_a_step():
    race = make_check(memory=0.08, slices=3)
    assert re.search(
        r"memory is \d\.\d % more, .* is allowed; it grows by 1\.\d\d MiB per 1,000 requests, the base's by 0;",
        told(grown(race, 1200)),
    )
    assert "is allowed; no growth with requests was seen;" in told(race)


def test_a_scraper_reads_the_metrics(outcome):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = {
        family.name: family for family in parser.text_string_to_metric_families(written(outcome, "openmetrics"))
    }
    states = {s.labels["stackrace_check_outcome"]: s.value for s in families["stackrace_check_outcome"].samples}
    assert [name for name, value in states.items() if value] == [outcome]
    if outcome == "failed":
        change = {s.labels["response"]: s.value for s in families["stackrace_check_change_ratio"].samples}
        assert change["throughput"] == pytest.approx(0.057, abs=0.01)


@pytest.mark.parametrize("form", ["json", "junit", "markdown", "openmetrics", "html"])
def test_foreign_text_stays_text(form):
    contender = Contender(label=HOSTILE, revision="c" * 40, stack="gunicorn")
    race = make_check(
        app=HOSTILE,
        notes=(HOSTILE,),
        parts=Parts().having(GateFacts(base=contender, head=contender, allowances={"cpu": 0.1})),
    )
    text = rendered(race, form)
    assert "\x1b" not in text
    assert "</script>" not in text or form in ("json", "openmetrics")


def test_sides_are_told_apart_by_what_they_do_not_share():
    gate = gate_of(CHECKS["passed"])
    newer = replace(gate, head=replace(gate.head, stack="uwsgi", versions={"uwsgi": "2.0", "python": "3.13.0"}))
    assert words.side_notes(newer)[1].endswith("changed files), uwsgi, uwsgi 2.0, Python 3.13.0.")


def test_a_server_upgrade_is_called_one_in_the_first_line():
    gate = replace(gate_of(CHECKS["passed"]), upgraded=("gunicorn 25.0.3 → 27.0.1",))
    race = replace(CHECKS["passed"], parts=Parts().having(gate))
    said = "A server upgrade: gunicorn 25.0.3 → 27.0.1, with your app and settings. Passed: the head is not slower"
    assert told(race).startswith(said)
    for form in ("json", "junit", "markdown", "html"):
        assert "A server upgrade: gunicorn 25.0.3 → 27.0.1" in rendered(race, form)


def test_a_check_that_cannot_continue_names_the_command_of_a_check(tmp_path):
    cut = replace(make_check(blocks=1), ending=Ending.INTERRUPTED)
    with open_store(f"sqlite:///{tmp_path}/store.sqlite3") as store:
        store.begin(cut)
        with pytest.raises(StoreError, match="start a new one: stackrace check"), unfinished(cut.id, store):
            pass
