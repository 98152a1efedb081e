"""Debian has every package that is promised: apt simulates installing them all."""

import shutil
import subprocess

import pytest

from stackrace.deploy.preparing import Step
from stackrace.features.comparisons.apps import NEEDS
from stackrace.race.preparation.installing import install_python
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.race_file import read_request
from stackrace.stacks.servers import catalogue
from stackrace.stacks.services import services

WANTED = {
    *(package for entry in catalogue() for package in entry.needs.apt),
    *(package for service in services().values() for package in service.apt),
    *(package for needs in NEEDS.values() for package in needs.values()),
}


def test_debian_has_all_packages_and_they_can_be_installed_together():
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get here")
    if subprocess.run(["apt-cache", "show", "apache2"], capture_output=True).returncode:
        pytest.skip("apt has no lists of packages here; run: apt-get update")
    command = ["apt-get", "install", "--simulate", "--no-install-recommends", *sorted(WANTED)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_a_race_takes_the_environments_that_were_installed_for_it(django_python, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "notes.py").write_text(
        "def app(environ, start_response):\n"
        "    start_response('200 OK', [('Content-Length', '2')])\n"
        "    return [b'hi']\n"
    )
    file = project / "race.toml"
    file.write_text(f'[app]\nwsgi = "notes:app"\npython = "{django_python}"\n[race]\nstacks = ["waitress"]\n')
    request = read_request(file)
    first, second = [], []
    install_python([request], catalogue(), first.append)
    with set_up(request, second.append) as deployment:
        assert [stack.path for stack in deployment.stacks] == ["waitress"]
    assert [preparing.step for preparing in first] == [Step.PACKAGES]
    assert not {preparing.step for preparing in second} & {Step.PACKAGES, Step.ENVIRONMENT}
