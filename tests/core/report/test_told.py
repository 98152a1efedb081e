"""What all reports say alike: the answer's surroundings, what was refused, and that a void race is void."""

import io
import json
import re
from dataclasses import replace
from html import unescape
from typing import get_args

import jsonschema
import pytest
from tests.factories import STACKS, each_launch, each_slice, make_finding, make_load, make_race, make_standing

from stackrace.base.numbers import Interval
from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.resources import Enforcement, Resources
from stackrace.race.results import answer as results
from stackrace.race.results.answer import Lead, LeadKind, LessMemory, NoErrors
from stackrace.race.results.race import Ending
from stackrace.race.results.standing import Costs, Need
from stackrace.race.run.resume import going_on
from stackrace.report import scaling_words
from stackrace.report.document import document, schema
from stackrace.report.exporter import Format, render
from stackrace.report.level_table import level_table
from stackrace.report.paths import table_names
from stackrace.report.sheet import Table, Tone
from stackrace.report.terminal import make_console, print_report
from stackrace.report.troubles import complaints, refused
from stackrace.report.words import race_words
from stackrace.report.words.standing_sentences import words_of
from stackrace.stats.values import ScalingCurve, ScalingLaw, Unfit, UnfitKind

MEMORY = 2048 * 1024**2
TWINS = replace(make_finding("twins differ", Effect.INVALIDATES), seen="two identical stacks came out 4 % apart")
LAW = ScalingLaw(
    single_per_s=Interval(value=500, low=450, high=550),
    contention=Interval(value=0.2, low=0.19, high=0.21),
    coherency=Interval(value=1.2e-4, low=4e-5, high=2e-4),
    peak=Interval(value=83.3, low=61.7, high=float("inf")),
    residual=0.004,
)
OFF = Unfit(kind=UnfitKind.OFF_THE_CURVE, levels=6, levels_needed=6, residual=0.09)
CURVES = (
    ScalingCurve(stack=STACKS[0], levels=(1, 20, 100), knee=20, law=LAW),
    ScalingCurve(stack=STACKS[1], levels=(1, 20, 100), knee=100, unfit=OFF),
    ScalingCurve(stack=STACKS[2], levels=(1, 20, 100), knee=None, unfit=OFF),
)
TOLD = {
    "leads": tuple(Lead(kind=LeadKind.ALONE, load=make_load(level), stacks=STACKS[:1]) for level in (1, 20)),
    "costs": Costs(
        first=Need(stack=STACKS[0], memory_bytes=2.4e9, cpu_ms_per_request=None),
        second=Need(stack=STACKS[1], memory_bytes=1e9, cpu_ms_per_request=None),
    ),
    "conditions": (
        LessMemory(stack=STACKS[1], memory_bytes=1e9, first_memory_bytes=2.4e9),
        NoErrors(stack=STACKS[2], first=STACKS[0], requests=1000, errors=3),
    ),
}

EVERY_CONDITION = (
    *TOLD["conditions"],
    results.LargerDifference(stack="a", difference=0.07, now=0.05),
    results.OtherLevels(stack="a", connections=(1, 10), or_fewer=True),
    results.LatencyCounts(stack="a", p99_s=Interval(value=0.01), first_p99_s=Interval(value=0.02), at_least=True),
    results.CpuCounts(stack="a", cpu_ms_per_request=0.4, first_cpu_ms_per_request=0.8),
    results.LighterServices(services=("postgresql",), share=0.5),
    results.LighterApp(first="nginx/http/a", hop="a", share=0.9),
)


def told(race, **changes):
    return replace(make_standing(race), **changes)


def everywhere(race, standing):
    """The plain text of each report that people read."""
    out = io.StringIO()
    print_report(race, standing, make_console(out, width=400), details=True)
    html = render(race, standing, Format.HTML)
    visible = re.sub(r"<style>.*?</style>|<wbr>|<[^>]+>", "", html, flags=re.DOTALL)
    markdown = re.sub(r"\\(.)", r"\1", render(race, standing, Format.MARKDOWN))
    return {"terminal": out.getvalue(), "html": unescape(visible), "markdown": markdown}


def test_the_budget_and_what_enforces_it_are_told():
    cores = Resources(stack_cores=(0,), generator_cores=(1,), memory_bytes=MEMORY, enforced=Enforcement.CGROUP)
    race = make_race(2, cores=cores, twin=STACKS[0], resumed=2)
    notes = " ".join(race_words.notes(race, told(race)))
    assert "Each stack ran on core 0 and had at most 2,048 MiB of memory (set by a control group)." in notes
    assert f"{STACKS[0]} ran twice, under two names, as a check on the race." in notes
    assert "The race was resumed twice." in notes
    html = render(race, told(race), Format.HTML)
    assert "at most 2,048 MiB of memory" in re.sub("<wbr>", "", html)


