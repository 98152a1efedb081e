"""EVIDENCE.md: the race's answer in its own words, and the proof of the files."""

from dataclasses import replace

import pytest

from stackrace.base.numbers import Interval
from stackrace.features.export.equivalence import Equivalence, Proof, Reloaded, Verdict
from stackrace.features.export.evidence import evidence

from .exports import export_of


def proven(*reloads):
    proof = Proof(units_verified=None, checkers=("nginx",), questions=1, ready_s=0.5, reloads=reloads)
    return evidence(export_of("gunicorn"), proof)


@pytest.mark.parametrize(("verdict", "code"), [(Verdict.EQUIVALENT, 0), (Verdict.DIFFERENT, 1), (Verdict.OPEN, 3)])
def test_each_verdict_has_its_exit_code(verdict, code):
    result = Equivalence(
        verdict=verdict, difference=0.05, ratio=Interval(value=1.0, low=0.9, high=1.2), blocks=6,
        level="c=100", could_have_seen=0.2,
    )  # fmt: skip
    assert result.exit_code == code


def test_one_request_is_told_as_one():
    lost = Reloaded(hop="nginx", asked=1, lost=1, why="1 with status 5xx")
    assert "while 1 request was made: 1 of them failed (1 with status 5xx)." in proven(lost)


def test_a_proof_that_lost_requests_fails_unless_its_server_is_known_for_it():
    kept = Reloaded(hop="nginx", asked=400, lost=0)
    lost = replace(kept, lost=2, why="2 with status 5xx")
    known = replace(lost, hop="apache", known="may reset a connection")
    proof = Proof(units_verified=1, checkers=(), questions=1, ready_s=1.0)
    assert [replace(proof, reloads=(one,)).exit_code for one in (kept, lost, known)] == [0, 1, 0]
    assert "2 of them failed (2 with status 5xx); apache may reset a connection." in proven(known)


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
