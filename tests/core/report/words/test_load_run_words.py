"""What is said of the answers that a run of the engine got wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.factories import make_counts, make_load, make_result

from stackrace.base.verdict import Verdict
from stackrace.measure.engine.load_run import FinishedRun, Target
from stackrace.measure.load import HeldConnections
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.report.words.load_sentences import failures, held_words, losses


def ran(classes, *, right, wrong, expected=()):
    """A run with so many right and wrong answers, in these status classes."""
    answers = tuple(
        Answer(status=status, body=b"", content_type="", sameness=Sameness.STATUS) for status in expected
    )
    workload = Workload(requests=(Request(path="/"),), answers=answers)
    result = replace(make_result(), counts=make_counts(right, non2xx=wrong), status_classes=classes)
    target = Target(urls=("http://x/",), address=("127.0.0.1", 80), workload=workload, tls=None, is_local=True)
    return FinishedRun(target=target, load=make_load(), warmup_s=0.0, result=result, verdict=Verdict())


@pytest.mark.parametrize(
    ("run", "begin"),
    [
        (ran({"2xx": 20, "4xx": 20}, right=20, wrong=20), "20 answers had a status other than 2xx (20 × 4xx): ask"),
        (ran({"2xx": 9, "5xx": 1, "4xx": 2}, right=9, wrong=3),
         "3 answers had a status other than 2xx (2 × 4xx, 1 × 5xx): the server fails"),
        (ran({"4xx": 30}, right=20, wrong=10, expected=(404,)),
         "10 answers had another status than 404 (10 × 4xx)"),
        (ran({"5xx": 30, "2xx": 2}, right=30, wrong=2, expected=(503,)),
         "2 answers had another status than 503 (2 × 2xx): ask for the page"),
        (ran({"2xx": 9, "3xx": 3, "5xx": 2}, right=10, wrong=4, expected=(200, 302)),
         "4 answers had another status than expected (2 × 5xx): the recording had others"),
        (ran({"2xx": 9, "3xx": 3}, right=10, wrong=2, expected=(200, 302)),
         "2 answers had another status than expected: the recording had others"),
    ],
)  # fmt: skip
def test_only_the_classes_of_wrong_answers_are_listed(run, begin):
    (line,) = failures(run)
    assert line.startswith(begin)


@pytest.mark.parametrize(
    ("run", "failed", "said"),
    [
        (ran({"2xx": 9}, right=9, wrong=0, expected=(200,)), {}, ""),
        (
            ran({"2xx": 9, "5xx": 1, "4xx": 2}, right=9, wrong=3, expected=(200,)),
            {"read": 1, "connect": 1200},
            "2 with status 4xx, 1 with status 5xx, 1 at reading the answer, 1,200 at connecting, 4 timed out",
        ),
        (ran({"2xx": 9, "3xx": 3}, right=10, wrong=2, expected=(200, 302)), {}, "2 with another status"),
    ],
)
def test_lost_requests_are_listed_by_kind(run, failed, said):
    counts = replace(run.result.counts, failed=failed, timed_out=4 if failed else 0)
    assert losses(run.target.workload.answers, replace(run.result, counts=counts)) == said


def test_requests_that_nobody_answered_are_a_reason():
    silent = ran({}, right=0, wrong=0)
    counts = replace(silent.result.counts, scheduled=50, in_flight=50)
    silent = replace(silent, result=replace(silent.result, counts=counts))
    (line,) = failures(silent)
    assert line.startswith("50 requests got no answer by the end")


def test_what_a_server_did_with_the_connections_beside_a_load_is_told():
    load, kept = make_load(silent=4, idle=200), HeldConnections(silent=4, idle=200, closed=0)
    assert held_words(load, {"it": [kept]}) == (
        "beside the load: 4 silent and 200 idle connections; all stayed open"
    )
    cut = HeldConnections(silent=4, idle=16, closed=3)
    full = HeldConnections(silent=4, idle=100, closed=0)
    assert held_words(load, {"it": [kept], "gunicorn": [cut, full, kept], "waitress": [full]}).endswith(
        "; gunicorn closed 3 connections and left as few as 20 open, waitress left as few as 104 open"
    )
