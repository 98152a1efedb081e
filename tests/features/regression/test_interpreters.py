"""Which code each side imports."""

import json
import sys
import venv
from pathlib import Path

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.preparing import ignore_step
from stackrace.features.regression.interpreters import with_interpreters
from stackrace.features.regression.variants import VariantRequest, variants
from stackrace.race.preparation.chosen_app import guarded_project
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.stack import Side

NOTHING = {Side.BASE: VariantRequest(), Side.HEAD: VariantRequest()}


@pytest.fixture
def environment(work):
    """The project's own environment, made without pip."""
    work.write(".gitignore", ".venv/\n")
    work.commit(src__app_py="")
    work.commit(src__app_py="# other\n")
    venv.create(work.folder / ".venv", symlinks=True)
    return next((work.folder / ".venv" / "lib").glob("python3*/site-packages"))


@pytest.fixture
def environments(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Environments(cache_folder(), ignore_step)


def interpreters(both, environments):
    with guarded_project(both.sides[Side.HEAD].request) as project:
        return with_interpreters(both, environments, project)


def request(work, **more):
    return RaceRequest(folder=work.folder, entry=Entry(kind=EntryKind.WSGI, target="app:application"), **more)


def test_both_sides_have_the_work_trees_environment_and_import_their_own_code(work, environment, environments):
    (environment / "shop.pth").write_text(f"{work.folder / 'src'}\n")
    with variants(request(work), "HEAD~1", NOTHING) as both:
        found = interpreters(both, environments).sides
        tree = both.moved[1]
        assert found[Side.BASE].request.python == found[Side.HEAD].request.python
        assert found[Side.BASE].request.environment["PYTHONPATH"] == str(tree / "src")
        assert found[Side.HEAD].request.environment["PYTHONPATH"] == str(work.folder / "src")


FINDER = """
import sys

MAPPING = {{"shop": {!r}}}


class Finder:
    @classmethod
    def find_spec(cls, *name):
        return None


sys.meta_path.append(Finder)
"""


@pytest.mark.parametrize("place", ["src/shop", "src/shop/__init__.py", "src/shop.py"])
def test_a_module_that_a_finder_leads_to_is_each_sides_own(work, environment, environments, place):
    (environment / "finder_of_shop.py").write_text(FINDER.format(str(work.folder / place)))
    (environment / "shop.pth").write_text("import finder_of_shop\n")
    with variants(request(work), "HEAD~1", NOTHING) as both:
        found = interpreters(both, environments).sides
        assert found[Side.BASE].request.environment["PYTHONPATH"] == str(both.moved[1] / "src")
        assert found[Side.HEAD].request.environment["PYTHONPATH"] == str(work.folder / "src")


def test_a_copy_of_the_project_in_the_environment_is_refused(work, environment, environments):
    about = environment / "shop-1.0.dist-info"
    about.mkdir()
    (about / "direct_url.json").write_text(json.dumps({"url": work.folder.as_uri(), "dir_info": {}}))
    with variants(request(work), "HEAD~1", NOTHING) as both, pytest.raises(InputError, match="the same copy"):
        interpreters(both, environments)


def test_an_interpreter_that_was_given_is_both_sides(work, environment, environments):
    with variants(request(work, python=Path(sys.executable)), "HEAD~1", NOTHING) as both:
        found = interpreters(both, environments).sides
        assert {str(each.request.python) for each in found.values()} == {sys.executable}


def test_a_lock_that_cannot_be_installed_says_whose_it_is(work, environment, environments):
    work.commit(requirements_txt="./nowhere-to-be-found\n")
    work.write("requirements.txt", "./nowhere-else\n")
    with (
        variants(request(work), "HEAD", NOTHING) as both,
        pytest.raises(InputError, match=r"the base's requirements"),
    ):
        interpreters(both, environments)


class Builder:
    """Keeps what it was asked to install."""

    def of_requirements(self, requirements, base, view, flag):
        self.seen = requirements, requirements.read_text(), requirements.parent.stat().st_mode & 0o777
        return Path(sys.executable)


@pytest.mark.parametrize(
    ("lock", "name"), [("requirements.txt", "requirements.txt"), ("pylock.toml", "pylock.toml")]
)
def test_requirements_are_private_and_gone_afterwards_and_keep_a_name_that_says_what_they_are(work, lock, name):
    builder = Builder()
    work.write(".gitignore", ".venv/\n")
    work.write(lock, "a = 1\n")
    work.commit()
    work.write(lock, "a = 2\n")
    venv.create(work.folder / ".venv", symlinks=True)
    with variants(request(work), "HEAD", NOTHING) as both:
        interpreters(both, builder)
    path, text, mode = builder.seen
    assert (path.name, text, mode) == (name, "a = 2\n", 0o700)
    assert not path.parent.exists()


def test_uv_installs_a_pylock_by_its_name(tmp_path, environments):
    lock = tmp_path / "pylock.toml"
    lock.write_text('lock-version = "1.0"\ncreated-by = "us"\npackages = []\n')
    python = environments.of_requirements(lock, Path(sys._base_executable), UNPROTECTED)
    assert python.exists()
