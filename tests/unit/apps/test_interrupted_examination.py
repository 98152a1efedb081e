"""Ctrl-C while the app's interpreter is being started: nothing of it lives on."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from stackrace.apps import data_places, entry_of, examine
from stackrace.model.app import App, EntryKind


@pytest.mark.parametrize("start", [examine, data_places], ids=lambda start: start.__name__)
def test_an_interruption_before_the_process_is_known_leaves_nothing_of_it(tmp_path, start):
    def interrupt():
        # in the new process, while its parent waits for it within Popen
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.2)

    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1000)\n")
    app = App(name="slow", entry=entry_of(EntryKind.DJANGO, "slow"), root=tmp_path, python=Path(sys.executable))
    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        start(app, begin=interrupt)
    assert set(psutil.Process().children()) == before
