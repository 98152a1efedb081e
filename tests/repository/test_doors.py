"""Each door of the house is the only one: what it keeps safe is done nowhere else in the code."""

import ast
from pathlib import Path

import stackrace

PACKAGE = Path(stackrace.__file__).parent

_WRITES = ("O_WRONLY", "O_CREAT", "O_PATH", "O_DIRECTORY", "devnull")
_KERNELS = ("/proc", "/sys", "cgroup")

NOT_THE_USERS = {
    "app/bundle.py": "pages of the bundled app's examination, in a folder of ours",
    "app/entry.py": "our own module that counts requests",
    "app/projects/private_root.py": "what a shell's stand-ins wrote, in a folder of ours",
    "base/files.py": "the door itself",
    "base/process/keeper.py": "pipes of ours",
    "base/process/namespaces.py": "namespaces, by /proc",
    "base/process/libgit2.py": "files of a repository as long as the pointer says, pipes refused",
    "base/process/priority.py": "priorities of /proc",
    "base/process/processes.py": "/proc",
    "cli/invocation.py": "what an installer wrote of our own package",
    "cli/stdio.py": "standard input and output",
    "cli/showing.py": "the file that a report is written to",
    "deploy/confinement.py": "control groups",
    "deploy/guard.py": "a pipe of ours",
    "deploy/running_stack.py": "what a launch wrote into its own folder, and environments that uv made",
    "deploy/sockets.py": "tables of /proc",
    "deploy/sqlite_files.py": "databases are copied as long as they were when that began, pipes refused",
    "deploy/supervisor.py": "a folder of ours, and a pipe",
    "deploy/surroundings.py": "small regular files of HOME, and tables of /proc",
    "features/capacity/stored.py": "reports of ours",
    "features/comparisons/bundled/ladder/ladder/rungs/file.py": "a bundled app's own file",
    "features/comparisons/raced_again.py": "what a race of ours wrote",
    "features/comparisons/reading.py": "comparisons that are bundled",
    "features/current/observe.py": "/proc, and regular files to a bound, where there is no Stackrace",
    "features/doctor/kernel.py": "settings of the kernel, and what we kept of them",
    "features/export/export_files.py": "a script of ours",
    "features/export/proof.py": "a copy of what was exported",
    "features/publish/verb.py": "a database of ours",
    "measure/probe/host_reading.py": "/proc and /sys",
    "race/preparation/installing.py": "packages that come with us",
    "race/preparation/leftovers.py": "pages and processes that we left",
    "report/html/page.py": "styles of ours",
    "stacks/servers/mod_python/server.py": "a module of ours",
    "stacks/servers/site.py": "a script of ours",
    "store/race_lock.py": "the lock of a race of ours",
}
"""Files that open others themselves, and what they open."""


def calls(path):
    return (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))


def is_reading(call):
    """Tell whether a call opens a file to read, by a path that may be a user's."""
    words = ast.unparse(call)
    arguments = [
        each.value
        for each in (*call.args[:2], *(keyword.value for keyword in call.keywords))
        if isinstance(each, ast.Constant)
    ]
    if any(word in words for word in (*_WRITES, *_KERNELS)) or {"w", "wb", "a", "r+", "closefd"} & set(arguments):
        return False
    match call.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="open"):
            return True
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
            return name in ("copy", "copy2", "copyfile", "copytree")
        case ast.Attribute(value=ast.Name(id="files"), attr="read_text" | "read_bytes"):
            return False
        case ast.Attribute(attr="read_text" | "read_bytes" | "open"):
            return True
    return False


def test_files_of_the_user_are_opened_by_one_function():
    """``files.opened`` refuses what has no end: pipes with a name, devices, and what the kernel makes."""
    opening = {
        path.relative_to(PACKAGE).as_posix(): f"{path}:{call.lineno} {ast.unparse(call)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for call in calls(path)
        if is_reading(call)
    }
    assert [where for name, where in opening.items() if name not in NOT_THE_USERS] == []
    assert sorted(NOT_THE_USERS.keys() - opening.keys()) == []


def test_nothing_is_stored_shown_or_put_into_a_document_but_without_secrets():
    form = (PACKAGE / "base/form.py").read_text()
    text = (PACKAGE / "base/text.py").read_text()
    assert "return kept(str(value)) if form.exact else printable(str(value))" in form
    assert text.count("masked(") == 2
    past = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(sign in path.read_text() for sign in ("file=trusted(", '"trusted"', "sys.__std"))
    }
    # they write styles of ours past the streams that mask
    assert past == {"cli/stdio.py", "cli/main.py", "report/terminal.py"}
