"""``stackrace doctor`` as users type it; nothing here changes this machine."""

import json
import os
import subprocess

import pytest
from tests.conftest import STACKRACE


def test_doctor_says_what_it_saw_and_changes_nothing(stackrace, tmp_path):
    done = stackrace("doctor", "--watch", "100ms", XDG_DATA_HOME=str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    assert "Watched for" in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_doctor_as_json_is_one_document_and_what_forbids_a_race_is_exit_code_one(stackrace, tmp_path):
    done = stackrace("doctor", "-c", "1000000", "--watch", "100ms", "--json", XDG_DATA_HOME=str(tmp_path))
    told = json.loads(done.stdout)
    assert (done.returncode, told["forbidden"]) == (1, True)
    assert told["undo"] is None
    assert "ephemeral ports" in {one["check"] for one in told["advice"]}
    for one in told["advice"]:
        assert {"check", "gain", "seen", "why", "remedy", "command", "applicable", "changes"} <= one.keys()


def test_undo_without_anything_to_undo_says_so(stackrace, tmp_path):
    done = stackrace("doctor", "--undo", XDG_DATA_HOME=str(tmp_path))
    assert done.returncode == 0
    assert f"there is no {tmp_path}/stackrace/doctor.json" in done.stdout


def test_apply_and_undo_contradict_each_other(stackrace):
    done = stackrace("doctor", "--apply", "--undo")
    assert done.returncode == 2
    assert "contradict" in done.stderr


IN_A_NAMESPACE = ("unshare", "--net", "--user", "--map-root-user", "--mount", "--", "sh", "-e", "-c")
HIDE = "mount -t tmpfs none /sys; mount -t tmpfs none /proc/sys/vm; mount -t tmpfs none /proc/sys/kernel"
"""Only the namespace's own network settings are left to be changed."""
SHOW = "cat /proc/sys/net/core/somaxconn /proc/sys/net/ipv4/tcp_tw_reuse"


def in_a_namespace(script, folder):
    """Run ``script`` where ``doctor`` is the command, with a network of its own that has poor settings."""
    poor = "echo 128 > /proc/sys/net/core/somaxconn; echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse"
    called = f'doctor() {{ {STACKRACE} doctor --watch 50ms "$@" || echo "exit $?"; }}'
    environment = os.environ | {"XDG_DATA_HOME": str(folder)}
    return subprocess.run(
        [*IN_A_NAMESPACE, f"{HIDE}; {poor}; {called}; {script}"], env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def namespaces():
    if subprocess.run([*IN_A_NAMESPACE, HIDE], capture_output=True).returncode:
        pytest.skip("this kernel or container makes no namespaces for us")


@pytest.mark.usefixtures("namespaces")
def test_what_is_applied_is_undone(tmp_path):
    done = in_a_namespace(f"doctor --apply; {SHOW}; doctor --undo; {SHOW}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "✓ net.core.somaxconn: 128 → 4096\n" in done.stdout
    assert "✓ net.core.somaxconn: 4096 → 128\n" in done.stdout
    assert "\n4096\n2\n" in done.stdout
    assert done.stdout.endswith("128\n0\n")
    assert list((tmp_path / "stackrace").iterdir()) == []


@pytest.mark.usefixtures("namespaces")
def test_what_another_program_set_meanwhile_stays_and_is_exit_code_one(tmp_path):
    set_ = "echo 777 > /proc/sys/net/core/somaxconn"
    done = in_a_namespace(f"doctor --apply > /dev/null; {set_}; doctor --undo; {SHOW}", tmp_path)
    assert "net.core.somaxconn is 777 now, which another program set: left alone" in done.stdout
    assert "sudo sysctl -w net.core.somaxconn=128" in done.stdout
    assert done.stdout.endswith("exit 1\n777\n0\n")
    kept = json.loads((tmp_path / "stackrace" / "doctor.json").read_text())["changes"]
    assert kept == [{"key": "net.core.somaxconn", "before": "128", "after": "4096"}]


@pytest.mark.usefixtures("namespaces")
def test_without_the_right_to_write_the_command_with_sudo_is_told(tmp_path):
    forbid = "mount -o bind,ro /proc/sys/net /proc/sys/net"
    done = in_a_namespace(f"{forbid}; doctor --apply", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "✗ net.core.somaxconn stays 128: Read-only file system" in done.stdout
    assert f"sudo {STACKRACE} doctor --apply" in done.stdout
    assert done.stdout.endswith("exit 1\n")
    assert list((tmp_path / "stackrace").iterdir()) == []
