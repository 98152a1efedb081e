"""What the flags of ``stackrace run`` make of a race file's workloads and runs."""

from pathlib import Path

import pytest

from stackrace.cli.run.options import RunOptions
from stackrace.model.errors import InputError
from stackrace.spec.request import RaceRequest, WorkloadRequest

HERE = Path("/nowhere")
SEVERAL = RaceRequest(folder=HERE, workloads=(WorkloadRequest(name="a", urls=("/",)),))
RUNS = RaceRequest(folder=HERE, repeats=3, run_requests_at={1: 10, 20: 50})


def test_without_flags_a_request_stays_as_it_is():
    for request in (SEVERAL, RUNS, RaceRequest(folder=HERE)):
        assert RunOptions().over(request, ()) == request


def test_a_session_takes_the_place_of_every_other_workload():
    request = RunOptions(session=HERE / "browse.har", think=True).over(SEVERAL, ())
    assert (request.session, request.think, request.workloads, request.urls) == (
        HERE / "browse.har",
        True,
        (),
        None,
    )


def test_urls_take_the_place_of_a_session_and_of_several_workloads():
    assert RunOptions().over(SEVERAL, ("/x",)).workloads == ()
    recorded = RaceRequest(folder=HERE, session=HERE / "browse.har", think=True)
    request = RunOptions().over(recorded, ("/x",))
    assert (request.session, request.think) == (None, False)


def test_a_length_takes_the_place_of_the_files_lengths():
    request = RunOptions(duration=5.0).over(RUNS, ())
    assert (request.run_s, request.run_requests, request.run_requests_at, request.repeats) == (5.0, None, {}, 3)
    assert RunOptions(repeats=9).over(RUNS, ()).repeats == 9


@pytest.mark.parametrize(
    ("options", "request_", "urls", "words"),
    [
        (RunOptions(session=HERE), RaceRequest(folder=HERE), ("/",), "give --session or --url"),
        (RunOptions(think=True), RaceRequest(folder=HERE), (), "--think keeps the pauses of a recording"),
        (RunOptions(requests=1, duration=1.0, repeats=1), RaceRequest(folder=HERE), (), "--requests or --duration"),
        (RunOptions(requests=1), RaceRequest(folder=HERE), (), "give the number of runs with --repeats"),
        (RunOptions(duration=1.0), RaceRequest(folder=HERE), (), "give the number of runs with --repeats"),
        (
            RunOptions(repeats=1),
            RaceRequest(folder=HERE),
            (),
            "needs the length of a run; give --requests or --duration",
        ),
        (RunOptions(), RaceRequest(folder=HERE, repeats=1, run_s=1.0, slice_s=1.0), (), "leave --slice out"),
    ],
)
def test_contradictions_name_the_flags_and_the_way_out(options, request_, urls, words):
    with pytest.raises(InputError, match=words):
        options.over(request_, urls)
