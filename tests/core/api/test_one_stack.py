"""One stack of what could be a race, chosen; and what is loaded in place of a URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.api.load.options import LoadOptions
from stackrace.api.load.raced import load_setup
from stackrace.api.one_stack import of_one_stack
from stackrace.base.errors import InputError
from stackrace.cli.options import race_file_and_rest
from stackrace.race.request.request import RaceRequest, WorkloadRequest

URL = "http://127.0.0.1:9/"


def request(*stacks, **asked):
    return RaceRequest(folder=Path(), source=Path("race.toml"), stacks=stacks or None, **asked)


def test_the_only_stack_of_a_race_file_needs_no_name():
    assert of_one_stack(request("gunicorn"), None).stacks == ("gunicorn",)
    assert of_one_stack(request("gunicorn", "waitress"), "uwsgi").stacks == ("uwsgi",)


@pytest.mark.parametrize(
    ("stacks", "words"),
    [
        ((), "which stack"),
        (("gunicorn", "waitress"), "race.toml races 2 stacks; .* --stack gunicorn or --stack waitress"),
    ],
)
def test_where_a_choice_is_left_it_is_named(stacks, words):
    with pytest.raises(InputError, match=words):
        of_one_stack(request(*stacks), None)


def test_a_stack_meets_the_workloads_that_are_for_it_and_all_where_none_is():
    workloads = (
        WorkloadRequest(name="all", urls=("/",)),
        WorkloadRequest(name="some", urls=("/a",), stacks=("gunicorn",)),
    )
    names = {
        stack: [each.name for each in of_one_stack(request("x", workloads=workloads), stack).workloads]
        for stack in ("gunicorn", "waitress")
    }
    assert names == {"gunicorn": ["all", "some"], "waitress": ["all"]}
    (left,) = of_one_stack(request("x", workloads=workloads[1:]), "waitress").workloads
    assert left.stacks is None


@pytest.mark.parametrize(
    ("words", "split"),
    [
        (["race.toml", "gunicorn"], (Path("race.toml"), ("gunicorn",))),
        ([URL, "historic/lighttpd-2008/part"], (Path("historic/lighttpd-2008/part"), (URL,))),
        (["http://a/race.toml"], (None, ("http://a/race.toml",))),
    ],
)
def test_a_race_file_is_told_from_urls_and_stacks(words, split):
    assert race_file_and_rest(words) == split


def test_two_race_files_are_refused():
    with pytest.raises(InputError, match=r"one race file, not a\.toml and b\.toml"):
        race_file_and_rest(["a.toml", "b.toml"])


def at_url(asked, **options):
    with load_setup(LoadOptions(urls=(URL,), **options), asked, lambda what: None) as setup:
        return setup


def test_a_server_that_runs_is_asked_what_the_race_file_says():
    asked = request(
        urls=("/", "/items/"),
        host="shop.example.com",
        headers=(("Accept", "text/html"),),
        concurrency=(1, 20),
        keep_alive=False,
        timeout_s=3.0,
        silent=4,
        idle=200,
    )
    setup = at_url(asked)
    workload, load = setup.target.workload, setup.options.load(1000)
    assert [each.path for each in workload.requests] == ["/", "/items/"]
    assert (workload.host, workload.requests[0].headers) == ("shop.example.com", (("Accept", "text/html"),))
    assert (load.concurrency, load.keep_alive, load.timeout_s) == (20, False, 3.0)
    assert (load.silent, load.idle) == (4, 200)
    over = at_url(asked, concurrency=5, host="other", timeout=1.0, silent=0)
    assert (over.options.load(1000).silent, over.options.load(1000).idle) == (0, 200)
    assert (over.options.load(1000).concurrency, over.options.load(1000).timeout_s) == (5, 1.0)
    assert over.target.workload.host == "other"


@pytest.mark.parametrize(
    ("asked", "options", "stack", "words"),
    [
        (request("a"), {"urls": (f"{URL}page",)}, None, "the server's address alone"),
        (request("a"), {"urls": (URL,)}, "a", "a URL or --stack, not both"),
        (request("a"), {"urls": (), "data": "x"}, None, "--data is for a server at a URL"),
        (request("a"), {"urls": (), "think": 1.0}, None, "give recorded or none"),
        (request("a"), {"urls": (), "think": "none"}, None, "--think needs --session"),
        (request("a"), {"urls": (), "requests": 1, "duration": 1.0}, None, "not both"),
        (
            request("a", workloads=(WorkloadRequest(name="x"), WorkloadRequest(name="y"))),
            {"urls": ()},
            None,
            "race.toml has 2 named workloads; choose one with --workload: x, y",
        ),
        (request(), {"urls": ()}, None, "which stack"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_starts(asked, options, stack, words):
    with (
        pytest.raises(InputError, match=words),
        load_setup(LoadOptions(**options), asked, lambda what: None, stack=stack),
    ):
        pass
