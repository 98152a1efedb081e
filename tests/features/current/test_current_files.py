"""Configuration files of servers: used as they are, or read, or named as missing."""

import pytest

from stackrace.stacks.stack_path import parse_stack

from .setups import ANY, SPECS, read

FILES = {
    "WEB_CONCURRENCY beside a file that says nothing of workers": (
        {"Procfile": "web: WEB_CONCURRENCY=6 gunicorn a:b\n", "gunicorn.conf.py": "timeout = 60\n"},
        "gunicorn:workers=6,config=gunicorn.conf.py"),
    "WEB_CONCURRENCY beside a file that says it": (
        {"Procfile": "web: WEB_CONCURRENCY=6 gunicorn a:b\n", "gunicorn.conf.py": "workers = 3\n"},
        "gunicorn:config=gunicorn.conf.py"),
    "quotes in the words of a variable": (
        {"Procfile": "web: GUNICORN_CMD_ARGS=\"--workers 3 --forwarded-allow-ips '*'\" gunicorn a:b\n"},
        'gunicorn:workers=3,--forwarded-allow-ips="*"'),
    "Hypercorn's file": (
        {"Procfile": "web: hypercorn -c h.toml a:b --keep-alive 9\n",
         "h.toml": 'bind = ["0.0.0.0:80"]\nworkers = 4\nworker_class = "uvloop"\nkeep_alive_timeout = 30\n'},
        "hypercorn:workers=4,loop=uvloop,keep_alive=9"),
    "a section of its own": (
        {"Procfile": "web: uwsgi --ini uwsgi.ini:prod\n",
         "uwsgi.ini": "[uwsgi]\nprocesses = 9\n[prod]\nhttp = :80\nprocesses = 4\nbuffer-size = 32768\n"},
        "uwsgi:processes=4,http=router,keep_alive=0,auto_chunked=off,--buffer-size=32768"),
    "the same without an option": (
        {"Procfile": "web: uwsgi uwsgi.ini:prod\n", "uwsgi.ini": "[uwsgi]\n[prod]\nprocesses = 4\n"},
        "uwsgi:processes=4"),
    "uWSGI's YAML": (
        {"Procfile": "web: uwsgi --yaml u.yml\n", "u.yml": "uwsgi:\n  http-socket: :80\n  processes: 4\n"
         "  lazy-apps: true\n"},
        "uwsgi:processes=4,http=socket,lazy_apps=on"),
    "uWSGI's JSON": (
        {"Procfile": "web: uwsgi u.json\n", "u.json": '{"uwsgi": {"processes": 4, "http-socket": ":80"}}'},
        "uwsgi:processes=4,http=socket"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_taken(tmp_path, case):
    files, expected = FILES[case]
    found = read(tmp_path, files)
    assert (found.stack, found.gaps) == (expected, ())
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


GAPS = {
    "a kind that nobody reads": ({"Procfile": "web: uwsgi --xml u.xml\n", "u.xml": "<uwsgi/>"}, ("Procfile", 1)),
    "a file that is not there": ({"Procfile": "web: hypercorn -c h.toml a:b\n"}, ("Procfile", 1)),
    "a program as configuration": (
        {"Procfile": "web: hypercorn -c file:h.py a:b\n", "h.py": "import os\nworkers = 2\n"}, ("Procfile", 1)),
    "no such section": ({"Procfile": "web: uwsgi --ini u.ini:live\n", "u.ini": "[uwsgi]\n"}, ("Procfile", 1)),
    "a key without an option": (
        {"Procfile": "web: hypercorn -c h.toml a:b\n", "h.toml": "#\nh2_max_frame_size = 7\n"}, ("h.toml", 2)),
    "a file within a file": (
        {"Procfile": "web: uwsgi u.ini\n", "u.ini": "[uwsgi]\nini = base.ini\n"}, ("u.ini", 2)),
}  # fmt: skip


@pytest.mark.parametrize("case", GAPS)
def test_what_a_file_would_say_is_missing_by_line(tmp_path, case):
    files, expected = GAPS[case]
    found = read(tmp_path, files)
    assert [(gap.file, gap.line) for gap in found.gaps] == [expected]


def test_what_a_file_says_is_changed_where_it_stands(tmp_path):
    files = {"Procfile": "web: hypercorn -c h.toml a:b\n", "h.toml": 'workers = 2\nbind = "0.0.0.0:80"\n'}
    found = read(tmp_path, files)
    assert [(change.file, change.line, change.key) for change in found.changes] == [("h.toml", 2, "--bind")]


@pytest.mark.parametrize("line", ["listen ;", "location / { proxy_pass ; }", "include;"])
def test_a_directive_that_says_nothing_is_an_error_with_its_line(tmp_path, line):
    site = f"server {{\n  location /a {{ proxy_pass http://a; }}\n  {line}\n}}\n"
    found = read(tmp_path, {"Dockerfile": "CMD gunicorn -w 2 a:b", "nginx.conf": site})
    assert found.stack == "gunicorn:workers=2"
    assert [(gap.file, gap.line) for gap in found.gaps] == [("nginx.conf", 3)]
    assert "says nothing" in found.gaps[0].why


def test_a_template_of_nginx_is_read_with_variables_as_gaps(tmp_path):
    site = (
        "upstream app { server ${APP_HOST}:8000; }\nserver {\n  listen ${PORT};\n  proxy_cache off;\n"
        "  client_max_body_size ${MAX_BODY};\n  location / { proxy_pass http://app; }\n}\n"
    )
    found = read(tmp_path, {"Dockerfile": "CMD gunicorn -w 2 a:b", "nginx/default.conf.template": site})
    assert found.stack == 'nginx:config="nginx/default.conf.template"/http/gunicorn:workers=2,socket=tcp'
    assert [(gap.line, gap.what) for gap in found.gaps] == [(5, "client_max_body_size ${MAX_BODY}")]


def test_what_leads_elsewhere_is_missing_by_line(tmp_path):
    site = (
        "upstream shop {\n  server a:8000;\n  server b:8000;\n  server c:8000 backup;\n}\n"
        "upstream blog { server d:8000; }\n"
        "server {\n  location / {\n    if ($cookie_new) { proxy_pass http://new:8000; }\n    proxy_pass http://shop;\n"
        "  }\n  location /blog/ { proxy_pass http://blog; }\n}\n"
        "server { listen 81; location / { proxy_pass http://admin:8000; } }\n"
    )
    found = read(
        tmp_path,
        {"Dockerfile": "CMD gunicorn -w 2 a:b", "mocks/Dockerfile": "CMD gunicorn a:b", "nginx.conf": site},
    )
    assert found.stack == "nginx:config=nginx.conf/http/gunicorn:workers=2,socket=tcp"
    assert sorted((gap.line, gap.what) for gap in found.gaps) == [
        (3, "server b:8000"),
        (6, "upstream blog"),
        (9, "proxy_pass http://new:8000"),
        (12, "location /blog/"),
        (14, "server"),
    ]


READING = {
    "a loop": "for name in ('workers', 'threads'):\n    globals()[name] = int(os.environ.get(name.upper(), 1))\n",
    "an alias": "get = os.environ.get\nworkers = int(get('WORKERS', 1))\nthreads = int(get('THREADS', 1))\n",
    "a helper of the project": "from conf.numbers import number\nworkers = number('WORKERS')\n"
    "threads = number('THREADS')\n",
    "a condition": "if 'WORKERS' in os.environ:\n    workers, threads = 4, 2\n",
}


@pytest.mark.parametrize("case", READING)
def test_gunicorn_is_asked_what_its_file_makes_of_the_deployments_variables(tmp_path, case):
    files = {
        "compose.yml": "services: {w: {command: gunicorn a:b, environment: {WORKERS: 4, THREADS: 2}}}\n",
        "gunicorn.conf.py": f"import os\n{READING[case]}open('written', 'w')\n",
        "conf/numbers.py": "import os\ndef number(name):\n    return int(os.environ.get(name, 1))\n",
    }
    found = read(tmp_path, files)
    assert found.stack == "gunicorn:workers=4,class=gthread,threads=2,config=gunicorn.conf.py"
    assert (found.effective, found.at_once) == (("workers=4", "class=gthread", "threads=2"), 8)
    assert not found.gaps
    assert not (tmp_path / "written").exists()
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


def test_a_file_that_cannot_be_asked_is_read_and_what_it_computes_is_named(tmp_path):
    files = {
        "compose.yml": "services: {w: {command: gunicorn a:b, environment: {WORKERS: 4}}}\n",
        "gunicorn.conf.py": "import os\nfrom nowhere import number\nworkers = number(os.environ, 'WORKERS')\n",
    }
    found = read(tmp_path, files)
    assert [(gap.line, gap.what) for gap in found.gaps] == [(3, "workers = number(os.environ, 'WORKERS')")]
