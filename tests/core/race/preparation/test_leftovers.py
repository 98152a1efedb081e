"""What a killed race left behind is cleared away, and nothing that is not its own."""

import subprocess
import sys

import pytest

from stackrace.base.errors import InputError
from stackrace.race.preparation.leftovers import clear_away, remembered

WAITING = "import sys; print('up', flush=True); sys.stdin.read()"


def test_a_run_directory_that_a_reboot_left_is_removed(tmp_path):
    folder = tmp_path / "stackrace-01ab23cd"
    (folder / "l1").mkdir(parents=True)
    (folder / "l1" / "nginx.conf").touch()
    clear_away(folder)
    assert not folder.exists()


def test_one_that_is_gone_is_fine(tmp_path):
    clear_away(tmp_path / "stackrace-01ab23cd")


@pytest.mark.parametrize("name", ["stackrace", "stackrace-01ab23cd-mine", "stackrace-0123456z", "races"])
def test_nothing_of_another_name_is_touched(tmp_path, name):
    (tmp_path / name).mkdir()
    clear_away(tmp_path / name)
    assert (tmp_path / name).is_dir()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "stackrace-01ab23cd").symlink_to("precious")
    clear_away(tmp_path / "stackrace-01ab23cd")
    assert (tmp_path / "precious").is_dir()


def test_processes_that_stay_are_named_and_their_folder_is_kept(tmp_path):
    folder = tmp_path / "stackrace-01ab23cd"
    folder.mkdir()
    command = [sys.executable, "-c", WAITING, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(InputError, match=rf"still run; end them with: kill {process.pid}"):
            clear_away(folder, patience_s=0.0)
        assert folder.is_dir()
        process.communicate()
    clear_away(folder)
    assert not folder.exists()


def test_what_a_killed_check_left_is_cleared_away_by_the_next(tmp_path):
    left, used, book = tmp_path / "stackrace-0000aaaa", tmp_path / "stackrace-0000bbbb", tmp_path / "book"
    for folder in (left, used, book):
        folder.mkdir()
    (book / "killed").write_text(f"{left}\n")
    with remembered([used], book):
        assert not left.exists()
        with remembered([], book):
            assert used.exists(), "one that runs is left alone"
        assert len(list(book.iterdir())) == 1
    assert not list(book.iterdir())
