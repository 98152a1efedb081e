"""No code compares or searches a sentence: what decides is data, and words are only for people."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import stackrace

SOURCE = Path(stackrace.__file__).parent

SENTENCE = re.compile(r"[A-Za-z]+ [A-Za-z]+|[A-Za-z]{2,} |^ [A-Za-z]{2,}")
"""Two words, or a word with the space before the next."""

PROSE = frozenset(("detail", "message", "reason", "remedy", "remark", "seen", "threshold", "unfit", "why"))
"""Fields that hold sentences, if text is looked for in them."""

SEARCHES = frozenset(
    (
        "count", "endswith", "find", "findall", "finditer", "fullmatch", "index", "match", "partition",
        "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "search", "split", "startswith",
    )
)  # fmt: skip
"""Methods that search in a text, or a text in another."""

EDGES = {
    "app/examiner_report.py": "the lines of the examiner, and messages of Ruby and Python",
    "app/refusal.py": "messages of Python, of its libraries and of databases",
    "base/process/libgit2.py": "messages of libgit2",
    "cli/tracebacks.py": "tracebacks of Python",
    "deploy/startup.py": "logs of Python and of Ruby",
    "features/current/observe.py": "tables of /proc, and titles that servers give their processes",
    "measure/probe/host_reading.py": "/proc/cpuinfo",
    "stacks/servers/uwsgi/inspector.py": "what uWSGI shows of its configuration",
    "race/request/toml_file.py": "pydantic's messages",
}
"""Files that read text of others, and whose it is."""

FILES = [path for path in sorted(SOURCE.rglob("*.py")) if "bundled" not in path.parts]


SYSTEM = frozenset(("OSError", "PermissionError", "FileNotFoundError", "IsADirectoryError"))


def names(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()


def test_what_the_system_says_stands_in_no_sentence_with_pythons_own_signs():
    """``[Errno 2] No such file or directory: 'a.har'`` is no English; ``said_by`` is."""
    raw = [
        f"{path}:{part.lineno}"
        for path in FILES
        for handler in ast.walk(ast.parse(path.read_text()))
        if isinstance(handler, ast.ExceptHandler) and SYSTEM & names(handler.type)
        for part in ast.walk(handler)
        if isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == handler.name
    ]
    assert not raw


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the text that is written out in ``node``, also within a tuple, a set or a list."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from texts(part)


def is_sentence(node: ast.AST, constants: Collection[str] = ()) -> bool:
    """Tell whether ``node`` is a sentence written out, or the name of one."""
    if isinstance(node, ast.Name) and node.id in constants:
        return True
    return any(SENTENCE.search(text) for text in texts(node))


def is_prose(node: ast.AST) -> bool:
    """Tell whether ``node`` is a field that holds a sentence."""
    return isinstance(node, ast.Attribute) and node.attr in PROSE


def sentence_constants(tree: ast.Module) -> Iterator[str]:
    """Yield the module's names of sentences, such as ``CUT = "Its block was interrupted."``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and is_sentence(node.value):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def looked_at(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a node compares or searches; whether a sentence is there at all may be asked."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = (left, *others)
            empty = any(isinstance(side, ast.Constant) and side.value in ("", None) for side in sides)
            if not empty and any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in ops):
                yield from sides
        case ast.Call(func=ast.Attribute(value=text, attr=method), args=args) if method in SEARCHES:
            yield from (text, *args)
        case ast.MatchValue(value=value):
            yield value


def decides_by_words(source: str, constants: Collection[str] = ()) -> list[int]:
    """Return the lines in which ``source`` compares or searches a sentence."""
    parts = (part for node in ast.walk(ast.parse(source)) for part in looked_at(node))
    return sorted({part.lineno for part in parts if is_sentence(part, constants) or is_prose(part)})


@pytest.mark.parametrize(
    "code",
    [
        'what.startswith(("installing", "building the app"))',
        'phase == "warming up"',
        '"was cut short" in text',
        'finding.remedy.startswith("ulimit")',
        'finding.seen == "steal"',
        're.search("no winner yet", answer)',
        'if message.startswith(f"no {thing} of"): pass',
        'match title:\n    case "memory limit": pass',
        "failure.message == CUT",
    ],
)
def test_such_code_is_found(code):
    assert decides_by_words(code, {"CUT"}) == [2 if "case" in code else 1]


@pytest.mark.parametrize("code", ['if finding.remedy != "": pass', 'kind == "best"', '", ".join(names)', "a == b"])
def test_other_code_is_not(code):
    assert decides_by_words(code) == []


def test_nothing_is_decided_by_a_sentence():
    sources = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in FILES}
    named = {file: set(sentence_constants(ast.parse(source))) for file, source in sources.items()}
    public = {name for names in named.values() for name in names if not name.startswith("_")}
    found = {
        file: lines for file, source in sources.items() if (lines := decides_by_words(source, public | named[file]))
    }
    assert {file: lines for file, lines in found.items() if file not in EDGES} == {}
    assert EDGES.keys() <= found.keys(), "what is no edge any more is taken off the list"
