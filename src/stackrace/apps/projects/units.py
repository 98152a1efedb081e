"""Commands in files of sections: supervisor's and circus' programs, systemd's units, uWSGI's own options."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...model.last_parts import by_last_parts
from ...model.own import NotTaken, Weight
from .deployment_command import (
    LIMITED,
    NO_FILE,
    DeploymentCommand,
    assignments,
    command_of,
    instances_of,
    joined_lines,
    line_with,
    located,
    split_words,
    text_of,
    variables_of,
)

__all__ = ["httpd_commands", "ini_commands", "systemd_commands"]


_ENV = re.compile(r"%\(ENV_(\w+)\)s")
"""How supervisor calls a variable."""


def _with_variables(line: str, known: Mapping[str, str]) -> str:
    return _ENV.sub(lambda name: known.get(name[1], f"${{{name[1]}?}}"), line)


def ini_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``command =`` of supervisor, and uWSGI's own options."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, inline_comment_prefixes=(" ;",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in parser.sections():
        options = dict(parser.items(section))
        for key in ("command", "cmd"):
            if options.get(key):
                line = re.sub(r"\\?\n", " ", options[key])
                known = assignments((options.get("environment") or "").replace(",", " "))
                command = command_of(path, _with_variables(line, known), known)
                yield located(replace(
                    command,
                    folder=options.get("directory") or options.get("working_dir") or "",
                    instances=instances_of(options.get("numprocs")),
                    service=section.partition(":")[2],
                ), text)  # fmt: skip
        if section == "uwsgi":
            words = (word for key, value in options.items() for word in (f"--{key}", value or ""))
            yield DeploymentCommand(file=path, words=("uwsgi", *words))


_DIRECTIVE = re.compile(r"^[ \t]*(WSGIScriptAlias|WSGIDaemonProcess)[ \t]+([^\n]+)", re.MULTILINE)


def httpd_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Read hosts of Apache's that serve an app by mod_wsgi, as ``mod_wsgi-express`` would be told the same.

    Source: mod_wsgi's documentation of WSGIDaemonProcess: one process with 15 threads where nothing else is said.
    """
    for path in files:
        text = text_of(path).replace("\\\n", " ")
        said = {match[1]: match for match in _DIRECTIVE.finditer(text)}
        if alias := said.get("WSGIScriptAlias"):
            words = ["--mode", "embedded"]
            if daemon := said.get("WSGIDaemonProcess"):
                options = {"processes": "1", "threads": "15", **assignments(daemon[2])}
                known = ("processes", "threads", "maximum-requests")
                words = [word for name in known if name in options for word in (f"--{name}", options[name])]
            script = (*split_words(alias[2]), "", "")[1]
            line = line_with(r"^\s*WSGIScriptAlias\s", text_of(path))
            yield DeploymentCommand(
                file=path, words=("mod_wsgi-express", "start-server", script, *words), line=line, document=path
            )


def systemd_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Read what units of systemd start, each with its drop-ins in the order of their names.

    Source: systemd.unit(5), systemd.exec(5), systemd.service(5).
    """
    for path in files:
        folders = [
            path.with_name(f"{name}.d") for name in dict.fromkeys((path.name, _template(path), path.suffix[1:]))
        ]
        dropins = sorted((each for folder in folders for each in folder.glob("*.conf")), key=lambda each: each.name)
        unit = _Unit(path=path, root=root)
        for each in (path, *dropins):
            unit.read(each)
        yield from unit.commands(tuple(dropins))


def _template(path: Path) -> str:
    """Return the name of the unit's template: ``shop@.service`` of ``shop@8001.service``."""
    return re.sub(r"@.*\.", "@.", path.name)


_LIMITS = frozenset({"CPUQuota", "AllowedCPUs", "CPUAffinity", "MemoryMax", "MemoryHigh", "MemoryLimit"})
_SPECIFIER = re.compile(r"%(.)")
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


