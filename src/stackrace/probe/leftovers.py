"""Whether anything is left of a stack after it was stopped."""

from __future__ import annotations

from dataclasses import dataclass

from .processes import descendants

__all__ = ["Snapshot", "leftovers", "listening", "snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Processes below one process, and the TCP addresses (``127.0.0.1:8000``) anybody listens on."""

    processes: frozenset[int]
    listening: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.processes or self.listening)


def snapshot(pid: int) -> Snapshot:
    """Look at what runs below ``pid`` and what listens in our network namespace now."""
    return Snapshot(processes=descendants(pid), listening=listening())


def leftovers(before: Snapshot, after: Snapshot) -> Snapshot:
    """Return what is there after a stack was stopped and was not before it started.

    Another program may have started to listen meanwhile: hold ``listening`` against the stack's own ports.
    """
    return Snapshot(
        processes=after.processes - before.processes,
        listening=after.listening - before.listening,
    )


def listening() -> frozenset[str]:
    """Return every TCP address that is listened on in our network namespace, IPv6 in brackets."""
    import psutil

    return frozenset(
        _address(*connection.laddr)
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    )


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
