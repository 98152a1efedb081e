"""Each name of code or of a file, in docstrings and in the documentation, leads to what it names."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.repository.test_docs import PAGES, ROOT

from stackrace.cli.main import cli

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "stackrace"
CODE = sorted([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])
ROOMS = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
TOPS = {"src", "tests", "docs", "benchmarks", "crates", "examples"}

NAME = re.compile(r"(?<!`)`(?:~)?([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
FILE = re.compile(r"(?<![\w/.:~<*-])([a-z_]+)/([\w./*-]*\w\.(?:py|md|toml|rs|j2|sh|yml|json))\b")
MODULE = re.compile(r"\bbenchmarks(?:\.[a-z_]+)+(?!\w*\.(?:py|toml))")
DOTTED = re.compile(r"(?<![\w./-])stackrace(?:\.[A-Za-z_]\w*)+(?![\w(]*/)")
COMMAND = re.compile(r"`stackrace ([a-z][a-z-]*)[^`]*`")
VERBS = set(cli.list_commands(click.Context(cli)))
ENTRY_POINTS = "stackrace.servers"
"""The group under which packages add servers: a name, but no module."""
GONE = ("CHANGELOG.md", "decisions", "historic")
"""Pages that tell what was."""


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring, those of fields included."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value


def names_in(tree: ast.Module) -> set[str]:
    """Return all names that a module defines or imports, those of members and parameters included."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add((other or name).rpartition(".")[2])
            case _:
                pass
    return names


def resolves(dotted: str) -> bool:
    """Tell whether ``dotted`` is a module, or an attribute of one."""
    module, _, attribute = dotted.rpartition(".")
    for name, rest in ((dotted, ()), (module, (attribute,)), (module.rpartition(".")[0], dotted.split(".")[-2:])):
        try:
            found = importlib.import_module(name) if name else None
        except ImportError:
            continue
        for part in rest:
            found = getattr(found, part, None)
        if found is not None:
            return True
    return False


def named(text: str, known: set[str], package: str = "stackrace") -> Iterator[str]:
    """Yield the names in single backticks that are not ``known`` and in neither the package nor ``package``."""
    for name in NAME.findall(text):
        if not set(name.split(".")) <= known and not any(
            resolves(f"{start}.{name.removeprefix('stackrace.')}") for start in {"stackrace", package}
        ):
            yield name


def missing_files(text: str) -> Iterator[str]:
    """Yield the files of this project in ``text`` that do not exist."""
    for top, rest in FILE.findall(text):
        homes = [ROOT] * (top in TOPS) + [PACKAGE] * (top in ROOMS and rest.endswith(".py"))
        if homes and not any(next(home.glob(f"{top}/{rest}"), None) for home in homes):
            yield f"{top}/{rest}"


def missing_commands(text: str) -> Iterator[str]:
    """Yield the verbs and the benchmarks in ``text`` that do not exist."""
    yield from (verb for verb in COMMAND.findall(text) if verb not in VERBS)
    for module in MODULE.findall(text):
        path = ROOT.joinpath(*module.split("."))
        if (
            not path.is_dir()
            and not path.with_suffix(".py").is_file()
            and not path.parent.with_suffix(".py").is_file()
        ):
            yield module


def test_names_in_docstrings_are_of_their_module_or_of_the_package():
    wrong = []
    for path in CODE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = names_in(tree)
        for line, text in docstrings(tree):
            bare = re.sub(r"``.*?``", "", text, flags=re.DOTALL)
            said = [*missing_files(text), *missing_commands(text)]
            if path.is_relative_to(SOURCE):
                said += named(bare, names, ".".join(path.relative_to(SOURCE).parent.parts))
            wrong += [f"{path.relative_to(ROOT)}:{line}: {each}" for each in said]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_in_the_documentation_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if any(part in GONE for part in page.parts):
        text = ""
    # what is pasted makes files of its own
    text = re.sub(r"\bNAME\b", "*", re.sub(r"```sh\n.*?```", "", text, flags=re.DOTALL))
    dotted = [name for name in DOTTED.findall(text) if name != ENTRY_POINTS and not resolves(name)]
    assert [*missing_files(text), *missing_commands(text), *dotted] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("see `nowhere_at_all`", ["nowhere_at_all"]),
        ("see `race.run.runner.run_prepared`", []),
        ("see `race.run.runner.nothing`", ["race.run.runner.nothing"]),
        ("see race/run/runner.py and race/nothing.py", ["race/nothing.py"]),
        ("see `stackrace run --bundled`, `stackrace fly`", ["fly"]),
        ("run benchmarks.check and benchmarks.nothing", ["benchmarks.nothing"]),
    ],
)
def test_a_name_that_leads_nowhere_is_found(text, wrong):
    assert [*named(text, set()), *missing_files(text), *missing_commands(text)] == wrong
