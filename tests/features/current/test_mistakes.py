"""Mistakes of a deployment's own files are named with file and line, and what is none is not."""

import json
import re

import pytest

from stackrace.features.current.mistakes import KINDS
from stackrace.features.current.transfer import taken_over

from .setups import read

UWSGI = "[uwsgi]\nhttp-socket = :80\nmodule = a:b\n"
SITE = (
    "upstream a {\n  server 127.0.0.1:8000;\n  keepalive 16;\n}\nserver {\n  location / {\n    proxy_pass http://a;\n"
    "    proxy_http_version 1.1;\n    proxy_set_header Connection '';\n    proxy_read_timeout 5m;\n  }\n}\n"
)


CADDY = "shop.org {{\n  reverse_proxy web:8000 {{\n    transport http {{\n      {}\n    }}\n  }}\n}}\n"
ROUTER = "uwsgi --http :80 --http-keepalive --module a:b"


def service(command, more=""):
    return f"services:\n  web:\n    command: {command}\n{more}"


CLOSING = "uwsgi --http :8000 --module a:b"
GTHREAD = "gunicorn a:b --threads 2 -b :8000"
SMALL = "    mem_limit: 1g\n"
LEAKY = f"{UWSGI}processes = 4\nreload-on-rss = 300\n"
UNIT = "[Service]\nMemoryMax=800M\nExecStart=granian --interface wsgi --workers 2 --workers-max-rss 512 a:b\n"
POD = (
    "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{name: web, image: x, "
    'args: [uwsgi, --http-socket, ":80", --module, "a:b", -p, "4", --reload-on-rss, "300"],\n'
    "  resources: {limits: {memory: 1200M}}}]}}}\n"
)
DATABASE = "  db:\n    image: postgres\n    command: postgres -c max_connections=20\n"
POOLED = 'DATABASES = {"default": {"OPTIONS": {"pool": {"min_size": 2, "max_size": 8}}}}\n'
VARIABLES = "    environment:\n      {}\n"


