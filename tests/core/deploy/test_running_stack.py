"""What is read of a stack's logs while its servers make and remove folders."""

import os
from pathlib import Path

from stackrace.deploy.running_stack import logs_below, size_bytes, tail
from stackrace.deploy.shutdown import _complaints


def test_a_folder_that_vanishes_while_logs_are_read_holds_nothing(tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "error.log").write_text("why\n", encoding="utf-8")
    (tmp_path / "vanishing").mkdir()
    scandir = os.scandir

    def removing(folder):
        if str(folder).endswith("vanishing"):
            Path(folder).rmdir()
        return scandir(folder)

    for look in (tail, size_bytes, lambda folder: list(logs_below(folder))):
        (tmp_path / "vanishing").mkdir(exist_ok=True)
        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", removing)
            assert look(tmp_path) in ("kept/error.log:\nwhy", 4, [tmp_path / "kept" / "error.log"])


def test_nothing_waits_for_what_has_no_end(tmp_path):
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "zero.log").symlink_to("/dev/zero")
    (tmp_path / "error.log").write_text("why\n", encoding="utf-8")
    assert tail(tmp_path) == "error.log:\nwhy"
    assert not _complaints(logs_below(tmp_path))
