"""What an export consists of: golden files, and what all of them must agree on."""

import configparser
import os
import re
import shlex
import subprocess
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stackrace.features.export.packages import Asked
from stackrace.features.export.systemd_units import quoted, read_unit, words_of

from .exports import DJANGO, PROJECT, TARGET, files_of

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
    "bjoern",
    "h2o/http/gunicorn",
    "varnish/http/gunicorn",
    "nginx/http/gunicorn:socket=tcp",
    "haproxy/http/nginx/http/gunicorn:socket=tcp",
)


@pytest.fixture(scope="module", params=MANY)
def files(request):
    """The files of one stack after the other."""
    return files_of(request.param)


def services(files):
    return {name: read_unit(text) for name, text in files.items() if name.endswith(".service")}


@pytest.mark.parametrize("name", STACKS)
def test_all_files_are_as_in_the_golden_file(name):
    files = files_of(STACKS[name]) | {"EVIDENCE.md": "# Why\n"}
    text = "".join(f"=== {path}\n{files[path]}" for path in sorted(files) if not path.endswith(".py"))
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("STACKRACE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8"), "set STACKRACE_UPDATE_GOLDEN=1 if it is right"


def test_units_procfile_and_compose_start_the_same_commands(files):
    units = {words_of(unit["ExecStart"][0]) for unit in services(files).values()}
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


def test_no_file_has_a_value_of_a_variable_or_a_folder_of_the_machine_that_exported(files):
    assert not [
        name for name, text in files.items() if "hunter2" in text or str(PROJECT) in text or "/tmp/" in text
    ]
    assert "SECRET_KEY=\n" in files[".env.example"]


def test_every_unit_is_one_and_has_what_production_wants(files):
    for name, unit in services(files).items():
        parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
        parser.read_string(re.sub(r"\\\n\s*", "", files[name]))
        assert parser.sections() == ["Unit", "Service", "Install"]
        said = {key: values[-1] for key, values in unit.items()}
        assert said.items() >= {"User": "shop", "Restart": "always", "NoNewPrivileges": "yes"}.items()
        assert said["After"].startswith("network-online.target")
        assert int(said["TimeoutStopSec"]) > 30
        assert said["KillSignal"].startswith("SIG")
        assert said["ExecStart"].startswith("/")


def test_the_dockerfile_starts_a_program_by_its_path_and_not_as_root(files):
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", files["Dockerfile"], re.MULTILINE)
    assert re.search(r'^CMD \["/', files["Dockerfile"], re.MULTILINE)


def test_the_memory_of_the_race_is_the_slices():
    files = files_of("gunicorn", memory_bytes=512 * 2**20)
    assert read_unit(files["systemd/shop.slice"])["MemoryMax"] == [str(512 * 2**20)]
    assert "MemoryMax" not in read_unit(files_of("gunicorn")["systemd/shop.slice"])