def test_a_race_without_limits_says_by_what_it_was_held():
    race = make_race(2, cores=Resources(stack_cores=(0, 1), generator_cores=(0, 1)))
    assert race_words._resources(race) == (
        "Each stack ran on cores 0 and 1 (set by CPU affinity). The load engine ran on the same cores."
    )
    limited = replace(race, cores=replace(race.cores, memory_bytes=MEMORY))
    assert "at most 2,048 MiB of memory (set by CPU affinity and a resource limit" in race_words._resources(limited)
    assert (race_words._twin(race), race_words._resumed(race)) == ("", "")


def spoilt(race):
    """Two slices and a launch of the first stack refused, a slice of another redone."""
    steal, wrong = make_finding("steal", Effect.REDOES), make_finding("wrong body", Effect.INVALIDATES)

    def seen(launch):
        if launch.block == 0 and launch.stack == race.stacks[0]:
            slices = tuple(replace(one, verdict=Verdict((wrong,))) for one in launch.slices)
            return replace(launch, slices=slices, verdict=Verdict((make_finding("leftovers", Effect.INVALIDATES),)))
        if launch.block == 0:
            return replace(
                launch, slices=(replace(launch.slices[0], verdict=Verdict((steal,))), *launch.slices[1:])
            )
        return launch

    return replace(race, launches=tuple(map(seen, race.launches)))


def test_what_was_refused_is_counted_by_check_and_stack():
    race = spoilt(make_race(2, levels=(1, 20), blocks=3))
    assert refused(race) == (
        f"1 of 6 launches was refused: 1 by leftovers; on {STACKS[0]}. "
        "3 of 12 slices were refused or redone: 2 by wrong body, 1 by steal; "
        f"on {STACKS[0]} (2), {STACKS[1]} (1)."
    )
    found = {one.check: one for one in complaints(race, told(race))}
    assert found["leftovers"].headline == "1 of 6 launches refused"
    assert found["wrong body"].headline == "2 of 12 slices refused"
    assert found["steal"].where == STACKS[1]


def test_checks_of_equal_count_are_told_in_the_same_order_by_every_process():
    names = ("steal", "pressure", "foreign CPU", "machine speed", "generator waited", "reconnects")
    findings = tuple(make_finding(name, Effect.REDOES) for name in names)
    said = refused(each_slice(make_race(1, blocks=1), lambda one: replace(one, verdict=Verdict(findings))))
    assert ", ".join(f"3 by {name}" for name in names) in said


def test_launches_of_a_block_that_was_cut_are_not_counted():
    race = spoilt(make_race(2, levels=(1, 20), blocks=3))
    went_on = going_on(race, done=2, spent_s=1.0)
    found = {one.check: one for one in complaints(went_on, told(race))}
    assert found["leftovers"].headline == "1 of 4 launches refused"
    assert found["wrong body"].headline == "2 of 8 slices refused"
    assert refused(went_on).startswith("1 of 4 launches was refused")


def test_nothing_refused_is_not_told():
    assert refused(make_race(2)) == ""


def test_findings_about_the_race_come_first():
    race = spoilt(make_race(2, levels=(1, 20), blocks=3))
    mild = make_finding("carry-over")
    first, *_, last = complaints(race, told(race, verdict=Verdict((mild, TWINS)), warnings={}))
    assert (first.check, first.headline, first.where) == ("twins differ", "makes the race void", "")
    assert last.effect is Effect.WARNS


def test_a_twins_findings_are_told_of_its_original():
    race = spoilt(make_race(2, blocks=1))
    assert "#twin" not in refused(each_launch(race, lambda one: replace(one, stack=f"{one.stack}#twin")))


def test_growth_is_told_with_its_law_or_why_there_is_none():
    race = make_race(3)
    for name, text in everywhere(race, told(race, scaling=CURVES)).items():
        assert "How throughput grows with the connections" in text, name
        assert "500 (450–550)" in text and "0.00012 (0.00004–0.0002)" in text, name
        assert "the levels are 9 % off its best curve." in text, name
    html = render(race, told(race, scaling=CURVES), Format.HTML)
    assert html.count('class="knee"') == 1 and html.count('class="law"') == 1
    assert "throughput stops growing at 20 connections" in html
    assert "throughput still grows at 100 connections" in html


def test_growth_of_which_nothing_is_known_is_left_out():
    race = make_race(3)
    for name, text in everywhere(race, told(race, scaling=CURVES[2:])).items():
        assert "How throughput grows with the connections" not in text, name


def test_a_reason_that_all_curves_share_is_told_once():
    few = Unfit(kind=UnfitKind.FEW_LEVELS, levels=3, levels_needed=6)
    shared = tuple(replace(curve, unfit=few, law=None) for curve in CURVES)
    assert scaling_words.unfits(shared) == ("A scaling curve needs 6 load levels or more; 3 had results.",)
    off = "Throughput does not follow the scaling law: the levels are 9 % off its best curve."
    assert scaling_words.unfits(CURVES) == (f"{STACKS[1]}, {STACKS[2]}: {off}",)


