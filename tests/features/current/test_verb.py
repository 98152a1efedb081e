"""``stackrace current`` shows what a project runs today, and races nothing."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from stackrace.base.errors import InputError
from stackrace.features.current import deployment
from stackrace.features.current.current_report import LISTED
from stackrace.features.current.verb import command

from .setups import write

CONF = "bind = '0.0.0.0:8000'\nworkers = 3\ntimeout = 40\nraw_env = ['FAST=1']\n"
SITE = "upstream app { server 127.0.0.1:8000; }\nserver { listen 80; location / { proxy_pass http://app; } }\n"
OTHER = "[uwsgi]\nprocesses = 2\nmodule = a:b\n"


def current(folder, *words):
    return CliRunner().invoke(command, ["--project", str(folder), *map(str, words)])


def facts(found, server):
    (hop,) = (hop for hop in found["hops"] if hop["server"] == server)
    return {fact["what"]: (fact["value"], fact["location"]) for fact in hop["facts"]}


def test_every_fact_has_its_place(tmp_path):
    write(tmp_path, {
        "Procfile": "web: gunicorn -c gunicorn.conf.py -w 2 app:app\n",
        "gunicorn.conf.py": CONF,
        "requirements.txt": "Gunicorn==23.0.0\n",
    })  # fmt: skip
    found = json.loads(current(tmp_path, "--json").stdout)
    assert found["schema"] == "current-1"
    assert facts(found, "gunicorn") == {
        "version": ("23.0.0", LISTED),
        "workers": ("2", "Procfile:1"),
        "class": ("sync", "default"),
        "timeout": ("40", "gunicorn.conf.py:3"),
        "max_requests": ("0", "default"),
        "address": ("0.0.0.0:8000", "gunicorn.conf.py:1"),
    }


def test_a_server_for_development_is_named_if_there_is_no_other(tmp_path):
    write(tmp_path, {"Procfile": "web: uvicorn a:b --reload\n"})
    done = current(tmp_path)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "Procfile:1 starts Uvicorn for development (--reload)."


def test_a_value_that_no_file_says_is_a_default_and_an_address_is_that_of_its_server(tmp_path):
    write(tmp_path, {
        "compose.prod.yml": "services: {w: {command: 'gunicorn -b 0.0.0.0:8000 a:b'}, n: {build: ./nginx}}",
        "nginx/site.conf": "upstream shop { server w:8000; }\n"
        "server {\n  listen 8080;\n  location / { proxy_pass http://shop; }\n}\n",
    })  # fmt: skip
    found = json.loads(current(tmp_path, "--json").stdout)
    app, front = facts(found, "gunicorn"), facts(found, "nginx")
    assert (app["workers"], app["class"]) == (("1", "default"), ("sync", "default"))
    assert app["address"] == ("0.0.0.0:8000", "compose.prod.yml:1")
    assert front["address"] == ("8080", "nginx/site.conf:3")
    assert "socket" not in app


def test_commands_have_paths_from_the_current_folder(tmp_path, monkeypatch):
    compose = "services:\n  web:\n    image: x\n    command: gunicorn app:app\n    env_file: my.env\n"
    write(tmp_path, {
        ".git/HEAD": "",
        "compose.prod.yml": compose,
        "compose.yml": compose,
        "my.env": "A=1\n",
        "shop/app.py": "app = 1\n",
    })  # fmt: skip
    for folder, project, up in (
        ("shop", "", "../"),
        (".", "shop", ""),
        ("shop", str(tmp_path / "shop"), f"{tmp_path}/"),
    ):
        monkeypatch.chdir(tmp_path / folder)
        shown = current(project).stdout if project else CliRunner().invoke(command, []).stdout
        where = f"--project {project} " if project else ""
        assert f"Race it: stackrace run {where}--current {up}compose.prod.yml\n" in shown
        assert f"--env-file {up}my.env gives" in shown
        assert f"were found in {up}compose.yml:4 (--current {up}compose.yml)" in shown


def test_a_size_that_only_running_would_tell_is_unknown(tmp_path):
    write(tmp_path, {"Procfile": "web: gunicorn --workers $(cat workers) app:app\n"})
    found = json.loads(current(tmp_path, "--json").stdout)
    assert facts(found, "gunicorn")["workers"] == ("unknown", "Procfile:1")
    assert facts(found, "gunicorn")["class"] == ("sync", "default")


def test_a_size_that_the_servers_file_computes_is_shown(tmp_path):
    write(tmp_path, {"Procfile": "web: gunicorn app:app\n", "gunicorn.conf.py": "workers = 1 + 2\n"})
    found = json.loads(current(tmp_path, "--json").stdout)
    assert facts(found, "gunicorn")["workers"] == ("3", "gunicorn.conf.py:1")


def test_a_size_that_a_file_computes_with_what_is_not_here_is_unknown(tmp_path):
    conf = "import not_there\nworkers = not_there.cores() * 2\n"
    write(tmp_path, {"Procfile": "web: gunicorn app:app\n", "gunicorn.conf.py": conf})
    found = json.loads(current(tmp_path, "--json").stdout)
    assert facts(found, "gunicorn")["workers"] == ("unknown", "gunicorn.conf.py:2")


def test_no_other_package_s_version_stands_for_the_servers(tmp_path):
    files = {
        "Procfile": "web: gunicorn -k uvicorn.workers.UvicornWorker a:b\n",
        "requirements.txt": "uvicorn==0.27.1\n",
    }
    write(tmp_path, files)
    assert "version" not in facts(json.loads(current(tmp_path, "--json").stdout), "gunicorn")


def test_a_version_ends_where_its_hashes_begin(tmp_path):
    write(
        tmp_path,
        {"Procfile": "web: gunicorn a:b\n", "requirements.txt": "gunicorn==26.0.0 \\\n    --hash=sha256:1\n"},
    )
    found = facts(json.loads(current(tmp_path, "--json").stdout), "gunicorn")
    assert found["version"][0] == "26.0.0"


def test_a_mistake_is_named_once(tmp_path):
    other = "services: {{web: {{image: shop, command: gunicorn -w 8 app:app}}}}\n"
    files = {"Procfile": "web: gunicorn -w 2 app:app\n", "Dockerfile": "FROM python\nCMD gunicorn -w 8 app:app\n"}
    write(tmp_path, {**files, "compose.yml": other.format(), "compose.prod.yml": other.format()})
    mistakes = [line for line in current(tmp_path).stdout.splitlines() if line.startswith("Mistake")]
    assert len(mistakes) == len(set(mistakes))


def test_people_are_told_how_to_race_it_and_what_it_goes_without(tmp_path):
    write(tmp_path, {"Procfile": "web: gunicorn -w 4 app:app\n", "uwsgi.ini": OTHER})
    done = current(tmp_path)
    assert done.exit_code == 0
    assert done.stdout.startswith("Procfile:1 runs gunicorn:workers=4")
    assert f"stackrace run --project {tmp_path} --current {tmp_path}/Procfile" in " ".join(done.stdout.split())
    assert f"Other deployments were found in {tmp_path}/uwsgi.ini:1" in done.stdout


SURROUNDINGS = {
    "a file of uWSGI": (
        {"uwsgi.ini": "[uwsgi]\nmodule = a:b\numask = 027\nchdir = /srv/shop\npythonpath = lib\n"},
        "uwsgi.ini:3 umask 027 (umask); uwsgi.ini:4 chdir /srv/shop (folder); uwsgi.ini:5 pythonpath lib (folder).",
    ),
    "a command": ({"Procfile": "web: uvicorn --app-dir src a:b\n"}, "Procfile:1 --app-dir src (folder)."),
    "a unit": (
        {"a.service": "[Service]\nWorkingDirectory=/srv/shop\nUMask=0007\nExecStart=gunicorn --umask 7 a:b\n"},
        "--umask 7 (umask); a.service:2 WorkingDirectory /srv/shop (folder); a.service:3 UMask 0007 (umask).",
    ),
    "supervisor": (
        {"supervisord.conf": "[program:a]\ncommand=gunicorn a:b\ndirectory=/srv/shop\numask=027\n"},
        "supervisord.conf:3 directory /srv/shop (folder); supervisord.conf:4 umask 027 (umask).",
    ),
    "a service of compose": (
        {"compose.yml": "services:\n  w:\n    command: gunicorn a:b\n    working_dir: /srv/shop\n"},
        "compose.yml:4 working_dir /srv/shop (folder).",
    ),
}


@pytest.mark.parametrize("case", SURROUNDINGS)
def test_umask_folder_and_python_path_are_named_with_the_way_to_give_them_to_all(case, tmp_path):
    files, says = SURROUNDINGS[case]
    write(tmp_path, files)
    lines = " ".join(current(tmp_path).stdout.split())
    assert says in lines
    assert "among these. Every stack gets the same: the folder of --project, and PYTHONPATH of [app] env" in lines
    assert ("the umask of the shell that starts Stackrace" in lines) is ("umask" in says)


def test_variables_that_no_stack_of_a_race_has_are_named_by_name_alone(tmp_path):
    write(tmp_path, {
        "compose.yml": "w: {command: gunicorn -w 4 a:b, environment: {FAST: canary}, env_file: prod.env}\n",
        "prod.env": "KEY=canary\n",
    })  # fmt: skip
    done = current(tmp_path)
    said = " ".join(done.stdout.split())
    way = f"only if the app itself reads them from a file; --env-file {tmp_path}/prod.env gives them to all."
    assert f"Its files set KEY, FAST for the app. A stack has them {way}" in said
    assert "canary" not in done.stdout + current(tmp_path, "--json").stdout


def test_a_front_end_is_a_server_of_its_own(tmp_path):
    write(tmp_path, {
        "compose.yml": "w: {command: gunicorn -w 4 -b 127.0.0.1:8000 a:b}\n",
        "deploy/nginx/site.conf": SITE,
    })  # fmt: skip
    found = json.loads(current(tmp_path, "--json").stdout)
    assert [hop["server"] for hop in found["hops"]] == ["nginx", "gunicorn"]


def test_one_file_can_be_named(tmp_path):
    write(tmp_path, {"Procfile": "web: gunicorn -w 4 app:app\n", "other.ini": OTHER})
    assert current(tmp_path, tmp_path / "other.ini").stdout.startswith("other.ini:1 runs uwsgi:")
    (tmp_path / "nothing.yml").write_text("a: b\n")
    assert isinstance(current(tmp_path, tmp_path / "nothing.yml").exception, InputError)


def test_a_setting_that_only_a_file_can_say_has_its_place(tmp_path):
    write(tmp_path, {"uwsgi.ini": "[uwsgi]\nprocess = 4\nhttp = :8000\nmodule = a:b\n"})
    done = current(tmp_path, tmp_path / "uwsgi.ini")
    assert done.exit_code == 0, done.exception
    assert "processes" in done.stdout and "process" in done.stdout.partition("Mistake: ")[2]


def test_where_there_is_nothing_that_is_said(tmp_path):
    done = current(tmp_path)
    assert done.exit_code == 1
    assert "name one: stackrace current FILE" in done.stdout
    assert f"stackrace current --project {tmp_path} --running :PORT" in " ".join(done.stdout.split())
    nothing = {"schema": "current-1", "deployment": None, "hops": [], "for_development": []}
    assert json.loads(current(tmp_path, "--json").stdout) == nothing


def test_the_reason_that_there_is_no_deployment_is_in_text_and_json_and_files_are_read_once(tmp_path, monkeypatch):
    write(tmp_path, {"Procfile": "web: flask run\n"})
    reason = "Procfile:1 starts a server for development (flask run)"
    assert f"{reason}." in current(tmp_path).stdout
    folders, read = [], deployment.deployment_commands
    monkeypatch.setattr(
        deployment, "deployment_commands", lambda folder, **how: (folders.append(folder), read(folder, **how))[1]
    )
    assert json.loads(current(tmp_path, "--json").stdout)["for_development"] == [reason]
    assert len(folders) == len(set(folders))


@pytest.mark.parametrize("targets", ["migrate runserver", "run-dev"])
def test_targets_for_development_are_no_present_deployment(tmp_path, targets):
    write(tmp_path, {"compose.yml": "services:\n  web:\n    build: .\n    command: make prepare\n"})
    assert "Stackrace does not read what make prepare starts" in current(tmp_path).stdout
    write(tmp_path, {"compose.yml": f"services:\n  web:\n    build: .\n    command: make {targets}\n"})
    assert "No file of this project starts a server for production" in current(tmp_path).stdout


@pytest.mark.parametrize("words", ["sanic app.app", "twistd -n web"])
def test_what_cannot_be_raced_is_shown_with_the_reason(tmp_path, words):
    write(tmp_path, {"Procfile": f"web: {words}\n"})
    done = current(tmp_path)
    assert done.exit_code == 0
    assert "runs what cannot be raced" in done.stdout and "own server" in done.stdout
    assert f"stackrace current --project {tmp_path} --running :PORT" in " ".join(done.stdout.split())
    assert "stackrace run" not in done.stdout
