"""A feature can be taken out: its folder is deleted, and the rest is whole."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stackrace
from stackrace.extensions import Verb, declared

PACKAGE = Path(stackrace.__file__).parent
REPOSITORY = Path(__file__).parents[2]
FEATURES = sorted(path.name for path in (PACKAGE / "features").iterdir() if (path / "__init__.py").is_file())

CUTS = [*((name,) for name in FEATURES), tuple(FEATURES)]


def named(cut):
    return cut[0] if len(cut) == 1 else "all"


IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module

sys.path.insert(0, sys.argv[1])
import stackrace

assert stackrace.__path__[0].startswith(sys.argv[1])
from stackrace.store.database import configure
configure()
for module in pkgutil.walk_packages(stackrace.__path__, "stackrace."):
    leaf = module.name.rpartition(".")[2]
    if ".bundled" not in module.name and ".examiner." not in module.name and leaf != "__main__":
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            # programs of other interpreters lie among ours
            assert not error.name.startswith("stackrace"), error
"""


RUN = """
import sys

sys.path.insert(0, sys.argv.pop(1))
from stackrace.__main__ import main

main()
"""


def without(names, folder):
    """Copy the package into ``folder``, which is like this repository's ``src``, without some features."""
    copy = folder / "stackrace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in names:
        shutil.rmtree(copy / "features" / name)
    return folder


def run(folder, code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, str(folder), *words], cwd=folder, capture_output=True, text=True
    )


LARGE = ("cluster", "regression")


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param(cut, marks=[] if cut[0] in LARGE or len(cut) > 1 else pytest.mark.exhaustive, id=named(cut))
        for cut in CUTS
    ],
)
def test_without_a_feature_its_verbs_are_gone_and_all_other_modules_are_whole(gone, tmp_path):
    folder = without(gone, tmp_path)
    done = run(folder, IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    done = run(folder, RUN, "--help")
    assert done.returncode == 0, done.stderr
    verbs = {verb.name: verb.import_path.split(".")[2] for verb in declared(Verb)}
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.strip()}
    assert not {verb for verb, feature in verbs.items() if feature in gone} & listed
    assert {verb for verb, feature in verbs.items() if feature not in gone} | {"run", "load"} <= listed


@pytest.mark.parametrize(
    "gone",
    [pytest.param(cut, marks=[pytest.mark.exhaustive] if len(cut) == 1 else [], id=named(cut)) for cut in CUTS],
)
def test_without_a_feature_a_race_ends_with_a_standing(gone, tmp_path):
    core = without(gone, tmp_path)
    asked = ["--bundled", "--stack", "waitress", "-c", "1", "--repeats", "1", "--requests", "20", "--no-twin"]
    files = ["--store", f"sqlite:///{core}/races.sqlite3", "--html", str(core / "race.html"), "--json"]
    done = run(core, RUN, "run", *asked, *files)
    # a busy machine may have its slices refused
    assert done.returncode in (0, 3), done.stderr
    document = json.loads(done.stdout)
    assert {launch["stack"] for launch in document["launches"]} == {"waitress"}
    assert document["race"]["ending"] == "completed"


@pytest.mark.exhaustive
@pytest.mark.parametrize("gone", CUTS, ids=named)
def test_without_a_feature_the_tests_of_the_core_collect(gone, tmp_path):
    folder = without(gone, tmp_path / "src")
    shutil.copytree(REPOSITORY / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in gone:
        shutil.rmtree(tmp_path / "tests" / "features" / name, ignore_errors=True)
    for name in ("pyproject.toml", "benchmarks", "docs", "examples"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "tests/core"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout.partition("= ERRORS")[2]


@pytest.mark.exhaustive
@pytest.mark.timeout(0)
def test_without_a_feature_the_types_are_right(tmp_path):
    """One after the other in one folder: only what knew the feature is looked at again."""
    features = without((), tmp_path / "src") / "stackrace" / "features"
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for gone in CUTS:
        for name in gone:
            shutil.move(features / name, tmp_path / "gone" / name)
        done = subprocess.run([sys.executable, "-m", "mypy"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (gone, done.stdout)
        for name in gone:
            shutil.move(tmp_path / "gone" / name, features / name)
