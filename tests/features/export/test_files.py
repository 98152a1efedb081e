"""What an export consists of: golden files, and what all of them must agree on."""

import configparser
import json
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
from stackrace.features.export.units import quoted, read_unit, words_of

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


def test_every_unit_has_what_production_wants(files):
    for unit in services(files).values():
        assert unit["User"] == ["shop"]
        assert unit["Restart"] == ["always"]
        assert unit["StartLimitIntervalSec"] == ["0"]
        assert "network-online.target" in unit["Wants"]
        assert unit["After"][0].startswith("network-online.target")
        assert unit["NoNewPrivileges"] == ["yes"]
        assert int(unit["TimeoutStopSec"][0]) > 30
        assert unit["KillSignal"][0].startswith("SIG")
        assert all(
            word.startswith("/") for word in (words_of(unit["ExecStart"][0])[0], unit["WorkingDirectory"][0])
        )


def test_units_are_ini_files_with_three_sections(files):
    for name, text in files.items():
        if name.endswith(".service"):
            parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
            parser.optionxform = str
            parser.read_string(re.sub(r"\\\n\s*", "", text))
            assert parser.sections() == ["Unit", "Service", "Install"]


def test_the_dockerfile_starts_a_program_by_its_path_and_not_as_root(files):
    text = files["Dockerfile"]
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)
    command = next(line for line in lines if line.startswith("CMD "))
    assert json.loads(command.removeprefix("CMD "))[0].startswith("/")


def test_a_front_end_waits_for_what_it_forwards_to_and_only_the_front_is_asked_for_its_health():
    units = services(files_of("nginx/http/gunicorn"))
    nginx, gunicorn = units["systemd/shop-nginx.service"], units["systemd/shop-gunicorn.service"]
    assert "shop-gunicorn.service" in nginx["After"][0]
    assert "ExecStartPost" in nginx
    assert "ExecStartPost" not in gunicorn


def test_the_memory_of_the_race_is_the_slices():
    files = files_of("gunicorn", memory_bytes=512 * 2**20)
    assert read_unit(files["systemd/shop.slice"])["MemoryMax"] == [str(512 * 2**20)]
    assert "MemoryMax" not in read_unit(files_of("gunicorn")["systemd/shop.slice"])


