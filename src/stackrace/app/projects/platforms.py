"""Commands in files of hosting platforms and of process managers.

Procfile, fly.toml, render.yaml, programs of supervisor, units of systemd, options of uWSGI, hosts of Apache.
"""

from __future__ import annotations

import configparser
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ...base.files import by_last_parts
from ...stacks.native_options import NotTaken, Weight
from ..project_files import listed, loaded, table_in
from .deployment_command import (
    LIMITED,
    NO_FILE,
    OPEN,
    DeploymentCommand,
    assignments,
    for_shell,
    instances_of,
    joined_lines,
    literal,
    split_words,
    text_of,
    variables_of,
)
from .images import Image, container_commands, image_at

_COMMANDS = ("cmd", "run_command", "start", "startCommand", "dockerCommand", "entrypoint", "command", "web")
_VARIABLES = ("environment", "env", "env_variables", "envVars", "envs")
_INSTANCES = ("numInstances", "numReplicas", "instance_count", "instances")
_WORKERS = "WEB_CONCURRENCY"
_DOCKERFILES = ("dockerfilePath", "dockerfile_path")
_NO_WEB = ("worker", "release", "beat", "clock", "cron", "celery")
"""How the names of processes begin that answer no requests."""
_BUILDPACK = re.compile(r"(?<!\S)bin/start-(\w+)(?:-\w+)?(?:\s+-\w+)*(?=\s)")
"""What buildpacks of Heroku's start before the command behind it."""


def procfile_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``web: gunicorn app:app``, with what ``app.json`` beside it says; a worker is left out."""
    described = path.with_name("app.json")
    manifest = loaded(described, text_of(described))
    # Heroku says how many fit into a dyno: Dev Center, "Optimizing Python Application Concurrency"
    environment = {_WORKERS: OPEN, **_variables(manifest)} if isinstance(manifest, dict) else {}
    for line in text.splitlines():
        name, colon, words = line.partition(":")
        if colon and not name.strip().startswith(("#", *_NO_WEB)):
            fronts = _BUILDPACK.findall(words)
            if fronts and not (path.parent / "bin" / f"start-{fronts[0]}").is_file():
                words = _BUILDPACK.sub("", words)
            yield DeploymentCommand(
                file=path,
                words=for_shell(words.strip()),
                fronts=tuple(fronts),
                environment=environment,
                instances=instances_of(table_in(manifest, "formation", name.strip()).get("quantity")),
                documents=(described,) if environment else (),
            )


def platform_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``startCommand``, wherever they stand, with the variables beside them."""
    document = loaded(path, text)
    groups = {str(table_in(each).get("name")): each for each in listed(table_in(document).get("envVarGroups"))}
    waiting: list[tuple[object, Mapping[str, str]]] = [(document, {})]
    for node, around in waiting:
        if isinstance(node, list):
            waiting += [(inner, around) for inner in node]
        if not isinstance(node, dict) or str(node.get("type", "")).startswith(_NO_WEB):
            continue
        environment = {**around, **_variables(node, groups)}
        waiting += [(inner, environment) for key, inner in node.items() if not str(key).startswith(_NO_WEB)]
        number = next((instances_of(node[key]) for key in _INSTANCES if node.get(key)), 1)
        base = DeploymentCommand(
            file=path,
            environment=environment,
            instances=number,
            document=path,
            service=str(node.get("name", "")),
        )
        lines = [line for key in _COMMANDS if isinstance(line := node.get(key), str)]
        for line in lines:
            yield replace(base, words=for_shell(line))
        docker = next((node[key] for key in _DOCKERFILES if node.get(key)), None)
        if not lines and (docker or "docker" in (node.get("runtime"), node.get("env"))):
            yield from container_commands(base, _image(path, docker), None, None)


