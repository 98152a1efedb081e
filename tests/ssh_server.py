"""An SSH server of a test's own on a port of its own: OpenSSH's where it is installed, else asyncssh's.

Run as ``ssh_server.py FOLDER ADDRESS PORT`` it is asyncssh's: it runs each command in a shell, for whoever has the
user's key of FOLDER, and ends that shell's input with the connection.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time

import asyncssh

HANDED_ON = ("XDG_", "UV_", "PIP_", "SSL_", "HTTP", "STACKRACE_")
"""How variables begin that tell the tests' own processes about folders, machines and the network."""
SERVES_S = 120.0


def make_keys(folder):
    """Write a key for the server and one for the user into ``folder``."""
    for name in ("host", "user"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(folder / name)
        (folder / name).chmod(0o600)
        key.write_public_key(folder / f"{name}.pub")


def make_home(folder, names, port):
    """Make a home folder whose SSH knows each of ``names``, a mapping to addresses; returns it."""
    settings = folder / "home" / ".ssh"
    settings.mkdir(parents=True)
    host_key = (folder / "host.pub").read_text().strip()
    user = pwd.getpwuid(os.geteuid()).pw_name
    (settings / "known").write_text(
        "".join(f"[{address}]:{port} {host_key}\n" for address in dict.fromkeys(names.values()))
    )
    (settings / "config").write_text(
        "".join(
            f"Host {name}\n  HostName {address}\n  Port {port}\n  User {user}\n  IdentityFile {folder}/user\n"
            f"  UserKnownHostsFile {settings}/known\n"
            for name, address in names.items()
        )
    )
    return settings.parent


def command(folder, address, port):
    """Return what runs the server in the foreground."""
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if sshd is not None:
        config = folder / f"sshd_config-{address}"
        handed = " ".join(f"{name}={value}" for name, value in os.environ.items() if name.startswith(HANDED_ON))
        config.write_text(
            f"Port {port}\nListenAddress {address}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n"
            "PidFile none\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            + (f"SetEnv {handed}\n" if handed else "")
        )
        # as root it wants a user and a folder that only its package makes
        if subprocess.run([sshd, "-t", "-f", str(config)], capture_output=True).returncode == 0:
            return [sshd, "-D", "-e", "-f", str(config)]
    return [sys.executable, __file__, str(folder), address, str(port)]


def wait_for(address, port):
    until = time.monotonic() + SERVES_S
    while True:
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            assert time.monotonic() < until, "the SSH server does not answer"
            time.sleep(0.1)
        else:
            return


async def run(process):
    ours = process.get_extra_info("sockname")
    peer = process.get_extra_info("peername")
    shell = await asyncio.create_subprocess_shell(
        process.command or "true",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "SSH_CONNECTION": f"{peer[0]} {peer[1]} {ours[0]} {ours[1]}"},
    )  # fmt: skip
    await process.redirect(stdin=shell.stdin, stdout=shell.stdout, stderr=shell.stderr)
    status = await shell.wait()
    await process.stdout.drain()
    process.exit(status)


async def serve(folder, address, port):
    server = await asyncssh.listen(
        address, int(port), server_host_keys=[f"{folder}/host"], authorized_client_keys=f"{folder}/user.pub",
        process_factory=run, encoding=None,
    )  # fmt: skip
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
