"""EVIDENCE.md: the race's answer in its own words, and the proof of the files."""

from tests.factories import make_race

from stackrace.base.numbers import Interval
from stackrace.features.export.equivalence import Equivalence, Proof, Reloaded, Verdict
from stackrace.features.export.evidence import equivalence, evidence, limits
from stackrace.report.result import standing_of
from stackrace.report.words.standing import words_of


def same(verdict, low, high, **changes):
    ratio = Interval(value=(low + high) / 2, low=low, high=high)
    return Equivalence(verdict=verdict, difference=0.05, ratio=ratio, blocks=6, level="c=100", **changes)


def test_a_stack_that_nobody_raced_says_so():
    text = evidence("gunicorn", race=None, standing=None)
    assert "Nothing was measured" in text
    assert "Nobody has started these files yet" in text


def test_a_race_speaks_in_its_own_words():
    race = make_race(stacks=["gunicorn", "uwsgi"], blocks=5)
    standing = standing_of(race)
    text = evidence("gunicorn", race=race, standing=standing)
    assert words_of(race, standing).answer.split()[0] in text
    assert f"Race {race.id}, begun" in text
    assert race.host.system in text


def test_each_verdict_has_its_sentence():
    assert equivalence(same(Verdict.EQUIVALENT, 0.98, 1.01)).startswith("Proven: ")
    assert equivalence(same(Verdict.DIFFERENT, 0.7, 0.8)).startswith("Not equivalent: ")
    undecided = equivalence(same(Verdict.OPEN, 0.9, 1.2, could_have_seen=0.2))
    assert "no more than a difference below 20 %" in undecided
    assert "--budget" in undecided


def test_a_proof_tells_what_was_done():
    reloads = (
        Reloaded(hop="gunicorn", asked=308, lost=0),
        Reloaded(hop="nginx", asked=1, lost=1, why="status 502"),
    )
    proof = Proof(
        units_verified=None,
        checkers=("nginx",),
        questions=1,
        ready_s=0.5,
        container_healthy=True,
        reloads=reloads,
    )
    text = evidence("gunicorn", race=None, standing=None, proof=proof)
    assert "systemd-analyze is not installed here" in text
    assert "They answered 1 question rightly" in text
    assert "Nobody has started" not in text
    assert "The health checks of the front's unit and of the image passed" in text
    assert "gunicorn was reloaded as its unit says while 308 requests were made: none was lost." in text
    assert "while 1 request was made: 1 of them failed (first: status 502)." in text


def test_the_limits_are_those_of_the_front():
    assert "16 MiB and gives up an answer" in limits("nginx", bodies=True, answers=True, own=False)
    assert "bodies of any size" in limits("Varnish", bodies=False, answers=True, own=False)
    assert "limits neither" in limits("Uvicorn", bodies=False, answers=False, own=False)
    assert "as your file does" in limits("nginx", bodies=True, answers=True, own=True)
