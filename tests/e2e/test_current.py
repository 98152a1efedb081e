"""What a project runs today is raced as it is, from its deployment files to the reports."""

import subprocess
import sys

import pytest
from tests.conftest import BRIEF, STACKRACE, calling
from tests.raced import raced

FILES = {
    "shop.py": """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
""",
    "gunicorn.conf.py": "bind = '0.0.0.0:8000'\nworkers = 1\nuser = 'www-data'\naccesslog = '-'\n",
    "compose.prod.yml": "services:\n  web:\n    command: gunicorn -c gunicorn.conf.py shop:app --threads 2\n",
    "nginx/site.conf": """
upstream shop { server web:8000; }
server {
    listen 443 ssl;
    ssl_certificate /etc/ssl/shop.pem;
    location /chat/ { proxy_pass http://chat:9000; }
    location / { proxy_pass http://shop; proxy_set_header Host $http_host; }
}
""",
    "Procfile": "web: gunicorn shop:app\n",
}
CURRENT = "nginx:config=nginx/site.conf/http/gunicorn:class=gthread,threads=2,socket=tcp,config=gunicorn.conf.py"
RUN = ["run", "--stack", "waitress", "--python", sys.executable, "-c", "2", "--requests", "20", "--repeats", "1"]
RUN += ["--no-twin"]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("current")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(project, *arguments):
    return subprocess.run([str(STACKRACE), *arguments], cwd=project, capture_output=True, text=True, timeout=1800)


def test_it_races_beside_the_others_and_is_marked(project):
    done = calling(*BRIEF)(*RUN, "--json", cwd=project)
    document = raced(done)
    assert f"Your present deployment (compose.prod.yml:3) races as {CURRENT}." in done.stderr
    assert document["race"]["current"] == CURRENT
    assert {facts["stack"] for facts in document["stacks"]} == {CURRENT, "waitress"}
    assert {launch["stack"] for launch in document["launches"]} == {CURRENT, "waitress"}
    assert not any(launch["failure"] for launch in document["launches"])
    found = document["race"]["deployment"]
    changed = {f"{change['file']}:{change['line']} {change['key']}" for change in found["changes"]}
    assert {"gunicorn.conf.py:1 bind", "gunicorn.conf.py:3 user", "nginx/site.conf:4 listen"} <= changed
    assert [(gap["file"], gap["line"]) for gap in found["gaps"]] == [("nginx/site.conf", 6)]
    assert found["others"] == ["Procfile:1"]


def test_what_cannot_be_the_current_one_is_refused(project):
    both = run(project, *RUN, "--current", "Procfile", "--no-current")
    assert (both.returncode, "not both" in both.stderr) == (2, True)
    wrong = run(project, *RUN, "--current", "shop.py")
    assert wrong.returncode == 2
    assert "starts no server that Stackrace knows" in wrong.stderr


def test_init_writes_it_into_the_race_file(project):
    done = run(project, "init", "--stdout", "--python", sys.executable)
    assert done.returncode == 0, done.stderr
    assert 'current = "compose.prod.yml"   # what you run today: nginx:config=nginx/site.conf' in done.stdout
