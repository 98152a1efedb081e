"""A running server is observed as it is, by a script for machines without Stackrace, and its secrets stay there."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.ordinary import ordinarily
from tests.ports import free_port
from tests.raced import raced

from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.features.current import observe
from stackrace.features.current.running import fill_tables, script
from stackrace.features.current.verb import command
from stackrace.stacks.native_files import Concern
from stackrace.stacks.servers import catalogue

from .setups import SPECS, current_deployment, write

CANARY = "c4n4ry-of-the-shop"
APP = """
def application(environ, start):
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
"""
MAIN = """
import sys
import uvicorn

if __name__ == "__main__":
    uvicorn.run("shop:asgi", port=int(sys.argv[-1]), workers=2)
"""
INI = "[uwsgi]\nhttp = 127.0.0.1:{port}\nmaster = true\nprocesses = 2\nthreads = 2\nmodule = shop\n"

KINDS = {
    "gthread": (
        "gunicorn",
        f"gunicorn -w 2 --threads 3 -e TOKEN={CANARY} -b 127.0.0.1:{{port}} --statsd-prefix={CANARY} "
        "shop:application",
        ("gunicorn:workers=2,class=gthread,threads=3,keep_alive=2", 2, 3),
    ),
    "uvicorn": (
        "uvicorn",
        f"uvicorn --workers 2 --port {{port}} --header X-Token:{CANARY} shop:asgi",
        ("uvicorn:workers=2,keep_alive=5,--loop=asyncio,--http=h11", 2, 4),
    ),
    "sync": (
        "gunicorn",
        "python -m gunicorn --bind=127.0.0.1:{port} shop:application",
        ("gunicorn:workers=1", 1, 2),
    ),
    "titled": (
        "gunicorn\nsetproctitle",
        "gunicorn -w 2 -b 127.0.0.1:{port} shop:application",
        ("gunicorn:workers=2", 2, 3),
    ),
    "titled granian": (
        "granian\nsetproctitle",
        "granian --interface asgi --workers 2 --port {port} shop:asgi",
        ("granian:interface=asgi,workers=2", 2, 3),
    ),
    "uwsgi": (
        "pyuwsgi",
        f"uwsgi --http-socket 127.0.0.1:{{port}} --processes 3 --set token={CANARY} --module shop",
        ("uwsgi:processes=3,http=socket", 3, 3),
    ),
    "uwsgi's router": ("pyuwsgi", "uwsgi --ini uwsgi.ini", ("uwsgi:config=uwsgi.ini", 2, 4)),
    "granian": (
        "granian",
        "granian --interface asgi --workers 2 --port {port} shop:asgi",
        ("granian:interface=asgi,workers=2", 2, 3),
    ),
    "hypercorn": (
        "hypercorn",
        "hypercorn -w 2 -b 127.0.0.1:{port} shop:asgi",
        ("hypercorn:workers=2,keep_alive=5", 2, 4),
    ),
    "waitress": (
        "waitress",
        "waitress-serve --port {port} --threads 3 shop:application",
        ("waitress:threads=3,connection_limit=100,keep_alive=120", 1, 1),
    ),
    "code": (
        "uvicorn",
        "python main.py --port {port}",
        ("uvicorn:workers=2,keep_alive=5,--loop=asyncio,--http=h11", 2, 4),
    ),
    "daphne": ("daphne", "daphne -p {port} shop:asgi", ("daphne", 1, 1)),
}
"""By name: the packages, the command line, and the path, the workers and the processes that are the truth."""


fill_tables()


def environment_of(folder, packages):
    listed = folder / "requirements.txt"
    listed.write_text(packages)
    made = Environments(cache_folder(), lambda _: None)
    return made.of_requirements(listed, Path(sys.executable), UNPROTECTED)


def script_in(folder):
    done = CliRunner().invoke(command, ["--script"])
    (folder / "observe.py").write_text(done.stdout)
    return folder / "observe.py"


def plainly(script, target, **options):
    """Observe with an interpreter that has nothing but its own library, and no variables."""
    words = [sys._base_executable, "-I", "-S", str(script), str(target)]
    return subprocess.run(words, env={}, capture_output=True, text=True, timeout=1800, **options)


def until(condition):
    deadline = time.monotonic() + 1800
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


class Running:
    """A server that runs in a folder, and what is seen of it."""

    def __init__(self, python, folder, words, **variables):
        bin_folder = Path(python).parent
        program = bin_folder / words[0]
        path = f"{bin_folder}:{os.environ['PATH']}"
        variables = {"PATH": path, "HOME": str(folder), "SHOP_SECRET": CANARY, **variables}
        with (folder / "log").open("w") as log:
            self.started = subprocess.Popen(
                [str(program), *words[1:]],
                cwd=folder,
                env=variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.log = folder / "log"

    def seen(self, target, workers):
        """Return what the script in another interpreter prints, once all workers run."""

        def look():
            assert self.started.poll() is None, self.log.read_text()
            done = plainly(self.script, target)
            if done.returncode or json.loads(done.stdout)["server"]["workers"] != workers:
                return None
            return done.stdout

        return until(look)

    def end(self):
        os.killpg(self.started.pid, signal.SIGKILL)
        self.started.wait()


@pytest.fixture
def start(tmp_path):
    running = []

    def started(packages, line, **variables):
        project = tmp_path / "shop"
        write(project, {"shop.py": APP, "main.py": MAIN})
        one = Running(environment_of(tmp_path, packages), project, line.split(), **variables)
        running.append(one)
        one.script, one.project = script_in(tmp_path), project
        return one

    yield started
    for one in running:
        one.end()


@pytest.mark.parametrize("kind", ordinarily(KINDS, ("gthread", "uvicorn")))
def test_what_runs_is_observed_and_becomes_a_stack_without_its_secrets(tmp_path, start, kind):
    packages, line, (stack, workers, processes) = KINDS[kind]
    port = free_port()
    write(tmp_path / "shop", {"uwsgi.ini": INI.format(port=port)} if "ini" in line else {})
    running = start(
        packages, line.format(port=port), WEB_CONCURRENCY="1", DATABASE_URL=f"postgres://a:{CANARY}@db/shop"
    )
    text = running.seen(f":{port}", workers)
    assert CANARY not in text
    found = json.loads(text)
    server = found["server"]
    assert server["pid"] == running.started.pid
    assert (f"127.0.0.1:{port}" if kind != "waitress" else f"0.0.0.0:{port}") in server["addresses"]
    served = [each for each in found["processes"] if "resource_tracker" not in " ".join(each["words"])]
    assert len(served) + (kind in ("uvicorn", "hypercorn", "code")) == processes
    assert {"SHOP_SECRET", "DATABASE_URL"} <= set(server["variable_names"]) or "titled" in kind
    assert server["folder"] == str(running.project)
    assert server["versions"][packages.partition("\n")[0]] and server["python"].startswith("3.")
    observed = tmp_path / "observed.json"
    observed.write_text(text)
    deployment = current_deployment(running.project, SPECS, observed)
    assert (deployment.stack, deployment.file) == (stack, "main.py" if kind == "code" else f"pid {server['pid']}")
    assert deployment.differences == () and deployment.is_partial == ("titled" in kind)
    # any of its processes leads to the first
    assert json.loads(plainly(running.script, found["processes"][-1]["pid"]).stdout)["server"] == server


def test_what_runs_goes_before_what_the_files_say_by_now(tmp_path, start):
    port = free_port()
    write(tmp_path / "shop", {"gunicorn.conf.py": f"bind = '127.0.0.1:{port}'\nworkers = 1\n"})
    running = start("gunicorn", "gunicorn shop:application")
    running.seen(running.started.pid, 1)
    write(running.project, {"gunicorn.conf.py": "bind = '0.0.0.0:80'\nworkers = 4\n"})
    words = ["--project", str(running.project), "--running", f":{port}"]
    told = " ".join(CliRunner().invoke(command, words).stdout.split())
    pid = running.started.pid
    assert told.startswith(f"pid {pid} runs gunicorn:workers=1,config=gunicorn.conf.py")
    assert "gunicorn.conf.py:2 says workers=4; 1 run." in told
    assert f"gunicorn.conf.py:1 says bind 0.0.0.0:80; it listens on 127.0.0.1:{port}." in told
    assert f"--running :{port} --json > observed.json; stackrace run --project {running.project} --current" in told
    document = CliRunner().invoke(command, [*words, "--json"]).stdout
    assert CANARY not in document
    (tmp_path / "observed.json").write_text(document)
    again = CliRunner().invoke(command, [*words[:2], str(tmp_path / "observed.json"), "--json"]).stdout
    assert json.loads(again) == json.loads(document)


def test_the_front_end_before_it_is_found_and_leads_to_it(tmp_path, start):
    front, port = free_port(), free_port()
    running = start("gunicorn", f"gunicorn -w 2 -b 127.0.0.1:{port} shop:application")
    write(tmp_path, {
        "nginx.conf": f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}\nhttp {{ access_log off;"
        f"\ninclude {tmp_path}/sites/*.conf; }}\n",
        "sites/shop.conf": f"server {{ listen 127.0.0.1:{front};\n"
        f"location / {{ proxy_pass http://127.0.0.1:{port}; }} }}\n",
    })  # fmt: skip
    nginx = subprocess.Popen(["nginx", "-c", str(tmp_path / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        direct = json.loads(running.seen(f":{port}", 2))
        until(lambda: plainly(running.script, f":{front}").returncode == 0)
        found = json.loads(running.seen(f":{front}", 2))
    finally:
        nginx.terminate()
        nginx.wait()
    assert found["server"] == direct["server"]
    assert (found["front"]["name"], found["front"]["pid"]) == ("nginx", nginx.pid)
    assert found["front"]["addresses"] == [f"127.0.0.1:{front}"]
    assert found["front"]["files"] == [str(tmp_path / "nginx.conf")]
    (tmp_path / "observed.json").write_text(json.dumps(found))
    stack = current_deployment(running.project, SPECS, tmp_path / "observed.json").stack
    assert stack == "nginx/http/gunicorn:workers=2"


APACHE = """ServerRoot {folder}
PidFile {folder}/pid
ErrorLog {folder}/log
Listen 127.0.0.1:{port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule wsgi_module /usr/lib/apache2/modules/mod_wsgi.so
<IfDefine ROOT>
User nobody
Group nogroup
</IfDefine>
WSGISocketPrefix {folder}/wsgi
WSGIDaemonProcess shop \\
    processes=2 threads=5
WSGIProcessGroup shop
WSGIScriptAlias / {folder}/shop.py
"""


@pytest.mark.exhaustive
def test_an_apache_that_hosts_the_app_is_its_server(tmp_path):
    port, config = free_port(), tmp_path / "apache.conf"
    config.write_text(APACHE.format(folder=tmp_path, port=port))
    words = ["-f", str(config), "-DFOREGROUND", *(["-DROOT"] if os.geteuid() == 0 else [])]
    path = f"{os.environ['PATH']}:/usr/sbin"
    apache = subprocess.Popen([shutil.which("apache2", path=path), *words])

    def look():
        done = plainly(script_in(tmp_path), f":{port}")
        found = json.loads(done.stdout) if not done.returncode else None
        return found if found and found["server"]["workers"] == 2 else None

    try:
        found = until(look)
    finally:
        apache.terminate()
        apache.wait()
    assert (found["server"]["name"], found["server"]["pid"]) == ("mod_wsgi", apache.pid)
    assert found["front"] is None
    (tmp_path / "observed.json").write_text(json.dumps(found))
    deployment = current_deployment(tmp_path, SPECS, tmp_path / "observed.json")
    assert (deployment.stack, deployment.differences) == ("apache+mod_wsgi:processes=2,threads=5", ())


@pytest.mark.exhaustive
def test_what_was_observed_races(tmp_path, start, brief):
    port = free_port()
    running = start("gunicorn", f"gunicorn -w 2 -b 127.0.0.1:{port} shop:application")
    (tmp_path / "observed.json").write_text(running.seen(f":{port}", 2))
    words = ["--stack", "waitress", "--python", sys.executable, "-c", "2", "--requests", "20", "--repeats", "1"]
    done = brief("run", "--current", tmp_path / "observed.json", *words, "--no-twin", "--json", cwd=running.project)
    document = raced(done)
    assert document["race"]["current"] == "gunicorn:workers=2"
    assert document["race"]["deployment"]["file"] == f"pid {running.started.pid}"
    assert {launch["stack"] for launch in document["launches"]} == {"gunicorn:workers=2", "waitress"}
    assert not any(launch["failure"] for launch in document["launches"])


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (":1", "nobody listens on port 1; "),
        ("4000000000", "there is no process 4000000000; a port is written :4000000000"),
        ("no-such-shop", "'no-such-shop' is neither a unit of systemd's that runs nor a container"),
        ("no-such-shop", "on another machine: stackrace current --script"),
        ("../shop", "'../shop' is no process, port, container or unit; write 1234"),
        ("", "'' is no process"),
        ("self", "name the server's process, or its port as :8000"),
    ],
)
def test_what_is_no_target_is_refused_with_a_way_out(target, said):
    target = str(os.getpid()) if target == "self" else target
    with pytest.raises(observe.ObservationError, match=re.escape(said)):
        observe.observe(target)
    if target:
        raised = CliRunner().invoke(command, ["--running", target]).exception
        assert isinstance(raised, InputError) and str(raised).startswith("--running ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_may_not_look_is_told_who_may(tmp_path):
    script = script_in(tmp_path)
    with socket.socket() as bound, script.open() as text:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        port = bound.getsockname()[1]
        done = plainly("/dev/stdin", f":{port}", stdin=text, user=65534, group=65534, extra_groups=[])
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port} belongs to a process of user root" in done.stderr and "run this as root" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema": "observed-1"}', "lacks 'target'"),
        ('{"schema": "observed-9"}', "has the schema observed-9, and this version reads observed-1"),
        ('{"schema": "observed-1", "target": 3}', "is no observation"),
    ],
)
def test_a_damaged_observation_is_refused_with_a_way_out(tmp_path, text, said):
    (tmp_path / "observed.json").write_text(text)
    with pytest.raises(InputError, match="stackrace current --script") as raised:
        current_deployment(tmp_path, SPECS, tmp_path / "observed.json")
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["gunicorn", "-w4", "--env", f"A={CANARY}", f"--env=A={CANARY}", f"-eA={CANARY}", "a:b"],
         ["gunicorn", "-w4", "--env", "***", "--env=***", "-e***", "a:b"]),
        (["gunicorn", f"--{CANARY}", CANARY, f"-Z{CANARY}", "--bind", f"http://u:{CANARY}@h", f"a:b('{CANARY}')"],
         ["gunicorn", f"--{CANARY}", "***", "-Z***", "--bind", "***", "***"]),
        (["python3", "-X", "dev", "main.py", "--token", CANARY, f"--key={CANARY}", CANARY],
         ["python3", "-X", "dev", "main.py", "--token", "***", "--key=***", "***"]),
        (["python3", "-c", f"key = '{CANARY}'"], ["python3", "-c", "***"]),
        ([f"shop: {CANARY} working"], ["shop:", "***"]),
        (["/opt/shop", CANARY], ["/opt/shop", "***"]),
        (["uwsgi", "--set", f"a={CANARY}", "--http-socket", ":80", "--ini", "a.ini"],
         ["uwsgi", "--set", "***", "--http-socket", ":80", "--ini", "a.ini"]),
    ],
)  # fmt: skip
def test_of_a_command_line_only_harmless_values_are_shown(words, shown):
    assert observe.masked(words) == shown


ID = "3f4e5d6c7b8a" + 52 * "0"


@pytest.mark.parametrize(
    ("name", "group", "is_there"),
    [
        ("shop", "0::/system.slice/shop.service", True),
        ("shop.service", "1:name=systemd:/system.slice/shop.service/inner", True),
        ("shop", "0::/system.slice/webshop.service", False),
        (ID[:12], f"0::/system.slice/docker-{ID}.scope", True),
        (ID, f"5:memory:/docker/{ID}", True),
        (ID, f"0::/machine.slice/libpod-{ID}.scope/container", True),
        (ID[1:], f"5:memory:/docker/{ID}", False),
    ],
)
def test_control_groups_tell_units_and_containers(name, group, is_there):
    assert observe.is_in(name, f"0::/\n{group}\n0::/user.slice\n") is is_there


def test_a_containers_name_is_asked_for(tmp_path, monkeypatch):
    stand_in = tmp_path / "docker"
    stand_in.write_text(f'#!/bin/sh\n[ "$1 $2 $5" = "inspect -f web" ] && echo {os.getpid()}\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        found = observe.observe("web")
        assert f"127.0.0.1:{bound.getsockname()[1]}" in found["server"]["addresses"]
    assert found["server"]["pid"] == os.getpid()


def test_the_script_is_python_of_before_with_its_tables():
    tree = ast.parse(script(), feature_version=(3, 8))
    said = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    for name in ("PROGRAMS", "VALUES", "SWITCHES"):
        assert ast.literal_eval(said[name]) == getattr(observe, name) != {}


def test_of_variables_only_harmless_values_are_shown():
    variables = {
        "WEB_CONCURRENCY": "3", "SECRET": CANARY, "UVICORN_WORKERS": "2", "UVICORN_SSL_KEYFILE_PASSWORD": CANARY,
        "GUNICORN_CMD_ARGS": f"--threads 2 --env A={CANARY}", "PORT": f"redis://u:{CANARY}@h",
    }  # fmt: skip
    assert observe.harmless(variables) == {
        "WEB_CONCURRENCY": "3", "UVICORN_WORKERS": "2", "GUNICORN_CMD_ARGS": "--threads 2 --env '***'",
        "PORT": "***",
    }  # fmt: skip


def test_the_tables_are_those_of_the_catalogue_without_what_may_be_secret():
    hidden = {Concern.VARIABLES, Concern.LOGS, Concern.PROCESS}
    for name, shown in observe.VALUES.items():
        native = catalogue().specs[name].native
        assert not {each for each in shown if native.row(each).concern in hidden or "password" in each}
        assert not {*shown} & {*observe.SWITCHES[name]}
    assert {"gunicorn", "uvicorn", "granian", "uwsgi", "waitress"} <= observe.VALUES.keys()
    assert (observe.PROGRAMS["fastapi"], observe.PROGRAMS["pyuwsgi"]) == ("uvicorn", "uwsgi")
