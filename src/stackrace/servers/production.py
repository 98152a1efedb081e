"""What a server is told where it is deployed for good, beyond what makes it fast."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["ANSWER_S", "GRACEFUL_S", "MOST_BODY_BYTES", "Production"]

GRACEFUL_S = 30
"""Seconds that requests have to end when a server is stopped; Gunicorn's own default, and Kubernetes'."""
ANSWER_S = 60
"""Seconds after which a front end gives an answer up; nginx's and Apache's own default."""
MOST_BODY_BYTES = 16 * 2**20
"""The largest request body. nginx's own limit of 1 MiB refuses a photograph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Production:
    """One server's place on a machine that serves people; its folders are made by who starts it, as systemd."""

    run: Path
    """For pids and sockets; emptied when the machine starts, as ``/run/shop/nginx``."""
    logs: Path
    """As ``/var/log/shop/nginx``."""
    temporary: Path
    """As ``/var/cache/shop/nginx``."""
    proxies: tuple[str, ...] = ()
    """The addresses of those who speak to it for others and are believed; see ``believed``."""
    is_behind: bool = False
    """Whether another server of the stack stands in front, over a socket that nobody else can reach."""
    graceful_s: int = GRACEFUL_S
    most_body_bytes: int = MOST_BODY_BYTES
    answer_s: int = ANSWER_S

    @property
    def believed(self) -> str:
        """Whom to believe X-Forwarded-*; behind another server ``*``: over unix sockets nobody has an address."""
        return "*" if self.is_behind else ",".join(self.proxies)
