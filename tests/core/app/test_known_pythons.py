"""Environments are found where the tools of the field keep them."""

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.environment import app_environment, local_packages
from stackrace.app.interpreter import Buildable, find_python, other_pythons
from stackrace.app.project_files import project_folders
from stackrace.base.errors import InputError


def environment(folder):
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    python.chmod(0o755)
    return python


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def root(home):
    folder = home / "work" / "my_shop"
    folder.mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


def find(root, home, **variables):
    environ = {"PATH": "", "HOME": str(home), **{name: str(value) for name, value in variables.items()}}
    return find_python(
        root, "django", environ=environ, own_prefix=Path("/nowhere"), problem=lambda *_: "No module named 'django'"
    )


def hash_of(path):
    return base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(path)).digest()).decode()[:8]


def test_an_environment_of_another_name_is_known_by_its_sign(root, home):
    python = environment(root / "shopenv")
    (root / "shopenv" / "pyvenv.cfg").touch()
    assert find(root, home).python == python


def test_an_environment_above_is_found_up_to_the_top_of_the_repository(root, home):
    inner = root / "services" / "web" / "src" / "app"
    inner.mkdir(parents=True)
    environment(home / "work" / ".venv")
    with pytest.raises(InputError, match="no Python found"):
        find(inner, home)
    python = environment(root / ".venv")
    assert find(inner, home).python == python
    assert str(root) in find(inner, home).reason


def test_without_a_repository_the_search_ends_soon_and_below_shared_folders(tmp_path):
    deep = tmp_path / "a" / "b" / "c" / "d" / "e"
    assert project_folders(deep) == (deep, *deep.parents[:3])
    assert project_folders(Path("/srv/shop/src")) == (Path("/srv/shop/src"), Path("/srv/shop"))


def test_uvs_variable(root, home):
    (root / "pyproject.toml").touch()
    assert find(root, home, UV_PROJECT_ENVIRONMENT=environment(home / "uv").parent.parent).reason.startswith("UV_")


def test_pdms_file(root, home):
    python = environment(home / "pdm")
    (root / ".pdm-python").write_text(f"{python}\n")
    assert find(root, home).python == python


@pytest.mark.parametrize("table", ["project", "tool.poetry"])
def test_poetrys_cache(root, home, table):
    (root / "pyproject.toml").write_text(f'[{table}]\nname = "My_Shop"\n')
    python = environment(home / ".cache" / "pypoetry" / "virtualenvs" / f"my-shop-{hash_of(root)}-py3.12")
    assert find(root, home).python == python
    assert find(root, home).reason == "Poetry's environment"


def test_pipenvs_data(root, home):
    (root / "Pipfile").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(root / "Pipfile")).digest()[:6]).decode()[:8]
    python = environment(home / ".local" / "share" / "virtualenvs" / f"my_shop-{digest}")
    assert find(root, home).python == python


def test_virtualenvwrappers_name(root, home):
    (root / ".venv").write_text("shop\n")
    python = environment(home / "envs" / "shop")
    assert find(root, home, WORKON_HOME=home / "envs").python == python


def test_pyenvs_name_but_not_its_number(root, home):
    (root / ".python-version").write_text("shop\n")
    python = environment(home / ".pyenv" / "versions" / "shop")
    assert find(root, home).python == python
    (root / ".python-version").write_text("3.12.1\n")
    base = environment(home / ".pyenv" / "versions" / "3.12.1")
    with pytest.raises(InputError):
        find(root, home)
    (root / "requirements.txt").touch()
    choice = find(root, home)
    assert isinstance(choice, Buildable)
    assert choice.base == base


def test_condas_environment_by_its_file_and_the_active_one(root, home):
    active = environment(home / "active")
    assert find(root, home, CONDA_PREFIX=home / "active").python == active
    with pytest.raises(InputError):
        find(root, home, CONDA_PREFIX=home / "active", CONDA_DEFAULT_ENV="base")
    (root / "environment.yml").write_text("name: shop\ndependencies:\n  - flask\n")
    python = environment(home / "miniconda3" / "envs" / "shop")
    assert find(root, home, CONDA_PREFIX=home / "active").python == python


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("poetry.lock", "poetry install"),
        ("pyproject.toml", "poetry install"),
        ("Pipfile", "pipenv install"),
        ("environment.yml", "conda env create"),
    ],
)
def test_what_would_make_the_environment_is_named(root, home, file, command):
    (root / file).write_text("[tool.poetry]\n")
    environment(home / "usr").rename(home / "usr" / "bin" / "python3")
    with pytest.raises(InputError, match=command):
        find(root, home, PATH=home / "usr" / "bin")


def test_requirements_may_lie_above(root, home):
    (root / "src").mkdir()
    (root / "pyproject.toml").write_text('[project]\ndependencies = ["flask"]\n')
    choice = find(root / "src", home)
    assert isinstance(choice, Buildable)
    assert choice.requirements == root / "pyproject.toml"


def test_all_the_other_environments_are_named_once(root, home):
    used, other = environment(root / ".venv"), environment(root / "venv")
    environ = {"HOME": str(home), "VIRTUAL_ENV": str(root / "venv")}
    assert [known.python for known in other_pythons(root, used, environ, Path("/nowhere"))] == [other]


@pytest.mark.parametrize(
    ("path", "seen"),
    [("/tmp/envs/p_hatch", "reqo8qEA"), ("/tmp/envs/p_hatch2", "vusjNXYV"), ("/tmp/envs/p_poetry", "N4Rwsqhm")],
)
def test_the_names_are_those_that_hatch_and_poetry_gave_their_folders(path, seen):
    assert hash_of(path) == seen


