"""Environments are found where the tools of the field keep them."""

import base64
import hashlib
import os
from pathlib import Path

import pytest

from stackrace.app.interpreter import Buildable, find_python, other_pythons
from stackrace.app.project_files import project_folders
from stackrace.base.errors import InputError


def environment(folder):
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
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
        root,
        "django",
        environ=environ,
        stackrace_prefix=Path("/nowhere"),
        problem=lambda *_: "No module named 'django'",
    )


def hash_of(path):
    return base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(path)).digest()).decode()[:8]


DIGEST, PIPFILE = "DIGEST", "PIPFILE"
"""What Poetry and Hatch, and Pipenv, make of the project's place."""
NAMED = '[project]\nname = "My_Shop"\n'
POETRYS = f"my-shop-{DIGEST}-py3.12"
CACHE, HERE = ".cache/pypoetry/virtualenvs", "work/my_shop"

KEPT = {
    "another name, by its sign": ({f"{HERE}/shopenv/pyvenv.cfg": ""}, f"{HERE}/shopenv", {}),
    "direnv": ({f"{HERE}/.direnv/python-3.11.7/pyvenv.cfg": ""}, f"{HERE}/.direnv/python-3.11.7", {}),
    "uv's variable": ({f"{HERE}/pyproject.toml": ""}, "uv", {"UV_PROJECT_ENVIRONMENT": "HOME/uv"}),
    "PDM's file": ({f"{HERE}/.pdm-python": "HOME/pdm/bin/python\n"}, "pdm", {}),
    "Poetry's cache": ({f"{HERE}/pyproject.toml": NAMED}, f"{CACHE}/{POETRYS}", {}),
    "Poetry's cache, by its own name": (
        {f"{HERE}/pyproject.toml": NAMED.replace("project", "tool.poetry")}, f"{CACHE}/{POETRYS}", {}),
    "Poetry's settings here": (
        {f"{HERE}/pyproject.toml": NAMED, f"{HERE}/poetry.toml": '[virtualenvs]\npath = "HOME/elsewhere"\n'},
        f"elsewhere/{POETRYS}", {}),
    "Poetry's settings for all": (
        {f"{HERE}/pyproject.toml": NAMED,
         ".config/pypoetry/config.toml": '[virtualenvs]\npath = "{cache-dir}/envs"\n'},
        f".cache/pypoetry/envs/{POETRYS}", {}),
    "Poetry's cache elsewhere": (
        {f"{HERE}/pyproject.toml": NAMED, ".config/pypoetry/config.toml": 'cache-dir = "HOME/kept"\n'},
        f"kept/virtualenvs/{POETRYS}", {}),
    "Poetry's settings that are none": (
        {f"{HERE}/pyproject.toml": NAMED, ".config/pypoetry/config.toml": "virtualenvs = 5\n["},
        f"{CACHE}/{POETRYS}", {}),
    "Pipenv's data": ({f"{HERE}/Pipfile": ""}, f".local/share/virtualenvs/my_shop-{PIPFILE}", {}),
    "Pipenv's, with a chosen Python": (
        {f"{HERE}/Pipfile": ""}, f"envs/my_shop-{PIPFILE}-python3.12", {"WORKON_HOME": "HOME/envs"}),
    "virtualenvwrapper's name": ({f"{HERE}/.venv": "shop\n"}, "envs/shop", {"WORKON_HOME": "HOME/envs"}),
    "virtualenvwrapper's note": (
        {".virtualenvs/a-stranger/.project": "/elsewhere\n", ".virtualenvs/mine/.project": f"HOME/{HERE}\n"},
        ".virtualenvs/mine", {}),
    "pyenv's name": ({f"{HERE}/.python-version": "shop\n"}, ".pyenv/versions/shop", {}),
    "conda's name": (
        {f"{HERE}/environment.yml": "name: shop\ndependencies:\n  - flask\n"}, "miniconda3/envs/shop", {}),
    "Hatch's data": (
        {f"{HERE}/pyproject.toml": NAMED}, f".local/share/hatch/env/virtual/my-shop/{DIGEST}/my-shop", {}),
    "Hatch's data elsewhere": (
        {f"{HERE}/pyproject.toml": NAMED}, f"data/env/virtual/my-shop/{DIGEST}/my-shop",
        {"HATCH_DATA_DIR": "HOME/data"}),
}  # fmt: skip
"""By tool: files below the home folder, where the environment lies there, and variables."""


@pytest.mark.parametrize("tool", KEPT)
def test_an_environment_is_found_where_the_tool_keeps_it_before_the_active_one(root, home, tool):
    files, place, variables = KEPT[tool]
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text.replace("HOME", str(home)))
    place = place.replace(DIGEST, hash_of(root)).replace(PIPFILE, hash_of(root / "Pipfile"))
    python = environment(home / place)
    for other in (".virtualenvs/a-stranger", "active"):
        environment(home / other)
    variables = {name: value.replace("HOME", str(home)) for name, value in variables.items()}
    assert find(root, home, VIRTUAL_ENV=home / "active", **variables).python == python


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


def test_a_number_of_pyenvs_is_no_environment(root, home):
    (root / ".python-version").write_text("3.12.1\n")
    base = environment(home / ".pyenv" / "versions" / "3.12.1")
    with pytest.raises(InputError):
        find(root, home)
    (root / "requirements.txt").touch()
    choice = find(root, home)
    assert isinstance(choice, Buildable)
    assert choice.base == base


def test_condas_active_environment_counts_unless_it_is_the_base(root, home):
    active = environment(home / "active")
    assert find(root, home, CONDA_PREFIX=home / "active").python == active
    with pytest.raises(InputError):
        find(root, home, CONDA_PREFIX=home / "active", CONDA_DEFAULT_ENV="base")


def test_what_would_make_the_environment_is_named(root, home):
    (root / "environment.yml").touch()
    environment(home / "usr").rename(home / "usr" / "bin" / "python3")
    with pytest.raises(InputError, match=f"environment.yml in {root} wants: conda env create"):
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


def test_a_strangers_environment_above_is_taken_only_if_it_can_import_the_app(root, home):
    (root / ".git").rmdir()
    (root / "requirements.txt").touch()
    python = environment(root.parent / "another")
    (root.parent / "another" / "pyvenv.cfg").touch()
    assert isinstance(find(root, home), Buildable)
    environ = {"PATH": "", "HOME": str(home)}
    known = find_python(root, "django", environ=environ, stackrace_prefix=Path("/nowhere"), problem=lambda *_: "")
    assert known.python == python


def test_an_images_own_python_comes_before_a_new_environment(root, home, monkeypatch):
    (root / "requirements.txt").touch()
    sign = home / ".dockerenv"
    monkeypatch.setattr("stackrace.app.known_pythons._CONTAINER_SIGNS", (sign,))
    monkeypatch.setattr("stackrace.app.known_pythons._IN_IMAGES", home / "usr")
    monkeypatch.setattr("stackrace.app.known_pythons._IMAGES", ())
    python = environment(home / "usr")
    environ = {"PATH": "", "HOME": str(home)}
    asked = {"environ": environ, "stackrace_prefix": Path("/nowhere"), "problem": lambda *_: ""}
    assert isinstance(find_python(root, "django", **asked), Buildable)
    sign.touch()
    assert find_python(root, "django", **asked).python == python


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
