"""Whether two revisions want the same packages, and which."""

import json

import pytest

from stackrace.app.lock_files import changes_between, locks_differ, requirements_of, versions_named
from stackrace.base.errors import InputError


@pytest.fixture
def both(tmp_path):
    folders = tmp_path / "base", tmp_path / "head"
    for folder in folders:
        folder.mkdir()
    return folders


def write(both, name, base, head):
    for folder, text in zip(both, (base, head), strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def differ(both):
    base, head = both
    return locks_differ(base, head, base, head)


def test_equal_locks_need_one_environment(both):
    write(both, "uv.lock", "a", "a")
    write(both, "requirements.txt", "flask==3.0", "flask==3.1")
    assert differ(both) is None, "the list is not what is installed"


def test_remarks_are_no_difference(both):
    write(both, "requirements.txt", "# web\nflask==3.0\n", "flask==3.0  # web\n")
    assert differ(both) is None


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "Pipfile.lock", "requirements.txt"])
def test_other_locks_need_two(both, name):
    write(both, name, "a==1", "a==2")
    assert differ(both) == (both[0] / name, both[1] / name)


def test_lists_are_compared_with_what_they_include(both):
    write(both, "requirements.txt", "-r requirements/web.txt\n", "-r requirements/web.txt\n")
    write(both, "requirements/web.txt", "flask==3.0\n", "flask==3.1\n")
    found = differ(both)
    assert [requirements_of(path) for path in found] == ["flask==3.0\n", "flask==3.1\n"]


def test_of_a_pyproject_only_the_dependencies_count(both):
    write(both, "pyproject.toml", '[project]\nversion="1"\ndependencies=["a"]', '[project]\ndependencies=["a"]')
    assert differ(both) is None
    write(both, "pyproject.toml", '[project]\ndependencies=["a"]', '[project]\ndependencies=["b"]')
    assert differ(both) is not None


UV = '[[package]]\nname = "shop"\nversion = "{}"\nsource = {{ editable = "." }}\n{}'
PACKAGE = '[[package]]\nname = "{}"\nversion = "{}"\n'
PIPENV = '{{"default": {{"flask": {{"version": "=={}"}}, "local": {{"path": "."}}}}}}'


@pytest.mark.parametrize(
    ("name", "base", "head", "changes"),
    [
        (
            "uv.lock",
            UV.format(1, PACKAGE.format("flask", "3.1.2") + PACKAGE.format("six", "1.17")),
            UV.format(2, PACKAGE.format("Flask", "3.0.3") + PACKAGE.format("blinker", "1.9")),
            ("blinker 1.9 added", "flask 3.1.2 → 3.0.3", "six 1.17 removed")),
        ("poetry.lock", PACKAGE.format("flask", "3.1.2"), PACKAGE.format("flask", "3.0.3"),
         ("flask 3.1.2 → 3.0.3",)),
        ("Pipfile.lock", PIPENV.format("3.1.2"), PIPENV.format("3.0.3"), ("flask 3.1.2 → 3.0.3",)),
        ("pylock.toml", '[[packages]]\nname = "a"\nversion = "1"\n', '[[packages]]\nname = "a"\n',
         ("a 1 → from elsewhere",)),
        ("requirements.txt", "flask[async]==3.1.2 ; python_version > '3'\nsix\n--no-binary :all:\n",
         "flask[async]==3.0.3\nsix>=1\n", ("flask 3.1.2 → 3.0.3", "six any → >=1")),
        ("requirements.txt", "shop @ https://me:secret@h/shop-1.whl", "shop @ https://me:secret@h/shop-2.whl", ()),
        ("pyproject.toml", '[project]\ndependencies=["flask>=3.1"]', '[project]\ndependencies=["flask"]',
         ("flask >=3.1 → any",)),
    ],
)  # fmt: skip
def test_packages_that_lock_files_name_otherwise_are_told(both, name, base, head, changes):
    write(both, name, base, head)
    assert changes_between(*map(versions_named, both)) == changes


def test_a_project_without_any_list_has_one_environment(both):
    assert differ(both) is None


