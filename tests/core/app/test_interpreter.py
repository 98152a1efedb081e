import sys
from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.interpreter import Buildable, _wanted_python, find_python, import_problem
from stackrace.app.known_pythons import KnownPython
from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED


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
    defaults = {"environ": {"PATH": ""}, "stackrace_prefix": Path("/nowhere"), "problem": lambda *_: ""}
    return find_python(root, "django", **(defaults | options))


def test_an_explicit_interpreter_wins_and_keeps_its_link(root):
    environment(root / ".venv")
    given = environment(root / "other")
    assert find(root, explicit=Path("other/bin/python")) == KnownPython(python=given, reason="")


def test_an_explicit_environment_stands_for_its_interpreter(root):
    given = environment(root / "other")
    assert find(root, explicit=root / "other").python == given


def test_a_bare_name_is_a_program_on_the_path(root, tmp_path):
    given = environment(tmp_path / "pythons" / "3.9").rename(tmp_path / "python3.9")
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    assert find(root, explicit=Path("python3.9"), environ=environ).python == given


def test_an_explicit_path_that_is_no_interpreter_names_the_flag(root):
    with pytest.raises(InputError, match=r"--python, \[app\] python"):
        find(root, explicit=Path("missing"))


def test_an_environment_in_the_project_comes_before_the_active_one(root, tmp_path):
    active = environment(tmp_path / "active")
    environ = {"VIRTUAL_ENV": str(tmp_path / "active"), "PATH": ""}
    assert find(root, environ=environ).python == active
    assert find(root, environ=environ) == KnownPython(python=active, reason="the active virtual environment")
    own = environment(root / "venv")
    assert find(root, environ=environ) == KnownPython(python=own, reason="venv/ in the project")


def test_a_broken_environment_is_passed_over(root):
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    (root / "requirements.txt").touch()
    assert isinstance(find(root), Buildable)


def test_stackraces_own_environment_is_not_the_apps(root, tmp_path):
    environment(tmp_path / "own")
    environ = {"VIRTUAL_ENV": str(tmp_path / "own"), "PATH": str(tmp_path / "own" / "bin")}
    with pytest.raises(InputError, match="Stackrace's own"):
        find(root, environ=environ, stackrace_prefix=tmp_path / "own")


def test_requirements_can_be_built(root):
    (root / "pyproject.toml").write_text('[project]\ndependencies = ["django"]\n')
    assert find(root).requirements == root / "pyproject.toml"
    (root / "requirements.txt").touch()
    assert find(root).requirements == root / "requirements.txt"


@pytest.mark.parametrize(
    "text", ["", "[project]\nname = 'x'\n", "[project]\ndependencies = []\n", "not toml", "a = " + "[" * 100_000]
)
def test_a_pyproject_without_dependencies_builds_nothing(root, text):
    (root / "pyproject.toml").write_text(text)
    with pytest.raises(InputError, match="no Python found"):
        find(root)


def test_python3_on_path_serves_if_it_can_import_what_is_needed(root, tmp_path):
    environment(tmp_path / "usr")
    environ = {"PATH": str(tmp_path / "usr" / "bin")}
    assert find(root, environ=environ).reason == "python3 on PATH"
    with pytest.raises(
        InputError,
        match=r"cannot import django \(No module named 'django'\).*--python or \[app\] python.*requirements\.txt",
    ):
        find(root, environ=environ, problem=lambda *_: "No module named 'django'")


def tried(python, module, root):
    entry = Entry(kind=EntryKind.WSGI, target=f"{module}:app")
    return import_problem(App(name="", root=root, entry=entry, python=python), module, UNPROTECTED)


def test_importing_is_tried_in_the_project(root):
    (root / "notes.py").touch()
    (root / "broken.py").write_text("raise SystemExit(3)")
    (root / "unset.py").write_text("import os\nos.environ['NO_SUCH_VARIABLE']")
    python = Path(sys.executable)
    (root / "shop.py").write_text("import no_such_framework")
    assert not tried(python, "notes", root)
    assert not tried(python, "unset", root), "the examination says what is not set"
    assert tried(python, "broken", root) == "exit code 3"
    assert tried(python, "shop", root) == "No module named 'no_such_framework'"
    assert tried(python, "nothing_of_that_name", root) == "No module named 'nothing_of_that_name'"
    assert tried(Path("/nowhere/python"), "notes", root) == "No such file or directory"


REQUIRES = {
    "standard": '[project]\nrequires-python = "{}"\n',
    "poetry": '[tool.poetry.dependencies]\npython = "{}"\n',
}


@pytest.fixture
def environ(tmp_path):
    """An environment in which pyenv has 3.12 and 3.13."""
    for version in ("3.12.1", "3.12.4", "3.13.0"):
        python = tmp_path / "pyenv" / "versions" / version / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
    return {"PYENV_ROOT": str(tmp_path / "pyenv"), "PATH": ""}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return tmp_path / "shop"


@pytest.mark.parametrize("kind", REQUIRES)
@pytest.mark.parametrize(
    ("words", "version"),
    [(">=3.9", None), (">=3.11,<4", None), (">=3.12", "3.12.4"), ("<3.15,>=3.13", "3.13.0"), ("^3.12", "3.12.4")],
)
def test_what_the_project_asks_for_is_found(project, environ, kind, words, version):
    (project / "pyproject.toml").write_text(REQUIRES[kind].format(words))
    python = _wanted_python(project, environ, current_minor=11)
    assert (python and python.parts[-3]) == version


def test_what_is_not_there_is_named_with_what_installs_it(project, environ):
    (project / "pyproject.toml").write_text(REQUIRES["standard"].format(">=3.14"))
    with pytest.raises(InputError, match=r"wants Python >=3\.14.*uv python install 3\.14.*--python"):
        _wanted_python(project, environ, current_minor=11)


def test_a_pinned_version_wins(project, environ):
    (project / "pyproject.toml").write_text(REQUIRES["standard"].format(">=3.12"))
    (project / ".python-version").write_text("3.13\n")
    python = _wanted_python(project, environ, current_minor=11)
    assert python.parts[-3] == "3.13.0"


@pytest.mark.parametrize("text", ["", "not toml", "[project]\nrequires-python = 3\n"])
def test_a_project_that_says_nothing_takes_any(project, environ, text):
    (project / "pyproject.toml").write_text(text)
    assert _wanted_python(project, environ, current_minor=11) is None
