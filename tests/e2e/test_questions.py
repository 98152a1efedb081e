"""Verbs that ask programs of this machine something go on without those that do not answer, and name them."""

import os
import re

import pytest

SILENT = ("nginx", "dpkg-query", "apache2", "uwsgi", "systemctl", "ruby", "sudo", "unshare")
VERBS = {
    "stacks": ("stacks",),
    "one stack": ("stacks", "nginx"),
    "install": ("install", "nginx", "--dry-run"),
    "doctor": ("doctor",),
    "export": ("export", "race.toml", "nginx/http/gunicorn", "--to", "out"),
}


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """Programs on PATH that answer nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in SILENT:
        path = folder / name
        path.write_text("#!/bin/sh\nexec sleep 100000\n")
        path.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    (project / "app.py").write_text(
        'def app(e, s):\n    s("200 OK", [("Content-Length", "1")])\n    return [b"x"]\n'
    )
    (project / "race.toml").write_text('[app]\nwsgi = "app:app"\n[workload]\nurls = ["/"]\n')
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[] if verb == "run" else pytest.mark.exhaustive) for verb in VERBS]
)
def test_a_verb_goes_on_without_programs_that_do_not_answer(stackrace, silent, verb):
    done = stackrace(*VERBS[verb])
    assert "Traceback" not in done.stderr
    named = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    for line in named:
        # between them a busy machine is named
        assert re.search(r"did not end within (5|60) s; ", line), line
        assert line.endswith("; end it or take it off PATH")
    # a doctor may find fault with this machine
    assert done.returncode == 0 or verb == "doctor", done.stderr
    if verb in ("stacks", "one stack"):
        assert any(line.startswith(f"note: nginx -v ({silent}/nginx)") for line in named)
