"""What the servers make of options and files in their own language."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from stackrace.stacks.native_files import GivenOption, NativeFile
from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.gunicorn.options import OPTIONS
from stackrace.stacks.servers.site import Production
from stackrace.stacks.setting import Protocol

OPTION = GivenOption(name="some-option", value="/a b")
SWITCH = GivenOption(name="some-switch", value=None)
COMMANDS = ("daphne", "granian", "gunicorn", "hypercorn", "uvicorn", "waitress")


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_in_the_command_as_they_are_given(name, make_site):
    site = replace(make_site(name), options=(OPTION, SWITCH))
    command = catalogue().server(name).recipe(site).command
    assert "--some-option=/a b" in command
    assert "--some-switch" in command


def test_no_file_of_the_project_configures_gunicorn_unasked(make_site):
    recipe = catalogue().server("gunicorn").recipe(make_site("gunicorn"))
    assert recipe.command[3:5] == ("--config", "/srv/site/gunicorn.conf.py")
    assert "exec" not in recipe.files["gunicorn.conf.py"]


def own_file(name, text, folder=Path("/srv/project")):
    native = catalogue().specs[name.split(".")[0]].native
    return NativeFile(path=folder / name, text=text, reading=native.read(text, folder / name, folder))


def test_a_file_of_gunicorns_runs_as_it_is_but_for_what_is_decided(make_site, tmp_path):
    text = "import os\nbind = ':80'\nuser = 'root'\npidfile = 'x'\nthreads = 3\nhere = os.path.dirname(__file__)\n"
    site = replace(
        make_site("gunicorn", directory=tmp_path, **{"class": "gthread"}), file=own_file("gunicorn.conf.py", text)
    )
    recipe = catalogue().server("gunicorn").recipe(site)
    assert not {"--workers", "--threads", "--keep-alive", "--worker-class", "--backlog"} & set(recipe.command)
    for name, content in recipe.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    values = runpy.run_path(str(tmp_path / "gunicorn.conf.py"))
    assert not set(OPTIONS.decided_keys) & set(values)
    assert (values["threads"], values["here"]) == (3, "/srv/project")
    assert values["worker_tmp_dir"] == f"{tmp_path}/tmp"


def test_what_the_path_says_wins_over_the_file(make_site):
    site = make_site("gunicorn", workers=7)
    site = replace(site, file=own_file("gunicorn.conf.py", "workers = 3"), chosen=frozenset({"workers"}))
    command = catalogue().server("gunicorn").recipe(site).command
    assert command[command.index("--workers") + 1] == "7"


UWSGI = """[uwsgi]
; ours
http-socket = :80
processes = 4
uid = root
env = FOLDER=%d
[other]
x = 1
"""


def test_a_file_of_uwsgis_renders_as_in_the_golden_file(make_site, next_hop, assert_golden):
    site = make_site("uwsgi", listen=next_hop(Protocol.UWSGI)[0], threads=2)
    site = replace(site, file=own_file("uwsgi.ini", UWSGI), chosen=frozenset({"threads"}), options=(OPTION, SWITCH))
    assert_golden("uwsgi-own.ini", catalogue().server("uwsgi").recipe(site).files["uwsgi.ini"])


GETS = {
    "gunicorn.conf.py": (
        "umask = 0o27\nraw_env = ['A=1']\nchdir = '/srv/shop'\n",
        lambda config: '"umask"' not in config,
    ),
    "uwsgi.ini": (
        "[uwsgi]\numask = 027\nenv = A=1\nchdir = /srv/shop\n",
        lambda config: "\numask = 027\n" in config,
    ),
}


@pytest.mark.parametrize("name", GETS)
def test_what_the_app_gets_by_a_file_is_in_force_in_production_only(name, make_site, tmp_path):
    text, has_umask = GETS[name]
    server = name.split(".")[0]
    race = replace(make_site(server, directory=tmp_path), file=own_file(name, text))
    production = replace(race, production=Production(run=tmp_path, logs=tmp_path, temporary=tmp_path))
    for site, keeps in ((race, False), (production, True)):
        assert has_umask(catalogue().server(server).recipe(site).files[name]) is keeps
        assert len(site.decided_changes) == (1 if keeps else 3)
    assert production.decided_changes[0].key == "chdir"


DIRECTIVES = (
    GivenOption(name="client_max_body_size", value="10m"),
    GivenOption(name="multi_accept", value="on"),
    GivenOption(name="pcre_jit", value="on"),
    GivenOption(name="reset_timedout_connection", value=None),
)


def test_nginx_has_directives_where_they_belong_and_none_twice(tmp_path, make_site, next_hop, assert_checks):
    site = make_site("nginx", directory=tmp_path / "folder", upstream=next_hop("http"))
    site = replace(site, options=DIRECTIVES)
    recipe = catalogue().server("nginx").recipe(site)
    config = recipe.files["nginx.conf"]
    assert config.startswith("pcre_jit on;")
    assert "events {\n    multi_accept on;" in config
    assert "client_max_body_size 10m;" in config and "client_max_body_size 0;" not in config
    assert_checks(site, recipe)


def test_waitress_takes_options_of_its_command_line():
    launcher = runpy.run_path(str(Path(catalogue().server("waitress").folders[0]) / "launcher.py"))
    arguments = dict(map(launcher["_argument"], ["--ident=x", "--no-expose-tracebacks", "--log-socket-errors"]))
    assert arguments == {"ident": "x", "expose_tracebacks": "false", "log_socket_errors": "true"}
