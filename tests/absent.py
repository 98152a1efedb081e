"""A machine on which nothing is installed: its programs are not found, wherever they are."""

from stackrace.stacks import services


def nothing_installed(monkeypatch, folder):
    """Hide every program: PATH is the empty ``folder``, and nobody looks anywhere else."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(services, "FOLDERS", ())
    monkeypatch.setattr(services, "_POSTGRESQL", folder)
