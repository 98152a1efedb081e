"""A project whose every setting names a program that must not run: each one that does leaves its name in a file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from tests.git_keys import CHOICES, COMMANDS, SHELLED

WHO = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main")
HOOKS = ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman")
STRANGER = 65534
NOWHERE = "http://127.0.0.1:9/simple"
"""An index of packages that nobody answers at: whoever takes it from the project's settings fails."""

PAGE = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]
"""


def trap_of(key: str) -> str:
    """Return the name that is left behind by the program of a setting."""
    return "git-" + key.replace("=", "-").replace("/", "-")


def give_away(folder: Path) -> None:
    """Make ``folder`` another user's, which only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    for place, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(place, name), STRANGER, STRANGER, follow_symlinks=False)


class HostileProject:
    """A repository with a page, which its owner would race, and everything else in it a trap."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "shop"
        self._traps, self._log = home / "traps", home / "ran"
        self._traps.mkdir(parents=True)
        self.folder.mkdir()
        self._log.touch()
        # whoever servers run as may leave his name, too
        self._log.chmod(0o666)
        self._repository(self.folder)
        self._project()

    @property
    def ran(self) -> list[str]:
        """The traps that somebody stepped into."""
        return sorted(set(self._log.read_text().split()))

    @property
    def of_git(self) -> list[str]:
        """Those of them that git's settings name."""
        return [name for name in self.ran if name.startswith("git-")]

    def trap(self, name: str) -> Path:
        """Return a program that leaves ``name`` behind; as a filter it changes nothing."""
        path = self._traps / name
        then = "exec cat" if name.endswith((".clean", ".smudge")) else "exit 1"
        path.write_text(f"#!/bin/sh\necho {name} >> '{self._log}'\n{then}\n")
        path.chmod(0o755)
        return path

    def git(self, folder: Path, *words: str, given: str | None = None) -> str:
        """Run git as its settings could not object to."""
        command = ["git", "-C", str(folder), *WHO, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, input=given).stdout.strip()

    def _repository(self, folder: Path) -> None:
        """A signed commit, then files that differ from it, a submodule like itself, and settings full of traps."""
        self.git(folder, "init", "--quiet")
        (folder / "app.py").write_text(PAGE)
        (folder / ".gitattributes").write_text(
            "*.txt filter=one diff=any merge=any\n*.dat filter=many\n*.odd filter=a=b\n"
        )
        for name in ("a.txt", "a.dat", "a.odd"):
            (folder / name).write_text("first\n")
        if folder == self.folder:
            (folder / "module").mkdir()
            self._repository(folder / "module")
        self.git(folder, "add", "--all")
        tree = self.git(folder, "write-tree")
        commit = (
            f"tree {tree}\nauthor x <x@localhost> 1700000000 +0000\ncommitter x <x@localhost> 1700000000 +0000\n"
            "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nfirst\n"
        )
        signed = self.git(folder, "hash-object", "-t", "commit", "-w", "--stdin", given=commit)
        self.git(folder, "update-ref", "HEAD", signed)
        for name in ("a.txt", "a.dat", "a.odd"):
            # as long as before: only its content, which a filter would read, can tell
            (folder / name).write_text("other\n")
            os.utime(folder / name, (1, 1))
        (folder / "app.py").write_text(f"{PAGE}# changed")
        self._settings(folder)

    def _settings(self, folder: Path) -> None:
        hooks = folder / ".git" / "traps"
        hooks.mkdir()
        for name in HOOKS:
            (hooks / name).symlink_to(self.trap(f"git-hook-{name}"))
        settings = {key: value.format(hooks=hooks) for key, value in CHOICES.items()}
        settings |= {key: str(self.trap(trap_of(key))) for key in COMMANDS}
        settings |= {key: f"!{self.trap(trap_of(key))}" for key in SHELLED}
        settings["remote.origin.url"] = f"ext::{self.trap('git-ext')}"
        with (folder / ".git" / "config").open("a") as file:
            # as `git config` writes them, which would take a process for each
            for key, value in settings.items():
                section, _, name = key.rpartition(".")
                section, _, within = section.partition(".")
                file.write(f'[{section} "{within}"]\n' if within else f"[{section}]\n")
                file.write(f'\t{name} = "{value}"\n')

    def forget_a_tree(self) -> None:
        """Make it a partial clone that lacks what `status` reads: git would fetch it, by what the settings name."""
        tree = self.git(self.folder, "rev-parse", "HEAD^{tree}")
        (self.folder / ".git/objects" / tree[:2] / tree[2:]).unlink()

    def _project(self) -> None:
        """What other tools read where they start: Python, uv, pip, npm, Ruby, PHP, servers, shells."""
        step = f"open({str(self._log)!r}, 'a').write"
        for name in (
            "sitecustomize",
            "usercustomize",
            "json",
            "click",
            "django",
            "stackrace",
            "distributed",
            "setup",
        ):
            (self.folder / f"{name}.py").write_text(f"{step}('python-{name}\\n')\n")
        environment = self.folder / ".venv"
        (environment / "bin").mkdir(parents=True)
        (environment / "pyvenv.cfg").touch()
        for place, names in (
            (environment / "bin", ("python",)),
            (self.folder, ("git", "uv", "python3", "nginx", "apache2", "ruby", "systemctl", "sudo")),
        ):
            for name in names:
                (place / name).symlink_to(self.trap(f"program-{name}"))
        shell = self.trap("settings-command")
        for name, text in {
            "uv.toml": f'index-url = "{NOWHERE}"\n',
            "pip.conf": f"[global]\nindex-url = {NOWHERE}\n",
            ".npmrc": f"registry = {NOWHERE}\nscript-shell = {shell}\n",
            "package.json": f'{{"scripts": {{"preinstall": "{shell}", "start": "{shell}"}}}}\n',
            "Gemfile": f"system({str(shell)!r})\n",
            ".irbrc": f"system({str(shell)!r})\n",
            "php.ini": f"auto_prepend_file = {shell}\n",
            "uwsgi.ini": f"[uwsgi]\nexec-asap = {shell}\n",
            "gunicorn.conf.py": f"{step}('gunicorn-conf\\n')\n",
            "nginx.conf": f"load_module {shell};\n",
            "docker-compose.yml": f"services: {{web: {{build: ., command: '{shell}'}}}}\n",
            "Makefile": f"all:\n\t{shell}\n",
            ".envrc": f"{shell}\n",
            ".pdbrc": f"import os; os.system({str(shell)!r})\n",
            "manage.py": f"{step}('python-manage\\n')\n",
            "race.toml": dedent(
                f"""
                [app]
                wsgi = "app:app"
                servers = "servers"
                prepare = [["{shell}"]]
                """
            ),
        }.items():
            (self.folder / name).write_text(text)
        (self.folder / "servers").mkdir()
        (self.folder / "servers" / "trap.py").write_text(f"{step}('servers-plugin\\n')\n")
