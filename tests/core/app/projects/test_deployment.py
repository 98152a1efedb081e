"""What deployment files start decides which app is meant."""

import pytest
from tests.folders import write

from stackrace.app.projects.deployment_files import deployment_commands
from stackrace.app.projects.detection import detect

TWO = {
    "shop.py": "from flask import Flask\napp = Flask(__name__)\n",
    "other.py": "from flask import Flask\napp = Flask(__name__)\ndef make_app(env='x'):\n    return Flask(env)\n",
    "api.py": "from fastapi import FastAPI\napp = FastAPI()\ndef build():\n    return FastAPI()\n",
}
"""Several applications, so that only the deployment file can decide."""

FILES = {
    "a Procfile": (
        {"Procfile": "release: flask db upgrade\nweb: gunicorn shop:app -b 0.0.0.0:$PORT\n"},
        "wsgi shop:app",
    ),
    "a module alone": (
        {"Procfile": "web: gunicorn wsgi\n", "wsgi.py": "from shop import app as application"},
        "wsgi wsgi:application",
    ),
    "a worker class": ({"Procfile": "web: gunicorn -k uvicorn.workers.UvicornWorker -w 4 api:app"}, "asgi api:app"),
    "an environment's runner": (
        {"Procfile": "web: poetry run python -m uvicorn api:build --factory"},
        "asgi api:build()",
    ),
    "the words of an image": (
        {"Dockerfile": 'FROM x\nENTRYPOINT ["uvicorn"]\nCMD ["api:app", "--host", "0.0.0.0"]\n'},
        "asgi api:app",
    ),
    "the shell of an image": (
        {"Dockerfile": "CMD gunicorn \\\n  --bind :80 'other:make_app(\"live\")'\n"},
        "wsgi other:make_app('live')",
    ),
    "a shell in words": (
        {"Dockerfile": 'CMD ["sh", "-c", "flask db upgrade && exec gunicorn other:app"]'},
        "wsgi other:app",
    ),
    "a script of an image": (
        {"Dockerfile": 'ENTRYPOINT ["/app/start.sh"]', "start.sh": "#!/bin/sh\nset -e\nexec gunicorn other:app\n"},
        "wsgi other:app",
    ),
    "a variable of an image": ({"Dockerfile": 'ENV FLASK_APP=other.py\nCMD ["flask", "run"]'}, "wsgi other:app"),
    "compose": (
        {"compose.yaml": "services:\n  web:\n    command: >\n      waitress-serve --port 80\n      shop:app\n"},
        "wsgi shop:app",
    ),
    "a factory of waitress": (
        {"compose.yaml": "services: {a: {command: [waitress-serve, --call, 'other:make_app']}}"},
        "wsgi other:make_app()",
    ),
    "pyproject.toml of FastAPI": ({"pyproject.toml": '[tool.fastapi]\nentrypoint = "api:app"\n'}, "asgi api:app"),
    "a task": (
        {"pyproject.toml": '[tool.pdm.scripts]\nstart = {cmd = "litestar --app api:app run"}\n'},
        "asgi api:app",
    ),
    "gunicorn's own file": ({"gunicorn.conf.py": "workers = 2\nwsgi_app = 'shop:app'\n"}, "wsgi shop:app"),
    "uWSGI's own file": (
        {"uwsgi.ini": "[uwsgi]\nchdir = /srv/x\nwsgi-file = shop.py\ncallable = app\nprocesses = %k\n"},
        "wsgi shop:app",
    ),
    "supervisor": (
        {"deploy/app.conf": "[program:web]\ncommand=/opt/venv/bin/gunicorn shop:app\n"},
        "wsgi shop:app",
    ),
    "systemd": ({"shop.service": "[Service]\nExecStart=/srv/venv/bin/hypercorn api:app\n"}, "asgi api:app"),
    "flask's own file": ({".flaskenv": "FLASK_APP=other:make_app\n"}, "wsgi other:make_app()"),
    "quart's own file": ({".quartenv": "QUART_APP='api:build'\n"}, "asgi api:build()"),
    "a file of fastapi": ({"Dockerfile": 'CMD ["fastapi", "run", "api.py", "--port", "80"]'}, "asgi api:app"),
    "granian": ({"Procfile": "web: granian --interface wsgi shop:app"}, "wsgi shop:app"),
    "a folder": ({"Procfile": "web: cd site && gunicorn web:app", "site/web.py": TWO["shop.py"]}, "wsgi web:app"),
}


@pytest.mark.parametrize("case", FILES)
def test_the_app_that_is_deployed_is_raced(tmp_path, case):
    files, expected = FILES[case]
    project = detect(write(tmp_path, {**TWO, **files}), {})
    assert project is not None
    assert f"{project.entry.kind} {project.entry.target}" == expected
    if len(files) == 1:
        assert project.location == next(iter(files))


VALUES = {
    "a file of gunicorn's": {
        "compose.yml": "services: {w: {command: gunicorn -c gunicorn.conf.py}}",
        "gunicorn.conf.py": "wsgi_app = 'shop:app'\n",
        "gunicorn.py": "application = None\n",
    },
    "a value that looks like an app": {"Procfile": "web: gunicorn --log-config other:app --bind x:80 shop:app\n"},
    "a switch before it": {"Procfile": "web: gunicorn --preload -w4 shop:app\n"},
    "the last one": {"Procfile": "web: gunicorn shop:app --access-logfile other\n"},
}


@pytest.mark.parametrize("case", VALUES)
def test_the_value_of_an_option_is_no_app(tmp_path, case):
    project = detect(write(tmp_path, {**TWO, **VALUES[case]}), {})
    assert project is not None
    assert project.entry.target == "shop:app"


BROKEN = {
    "Procfile": "web: gunicorn 'shop:app\n",
    "Dockerfile": 'CMD ["gunicorn"',
    "compose.yaml": "services: [unclosed",
    "compose.yml": "services: {web: {image: x/web, profiles: true, networks: 5, links: 5, env_file: 5, deploy: 5}}",
    "pod.yaml": "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: x/web, env: 5, envFrom: {a: 1}}]}\n"
    "---\nkind: [Pod]\n---\nkind: Pod\nspec: {containers: [{image: x/web, env: [{name: A, valueFrom: "
    "{configMapKeyRef: {name: m, key: {a: 1}}}}]}]}\n---\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: 1}\n",
    "pyproject.toml": "[tool",
    "gunicorn.conf.py": "wsgi_app = (",
    "uwsgi.ini": "no section",
    "railway.json": "{",
    "fly.toml": "=",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_no_error(tmp_path, name):
    write(tmp_path, {"app.py": "from flask import Flask\napp = Flask(__name__)\n", name: BROKEN[name]})
    project = detect(tmp_path, {})
    assert project is not None
    assert project.entry.target == "app:app"


def test_a_file_that_only_names_what_is_not_there_decides_nothing(tmp_path):
    write(
        tmp_path, {"app.py": "from flask import Flask\napp = Flask(__name__)\n", "Procfile": "web: gunicorn x:app"}
    )
    project = detect(tmp_path, {})
    assert project is not None
    assert project.entry.target == "app:app"


def test_aliases_of_yaml_do_not_take_for_ever(tmp_path):
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    write(tmp_path, {"compose.yaml": f"l0: &l0 [lol]\n{levels}\n"})
    assert deployment_commands(tmp_path) == ()
