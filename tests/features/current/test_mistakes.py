"""Mistakes of a deployment's own files are named with file and line, and what is none is not."""

import re

import pytest

from stackrace.features.current.mistakes import KINDS

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


GTHREAD = "gunicorn a:b --threads 2 -b :8000"


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
        ),
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
    ],
    "late-timeout": [
        (
            {"compose.yml": service("gunicorn a:b -t 120 -b :8000"), "nginx/site.conf": SITE.replace("5m", "60s")},
            "nginx/site.conf:10",
            r"after 60 s, but Gunicorn works on a request for 120 s \(timeout\)",
        ),
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
    "a router that keeps": {"Procfile": f"web: {ROUTER}"},
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


def test_each_kind_is_tried():
    assert [kind.id for kind in KINDS if kind.id not in FOUND or not kind.source] == []


def test_what_cannot_start_is_not_raced(tmp_path):
    found = read(tmp_path, FOUND["literal-variable"][0][0])
    assert (found.stack, found.problem) == ("", f"{found.mistakes[0].location} {found.mistakes[0].says}")
