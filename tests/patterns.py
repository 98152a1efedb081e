"""Every regular expression of the package, read out of its code, and text that is hostile to it."""

import ast
import importlib
import re
import re._constants as kinds
import re._parser as parser
from dataclasses import dataclass
from pathlib import Path

import stackrace

PACKAGE = Path(stackrace.__file__).parent
_ALPHABET = sorted({*map(chr, range(256)), "\u2028", "Ω", "٣", "\ud800"})
_ENDS = ("\0", "\n!", "é ", "")


@dataclass(frozen=True)
class Pattern:
    """A regular expression and where it stands."""

    where: str
    source: str | bytes
    flags: int
    methods: frozenset[str]
    """What is called on it, if that is known."""

    def look(self, text):
        """Look for the pattern as the code does."""
        compiled = re.compile(self.source, self.flags)
        if isinstance(self.source, bytes):
            text = text.encode("latin-1", "replace")
        if not self.methods or self.methods - {"match", "fullmatch"}:
            for _ in compiled.finditer(text):
                pass
        compiled.match(text)
        compiled.fullmatch(text)


def patterns():
    """Yield the patterns of the package, and at the end the places of those that could not be read."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    called = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                value = node.value
                name = (
                    value.id
                    if isinstance(value, ast.Name)
                    else value.attr
                    if isinstance(value, ast.Attribute)
                    else ""
                )
                called.setdefault(path if name.startswith("_") else None, {}).setdefault(name, set()).add(node.attr)
    for path, tree in trees.items():
        names = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                names[node.value] = node.targets[0].id
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")) or not node.args:
                continue
            method = node.func.attr
            if method == "escape":
                continue
            where = f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
            name = names.get(node, "")
            known = called.get(path if name.startswith("_") else None, {}).get(name, set())
            methods = {method} if method != "compile" else known
            flags = [
                *node.args[{"compile": 1, "sub": 4, "split": 3}.get(method, 2) :],
                *(each.value for each in node.keywords if each.arg == "flags"),
            ]
            yield where, _read(path, node.args[0], flags, where, frozenset(methods))


def _read(path, source, flags, where, methods):
    try:
        names = dict(
            vars(importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)))
        )
    except ImportError:
        # mitmproxy has an interpreter of its own
        names = {"re": re}
    for _ in range(9):
        try:
            made = eval(compile(ast.Expression(source), where, "eval"), names)
            flag = sum(int(eval(compile(ast.Expression(each), where, "eval"), names)) for each in flags)
            re.compile(made, flag)
        except NameError as error:
            # what only a call knows is a word
            names[error.name] = "word"
        except Exception:
            return None
        else:
            return Pattern(where, made, flag, methods)
    return None


def hostile(pattern):
    """Yield functions that make text of a size on which a pattern may go back over what it has tried."""
    compiled = re.compile(pattern.source, pattern.flags)
    source = pattern.source.decode("latin-1") if isinstance(pattern.source, bytes) else pattern.source
    flags = compiled.flags & ~re.UNICODE if isinstance(pattern.source, bytes) else compiled.flags
    tree = parser.parse(source, flags)
    pieces = set()
    for before, body in _repeats(tree, "", flags & re.IGNORECASE):
        pieces |= {(before, each) for each in body}
        pieces |= {("", each) for each in body}
        pieces |= {("", before + each) for each in body if before}
    units = {("", each) for each in _literals(tree)}
    for before, unit in sorted(pieces | units):
        for end in _ENDS:
            yield lambda size, before=before, unit=unit, end=end: before + unit * (size // len(unit)) + end


def _literals(tree):
    """Yield the plain words of a pattern."""
    word = ""
    for kind, value in tree:
        word = word + chr(value) if kind is kinds.LITERAL else ""
        if word:
            yield word
        yield from (inner for child in _children(kind, value) for inner in _literals(child))


def _children(kind, value):
    match kind:
        case kinds.SUBPATTERN:
            return [value[-1]]
        case kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT:
            return [value[2]]
        case kinds.BRANCH:
            return value[1]
        case kinds.ASSERT | kinds.ASSERT_NOT:
            return [value[1]]
        case kinds.ATOMIC_GROUP:
            return [value]
    return []


def _repeats(tree, before, ignore):
    """Yield, for each repeat without an end, what leads to it and some of what it repeats."""
    for kind, value in tree:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            _, most, body = value
            yield from _repeats(body, before, ignore)
            if most > 64:
                yield before, _samples(body, ignore)
        else:
            for child in _children(kind, value):
                yield from _repeats(child, before, ignore)
        before += _sample([(kind, value)])


def _chars(kind, value):
    """Return the characters that an item matches, out of an alphabet."""
    return [char for char in _ALPHABET if _matches(kind, value, char)]


def _matches(kind, value, char):
    number = ord(char)
    match kind:
        case kinds.LITERAL:
            return number == value
        case kinds.NOT_LITERAL:
            return number != value
        case kinds.ANY:
            return char != "\n"
        case kinds.RANGE:
            return value[0] <= number <= value[1]
        case kinds.CATEGORY:
            name = str(value).rpartition("_")[2].lower()
            is_in = {"digit": char.isdigit(), "space": char.isspace(), "word": char.isalnum() or char == "_"}[name]
            return is_in != ("_NOT_" in str(value))
        case kinds.IN:
            negated = value[0][0] is kinds.NEGATE
            return any(_matches(*each, char) for each in value[negated:]) != negated
    return False


_PREFERRED = "a1._-/ =\"'\\<{[(:;,$%#&|@+A~!x\t\n"


def _sample(tree):
    """Return a short text that ``tree`` matches, more or less."""
    text = ""
    for kind, value in tree:
        match kind:
            case kinds.SUBPATTERN | kinds.ATOMIC_GROUP:
                text += _sample(_children(kind, value)[0])
            case kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT:
                text += _sample(value[2]) * max(1, min(value[0], 40))
            case kinds.BRANCH:
                text += _sample(value[1][0])
            case kinds.LITERAL | kinds.NOT_LITERAL | kinds.ANY | kinds.IN:
                chars = _chars(kind, value)
                text += next((char for char in _PREFERRED if char in chars), chars[0] if chars else "")
    return text


def _samples(body, ignore):
    """Return some texts that the body of a repeat matches."""
    made = {_sample(body)}
    items = list(body)
    while len(items) == 1 and items[0][0] in (kinds.SUBPATTERN, kinds.ATOMIC_GROUP):
        items = list(_children(*items[0])[0])
    if len(items) == 1 and items[0][0] is kinds.BRANCH:
        made |= {_sample(each) for each in items[0][1][1]}
    elif len(items) == 1 and items[0][0] in (kinds.IN, kinds.ANY, kinds.NOT_LITERAL):
        chars = _chars(*items[0])
        made |= {char for char in _PREFERRED if char in chars}
        made |= {"".join(char for char in _PREFERRED if char in chars)}
    return {each for each in made if each}
