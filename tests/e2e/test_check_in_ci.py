"""The action and the pipeline: what their steps say is really run, as a runner would run it."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from tests.conftest import BRIEF
from tests.ordinary import ordinarily

import stackrace as package
from stackrace.app.lock_files import _LOCKS, LISTS

REPOSITORY = Path(__file__).parents[2]
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())
PIPELINE = yaml.safe_load((REPOSITORY / "examples/ci/.gitlab-ci.yml").read_text())

STEPS = {step.get("id") or step["name"]: step for step in ACTION["runs"]["steps"]}
PAGE = '''"""A page."""


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
'''
TOLD = f"--wsgi\npage:application\n--python\n{sys.executable}"
CODES = {"passed": 0, "failed": 1, "undecided": 3, "refused": 3}


@pytest.mark.parametrize(
    ("schema", "file", "more"),
    [
        ("vendor.github-actions", "action.yml", ()),
        ("vendor.gitlab-ci", "examples/ci/.gitlab-ci.yml", ("--data-transform", "gitlab-ci")),
        ("vendor.github-workflows", "examples/ci/server-upgrades.yml", ()),
        ("vendor.github-workflows", "examples/ci/race.yml", ()),
        ("vendor.gitlab-ci", "examples/ci/race.gitlab-ci.yml", ("--data-transform", "gitlab-ci")),
        ("vendor.dependabot", "examples/ci/dependabot.yml", ()),
        ("vendor.renovate", "examples/ci/renovate.json", ()),
    ],
)
def test_the_published_schemas_take_them(schema, file, more):
    command = [
        Path(sys.executable).with_name("check-jsonschema"),
        "--builtin-schema",
        schema,
        *more,
        REPOSITORY / file,
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_input_is_used_and_none_stands_in_a_script():
    text = (REPOSITORY / "action.yml").read_text()
    assert {name for name in ACTION["inputs"] if f"inputs.{name}" in text} == set(ACTION["inputs"])
    used = re.findall(r"inputs\.([a-z-]+)", text)
    assert set(used) == set(ACTION["inputs"])
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")], "a script injection"


def test_the_cache_of_the_action_is_one_of_the_projects_lock_files():
    """A cache is never written again under its key, so one of other packages would be built anew every time."""
    (cache,) = (
        step["with"] for step in ACTION["runs"]["steps"] if step.get("uses", "").startswith("actions/cache")
    )
    hashed = re.search(r"hashFiles\((.*)\)", cache["key"])[1]
    patterns = [name.strip("' ").removeprefix("**/") for name in hashed.split(",")]
    for name in (*_LOCKS, *LISTS, "pyproject.toml"):
        assert any(Path(name).match(pattern) for pattern in patterns), name
    assert cache["key"].startswith(cache["restore-keys"].strip())


class Runner:
    """What a runner gives the steps of one job."""

    def __init__(self, folder):
        self.temp = folder / "temp"
        self.work = folder / "shop"
        for place in (self.temp, self.work):
            place.mkdir()
        self.output, self.summary = folder / "output", folder / "summary"
        (self.work / "page.py").write_text(PAGE)
        for words in (("init", "--quiet", "--initial-branch", "main"), ("add", "--all"),
                      ("commit", "--quiet", "--message", "one"),
                      ("commit", "--quiet", "--allow-empty", "--message", "two")):  # fmt: skip
            self.git(*words)
        self.base = self.git("rev-parse", "HEAD~1")

    def git(self, *words):
        """Run git in the work tree; returns what it prints."""
        command = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        return subprocess.check_output(command, cwd=self.work, text=True).strip()

    def values(self, step, given):
        """Return the step's variables, its expressions filled in from ``given``."""
        known = {
            **{f"inputs.{name}": each["default"] for name, each in ACTION["inputs"].items()},
            "github.action_path": str(REPOSITORY), "runner.temp": str(self.temp),
            "github.event.pull_request.base.sha": self.base,
            "github.event.pull_request.head.sha": "0" * 40, **given,
        }  # fmt: skip
        return {
            name: re.sub(r"\$\{\{ (.+?) \}\}", lambda found: known[found[1]], text)
            for name, text in step.get("env", {}).items()
        }

    def run(self, name, **given):
        """Run one step as ``shell: bash`` does; returns the finished process."""
        step = STEPS[name]
        given = {key if "." in key else f"inputs.{key.replace('_', '-')}": value for key, value in given.items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.work, capture_output=True, text=True, check=False, timeout=1800,
            env={**os.environ, **self.values(step, given), "GITHUB_OUTPUT": str(self.output),
                 "GITHUB_STEP_SUMMARY": str(self.summary), "BLOCKS": "1",
                 # with uv, so that none is downloaded
                 "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))},
        )  # fmt: skip

    @property
    def outputs(self):
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel that only leads to the Stackrace that is tested, in brief: nothing is downloaded."""
    path = tmp_path_factory.mktemp("wheel") / "stackrace-0.1.0-py3-none-any.whl"
    about = "stackrace-0.1.0.dist-info"
    places = [
        str(Path(package.__file__).parents[1]),
        *(each for each in sys.path if each.endswith("site-packages")),
    ]
    texts = {
        "stackrace_tested.pth": "".join(f"{place}\n" for place in places),
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: stackrace\nVersion: 0.1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nstackrace=brief:brief\n",
        "brief.py": BRIEF[1].read_text(),
    }
    texts[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in (*texts, f"{about}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in texts.items():
            archive.writestr(file, text)
    return path


@pytest.fixture(scope="module")
def runner(tmp_path_factory, wheel):
    made = Runner(tmp_path_factory.mktemp("runner"))
    found = made.run("version", wheel=str(wheel))
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(r"[0-9a-f]{64}", made.outputs["digest"])
    installed = made.run("Install Stackrace", wheel=str(wheel), python=sys.executable)
    assert installed.returncode == 0, installed.stderr
    assert installed.stdout.startswith("stackrace")
    return made


def test_without_a_wheel_the_source_decides_what_is_built(tmp_path):
    made = Runner(tmp_path)
    found = made.run("version")
    assert found.returncode == 0, found.stderr
    assert re.fullmatch(r"[0-9a-f]{64}", made.outputs["digest"])


def test_the_step_checks_writes_the_summary_and_ends_as_the_check_does(runner):
    done = runner.run("check", budget="5min", arguments=TOLD, allow="start any\nmemory 10%\n")
    outputs = runner.outputs
    assert outputs["outcome"], done.stderr
    assert done.returncode == CODES[outputs["outcome"]] % 3, done.stderr
    assert ("::warning::" in done.stdout) == (outputs["outcome"] in ("undecided", "refused"))
    reports = Path(outputs["reports"])
    assert {path.name for path in reports.iterdir()} == {
        "check.json", "check.xml", "check.md", "check.txt", "check.html", "check.log",
    }  # fmt: skip
    document = json.loads((reports / "check.json").read_text())
    assert document["base"]["revision"] == runner.base
    assert runner.summary.read_text().endswith((reports / "check.md").read_text())


def test_what_cannot_be_raced_is_told_in_the_summary(runner):
    done = runner.run("check", base="nowhere", arguments="--wsgi\nnowhere:application")
    assert done.returncode == 2
    assert runner.outputs["outcome"] == ""
    assert "nowhere" in runner.summary.read_text()


OPTIONS_OF_GIT = ("--upload-pack=touch x;:", "--output=x")


@pytest.mark.parametrize(
    ("name", "word"),
    ordinarily(
        [
            *(("base", word) for word in OPTIONS_OF_GIT),
            *((name, "-h") for name in ("race_file", "stack", "budget", "allow")),
        ],
        [("base", OPTIONS_OF_GIT[0]), ("stack", "-h")],
    ),
)
def test_a_value_that_looks_like_an_option_is_a_value(runner, name, word):
    """Values of a workflow may come from anybody who opens a pull request; only the base is given to git, too."""
    runner.git("remote", "add", "origin", str(runner.work))
    try:
        done = runner.run("check", **{"arguments": TOLD} | {name: word})
        assert done.returncode == 2
        assert runner.outputs["outcome"] == ""
        assert word.partition(" ")[0] in runner.summary.read_text().rpartition("### ")[2]
        assert not (runner.work / "x").exists()
    finally:
        runner.git("remote", "remove", "origin")


def test_a_wheel_that_looks_like_an_option_is_none(runner):
    # the environment is there
    done = runner.run("Install Stackrace", wheel="--log=x", python="true")
    assert done.returncode == 1
    assert "--log=x" in done.stderr
    assert not (runner.work / "x").exists()


def test_of_githubs_merge_the_first_parent_is_the_base(runner, tmp_path):
    said = runner.git
    head = said("rev-parse", "HEAD")
    newer = said("commit-tree", f"{runner.base}^{{tree}}", "-p", runner.base, "-m", "newer")
    merge = said("commit-tree", f"{head}^{{tree}}", "-p", newer, "-p", head, "-m", "merge")
    program, told = runner.temp / "stackrace/bin/stackrace", tmp_path / "told"
    real = program.read_text()
    program.write_text(f'#!/bin/sh\necho "$@" > {told}\necho one >&2\nexit 1\n')
    said("checkout", "--quiet", "--detach", merge)
    try:
        for pulled, base in ((head, newer), ("0" * 40, runner.base)):
            done = runner.run("check", **{"github.event.pull_request.head.sha": pulled})
            assert f"--base {base}" in told.read_text()
            assert (done.returncode, done.stderr) == (1, "one\n")
            assert (runner.temp / "stackrace-check/check.log").read_text() == "one\n"
    finally:
        program.write_text(real)
        said("checkout", "--quiet", "main")


def test_a_wrong_choice_is_refused(runner):
    done = runner.run("check", undecided="maybe")
    assert done.returncode == 2
    assert "neither fail nor pass" in done.stdout


@pytest.mark.exhaustive
def test_the_pipelines_script_is_a_check_with_its_reports(runner):
    job = PIPELINE["stackrace-check"]
    assert set(job) <= {
        "image", "stage", "rules", "variables", "cache", "before_script", "script", "artifacts", "needs", "timeout",
        "allow_failure",
    }  # fmt: skip
    assert job["allow_failure"]["exit_codes"] == [3], "no answer is a warning"
    assert set(job["artifacts"]["reports"]) == {"junit", "metrics"}
    (script,) = job["script"]
    script = script.replace("/tmp/stackrace/bin/stackrace", str(runner.temp / "stackrace/bin/stackrace"))
    (runner.work / "reports").mkdir(exist_ok=True)
    (runner.work / "race.toml").write_text(f'[app]\nwsgi = "page:application"\npython = "{sys.executable}"\n')
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", f"{script} race.toml"], cwd=runner.work, capture_output=True, text=True,
        check=False, env={**os.environ, "CI_MERGE_REQUEST_DIFF_BASE_SHA": runner.base, "STACKRACE_BUDGET": "5min",
             "BLOCKS": "1"},
    )  # fmt: skip
    assert done.returncode in CODES.values(), done.stderr
    for kind in ("junit", "metrics"):
        assert (runner.work / job["artifacts"]["reports"][kind]).stat().st_size
