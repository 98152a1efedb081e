"""The bundled Django app beside a running database, for the tests of its pages and of its seeds."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.services import start_services

from stackrace.app.app import App
from stackrace.app.bundle import bundled
from stackrace.app.environment import app_environment
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.seeding import prepare
from stackrace.stacks.services import services

OURS = bundled()

ASK = """
import base64, json, os, sys
sys.path.insert(0, os.getcwd())
import django
django.setup()
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
client, found = Client(SERVER_NAME="127.0.0.1"), {}
for path in json.load(sys.stdin):
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(path)
        body = b"".join(answer) if answer.streaming else answer.content
    found[path] = [answer.status_code, len(captured), answer["Content-Type"], base64.b64encode(body).decode()]
json.dump(found, sys.stdout)
"""

STATE = """
import json, os, sys
sys.path.insert(0, os.getcwd())
import django
django.setup()
from django.apps import apps
from django.db import connection
labels = ("library", "frameworks", "seeding")
models = [model for label in labels for model in apps.get_app_config(label).get_models()]
rows = {model._meta.db_table: model.objects.count() for model in models}
with connection.cursor() as cursor:
    kept = {
        table: sorted(sorted(c["columns"]) for c in connection.introspection.get_constraints(cursor, table).values()
                      if c["index"] or c["foreign_key"])
        for table in rows
    }
json.dump([rows, kept], sys.stdout)
"""


@dataclass(eq=False)
class Site:
    """The app beside a running database; ``state`` are its rows by table and its indexes and foreign keys."""

    app: App

    def run(self, *command, text="", file_limit=None):
        """Run a command of the app's; ``file_limit`` bytes is as long as a file may become."""
        limit = ("prlimit", f"--fsize={file_limit}") if file_limit else ()
        environ = app_environment(self.app)
        return subprocess.run(
            (*limit, *command), cwd=self.app.root, env=environ, input=text, capture_output=True, text=True
        )

    def seed(self, *names, **options):
        return self.run("python", "manage.py", "seed", *names, **options)

    def tell(self, script, text=""):
        done = self.run("python", "-c", script, text=text)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def state(self):
        return self.tell(STATE)


def site(database, guard):
    """Start the database, unless it is SQLite, and migrate it; what is not installed skips the test."""
    wanted = [] if database == "sqlite" else [database]
    for name in wanted:
        if missing := services()[name].missing():
            pytest.skip(missing)
    beside = start_services(wanted, guard, cores=())
    environments = Environments(cache_folder(), lambda _: None)
    python = environments.of_requirements(OURS.requirements(wanted), Path(sys._base_executable), UNPROTECTED)
    data = guard.directory / "data"
    data.mkdir()
    app = OURS.app(python=python, data=data, services=wanted)
    extra = {"PYTHONPYCACHEPREFIX": str(cache_folder() / "pycache"), **beside.environment}
    app = replace(app, environment={**app.environment, **extra})
    prepare(app, guard)
    return Site(app)
