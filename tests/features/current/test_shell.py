"""The real shell is asked what lines and scripts start: nothing of the project's runs, and nothing is changed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests import no_namespaces

from stackrace.app import project_files
from stackrace.app.project_files import ProjectFiles
from stackrace.app.projects import shell
from stackrace.app.projects.place import Place

from .setups import SPECS, current_deployment, read, write


def image(script, **files):
    return {"Dockerfile": 'FROM x\nWORKDIR /app\nCOPY . .\nCMD ["/app/start.sh"]\n', "start.sh": script, **files}


SCRIPTS = {
    "a long line of plain words that ends in a list": (
        {"Procfile": f"web: sh -c 'echo {'plain-words/' * 9} && gunicorn -w 3 a:b'"},
        "gunicorn:workers=3"),
    "an entry point that is a line, with the words of the command": (
        image("#!/bin/sh\nexec \"$@\"\n")
        | {"Dockerfile": 'FROM x\nCOPY . /a/\nENTRYPOINT /a/start.sh $0 $@\nCMD ["gunicorn", "-w", "3", "a:b"]\n'},
        "gunicorn:workers=3"),
    "a condition that holds": (
        image('#!/bin/sh\nif [ "$ENV" = prod ]; then N=4; else N=2; fi\nexec gunicorn -w $N a:b\n')
        | {"Dockerfile": 'FROM x\nENV ENV=prod\nCOPY . /app/\nCMD ["/app/start.sh"]\n'},
        "gunicorn:workers=4"),
    "a file of the project": (
        image("#!/bin/sh\nexec gunicorn -w $(cat workers) a:b\n", workers="7\n"),
        "gunicorn:workers=7"),
    "a file that an image has where it works": (
        {
            "Dockerfile": 'FROM x\nWORKDIR /data\nCOPY docker/go.sh /data/\nCOPY workers .\nCMD ["/data/go.sh"]\n',
            "docker/go.sh": "#!/bin/sh\nexec gunicorn -w $(cat workers) a:b\n",
            "workers": "7\n",
        },
        "gunicorn:workers=7"),
    "a file that is sourced": (
        image("#!/bin/bash\nset -euo pipefail\nsource ./run.env\nexec gunicorn -w $N a:b", **{"run.env": "N=6\n"}),
        "gunicorn:workers=6"),
    "a variable that names the server": (
        image("#!/bin/sh\ncat /app/run.env\nexec $SERVER a:b\n", **{"run.env": "SERVER=none\n"})
        | {"Dockerfile": 'FROM x\nENV SERVER="gunicorn -w 6"\nCOPY . /app/\nCMD ["/app/start.sh"]\n'},
        "gunicorn:workers=6"),
    "a line that waits for a service by bash's own means": (
        {"Procfile": "web: bash -c 'while ! </dev/tcp/db/5432; do sleep 1; done; gunicorn -w 3 a:b'"},
        "gunicorn:workers=3"),
    "a script that waits for a service by bash's own means": (
        image('#!/bin/bash\nuntil (echo > "/dev/tcp/$DB/5432"); do sleep 1; done\nexec gunicorn -w 3 a:b\n'),
        "gunicorn:workers=3"),
    "a sourced file that alone names the server": (
        image("#!/bin/sh\n. ./run.env\nexec $SERVER a:b\n", **{"run.env": 'SERVER="gunicorn -w 6"\n'}),
        "gunicorn:workers=6"),
    "a file of variables that alone names the server": (
        image(
            "#!/bin/sh\nexport $(grep -v '^#' /app/run.env | xargs)\nexec $SERVER -w $N a:b\n",
            **{"run.env": "# x\nN=6\nSERVER=gunicorn\n"},
        ),
        "gunicorn:workers=6"),
    "a sourced file of functions": (
        image(
            "#!/bin/sh\n. \"$(dirname $0)/lib/common\"\nserve a:b\n",
            **{"lib/common": "serve() { gunicorn -w 6 $1; }\n"},
        ),
        "gunicorn:workers=6"),
    "a loop over the scripts of a folder": (
        image(
            '#!/bin/sh\nfor each in /app/steps/*; do "$each"; done\n',
            **{"steps/1-wait": "#!/bin/sh\nsleep 9\n", "steps/2-serve.sh": "#!/bin/sh\ngunicorn -w 6 a:b\n"},
        ),
        "gunicorn:workers=6"),
    "a loop over the scripts that an image has in a folder": (
        {
            "Dockerfile": "FROM x\nENV STEPS=/etc/steps\nCOPY docker/serve docker/wait $STEPS/\n"
            'COPY docker/go.sh /go.sh\nCMD ["/go.sh"]\n',
            "docker/go.sh": '#!/bin/sh\nfor each in $(ls $STEPS); do . "$STEPS/$each"; done\n',
            "docker/serve": "#!/bin/sh\ngunicorn -w 6 a:b\n",
            "docker/wait": "#!/bin/sh\nsleep 9\n",
        },
        "gunicorn:workers=6"),
    "words that no file can be called": (
        image(
            f"#!/bin/sh\necho {'a+b/' * 99}{'x' * 300}/{'y' * 5000}\n"
            f"test -e /{'z' * 300} || exec gunicorn -w 3 a:b\n"
        )
        | {"Procfile": f"web: ./{'z' * 300}.sh"},
        "gunicorn:workers=3"),
    "a loop that waits": (
        image("#!/bin/sh\nwhile ! nc -z db 5432; do sleep 1; done\nexec gunicorn -w 3 a:b\n"),
        "gunicorn:workers=3"),
    "a function, a here-document and an array": (
        image(
            "#!/bin/bash\nserve() { exec gunicorn \"${args[@]}\" \"$1\"; }\nargs=(-w 3)\n"
            "cat > /etc/app.conf <<EOF\nx=1\nEOF\nserve a:b\n"
        ),
        "gunicorn:workers=3"),
    "a case over the command": (
        {
            "Dockerfile": 'COPY docker/entry.sh /entry.sh\nENTRYPOINT ["tini", "--", "/entry.sh"]\nCMD ["web"]\n',
            "docker/entry.sh": '#!/bin/sh\nset -e\ncase "$1" in\n  worker) exec celery -A a worker ;;\n'
            "  web) exec gunicorn -w 5 a:b ;;\n  *) exec \"$@\" ;;\nesac\n",
        },
        "gunicorn:workers=5"),
    "a command behind an entry point": (
        {
            "Dockerfile": 'COPY entry.sh /\nENTRYPOINT ["/entry.sh"]\nCMD ["gunicorn", "-w", "3", "a:b"]\n',
            "entry.sh": '#!/bin/sh\nset -e\n./manage.py migrate\npython /app/manage.py check\nexec "$@"\n',
            "manage.py": "#!/usr/bin/env python\n",
        },
        "gunicorn:workers=3"),
    "a script among the programs of an image, and one that it calls": (
        {
            "Dockerfile": 'FROM x\nWORKDIR /app\nCOPY docker/go /bin/stackrace-go\nCMD ["/bin/stackrace-go"]\n',
            "docker/go": "#!/bin/sh\nexec /usr/local/bin/stackrace-serve 3\n",
            "docker/stackrace-serve": "#!/bin/sh\nexec gunicorn -w $1 a:b\n",
        },
        "gunicorn:workers=3"),
    "another user": (
        image('#!/bin/sh\nif [ "$(id -u)" = 0 ]; then exec gosu app "$0" "$@"; fi\nexec gunicorn -w 3 a:b\n'),
        "gunicorn:workers=3"),
    "a script in a script in another folder": (
        image("#!/bin/sh\ncd backend && ./run.sh -w 4\n", **{"backend/run.sh": '#!/bin/sh\ngunicorn a:b "$@"\n'}),
        "gunicorn:workers=4"),
    "what waits for something else": (
        {"compose.yml": "services: {w: {command: ./wait-for-it.sh db:5432 -t 9 -- gunicorn -w 3 a:b}}"},
        "gunicorn:workers=3"),
    "an environment that a script activates": (
        image("#!/bin/bash\n. /opt/venv/bin/activate\nexec /opt/venv/bin/gunicorn -w 3 a:b\n"),
        "gunicorn:workers=3"),
    "a program in the project's own environment": (
        {
            "x.service": "[Service]\nWorkingDirectory=/srv/x\nExecStart=/srv/x/start.sh\n",
            "start.sh": "#!/bin/bash\ncd \"$(dirname \"${BASH_SOURCE[0]}\")\"\nsource .venv/bin/activate\n"
            "export $(grep -v '^#' .env | xargs)\nmapfile -t more < <(printf '%s\\n' --timeout 9)\n"
            'exec .venv/bin/gunicorn -w "$N" "${more[@]}" a:b 2>&1 | tee -a /var/log/x.log\n',
            ".env": "# x\nN=3\n",
            ".venv/bin/activate": "exit 9\n",
            ".venv/bin/gunicorn": "#!/usr/bin/python3\nopen('/tmp/stackrace-ran', 'w')\n",
        },
        "gunicorn:workers=3,timeout=9"),
    "supervisor's shell": (
        {
            "supervisord.conf": "[program:web]\n"
            "command=bash -c 'cd /srv/backend && exec gunicorn -w $(cat n) a:b'\n",
            "backend/n": "3\n",
        },
        "gunicorn:workers=3"),
    "what is started last": (
        image("#!/bin/sh\ngunicorn -w 9 --check-config a:b\nnginx &\ncelery -A a worker &\ngunicorn -w 3 a:b\n"),
        "gunicorn:workers=3"),
    "what is started for ever": (
        image("#!/bin/sh\nwhile true; do gunicorn -w 3 a:b; sleep 1; done\n"),
        "gunicorn:workers=3"),
    "what keeps a container up behind it": (
        image("#!/bin/sh\ngunicorn -w 3 a:b &\nexec tail -n 0 -F /var/log/gunicorn.log\n"),
        "gunicorn:workers=3"),
    "the bits of a script that a checkout lacks": (
        image("#!/usr/bin/env bash\r\nexec gunicorn -w 3 a:b\r\n"),
        "gunicorn:workers=3"),
}  # fmt: skip


@pytest.mark.parametrize("case", SCRIPTS)
def test_a_script_starts(tmp_path, case):
    files, expected = SCRIPTS[case]
    found = read(tmp_path, files)
    assert (found.stack, found.problem, found.gaps) == (expected, "", ())


@pytest.mark.parametrize("folder", ["/srv", "/usr/lib/shop", "/usr/share/shop", "/usr/local/bin"])
def test_a_project_is_found_wherever_its_image_has_it(tmp_path, folder):
    files = image("#!/bin/sh\n. ./run.env\nexec gunicorn -w $N a:b\n", **{"run.env": "N=6\n"})
    found = read(tmp_path, {**files, "Dockerfile": f'FROM x\nWORKDIR {folder}\nCOPY . .\nCMD ["./start.sh"]\n'})
    assert (found.stack, found.problem) == ("gunicorn:workers=6", "")


UNKNOWN = {
    "a program that does not run": (
        "N=$(python -c 'print(4)')\nexec gunicorn -w $N a:b",
        ["--workers $(python -c print(4))"],
    ),
    "a sum with it": ("exec gunicorn -w $((2 * $(./cores) + 1)) a:b", ["--workers $(($(cores)))"]),
    "a file that an image has": ("exec gunicorn -w $(cat /etc/workers) a:b", ["--workers $(cat /etc/workers)"]),
    "a variable that nobody sets": ("exec gunicorn -w $WORKERS a:b", ["--workers $WORKERS"]),
    "a condition on it": (
        "if [ $(./cores) -gt 8 ]; then exec gunicorn -w 9 --threads 2 a:b; fi\nexec gunicorn -w 2 a:b",
        ["gunicorn"],
    ),
    "a variable that nobody sets, where others are started in any order": (
        "if [ $N -gt 8 ]; then celery -A a worker; gunicorn -w $N a:b; exit; fi\n"
        "gunicorn -w $N a:b & wait; celery -A a worker",
        ["--workers $N"],
    ),
    "a variable that nobody sets, for ever": (
        "while true; do gunicorn -w $WORKERS a:b; sleep 1; done",
        ["--workers $WORKERS"],
    ),
    "a variable of the process": ("export WEB_CONCURRENCY=$(./cores)\nexec gunicorn a:b", ["WEB_CONCURRENCY"]),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_only_running_would_tell_is_named(tmp_path, case):
    script, expected = UNKNOWN[case]
    found = read(tmp_path, image(f"#!/bin/sh\n{script}\n"))
    assert found.stack
    assert [gap.what for gap in found.gaps] == expected


CODE = {
    "an argument that is computed": (
        "import uvicorn\nuvicorn.run('a:app', workers=4, reload=bool(flags.RELOAD))\n",
        "uvicorn:workers=4,keep_alive=5",
        [],
    ),
    "a name of its own": (
        "from uvicorn import run as serve\nserve('a:app', workers=N)\n",
        "uvicorn:workers=1,keep_alive=5",
        ["--workers $(N)"],
    ),
    "arguments in a table": (
        "import uvicorn\nuvicorn.run('a:app', **options)\n",
        "uvicorn:workers=1,keep_alive=5",
        ["--$(**options)"],
    ),
    "waitress": (
        "from waitress import serve\nserve(app, listen='*:80', threads=8)\n",
        "waitress:threads=8,connection_limit=100,keep_alive=120",
        [],
    ),
}


@pytest.mark.parametrize("case", CODE)
def test_a_server_that_code_starts_is_never_hidden(tmp_path, case):
    code, expected, gaps = CODE[case]
    found = read(tmp_path, image("#!/bin/sh\nexec python -u main.py\n", **{"main.py": code}))
    assert (found.stack, found.location) == (expected, "main.py:2")
    assert [gap.what for gap in found.gaps] == gaps


def test_a_variable_that_no_file_says_reaches_a_script_as_unknown(tmp_path):
    files = image("#!/bin/sh\nexec gunicorn -w ${WORKERS:-2} a:b\n")
    files["compose.yml"] = "services: {w: {build: ., environment: {WORKERS: '${WORKERS}'}}}"
    found = read(tmp_path, files)
    assert "--workers $WORKERS" in [gap.what for gap in found.gaps]


def test_a_server_that_cannot_be_raced_is_named_rather_than_another_file_taken(tmp_path):
    files = {"Procfile": "web: sanic a:app --workers=4\n", "Dockerfile": "CMD gunicorn -w 9 a:b\n"}
    found = read(tmp_path, files)
    assert (found.stack, found.location, found.others) == ("", "Procfile:1", ("Dockerfile:1",))
    assert "Sanic's own server" in found.problem


def test_a_port_that_a_platform_sets_says_nothing_of_workers(tmp_path):
    found = read(tmp_path, {"Procfile": "web: gunicorn -b 0.0.0.0:$PORT -w ${N:-3} a:b"})
    assert (found.stack, found.gaps) == ("gunicorn:workers=3", ())
    assert [(change.key, change.theirs) for change in found.changes] == [("--bind", "0.0.0.0:$PORT")]


HARMS = r"""#!/bin/bash
rm -rf /app/* {project}/* / 2>/dev/null
echo x > {project}/kept.txt; echo x > {outside}/kept.txt; echo x > /etc/stackrace-was-here
touch /app/new {project}/new
echo 1 > /proc/sys/kernel/panic
kill -9 $PPID 1 {pid}
rm -rf /app/linked/* /srv/linked/*; echo x > /srv/linked/kept.txt; echo x > /srv/kept.txt
(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo reached > /app/reached
{project}/tool.py; ./tool.py; /usr/bin/python3 -c 'open("{outside}/ran", "w")'
exec gunicorn -w 3 a:b
"""


def texts(*folders):
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_nothing_outside_can_be_reached_and_nothing_of_the_users_runs(tmp_path, request):
    import socket

    # the private root lies over /tmp
    outside = Path(tempfile.mkdtemp(dir="/var/tmp"))
    request.addfinalizer(lambda: shutil.rmtree(outside))
    write(outside, {"kept.txt": "mine\n"})
    project = tmp_path / "project"
    tool = f"#!{sys.executable}\nopen({str(outside / 'ran')!r}, 'w')\n"
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = HARMS.format(project=project, outside=outside, port=server.getsockname()[1], pid=os.getppid())
        files = image(script, **{"kept.txt": "mine\n", "tool.py": tool})
        files["Dockerfile"] += "COPY linked /srv/linked\nCOPY linked.txt /srv/kept.txt\n"
        write(project, files)
        (project / "linked").symlink_to(outside)
        (project / "linked.txt").symlink_to(outside / "kept.txt")
        (project / "tool.py").chmod(0o755)
        before = texts(tmp_path, outside)
        found = current_deployment(project, SPECS)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert found is not None
    assert found.stack == "gunicorn:workers=3"
    assert texts(tmp_path, outside) == before
    assert not Path("/etc/stackrace-was-here").exists()
    assert not [path for path in Path("/usr/bin").glob("stackrace-*") if path.is_symlink()]


def test_a_configuration_file_that_nobody_knows_leaves_the_size_open(tmp_path):
    files = {"Procfile": "web: gunicorn -c $GUNICORN_CONF a:b", "gunicorn.conf.py": "workers = 9\n"}
    found = read(tmp_path, files)
    assert found.is_partial
    assert [gap.what for gap in found.gaps] == ["--config $GUNICORN_CONF"]


def test_a_script_without_an_end_could_not_be_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(shell, "_LONGEST_S", 0.5)
    found = read(tmp_path, image("#!/bin/sh\nwhile :; do :; done\nexec gunicorn a:b\n"))
    assert (found.stack, found.location) == ("", "Dockerfile:4")
    assert "does not end within 0.5 s" in found.problem


def test_without_namespaces_no_shell_runs_and_plain_lines_are_still_read(tmp_path):
    files = image("#!/bin/sh\nexec gunicorn -w 3 a:b\n")
    program = (
        "import sys, pathlib\nfrom stackrace.features.current.deployment import read_project\n"
        "from stackrace.stacks.servers import catalogue\n"
        "print(read_project(pathlib.Path(sys.argv[1]), catalogue().specs).deployment)"
    )

    def told(folder):
        forbidden = [sys.executable, no_namespaces.__file__, sys.executable, "-c", program, str(folder)]
        return subprocess.run(forbidden, capture_output=True, text=True, check=True, timeout=1800).stdout

    assert "a shell cannot be asked here: Operation not permitted" in told(write(tmp_path / "a", files))
    line = {"Procfile": "web: exec gunicorn -b 0.0.0.0:$PORT -w ${N:-3} a:b"}
    assert "stack='gunicorn:workers=3'" in told(write(tmp_path / "b", line))


@pytest.mark.parametrize("words", ["-f /dev/null", "-n0 -F x.log", "--follow=name x.log", "-fn 5 x.log"])
def test_what_follows_a_file_for_ever_ends_at_once(tmp_path, words):
    write(tmp_path, {"start.sh": f"#!/bin/sh\ngunicorn a:b &\ntail {words} | cat\n"})
    place = Place(project=ProjectFiles(tmp_path), file=tmp_path / "start.sh")
    heard = shell.ask_shell(["./start.sh"], {}, place, bool)
    assert (heard.is_late, [call.words[1:] for call in heard.calls]) == (False, [("a:b",)])


def test_the_end_of_a_file_is_still_read(tmp_path):
    found = read(tmp_path, image("#!/bin/sh\nexec gunicorn -w $(tail -n 1 n-f) a:b\n", **{"n-f": "1\n3\n"}))
    assert found.stack == "gunicorn:workers=3"


def test_a_projects_folders_are_walked_no_oftener_for_more_commands(tmp_path, monkeypatch):
    walked = []
    walk = project_files.deployment_folders
    monkeypatch.setattr(project_files, "deployment_folders", lambda root: walked.append(root) or walk(root))

    def times(folder, count):
        lines = [f"w{number}: /opt/go.sh nowhere-{number}.sh -w {number}\n" for number in range(count)]
        files = {"go.sh": '#!/bin/sh\ngunicorn "$2" "$3" a:b\n', "Procfile": "".join(lines)}
        walked.clear()
        read(folder, files)
        return len(walked)

    assert times(tmp_path / "few", 1) == times(tmp_path / "many", 6)


def test_secrets_that_a_script_reads_are_not_told(tmp_path):
    script = "#!/bin/sh\n. ./live.env\nexport DATABASE_PASSWORD\n"
    script += "exec gunicorn --paste $DATABASE_PASSWORD -w $(./n) a:b\n"
    found = read(tmp_path, image(script, **{"live.env": "DATABASE_PASSWORD=correct-horse-battery\n"}))
    assert "horse" not in repr(found)


def test_a_script_that_names_nothing_that_serves_is_not_run(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(shell, "_answered", lambda *_: asked.append(1))
    files = {"Dockerfile": 'FROM x\nCOPY . /app\nCMD ["/app/wait.sh", "db"]\n'}
    waits = write(tmp_path, files | {"wait.sh": "#!/bin/sh\nwhile ! nc -z $1; do sleep 1; done\n"})
    write(tmp_path, {"serve.sh": "#!/bin/sh\nexec gunicorn a:b\n"})
    assert current_deployment(waits, SPECS) is None
    assert not asked