def test_poetry_installs_the_main_group_with_its_markers(tmp_path):
    lock = tmp_path / "poetry.lock"
    lock.write_text(
        '[[package]]\nname = "django"\nversion = "5.2"\ngroups = ["main"]\n'
        '[[package]]\nname = "pytest"\nversion = "8"\ngroups = ["dev"]\n'
        '[[package]]\nname = "uvloop"\nversion = "0.2"\ngroups = ["main"]\nmarkers = "sys_platform != \'win32\'"\n'
    )
    assert requirements_of(lock) == "django==5.2\nuvloop==0.2 ; sys_platform != 'win32'\n"


def test_pipenv_installs_what_is_no_development(tmp_path):
    lock = tmp_path / "Pipfile.lock"
    packages = {"flask": {"version": "==3.0", "extras": ["async"]}, "local": {"path": "."}}
    lock.write_text(json.dumps({"default": packages, "develop": {"pytest": {"version": "==8"}}}))
    assert requirements_of(lock) == "flask[async]==3.0\n"


COMMIT = "c" * 40


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('type = "legacy"\nurl = "https://pypi.org/simple"', "shop==1"),
        (
            f'type = "git"\nurl = "https://h/shop.git"\nreference = "main"\nresolved_reference = "{COMMIT}"',
            f"shop @ git+https://h/shop.git@{COMMIT}",
        ),
        (
            f'type = "git"\nurl = "git@h:a/shop.git"\nresolved_reference = "{COMMIT}"\nsubdirectory = "py"',
            f"shop @ git+ssh://git@h/a/shop.git@{COMMIT}#subdirectory=py",
        ),
        ('type = "url"\nurl = "https://h/shop-1.whl"', "shop @ https://h/shop-1.whl"),
        ('type = "legacy"\nurl = "https://me:secret@index.example.com/simple"', None),
        ('type = "file"\nurl = "wheels/shop-1.whl"', None),
    ],
)
def test_a_package_of_poetrys_from_elsewhere_is_not_taken_from_pypi(tmp_path, source, line):
    lock = tmp_path / "poetry.lock"
    lock.write_text(f'[[package]]\nname = "shop"\nversion = "1"\ngroups = ["main"]\n[package.source]\n{source}\n')
    if line is not None:
        assert requirements_of(lock) == f"{line}\n"
        return
    with pytest.raises(InputError, match=r"shop comes from .*--base-python or --head-python") as told:
        requirements_of(lock)
    assert "secret" not in told.value.message


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ({"git": "https://h/shop.git", "ref": COMMIT}, f"shop @ git+https://h/shop.git@{COMMIT}"),
        ({"file": "https://h/shop-1.whl"}, "shop @ https://h/shop-1.whl"),
        ({"version": "==1", "index": "pypi"}, "shop==1"),
        ({"path": ".", "editable": True}, ""),
        ({"version": "==1", "index": "ours"}, None),
        ({"version": "==1", "index": "unknown"}, None),
        ({"path": "./wheels/shop-1.whl"}, None),
        ({}, None),
    ],
)
def test_a_package_of_pipenvs_from_elsewhere_is_not_taken_from_pypi(tmp_path, package, line):
    lock = tmp_path / "Pipfile.lock"
    sources = [
        {"name": "pypi", "url": "https://pypi.org/simple"},
        {"name": "ours", "url": "https://index.example.com/simple"},
    ]
    lock.write_text(json.dumps({"_meta": {"sources": sources}, "default": {"shop": package}}))
    if line is not None:
        assert requirements_of(lock).rstrip() == line
        return
    with pytest.raises(InputError, match=r"shop comes from .*--base-python or --head-python"):
        requirements_of(lock)


def test_a_package_of_uvs_from_elsewhere_is_not_taken_from_pypi(tmp_path):
    lock = tmp_path / "uv.lock"
    lock.write_text('[[package]]\nname = "shop"\nsource = { registry = "https://index.example.com/simple" }\n')
    with pytest.raises(InputError, match=r"shop comes from index\.example\.com/simple, not from PyPI"):
        requirements_of(lock)


@pytest.mark.parametrize("name", ["poetry.lock", "Pipfile.lock"])
def test_a_broken_lock_names_the_way_out(tmp_path, name):
    lock = tmp_path / name
    lock.write_text("<<<<<<< ours")
    with pytest.raises(InputError, match="--base-python"):
        requirements_of(lock)
