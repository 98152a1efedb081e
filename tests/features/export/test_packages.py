"""Where a project says which packages it needs."""

import json

import pytest

from stackrace.features.export.packages import Asked, asked_of

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
