"""What an export consists of: golden files, and what all of them must agree on."""

import configparser
import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from stackrace.deploy.unit_file import command_words, read_unit
from stackrace.export.files import exported_files

from .exports import PROJECT, TARGET, export_of

GOLDEN = Path(__file__).with_name("golden")
STACKS = {
    "nginx-gunicorn": "nginx/http/gunicorn",
    "apache-mod_wsgi": "apache+mod_wsgi",
    "nginx-cheroot": "nginx/http/cheroot:instances=2",
    "uvicorn": "uvicorn",
}
MANY = (
    *STACKS.values(),
    "uwsgi",
    "nginx/uwsgi/uwsgi",
    "granian",
    "waitress",
    "haproxy/http/gunicorn",
    "lighttpd/fastcgi/flup",
    "apache/ajp/flup",
    "apache+passenger",
    "caddy/http/hypercorn",
    "daphne",
)


def services(files):
    return {name: read_unit(text) for name, text in files.items() if name.endswith(".service")}


@pytest.mark.parametrize("name", STACKS)
def test_all_files_are_as_in_the_golden_file(name):
    files = exported_files(export_of(STACKS[name]), "# Why\n")
    text = "".join(f"=== {path}\n{files[path]}" for path in sorted(files) if not path.endswith(".py"))
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "set STACKRACE_UPDATE_GOLDEN=1 if it is right"


@pytest.mark.parametrize("path", MANY)
def test_units_procfile_and_compose_start_the_same_commands(path):
    files = exported_files(export_of(path), "")
    units = {command_words(unit["ExecStart"][0]) for unit in services(files).values()}
    procfile = {
        tuple(
            word
            for word in shlex.split(line.split(": ", 1)[1])
            if word != "env" and not word.startswith("PYTHONPATH=")
        )
        for line in files["Procfile"].splitlines()
    }
    composed = {
        tuple(word.replace("$$", "$") for word in service["command"])
        for service in yaml.safe_load(files["compose.yaml"])["services"].values()
    }
    assert composed == units
    assert {command[-1] for command in procfile} == {command[-1] for command in units}


@pytest.mark.parametrize("path", MANY)
def test_no_value_of_a_variable_is_in_any_file(path):
    files = exported_files(export_of(path), "")
    assert not [name for name, text in files.items() if "hunter2" in text]
    assert "SECRET_KEY=\n" in files[".env.example"]


@pytest.mark.parametrize("path", MANY)
def test_no_file_names_a_folder_of_the_machine_that_exported(path):
    files = exported_files(export_of(path), "")
    assert not [name for name, text in files.items() if str(PROJECT) in text or "/tmp/" in text]


@pytest.mark.parametrize("path", MANY)
def test_every_unit_has_what_production_wants(path):
    for unit in services(exported_files(export_of(path), "")).values():
        assert unit["User"] == ["shop"]
        assert unit["Restart"] == ["always"]
        assert unit["NoNewPrivileges"] == ["yes"]
        assert int(unit["TimeoutStopSec"][0]) > 30
        assert unit["KillSignal"][0].startswith("SIG")
        assert all(
            word.startswith("/") for word in (command_words(unit["ExecStart"][0])[0], unit["WorkingDirectory"][0])
        )


@pytest.mark.parametrize("path", MANY)
def test_units_are_ini_files_with_three_sections(path):
    for name, text in exported_files(export_of(path), "").items():
        if name.endswith(".service"):
            parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
            parser.optionxform = str
            parser.read_string(re.sub(r"\\\n\s*", "", text))
            assert parser.sections() == ["Unit", "Service", "Install"]


@pytest.mark.parametrize("path", MANY)
def test_the_dockerfile_starts_a_program_by_its_path_and_not_as_root(path):
    text = exported_files(export_of(path), "")["Dockerfile"]
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)
    command = next(line for line in lines if line.startswith("CMD "))
    assert json.loads(command.removeprefix("CMD "))[0].startswith("/")


def test_a_front_end_waits_for_what_it_forwards_to_and_only_the_front_is_asked_for_its_health():
    units = services(exported_files(export_of("nginx/http/gunicorn"), ""))
    nginx, gunicorn = units["systemd/shop-nginx.service"], units["systemd/shop-gunicorn.service"]
    assert "shop-gunicorn.service" in nginx["After"][0]
    assert "ExecStartPost" in nginx
    assert "ExecStartPost" not in gunicorn


def test_the_memory_of_the_race_is_the_slices():
    files = exported_files(export_of("gunicorn", memory_bytes=512 * 2**20), "")
    assert read_unit(files["systemd/shop.slice"])["MemoryMax"] == [str(512 * 2**20)]
    assert "MemoryMax" not in read_unit(exported_files(export_of("gunicorn"), "")["systemd/shop.slice"])


def test_a_port_of_roots_gets_the_one_capability_it_needs():

    files = exported_files(export_of("nginx/http/gunicorn", target=replace(TARGET, port=80)), "")
    units = services(files)
    assert units["systemd/shop-nginx.service"]["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert "AmbientCapabilities" not in units["systemd/shop-gunicorn.service"]


def test_static_files_outside_of_the_project_are_named_with_their_place():
    export = export_of("nginx/http/gunicorn", static={"/media/": Path("/var/media")})
    files = exported_files(export, "")
    assert "/srv/shop/static1/" in files["nginx/nginx.conf"]
    assert "`/var/media` lies outside of the project; copy it to `/srv/shop/static1`" in files["README.md"]


def test_whoever_meets_clients_believes_only_proxies():
    alone = exported_files(export_of("gunicorn"), "")
    behind = exported_files(export_of("nginx/http/gunicorn"), "")
    assert "frozenset(['127.0.0.1'])" in alone["entry/deployed_wsgi.py"]
    assert "PROXIES" not in behind["entry/deployed_wsgi.py"]
    assert "geo $is_proxy" in behind["nginx/nginx.conf"]
    assert "forwarded_allow_ips = '127.0.0.1'" in alone["gunicorn/gunicorn.conf.py"]


def test_constraints_hold_everything_but_tools():
    files = exported_files(export_of("gunicorn"), "")
    assert "Django==5.2.1\n" in files["constraints.txt"]
    assert "pip==" not in files["constraints.txt"]
    assert files["requirements.txt"].endswith("gunicorn==23.0.0\n")
