"""comparison.toml: every problem at once, with its file, line and the way out."""

import pytest

from stackrace.base.errors import SpecError
from stackrace.features.comparisons.model import Basis, Kind, Metric
from stackrace.features.comparisons.reading import read_folder

GOOD = """\
title = "One against other"
year = 2001

[source]
machine = "a machine"
software = "one 1.0"
protocol = "ab -n 100"

[parts.race]
title = "One page"
file = "race.toml"
quick = "2min"

[techniques.one]
title = "One"
path = "gunicorn"

[techniques.other]
title = "Other"
path = "waitress"
gone = "It is no more."
instead = "waitress"

[[figure]]
technique = "one"
concurrency = 1
value = 300
unit = "req/s"

[[figure]]
technique = "other"
concurrency = 1
value = 200
unit = "req/s"

[[claim]]
says = "one is faster"
kind = "more"
this = "one"
that = "other"
concurrency = [1, 20]
"""


def read(tmp_path, text, *, race_file=True):
    folder = tmp_path / "sample-2001"
    folder.mkdir()
    (folder / "comparison.toml").write_text(text)
    if race_file:
        (folder / "race.toml").write_text("")
    return read_folder(folder)


def problems(tmp_path, text, **options):
    with pytest.raises(SpecError) as raised:
        read(tmp_path, text, **options)
    return raised.value.message


def test_what_stands_in_the_file_arrives(tmp_path):
    comparison = read(tmp_path, GOOD)
    assert (comparison.name, comparison.year, comparison.title) == ("sample-2001", 2001, "One against other")
    assert comparison.parts[0].file == tmp_path / "sample-2001" / "race.toml"
    assert comparison.parts[0].quick_s == 120.0
    assert comparison.techniques["other"].gone == "It is no more."
    assert comparison.techniques["one"].gone == ""


def test_a_claim_is_made_once_for_each_of_its_levels(tmp_path):
    first, second = read(tmp_path, GOOD).claims
    assert (first.this.concurrency, second.that.concurrency) == (1, 20)
    assert (first.part, first.metric, first.kind, first.basis) == (
        "race", Metric.THROUGHPUT, Kind.MORE, Basis.MEASURED
    )  # fmt: skip


def test_a_ratio_is_computed_where_both_figures_exist(tmp_path):
    first, second = read(tmp_path, GOOD).claims
    assert first.ratio == pytest.approx(1.5)
    assert second.ratio is None


@pytest.mark.parametrize(
    "spoilt",
    [GOOD.replace('"req/s"', '"ms"', 1), GOOD.replace('unit = "req/s"', 'unit = "req/s"\nof = "httpd"', 1)],
)
def test_figures_of_other_things_make_no_ratio(tmp_path, spoilt):
    assert read(tmp_path, spoilt).claims[0].ratio is None


def test_a_cell_may_say_more_than_its_technique(tmp_path):
    text = GOOD.replace('this = "one"', 'this = { technique = "one", workload = "a", concurrency = 5 }')
    claim = read(tmp_path, text).claims[0]
    assert (claim.this.workload, claim.this.concurrency, claim.that.workload) == ("a", 5, "")


PROBLEMS = {
    "an unknown key": (GOOD.replace("year =", "yaer ="), "yaer"),
    "no year": (GOOD.replace("year = 2001\n", ""), "year: Field required"),
    "a wrong kind": (GOOD.replace('kind = "more"', 'kind = "faster"'), "line 38: claim 1.kind"),
    "no duration": (GOOD.replace('"2min"', '"soon"'), "write it like"),
    "an unknown technique": (GOOD.replace('this = "one"', 'this = "onne"'), "did you mean one"),
    "an unknown technique in a figure": (GOOD.replace('technique = "one"', 'technique = "on"'), "figure 1"),
    "a companion that is not gone": (GOOD.replace("gone =", 'companion = "one"\ngone ='), "'one' is not gone"),
    "an unknown part": (GOOD.replace("says =", 'part = "rice"\nsays ='), "did you mean race"),
    "one cell only": (GOOD.replace('that = "other"\n', ""), "compares two cells"),
    "a failing that is compared": (GOOD.replace('"more"', '"fails"'), "speaks of one cell"),
    "a ratio of errors": (GOOD.replace("says =", 'metric = "errors"\nsays ='), "makes no ratios"),
    "a figure of nothing": (GOOD.replace("value = 300", "value = 0"), "line 27: figure 1.value"),
    "an endless figure": (GOOD.replace("value = 300", "value = inf"), "figure 1.value"),
    "a level too many": (GOOD.replace("[1, 20]", "[1, 1000000]"), "less than or equal to 20000"),
    "no claim": (GOOD[: GOOD.index("[[claim]]")], "claim: Field required"),
    "no TOML": (GOOD + "=", "cannot be read"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_problems_name_their_file_and_the_way_out(tmp_path, case):
    text, said = PROBLEMS[case]
    message = problems(tmp_path, text)
    assert said in message
    assert str(tmp_path / "sample-2001" / "comparison.toml") in message


def test_all_problems_are_reported_at_once(tmp_path):
    text = GOOD.replace('this = "one"', 'this = "nobody"').replace('technique = "one"', 'technique = "someone"')
    assert "has 2 problems" in problems(tmp_path, text)


def test_a_race_file_that_is_not_there(tmp_path):
    assert "there is no race file 'race.toml'" in problems(tmp_path, GOOD, race_file=False)


def test_no_comparison_at_all(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_folder(tmp_path)
