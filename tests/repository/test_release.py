"""A tag publishes the version that Cargo.toml names, with what the changelog says of it, by scripts alone."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
VERSION = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
WORKFLOW = REPOSITORY / ".github" / "workflows" / "release.yml"
CHANGES = f"""# Changelog

## [Unreleased]

## [{VERSION}] - 2026-12-24

### Added

- All of it.

## [0.0.1] - 2026-01-01

- Less.
"""


def notes(tag, folder, changes=CHANGES):
    """Run the script for ``tag`` in a folder with the real Cargo.toml and the changelog ``changes``."""
    (folder / "tools").mkdir()
    for name in ("Cargo.toml", "tools/release-notes"):
        (folder / name).write_bytes((REPOSITORY / name).read_bytes())
    (folder / "CHANGELOG.md").write_text(changes)
    (folder / "tools" / "release-notes").chmod(0o755)
    return subprocess.run([folder / "tools" / "release-notes", tag], capture_output=True, text=True, check=False)


def test_the_notes_of_a_release_are_its_part_of_the_changelog(tmp_path):
    assert notes(f"v{VERSION}", tmp_path).stdout == "### Added\n\n- All of it.\n"


@pytest.mark.parametrize(
    ("tag", "changes", "said"),
    [("v9.9.9", CHANGES, f"v9.9.9 is not v{VERSION}"), (f"v{VERSION}", "## [Unreleased]\n", "[Unreleased]")],
)
def test_a_tag_of_another_version_or_without_notes_is_refused(tag, changes, said, tmp_path):
    done = notes(tag, tmp_path, changes)
    assert done.returncode == 1
    assert said in done.stderr


def test_the_version_stands_in_one_place():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert "version" not in project


def test_the_workflow_runs_scripts_that_exist_and_publishes_without_a_password():
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    scripts = {found for step in steps for found in re.findall(r"\btools/[a-z-]+", step.get("run", ""))}
    assert scripts == {"tools/release-notes", "tools/build-wheel", "tools/try-wheel"}
    assert all(os.access(REPOSITORY / script, os.X_OK) for script in scripts)
    assert jobs["publish"]["permissions"]["id-token"] == "write"
    assert not [name for step in steps for name in step.get("with", {}) if "password" in name]


def test_every_platform_that_is_built_is_tried_before_anything_is_published():
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    built = {target for target in jobs["build"]["strategy"]["matrix"]["target"] if target != "sdist"}
    assert {each["target"] for each in jobs["try"]["strategy"]["matrix"]["include"]} == built
    assert (jobs["publish"]["needs"], jobs["try"]["needs"], jobs["build"]["needs"]) == ("try", "build", "notes")


def test_no_wheel_is_built_for_another_system():
    script = REPOSITORY / "tools" / "build-wheel"
    done = subprocess.run([script, "x86_64-pc-windows-msvc"], capture_output=True, text=True, check=False)
    assert (done.returncode, "no wheel is built for" in done.stderr) == (2, True)
