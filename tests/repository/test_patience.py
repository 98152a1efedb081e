"""No limit below ten minutes stands between a right product and a green run: a busy machine is no fault."""

import ast
import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).parents[1]
LEAST_S = 600
PAUSE_S = 1
"""What is shorter lets a loop look again, or is expected to pass."""
WAIT = {
    "Client", "HTTPConnection", "HTTPSConnection", "call", "check_call", "check_output", "communicate", "connect",
    "create_connection", "get", "join", "result", "run", "settimeout", "urlopen", "wait", "wait_for_workers",
    "__init__",
}  # fmt: skip
"""Calls that give up after a time."""
LIMIT = re.compile(r"^(deadline|until)(_s)?$|^(DEADLINE|READY|TIMEOUT|JOINED)_S$")
"""Names of moments after which a test gives up, and of the time until then."""
MEANT = "ends by its limit"
"""Stands in the line of a wait that is expected to end so: how the product behaves then is the subject."""


def seconds(node):
    """The number that a limit is, or adds to the clock."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return seconds(node.right)
    return node.value if isinstance(node, ast.Constant) and type(node.value) in (int, float) else None


def limits(tree):
    """Every limit in a file: its line, and its seconds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = [each.value for each in node.keywords if each.arg == "timeout" and name in WAIT]
            given += node.args if name in ("join", "wait", "settimeout", "timeout") and len(node.args) == 1 else []
            yield from ((each, seconds(each)) for each in given)
        elif isinstance(node, ast.Assign):
            names = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            if any(LIMIT.match(name.id) for name in names):
                yield node.value, seconds(node.value)
        elif isinstance(node, ast.FunctionDef):
            named = zip(reversed(node.args.args), reversed(node.args.defaults), strict=False)
            named = [*named, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
            yield from ((value, seconds(value)) for arg, value in named if arg.arg in ("timeout", "timeout_s"))


def test_whoever_waits_in_a_test_waits_for_ten_minutes():
    short = []
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        short += [
            f"{path.relative_to(TESTS)}:{node.lineno} {limit:g} s"
            for node, limit in limits(ast.parse(text))
            if limit and PAUSE_S <= limit < LEAST_S and MEANT not in lines[node.lineno - 1]
        ]
    assert short == []


def test_a_test_may_take_several_such_waits():
    settings = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["pytest"]["ini_options"]["timeout"] >= 3 * LEAST_S
