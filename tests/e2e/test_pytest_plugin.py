"""The plugin of pytest, in a project of its own."""

import subprocess
import sys

from tests.http_servers import APP

TEST = """
def test_it_answers(stackrace):
    stack = stackrace("waitress")
    result = stack.load("/", requests=20, concurrency=2)
    assert (result.counts.ok, result.counts.errors) == (20, 0)
    assert stack.versions["waitress"]
"""


def test_a_test_starts_the_app_on_a_stack_and_loads_it(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tiny.py").write_text(APP)
    (tmp_path / "test_tiny.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert {path.name for path in tmp_path.iterdir() if path.name != "__pycache__"} == {
        "pytest.ini", "tiny.py", "test_tiny.py",
    }  # fmt: skip