FOUND = {
    "unknown-key": [
        ({"uwsgi.ini": f"{UWSGI}process = 4\n"}, "uwsgi.ini:4", "process: uWSGI .* ignores it; processes was"),
        (
            {"Procfile": "web: gunicorn a:b", "gunicorn.conf.py": "worker = 4\n"},
            "gunicorn.conf.py:1",
            "workers was",
        ),
    ],
    "overridden": [
        (
            {"Procfile": "web: gunicorn a:b -b :80", "gunicorn.conf.py": "workers = 3\nbind = ':81'\n"},
            "gunicorn.conf.py:2",
            "bind = :81 has no effect, for the command at Procfile:1 says --bind :80",
        )
    ],
    "literal-variable": [
        (
            {"Dockerfile": 'FROM python\nCMD ["gunicorn", "-w3", "-b:${PORT:-5000}", "a:b"]\n'},
            "Dockerfile:2",
            r"no shell replaces \${PORT:-5000}",
        ),
        (
            {"Dockerfile": 'FROM python\nENTRYPOINT ["gunicorn"]\nCMD ["-w", "$N", "a:b"]\n'},
            "Dockerfile:3",
            r"no shell replaces \$N and .*write CMD without",
        ),
    ],
    "disagreement": [
        (
            {"Procfile": "web: gunicorn -w 2 --threads 8 a:b", "uwsgi.ini": f"{UWSGI}processes = 2\nthreads = 4\n"},
            "Procfile:1",
            "threads=8, but uwsgi.ini:1 starts uWSGI with processes=2 and threads=4",
        ),
        (
            {
                "supervisord.conf": "[program:web]\ncommand=gunicorn -w 5 a:b\n",
                "compose.yml": service("gunicorn -w 1 a:b"),
            },
            "supervisord.conf:2",
            "workers=5 and class=sync, but compose.yml:3 starts Gunicorn with workers=1",
        ),
    ],
    "early-timeout": [
        (
            {"compose.yml": service("gunicorn a:b -b :8000"), "nginx/site.conf": SITE},
            "nginx/site.conf:10",
            r"waits 300 s for an answer, but Gunicorn ends a request after 30 s \(timeout\)",
        )
    ],
    "short-keep-alive": [
        (
            {"compose.yml": service("gunicorn a:b --threads 2 -b :8000"), "nginx/site.conf": SITE},
            "nginx/site.conf:3",
            "keeps idle connections for 60 s, but Gunicorn closes them after 2 s",
        ),
        ({"compose.yml": service(GTHREAD), "Caddyfile": CADDY.format("")}, "Caddyfile:2", "for 120 s"),
        ({"compose.yml": service(GTHREAD), "Caddyfile": CADDY.format("keepalive 10s")}, "Caddyfile:4", "for 10 s"),
    ],
    "closing-router": [
        ({"Procfile": "web: uwsgi --http :80 --module a:b"}, "Procfile:1", "closes each connection"),
        ({"uwsgi.ini": "[uwsgi]\nhttp = :80\nmodule = a:b\n"}, "uwsgi.ini:2", "closes each connection"),
        ({"compose.yml": service(CLOSING), "nginx/site.conf": SITE}, "compose.yml:3", "closes each connection"),
    ],
    "late-timeout": [
        (
            {"compose.yml": service("gunicorn a:b -t 120 -b :8000"), "nginx/site.conf": SITE.replace("5m", "60s")},
            "nginx/site.conf:10",
            r"after 60 s, but Gunicorn works on a request for 120 s \(timeout\)",
        )
    ],
    "router-table": [
        (
            {"compose.yml": service(ROUTER, "    ulimits: {nofile: {soft: 1073741816, hard: 1073741816}}\n")},
            "compose.yml:4",
            "allows 1,073,741,816 open files, .*8,192 MiB",
        ),
        ({"shop.service": f"[Service]\nLimitNOFILE=100000000\nExecStart={ROUTER}\n"}, "shop.service:2", "763 MiB"),
    ],
    "memory": [
        (
            {"compose.yml": service("uwsgi --ini uwsgi.ini", SMALL), "uwsgi.ini": LEAKY},
            "compose.yml:4",
            r"allows 1,024 MiB, but each of 4 workers is replaced only at 300 MiB \(reload-on-rss\)",
        ),
        ({"shop.service": UNIT}, "shop.service:2", r"800 MiB, but each of 2 .* 512 MiB \(workers-max-rss\)"),
        ({"web.yaml": POD}, "web.yaml:4", "allows 1,144 MiB, but each of 4"),
    ],
    "connections": [
        (
            {"compose.yml": service("gunicorn -w 3 a:b", DATABASE), "a/settings.py": POOLED},
            "compose.yml:6",
            r"allows 20 connections, but 3 processes with up to 8 each \(a/settings.py:1\) may open 24",
        ),
        (
            {
                "compose.yml": service("gunicorn -w 3 a:b", DATABASE),
                "a.py": "engine = create_engine(url, pool_size=5, max_overflow=5)\n",
            },
            "compose.yml:6",
            r"up to 10 each \(a.py:1\) may open 30",
        ),
        (
            {
                "compose.yml": service(
                    "gunicorn -w 5 a:b", VARIABLES.format("DATABASE_URL: postgres://db/a?pool_size=10")
                ),
                "deploy/postgresql.conf": "#max_connections = 10\nmax_connections = 40\n",
            },
            "deploy/postgresql.conf:2",
            r"5 processes with up to 10 each \(compose.yml:5\) may open 50",
        ),
        (
            {
                "compose.yml": service("gunicorn -w 3 a:b", VARIABLES.format("DATABASE_POOL: 9") + DATABASE),
                "a.py": 'size = int(os.environ["DATABASE_POOL"])\n',
            },
            "compose.yml:8",
            r"up to 9 each \(compose.yml:5\)",
        ),
    ],
    "unread-pool": [
        (
            {"compose.yml": service("granian a:b", VARIABLES.format("DATABASE_POOL: 9")), "a.py": "b = 1\n"},
            "compose.yml:5",
            "DATABASE_POOL: no file of the project reads",
        )
    ],
    "unread-variable": [
        (
            {"compose.yml": f"{service('granian a:b')}    environment:\n      WEB_CONCURRENCY: 3\n"},
            "compose.yml:5",
            "WEB_CONCURRENCY: Granian does not read this variable, which is for Gunicorn and Uvicorn",
        ),
        (
            {"compose.yml": f"{service('gunicorn -w 3 a:b')}    environment:\n      UWSGI_PROCESSES: 3\n"},
            "compose.yml:5",
            "which is for uWSGI",
        ),
    ],
}
CASES = [(kind, *case) for kind, cases in FOUND.items() for case in cases]
WORKERS = "WEB_CONCURRENCY"
USED = 'sh -c "exec granian --interface wsgi --workers $$WEB_CONCURRENCY a:b"'
FINE = {
    "placeholders of uWSGI": {"uwsgi.ini": f"{UWSGI}project = a\nchdir = /srv/%(project)\n"},
    "a router beside the socket of a front end": {
        "uwsgi.ini": "[uwsgi]\nhttp = :8080\nsocket = :8000\nmodule = a:b\n",
        "nginx/site.conf": "server {\n  location / {\n    uwsgi_pass 127.0.0.1:8000;\n  }\n}\n",
    },
    "names of the file's own": {
        "Procfile": "web: gunicorn a:b",
        "gunicorn.conf.py": "worker = 4\nworkers = worker\n",
    },
    "the same twice": {"Procfile": "web: gunicorn a:b -w 3", "gunicorn.conf.py": "workers = 3\n"},
    "a shell": {"Dockerfile": 'FROM python\nCMD ["sh", "-c", "gunicorn -b :$PORT a:b"]\n'},
    "the shell form": {"Dockerfile": "FROM python\nCMD gunicorn -b :$PORT a:b\n"},
    "two services": {"compose.yml": f"{service('gunicorn -w 3 a:b')}  api:\n    command: gunicorn -w 2 a:c\n"},
    "one for development": {
        "compose.yml": service("gunicorn -w 3 a:b"),
        "compose.dev.yml": service("gunicorn -w 1 a:b"),
    },
    "a variable of its own": {"compose.yml": f"{service('gunicorn a:b')}    environment:\n      {WORKERS}: 3\n"},
    "a variable that a shell uses": {
        "compose.yml": f"{service(USED)}    environment:\n      {WORKERS}: 3\n",
    },
    "a front end that keeps no connections": {
        "compose.yml": service(CLOSING),
        "nginx/site.conf": SITE.replace("keepalive 16;", ""),
    },
    "a router that keeps": {"Procfile": f"web: {ROUTER}"},
    "a million open files": {"compose.yml": service(ROUTER, "    ulimits: {nofile: 1048576}\n")},
    "a router with max-fd": {
        "compose.yml": service(f"{ROUTER} --max-fd 4096", "    ulimits: {nofile: 1073741816}\n")
    },
    "memory enough": {"compose.yml": service("uwsgi --ini uwsgi.ini", "    mem_limit: 2g\n"), "uwsgi.ini": LEAKY},
    "connections enough": {"compose.yml": service("gunicorn -w 2 a:b", DATABASE), "a/settings.py": POOLED},
    "a pool between": {
        "compose.yml": service("gunicorn -w 3 a:b", DATABASE + "  pgbouncer: {image: pgbouncer}\n"),
        "a/settings.py": POOLED,
    },
    "a test's pool": {"compose.yml": service("gunicorn -w 3 a:b", DATABASE), "tests/settings.py": POOLED},
    "a pool that pydantic reads": {
        "compose.yml": service("granian a:b", VARIABLES.format("DATABASE_POOL: 9")),
        "a.py": "class Settings(BaseSettings):\n    database_pool: int\n",
    },
    "a Caddy that keeps none": {"compose.yml": service(GTHREAD), "Caddyfile": CADDY.format("keepalive off")},
}


