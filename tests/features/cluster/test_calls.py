"""What is sent arrives as itself, pickled once however many get it."""

import pickle
import subprocess
import sys

import pytest

from stackrace.features.cluster.connection import as_bytes, pickled


class Costly:
    times = 0

    def __reduce__(self):
        Costly.times += 1
        return Costly, ()


@pytest.mark.exhaustive
def test_it_arrives_as_itself_however_often_it_is_sent():
    value = pickled(Costly())
    arrived = [pickle.loads(pickle.dumps((index, value))) for index in range(3)]
    assert [index for index, _ in arrived] == [0, 1, 2]
    assert all(isinstance(one, Costly) for _, one in arrived)
    assert Costly.times == 1


@pytest.mark.exhaustive
def test_functions_without_a_name_elsewhere_are_taken_along():
    here = 7
    assert pickle.loads(as_bytes(lambda there: here + there))(2) == 9


def test_what_the_main_script_defines_is_taken_along(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from stackrace.features.cluster.connection import as_bytes\n"
        "def twice(number):\n"
        "    return 2 * number\n"
        "sys.stdout.buffer.write(as_bytes(twice))\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True)
    assert run.returncode == 0, run.stderr
    assert pickle.loads(run.stdout)(4) == 8
