"""A machine on which nothing is installed: its programs are not found, wherever they are."""

from stackrace.stacks.services import contract, postgresql


def nothing_installed(monkeypatch, folder):
    """Hide every program: PATH is the empty ``folder``, and nobody looks anywhere else."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(contract, "FOLDERS", ())
    monkeypatch.setattr(postgresql, "_ROOT", folder)
