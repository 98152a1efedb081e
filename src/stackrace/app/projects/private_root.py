"""Run a command where it cannot change this machine, and where only harmless programs are real.

This module runs as a script without third-party packages. It reads a JSON document from standard input and writes
the result as JSON to standard output. The command gets a root file system in memory, its own processes and no
network. The root contains this machine's libraries (read-only), a few harmless tools, and a folder of the user
under an overlay. Every other program that may be called is a recorder: it notes its words, its folder and its
variables, and succeeds. A tool that copies, moves or removes files always succeeds: files that an image's build
would make are missing here. A recorder whose output is read, and a tool that cannot read its file, print a number,
which stands for an unknown value. A program that follows a file (``tail -f``) ends at once.

Request::

    {"folder": "/home/me/shop",
     "places": {"/app": "backend", "/go": "docker/go"},  paths in the root, and the folder's paths shown there
     "scripts": ["start.sh"],                            shell scripts of the folder, which are run
     "programs": ["gunicorn", "/app/manage.py"],         programs that are recorded, by name or path
     "tools": ["/opt/venv/bin"],                         folders that have all programs
     "argv": […], "env": {…}, "cwd": "/app", "user": 0,
     "numbers": [2, 0], "most_s": 5}                     unknown output n: the first plus n times the second

Answer::

    {"calls": [{"argv": […], "cwd": "…", "env": {…}, "number": null | n, "is_program": true}],
     "is_late": false, "code": 0, "said": "…"}
    {"error": "why the command could not be run"}

Source: user_namespaces(7), mount_namespaces(7), pid_namespaces(7), pivot_root(2), mount_setattr(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TypedDict

if not __package__:
    # run as a script, whose interpreter has only the standard library on sys.path
    sys.path.append(str(Path(__file__).parents[3]))

from stackrace.base.files import read_bytes
from stackrace.base.process.deadline import Deadline
from stackrace.base.process.namespaces import bind, isolate, mount_memory, mount_overlay, mount_processes, pivot
from stackrace.base.process.processes import pids


class _Asked(TypedDict):
    folder: str
    places: dict[str, str]
    scripts: list[str]
    programs: list[str]
    tools: list[str]
    argv: list[str]
    env: dict[str, str]
    cwd: str
    user: int
    numbers: tuple[int, int]
    most_s: float


_OWN = ".stackrace"
_SEARCHED = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin"
_HOST = ("usr", "bin", "lib", "lib32", "lib64", "libx32", "nix", "gnu")
_LIBRARIES = ("lib", "lib32", "lib64", "libx32", "share", "libexec")
_PEER = re.compile(r"/dev/(tcp|udp)/[^\s;&|()<>'\"`]+")
"""Address of a peer, as bash has it, that a script waits for: here is no network, so it would wait for ever."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
_EMPTY = (
    "tmp", "run", "var/log", "var/tmp", "var/run", "var/lib", "root", "home", "srv", "opt", "etc", "usr/local",
)  # fmt: skip
_SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")
_READERS = ("awk", "base64", "cat", "cut", "getconf", "head", "jq", "od", "sed", "sort", "stat", "tail", "wc")
"""Tools whose failure makes their output unknown: an image's build may make the files that they read."""
_CHANGERS = ("chmod", "cp", "ln", "mv", "rm")
"""Tools that never fail: an image's build may make the files they change, and ``set -e`` would end the script."""
_TOOLS = (
    "[", "basename", "bc", "cmp", "comm", "date", "dc", "dirname", "echo", "egrep", "env", "envsubst", "expr",
    "false", "fgrep", "find", "fold", "getopt", "grep", "hostname", "id", "ls", "mkdir", "mktemp", "nproc", "paste",
    "printenv", "printf", "pwd", "readlink", "realpath", "rev", "rmdir", "seq", "tac", "tee", "test", "touch", "tr",
    "true", "tty", "uname", "uniq", "whoami", "xargs",
)  # fmt: skip
_MOST_BYTES = 1 << 26
_MOST_MEMORY = 1 << 30
_MOST_CALLS = 400
"""Number of calls after which the command is killed as an endless loop."""
_POLL_S = 0.01

_UNKNOWN = f"""if [ ! /proc/self/fd/1 -ef /dev/null ]; then
  echo "$f" >> /{_OWN}/unknown
  n=$(/{_OWN}/real/wc -l < /{_OWN}/unknown)
  echo $((FIRST + n * STEP))
  exit 0
fi
"""
_RECORDER = f"""#!/{_OWN}/real/sh
f=$$; while [ -e /{_OWN}/calls/$f ]; do f=$f-; done
{{ printf '%s\\0' "$PWD" "$#" "$0" "$@"; /{_OWN}/real/env -0; }} > /{_OWN}/calls/$f
echo "$f" >> /{_OWN}/order
{_UNKNOWN}"""
_READER = f"""#!/{_OWN}/real/sh
/{_OWN}/real/NAME "$@" && exit
f=$$; while [ -e /{_OWN}/calls/$f ]; do f=$f-; done
{{ printf '%s\\0' "$PWD" "$#" NAME "$@"; }} > /{_OWN}/calls/$f
{_UNKNOWN}exit 1
"""
_CHANGER = f"""#!/{_OWN}/real/sh
/{_OWN}/real/NAME "$@" 2> /dev/null
exit 0
"""
_FOLLOWER = "for w; do case $w in -[fF]*|-[!-]*[fF]*|--follow*) exit;; esac; done\n"
"""Shell lines that end a ``tail`` that follows a file: it keeps a container running, and starts no server."""


