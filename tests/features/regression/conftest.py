"""A repository with two commits."""

import subprocess

import pytest


class Work:
    """A work tree that a test commits to."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *words):
        told = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        return subprocess.run(told, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, **files):
        for name, text in files.items():
            self.write(name.replace("__", "/").replace("_", "."), text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "some")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def work(tmp_path):
    made = Work(tmp_path / "shop")
    made.commit(app_py="version = 1\n")
    made.commit(app_py="version = 2\n")
    return made
