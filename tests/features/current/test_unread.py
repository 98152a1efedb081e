"""What may override the deployment that was read, and cannot be read itself, is named beside it."""

import pytest

from .setups import read

IMAGE = {"Dockerfile": "CMD gunicorn a:b -w 3\n"}
CHART = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  replicas: {{ .Values.n }}\n"

UNREAD = {
    "Helm": ("chart/templates/web.yaml", CHART, 2),
    "Kustomize": ("k8s/overlays/live/kustomization.yaml", "resources: [../base]\npatches:\n- path: w.yaml\n", 2),
    "a template of a unit": ("roles/web/shop.service.j2", "[Service]\nExecStart=gunicorn {{ app }}\n", 2),
    "a template of a compose file": ("compose.prod.yml.tmpl", "services:\n  w: {command: gunicorn}\n", 2),
}


@pytest.mark.parametrize("case", UNREAD)
def test_it_is_named_and_the_rest_is_a_part(tmp_path, case):
    name, text, line = UNREAD[case]
    found = read(tmp_path, {**IMAGE, name: text})
    assert found.stack == "gunicorn:workers=3"
    assert [(gap.file, gap.line) for gap in found.gaps] == [(name, line)]
    assert found.is_partial


@pytest.mark.parametrize("case", UNREAD)
def test_by_itself_it_is_what_cannot_be_raced(tmp_path, case):
    name, text, line = UNREAD[case]
    found = read(tmp_path, {name: text})
    assert (found.stack, found.location) == ("", f"{name}:{line}")
    assert "--current" in found.problem


def test_a_command_that_nobody_can_tell_is_named_beside_the_images_own(tmp_path):
    line = "'if [ \"$$(cores)\" = 2 ]; then gunicorn a:b -w 9; fi'"
    compose = f"services:\n  w:\n    build: .\n    command: sh -c {line}\n"
    found = read(tmp_path, {**IMAGE, "compose.yml": compose})
    assert found.stack == "gunicorn:workers=3"
    assert [(gap.file, gap.line, gap.what) for gap in found.gaps] == [
        ("compose.yml", 4, "the command with gunicorn")
    ]
    assert found.is_partial


def test_beside_a_deployment_of_its_own_it_changes_nothing(tmp_path):
    found = read(tmp_path, {"Procfile": "web: gunicorn a:b -w 3\n", "c/web.yaml": CHART})
    assert (found.is_partial, [gap.file for gap in found.gaps]) == (False, ["c/web.yaml"])
    named = read(tmp_path, {}, tmp_path / "Procfile")
    assert not named.gaps