def test_a_port_of_roots_gets_the_one_capability_it_needs():

    files = files_of("nginx/http/gunicorn", target=replace(TARGET, port=80))
    units = services(files)
    assert units["systemd/shop-nginx.service"]["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert "AmbientCapabilities" not in units["systemd/shop-gunicorn.service"]


def test_static_files_outside_of_the_project_are_named_with_their_place():
    files = files_of("nginx/http/gunicorn", static={"/media/": Path("/var/media")})
    assert "/srv/shop/static1/" in files["nginx/nginx.conf"]
    assert "`/var/media` lies outside of the project; copy it to `/srv/shop/static1`" in files["README.md"]


def test_whoever_meets_clients_believes_only_proxies():
    alone = files_of("gunicorn")
    behind = files_of("nginx/http/gunicorn")
    assert "ip_network, ['127.0.0.1']" in alone["entry/deployed_wsgi.py"]
    assert "PROXIES" not in behind["entry/deployed_wsgi.py"]
    assert "geo $is_proxy" in behind["nginx/nginx.conf"]
    assert "forwarded_allow_ips = '127.0.0.1'" in alone["gunicorn/gunicorn.conf.py"]


def test_constraints_hold_everything_but_tools():
    files = files_of("gunicorn")
    assert "Django==5.2.1\n" in files["constraints.txt"]
    assert "pip==" not in files["constraints.txt"]
    assert files["requirements.txt"].endswith("gunicorn==23.0.0\n")


def test_containers_have_an_init_and_no_service_waits_for_one_that_needs_it_started(files):
    composed = yaml.safe_load(files["compose.yaml"])["services"]
    # the first process of a container ignores signals that it does not handle
    assert all(service["init"] is True for service in composed.values())
    needs = {name: {*service.get("depends_on", ()), *_network_of(service)} for name, service in composed.items()}
    TopologicalSorter(needs).prepare()


def _network_of(service):
    mode = service.get("network_mode", "")
    return [mode.removeprefix("service:")] if mode else []


def test_each_process_that_is_reached_over_a_socket_has_a_volume_of_its_own():
    composed = yaml.safe_load(files_of("nginx/http/cheroot:instances=2")["compose.yaml"])
    mounted = {volume.split(":")[1] for volume in composed["services"]["nginx"]["volumes"]}
    assert mounted >= {"/run/shop/cheroot-1", "/run/shop/cheroot-2"}
    assert set(composed["volumes"]) == {"static", "media", "run-cheroot-1", "run-cheroot-2"}


def test_a_page_that_is_not_found_does_not_stop_the_site_but_is_no_health():
    files = files_of("gunicorn")
    (started,) = services(files)["systemd/shop-gunicorn.service"]["ExecStartPost"]
    assert "--below 500" in started
    health = next(line for line in files["Dockerfile"].splitlines() if "CMD" in line and "health" in line)
    assert "--below" not in health


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


def test_a_python_that_debian_lacks_comes_from_uv():
    new = files_of("gunicorn", packages={"python": "3.13.1"})["README.md"]
    assert "uv python install 3.13" in new
    assert "python3.13-venv" not in new
    assert "uv python" not in files_of("gunicorn")["README.md"]


def test_a_package_without_wheels_brings_a_compiler():
    files = files_of("gunicorn", packages={"app": {"psycopg2": "2.9"}})
    assert "gcc libc6-dev libpq-dev" in files["Dockerfile"]
    assert "gcc libc6-dev libpq-dev" in files["README.md"]
    assert "psycopg2 must be compiled" in files["README.md"]


def test_what_a_lock_file_says_is_what_is_installed():
    files = files_of("gunicorn", packages={"asked": Asked(lock="uv.lock", locked="Django==5.2.1\n")})
    assert files["requirements-app.txt"] == "# What uv.lock of the project says, as pip reads it.\nDjango==5.2.1\n"


def test_a_front_that_cannot_tell_proxies_from_clients_says_so():
    assert "H2O cannot tell that proxy" in files_of("h2o/http/gunicorn")["README.md"]
    assert "trusted from 127.0.0.1 only" in files_of("nginx/http/gunicorn")["README.md"]


@pytest.mark.parametrize("pattern", ["**/.env.*", "**/.envs", "**/*.pem", "**/*.key", "**/*.sqlite3"])
def test_secrets_and_databases_stay_out_of_the_image(pattern):
    assert pattern in files_of("gunicorn")["Dockerfile.dockerignore"].splitlines()


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


def test_the_readme_deploys_in_order_variables_tables_files_start():
    text = files_of("nginx/http/gunicorn")["README.md"].partition("## Deploy the next")[0]
    steps = (".env.example /srv/shop/env", "manage migrate", "manage collectstatic", "systemctl enable --now")
    places = [text.index(step) for step in steps]
    assert places == sorted(places)


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
            assert unit["ExecReload"][-1].endswith("$MAINPID")


def test_an_app_that_is_loaded_before_its_workers_is_renewed_by_a_restart():
    preloaded = files_of("gunicorn:preload=on")["README.md"]
    assert "systemctl restart shop-gunicorn.service" in preloaded
    assert "a reload would keep the old version" in preloaded
    assert "systemctl reload shop-gunicorn.service" in files_of("gunicorn")["README.md"]


@pytest.mark.parametrize(
    ("path", "django", "said"),
    [
        ("nginx/http/gunicorn", DJANGO, "nginx sends `/media/` from `/srv/shop/app/media`"),
        ("gunicorn", DJANGO, "Nothing sends `/static/`"),
        ("gunicorn", DJANGO, "Nothing sends uploads (`/media/`, `/srv/shop/app/media`). Put a front end"),
        ("gunicorn", replace(DJANGO, sends_static=True), "The app sends `/static/` itself, by WhiteNoise"),
        ("gunicorn", replace(DJANGO, collected=None), "the settings name no STATIC_ROOT"),
        ("gunicorn", replace(DJANGO, static_url="https://cdn.example/"), "another host's"),
        ("haproxy/http/gunicorn", DJANGO, "`stackrace export nginx/http/gunicorn --to DIR`"),
    ],
)
def test_static_files_and_uploads_are_sent_or_the_readme_says_what_to_add(path, django, said):
    assert said in files_of(path, django=django)["README.md"]


@pytest.mark.parametrize("base", ["/home/ann/shop", "/usr/local/shop"])
def test_an_app_where_systemd_forbids_to_write_may_write_to_its_own_folder(base):
    for unit in services(files_of("gunicorn", target=replace(TARGET, base=Path(base)))).values():
        assert f"{base}/app" in unit["ReadWritePaths"]
    for unit in services(files_of("gunicorn")).values():
        assert "ReadWritePaths" not in unit


def test_the_front_of_containers_knows_the_host_that_the_app_accepts_and_no_other_variable_of_its():
    composed = yaml.safe_load(files_of("nginx/http/gunicorn")["compose.yaml"])["services"]
    assert composed["nginx"]["environment"] == {"HEALTH_HOST": "${HEALTH_HOST:-}"}
    assert "env_file" not in composed["nginx"]
    alone = yaml.safe_load(files_of("gunicorn")["compose.yaml"])["services"]["gunicorn"]
    assert alone["env_file"][0]["path"] == "../env"


def test_uploads_are_no_part_of_the_image():
    assert "app/media" in files_of("gunicorn")["Dockerfile.dockerignore"].splitlines()


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
