"""Bad input: an error that names the flag or the key and the way out, exit code 2, nothing half-started."""

import os
import resource
import socket
import subprocess
import sys

import pytest
from tests.conftest import STACKRACE

from stackrace.base.errors import InputError
from stackrace.cli.main import main
from stackrace.features.init.command import write_race_file

BAD_CALLS = {
    "unknown verb": (["rnu"], "run"),
    "unknown server": (["run", "--stack", "gunicron"], "did you mean gunicorn"),
    "two stacks in one": (["run", "--stack", "gunicorn,uwsgi"], "as in --stack gunicorn --stack uwsgi"),
    "unknown setting": (["run", "--stack", "gunicorn:wrokers=2"], "did you mean workers"),
    "setting out of range": (["run", "--stack", "gunicorn:workers=0"], "a number from 1 to"),
    "illegal link": (["run", "--stack", "nginx/ajp/gunicorn"], "nginx does not forward ajp"),
    "front end without an app": (["run", "--stack", "nginx"], "hosts no application itself"),
    "guest alone": (["run", "--stack", "mod_wsgi"], "apache+mod_wsgi"),
    "the same stack twice": (["run", "--stack", "waitress", "--stack", "waitress"], "given twice"),
    "no duration": (["run", "--budget", "soon"], "write it like"),
    "no such race file": (["run", "nowhere.toml"], "no race file"),
    "no such comparison": (["run", "historic/1999"], "known: deployment-2010, lighttpd-2008"),
    "a comparison that was not run": (["report", "historic/lighttpd-2008"], "stackrace run historic/lighttpd-2008"),
    "no such part": (["run", "historic/mod-wsgi-2009/rails"], "did you mean c-rails"),
    "no such project": (["run", "--project", "nowhere"], "--project"),
    "an unknown bundled app": (["run", "--bundled", "flask"], "known: django, ladder, rails"),
    "bundled and one's own": (["run", "--bundled", "--wsgi", "a:b"], "give only one of --wsgi, --bundled"),
    "no interpreter": (["run", "--wsgi", "a:b", "--python", "/nowhere/python"], "--python"),
    "unwritable store": (["run", "--store", "sqlite:////proc/nothing/races.sqlite3"], "store"),
    "no race to report": (["report", "0000000000000", "--store", "sqlite:///empty.sqlite3"], "stackrace run"),
    "two formats": (["report", "--json", "--csv"], "one of"),
    "a document and details": (["run", "--json", "--details"], "only one of --details, --json"),
    "details in a format": (["report", "--markdown", "--details"], "only one of"),
    "an export to nowhere": (["export", "gunicorn"], "--to deploy"),
    "an export below no folder": (["export", "gunicorn", "--to", "no/deploy"], "make it with: mkdir -p "),
    "an export of two stacks": (["export", "gunicorn", "uwsgi", "--to", "d"], "one race and one stack at most"),
    "an export of no server": (["export", "gunicron:workers=2", "--to", "d"], "did you mean gunicorn"),
    "an export without a race": (["export", "--to", "d", "--store", "sqlite:///empty.sqlite3"], "stackrace run"),
    "an export as root": (["export", "gunicorn", "--to", "d", "--user", "root"], "--user"),
    "an export to a wrong address": (["export", "gunicorn", "--to", "d", "--listen", "8000"], "--listen"),
    "an export for a relative folder": (["export", "gunicorn", "--to", "d", "--app-dir", "shop"], "--app-dir"),
    "a start without a proof": (["export", "gunicorn", "--to", "d", "--start-only"], "--prove"),
    "a report into no folder": (["run", "--html", "nowhere/report.html"], "there is no folder nowhere; make it"),
    "a report into a folder": (["run", "--html", "."], "is a folder; name a file in it"),
    "an old report into no folder": (["report", "--html", "nowhere/report.html"], "--html nowhere/report.html"),
    "a race file into no folder": (
        ["init", "--output", "nowhere/race.toml"],
        "--output nowhere/race.toml: there is no folder nowhere; make it with: mkdir -p nowhere",
    ),
    "a race file that is a folder": (["init", "--output", "."], "--output"),
    "a recording into no folder": (
        ["record", "a.har", "--out", "nowhere/visit.har"],
        "--out nowhere/visit.har: there is no folder nowhere; make it with: mkdir -p nowhere",
    ),
    "a recording that is a folder": (["record", "a.har", "--out", "."], "--out"),
    "an app's flags with a URL": (
        ["load", "http://127.0.0.1:9/", "--wsgi", "a:b"],
        "leave --wsgi out, or give --stack gunicorn instead of the URL",
    ),
    "latencies into no folder": (
        ["load", "http://127.0.0.1:9/", "--hdr", "nowhere/a.hgrm"],
        "--hdr nowhere/a.hgrm",
    ),
    "a URL to record": (["record", "http://127.0.0.1:9/"], "give the HAR file that its developer tools export"),
    "no file to record": (["record", "a.har"], "a.har cannot be read"),
    "an app to race": (["run", "tiny:app"], "did you mean --wsgi tiny:app"),
    "a file as an app": (["run", "--wsgi", "shop/web.py:app"], "write it like --wsgi shop.web:app"),
    "a list of levels": (["run", "-c", "10,20"], "write -c 10 -c 20"),
    "a list of connections": (["load", "http://127.0.0.1:9/", "-c", "10,20"], "give one, as in -c 10"),
    "a header of two lines": (["load", "http://127.0.0.1:9/", "-H", "X-A: b\r\nX-C: d"], "--header"),
    "a host of two lines": (["run", "--host", "a\r\nX-C: d"], "is no host; write it like shop.example"),
    "unknown server to install": (["install", "ngnix"], "did you mean nginx"),
    "nothing to install": (["install"], "--all"),
    "cores that are not there": (["run", "--cores", "99999"], "--cores ([race] cores): 99999 has cores"),
    "no list of cores": (["run", "--engine-cores", "two"], "write it like 0-3 or 0,2,4-6"),
    "no memory to speak of": (["run", "--memory", "1MiB"], "give at least 16 MiB"),
    "more memory than there is": (["run", "--memory", "999999GiB"], "--memory: "),
    "a budget without a block": (
        ["run", "--stack", "waitress", "--stack", "cheroot", "--budget", "1s"],
        "--budget 1 s is too short: one block of 2 stacks at 1 load level takes",
    ),
    "concurrency of zero": (["run", "-c", "0"], "--concurrency"),
}


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Return a function that calls the command in ``tmp_path``, which it refuses; gives what it says.

    It is called in this process: starting up, some seventy times, would be most of what this takes.
    """
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["stackrace", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert left.value.code == 2, said.err
        assert said.out == ""
        return said.err

    return call


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls_exit_2_with_the_way_out(refused, case):
    arguments, way_out = BAD_CALLS[case]
    said = refused(*arguments)
    assert way_out in said
    assert "Traceback" not in said


WRITING = {
    "init": ["init", "--output", "kept/race.toml"],
    "record": ["record", "a.har", "--out", "kept/visit.har"],
    "run": ["run", "--html", "kept/race.html"],
    "load": ["load", "http://127.0.0.1:9/", "--hdr", "kept/a.hgrm"],
}


@pytest.mark.parametrize("verb", WRITING)
@pytest.mark.parametrize("trouble", ["full", "forbidden"])
def test_what_cannot_be_written_is_refused_before_anything_starts(refused, monkeypatch, tmp_path, verb, trouble):
    (tmp_path / "kept").mkdir()
    (tmp_path / "app.py").write_text("raise SystemExit('the app was started')\n")
    if trouble == "full":
        space = os.statvfs(tmp_path)
        full = type(space)((*space[:4], 0, *space[5:]))
        monkeypatch.setattr("stackrace.cli.stdio.os.statvfs", lambda _: full)
    else:
        # root may write everywhere
        monkeypatch.setattr("stackrace.cli.stdio.os.access", lambda *_: False)
    said = refused(*WRITING[verb])
    flag, path = WRITING[verb][-2:]
    way_out = ": the disk of kept is full; free some" if trouble == "full" else " cannot be written"
    assert f"error: {flag} {path}{way_out}" in said
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_race_file_is_replaced_whole_or_not_at_all(monkeypatch, tmp_path):
    def full(draft, text, encoding):
        draft.write_bytes(text.encode()[:10])
        raise OSError(28, "No space left on device")

    (tmp_path / "race.toml").write_text("kept")
    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(InputError, match=r"--output .*race\.toml cannot be written: No space left on device"):
        write_race_file("much longer than ten bytes", tmp_path / "race.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["race.toml"]
    assert (tmp_path / "race.toml").read_text() == "kept"


@pytest.mark.parametrize("way", ["run", "up", "race file"])
def test_a_folder_with_code_but_no_clear_app_is_asked_about_at_once(refused, tmp_path, way):
    (tmp_path / "app.py").write_text("from flask import Flask\ndef create_app(name):\n    return Flask(name)\n")
    (tmp_path / "race.toml").write_text("[load]\nconcurrency = [1]\n")
    calls = {"run": ["run"], "up": ["up", "waitress"], "race file": ["run", "race.toml"]}
    said = refused(*calls[way])
    assert "did you mean --wsgi 'app:create_app(name=\"…\")'?" in said
    assert "--bundled" in said
    assert "building" not in said


def test_a_race_file_reports_all_its_problems_with_their_lines(refused, tmp_path):
    (tmp_path / "race.toml").write_text(
        '[app]\ndjago = "x"\n[load]\nconcurrency = [0]\n[race]\nbudget = "20 parsecs"\n'
        'stacks = [\n  "gunicorn",\n  "nginx/ajp/gunicorn",\n]\n'
    )
    said = refused("run", "race.toml")
    for expected in ("line 2: app.djago", "line 4: load.concurrency", "line 6: race.budget", "line 9: race.stacks"):
        assert expected in said
    assert "did you mean django" in said


def test_toml_that_is_none_names_the_line(refused, tmp_path):
    (tmp_path / "race.toml").write_text("[app\n")
    assert "line 1" in refused("run", "race.toml")


def test_an_app_that_does_not_import_shows_its_own_traceback_once_and_leaves_nothing(
    stackrace, temporary, tmp_path
):
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found\n")
    told = ("--wsgi", "broken:app", "--python", sys.executable)
    done = stackrace("run", *told, cwd=tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 2
    assert list(temporary.iterdir()) == []
    assert done.stderr.count("Traceback (most recent call last)") == 1
    assert "stackrace/cli" not in done.stderr


def test_an_app_that_answers_500_shows_its_own_traceback_once(stackrace, tmp_path):
    code = "def app(environ, start_response):\n    raise ValueError('out of cheese')\n"
    (tmp_path / "failing.py").write_text(code)
    done = stackrace("run", "--wsgi", "failing:app", "--python", sys.executable, cwd=tmp_path)
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
