"""What the flags of ``stackrace run`` make of a race file's request."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.cli.request_flags import RequestFlags
from stackrace.cli.run.command import command as run_command
from stackrace.race.request.request import RaceRequest, WorkloadRequest

HERE = Path("/nowhere")
PLAIN = RaceRequest(folder=HERE)
SEVERAL = RaceRequest(folder=HERE, workloads=(WorkloadRequest(name="a", urls=("/",)),))
RUNS = RaceRequest(folder=HERE, repeats=3, run_requests_at={1: 10, 20: 50})


def over(request, **given):
    return RequestFlags(given).over(request)


def test_without_flags_a_request_stays_as_it_is():
    for request in (SEVERAL, RUNS, PLAIN):
        assert over(request) == request


def test_flags_replace_what_the_file_says():
    request = over(RaceRequest(folder=HERE, seed=3, quota=True, keep_alive=False), seed=0, cores=(0, 1))
    assert (request.seed, request.quota, request.keep_alive, request.cores) == (0, True, False, (0, 1))


def test_paths_are_absolute_whatever_becomes_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = over(PLAIN, folder=Path(), python=Path("venv/bin/python"))
    assert (request.folder, request.python) == (tmp_path, tmp_path / "venv/bin/python")


def test_an_app_takes_the_place_of_the_files():
    request = over(RaceRequest(folder=HERE, entry=Entry(kind=EntryKind.RACK, target="config.ru")), wsgi="notes:app")
    assert request.entry == Entry(kind=EntryKind.WSGI, target="notes:app")


def test_a_session_takes_the_place_of_every_other_workload():
    request = over(SEVERAL, session=HERE / "browse.har", think=True)
    assert (request.session, request.think, request.workloads, request.urls) == (
        HERE / "browse.har",
        True,
        (),
        None,
    )


def test_urls_take_the_place_of_a_session_and_of_several_workloads():
    assert over(SEVERAL, urls=("/x",)).workloads == ()
    recorded = RaceRequest(folder=HERE, session=HERE / "browse.har", think=True)
    request = over(recorded, urls=("/x",))
    assert (request.session, request.think) == (None, False)


def test_a_length_takes_the_place_of_the_files_lengths():
    request = over(RUNS, run_s=5.0)
    assert (request.run_s, request.run_requests, request.run_requests_at, request.repeats) == (5.0, None, {}, 3)
    assert over(RUNS, repeats=9).repeats == 9


@pytest.mark.parametrize(
    ("flags", "request_", "words"),
    [
        ({"session": HERE, "urls": ("/",)}, PLAIN, "give --session or --url"),
        ({"think": True}, PLAIN, "--think keeps the pauses of a recording"),
        ({"run_requests": 1, "run_s": 1.0, "repeats": 1}, PLAIN, "--requests or --duration"),
        ({"run_requests": 1}, PLAIN, "give the number of runs with --repeats"),
        ({"run_s": 1.0}, PLAIN, "give the number of runs with --repeats"),
        ({"repeats": 1}, PLAIN, "needs the length of a run; give --requests or --duration"),
        ({}, RaceRequest(folder=HERE, repeats=1, run_s=1.0, slice_s=1.0), "leave --slice out"),
        ({"wsgi": "a:b", "asgi": "a:b"}, PLAIN, "give only one of --wsgi, --asgi"),
        ({"folder": HERE}, PLAIN, "--project /nowhere is not a folder"),
    ],
)
def test_contradictions_name_the_flags_and_the_way_out(flags, request_, words):
    with pytest.raises(InputError, match=words):
        over(request_, **flags)


def test_an_app_of_the_users_and_a_bundled_one_replace_each_other():
    rack = RaceRequest(folder=HERE, entry=Entry(kind=EntryKind.RACK, target="config.ru"))
    assert (over(rack, bundled="django").entry, over(rack, bundled="django").bundled) == (None, "django")
    assert over(RaceRequest(folder=HERE, bundled="ladder"), wsgi="notes:app").bundled is None


def test_stacks_without_their_flag_get_it() -> None:
    done = CliRunner().invoke(run_command, ["race.toml", "gunicorn", "nginx/uwsgi/uwsgi"])
    assert done.exit_code == 2
    assert "stacks are given as --stack gunicorn --stack nginx/uwsgi/uwsgi" in done.output
