"""Commands that are printed can be entered, or a line says how."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BESIDE = Path(sys.executable).parent
HINT = "note: no stackrace is on your PATH; write "


def hinted(words, started="module", path="/usr/bin", **variables):
    """Run Stackrace as a user would; returns what the hint says, empty without one."""
    environment = {name: value for name, value in os.environ.items() if name not in ("UV", "VIRTUAL_ENV")}
    command = [sys.executable, "-m", "stackrace"] if started == "module" else [BESIDE / "stackrace"]
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env=environment | {"PATH": path} | variables,
    )  # fmt: skip
    assert HINT not in done.stdout
    before, _, hint = done.stderr.partition(HINT)
    assert hint.count("\n") <= 1, "the last line, and one"
    assert "Traceback" not in before
    return hint.strip()


UVX = {"started": "program", "path": f"{BESIDE}:/usr/bin", "UV": str(BESIDE / "uv")}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_as_a_module_the_interpreter_is_named():
    assert hinted([]) == f"`{sys.executable} -m stackrace` instead"


def test_uvx_is_named_with_the_source_of_the_package():
    hint = hinted([], **UVX)
    assert re.fullmatch(r"(the whole )?`uvx .*stackrace` instead, or run once: uv tool install \S+", hint)


def test_uv_run_is_named_in_an_environment_that_it_made():
    assert hinted([], **UVX, VIRTUAL_ENV=sys.prefix) == "`uv run stackrace` instead"


def test_an_error_that_names_a_command_gets_it_and_others_do_not():
    assert hinted(["install"])
    assert not hinted(["run", "race.toml"])


@pytest.mark.parametrize("words", ["--help", "run --help-all", "--version", "install --json", "completion bash"])
def test_nothing_for_programs_and_readers_of_the_help(words):
    assert not hinted(words.split(), **UVX)


def test_none_where_the_shell_finds_the_command_or_the_user_gave_its_path(tmp_path):
    found = tmp_path / "bin"
    found.mkdir()
    (found / "stackrace").symlink_to(BESIDE / "stackrace")
    assert not hinted([], path=f"/usr/bin:{found}")
    assert not hinted([], **UVX | {"path": f"{BESIDE}:{found}"})
    assert not hinted([], started="program")


ORIGINS = {
    "a wheel": ('{"url": "file:///tmp/a%20b/x.whl", "archive_info": {}}', "'/tmp/a b/x.whl'"),
    "a repository": (
        '{"url": "https://h/x.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}', "git+https://h/x.git@0a1b",
    ),
    "an address": ('{"url": "https://h/x.whl", "archive_info": {}}', "https://h/x.whl"),
    "nonsense": ("{", "stackrace"),
    "nothing": (None, "stackrace"),
}  # fmt: skip


@pytest.mark.parametrize("case", ORIGINS)
def test_the_source_is_what_uv_takes(tmp_path, monkeypatch, case):
    from stackrace.cli.invocation import _origin

    text, origin = ORIGINS[case]
    about = tmp_path / "stackrace-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stackrace\nVersion: 1\n")
    if text is not None:
        (about / "direct_url.json").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert _origin() == origin
