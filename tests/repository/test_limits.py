"""No program is started without a limit, but where a longer one has its own end."""

import ast
from pathlib import Path

import stackrace

SOURCE = Path(stackrace.__file__).parent

UNLIMITED = {
    "base/process/commands.py": "whoever attends ends it",
    "deploy/guard.py": "the supervisor, which lives as long as we do",
    "deploy/installation.py": "apt, which would leave packages half installed",
    "stacks/servers/uwsgi/inspector.py": "runs below a question, which ends it",
}
"""Files that start programs by Popen, and why these need no limit."""


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), {word.arg for word in node.keywords}


def test_every_start_of_a_program_has_a_limit():
    unlimited = set()
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        for called, words in calls(ast.parse(path.read_text())):
            is_limited = {
                "subprocess.Popen": name in UNLIMITED,
                **dict.fromkeys(("subprocess.run", "subprocess.call"), "timeout" in words),
                **dict.fromkeys(("subprocess.check_call", "subprocess.check_output"), "timeout" in words),
                **dict.fromkeys(("os.system", "os.popen"), False),
                **dict.fromkeys(("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"), False),
            }
            if not is_limited.get(called, True):
                unlimited.add(f"{name}: {called}")
    assert not unlimited


def test_the_function_that_runs_commands_demands_a_limit():
    from inspect import Parameter, signature

    from stackrace.base.process import run
    from stackrace.base.process.view import ProtectedView

    for each in (run, ProtectedView.run):
        assert signature(each).parameters["timeout_s"].default is Parameter.empty


def test_what_may_start_without_a_limit_does():
    """An exception that nobody needs any more is taken out."""
    for name in UNLIMITED:
        assert any(called == "subprocess.Popen" for called, _ in calls(ast.parse((SOURCE / name).read_text())))