def test_a_port_of_roots_gets_the_one_capability_it_needs():

    files = files_of("nginx/http/gunicorn", target=replace(TARGET, port=80))
    units = services(files)
    assert units["systemd/shop-nginx.service"]["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert "AmbientCapabilities" not in units["systemd/shop-gunicorn.service"]


def test_containers_have_an_init_and_no_service_waits_for_one_that_needs_it_started(files):
    composed = yaml.safe_load(files["compose.yaml"])["services"]
    # the first process of a container ignores signals that it does not handle
    assert all(service["init"] is True for service in composed.values())
    needs = {name: {*service.get("depends_on", ()), *_network_of(service)} for name, service in composed.items()}
    TopologicalSorter(needs).prepare()


def _network_of(service):
    mode = service.get("network_mode", "")
    return [mode.removeprefix("service:")] if mode else []


def test_gunicorn_appends_to_no_log_that_is_a_link_to_the_output_of_a_container(tmp_path):
    text = files_of("gunicorn")["gunicorn/gunicorn.conf.py"]
    log = tmp_path / "error.log"
    text = text.replace("/var/log/shop/gunicorn/error.log", str(log))

    def read():
        config = {}
        exec(text, config)
        return config["errorlog"], config["capture_output"]

    assert read() == (str(log), True)
    log.symlink_to("/dev/stderr")
    assert read() == ("-", False)


NGINX = """
upstream shop { server 10.0.0.1:8000; }
server {
    listen 443 ssl;
    server_name shop.example;
    include snippets/headers.conf;
    location /static/ { alias /code/staticfiles/; }
    location /media/ { alias /code/media/; }
    location / { proxy_pass http://shop; proxy_set_header X-Forwarded-Proto $scheme; }
}
"""


def test_a_file_of_the_users_lies_writes_and_believes_as_the_deployment_says(tmp_path):
    for folder in ("deploy/snippets", "media", "staticfiles"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "deploy/shop.conf").write_text(NGINX)
    (tmp_path / "deploy/snippets/headers.conf").write_text("add_header X-Included yes;")
    files = files_of("nginx:config=deploy/shop.conf/http/gunicorn", project=tmp_path)
    text = files["nginx/nginx.conf"]
    for part in (
        "pid /run/shop/nginx/nginx.pid;",
        "error_log /var/log/shop/nginx/error.log warn;",
        "access_log /var/log/shop/nginx/access.log",
        "client_body_temp_path /var/cache/shop/nginx/client_body;",
        "add_header X-Included yes;",
        "alias /srv/shop/app/media/;",
        "geo $is_proxy",
        "map $is_proxy:$http_x_forwarded_proto $client_scheme",
        "default $scheme;",
    ):
        assert part in text, part
    assert str(tmp_path) not in text
    unit = services(files)["systemd/shop-nginx.service"]
    assert unit["LogsDirectory"] == unit["CacheDirectory"] == ["shop/nginx"]
    assert "goes on as your file for it says" in files["README.md"]
    assert "limits bodies and the time of an answer as your file does" in files["EVIDENCE.md"]


def test_a_value_with_a_dollar_is_read_back_from_environment_as_it_is():
    line = quoted("HOME=$HOME/a b", dollar="$")
    assert line == '"HOME=$HOME/a b"'
    assert words_of(line, dollar="$") == ("HOME=$HOME/a b",)


def test_requirements_with_hashes_are_installed_by_a_command_of_their_own():
    files = files_of("gunicorn", packages={"asked": Asked(file="requirements.txt", is_hashed=True)})
    for text in (files["README.md"].partition("## Deploy the next")[0], files["Dockerfile"]):
        installs = [line for line in text.splitlines() if "pip install" in line]
        assert [("app/requirements.txt" in line, "constraints" in line) for line in installs] == [
            (True, False),
            (False, True),
        ]


def test_uwsgi_keeps_its_words_on_the_output_where_its_log_is_a_link():
    text = files_of("uwsgi:access_log=on")["uwsgi/uwsgi.ini"]
    for option, log in (("logger", "error.log"), ("req-logger", "access.log")):
        assert f"if-file = /var/log/shop/uwsgi/{log}\n{option} = file:/var/log/shop/uwsgi/{log}\nendif" in text
        assert text.count(f"\n{option} = ") == 2


def test_a_network_of_proxies_is_believed_by_the_app_that_meets_clients():
    files = files_of("uvicorn", target=replace(TARGET, proxies=("10.1.0.0/16",)))
    guard = files["entry/deployed_asgi.py"].rpartition("\nfrom functools")[2]
    scope = {"application": None}
    exec("from functools" + guard, scope)
    assert scope["is_proxy"]("10.1.2.3")
    assert not any(map(scope["is_proxy"], ("10.2.0.1", "", "::1")))


def test_the_readme_names_only_files_and_units_that_are_there(files):
    there = {f"/srv/shop/deploy/{name}" for name in files}
    named = re.findall(r"/srv/shop/deploy/[\w./-]*[\w-]", files["README.md"])
    assert {name for name in named if "." in name.rpartition("/")[2]} <= there
    units = {name.rpartition("/")[2] for name in files if name.startswith("systemd/")}
    assert set(re.findall(r"shop[\w-]*\.(?:service|target)", files["README.md"])) <= units


def test_a_reload_is_offered_where_the_unit_has_one(files):
    units = services(files)
    for line in re.findall(r"systemctl reload ([\w. -]+)", files["README.md"]):
        assert all("ExecReload" in units[f"systemd/{unit}"] for unit in line.split())
    for unit in units.values():
        if "ExecReload" in unit:
            assert re.search(r"\$MAINPID$|^\+/usr/bin/touch /srv/shop/deploy/entry/", unit["ExecReload"][-1])


FRONT, README = "nginx/http/gunicorn", "README.md"
LOCKED = Asked(lock="uv.lock", locked="Django==5.2.1\n")
OUTSIDE = {"/media/": Path("/var/media")}


@pytest.mark.parametrize(
    ("path", "how", "file", "said"),
    [
        (FRONT, {"static": OUTSIDE}, "nginx/nginx.conf", "/srv/shop/static1/"),
        (
            FRONT,
            {"static": OUTSIDE},
            README,
            "`/var/media` lies outside of the project; copy it to `/srv/shop/static1`",
        ),
        ("gunicorn", {"packages": {"python": "3.13.1"}}, README, "uv python install 3.13"),
        ("gunicorn", {"packages": {"app": {"psycopg2": "2.9"}}}, "Dockerfile", "gcc libc6-dev libpq-dev"),
        ("gunicorn", {"packages": {"app": {"psycopg2": "2.9"}}}, README, "gcc libc6-dev libpq-dev"),
        ("gunicorn", {"packages": {"app": {"psycopg2": "2.9"}}}, README, "psycopg2 must be compiled"),
        ("gunicorn", {"packages": {"asked": LOCKED}}, "requirements-app.txt", "as pip reads it.\nDjango==5.2.1\n"),
        ("h2o/http/gunicorn", {}, README, "H2O cannot tell that proxy"),
        ("lighttpd/http/gunicorn", {}, README, "appends who connected: let the app count from its end"),
        ("gunicorn:preload=on", {}, README, "systemctl restart shop-gunicorn.service"),
        ("gunicorn:preload=on", {}, README, "a reload would keep the old version"),
        ("gunicorn", {"django": replace(DJANGO, sends_static=True)}, README, "The app sends `/static/` itself, by"),
        ("gunicorn", {"django": replace(DJANGO, collected=None)}, README, "the settings name no STATIC_ROOT"),
        ("gunicorn", {"django": replace(DJANGO, static_url="https://cdn.example/")}, README, "another host's"),
        ("haproxy/http/gunicorn", {}, README, "`stackrace export nginx/http/gunicorn --to DIR`"),
    ],
)
def test_a_file_says_what_the_app_and_the_stack_need(path, how, file, said):
    assert said in files_of(path, **how)[file]


def test_what_stands_behind_a_front_guards_nothing_and_debians_own_python_is_taken():
    files = files_of(FRONT)
    assert "PROXIES" not in files["entry/deployed_wsgi.py"]
    assert "uv python" not in files[README]


@pytest.mark.parametrize("base", ["/home/ann/shop", "/usr/local/shop"])
def test_an_app_where_systemd_forbids_to_write_may_write_to_its_own_folder(base):
    for unit in services(files_of("gunicorn", target=replace(TARGET, base=Path(base)))).values():
        assert f"{base}/app" in unit["ReadWritePaths"]
    for unit in services(files_of("gunicorn")).values():
        assert "ReadWritePaths" not in unit


@pytest.mark.parametrize("path", MANY)
@pytest.mark.parametrize("how", [{}, {"manage": "-m django", "django": replace(DJANGO, collected=None)}])
def test_the_shell_understands_every_block_of_the_readme(path, how):
    text = files_of(path, **how)["README.md"]
    blocks = re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        read = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
        assert read.returncode == 0, read.stderr


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1), min_size=1, max_size=5))
def test_whatever_a_command_says_is_read_back(words):
    assert words_of(" ".join(map(quoted, words))) == tuple(words)


def test_signs_that_systemd_would_replace_are_doubled():
    assert quoted("100%") == '"100%%"'
    assert quoted("$HOME") == '"$$HOME"'
