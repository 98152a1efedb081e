"""Compose files are read as compose reads them; what its own library makes of the same files was recorded."""

import json
from pathlib import Path

import pytest

from stackrace.app.projects.compose import models_of

from .setups import read, write

RECORDED = json.loads(Path(__file__).with_name("compose_cases.json").read_text())["cases"]
"""By name: files, and the services that compose-go loads from them, perhaps ``named`` as with ``-f``."""
WITHOUT_VALUE = "a variable without a value"


def model_of(folder, case):
    write(folder, case["files"])
    models = models_of(sorted(folder.glob("**/*compose*.y*ml")), folder)
    named = tuple(folder / name for name in case.get("named", ()))
    return next(model for model in models if not named or model.files == named)


@pytest.mark.parametrize("name", [name for name in RECORDED if name != WITHOUT_VALUE])
def test_compose_makes_the_same_of_the_files(tmp_path, name):
    model = model_of(tmp_path, RECORDED[name])
    active = {
        service: said
        for service, said in model.services.items()
        if not said.get("profiles") or model.profiles & set(said["profiles"])
    }
    assert active.keys() == RECORDED[name]["services"].keys()
    for service, expected in RECORDED[name]["services"].items():
        said = active[service]
        for key in ("command", "entrypoint"):
            assert (said.get(key) or []) == (expected.get(key) or [])
        variables = {key: value for key, value in expected.get("environment", {}).items() if value is not None}
        assert said["environment"] == variables
        assert said.get("labels") == expected.get("labels")
        assert said.get("working_dir") == expected.get("working_dir")
        assert (said.get("deploy") or {}).get("replicas") == (expected.get("deploy") or {}).get("replicas")
        build = said.get("build")
        assert (build and Path(build["context"])) == (
            expected.get("build") and tmp_path / expected["build"]["context"]
        )
        assert (build or {}).get("target") == expected.get("build", {}).get("target")


def test_a_variable_that_no_file_sets_is_unknown_rather_than_empty(tmp_path):
    assert model_of(tmp_path, RECORDED[WITHOUT_VALUE]).services["w"]["command"] == [
        "gunicorn", "a:b", "-w", "${N?}", "--t=x",
    ]  # fmt: skip
    found = read(tmp_path, {})
    assert found.is_partial


BASE = "services:\n  w:\n    build: .\n    command: gunicorn a:b -w 2\n"
OVER = "services:\n  w:\n    command: gunicorn a:b -w 9\n"

