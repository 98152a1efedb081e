"""Run the command as on macOS or Windows: ``python tests/elsewhere.py darwin|win32 VERB…``.

Python's modules and functions that the other system lacks are taken away. Packages of others keep them: these have
code of their own for it, and are imported before. What stays is Linux's: the file system, and the load engine.
Source: docs.python.org/3/library, "Availability" of each function.
"""

from __future__ import annotations

import importlib
import os
import select
import signal
import socket
import sys
import time

BEFORE = (
    "asyncio", "click", "click.shell_completion", "concurrent.futures", "crossplane", "ctypes", "django.apps",
    "django.conf", "django.core.exceptions", "django.core.management", "django.core.files.locks", "django.db",
    "django.db.backends.base.base", "django.db.backends.signals", "django.db.backends.sqlite3.base",
    "django.db.migrations.recorder", "django.db.migrations.state", "django.http", "django.template",
    "django.test.signals", "django.urls", "django.views.decorators.http", "getpass", "http.server", "jinja2",
    "multiprocessing", "numpy", "numpy.random", "platform", "psutil", "pydantic", "pydantic_core", "pygit2",
    "rich.console", "rich.live", "rich.table", "selectors", "shutil", "socketserver", "sqlite3", "subprocess",
    "tempfile", "uuid", "webbrowser", "wsgiref.simple_server", "yaml", "zoneinfo",
)  # fmt: skip
"""Modules with code of their own for each system."""
LINUX = {
    os: "memfd_create O_PATH pidfd_open pipe2 posix_fadvise sched_getaffinity sched_setaffinity setns unshare",
    time: "CLOCK_BOOTTIME",
    socket: "SO_PEERCRED",
}
"""Functions that only Linux has."""
UNIX = {
    os: "O_ACCMODE O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK chown environb fork getegid geteuid getgid "
    "getloadavg getpgid getpriority getuid killpg major mkfifo nice set_blocking setpriority setsid statvfs "
    "sysconf",
    signal: "SIGCHLD SIGHUP SIGKILL SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 SIGWINCH pthread_sigmask",
    select: "epoll poll",
    socket: "AF_UNIX",
    time: "clock_gettime clock_gettime_ns",
}
"""Functions that Windows lacks, too."""
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""Modules that Windows lacks."""


def move(system: str) -> None:
    """Make this process one of ``system``."""
    for name in BEFORE:
        importlib.import_module(name)
    for absent in (LINUX, UNIX) if system == "win32" else (LINUX,):
        for module, names in absent.items():
            for name in names.split():
                if hasattr(module, name):
                    delattr(module, name)
    if system == "win32":
        # as every session of Windows has it
        os.environ.setdefault("USERNAME", "ann")
        # an import of None fails as that of a missing module does
        sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type]
    sys.platform = system


if __name__ == "__main__":
    move(sys.argv.pop(1))
    from stackrace.__main__ import main

    main()
