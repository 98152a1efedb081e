"""Commands of frameworks, and files that include others, are read as the server that they start."""

import pytest

from .setups import read

WAITRESS = "[server:main]\nuse = egg:waitress#main\nlisten = 0.0.0.0:%(http_port)s\nthreads = 8\n"
GUNICORN = "[server:main]\nuse = egg:gunicorn\nhost = 0.0.0.0\nport = 80\nworkers = 8\nkeepalive = 9\nthreads = 2\n"
MAIN = "[uwsgi]\n{}\nmodule = a:b\nhttp-socket = :80\n"
BASE = "[uwsgi]\nprocesses = 6\nthreads = 2\nlogto = /var/log/missing/x.log\n"
SIZED = ("processes=6", "threads=2")

READ = {
    "pserve with waitress": (
        {"Procfile": "web: pserve live.ini http_port=$PORT", "live.ini": WAITRESS},
        "waitress:threads=8,connection_limit=100,keep_alive=120",
    ),
    "pserve with gunicorn": (
        {"Procfile": "web: pserve live.ini", "live.ini": GUNICORN},
        "gunicorn:workers=8,class=gthread,threads=2,keep_alive=9",
    ),
    "litestar": (
        {"Procfile": "web: litestar --app shop.main:app run --host 0.0.0.0 -p 80 --wc 4"},
        "uvicorn:workers=4,keep_alive=5",
    ),
    "litestar as a module": (
        {"Procfile": "web: python -m litestar --app=shop:app run -W 4 --debug"},
        "uvicorn:workers=4,keep_alive=5",
    ),
}


@pytest.mark.parametrize("case", READ)
def test_a_frameworks_command_is_its_servers(tmp_path, case):
    files, stack = READ[case]
    found = read(tmp_path, files)
    assert (found.stack, found.gaps) == (stack, ())


def test_a_server_that_pyramids_file_names_and_nobody_races_is_named(tmp_path):
    found = read(tmp_path, {"Procfile": "web: pserve a.ini", "a.ini": "[server:main]\nuse = egg:Paste#http\n"})
    assert (found.stack, "Pyramid's file" in found.problem) == ("", True)


@pytest.mark.parametrize(
    "line", ["ini = %dconf/base.ini", "include = conf/base.ini", "ini = /srv/conf/base.ini:uwsgi"]
)
def test_what_an_ini_file_of_uwsgi_includes_counts(tmp_path, line):
    found = read(tmp_path, {"uwsgi.ini": MAIN.format(line), "conf/base.ini": BASE})
    assert (found.effective, found.gaps, found.is_partial) == (SIZED, (), False)


def test_the_last_word_counts_and_a_circle_ends(tmp_path):
    last = f"{MAIN.format('ini = base.ini')}processes = 3\n"
    assert read(tmp_path, {"uwsgi.ini": last, "base.ini": BASE}).effective[0] == "processes=3"
    assert read(tmp_path, {"base.ini": f"{BASE}ini = uwsgi.ini\n"}).is_partial


def test_an_include_that_cannot_be_followed_is_named(tmp_path):
    found = read(tmp_path, {"uwsgi.ini": MAIN.format("ini = /etc/%(name).ini")})
    assert [(gap.file, gap.line, gap.what) for gap in found.gaps] == [("uwsgi.ini", 2, "ini = /etc/%(name).ini")]
    assert found.is_partial


def test_a_file_that_needs_a_variable_of_the_race_is_asked_with_it(tmp_path):
    code = "import json, os\nworkers = json.loads(os.environ['CFG'])['workers']\n"
    files = {"Procfile": "web: gunicorn a:b", "gunicorn.conf.py": code}
    assert read(tmp_path, files).is_partial
    found = read(tmp_path, files, environment={"CFG": '{"workers": 5}'})
    assert (found.effective[0], found.gaps) == ("workers=5", ())
