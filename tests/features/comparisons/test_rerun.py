"""A comparison run again, in every format."""

import io
import json
import re
from dataclasses import replace

import pytest
from tests.core.report.hostile import EVIL
from tests.factories import make_failure
from tests.features.comparisons.reruns import (
    ONE,
    OTHER,
    cell,
    kept_of,
    make_claim,
    make_comparison,
    make_launch,
    make_slice,
    paired,
    race_of,
    rerun_of,
)

from stackrace.features.comparisons import raced_again, words
from stackrace.features.comparisons.judging import judged
from stackrace.features.comparisons.kind import KIND
from stackrace.features.comparisons.model import Basis, Kind
from stackrace.features.comparisons.named import NAMES
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.rerun import MixOutcome, Mode, PartOutcome, Prediction, Ruling
from stackrace.report.exporter import Format, written
from stackrace.report.terminal import make_console, print_sections

FIRST = (300.0, 306.0, 297.0, 303.0, 294.0, 300.0, 303.0)
SECOND = (203.0, 200.0, 196.0, 202.0, 198.0, 204.0, 200.0)

CLAIMS = (
    make_claim(ratio=1.5),
    make_claim(Kind.LESS, says="one takes less time, by its author's own guess", basis=Basis.ANNOUNCED, ratio=0.5),
    make_claim(Kind.SAME, says="no significant difference", basis=Basis.WITHDRAWN),
    make_claim(Kind.FAILS, says="one dies at 500", this=cell(concurrency=500)),
    make_claim(Kind.LIVES, says="one lives at 1"),
)


FORMATS = [form for form in Format if form is not Format.CSV]


def printed(rerun, width=100):
    out = io.StringIO()
    print_sections(KIND.sections(rerun), make_console(out, width=width), width=100)
    return out.getvalue()


@pytest.fixture
def rerun():
    return rerun_of(make_comparison(*CLAIMS), paired(FIRST, SECOND))


@pytest.mark.parametrize("width", [70, 100, 200])
def test_no_line_is_wider_than_the_terminal_or_a_hundred(rerun, width):
    assert max(len(line) for line in printed(rerun, width).splitlines()) <= min(width, 100)


def test_a_part_that_could_not_be_run_says_why():
    text = printed(rerun_of(make_comparison(), None))
    assert "Of 1 claim, 1 was not measured." in text
    assert "One page: not run: mariadb is not installed" in text
    assert "There were too few blocks for any limits" in text


def test_an_unnoticeable_difference_is_called_one():
    steady = (100.0, 100.1, 100.0, 100.1, 100.0, 99.9, 100.0)
    text = printed(rerun_of(make_comparison(), paired(steady, steady[::-1])), 100)
    assert "no difference that matters" in " ".join(text.split())


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(20.0, "about 1 more minute would decide"), (820.0, "about 14 more minutes would decide"),
     (10_000.0, "about 3 more hours would decide"), (1e6, "more than a day of racing would decide")],
)  # fmt: skip
def test_what_cannot_be_told_says_how_far_off_it_is(rerun, seconds, said):
    told = replace(rerun.claims[0], ruling=Ruling.UNDECIDED, more_s=seconds)
    assert said in words.remark(told)


@pytest.mark.parametrize("ruling", Ruling)
def test_every_ruling_has_its_place_in_every_format(rerun, ruling):
    told = replace(rerun, claims=(replace(rerun.claims[0], ruling=ruling),))
    assert ruling.value in printed(told)
    for form in FORMATS:
        assert ruling.value in written(KIND, told, form)


def test_limits_that_leave_everything_open_are_not_told_as_figures():
    rerun = rerun_of(make_comparison(make_claim(ratio=1.5)), paired((100.0, 900.0), (100.0, 50.0)))
    (claim,) = rerun.claims
    assert claim.now.high > 1e6
    assert 'x2="100.00%"' in written(KIND, rerun, Format.HTML), "they stay within the picture"
    assert "(" not in words.now(claim)
    assert words.remark(claim) == "limits beyond a factor of 100: too few blocks"


def test_what_was_left_out_and_what_the_checks_said_is_told():
    told = rerun_of(
        make_comparison(*CLAIMS), paired(FIRST, SECOND),
        left_out=("cherokee/http/x is left out: no such server",),
        complaints=("3 slices warned about, foreign CPU: 80 % was used.",),
    )  # fmt: skip
    for text in (printed(told), *(written(KIND, told, form) for form in FORMATS)):
        assert "left out" in text and "80 % was used" in text


def test_hostile_text_breaks_out_of_nothing():
    failure = make_failure(message=EVIL, log=EVIL)
    race = race_of(
        make_launch(ONE, 0, make_slice(100)), make_launch(OTHER, 0, failure=failure),
        host=replace(paired((1,), (1,)).host, cpu=EVIL),
    )  # fmt: skip
    mix = MixOutcome(main=EVIL, reached=0.7, now=Prediction(mean_of_rates=0.9, rate_of_mean_time=0.7), then=None)
    rerun = replace(rerun_of(make_comparison(), race, answer=EVIL, left_out=(EVIL,)), mixes=(mix,))
    page = written(KIND, rerun, Format.HTML)
    assert "<script>alert" not in page and "{{ 7*7 }}" in page
    for text in (page, printed(rerun), written(KIND, rerun, Format.MARKDOWN)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", text)
        text.encode()
    assert json.loads(written(KIND, rerun, Format.JSON))
    assert "<script>" not in re.sub(r"\\<", "", written(KIND, rerun, Format.MARKDOWN))


@pytest.mark.parametrize("name", NAMES)
def test_every_comparison_can_be_shown_without_a_single_race(name):
    comparison = read_comparison(name)
    parts = (PartOutcome(part=part.key, trouble="nothing is installed") for part in comparison.parts)
    rerun = judged(comparison, kept_of(*parts, mode=Mode.FULL), {})
    text = printed(rerun)
    assert max(len(line) for line in text.splitlines()) <= 100
    for row in (row for table in comparison.tables for row in table.rows):
        assert row.title in text
    for form in FORMATS:
        assert comparison.title.split()[0] in written(KIND, rerun, form)


ONCE, AGAIN = (300.0,), (303.0,)


@pytest.mark.parametrize(
    ("race", "advice"),
    [
        (paired(ONCE, AGAIN), "a longer budget may decide (--quick --budget 40min)."),
        (paired(FIRST[:3], FIRST[3:6], repeats=5), "more repeats may decide."),
    ],
    ids=["budget", "repeats"],
)
def test_a_parts_answer_advises_only_flags_that_a_rerun_takes(race, advice):
    assert raced_again._outcome(race, "race", ()).answer.endswith(advice)
