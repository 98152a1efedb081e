"""The exported folder on the disk: whole, or not at all."""

from pathlib import Path

import pytest

from stackrace.app.project_files import MARK
from stackrace.base.errors import InputError
from stackrace.features.export import export_files as module
from stackrace.features.export.export_files import write_folder

FILES = {"a.txt": "one", "b/c.txt": "two", MARK: ""}


def test_a_new_folder_holds_all_files_and_nothing_lies_beside_it(tmp_path):
    write_folder(tmp_path / "deploy", FILES, force=False)
    assert (tmp_path / "deploy/b/c.txt").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["deploy"]


def test_existing_files_are_kept_without_force(tmp_path):
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy/own.txt").write_text("mine")
    with pytest.raises(InputError, match=r"is not empty; .*--force"):
        write_folder(tmp_path / "deploy", FILES, force=False)
    assert [path.name for path in (tmp_path / "deploy").iterdir()] == ["own.txt"]


def test_force_replaces_an_earlier_export_and_nothing_else(tmp_path):
    write_folder(tmp_path / "deploy", {**FILES, "old.txt": ""}, force=False)
    write_folder(tmp_path / "deploy", FILES, force=True)
    assert not (tmp_path / "deploy/old.txt").exists()
    (tmp_path / "home").mkdir()
    (tmp_path / "home/diary.txt").write_text("dear diary")
    with pytest.raises(InputError, match="no export made"):
        write_folder(tmp_path / "home", FILES, force=True)
    assert (tmp_path / "home/diary.txt").exists()


def test_a_disk_that_takes_no_more_leaves_the_earlier_export(tmp_path, monkeypatch):
    write_folder(tmp_path / "deploy", FILES, force=False)

    def full(folder, files):
        (folder / "half").write_text("")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_files", full)
    with pytest.raises(InputError, match="No space left"):
        write_folder(tmp_path / "deploy", {"new.txt": ""}, force=True)
    assert (tmp_path / "deploy/a.txt").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["deploy"]


def test_a_folder_below_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="make it with: mkdir -p "):
        write_folder(tmp_path / "no/deploy", FILES, force=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write_folder(tmp_path / "file", FILES, force=True)


def test_who_is_interrupted_between_the_two_renames_has_the_earlier_export(tmp_path, monkeypatch):
    write_folder(tmp_path / "deploy", FILES, force=False)
    rename = Path.rename

    def interrupted(self, target):
        if target == tmp_path / "deploy" and self.name != "old":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "deploy", {"new.txt": ""}, force=True)
    assert (tmp_path / "deploy/a.txt").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["deploy"]
