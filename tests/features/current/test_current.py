"""What a project runs today, as its deployment files say it, becomes the path of a stack."""

import os

import pytest

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.features.current.deployment import read_project
from stackrace.stacks.native_files import Concern
from stackrace.stacks.stack_path import parse_stack

from .setups import ANY, SPECS, current_deployment, read, write

CORES = len(os.sched_getaffinity(0))

SITE = """upstream shop { server web:8000 fail_timeout=0; }
server {
    listen 80;
    server_name shop.example;
    location /static/ { alias /srv/shop/static/; }
    location /media/ { alias /srv/media/; }
    location / { proxy_pass http://shop; proxy_set_header Host $host; }
}
"""


COMMANDS = {
    "an option of its own": (
        "gunicorn shop:app --forwarded-allow-ips='*'",
        'gunicorn:workers=1,--forwarded-allow-ips="*"',
    ),
    "short options": (
        "gunicorn -w4 -k gthread --threads 8 -b :80 shop:app",
        "gunicorn:workers=4,class=gthread,threads=8,keep_alive=2",
    ),
    "a loop without asgi": (
        "granian --interface wsgi --loop uvloop --workers 3 a:b",
        "granian:interface=wsgi,workers=3",
    ),
    "connections of sync": ("gunicorn --worker-connections 50 a:b", "gunicorn:workers=1"),
    "a class by its place": (
        "gunicorn -w 2 -k uvicorn.workers.UvicornWorker api:app",
        "gunicorn:workers=2,class=uvicorn,keep_alive=2",
    ),
    "wrappers": ("tini -- poetry run python -m gunicorn -w 2 a:b", "gunicorn:workers=2"),
    "a module within a package": ("python -m gunicorn.app.wsgiapp -w 2 a:b", "gunicorn:workers=2"),
    "a shell": ("sh -c 'python manage.py migrate && exec gunicorn -w 2 a:b'", "gunicorn:workers=2"),
    "a variable's default": ("gunicorn -w ${WORKERS:-2} -b 0.0.0.0:${PORT:-80} a:b", "gunicorn:workers=2"),
    "a variable before the command": ("WEB_CONCURRENCY=3 gunicorn a:b", "gunicorn:workers=3"),
    "words in a variable": ("GUNICORN_CMD_ARGS='--workers=5' gunicorn a:b", "gunicorn:workers=5"),
    "a count of cores": ("gunicorn -w $((2 * $(nproc) + 1)) a:b", f"gunicorn:workers={2 * CORES + 1}"),
    "uvicorn": ("uvicorn api:app --host 0.0.0.0 --workers 4", "uvicorn:workers=4,keep_alive=5"),
    "uvicorn's variables": (
        "env UVICORN_WORKERS=3 UVICORN_HOST=:: uvicorn api:app",
        "uvicorn:workers=3,keep_alive=5",
    ),
    "fastapi": ("fastapi run --workers 4 api.py", "uvicorn:workers=4,keep_alive=5"),
    "hypercorn in its only process": ("hypercorn -w 0 api:app", "hypercorn:workers=1,keep_alive=5"),
    "uvicorn in its only process": ("uvicorn api:app --workers 0", "uvicorn:workers=1,keep_alive=5"),
    "hypercorn": ("hypercorn -w 4 -k uvloop api:app", "hypercorn:workers=4,loop=uvloop,keep_alive=5"),
    "daphne": ("daphne -b 0.0.0.0 -p 80 shop.asgi:application", "daphne"),
    "granian": (
        "granian --interface asginl --workers 2 --loop uvloop api:app",
        "granian:interface=asginl,workers=2,loop=uvloop",
    ),
    "waitress": (
        "waitress-serve --listen=*:80 --threads=8 a:b",
        "waitress:threads=8,connection_limit=100,keep_alive=120",
    ),
    "uWSGI": (
        "uwsgi --http :80 --master -p 4 --threads 2 --wsgi-file app.py",
        "uwsgi:processes=4,threads=2,http=router,keep_alive=0,auto_chunked=off",
    ),
    "mod_wsgi-express": (
        "mod_wsgi-express start-server wsgi.py --processes 4 --threads 2",
        "apache+mod_wsgi:processes=4,threads=2",
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_is_a_path(tmp_path, case):
    command, expected = COMMANDS[case]
    found = read(tmp_path, {"Procfile": f"web: {command}\n"})
    assert (found.stack, found.problem, found.location) == (expected, "", "Procfile:1")
    assert not found.gaps
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


NONE = ("flask run", "gunicorn --reload a:b", "uvicorn api:app --reload", "fastapi dev", "pip install gunicorn",
        "celery -A shop worker", "echo starting gunicorn", "python main.py")  # fmt: skip


RUN = "import flask\nfrom shop import app\nif __name__ == '__main__':\n    app.run(debug=True)\n"
RELOADING = "import uvicorn\nuvicorn.run('a:app', reload=True)\n"
DEVELOPMENT = {
    "gunicorn --reload a:b": "Procfile:1 starts Gunicorn for development (--reload)",
    "flask run": "Procfile:1 starts a server for development (flask run)",
    "python manage.py runserver": "Procfile:1 starts a server for development (runserver)",
    "python -u run.py": "run.py:4 starts a server for development (app.run)",
    "python reloading.py": "reloading.py:2 starts Uvicorn for development (--reload)",
}


@pytest.mark.parametrize("command", DEVELOPMENT)
def test_a_server_for_development_is_the_reason_that_there_is_no_deployment(tmp_path, command):
    files = {"Procfile": f"web: {command}\n", "run.py": RUN, "reloading.py": RELOADING, "manage.py": ""}
    found = read_project(write(tmp_path, files), SPECS)
    assert (found.deployment, found.for_development) == (None, (DEVELOPMENT[command],))


def test_a_named_file_with_a_server_for_development_says_so(tmp_path):
    write(tmp_path, {"run.py": RUN, "Procfile": "web: sh -c 'exec flask run'\n"})
    for name, words in (("run.py", r"run.py:4 .*\(app.run\)"), ("Procfile", r"Procfile:1 .*\(flask run\)")):
        with pytest.raises(InputError, match=rf"{name} starts no server that Stackrace knows \({words}\)"):
            current_deployment(tmp_path, SPECS, tmp_path / name)


def test_a_named_program_is_read_by_the_server_that_it_starts(tmp_path):
    write(tmp_path, {"main.py": "import uvicorn\nuvicorn.run('a:app', workers=3)\n"})
    found = read(tmp_path, {}, tmp_path / "main.py")
    assert (found.stack, found.location) == ("uvicorn:workers=3,keep_alive=5", "main.py:2")


def test_azure_s_file_with_the_command_is_read(tmp_path):
    found = read(tmp_path, {"startup.txt": "gunicorn --bind=0.0.0.0 --timeout 600 -w 4 startup:app\n"})
    assert (found.stack, found.location) == ("gunicorn:workers=4,timeout=600", "startup.txt:1")
    assert read(tmp_path, {}, tmp_path / "startup.txt").stack == found.stack


@pytest.mark.parametrize("command", NONE)
def test_what_is_no_deployment_is_none(tmp_path, command):
    assert current_deployment(write(tmp_path, {"Procfile": f"web: {command}\n"}), SPECS) is None


FILES = {
    "a script with variables": (
        {
            "Dockerfile": 'FROM x\nCOPY ./docker/start /start\nCMD ["/start"]\n',
            "docker/start": "#!/bin/sh\nset -e\nN=${N:-7}\nexec gunicorn a:b \\\n  --workers $N\n",
        },
        ("gunicorn:workers=7", "docker/start:4")),
    "a unit of systemd": (
        {
            "shop.service": "[Service]\nUser=www-data\nEnvironment=WEB_CONCURRENCY=3\nEnvironmentFile=-/etc/shop\n"
            "ExecStart=/srv/venv/bin/gunicorn \\\n  # the threads\n  --threads 4 \\\n  a:b\n"
        },
        ("gunicorn:workers=3,class=gthread,threads=4,keep_alive=2", "shop.service:5")),
    "a program of supervisor": (
        {"supervisord.conf": "[program:web]\ncommand=gunicorn -w %(ENV_N)s a:b\nenvironment=N=\"3\",M=\"4\"\n"},
        ("gunicorn:workers=3", "supervisord.conf:2")),
    "uWSGI's own file": (
        {"uwsgi.ini": "[uwsgi]\nhttp = :80\nprocesses = 4\n"},
        ("uwsgi:config=uwsgi.ini", "uwsgi.ini:1")),
    "a file that gunicorn finds": (
        {"Procfile": "web: gunicorn a:b --timeout 60\n", "gunicorn.conf.py": "workers = 4\n"},
        ("gunicorn:timeout=60,config=gunicorn.conf.py", "Procfile:1")),
    "a file in an image": (
        {"Dockerfile": 'CMD ["gunicorn", "-c", "/app/conf/g.py", "a:b"]', "conf/g.py": "workers = 4\n"},
        ('gunicorn:config="conf/g.py"', "Dockerfile:1")),
    "a variable that a file reads": (
        {
            "compose.yml": "services: {w: {command: gunicorn a:b, environment: {N: 5}}}\n",
            "gunicorn.conf.py": "import os\nworkers = int(os.environ.get('N', 2))\n",
        },
        ("gunicorn:workers=5,config=gunicorn.conf.py", "compose.yml:1")),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files_are_read_where_they_lie(tmp_path, case):
    files, expected = FILES[case]
    found = read(tmp_path, files)
    assert (found.stack, found.location) == expected
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


WITHOUT = {
    "uvicorn alone": ("uvicorn a:b", "uvicorn", "uvicorn:workers=1,keep_alive=5,--loop=asyncio,--http=h11"),
    "options of its own": (
        "uvicorn a:b --http httptools --loop auto", "uvicorn",
        "uvicorn:workers=1,keep_alive=5,--http=httptools,--loop=asyncio"),
    "with all": ("uvicorn a:b", "uvicorn uvloop httptools", "uvicorn:workers=1,keep_alive=5"),
    "an unknown environment": ("uvicorn a:b", "django", "uvicorn:workers=1,keep_alive=5"),
    "gunicorn's Uvicorn worker": (
        "gunicorn -k uvicorn.workers.UvicornWorker a:b", "gunicorn uvicorn uvloop",
        "gunicorn:workers=1,class=uvicorn-h11,keep_alive=2"),
    "gunicorn's own ASGI worker": (
        "gunicorn -k asgi a:b", "gunicorn", "gunicorn:workers=1,class=asgi,keep_alive=2,--asgi-loop=asyncio"),
    "a worker without them": ("gunicorn -k sync a:b", "gunicorn", "gunicorn:workers=1,class=sync"),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT)
def test_a_deployment_has_the_accelerators_of_its_own_environment(tmp_path, case):
    command, installed, expected = WITHOUT[case]
    packages = tmp_path / ".venv/lib/python3.11/site-packages"
    for name in installed.split():
        (packages / f"{name}-1.0.dist-info").mkdir(parents=True)
    found = read(tmp_path, {"Procfile": f"web: {command}\n"}, python=tmp_path / ".venv/bin/python")
    assert found.stack == expected
    is_said = any("environment has no" in gap.why for gap in found.gaps)
    assert is_said is ("--" in expected or "h11" in expected)


def test_the_project_s_own_environment_tells_if_no_interpreter_is_known_yet(tmp_path):
    """As in checks and tunings, which read the deployment before the app is examined."""
    (tmp_path / ".venv/lib/python3.11/site-packages/uvicorn-1.0.dist-info").mkdir(parents=True)
    write(tmp_path, {".venv/bin/python": "", ".venv/pyvenv.cfg": ""})
    (tmp_path / ".venv/bin/python").chmod(0o755)
    found = read(tmp_path, {"Procfile": "web: uvicorn a:b\n"})
    assert found.stack == "uvicorn:workers=1,keep_alive=5,--loop=asyncio,--http=h11"


def test_an_environment_with_the_packages_of_the_system_is_unknown(tmp_path):
    (tmp_path / ".venv/lib/python3.11/site-packages/uvicorn-1.0.dist-info").mkdir(parents=True)
    write(tmp_path, {".venv/pyvenv.cfg": "home = /usr/bin\ninclude-system-site-packages = true\n"})
    found = read(tmp_path, {"Procfile": "web: uvicorn a:b\n"}, python=tmp_path / ".venv/bin/python")
    assert found.stack == "uvicorn:workers=1,keep_alive=5"


LIKELY = {
    "production before all": ("compose.prod.yml", ["compose.yml", "Procfile", "shop.service", "compose.prod.yml"]),
    "a unit before a platform": ("shop.service", ["Procfile", "compose.yml", "shop.service"]),
    "a platform before compose": ("Procfile", ["compose.yml", "Procfile", "Dockerfile"]),
    "an image before development": ("Dockerfile", ["compose.dev.yml", "Dockerfile"]),
    "development before nothing": ("compose.local.yml", ["compose.local.yml"]),
}  # fmt: skip
TEXTS = {
    "Procfile": "web: gunicorn a:b\n",
    "Dockerfile": "CMD gunicorn a:b\n",
    "shop.service": "[Service]\nExecStart=gunicorn a:b\n",
}


@pytest.mark.parametrize("case", LIKELY)
def test_the_likeliest_production_is_taken(tmp_path, case):
    expected, names = LIKELY[case]
    compose = "services:\n  web:\n    command: gunicorn a:b\n"
    found = read(tmp_path, {name: TEXTS.get(name, compose) for name in names})
    assert found.file == expected
    assert {other.partition(":")[0] for other in found.others} == set(names) - {expected}


def test_another_file_can_be_chosen(tmp_path):
    found = read(
        tmp_path,
        {"Procfile": "web: gunicorn a:b\n", "compose.yml": "services: {w: {command: uvicorn a:b}}\n"},
        tmp_path / "compose.yml",
    )
    assert found.stack.startswith("uvicorn")
    with pytest.raises(InputError, match="starts no server"):
        current_deployment(tmp_path, SPECS, write(tmp_path, {"x.yml": "a: 1"}) / "x.yml")
    with pytest.raises(InputError, match="there is no file"):
        current_deployment(tmp_path, SPECS, tmp_path / "y.yml")


COMPOSE = "services:\n  web:\n    command: gunicorn -w 3 a:b\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("live.yml", COMPOSE),
        (".do/app.yaml", "services:\n- name: web\n  run_command: gunicorn -w 3 a:b\n"),
        ("begin.sh", "#!/bin/sh\nexec gunicorn -w 3 a:b\n"),
        ("begin", "gunicorn -w 3 a:b\n"),
    ],
)
def test_a_named_file_is_read_by_what_it_holds(tmp_path, name, text):
    write(tmp_path, {name: text.replace("gunicorn", "web: gunicorn") if name == "begin" else text})
    assert read(tmp_path, {}, tmp_path / name).stack.startswith("gunicorn:workers=3")


def test_a_compose_file_of_production_is_found(tmp_path):
    assert read(tmp_path, {"production.yml": COMPOSE, "local.yml": COMPOSE}).file == "production.yml"


@pytest.mark.parametrize(
    ("base", "compose", "is_named"),
    [
        ("tiangolo/uwsgi-nginx:python3.8", "", True),
        ("python:3.11", "", False),
        # the container has a command of its own
        ("tiangolo/uwsgi-nginx", "services: {w: {build: ., command: gunicorn a:b}}", False),
    ],
)
def test_an_image_whose_base_starts_a_server_is_named_beside_the_server_s_file(tmp_path, base, compose, is_named):
    image = f"FROM {base}\nENV UWSGI_INI=uwsgi.ini\nCOPY . /app\n"
    files = {"Dockerfile": image, "uwsgi.ini": "[uwsgi]\nprocesses = 4\n"}
    found = read(tmp_path, files | ({"compose.yml": compose} if compose else {}))
    assert any((gap.what, gap.line) == (f"image {base}", 1) for gap in found.gaps) is is_named
    assert found.is_partial is is_named


def test_an_image_whose_base_starts_a_server_is_the_reason_without_another(tmp_path):
    found = read(tmp_path, {"Dockerfile": "FROM tiangolo/uvicorn-gunicorn-fastapi\nCOPY . /app\n"})
    assert found.stack == "" and found.problem.startswith("image tiangolo/uvicorn-gunicorn-fastapi: ")


def test_variables_of_a_build_are_none_of_the_app_s(tmp_path):
    envs = "[{key: A, value: x, scope: BUILD_TIME}, {key: B, value: y, scope: RUN_TIME}]"
    spec = f"services:\n- name: web\n  run_command: gunicorn a:b\n  envs: {envs}\n"
    assert read(tmp_path, {".do/app.yaml": spec}).variables == ("B",)


def test_a_worker_is_no_deployment(tmp_path):
    compose = "services:\n  web:\n    command: uvicorn a:b --reload\n  worker:\n    command: jobs a.Settings\n"
    assert current_deployment(write(tmp_path, {"compose.yml": compose}), SPECS, None) is None


def test_a_site_of_nginx_stands_before_the_server(tmp_path):
    found = read(
        tmp_path,
        {"deploy/nginx/site.conf": SITE, "static/a.css": "", "compose.yml": "w: {command: gunicorn -w 2 a:b}"},
    )
    assert found.stack == 'nginx:config="deploy/nginx/site.conf"/http/gunicorn:workers=2,socket=tcp'
    changes = {(change.line, change.key): change.concern for change in found.changes}
    assert changes[3, "listen"] is Concern.ADDRESS
    assert changes[5, "alias"] is Concern.PATHS
    assert [(gap.file, gap.line, gap.what) for gap in found.gaps] == [
        ("deploy/nginx/site.conf", 6, "location /media/")
    ]
    assert parse_stack(found.stack, SPECS, ANY, tmp_path).path == found.stack.replace('"', "")


def test_instances_of_supervisor_are_instances_behind_nginx(tmp_path):
    files = {"supervisord.conf": "[program:web]\ncommand=gunicorn -w 2 a:b\nnumprocs=3\n"}
    alone = read(tmp_path, files)
    assert alone.stack == "gunicorn:workers=2"
    assert "balances" in alone.gaps[0].why
    behind = read(tmp_path, {"nginx.conf": SITE})
    assert behind.stack.endswith("/http/gunicorn:workers=2,socket=tcp,instances=3")


def test_a_front_end_that_speaks_otherwise_is_named(tmp_path):
    site = "server { location / { include uwsgi_params; uwsgi_pass unix:/tmp/a.sock; } }"
    ini = {"uwsgi.ini": "[uwsgi]\nsocket = /tmp/a.sock\nprocesses = 2\n"}
    found = read(tmp_path, {"nginx.conf": site, "shop.service": "[Service]\nExecStart=gunicorn a:b"})
    assert found.stack == "gunicorn:workers=1"
    assert "forwards by uwsgi" in found.gaps[0].why
    (tmp_path / "shop.service").unlink()
    found = read(tmp_path, ini)
    assert found.stack == "nginx:config=nginx.conf/uwsgi/uwsgi:config=uwsgi.ini"


def test_what_cannot_be_taken_over_is_named_by_line(tmp_path):
    command = "gunicorn a:b --workers $(cat workers) --bind :80 --worker-class gevent --config missing.py"
    found = read(tmp_path, {"run.sh": "", "Procfile": f"# x\nweb: {command}\n"})
    assert found.stack == "gunicorn:workers=1,class=gevent,keep_alive=2"
    assert [(gap.line, gap.what) for gap in found.gaps] == [
        (2, "--workers $(cat workers)"),
        (2, "--config missing.py"),
    ]
    assert [(change.key, change.theirs, change.concern) for change in found.changes] == [
        ("--bind", ":80", Concern.ADDRESS)
    ]


def test_an_unknown_worker_class_is_no_other_stack(tmp_path):
    found = read(tmp_path, {"Procfile": "web: gunicorn -k eventlet a:b\n"})
    assert found.stack == ""
    assert "eventlet" in found.problem


def test_a_secret_of_a_file_of_variables_is_not_told(tmp_path):
    found = read(
        tmp_path,
        {
            "compose.yml": "services: {w: {command: gunicorn a:b, env_file: .env}}",
            ".env": "DSN=hunter2\n",
            "gunicorn.conf.py": "import os\ndsn = os.environ['DSN']\n",
        },
    )
    assert "hunter2" not in repr(found)
    assert [(gap.file, gap.line, gap.what) for gap in found.gaps] == [("gunicorn.conf.py", 2, "DSN")]


BROKEN = {
    "Procfile": "web: gunicorn 'shop:app\n",
    "nginx.conf": "server { location / { proxy_pass http://a; }",
    "compose.yaml": "services: [unclosed",
    "shop.service": "ExecStart",
    "supervisord.conf": "[program",
    "gunicorn.conf.py": "workers = (",
    "uwsgi.ini": "nothing",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_no_error(tmp_path, name):
    read(tmp_path, {"Dockerfile": "CMD gunicorn -w 2 a:b", name: BROKEN[name]})


def test_a_server_of_another_app_is_not_the_current_one(tmp_path):
    files = {
        "compose.prod.yml": "services: {docs: {command: gunicorn docs:app}}",
        "Procfile": "web: gunicorn shop.wsgi --workers 4",
    }
    entry = Entry(kind=EntryKind.DJANGO, target="shop.settings")
    found = read(tmp_path, files, entry=entry)
    assert (found.stack, found.file) == ("gunicorn:workers=4", "Procfile")


def test_threads_beside_a_file_change_the_class_that_it_has(tmp_path):
    found = read(tmp_path, {"Procfile": "web: gunicorn a:b --threads 2", "gunicorn.conf.py": "workers = 2\n"})
    assert found.stack == "gunicorn:class=gthread,threads=2,config=gunicorn.conf.py"
    (tmp_path / "gunicorn.conf.py").write_text("worker_class = 'gevent'\n")
    found = read(tmp_path, {})
    assert found.stack == "gunicorn:config=gunicorn.conf.py"


def test_files_above_the_app_are_those_of_its_repository(tmp_path):
    write(
        tmp_path,
        {
            "repo/compose.prod.yml": "services: {w: {command: gunicorn -c /app/gunicorn.conf.py a:b}}",
            "repo/backend/gunicorn.conf.py": "workers = 2\n",
            "repo/nginx/site.conf": SITE,
        },
    )
    backend = tmp_path / "repo" / "backend"
    found = read(backend, {})
    assert found.stack == "gunicorn:config=gunicorn.conf.py"
    (tmp_path / "repo" / ".git").mkdir()
    found = read(backend, {})
    assert found.stack == 'nginx:config="../nginx/site.conf"/http/gunicorn:socket=tcp,config=gunicorn.conf.py'
    assert parse_stack(found.stack, SPECS, ANY, backend)
    assert (found.location, found.path) == ("compose.prod.yml:1", "../compose.prod.yml")


ABOVE = {
    "it copies all": ("COPY . /srv", "", True),
    "it copies the app": ("COPY requirements.txt services/web/ ./", "", True),
    "it copies a part of the app": ('COPY ["services/web/shop", "/srv/shop"]', "", True),
    "it copies by a variable": ("COPY ${PART} /srv", "", True),
    "a stage copies all": ("COPY . /srv\nFROM python\nCOPY --from=0 /srv /srv", "", True),
    "it copies nothing": ("RUN pip install gunicorn", "", True),
    "it copies another app": ("COPY services/api /srv", "", False),
    "it copies from elsewhere": ("ADD https://shop.example/a.py /srv/\nCOPY services/api /srv", "", False),
    "the app is ignored": ("COPY . /srv", "**/web\n", False),
    "all but another app is ignored": ("COPY . /srv", "# few\n*\n!services/api/\n", False),
    "all but the app is ignored": ("COPY . /srv", "*\n!services/web\n", True),
    "all but a part of the app is ignored": ("COPY . /srv", "/*\n!services/web/shop\n", True),
}


@pytest.mark.parametrize("case", ABOVE)
def test_a_dockerfile_above_the_app_counts_if_its_image_may_contain_the_app(tmp_path, case):
    lines, ignored, counts = ABOVE[case]
    dockerfile = f"FROM python\n{lines}\nCMD gunicorn -w 3 a:b\n"
    write(tmp_path, {".git/HEAD": "", "Dockerfile": dockerfile, ".dockerignore": ignored})
    web = tmp_path / "services" / "web"
    found = current_deployment(write(web, {"a.py": ""}), SPECS)
    assert (found and found.stack) == ("gunicorn:workers=3" if counts else None)
    assert read(web, {}, tmp_path / "Dockerfile").stack == "gunicorn:workers=3"


def test_the_front_end_beside_the_app_s_folder_is_that_of_its_services(tmp_path):
    write(
        tmp_path,
        {
            ".git/HEAD": "",
            "compose.prod.yml": "services: {w: {command: 'gunicorn a:b'}, n: {build: ./services/nginx}}",
            "services/nginx/nginx.conf": SITE,
            "services/other/nginx.conf": SITE,
        },
    )
    web = tmp_path / "services" / "web"
    for file in (None, web / "../../compose.prod.yml"):
        found = read(web, {"a.py": ""}, file)
        assert found.stack == 'nginx:config="../nginx/nginx.conf"/http/gunicorn:workers=1,socket=tcp'


def test_a_front_end_that_is_named_stands_before_no_platform_s_server(tmp_path):
    files = {
        "render.yaml": "services:\n- type: web\n  startCommand: gunicorn -w 4 a:b\n",
        "Dockerfile": 'CMD ["gunicorn", "-w", "2", "a:b"]\n',
        "nginx/site.conf": SITE,
    }
    assert read(tmp_path, files).stack == "gunicorn:workers=4"
    found = read(tmp_path, {}, tmp_path / "nginx/site.conf")
    assert (found.location, found.stack) == (
        "Dockerfile:1",
        'nginx:config="nginx/site.conf"/http/gunicorn:workers=2,socket=tcp',
    )


def test_a_platform_has_front_ends_of_its_own_whichever_script_its_file_names(tmp_path):
    files = {"Procfile": "web: bash start.sh", "start.sh": "#!/bin/sh\ngunicorn -w 3 a:b\n", "etc/nginx.conf": SITE}
    found = read(tmp_path, files)
    assert (found.stack, found.location) == ("gunicorn:workers=3", "start.sh:2")


BUILDPACK = {
    "a site": ({"config/nginx.conf": SITE}, 'nginx:config="config/nginx.conf"/http/', "config/nginx.conf"),
    "a template of ERB's": (
        {"config/nginx.conf.erb": "server {\n  listen <%= ENV['A'] %>;\n  location / { proxy_pass http://a; } }"},
        "nginx/http/", "config/nginx.conf.erb"),
    "the buildpack's own": ({}, "nginx/http/", "Procfile"),
}  # fmt: skip


@pytest.mark.parametrize("case", BUILDPACK)
def test_a_front_end_that_a_platforms_command_starts_stands_before_the_server(tmp_path, case):
    files, before, said = BUILDPACK[case]
    line = "bin/start-nginx gunicorn -w 3 a:b"
    found = read(tmp_path, {**files, "Procfile": f"web: {line}\n"})
    assert found.stack.startswith(before)
    assert found.stack.partition("/http/")[2].startswith("gunicorn")
    assert said in {gap.file for gap in found.gaps}
    assert parse_stack(found.stack, SPECS, ANY, tmp_path)


def test_what_another_folder_of_the_repository_runs_is_not_this_apps(tmp_path):
    write(
        tmp_path,
        {
            "nginx-flask/compose.yaml": "services: {w: {build: web, command: gunicorn -w 3 a:b}}",
            "nginx-flask/web/Dockerfile": "FROM x\nCOPY . /code/\n",
            "nginx-flask/nginx.conf": SITE,
            "flask/a.py": "",
            ".git/HEAD": "",
        },
    )
    assert current_deployment(tmp_path / "flask", SPECS) is None
    assert current_deployment(tmp_path / "nginx-flask", SPECS) is not None


QUEUES = {
    "uwsgi.ini": ("uwsgi --ini uwsgi.ini", "[uwsgi]\nmodule = shop:app\n; listen = 5\nlisten = 10\n", 4, "uWSGI"),
    "gunicorn.conf.py": ("gunicorn shop:app", "backlog = 10  # few\n", 1, "Gunicorn"),
    "Procfile": ("gunicorn --backlog 10 shop:app", "", 1, "Gunicorn"),
}


@pytest.mark.parametrize("file", QUEUES)
def test_how_many_connections_may_wait_is_read_with_its_place(tmp_path, file):
    command, text, line, title = QUEUES[file]
    files = {"shop.py": "app = None\n", file: text, "Procfile": f"web: {command}\n"}
    found = current_deployment(write(tmp_path, files), SPECS)
    assert found.queue is not None
    assert (found.queue.server.lower(), found.queue.location, found.queue.value) == (
        title.lower(),
        f"{file}:{line}",
        10,
    )


def test_a_queue_of_which_no_file_says_anything_is_not_known(tmp_path):
    found = current_deployment(write(tmp_path, {"Procfile": "web: gunicorn shop:app\n"}), SPECS)
    assert found.queue is None