@pytest.mark.parametrize(("kind", "files", "place", "says"), CASES)
def test_a_mistake_is_named_where_it_stands(tmp_path, kind, files, place, says):
    (found,) = [each for each in read(tmp_path, files).mistakes if each.kind == kind]
    assert found.location == place
    assert re.search(says, found.says), found.says


@pytest.mark.parametrize("case", FINE)
def test_what_is_none_is_not_named(tmp_path, case):
    assert read(tmp_path, FINE[case]).mistakes == ()


def test_files_of_two_platforms_may_differ(tmp_path):
    fly = '[processes]\nweb = "gunicorn --workers 4 a:b"\n'
    found = read(tmp_path, {"Procfile": "web: gunicorn -w 2 a:b\n", "fly.toml": fly})
    assert found.mistakes == ()
    said = "Gunicorn with workers=2 and class=sync; fly.toml:2, for another platform, says Gunicorn with workers=4"
    assert f"Procfile:1 says {said} and class=sync." in taken_over(found, found.stack)


def test_each_kind_is_tried():
    assert [kind.id for kind in KINDS if kind.id not in FOUND or not kind.source] == []


def test_what_cannot_start_is_not_raced(tmp_path):
    found = read(tmp_path, FOUND["literal-variable"][0][0])
    assert (found.stack, found.problem) == ("", f"{found.mistakes[0].location} {found.mistakes[0].says}")


OBSERVED = {
    "schema": "observed-1",
    "target": "7",
    "at": "2026-11-29T12:00:00Z",
    "cores": 2,
    "processes": [],
    "server": {
        "name": "uwsgi", "pid": 7, "words": ROUTER.split(), "hidden": False, "folder": "/", "user": 0,
        "started": "", "addresses": [], "workers": 1, "instances": 1, "variables": {}, "variable_names": [],
        "python": "", "versions": {}, "files": [], "cpus": "0-1",
        "limits": {"open_files": 1073741816, "memory_bytes": None, "cpus": None},
    },
}  # fmt: skip


def test_a_running_server_has_the_limits_that_were_observed(tmp_path):
    files = {"observed.json": json.dumps(OBSERVED)}
    (found,) = read(tmp_path, files, tmp_path / "observed.json").mistakes
    assert (found.kind, found.location) == ("router-table", "pid 7")