def _build(root: Path, lower: int, asked: _Asked) -> None:
    own = root / _OWN
    for name in ("calls", "real", "host", "scripts"):
        (own / name).mkdir(parents=True)
    for name in (*_EMPTY, "usr/bin", "dev", "proc"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in _EMPTY:
        (root / name).chmod(0o777)
    _show_host(root)
    _add_tools(root, *asked["numbers"])
    # every image has a profile, which scripts read
    for path in (own / "order", own / "unknown", root / "etc/profile"):
        path.touch()
    _add_devices(root / "dev")
    _show_folder(root, lower, asked)


def _show_host(root: Path) -> None:
    """Show this machine's libraries and tools in the root; ``isolate`` has made all of them read-only."""
    host = root / _OWN / "host"
    for name in _HOST:
        source = Path("/", name)
        if source.is_symlink():
            (host / name).symlink_to(source.readlink())
        elif source.is_dir():
            (host / name).mkdir()
            bind(host / name, os.open(source, os.O_PATH))
        if name not in ("usr", "bin") and source.exists():
            (root / name).symlink_to(source.readlink() if source.is_symlink() else f"/{_OWN}/host/{name}")
    for name in _LIBRARIES:
        if Path("/usr", name).exists():
            # an image may have folders of its own among them
            (root / "usr" / name).mkdir()
            _link_children(root, f"{_OWN}/host/usr/{name}", root / "usr" / name)
    for name in ("bin", "sbin", "usr/sbin", "usr/local/bin", "usr/local/sbin"):
        # until ``pivot``, an absolute link would lead to this machine's own folder
        (root / name).symlink_to(os.path.relpath("/usr/bin", f"/{name}/.."))


def _add_tools(root: Path, first: int, step: int) -> None:
    own, programs = root / _OWN, root / "usr/bin"
    recorder, reader = (
        text.replace("FIRST", str(first)).replace("STEP", str(step)) for text in (_RECORDER, _READER)
    )
    _script(own / "record", recorder)
    for name in (*_SHELLS, *_READERS, *_CHANGERS, *_TOOLS):
        found = shutil.which(name, path=_SEARCHED)
        if found is None:
            # the deployment's machine may have a tool that this machine lacks
            (programs / name).symlink_to(f"/{_OWN}/record")
            continue
        (own / "real" / name).symlink_to(f"/{_OWN}/host{Path(found).resolve()}")
        if name in _READERS:
            start, _, rest = reader.replace("NAME", name).partition("\n")
            _script(programs / name, f"{start}\n{_FOLLOWER if name == 'tail' else ''}{rest}")
        elif name in _CHANGERS:
            _script(programs / name, _CHANGER.replace("NAME", name))
        else:
            (programs / name).symlink_to(f"/{_OWN}/real/{name}")
    if (own / "real" / "bash").is_symlink():
        # sh of other images knows more than this machine's may: Alpine's has pipefail
        (programs / "sh").unlink()
        (programs / "sh").symlink_to(f"/{_OWN}/real/bash")
    # scripts source this file, so it must not be a program
    (programs / "activate").write_text("")


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _add_devices(folder: Path) -> None:
    for name in _DEVICES:
        (folder / name).touch()
        bind(folder / name, os.open(f"/dev/{name}", os.O_PATH))
    (folder / "shm").mkdir()
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (folder / name).symlink_to(f"/proc/self/{target}")


def _show_folder(root: Path, lower: int, asked: _Asked) -> None:
    """Mount an overlay of the folder that executes no programs, and show its folders and files at their places."""
    own = root / _OWN
    folder = own / "folder"
    folder.mkdir()
    mount_overlay(folder, lower, own / "layer", executes=False)
    scripts = asked["scripts"]
    for number, name in enumerate(scripts):
        copy = own / "scripts" / str(number)
        # a line may end as on Windows
        text = read_bytes(folder / name).replace(b"\r\n", b"\n")
        copy.write_bytes(os.fsencode(_PEER.sub("/dev/null", os.fsdecode(text))))
        copy.chmod(0o755)
        bind(folder / name, os.open(copy, os.O_PATH))
    # folders first: files may lie in them
    for place, name in sorted(asked["places"].items(), key=lambda pair: not (folder / pair[1]).is_dir()):
        target, source = root / place.lstrip("/"), _inside(root, folder / name)
        if name in scripts:
            _put(root, place, f"/{_OWN}/scripts/{scripts.index(name)}")
        elif source and not source.is_dir():
            _put(root, place, f"/{_OWN}/folder/{name}")
        elif source and os.path.lexists(target):
            _link_children(root, f"{_OWN}/folder/{name}", target)
        elif source:
            target.mkdir(parents=True)
            bind(target, os.open(source, os.O_PATH))
    for place in asked["tools"]:
        _put(root, place, "/usr/bin")
    for name in asked["programs"]:
        _put(root, name if "/" in name else f"/usr/bin/{name}", f"/{_OWN}/record")


def _link_children(root: Path, name: str, target: Path) -> None:
    """Link the children of the root's folder ``name`` into ``target``, except names that ``target`` already has."""
    for child in (root / name).iterdir() if _inside(root, target) else ():
        if not os.path.lexists(target / child.name):
            (target / child.name).symlink_to(f"/{name}/{child.name}")


def _put(root: Path, place: str, target: str) -> None:
    """Show ``target`` at ``place``, over an existing file or folder, unless ``place`` is a tool in /usr/bin."""
    path = root / os.path.normpath(place).lstrip("/")
    path = Path(os.path.realpath(path.parent), path.name)
    source = _inside(root, root / target.lstrip("/"))
    if not path.is_relative_to(root) or (path.is_relative_to(root / "usr/bin") and os.path.lexists(path)):
        return
    if not os.path.lexists(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
    elif source and _inside(root, path) and path.is_dir() == source.is_dir():
        bind(path, os.open(source, os.O_PATH))


def _inside(root: Path, path: Path) -> Path | None:
    """Return ``path`` with links resolved; None if it is missing or leads out of the root, as a user's link may."""
    real = Path(os.path.realpath(path))
    return real if real.is_relative_to(root) and real.exists() else None


def _begin(root: Path, asked: _Asked) -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    mount_processes(root / "proc")
    pivot(root)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
    nothing = os.open("/dev/null", os.O_RDWR)
    said = os.open(f"/{_OWN}/said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number, handle in enumerate((nothing, nothing, said)):
        os.dup2(handle, number)
    os.closerange(3, 1024)
    os.umask(0o022)
    main = os.fork()
    if not main:
        try:
            Path(asked["cwd"]).mkdir(parents=True, exist_ok=True)
            os.chdir(asked["cwd"])
            argv = [_PEER.sub("/dev/null", word) for word in asked["argv"]]
            os.execvpe(argv[0], argv, asked["env"])
        except OSError as error:
            os.write(2, f"{error.strerror}: {error.filename}".encode())
        os._exit(127)
    code = 0
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            break
        code = os.waitstatus_to_exitcode(status) if ended == main else code
    os._exit(code & 0xFF)


def _run(asked: _Asked) -> dict[str, object]:
    isolate(asked["user"], asked["user"])
    # the root may hide the folder itself
    root, lower = Path("/tmp"), os.open(asked["folder"], os.O_PATH | os.O_DIRECTORY)
    mount_memory(root, b"mode=755,size=256m")
    os.chdir(root)
    _build(root, lower, asked)
    own = os.open(root / _OWN, os.O_RDONLY | os.O_DIRECTORY)
    calls = os.open(root / _OWN / "calls", os.O_RDONLY | os.O_DIRECTORY)
    child = os.fork()
    if not child:
        _begin(root, asked)
    code = _wait(child, calls, asked["most_s"])
    said = _read(own, "said").decode("utf-8", "replace")[-2000:]
    return {"calls": _calls(own, *asked["numbers"]), "is_late": code is None, "code": code or 0, "said": said}


def _wait(child: int, calls: int, most_s: float) -> int | None:
    """Wait for the end and return the command's exit code; None if it took too long or made too many calls."""
    # /proc is the private root's, once that has been entered
    deadline = Deadline(most_s, pids)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if deadline.is_over or len(os.listdir(calls)) > _MOST_CALLS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(_POLL_S)


def _calls(own: int, first: int, step: int) -> list[dict[str, object]]:
    unknown = _read(own, "unknown").decode().split()
    ordered = _read(own, "order").decode().split()
    # a failed tool counts only if its output was unknown
    calls = []
    for name in dict.fromkeys([*ordered, *unknown]):
        number = first + step * (unknown.index(name) + 1) if name in unknown else None
        if call := _call(_read(own, f"calls/{name}")):
            calls.append({**call, "number": number, "is_program": name in ordered})
    return calls


def _call(record: bytes) -> dict[str, object]:
    """Return the call that a recorder noted; empty if the recorder was killed before it had finished."""
    try:
        folder, number, *words = record.decode("utf-8", "replace").split("\0")
        count = int(number) + 1
    except ValueError:
        return {}
    env = dict(pair.split("=", 1) for pair in words[count:] if "=" in pair)
    return {"argv": words[:count], "cwd": folder, "env": env}


def _read(folder: int, name: str) -> bytes:
    try:
        handle = os.open(name, os.O_RDONLY, dir_fd=folder)
    except FileNotFoundError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read()


def _main() -> None:
    asked = json.load(sys.stdin)
    try:
        answer = _run(asked)
    except OSError as error:
        answer = {"error": f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    _main()
