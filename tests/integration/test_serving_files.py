"""Every front end that hosts plain files, really launched: the folder at "/", its types, validators and 404s."""

import pytest
from tests.integration.farm import Farm, ask, head

from stackrace.deploy.installation import missing_item
from stackrace.deploy.launcher import Launcher
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.stacks.servers import Hosted, catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

OFFERED = frozenset({Interface.FILES})
SERVERS = [
    entry.spec.name for entry in catalogue() if Interface.FILES in entry.spec.hosts and not missing_item(entry)
]
PAGE = b"<!DOCTYPE html><title>front</title>\n"
TEXT = b"Hello world!\n"
NO_CONDITIONS = {"unit"}
"""Servers that send a file whatever If-None-Match says, whatever their settings: docs/stacks.md warns of them."""


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    root = tmp_path_factory.mktemp("public")
    (root / "sub").mkdir()
    (root / "index.html").write_bytes(PAGE)
    (root / "sub" / "index.html").write_bytes(PAGE)
    (root / "hello.txt").write_bytes(TEXT)
    (root / "a café.txt").write_bytes(TEXT)
    return root


@pytest.fixture(scope="module")
def farm(request, public):
    app = Hosted(interface=Interface.FILES, root=public)
    workload = Workload(
        requests=(Request(path="/hello.txt"),),
        answers=(Answer(status=200, body=TEXT, content_type="text/plain", sameness=Sameness.BODY),),
    )

    def make_launcher(guard):
        return Launcher(
            guard=guard,
            catalogue=catalogue(),
            host_for=lambda stack: app,
            environment={"PATH": "/usr/bin:/bin"},
            workloads_for=lambda _: (workload,),
            cores=(),
        )

    asked = [item.callspec.params["name"] for item in request.session.items if item.path == request.path]
    farm = Farm(asked, make_launcher, launch_and_ask)
    yield farm
    farm.close()


@pytest.mark.parametrize("name", SERVERS)
def test_a_folder_is_served_as_it_is(name, farm):
    farm.outcome(name)


def launch_and_ask(name, launcher):
    running = launcher.launch(parse_stack(name, catalogue().specs, OFFERED), timeout_s=60)
    try:
        text = ask(running.port, "GET", "/hello.txt")
        assert (text.status, text.body) == (200, TEXT)
        assert text.headers["content-type"].startswith("text/plain")
        assert head(running.port, "/hello.txt") == (200, b"")
        assert ask(running.port, "HEAD", "/hello.txt").headers["content-length"] == "13"
        known = [("If-None-Match", text.headers["etag"])]
        assert ask(running.port, "GET", "/hello.txt", headers=known).status == (
            200 if name in NO_CONDITIONS else 304
        )
        assert ask(running.port, "GET", "/a%20caf%C3%A9.txt").body == TEXT
        for folder in ("/", "/sub/"):
            page = ask(running.port, "GET", folder)
            assert (page.status, page.body) == (200, PAGE)
            assert page.headers["content-type"].startswith("text/html")
        assert ask(running.port, "GET", "/nowhere.txt").status == 404
        assert ask(running.port, "GET", "/../etc/passwd").status in (400, 403, 404)
    finally:
        complaints = stop(launcher.guard, [running])
    assert not complaints, "\n".join(f"{one.message}\n{one.log}" for one in complaints.values())
