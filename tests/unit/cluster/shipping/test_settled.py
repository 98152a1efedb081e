"""A request is told so that it means the same on another machine."""

from dataclasses import replace
from pathlib import Path

from stackrace.features.cluster.shipping.named import named_by
from stackrace.features.cluster.shipping.settled import settled
from stackrace.race.request.request import RaceRequest, WorkloadRequest


def test_paths_are_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = RaceRequest(folder=tmp_path, env_files=(Path(".env"),), static={"/static/": Path("static")})
    request = replace(request, protect=(Path("media"),), servers=Path("servers"), session=Path("a.har"))
    told = settled(replace(request, python=Path("python3.12"), current=True))
    assert told.env_files == (tmp_path / ".env",)
    assert told.static == {"/static/": tmp_path / "static"}
    assert (told.protect, told.servers) == ((tmp_path / "media",), tmp_path / "servers")
    assert told.session == tmp_path / "a.har"
    # looked for on the host's own PATH
    assert told.python == Path("python3.12")
    assert told.current is True


def test_configuration_files_of_stacks_are_told_from_the_project_and_are_needed(project, request_of, tmp_path):
    own, shared = project / "gunicorn.conf.py", tmp_path / "shared.conf.py"
    for path in (own, shared):
        path.write_text("workers = 2\n")
    stacks = (f"gunicorn:config={own}", f"gunicorn:config={shared}", "waitress")
    request = settled(
        replace(request_of(stacks=stacks), workloads=(WorkloadRequest(name="a", urls=("/",), stacks=stacks[:1]),))
    )
    assert request.stacks == (
        "gunicorn:config=gunicorn.conf.py", "gunicorn:config=../../shared.conf.py", "waitress",
    )  # fmt: skip
    assert request.workloads[0].stacks == request.stacks[:1]
    assert {path.resolve() for path in named_by(request, project)} == {own, shared}