def test_an_end_of_growth_that_was_not_seen_is_a_bound():
    endless = (CURVES[1], replace(CURVES[0], law=replace(LAW, peak=None)))
    (section,) = scaling_words.scaling_sections(told(make_race(3), scaling=endless))
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert (table.columns[1].cells[0], table.columns[-1].cells[1]) == ("> 100", "none")


def with_p99(standing, limits, **latency):
    """The standing with these limits of p99 in the first row of each level."""

    def changed(level):
        first, *others = level.rows
        first = replace(first, latency_limits={"p99": limits}, latency=replace(first.latency, **latency))
        return replace(level, rows=(first, *others))

    return replace(standing, levels=tuple(map(changed, standing.levels)))


def test_percentiles_have_limits_bounds_or_nothing():
    race = make_race(2)
    known = Interval(value=0.0123, low=0.0111, high=0.0144)
    for name, text in everywhere(race, with_p99(told(race), known)).items():
        assert re.search(r"12\.3\s*\(?11\.1–14\.4", text), name
    for name, text in everywhere(race, with_p99(told(race), known, censored=frozenset({"p99"}))).items():
        assert "≥ 12.3" in text, name
    for limits in (known, None):
        standing = with_p99(told(race), limits)
        jsonschema.validate(document(race, standing), json.loads(schema()))
    assert document(race, standing)["standing"][0]["latency_limits"] == {"p99": None}


def test_everything_told_validates():
    race = make_race(3, twin=STACKS[0], resumed=1, ending=Ending.BUDGET)
    standing = told(race, **TOLD, scaling=CURVES)
    built = json.loads(render(race, standing, Format.JSON))
    jsonschema.validate(built, json.loads(schema()))
    assert built["scaling"][0]["law"]["peak"] == {"value": 83.3, "low": 61.7, "high": None}
    words = words_of(race, standing)
    assert (built["words"]["leads"], built["words"]["costs"]) == (words.leads, words.costs)
    assert built["leads"][0] == {
        "kind": "only one", "load": built["leads"][0]["load"], "workload": "", "stacks": [STACKS[0]], "ratio": None,
        "within": None,
    }  # fmt: skip
    assert built["costs"]["second"] == {"stack": STACKS[1], "memory_bytes": 1e9, "cpu_ms_per_request": None}
    assert [condition["kind"] for condition in built["conditions"]] == ["less memory", "no errors"]


@pytest.mark.parametrize("condition", EVERY_CONDITION, ids=lambda condition: condition.kind)
def test_every_kind_of_condition_validates_and_has_its_sentence(condition):
    race = make_race(3)
    standing = told(race, conditions=(condition,))
    built = json.loads(render(race, standing, Format.JSON))
    jsonschema.validate(built, json.loads(schema()))
    assert built["conditions"][0]["kind"] == condition.kind
    assert built["words"]["conditions"][0].startswith("If ")


def test_there_is_an_example_of_every_kind_of_condition():
    assert {type(condition) for condition in EVERY_CONDITION} == set(get_args(results.Condition))


def test_a_format_that_is_none_is_refused():
    race = make_race(2)
    with pytest.raises(ValueError, match="'pdf' is not a valid Format"):
        render(race, told(race), "pdf")


def test_a_void_race_marks_no_first_tier():
    race = make_race(3)
    (level, *_) = told(race).levels
    marked = [tone for column in level_table(level).columns for tone in column.tones]
    unmarked = [tone for column in level_table(level, void=True).columns for tone in column.tones]
    assert {Tone.STRONG, Tone.GOOD} <= {*marked} and not {Tone.STRONG, Tone.GOOD} & {*unmarked}


LONG = "gunicorn:class=gthread,workers=4,threads=8,--max-requests=1000,--graceful-timeout=30"


@pytest.mark.parametrize(
    ("stacks", "names"),
    [
        (("uwsgi", "nginx/uwsgi/uwsgi:processes=4"), {}),
        (("uwsgi", f"nginx/http/{LONG}"), {f"nginx/http/{LONG}": "nginx/http/gunicorn:…"}),
        ((LONG, f"{LONG}1"), {LONG: "gunicorn:… (1)", f"{LONG}1": "gunicorn:… (2)"}),
    ],
)
def test_only_unreadably_long_paths_have_short_names_in_tables(stacks, names):
    assert table_names(stacks) == names


@pytest.mark.parametrize("details", [True, False])
def test_the_settings_of_a_long_path_stand_once_below_the_table(details):
    race = make_race(2)
    old = race.stacks[1]
    race = replace(
        race, stacks=(race.stacks[0], LONG),
        launches=tuple(replace(each, stack=LONG) if each.stack == old else each for each in race.launches),
    )  # fmt: skip
    console = make_console(io.StringIO(), width=100)
    print_report(race, make_standing(race), console, details=details)
    shown = " ".join(console.file.getvalue().split())
    assert f"gunicorn:… is {LONG}" in shown.replace("=1000, --", "=1000,--")
