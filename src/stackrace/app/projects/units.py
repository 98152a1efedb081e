"""Commands in files of sections: programs of supervisor, units of systemd, options of uWSGI, hosts of Apache."""

from __future__ import annotations

import configparser
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.files import by_last_parts
from ...stacks.native_options import NotTaken, Weight
from .deployment_command import (
    LIMITED,
    NO_FILE,
    DeploymentCommand,
    assignments,
    instances_of,
    joined_lines,
    split_words,
    text_of,
    variables_of,
)

__all__ = ["httpd_commands", "ini_commands", "systemd_commands"]

_ENV = re.compile(r"%\(ENV_(\w+)\)s")
"""How supervisor calls a variable."""
_LIMITS = frozenset({"CPUQuota", "AllowedCPUs", "CPUAffinity", "MemoryMax", "MemoryHigh", "MemoryLimit"})
_SPECIFIER = re.compile(r"%(.)")
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


def ini_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``command =`` of supervisor, and uWSGI's own options."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=(" ;",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in parser.sections():
        options = dict(parser.items(section))
        for line in filter(None, (options.get("command"), options.get("cmd"))):
            known = assignments((options.get("environment") or "").replace(",", " "))
            line = _ENV.sub(lambda name, known=known: known.get(name[1], f"${{{name[1]}?}}"), line)  # type: ignore[misc]
            yield DeploymentCommand(
                file=path,
                words=split_words(re.sub(r"\\?\n", " ", line)),
                environment=known,
                folder=options.get("directory") or options.get("working_dir") or "",
                instances=instances_of(options.get("numprocs")),
                service=section.partition(":")[2],
            )
        if section == "uwsgi":
            words = (word for key, value in options.items() for word in (f"--{key}", value or ""))
            yield DeploymentCommand(file=path, words=("uwsgi", *words))


def httpd_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read hosts of Apache's that serve an app by mod_wsgi, as ``mod_wsgi-express`` would be told the same.

    Source: mod_wsgi's documentation of WSGIDaemonProcess: one process with 15 threads where nothing else is said.
    """
    directives = ((number, line.split(None, 1)) for number, line in joined_lines(text, "#"))
    said = {words[0]: (number, words[1]) for number, words in directives if len(words) > 1}
    if alias := said.get("WSGIScriptAlias"):
        words = ["--mode", "embedded"]
        if daemon := said.get("WSGIDaemonProcess"):
            options = {"processes": "1", "threads": "15", **assignments(daemon[1])}
            known = ("processes", "threads", "maximum-requests")
            words = [word for name in known if name in options for word in (f"--{name}", options[name])]
        script = (*split_words(alias[1]), "", "")[1]
        words = ["mod_wsgi-express", "start-server", script, *words]
        yield DeploymentCommand(file=path, words=tuple(words), line=alias[0], document=path)


def systemd_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Read what units of systemd start, each with its drop-ins in the order of their names.

    Source: systemd.unit(5), systemd.exec(5), systemd.service(5).
    """
    for path in files:
        template = re.sub(r"@.*\.", "@.", path.name)
        folders = [path.with_name(f"{name}.d") for name in dict.fromkeys((path.name, template, path.suffix[1:]))]
        found = (each for folder in folders for each in folder.glob("*.conf"))
        yield from _of_unit((path, *sorted(found, key=lambda each: each.name)), root)


def _of_unit(files: tuple[Path, ...], root: Path) -> Iterator[DeploymentCommand]:
    """Yield what a unit starts. Variables of files go before those of ``Environment=``."""
    unit, said = files[0], _directives(files)
    variables: dict[str, str] = {}
    for _, _, value in said["Environment"]:
        variables |= assignments(_specified(value, unit))
    lacks, read = [], []
    for file, line, named in said["EnvironmentFile"]:
        name = Path(_specified(named.lstrip("-"), unit))
        found = by_last_parts(str(name), (unit.parent, root), Path.is_file)
        # packages make /etc/default/NAME and /etc/sysconfig/NAME of it
        found = found or unit.parent / f"{name.name}.{name.parent.name}"
        more = variables_of(found, {}) if found.is_relative_to(root) else None
        variables |= more or {}
        if more is not None:
            read.append(found)
        else:
            what = f"EnvironmentFile={named}"
            lacks.append(NotTaken(file=file, line=line, what=what, why=NO_FILE, weight=Weight.VARIABLES))
    limits = [
        NotTaken(file=file, line=line, what=f"{key}={value}", why=LIMITED)
        for key, places in said.items()
        for file, line, value in places[-1:]
        if key in _LIMITS
    ]
    folder = _specified(said["WorkingDirectory"][-1][2].lstrip("-"), unit) if said["WorkingDirectory"] else ""
    for file, line, value in said["ExecStart"]:
        # what stands before the program says how to run it
        program = value.lstrip("@:+!|-")
        words = _words(_specified(program, unit), variables, is_known=not lacks)
        yield DeploymentCommand(
            file=file,
            words=(*words[:1], *words[2:]) if "@" in value.removesuffix(program) else words,
            environment=variables,
            env_files=tuple(read),
            line=line,
            folder=folder,
            document=unit,
            documents=files,
            not_taken=(*lacks, *limits),
        )


def _directives(files: Sequence[Path]) -> dict[str, list[tuple[Path, int, str]]]:
    """Return what ``files`` say of the service, and where; an empty value takes back what was said before."""
    said: dict[str, list[tuple[Path, int, str]]] = defaultdict(list)
    for file in files:
        section = ""
        for number, line in joined_lines(text_of(file), "#;"):
            section = line if line.startswith("[") else section
            key, equals, value = (part.strip() for part in line.partition("="))
            if equals and section in ("[Service]", "") and not line.startswith(("#", ";")):
                said[key] = [*said[key], (file, number, value)] if value else []
    return said


def _specified(text: str, unit: Path) -> str:
    """Put in what systemd's specifiers stand for, as far as the name of the ``unit`` says it."""
    name, _, instance = unit.stem.partition("@")
    known = {"%": "%", "p": name, "N": unit.stem, "n": unit.name, "t": "/run", "S": "/var/lib"}
    known |= {"i": instance or "${instance?}", "I": instance or "${instance?}", "h": "~", "u": "${user?}"}
    return _SPECIFIER.sub(lambda match: known.get(match[1], match[0]), text)


def _words(line: str, variables: Mapping[str, str], *, is_known: bool) -> tuple[str, ...]:
    """Return the words of a command; a variable by itself may be several, and one that nobody sets is empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return variables.get(name, "" if is_known else f"${{{name}?}}") if name else "$"

    words = [(word, _VARIABLE.sub(value, word)) for word in split_words(line)]
    return tuple(
        part for word, made in words for part in (made.split() if re.fullmatch(r"\$\w+", word) else (made,))
    )
