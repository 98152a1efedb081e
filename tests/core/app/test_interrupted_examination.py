"""Ctrl-C while the app's interpreter is being started: nothing of it lives on."""

import sys
from pathlib import Path

import psutil
import pytest
from tests.interrupting import interrupt_parent

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.data_paths import data_paths
from stackrace.app.examine import examine
from stackrace.base.process.view import ProtectedView


class Interrupting(ProtectedView):
    """A view in which somebody presses Ctrl-C as soon as a process enters it."""

    def entering(self, folder):
        return interrupt_parent


@pytest.mark.parametrize("start", [examine, data_paths], ids=lambda start: start.__name__)
def test_an_interruption_before_the_process_is_known_leaves_nothing_of_it(tmp_path, start):
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1000)\n")
    app = App(name="slow", entry=entry_of(EntryKind.DJANGO, "slow"), root=tmp_path, python=Path(sys.executable))
    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        start(app, view=Interrupting())
    assert set(psutil.Process().children()) == before
