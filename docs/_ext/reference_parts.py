"""Parts of the reference as Markdown, made from the commands, types and declarations themselves."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import get_annotations
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
from click.testing import CliRunner
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from stackrace.base.units import DURATION, PERCENT, SIZE
from stackrace.cli.main import VERBS, cli
from stackrace.cli.stacks import _values as allowed_values
from stackrace.extensions import Group, Verb, load
from stackrace.race.request import tables
from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.contract import Entry
from stackrace.stacks.stack_path import setting_text

_RACES = Path(__file__).parents[1] / "races.md"
_SPECIAL = re.compile(r"([\\*_<>\[\]{}])")


def _prose(text: str) -> str:
    """Return plain text as Markdown; code in backticks stays."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(piece if piece.startswith("`") else _SPECIAL.sub(r"\\\1", piece) for piece in pieces)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (heads, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    return [lines[0], f"|{'---|' * len(heads)}", *lines[1:], ""]


def _code(text: str) -> list[str]:
    return ["```text", text, "```", ""]


# the command line


def verbs() -> str:
    """Return a section for each command: its help, options and examples."""
    lines: list[str] = []
    for group in get_args(Group):
        lines += [f"## {group}", ""]
        for verb in VERBS.values():
            if verb.group == group:
                lines += _verb(verb)
    return "\n".join(lines)


def _verb(verb: Verb) -> Iterator[str]:
    command = load(verb.import_path)
    context = click.Context(command, info_name=f"stackrace {verb.name}")
    yield from (f"### stackrace {verb.name}", "")
    for paragraph in command.help.split("\n\n"):
        yield from (_prose(paragraph), "")
    yield from _code(command.get_usage(context).removeprefix("Usage: "))
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context)):
            names, said = record
            sections.setdefault(getattr(parameter, "heading", ""), []).append((f"`{names}`", _prose(said)))
    for heading, rows in sorted(sections.items(), key=lambda each: not each[0]):
        yield from _table((heading or "options", "what it does"), rows)
    yield from _code(dedent(command.epilog.partition("Examples:\n")[2]))


# race.toml

_KINDS: tuple[tuple[Any, str], ...] = (
    (tables.Seconds, f"time: {DURATION.example}"),
    (tables._Bytes, f"size: {SIZE.example}"),
    (tables._Memory, f"size from 16 MiB: {SIZE.example}"),
    (tables._Fraction, f"share: {PERCENT.example}"),
    (tables._Cores, 'cores: `"0-3"` or `"0,2"`'),
    (tables._Check, 'rule, or table of rules by path: `"status"`'),
    (tables._Command, "command"),
    (tables._Path_, "path that starts with `/`"),
    (tables._Variable, "name"),
)
_PLAIN = {str: "text", int: "number", float: "number", bool: "`true` or `false`"}


def race_file() -> str:
    """Return a table for each table of race.toml: keys, values, defaults, and their meaning in docs/races.md."""
    meanings = dict(re.findall(r"^\| `(\[[^`]+)` \| (.*) \|$", _RACES.read_text(encoding="utf-8"), re.MULTILINE))
    lines: list[str] = []
    for name, field in tables.RaceFileTable.model_fields.items():
        is_named = name == "workloads"
        table = f"[{name}.NAME]" if is_named else f"[{name}]"
        lines += [
            f"## {table}",
            "",
            *_keys(table, tables.NamedWorkloadTable if is_named else field.annotation, meanings),
        ]
    return "\n".join(lines)


def _keys(table: str, shape: type[BaseModel], meanings: dict[str, str]) -> list[str]:
    bases = [kind for kind in reversed(shape.__mro__) if issubclass(kind, BaseModel) and kind is not BaseModel]
    hints = {name: hint for kind in bases for name, hint in get_annotations(kind, eval_str=True).items()}
    rows = []
    for name, field in shape.model_fields.items():
        key = field.alias or name
        said = meanings[f"{table} {key}"]
        said = meanings[f"[workload] {key}"] if said == "as above" else said
        default = "" if field.is_required() or not (field.default or field.default is False) else field.default
        shown = f"`{json.dumps(default)}`" if default != "" else ""
        rows.append((f"`{key}`", _kind(hints[name]), shown, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", said)))
    return _table(("key", "value", "default", "meaning"), rows)


def _kind(hint: Any) -> str:
    """Return a type of race.toml in words."""
    for kind, words in _KINDS:
        if hint == kind:
            return words
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kind(parts[0]) + "".join(_range(each) for each in parts[1:] if isinstance(each, FieldInfo))
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(part) for part in parts if part is not types.NoneType)
    if origin is Literal:
        return " or ".join(f'`"{part}"`' for part in parts)
    if origin is list:
        return f"list: {_kind(parts[0])}"
    return "table" if origin is dict else _PLAIN[hint]


def _range(field: FieldInfo) -> str:
    limits = {name: getattr(each, name) for each in field.metadata for name in ("ge", "le") if hasattr(each, name)}
    least, most = (f"{limits[name]:,}" if name in limits else "" for name in ("ge", "le"))
    return (f" from {least}" if least else "") + (f" to {most}" if most else "")


# documents


def schemas() -> dict[str, str]:
    """Return each published JSON schema as its verb prints it, by the verb's name."""
    return {
        name: CliRunner().invoke(cli, [name, "--schema"], catch_exceptions=False).output
        for name, verb in VERBS.items()
        if any(parameter.name == "schema" for parameter in load(verb.import_path).params)
    }


def documents() -> str:
    """Return the members of each JSON document that has a published schema."""
    lines: list[str] = []
    for name, text in schemas().items():
        # init's schema is that of race.toml, which has a page of its own
        if name != "init":
            schema = json.loads(text)
            printed = f"`stackrace {name} --schema` prints the schema; this site has it as `schemas/{name}.json`."
            lines += [f"## {schema['title']}", "", printed, ""]
            lines += _record(schema)
            for title, shape in schema["$defs"].items():
                lines += [f"**{title}**: {_prose(shape.get('description', ''))}", "", *_members(shape)]
    return "\n".join(lines)


def _record(schema: dict[str, Any]) -> list[str]:
    return [_prose(schema["description"]), "", *_members(schema)]


def _members(shape: dict[str, Any]) -> list[str]:
    if "properties" not in shape:
        return [_form(shape), ""]
    rows = (
        (f"`{name}`", _form(member), _prose(member.get("description", "")))
        for name, member in shape["properties"].items()
    )
    return _table(("member", "value", "what it is"), rows)


def _form(shape: dict[str, Any]) -> str:
    """Return a schema in words."""
    match shape:
        case {"$ref": str(ref)}:
            return ref.rpartition("/")[2]
        case {"anyOf": list(parts)}:
            return " or ".join(map(_form, parts))
        case {"enum": list(values)}:
            return ", ".join(f"`{json.dumps(value)}`" for value in values)
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"type": "array", "items": dict(inner)}:
            return f"list: {_form(inner)}"
        case {"type": "array"}:
            return f"list: {', '.join(map(_form, shape['prefixItems']))}"
        case {"type": "object", "additionalProperties": dict(inner)}:
            return f"object by name: {_form(inner)}"
        case {"type": list(names)}:
            return " or ".join(names)
        case _:
            return str(shape.get("type", "any value"))


# servers


def server(name: str) -> str:
    """Return what the catalogue knows of a server: its place in a stack, its settings, its faults."""
    entry = catalogue().entries[name]
    lines = ["## In a stack", "", *_table(("in a path", f"`{name}`"), _facts(entry))]
    if entry.spec.settings:
        heads = ("setting", "default", "values", "origin", "what it does")
        lines += ["## Settings", "", *_table(heads, map(_setting, entry.spec.settings))]
    if entry.faults:
        lines += ["## Known faults", ""]
        lines += [f"- {f'`{fault.where}`: ' if fault.where else ''}{fault.text}" for fault in entry.faults]
    return "\n".join([*lines, ""])


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    spec = entry.spec
    pypi = entry.requirements({setting.name: setting.default for setting in spec.settings})
    facts = {
        "lives inside": sorted(spec.inside),
        "listens to": sorted(spec.listens),
        "forwards": sorted(spec.forwards),
        "hosts": sorted(spec.hosts),
        "from Debian": entry.needs.apt,
        "from PyPI": pypi,
    }
    yield from ((fact, ", ".join(f"`{each}`" for each in found)) for fact, found in facts.items() if found)
    if entry.needs.elsewhere:
        yield "your own build", _prose(entry.needs.elsewhere)
    if spec.native is not None and spec.native.in_paths:
        yield "its own options", f"`{spec.name}:--NAME=VALUE`"
        if spec.native.file:
            yield "its own file", f"`{spec.name}:config={spec.native.file}`"
    if tuned := [f"`{setting.name}`" for setting in spec.settings if setting.tunable is not None]:
        yield "a tuner can vary", ", ".join(tuned)


def _setting(setting: Any) -> tuple[str, ...]:
    default, values = setting_text(setting.default), allowed_values(setting)
    return f"`{setting.name}`", default, values, str(setting.origin), _prose(setting.help)


PARTS: dict[str, Callable[..., str]] = {
    "verbs": verbs,
    "race_file": race_file,
    "documents": documents,
    "server": server,
}
