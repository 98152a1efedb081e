"""Ports, and whether they can be reached."""

import shutil
import subprocess
import sys

import pytest

from stackrace.deploy.sockets import require_loopback

ASK = "from stackrace.deploy.sockets import require_loopback; require_loopback()"


def test_a_loopback_interface_that_is_down_is_named_with_the_way_out():
    require_loopback()
    alone = ["unshare", "--net", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    said = subprocess.run([*alone, sys.executable, "-c", ASK], capture_output=True, text=True).stderr
    assert "the loopback interface is down" in said and "ip link set lo up" in said
