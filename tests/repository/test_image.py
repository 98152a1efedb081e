"""The Dockerfile and what stands around it: linted, and of one piece."""

import fnmatch
import json
import re
from pathlib import Path

from tests.images import last_stage, steps
from tests.linters import lint

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))


def test_hadolint_finds_nothing():
    lint("hadolint", "--no-color", ROOT / "Dockerfile")


def test_it_ends_as_a_user_without_rights_in_the_folder_of_the_app():
    last = dict(last_stage(DOCKERFILE))
    assert last["USER"] == "1000:1000"
    assert last["WORKDIR"] == "/app"
    assert json.loads(last["ENTRYPOINT"]) == ["/opt/stackrace/bin/stackrace"]


def test_what_the_wheel_is_made_from_is_sent_and_nothing_else_of_the_checkout():
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[0] == "*"
    assert kept == {"Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "crates", "pyproject.toml", "src"}
    assert all((ROOT / name).exists() for name in kept)
    engine = "src/stackrace/measure/engine/_engine.abi3.so"
    assert any(fnmatch.fnmatch(engine, line) for line in lines[1:]), "an engine for another system"


def test_the_container_for_developers_is_a_stage_of_it():
    build = DEVCONTAINER["build"]
    folder = ROOT / ".devcontainer"
    assert (folder / build["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert (folder / build["context"]).resolve() == ROOT
    stages = {re.search(r" AS (\w+)$", words)[1] for name, words in steps(DOCKERFILE) if " AS " in words}
    assert build["target"] in stages
