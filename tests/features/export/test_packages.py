"""Where a project says which packages it needs."""

import json

import pytest

from stackrace.base.errors import InputError
from stackrace.features.export.packages import Asked, _refuse_other_versions, asked_of
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

HASHED = "Django==5.2.1 \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\n"
POETRY = '[[package]]\nname = "django"\nversion = "5.2.1"\n'
PYPROJECT = "pyproject.toml"


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        ({"requirements.txt": "Django\n"}, Asked(file="requirements.txt")),
        ({"requirements.txt": "-r base.txt\n"}, Asked(file="requirements.txt", is_whole=False)),
        ({"requirements.txt": HASHED}, Asked(file="requirements.txt", is_hashed=True)),
        ({"requirements/base.txt": "Django\n"}, Asked(file="requirements/base.txt")),
        ({"poetry.lock": POETRY}, Asked(lock="poetry.lock", locked="django==5.2.1\n")),
        (
            {"Pipfile.lock": json.dumps({"default": {"django": {"version": "==5.2.1"}}}), "Pipfile": ""},
            Asked(lock="Pipfile.lock", locked="django==5.2.1\n"),
        ),
        ({"poetry.lock": "nonsense"}, Asked()),
        ({PYPROJECT: '[project]\ndependencies = ["django"]\n'}, Asked(file=PYPROJECT, is_whole=False)),
        ({PYPROJECT: '[tool.poetry.dependencies]\ndjango = "^5"\n'}, Asked(file=PYPROJECT, is_whole=False)),
        ({PYPROJECT: '[tool.poetry]\npackage-mode = false\n[tool.poetry.dependencies]\ndjango = "^5"\n'}, Asked()),
        ({PYPROJECT: "[tool.ruff]\nline-length = 100\n"}, Asked()),
        ({PYPROJECT: '[project]\nname = "shop"\n'}, Asked()),
        ({}, Asked()),
    ],
)
def test_it_is_said_in_lists_locks_and_pyproject(files, asked, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert asked_of(tmp_path) == asked


def test_a_version_that_the_project_pins_otherwise_is_not_exported(tmp_path):
    def refuse(path, listed):
        (tmp_path / "requirements.txt").write_text(listed)
        _refuse_other_versions(parse_stack(path, catalogue().specs, frozenset({Interface.WSGI})), tmp_path)

    refuse("gunicorn", "gunicorn==25.0.3\n")
    refuse("gunicorn@23.0.0", "gunicorn==23.0.0\n")
    refuse("gunicorn@23.0.0", "gunicorn>=20\n")
    with pytest.raises(
        InputError, match=r"project itself wants gunicorn 25.0.3, .*; write 23.0.0 there, and export"
    ):
        refuse("nginx/http/gunicorn@23.0.0", "gunicorn==25.0.3\n")
