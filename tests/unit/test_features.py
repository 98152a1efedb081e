"""A feature can be taken out: its folder is deleted, and the rest is whole."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stackrace
from stackrace.extensions import Verb, declared

PACKAGE = Path(stackrace.__file__).parent
FEATURES = sorted(path.name for path in (PACKAGE / "features").iterdir() if (path / "__init__.py").is_file())

OWED = {
    "regression": "trend shows checks",
}
"""Features that others still need, and who they are: this list only becomes shorter."""

CUTS = [(name,) for name in FEATURES if name not in OWED] + [tuple(name for name in FEATURES if name not in OWED)]

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


@pytest.fixture(params=CUTS, ids=lambda cut: cut[0] if len(cut) == 1 else "all")
def cut(request, tmp_path):
    """Return a copy of the package without some features, and which those are."""
    copy = tmp_path / "stackrace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in request.param:
        shutil.rmtree(copy / "features" / name)
    return tmp_path, request.param


def run(folder, code, *words):
    return subprocess.run(
        [sys.executable, "-c", code, str(folder), *words], cwd=folder, capture_output=True, text=True
    )


def test_without_a_feature_its_verbs_are_gone_and_all_other_modules_are_whole(cut):
    folder, gone = cut
    done = run(folder, IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from stackrace.__main__ import main; main()"
    done = run(folder, code, "--help")
    assert done.returncode == 0, done.stderr
    verbs = {verb.name: verb.place.split(".")[2] for verb in declared(Verb)}
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.strip()}
    assert not {verb for verb, feature in verbs.items() if feature in gone} & listed
    assert {verb for verb, feature in verbs.items() if feature not in gone} | {"run", "load"} <= listed