PROJECTS = {
    "an override": ({"compose.yml": BASE, "compose.override.yml": OVER}, 9, "compose.override.yml:3"),
    "an overlay of production": (
        {"docker-compose.yml": BASE, "docker-compose.override.yml": "services: {w: {command: ./dev}}",
         "docker-compose.prod.yml": OVER}, 9, "docker-compose.prod.yml:3"),
    "an overlay in another folder": ({"compose.yml": BASE, "deploy/compose.yml": OVER}, 9, "deploy/compose.yml:3"),
    "an overlay of variables alone": (
        {"compose.yml": BASE.replace(" -w 2", ""), "compose.prod.yml": OVER.replace("command: gunicorn a:b -w 9",
         "environment: {WEB_CONCURRENCY: 9}")}, 9, "compose.yml:4"),
    "a file of production that is whole": (
        {"compose.yml": BASE, "compose.prod.yml": "services:\n  w:\n    image: x\n    command: gunicorn a:b -w 5"},
        5, "compose.prod.yml:4"),
    "an override for development": (
        {"compose.yml": BASE, "compose.override.yml": "services: {w: {command: python manage.py runserver}}"},
        2, "compose.yml:4"),
    "a file that is only extended": (
        {"compose.yml": "services:\n  w:\n    extends: {file: base.compose.yml, service: b}\n    environment:\n"
         "      WEB_CONCURRENCY: 9\n",
         "base.compose.yml": "services:\n  b: {build: ., command: gunicorn a:b}\n"}, 9, "base.compose.yml:2"),
    "profiles that are off": (
        {"compose.yml": "services:\n  a: {build: ., command: gunicorn a:b -w 5, profiles: [x]}\n"
         "  w: {build: ., command: gunicorn a:b -w 3}\n"}, 3, "compose.yml:3"),
    "words beside an image's in a file of production": (
        {"compose.yml": "services:\n  w:\n    build: {context: ., dockerfile: docker/production/Dockerfile}\n"
         "    command: gunicorn a:b --workers 3\n", "docker/production/Dockerfile": 'CMD ["gunicorn", "a:b"]\n'},
        3, "compose.yml:4"),
    "an argument of the build": (
        {"compose.yml": "services:\n  w:\n    build: {context: ., args: [N=4]}\n",
         "Dockerfile": "FROM x\nARG N=2\nENV WEB_CONCURRENCY=$N\nCMD gunicorn a:b\n"}, 4, "Dockerfile:4"),
    "the image of another service": (
        {"compose.yml": "services:\n  z: {build: ., image: shop, command: celery worker}\n"
         "  y: {image: shop, environment: {WEB_CONCURRENCY: 9}}\n",
         "Dockerfile": "ENV WEB_CONCURRENCY=2\nCMD gunicorn a:b\n"}, 9, "Dockerfile:2"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROJECTS)
def test_files_that_compose_reads_together_are_one_deployment(tmp_path, case):
    files, workers, place = PROJECTS[case]
    found = read(tmp_path, {"Dockerfile": "FROM x\n", **files})
    assert (found.stack, found.location) == (f"gunicorn:workers={workers}", place)
    assert not found.is_partial


def test_an_override_that_is_left_out_is_named(tmp_path):
    files, _, _ = PROJECTS["an override for development"]
    found = read(tmp_path, files)
    assert [(gap.file, gap.what) for gap in found.gaps] == [("compose.override.yml", "overrides the services")]


def test_an_overlay_is_read_with_its_base_where_it_is_named(tmp_path):
    write(
        tmp_path, {"compose.yml": BASE, "compose.override.yml": OVER, "compose.small.yml": OVER.replace("9", "1")}
    )
    for name, workers in (("compose.small.yml", 1), ("compose.yml", 9), ("compose.override.yml", 9)):
        found = read(tmp_path, {}, tmp_path / name)
        assert found.stack == f"gunicorn:workers={workers}"
        assert found.read == ("compose.yml", "compose.small.yml" if workers == 1 else "compose.override.yml")


LACKING = {
    "a file of variables": "env_file: prod.env",
    "a service of another file": "extends: {file: ../other/compose.yml, service: w}",
}
FURTHER = {
    "an include": ({"compose.yml": "include: [a.yml]\nservices: {w: {command: gunicorn a:b -w 3}}\n"}, "include"),
    "files that are named": (
        {"compose.yml": "services: {w: {command: gunicorn a:b -w 3}}\n",
         ".env": "COMPOSE_FILE=compose.yml:a.yml\n"},
        "COMPOSE_FILE=compose.yml:a.yml"),
    "a format": (
        {"compose.yml": "services: {w: {command: gunicorn a:b, env_file: [{path: w.env, format: raw}]}}\n",
         "w.env": "WEB_CONCURRENCY=9\n"}, "env_file w.env"),
}  # fmt: skip


@pytest.mark.parametrize("case", FURTHER)
def test_what_compose_reads_and_stackrace_does_not_is_named(tmp_path, case):
    files, what = FURTHER[case]
    found = read(tmp_path, files)
    # what is included never overrides a service
    assert found.is_partial is (what != "include")
    assert [gap.what for gap in found.gaps] == [what]


@pytest.mark.parametrize("case", LACKING)
def test_what_cannot_be_read_beside_it_is_named(tmp_path, case):
    found = read(tmp_path, {"compose.yml": f"services:\n  w:\n    command: gunicorn a:b\n    {LACKING[case]}\n"})
    (gap,) = found.gaps
    assert (gap.file, gap.line, gap.what) == (
        "compose.yml",
        4,
        LACKING[case].split(",")[0].replace(": {file:", "").replace(":", ""),
    )
    assert found.is_partial
    found = read(
        tmp_path, {"compose.yml": f"services:\n  w:\n    command: gunicorn a:b -w 3\n    {LACKING[case]}\n"}
    )
    assert found.is_partial is ("extends" in LACKING[case])


def test_an_image_that_nobody_builds_is_taken_for_the_projects_and_said_to_be(tmp_path):
    found = read(
        tmp_path,
        {
            "compose.yml": "services:\n  db: {image: postgres}\n  web:\n    image: registry/shop:1\n"
            "    environment: {WEB_CONCURRENCY: 9}\n",
            "Dockerfile": 'ENV WEB_CONCURRENCY=2\nCMD ["gunicorn", "a:b"]\n',
        },
    )
    assert found.stack == "gunicorn:workers=9"
    (gap,) = found.gaps
    assert (gap.file, gap.line, gap.what, gap.weight) == ("compose.yml", 4, "image registry/shop:1", "assumed")
