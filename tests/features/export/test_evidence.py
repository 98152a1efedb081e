"""EVIDENCE.md: the race's answer in its own words, and the proof of the files."""

from dataclasses import replace

import pytest
from tests.factories import make_race

from stackrace.base.numbers import Interval
from stackrace.features.export.equivalence import Equivalence, Proof, Reloaded, Verdict
from stackrace.features.export.evidence import evidence
from stackrace.report.merged_standing import standing_of
from stackrace.report.words.standing_sentences import words_of

from .exports import export_of


def test_a_stack_that_nobody_raced_says_so():
    text = evidence(export_of("gunicorn"))
    assert "Nothing was measured" in text
    assert "Nobody has started these files yet" in text


def test_a_race_speaks_in_its_own_words():
    race = make_race(stacks=["gunicorn", "uwsgi"], blocks=5)
    standing = standing_of(race)
    text = evidence(export_of("gunicorn", race=race, standing=standing))
    assert words_of(race, standing).answer.split()[0] in text
    assert f"Race {race.id}, begun" in text
    assert race.host.system in text


def proven(**members):
    proof = Proof(units_verified=None, checkers=("nginx",), questions=1, ready_s=0.5, **members)
    return evidence(export_of("gunicorn"), proof)


@pytest.mark.parametrize(
    ("verdict", "ratio", "said", "code"),
    [
        (Verdict.EQUIVALENT, (0.98, 1.01), "Proven: ", 0),
        (Verdict.DIFFERENT, (0.7, 0.8), "Not equivalent: ", 1),
        (
            Verdict.OPEN,
            (0.9, 1.2),
            "no more than a difference below 20 %, and 5 % was asked for; give more time",
            3,
        ),
    ],
)
def test_each_verdict_has_its_sentence_and_its_exit_code(verdict, ratio, said, code):
    low, high = ratio
    result = Equivalence(
        verdict=verdict, difference=0.05, ratio=Interval(value=(low + high) / 2, low=low, high=high), blocks=6,
        level="c=100", could_have_seen=0.2,
    )  # fmt: skip
    assert said in proven(equivalence=result)
    assert result.exit_code == code


def test_a_proof_tells_what_was_done():
    text = proven(
        container_healthy=True,
        reloads=(
            Reloaded(hop="gunicorn", asked=308, lost=0),
            Reloaded(hop="nginx", asked=1, lost=1, why="1 with status 5xx"),
        ),
    )
    assert "systemd-analyze is not installed here" in text
    assert "They answered 1 question rightly" in text
    assert "Nobody has started" not in text
    assert "The health checks of the front's unit and of the image passed" in text
    assert "gunicorn was reloaded as its unit says while 308 requests were made: none was lost." in text
    assert "while 1 request was made: 1 of them failed (1 with status 5xx)." in text


def test_a_proof_that_lost_requests_fails_unless_its_server_is_known_for_it():
    kept = Reloaded(hop="nginx", asked=400, lost=0)
    lost = replace(kept, lost=2, why="2 with status 5xx")
    known = replace(lost, hop="apache", known="may reset a connection")
    proof = Proof(units_verified=1, checkers=(), questions=1, ready_s=1.0)
    assert [replace(proof, reloads=(one,)).exit_code for one in (kept, lost, known)] == [0, 1, 0]
    assert "2 of them failed (2 with status 5xx); apache may reset a connection." in proven(reloads=(known,))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nginx/http/gunicorn", "nginx refuses bodies beyond 16 MiB and gives up an answer"),
        ("varnish/http/gunicorn", "bodies of any size"),
        ("uvicorn", "limits neither"),
    ],
)
def test_the_limits_are_those_of_the_front(path, said):
    assert said in evidence(export_of(path))
