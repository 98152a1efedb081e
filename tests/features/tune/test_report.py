"""What was tuned, as people and programs read it, and why that is no answer."""

import json
from dataclasses import replace

import jsonschema
import pytest
from tests.core.race.simulated import plan_for
from tests.features.tune.test_tuner import PATHS, refused, tune, tuning, with_launches

from stackrace.features.tune import words
from stackrace.features.tune.estimates import Effect
from stackrace.features.tune.model import Infeasible, Knob, Needs, TuningLimits, Unfit, tuning_of
from stackrace.features.tune.picture import block_lines, facets
from stackrace.features.tune.tuning_report import KIND, schema
from stackrace.features.tune.tuning_result import Edge, Tuned, tuned
from stackrace.measure.launch import MemorySample
from stackrace.race.results.parts import Parts
from stackrace.report.exporter import Format, written


@pytest.fixture(scope="module")
def race():
    beyond = Infeasible(stack="waitress:threads=64", kind=Unfit.MEMORY, needs=Needs(memory_bytes=600 * 2**20))
    return tune(asked=tuning(infeasible=(beyond,)))[0]


def test_a_limit_stands_beside_what_is_used_of_it_also_where_that_is_nothing():
    used = Needs(memory_bytes=83 * 2**20, connections=0)
    assert words.needs(used, TuningLimits()) == "83 MiB"
    limits = TuningLimits(memory_bytes=512 * 2**20, connections=20)
    assert words.needs(used, limits) == "83 MiB (512 MiB allowed) and 0 connections to databases (20 allowed)"
    unseen = words.needs(replace(used, connections=None), TuningLimits(connections=1))
    assert unseen == "83 MiB and an unknown number of connections to databases (1 allowed)"


def test_an_end_of_a_range_is_named_with_what_tries_more(race):
    edge = Edge(server="waitress", name="threads", value="64", is_largest=True)
    said = " ".join(words.reasons(race, replace(tuned(race), edges=(edge,))))
    assert "waitress.threads=64 is the largest value that was tried: a larger one may be better still" in said
    assert "--vary waitress.threads=64,96,128" in said


def test_what_the_budget_leaves_out_is_said_before_and_after(race):
    cut = tuning(cut=23, whole_s=280.0)
    before = " ".join(words.outlook(plan_for(["waitress"], budget_s=120.0), cut))
    assert "In 2 min no more can be told apart: 23 others between them are left out." in before
    assert "(--budget 5min)" in before
    after = " ".join(words.reasons(replace(race, parts=Parts().having(cut)), tuned(race)))
    assert "23 others of its configurations did not race. A whole search takes about" in after


def test_more_configurations_than_a_search_can_hold_are_left_out_with_a_way_to_race_them():
    before = " ".join(words.outlook(plan_for(["waitress"], budget_s=3600.0), tuning(cut=166)))
    assert "At most 50 race: 166 others between them are left out. With --vary for fewer settings" in before


def test_settings_that_do_not_matter_are_told_from_those_of_which_it_is_not_known(race):
    effects = (
        Effect(server="s", name=str(i), matters=i > 1, known=i < 2, span=0.02, span_high=0.04) for i in range(4)
    )
    said = " ".join(words.reasons(race, replace(tuned(race), effects=tuple(effects))))
    assert (
        "s.0 and s.1 do not matter: on the average over the other settings all values tried are within 4 %" in said
    )
    assert "Whether s.2 and s.3 matter is not known yet: too few launches tell." in said


def two_settings():
    knobs = (
        Knob(hop=0, server="gunicorn", name="workers", values=("1", "2"), numeric=True),
        Knob(hop=0, server="gunicorn", name="class", values=("sync", "gthread"), numeric=False),
        Knob(hop=0, server="gunicorn", name="threads", values=("2", "4", "8"), numeric=True),
    )
    settings = {f"g{w}": (w, "sync", None) for w in "12"}
    settings |= {f"g{w}{t}": (w, "gthread", t) for w in "12" for t in "248"}
    return tuning(knobs=knobs, settings=settings)


def test_a_setting_that_means_nothing_in_a_panel_does_not_span_it():
    sync, gthread = facets(two_settings(), Tuned(of=8))
    assert (sync.title, sync.across.name, sync.down) == ("class=sync", "workers", None)
    assert (gthread.title, gthread.across.name, gthread.down.name) == ("class=gthread", "threads", "workers")
    assert len(list(block_lines(gthread))) == 4


def test_the_page_is_whole_and_escapes_what_is_foreign(race):
    hostile = replace(race, app="<script>alert(1)</script>", notes=("<b>note</b>",))
    made = written(KIND, hostile, Format.HTML)
    assert "<script>" not in made
    assert "&lt;b&gt;note" in made
    assert all(line in made for panel in facets(tuning_of(race), tuned(race)) for line in block_lines(panel))
    assert made.rstrip().endswith("</html>")


def test_the_document_keeps_to_its_schema(race):
    made = json.loads(json.dumps(KIND.document(race), allow_nan=False))
    jsonschema.validate(made, json.loads(schema()))
    assert made["found"]["stack"] == "waitress:threads=16"
    assert made["race_file"] == 'stacks = ["waitress:threads=16"]'


def test_nothing_measured_is_said_and_breaks_no_report(race):
    empty = replace(race, launches=())
    found = tuned(empty)
    assert found.stack == ""
    assert words.answer(empty, found) == "No configuration of waitress could be measured."
    assert list(KIND.sections(empty))
    assert written(KIND, empty, Format.HTML)
    assert KIND.document(empty)["found"]["value"] is None


def test_a_path_with_quotes_is_quoted_in_a_race_file():
    assert words.race_file_line('gunicorn:config="my conf.py"') == 'stacks = ["gunicorn:config=\\"my conf.py\\""]'


def test_a_search_that_ended_with_a_single_believed_launch_did_not_tell_finalists_apart(race):
    once = replace(race, launches=tuple(launch for launch in race.launches if launch.block == 0))
    assert words.ending(once, tuned(once)).endswith("It ended since too few launches could be believed.")


ONE = {"gunicorn:workers=4": ("4",)}


def said(race):
    return words.unproved(race, tuned(race))


def test_a_single_believed_launch_proves_nothing():
    race, _ = tune()
    assert said(race) == ""
    once = replace(race, launches=tuple(launch for launch in race.launches if launch.block == 0))
    assert said(once).startswith("only one launch of waitress:threads=16 could be believed, which proves nothing; ")
    twice = replace(race, launches=tuple(launch for launch in race.launches if launch.block < 2))
    assert said(twice) == ""


def test_the_check_that_refused_most_is_named_with_what_to_do():
    race = with_launches(refused("errors"), asked=tuning(settings=ONE, references={}))
    assert "2 of 2 slices were refused, most of them for" in said(race)


def test_a_limit_that_all_exceed_is_told_by_the_nearest_whether_it_was_launched_or_not():
    limits = TuningLimits(connections=4)

    def many(launch):
        return replace(launch, memory=(MemorySample(at_s=1.0, pss_bytes={"gunicorn": 2**20}, connections=9),))

    race = with_launches(many, asked=tuning(limits=limits, settings=ONE, references={}))
    assert "gunicorn:workers=4 comes nearest and needs 9 connections" in said(race)
    failed = Infeasible(stack=PATHS[0], kind=Unfit.FAILED)
    also = replace(race, parts=Parts().having(replace(tuning_of(race), infeasible=(failed,))))
    assert "2 configurations left out: 1 for no believable measurement and 1 for more connections" in said(also)