def test_hatchs_data(root, home):
    (root / "pyproject.toml").write_text('[project]\nname = "My_Shop"\n')
    python = environment(home / ".local/share/hatch/env/virtual/my-shop" / hash_of(root) / "my-shop")
    assert find(root, home).python == python
    moved = environment(home / "data/env/virtual/my-shop" / hash_of(root) / "my-shop")
    assert find(root, home, HATCH_DATA_DIR=home / "data").python == moved


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("work/my_shop/poetry.toml", '[virtualenvs]\npath = "HOME/elsewhere"\n', "elsewhere"),
        (".config/pypoetry/config.toml", '[virtualenvs]\npath = "{cache-dir}/envs"\n', ".cache/pypoetry/envs"),
        (".config/pypoetry/config.toml", 'cache-dir = "HOME/kept"\n', "kept/virtualenvs"),
        (".config/pypoetry/config.toml", "virtualenvs = 5\n[", ".cache/pypoetry/virtualenvs"),
    ],
)
def test_poetrys_own_settings_say_where(root, home, file, text, place):
    (root / "pyproject.toml").write_text('[tool.poetry]\nname = "shop"\n')
    (home / file).parent.mkdir(parents=True, exist_ok=True)
    (home / file).write_text(text.replace("HOME", str(home)))
    python = environment(home / place / f"shop-{hash_of(root)}-py3.11")
    assert find(root, home).python == python


def test_pipenvs_data_with_a_chosen_python(root, home):
    (root / "Pipfile").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(root / "Pipfile")).digest()[:6]).decode()[:8]
    python = environment(home / "envs" / f"my_shop-{digest}-python3.12")
    assert find(root, home, WORKON_HOME=home / "envs").python == python


def test_virtualenvwrappers_note_of_the_project(root, home):
    python = environment(home / ".virtualenvs" / "of-another-name")
    environment(home / ".virtualenvs" / "a-stranger")
    (home / ".virtualenvs" / "a-stranger" / ".project").write_text("/elsewhere\n")
    (home / ".virtualenvs" / "of-another-name" / ".project").write_text(f"{root}\n")
    assert find(root, home).python == python


def test_direnvs_folder(root, home):
    python = environment(root / ".direnv" / "python-3.11.7")
    (root / ".direnv" / "python-3.11.7" / "pyvenv.cfg").touch()
    assert find(root, home).python == python


def test_a_strangers_environment_above_is_taken_only_if_it_can_import_the_app(root, home):
    (root / ".git").rmdir()
    (root / "requirements.txt").touch()
    python = environment(root.parent / "another")
    (root.parent / "another" / "pyvenv.cfg").touch()
    assert isinstance(find(root, home), Buildable)
    environ = {"PATH": "", "HOME": str(home)}
    known = find_python(root, "django", environ=environ, own_prefix=Path("/nowhere"), problem=lambda *_: "")
    assert known.python == python


def test_an_images_own_python_comes_before_a_new_environment(root, home, monkeypatch):
    (root / "requirements.txt").touch()
    sign = home / ".dockerenv"
    monkeypatch.setattr("stackrace.app.known_pythons._CONTAINER_SIGNS", (sign,))
    monkeypatch.setattr("stackrace.app.known_pythons._IMAGES_OWN", home / "usr")
    monkeypatch.setattr("stackrace.app.known_pythons._IMAGES", ())
    python = environment(home / "usr")
    environ = {"PATH": "", "HOME": str(home)}
    asked = {"environ": environ, "own_prefix": Path("/nowhere"), "problem": lambda *_: ""}
    assert isinstance(find_python(root, "django", **asked), Buildable)
    sign.touch()
    assert find_python(root, "django", **asked).python == python


@pytest.mark.parametrize("named", [True, False])
def test_packages_of_the_project_itself_are_imported(root, home, monkeypatch, named):
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = root / "__pypackages__" / version / "lib"
    packages.mkdir(parents=True)
    (packages / "only_here.py").touch()
    base = Path(sys._base_executable)
    if named:
        (root / ".pdm-python").write_text(f"{base}\n")
    environ = {"PATH": str(base.parent), "HOME": str(home)}
    choice = find_python(root, "only_here", environ=environ, own_prefix=Path("/nowhere"))
    assert local_packages(root, choice.python) == packages
    app = App(name="a", root=root, entry=Entry(kind=EntryKind.WSGI, target="only_here:app"), python=choice.python)
    assert app_environment(app, environ)["PYTHONPATH"] == str(packages)
    environment(home / "venv")
    (home / "venv" / "pyvenv.cfg").touch()
    assert local_packages(root, home / "venv" / "bin" / "python") is None


def test_packages_for_another_python_are_named(root, home):
    (root / "__pypackages__" / "3.4" / "lib").mkdir(parents=True)
    environ = {"PATH": str(Path(sys._base_executable).parent), "HOME": str(home)}
    with pytest.raises(InputError, match=r"--python python3\.4$"):
        find_python(root, "only_here", environ=environ, own_prefix=Path("/nowhere"))


def test_a_folder_that_may_not_be_entered_hides_no_environment_beside_it(root, home, monkeypatch):
    (root / "pgdata").mkdir()
    python = environment(root / "shopenv")
    (root / "shopenv" / "pyvenv.cfg").write_text("")
    real = os.stat

    def stat(path, **options):
        if "pgdata/" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert find(root, home).python == python
