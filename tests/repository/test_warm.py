"""What runs commands for tests: each is a process like any other."""

import os
import subprocess
import sys

import pytest
from tests.conftest import calling

PROGRAM = """
import os, pathlib, sys, time

print(os.getpid(), os.getcwd(), sys.argv[1:], os.environ.get("GIVEN"), sys.stdin.read(), sys.flags.utf8_mode)
print("said", file=sys.stderr)
if "wait" in sys.argv:
    time.sleep(3600)
sys.exit(3)
"""


@pytest.fixture
def program(tmp_path):
    """The file of a program that tells how it was called."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_command_has_its_arguments_folder_variables_and_process(program, tmp_path):
    call = calling(sys.executable, program)
    first, second = (call("a b", "c", cwd=tmp_path, GIVEN="one") for _ in range(2))
    assert (first.returncode, first.stderr) == (3, "said\n")
    pid, told = first.stdout.split(" ", 1)
    assert told == f"{tmp_path} ['a b', 'c'] one  0\n"
    assert int(pid) not in (os.getpid(), int(second.stdout.split()[0]))


def test_what_python_reads_as_it_starts_is_heeded(program):
    assert calling(sys.executable, program)(PYTHONUTF8="1").stdout.endswith(" 1\n")


def test_a_command_that_takes_too_long_is_ended(program):
    with pytest.raises(subprocess.TimeoutExpired):
        calling(sys.executable, program)("wait", timeout=0.1)
    assert calling(sys.executable, program)().returncode == 3
