"""Debian's packages: Ctrl-C leaves none half installed."""

import os
import signal
import threading
import time

import pytest

from stackrace.deploy import installation

APT = """#!/bin/sh
# as apt-get does while dpkg works
trap 'touch {folder}/heard' INT
[ "$1" = update ] && exit
touch {folder}/begun
until [ -e {folder}/go ]; do sleep 0.01; done
touch {folder}/ended
"""


def test_apt_is_told_of_ctrl_c_and_waited_for(tmp_path, monkeypatch):
    program = tmp_path / "apt-get"
    program.write_text(APT.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(installation.os, "geteuid", lambda: 0)

    def interrupt():
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        while not (tmp_path / "heard").exists():
            time.sleep(0.01)
        # longer than subprocess.run is patient
        time.sleep(0.5)
        (tmp_path / "go").touch()

    other = threading.Thread(target=interrupt, daemon=True)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        installation.install_packages(["hello"])
    assert (tmp_path / "ended").exists()
    other.join()
