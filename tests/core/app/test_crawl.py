"""What is heard of a crawl while it goes on, and what is kept of one that was cut."""

import json
import math
import subprocess
import sys
import tempfile

from stackrace.app.examine import Progress, _watched
from stackrace.app.examiner_report import examination_of, read_outcome
from stackrace.measure.workload import Request
from stackrace.stacks.stack import Interface

from .test_examiner_report import APP, REPORT

SURVEY = {
    "pages": [], "asked": ["/", "/b", "/c"], "unasked": {"/logout": "it may change something"}, "static": {},
    "static_root": "", "databases": [], "caches": [],
}  # fmt: skip


def finish(text, status=0):
    outcome = read_outcome(text, log="", status=status)
    return examination_of(outcome, APP, (Request(path="/", headers=(("C", "d"),)),), Interface.WSGI)


def test_pages_that_were_answered_count_however_the_crawl_ended():
    (page,) = REPORT["exchanges"]
    survey = json.dumps(REPORT | {"survey": SURVEY, "exchanges": []})
    text = f"{survey}\nprogress 0 3 9.0\npage {json.dumps(page)}\npage {json.dumps(page)}\n"
    whole = finish(f"{text}{survey}\n")
    assert len(whole.exchanges) == 2
    assert whole.exchanges[1].request.headers == (("X", "y"), ("C", "d"))
    assert (whole.cut, whole.survey.asked) == ("", ("/", "/b", "/c"))
    died = finish(text + 'page {"path": "/c', status=-9)
    assert (len(died.exchanges), died.cut) == (2, "the app died (-9)")
    assert finish(text + "Timeout (0:00:05)!\n", status=1).cut == "no answer in time"
    failed = json.dumps(REPORT | {"survey": SURVEY, "exchanges": [], "failure": "Traceback\nSystemExit: 3\n"})
    assert finish(f"{text}{failed}\n").cut == "SystemExit: 3"


def test_progress_is_heard_while_the_process_runs():
    script = """if True:
        import os, sys
        fd = int(sys.argv[1])
        os.write(fd, b'stage x\\nprogress 1 40 8.5\\nprog')
        sys.stdin.read()
        os.write(fd, b'ress 2 40 8.0\\n')
    """
    heard = []

    def hear(progress):
        heard.append(progress)
        process.stdin.close()

    with tempfile.TemporaryFile() as report:
        command = [sys.executable, "-c", script, str(report.fileno())]
        process = subprocess.Popen(command, pass_fds=(report.fileno(),), stdin=subprocess.PIPE)
        assert _watched(report, hear, math.inf)(process) == 0
    assert heard[0] == Progress(done=1, pages=40, left_s=8.5)


def test_a_process_that_takes_longer_is_left_to_its_caller():
    with tempfile.TemporaryFile() as report:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        assert _watched(report, print, 0.0)(process) is None
        process.communicate()
