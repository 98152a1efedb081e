"""Bad input: an error that names the flag or the key and the way out, exit code 2, nothing half-started."""

import os
import resource
import socket
import subprocess

import pytest
from tests.conftest import STACKRACE

from stackrace.cli.main import main

BAD_CALLS = {
    "unknown verb": (["rnu"], "run"),
    "unknown server": (["run", "--stack", "gunicron"], "did you mean gunicorn"),
    "unknown setting": (["run", "--stack", "gunicorn:wrokers=2"], "did you mean workers"),
    "setting out of range": (["run", "--stack", "gunicorn:workers=0"], "a number from 1 to"),
    "illegal link": (["run", "--stack", "nginx/ajp/gunicorn"], "nginx does not forward ajp"),
    "front end without an app": (["run", "--stack", "nginx"], "hosts no application itself"),
    "guest alone": (["run", "--stack", "mod_wsgi"], "apache+mod_wsgi"),
    "the same stack twice": (["run", "--stack", "waitress", "--stack", "waitress"], "given twice"),
    "no duration": (["run", "--budget", "soon"], "write it like"),
    "no such race file": (["run", "nowhere.toml"], "no race file"),
    "no such comparison": (["run", "historic/1999"], "known: deployment-2010, lighttpd-2008"),
    "no comparison to be quick about": (["run", "--quick"], "historic/NAME"),
    "a comparison that was not run": (["report", "historic/lighttpd-2008"], "stackrace run historic/lighttpd-2008"),
    "another comparison": (["run", "historic/lighttpd-2008", "-c", "5"], "would change the comparison"),
    "no such part": (["run", "historic/mod-wsgi-2009/rails"], "did you mean c-rails"),
    "no such project": (["run", "--project", "nowhere"], "--project"),
    "two entries": (["run", "--wsgi", "a:b", "--asgi", "a:b"], "give only one of --wsgi, --asgi"),
    "no interpreter": (["run", "--wsgi", "a:b", "--python", "/nowhere/python"], "--python"),
    "unwritable store": (["run", "--store", "sqlite:////proc/nothing/races.sqlite3"], "store"),
    "no race to report": (["report", "0000000000000"], "stackrace run"),
    "two formats": (["report", "--json", "--csv"], "one of"),
    "no URL": (["load", "nonsense"], "http://"),
    "another machine": (["load", "http://192.0.2.1/"], "--target-is-mine"),
    "two ends": (["load", "http://127.0.0.1:9/", "-n", "5", "-d", "5s"], "not both"),
    "no header": (["load", "http://127.0.0.1:9/", "-H", "nonsense"], "--header"),
    "unknown server to install": (["install", "ngnix"], "did you mean nginx"),
    "nothing to install": (["install"], "--all"),
    "cores that are not there": (["run", "--cores", "99999"], "--cores ([race] cores): 99999 has cores"),
    "no list of cores": (["run", "--engine-cores", "two"], "write it like 0-3 or 0,2,4-6"),
    "no memory to speak of": (["run", "--memory", "1MiB"], "give at least 16 MiB"),
    "more memory than there is": (["run", "--memory", "999999GiB"], "--memory: "),
    "a budget without a block": (
        ["run", "--stack", "waitress", "--stack", "cheroot", "--budget", "1s"],
        "--budget 1 s is too short: one block of 2 stacks at 3 load levels takes",
    ),
    "concurrency of zero": (["run", "-c", "0"], "--concurrency"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls_exit_2_with_the_way_out(monkeypatch, capsys, tmp_path, case):
    arguments, way_out = BAD_CALLS[case]
    monkeypatch.chdir(tmp_path)
    # called here, not in a process of its own: forty times the start-up would be most of what this takes
    monkeypatch.setattr("sys.argv", ["stackrace", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2, said.err
    assert way_out in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_race_file_reports_all_its_problems_with_their_lines(stackrace, tmp_path):
    (tmp_path / "race.toml").write_text(
        '[app]\ndjago = "x"\n[load]\nconcurrency = [0]\n[race]\nbudget = "20 parsecs"\n'
        'stacks = [\n  "gunicorn",\n  "nginx/ajp/gunicorn",\n]\n'
    )
    done = stackrace("run", "race.toml", cwd=tmp_path)
    assert done.returncode == 2
    for expected in ("line 2: app.djago", "line 4: load.concurrency", "line 6: race.budget", "line 9: race.stacks"):
        assert expected in done.stderr
    assert "did you mean django" in done.stderr


def test_toml_that_is_none_names_the_line(stackrace, tmp_path):
    (tmp_path / "race.toml").write_text("[app\n")
    done = stackrace("run", "race.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 1" in done.stderr


def test_an_app_that_does_not_import_shows_its_own_traceback_once(stackrace, tmp_path):
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    done = stackrace("run", "--wsgi", "broken:app", "--python", os.sys.executable, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("Traceback (most recent call last)") == 1
    assert "stackrace/cli" not in done.stderr


def test_an_app_that_answers_500_shows_its_own_traceback_once(stackrace, tmp_path):
    code = "def app(environ, start_response):\n    raise ValueError('out of cheese')\n"
    (tmp_path / "failing.py").write_text(code)
    done = stackrace("run", "--wsgi", "failing:app", "--python", os.sys.executable, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("Traceback (most recent call last)") == 1
    assert "ValueError: out of cheese" in done.stderr


def test_a_taken_port_is_named(stackrace, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = stackrace("up", "waitress", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert f"--port {port} is taken" in done.stderr


def test_too_few_file_descriptors_are_refused_before_anything_starts(tmp_path):
    done = subprocess.run(
        [str(STACKRACE), "load", "http://127.0.0.1:9/", "-c", "500", "-n", "1"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stderr
    assert "--concurrency" in done.stderr
    assert "open 256 files" in done.stderr


def test_a_budget_too_short_says_how_much_is_needed(stackrace, tmp_path):
    app = "def app(environ, start_response):\n    start_response('200 OK', [])\n    return [b'x']\n"
    (tmp_path / "tiny.py").write_text(app)
    done = stackrace(
        "run", "--wsgi", "tiny:app", "--python", os.sys.executable, "--stack", "waitress", "--budget", "1s",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--budget" in done.stderr
    assert "need" in done.stderr


def test_nothing_is_left_behind_by_refused_calls(stackrace, temporary, tmp_path):
    stackrace("run", "--wsgi", "nowhere:app", "--python", os.sys.executable, cwd=tmp_path, TMPDIR=str(temporary))
    assert list(temporary.iterdir()) == []
