"""A private nginx that answers everything with 13 bytes: the fastest real server at hand."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BODY = b"Hello, World!"
_CONFIG = """
daemon off; worker_processes 1; worker_cpu_affinity {mask}; pid {root}/pid; error_log {root}/error.log;
events {{ worker_connections {connections}; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type text/plain;
    client_body_temp_path {root}/a; proxy_temp_path {root}/b; fastcgi_temp_path {root}/c;
    uwsgi_temp_path {root}/d; scgi_temp_path {root}/e;
    server {{ listen 127.0.0.1:{port} backlog=16384; location / {{ return 200 "{body}"; }} }}
}}
"""


@contextmanager
def private_nginx(core: int) -> Iterator[str]:
    """A fresh nginx with one worker on ``core``; yields its address and leaves nothing behind.

    It may have as many connections as files: those of the last generator may still be closing.
    """
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        config = Path(folder, "nginx.conf")
        mask = "1".ljust(core + 1, "0")
        text = _CONFIG.format(root=folder, port=port, body=BODY.decode(), mask=mask, connections=_files())
        config.write_text(text, encoding="utf-8")
        os.chmod(folder, 0o755)  # noqa: PTH101 (nginx's worker is another user when started as root)
        process = subprocess.Popen(["nginx", "-p", folder, "-c", str(config)])
        try:
            _wait_for(port)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=10)


def _files() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    """Return once something listens on ``port``; exit after 5 seconds."""
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("nginx did not start within 5 seconds")
