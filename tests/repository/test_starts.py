"""The one door to the user's code: every start of a process is in a protected view, or on a short list."""

import ast
import re

import pytest
from tests.repository.test_architecture import PACKAGE, nodes

STARTS = {
    "asyncio": "create_subprocess_(exec|shell)",
    "multiprocessing": "Process|Pool|get_context",
    "concurrent.futures": "ProcessPoolExecutor",
    "os": "exec.*|spawn.*|posix_spawnp?|fork|forkpty|system|popen",
    "pty": "fork|spawn",
    "runpy": "run_path|run_module",
    "subprocess": "run|Popen|call|check_call|check_output|getoutput|getstatusoutput",
}
"""By module, what starts a process, or runs a file."""

RUNNERS = {"run", "ask", "attended", "git"}
"""Functions of ours that do."""

ALLOWED = {
    # where processes start
    "base/process/commands.py": "below a keeper; who calls it is on this list, or the door",
    "base/process/keeper.py": "what its parent ordered",
    "base/process/view.py": "the door itself",
    "deploy/guard.py": "our supervisor, which starts what it is told in a view",
    "deploy/supervisor.py": "what the guard ordered, in the view that it says",
    # the user's code in a world of its own, which is no view
    "app/projects/private_root.py": "start scripts, in a root in memory without a network",
    "app/projects/shell.py": "our script that makes this root",
    # in the view already
    "app/examiner": "the app's own interpreter, started through the door",
    "app/examine.py": "names what it attends",
    "features/export/stage.py": "the exported files, started through the door",
    "stacks/servers/gunicorn/inspector.py": "the file in question, in an interpreter that came through the door",
    "stacks/servers/uwsgi/inspector.py": "uWSGI, asked by an interpreter that came through the door",
    # bare programs of the machine, asked from / for what they are
    "base/process/git.py": "git, with a configuration of ours",
    "app/lock_files.py": "uv, which reads a lock file and starts no interpreter",
    "deploy/installation.py": "a server's version, dpkg-query, apt and sudo",
    "deploy/privileges.py": "unshare and true",
    "deploy/running_stack.py": "a Ruby's version, without gems and RUBYOPT",
    "deploy/started_services.py": "commands of database servers, on data of ours",
    "deploy/sqlite_files.py": "our own interpreter, which copies a database",
    "deploy/folder_templates.py": "cp and sync",
    "features/comparisons/apps.py": "the machine's Ruby, without RUBYOPT and RUBYLIB",
    "features/current/observe.py": "systemctl, docker and podman, asked for the number of a process",
    "features/doctor/look.py": "programs that know the machine",
    "features/export/packages.py": "dpkg-query",
    "features/regression/checkout.py": "a filter of the user's own settings, as git would, in a base of ours",
}
"""By file or folder, what starts a process elsewhere than through the door, and why it may."""

MAKERS = {
    "base/process/view.py": "the type, and the view for programs of ours",
    "deploy/project_copy.py": "copies",
    "features/current/options.py": "sealed: nothing can be changed or reached",
}
"""Who may make a view."""

OURS = {
    "deploy/environments.py": "uv, which asks the base interpreter, isolated, and installs servers' packages",
    "deploy/protection.py": "bundled apps and plain files",
    "deploy/rendering.py": "paths of plain files",
    "deploy/started_services.py": "database servers, on data of ours",
    "race/preparation/chosen_app.py": "the environment of a bundled app, where nobody names an interpreter",
}
"""Who may start something without protection."""


def starts(module, name):
    return re.fullmatch(STARTS.get(module, "(?!)"), name)


def named(path):
    """Yield each name of ``path`` that starts a process, as it is written."""
    ours = {"exec"}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (alias.name for alias in node.names if starts(node.module, alias.name))
            if "process" in node.module.split("."):
                ours |= {each.asname or each.name for each in node.names if each.name in RUNNERS}
        elif isinstance(node, ast.Attribute) and starts(ast.unparse(node.value), node.attr):
            yield ast.unparse(node)
    called = {
        node.func.id for node in nodes(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    yield from called & ours


def files():
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE).as_posix()
        # an app of ours does what it likes
        if "/bundled/" not in f"/{relative}":
            yield relative, path


def listed(relative, places):
    return {place for place in places if relative == place or relative.startswith(f"{place}/")}


def test_no_process_starts_elsewhere_than_through_the_door():
    found = {
        f"{relative}: {name}" for relative, path in files() for name in named(path) if not listed(relative, ALLOWED)
    }
    assert not found, "start it by ProtectedView.run or Guard.spawn, in the view of its project"


def uses(name):
    return {
        relative
        for relative, path in files()
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    }


def made(name):
    return {
        relative
        for relative, path in files()
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def test_only_protection_makes_a_view():
    assert made("ProtectedView") == set(MAKERS)


def test_only_programs_of_ours_start_without_one():
    assert uses("UNPROTECTED") == set(OURS) | {"deploy/guard.py"}


def test_nothing_is_on_the_list_that_starts_nothing():
    used = {place for relative, path in files() if any(named(path)) for place in listed(relative, ALLOWED)}
    assert used == set(ALLOWED)


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run([python])",
        "from subprocess import Popen as start\nstart([python])",
        "import os\nos.execve(python, [], {})",
        "from os import posix_spawn\nposix_spawn(python, [], {})",
        "import asyncio\nasyncio.create_subprocess_exec(python)",
        "from ..base.process import run as started\nstarted([python])",
        "from ..base.process.commands import attended\nattended([python], str)",
        "import runpy\nrunpy.run_path('conf.py')",
        "exec(text)",
        "import multiprocessing\nmultiprocessing.Process(target=main).start()",
    ],
)
def test_other_starts_are_found(tmp_path, text):
    path = tmp_path / "new.py"
    path.write_text(text)
    assert [*named(path)]