def heroku_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read heroku.yml: its processes in place of what the images start that it builds.

    Source: Heroku Dev Center, "Building Docker Images with heroku.yml".
    """
    document = loaded(path, text)
    images, run = table_in(document, "build", "docker"), table_in(document, "run")
    variables = _variables({"env": table_in(document, "setup").get("config")})
    base = DeploymentCommand(file=path, environment=variables, document=path, documents=(path,))
    for name in dict.fromkeys((*run, *images)):
        process = run.get(name)
        process = process if isinstance(process, dict) else {"command": process}
        made = images.get(str(process.get("image", name))) or images.get(name)
        made = made if isinstance(made, dict) else {"dockerfile": made}
        line = " && ".join(map(str, listed(process.get("command"))))
        if not str(name).startswith(_NO_WEB):
            image = _image(path, made.get("dockerfile"), made.get("target"))
            words = for_shell(line) if line else None
            yield from container_commands(replace(base, service=str(name)), image, words, None)


def fly_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read fly.toml: its processes in place of the image's command, ``[env]`` before the image's variables."""
    document = loaded(path, text)
    build, tried, processes = (table_in(document, key) for key in ("build", "experimental", "processes"))
    image = _image(path, build.get("dockerfile"), build.get("build-target"), build.get("args"))
    base = DeploymentCommand(file=path, environment=_variables(document), document=path, documents=(path,))
    entrypoint = _words(tried.get("exec")) or _words(tried.get("entrypoint"))
    named = [(name, split_words(str(line))) for name, line in processes.items() if not name.startswith(_NO_WEB)]
    started: list[tuple[str, tuple[str, ...] | None]] = [*named] or [("", _words(tried.get("cmd")))]
    for name, words in started:
        yield from container_commands(replace(base, service=name), image, entrypoint, words)


def _image(path: Path, dockerfile: object, target: object = "", given: object = None) -> Image:
    """Return what is built of a Dockerfile that the file at ``path`` names, or of the usual one beside it."""
    return image_at(path.parent / str(dockerfile or "Dockerfile"), str(target or ""), given)


def _words(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return split_words(value) if isinstance(value, str) else None


def _variables(node: object, groups: Mapping[str, object] = MappingProxyType({})) -> dict[str, str]:
    """Return the variables of a node: a table, or tables of key and value; what the file leaves open is unknown.

    Services of a render.yaml name ``groups`` of them.
    """
    known: dict[str, str] = {}
    for said in (table_in(node).get(key) for key in _VARIABLES):
        if isinstance(said, dict):
            for name, value in said.items():
                known[str(name)] = literal(value.get("value", OPEN) if isinstance(value, dict) else value)
        for entry in said if isinstance(said, list) else ():
            match entry:
                case {"fromGroup": group}:
                    known |= _variables(groups.get(str(group)))
                case {"key": name, "value": value} | {"name": name, "value": value}:
                    known[str(name)] = literal(value)
                case {"key": name}:
                    known[str(name)] = OPEN
    return known


def pyproject_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read [tool.fastapi] entrypoint, and the tasks of task runners."""
    tool = table_in(loaded(path, text), "tool")
    if isinstance(entrypoint := table_in(tool, "fastapi").get("entrypoint"), str):
        yield DeploymentCommand(file=path, words=("fastapi", "run", "--entrypoint", entrypoint))
    for runner, key in (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("rye", "scripts")):
        for task in table_in(tool, runner, key).values():
            line = task.get("cmd") if isinstance(task, dict) else task
            if isinstance(line, str):
                yield DeploymentCommand(file=path, words=split_words(line))


def flaskenv_commands(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read FLASK_APP of .flaskenv."""
    app = (variables_of(path, {}) or {}).get("FLASK_APP")
    if app:
        yield DeploymentCommand(file=path, words=("flask", "--app", app, "run"))


_ENV = re.compile(r"%\(ENV_(\w+)\)s")
"""How supervisor calls a variable."""
_LIMITS = frozenset({"CPUQuota", "AllowedCPUs", "CPUAffinity", "MemoryMax", "MemoryHigh", "MemoryLimit"})
_SPECIFIER = re.compile(r"%(.)")
_OF_SYSTEMD = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


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
        words = _expanded(_specified(program, unit), variables, is_known=not lacks)
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


def _expanded(line: str, variables: Mapping[str, str], *, is_known: bool) -> tuple[str, ...]:
    """Return the words of a command; a variable by itself may be several, and one that nobody sets is empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return variables.get(name, "" if is_known else f"${{{name}?}}") if name else "$"

    words = [(word, _OF_SYSTEMD.sub(value, word)) for word in split_words(line)]
    return tuple(
        part for word, made in words for part in (made.split() if re.fullmatch(r"\$\w+", word) else (made,))
    )