@dataclass(slots=True, kw_only=True)
class _Unit:
    """A unit as it is read, file by file."""

    path: Path
    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    files: list[tuple[Path, int, str]] = field(default_factory=list)
    """Files of variables, each with where it is named."""
    folder: str = ""
    started: list[tuple[Path, int, str]] = field(default_factory=list)
    limits: dict[str, NotTaken] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Take in a file; an empty value takes back what was said before."""
        section = ""
        for at, words in joined_lines(text_of(path), "#;"):
            section = words if words.startswith("[") else section
            key, equals, value = words.partition("=")
            if equals and section in ("[Service]", "") and not words.startswith(("#", ";")):
                self._take(path, at, key.strip(), value.strip())

    def _take(self, path: Path, line: int, key: str, value: str) -> None:
        lists = {"EnvironmentFile": self.files, "ExecStart": self.started}
        if key == "Environment":
            self.environment = {**self.environment, **assignments(self._specified(value))} if value else {}
        elif key in lists and value:
            lists[key].append((path, line, value))
        elif key in lists:
            lists[key].clear()
        elif key == "WorkingDirectory":
            self.folder = self._specified(value.lstrip("-"))
        elif key in _LIMITS:
            self.limits[key] = NotTaken(file=path, line=line, what=f"{key}={value}", why=LIMITED)

    def _specified(self, text: str) -> str:
        """Put in what systemd's specifiers stand for, as far as the name of the unit says it."""
        name, _, instance = self.path.stem.partition("@")
        known = {"%": "%", "p": name, "N": self.path.stem, "n": self.path.name, "t": "/run", "S": "/var/lib"}
        known |= {"i": instance or "${instance?}", "I": instance or "${instance?}", "h": "~", "u": "${user?}"}
        return _SPECIFIER.sub(lambda match: known.get(match[1], match[0]), text)

    def commands(self, dropins: tuple[Path, ...]) -> Iterator[DeploymentCommand]:
        """Yield what it starts. Variables of files go before those of ``Environment=``."""
        variables, lacks, read = dict(self.environment), [], []
        for file, line, named in self.files:
            found = by_last_parts(self._specified(named.lstrip("-")), (self.path.parent, self.root), Path.is_file)
            found = found or self._packaged(Path(named))
            more = variables_of(found, {}) if found and found.is_relative_to(self.root) else None
            variables |= more or {}
            if found and more is not None:
                read.append(found)
            else:
                what = f"EnvironmentFile={named}"
                lacks.append(NotTaken(file=file, line=line, what=what, why=NO_FILE, weight=Weight.VARIABLES))
        for file, line, value in self.started:
            # what stands before the program says how to run it
            signs = re.match(r"[@:+!|-]*", value)
            assert signs
            words = self._words(value[signs.end() :], variables, is_known=not lacks)
            words = (words[0], *words[2:]) if "@" in signs[0] and len(words) > 1 else words
            yield DeploymentCommand(
                file=file,
                words=words,
                environment=variables,
                env_files=tuple(read),
                line=line,
                folder=self.folder,
                document=self.path,
                documents=(self.path, *dropins),
                not_taken=(*lacks, *self.limits.values()),
            )

    def _packaged(self, named: Path) -> Path | None:
        """Return the file from which packages make ``/etc/default/NAME`` or ``/etc/sysconfig/NAME``."""
        beside = self.path.with_name(f"{named.name}.{named.parent.name}")
        return beside if beside.is_file() else None

    def _words(self, line: str, variables: Mapping[str, str], *, is_known: bool) -> tuple[str, ...]:
        """Return the words of a command; a variable by itself may be several, and one that nobody sets is empty."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            return variables.get(name, "" if is_known else f"${{{name}?}}") if name else "$"

        words = split_words(self._specified(line))
        alone = [re.fullmatch(r"\$(\w+)", word) for word in words]
        put_in = [_VARIABLE.sub(value, word) for word in words]
        return tuple(
            part for word, whole in zip(put_in, alone, strict=True) for part in (word.split() if whole else (word,))
        )
