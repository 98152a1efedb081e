"""SIGTERM and a closed terminal end a verb as Ctrl-C does, and no signal cuts a file in two."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import textwrap
from functools import partial

import pytest

from stackrace.cli import showing
from stackrace.cli.signals import uncut


def process_of(body, **options):
    """Start the command line with ``body`` as what it runs."""
    code = f"import stackrace.cli as process\ndef run():\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    code += "\nprocess.execute = run\nprocess.main()"
    return subprocess.Popen([sys.executable, "-c", code], **options)


def heard():
    """Undo what nohup does to all that it starts, these tests included."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_ends_a_verb_without_a_word_of_pythons(number):
    body = f"import signal, time\nsignal.raise_signal({int(number)})\ntime.sleep(60)"
    with process_of(body, stderr=subprocess.PIPE, preexec_fn=heard) as process:
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_what_nohup_ignores_stays_ignored():
    body = "import signal\nsignal.raise_signal(signal.SIGHUP)\nprint('raced')"
    ignore = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    with process_of(body, stdout=subprocess.PIPE, preexec_fn=ignore) as process:
        assert process.stdout.read() == b"raced\n"
    assert process.returncode == 0


def test_what_is_said_to_a_closed_terminal_disturbs_no_cleaning_up(tmp_path):
    body = f"""
        import sys, time
        try:
            print("begun", flush=True)
            while True:
                time.sleep(1)
        finally:
            print("stopping", flush=True)
            print("stopping", file=sys.stderr, flush=True)
            open({str(tmp_path / "cleaned")!r}, "w").close()
    """
    ours, theirs = pty.openpty()

    def take():
        heard()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = process_of(body, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take)
    os.close(theirs)
    assert b"begun" in os.read(ours, 100)
    os.close(ours)
    assert process.wait() == 130
    assert (tmp_path / "cleaned").exists()


def test_a_report_is_whole_when_ctrl_c_comes_amid_its_writing(tmp_path, monkeypatch):
    def opener(path, flags):
        descriptor = os.open(path, flags, 0o600)
        signal.raise_signal(signal.SIGINT)
        return descriptor

    monkeypatch.setattr(showing, "_open_private", opener)
    with pytest.raises(KeyboardInterrupt):
        showing.write_text("all of it", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "all of it"


def test_a_reader_that_never_comes_can_be_left(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(KeyboardInterrupt), uncut(tmp_path / "pipe"):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("nobody hears Ctrl-C")


@pytest.mark.parametrize("ignoring", [False, True], ids=["blocked", "children-ignored"])
def test_what_a_parent_blocks_or_does_not_want_to_hear_of_its_children_is_nothing_to_us(ignoring):
    def begin():
        if ignoring:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        else:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])

    body = """
        import signal, subprocess, time
        assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
        signal.raise_signal(signal.SIGTERM)
        time.sleep(60)
    """
    with process_of(body, stderr=subprocess.PIPE, preexec_fn=begin) as process:
        assert process.stderr.read() == b""
    assert process.returncode == 130
