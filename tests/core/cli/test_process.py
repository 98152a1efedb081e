"""The process as a whole: Ctrl-C leads to its exit code, and all that is printed arrives."""

import fcntl
import os
import struct
import subprocess
import sys
import termios
import textwrap
import time

import pytest


def ended(code):
    """Run ``code`` as a program; returns its exit code and what it says on stderr."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_an_interruption_within_a_callback_is_neither_lost_nor_printed():
    code = """
        import time
        import stackrace.cli as process

        class Dying:
            def __del__(self):
                raise KeyboardInterrupt

        def run():
            Dying()
            time.sleep(60)

        process.execute = run
        process.main()
    """
    assert ended(code) == (130, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_all_that_is_printed_arrives_where_the_reader_is_slow_and_the_pipe_does_not_wait(unbuffered):
    code = """
        from stackrace.cli import stdio
        stdio.open_streams()
        print("x" * 300_000)
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=writing, env=environment) as printing, os.fdopen(reading, "rb") as reader:
        os.close(writing)
        full = struct.pack("i", fcntl.fcntl(reading, fcntl.F_GETPIPE_SZ))
        while fcntl.ioctl(reading, termios.FIONREAD, bytes(4)) != full:
            assert printing.poll() is None, "it went before all was read"
            time.sleep(0.01)
        assert reader.read() == b"x" * 300_000 + b"\n"
    assert printing.returncode == 0
