"""Which uv is taken: the one that started Stackrace, its Python package, or the one on PATH."""

import os
import sys
from pathlib import Path

import pytest

from stackrace.base.errors import MissingError
from stackrace.base.process import uv, uv_program


def program(folder, mode=0o755):
    """Write a program with the name of uv; returns its path."""
    folder.mkdir(exist_ok=True)
    path = folder / "uv"
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


@pytest.fixture
def without_package(monkeypatch):
    """Have no Python package of uv, and nothing on PATH."""
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", "/nonexistent")


def test_the_uv_that_started_stackrace_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("UV", str(program(tmp_path / "one")))
    monkeypatch.setenv("PATH", str(program(tmp_path / "other").parent))
    assert uv_program(tmp_path) == str(tmp_path / "one/uv")


@pytest.mark.parametrize("given", ["", "uv", "./uv", "{}", "{}/gone", "{}/text/uv", "{}/pipe", "{}/" + "x" * 5000])
def test_a_variable_that_names_no_program_is_ignored(tmp_path, monkeypatch, given):
    program(tmp_path)
    program(tmp_path / "text", 0o644)
    os.mkfifo(tmp_path / "pipe", 0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV", given.format(tmp_path))
    assert uv_program(Path("/")) == str(Path(sys.executable).with_name("uv"))


@pytest.mark.usefixtures("without_package")
def test_without_its_package_the_uv_on_path_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin").parent))
    assert uv_program(tmp_path) == str(tmp_path / "bin/uv")


@pytest.mark.usefixtures("without_package")
@pytest.mark.parametrize("has_pip", [True, False])
def test_without_any_the_command_that_installs_it_is_named(tmp_path, monkeypatch, has_pip):
    monkeypatch.setattr(uv, "find_spec", {"pip": has_pip or None}.get)
    with pytest.raises(MissingError, match="uv is not installed") as raised:
        uv_program(tmp_path)
    command = f"{sys.executable} -m pip install uv" if has_pip else "https://astral.sh/uv/install.sh | sh"
    assert raised.value.message.endswith(command)
