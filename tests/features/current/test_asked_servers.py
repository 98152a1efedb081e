"""Servers themselves say what they make of their configuration files, in the environment of the app."""

import sys
from pathlib import Path

import pytest

from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.stacks.servers import catalogue

from .setups import current_deployment

FILES = {
    "gunicorn": (
        {
            "gunicorn.conf.py": "import os\nworkers = int(os.environ.get('SIZE', 1))\nmax_requests = 10 * workers\n"
            "raw_env = ['A=' + os.environ.get('SIZE', '')]\nopen('written', 'w')\n"
        },
        "gunicorn a:b",
        ("gunicorn:workers=4,max_requests=40,config=gunicorn.conf.py", 4),
    ),
    "pyuwsgi": (
        {
            "uwsgi.ini": "[uwsgi]\nhttp-socket = :80\nprocesses = $(SIZE)\nini = base.ini\nif-env = SIZE\n"
            "harakiri = 9\nendif =\nmodule = nowhere:application\n",
            "base.ini": "[uwsgi]\nthreads = 2\n",
        },
        "uwsgi --ini uwsgi.ini",
        ("uwsgi:processes=4,harakiri=9,config=uwsgi.ini", 8),
    ),
}


@pytest.mark.parametrize("package", FILES)
def test_a_server_is_asked(tmp_path, package):
    files, command, expected = FILES[package]
    files["compose.yml"] = f"services: {{w: {{command: {command}, environment: {{SIZE: 4}}}}}}\n"
    project = tmp_path / "project"
    project.mkdir()
    for name, text in files.items():
        (project / name).write_text(text)
    (tmp_path / "requirements.txt").write_text(package)
    environments = Environments(cache_folder(), lambda _: None)
    python = environments.of_requirements(tmp_path / "requirements.txt", Path(sys.executable), UNPROTECTED)
    found = current_deployment(project, catalogue().specs, python=python)
    assert found is not None
    assert (found.stack, found.at_once) == expected
    assert sorted(path.name for path in project.iterdir()) == sorted(files)
