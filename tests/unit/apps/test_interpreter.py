import sys
from pathlib import Path

import pytest

from stackrace.apps import Buildable, Interpreter, find_python
from stackrace.apps.interpreter import can_import
from stackrace.model.errors import InputError


def environment(folder):
    """Make something that looks like a virtual environment; return its interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (folder / "bin" / "python3").symlink_to("python")
    return python


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def find(root, **options):
    defaults = {"environ": {"PATH": ""}, "own_prefix": Path("/nowhere"), "imports": lambda *_: True}
    return find_python(root, "django", **(defaults | options))


def test_an_explicit_interpreter_wins_and_keeps_its_link(root):
    environment(root / ".venv")
    given = environment(root / "other")
    assert find(root, explicit=Path("other/bin/python")) == Interpreter(python=given, reason="as given")


def test_an_explicit_environment_stands_for_its_interpreter(root):
    given = environment(root / "other")
    assert find(root, explicit=root / "other").python == given


def test_an_explicit_path_that_is_no_interpreter_names_the_flag(root):
    with pytest.raises(InputError, match=r"--python, \[app\] python"):
        find(root, explicit=Path("missing"))


def test_an_environment_in_the_project_comes_before_the_active_one(root, tmp_path):
    active = environment(tmp_path / "active")
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": ""}
    assert find(root, environ=environ).python == active
    assert find(root, environ=environ) == Interpreter(python=active, reason="the active virtual environment")
    own = environment(root / "venv")
    assert find(root, environ=environ) == Interpreter(python=own, reason="venv/ in the project")


def test_a_broken_environment_is_passed_over(root):
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    (root / "requirements.txt").touch()
    assert isinstance(find(root), Buildable)


def test_stackraces_own_environment_is_not_the_apps(root, tmp_path):
    environment(tmp_path / "own")
    environ = {"VIRTUAL_ENV": str(tmp_path / "own"), "PATH": str(tmp_path / "own" / "bin")}
    with pytest.raises(InputError, match="Stackrace's own"):
        find(root, environ=environ, own_prefix=tmp_path / "own")


def test_requirements_can_be_built(root):
    (root / "pyproject.toml").write_text('[project]\ndependencies = ["django"]\n')
    assert find(root).requirements == root / "pyproject.toml"
    (root / "requirements.txt").touch()
    assert find(root).requirements == root / "requirements.txt"


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "[project]\ndependencies = []\n", "not toml"])
def test_a_pyproject_without_dependencies_builds_nothing(root, text):
    (root / "pyproject.toml").write_text(text)
    with pytest.raises(InputError, match="no Python found"):
        find(root)


def test_python3_on_path_serves_if_it_can_import_what_is_needed(root, tmp_path):
    environment(tmp_path / "usr")
    environ = {"PATH": str(tmp_path / "usr" / "bin")}
    assert find(root, environ=environ).reason == "python3 on PATH"
    with pytest.raises(InputError, match=r"cannot import django.*--python or \[app\] python.*requirements\.txt"):
        find(root, environ=environ, imports=lambda *_: False)


def test_importing_is_tried_in_the_project(root):
    (root / "notes.py").touch()
    (root / "broken.py").write_text("raise SystemExit(3)")
    python = Path(sys.executable)
    assert can_import(python, "notes", root)
    assert not can_import(python, "broken", root)
    assert not can_import(python, "nothing_of_that_name", root)
    assert not can_import(Path("/nowhere/python"), "notes", root)
