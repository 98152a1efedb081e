"""Read the commands that a project's deployment files start, with one reader for each kind of file.

Procfile, Dockerfile and the scripts it starts, compose and platform files, Kubernetes, pyproject.toml's tasks,
configurations of gunicorn, uWSGI and supervisor, systemd's units, .flaskenv and .quartenv.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..project_files import is_exported, listed, loaded, table_in
from .code import parse
from .code_starts import development_call, started_by_code
from .compose import compose_commands
from .deployment_command import (
    OPEN,
    DeploymentCommand,
    assignments,
    for_shell,
    instances_of,
    joined_lines,
    literal,
    located,
    split_words,
    text_of,
    variables_of,
)
from .images import Image, container_commands, dockerfile_commands, image_at
from .kubernetes import is_manifest, kubernetes_commands
from .served_app import APP_VARIABLES
from .systemd import systemd_commands

__all__ = ["DeploymentCommand", "commands_of_file", "deployment_commands", "is_worker"]

_COMMANDS = ("cmd", "run_command", "start", "startCommand", "dockerCommand", "entrypoint", "command", "web")
_VARIABLES = ("environment", "env", "env_variables", "envVars", "envs")
_INSTANCES = ("numInstances", "numReplicas", "instance_count", "instances")
_WORKERS = "WEB_CONCURRENCY"
_DOCKERFILES = ("dockerfilePath", "dockerfile_path")
_NO_WEB = ("worker", "release", "beat", "clock", "cron", "celery")
"""First words in the names of processes and services that serve no visitors."""
_ANY_NAME = ("*", "*.y*ml")
_BUILDPACK = re.compile(r"(?<!\S)bin/start-(\w+)(?:-\w+)?(?:\s+-\w+)*(?=\s)")
"""Programs of Heroku buildpacks that start the command behind them, such as ``bin/start-nginx``."""
_ENV = re.compile(r"%\(ENV_(\w+)\)s")


def deployment_commands(folder: Path, *, wide: bool = False) -> tuple[DeploymentCommand, ...]:
    """Return the commands that deployment files in ``folder`` and its folders for deployment start, each once.

    A ``wide`` search includes the folders in which parts of a larger project have deployment files. A file that
    cannot be read, or does not hold what its name says, is ignored.
    """
    commands: dict[tuple[Path | None, Path, tuple[str, ...]], DeploymentCommand] = {}
    for patterns, read, further in _READERS:
        files = _files(folder, f"{patterns} {further if wide else ''}")
        for command in read(files, folder) if files or read is kubernetes_commands else ():
            if command.words:
                # the same words in another document are another deployment
                commands.setdefault((command.document, command.file, command.words), command)
    return tuple(map(located, commands.values()))


def _files(folder: Path, patterns: str) -> list[Path]:
    files = (path for pattern in patterns.split() for path in sorted(folder.glob(pattern)))
    return [path for path in dict.fromkeys(files) if not is_exported(path) and path.is_file()]


def commands_of_file(path: Path, root: Path) -> tuple[DeploymentCommand, ...]:
    """Return the commands that the file at ``path`` of the project at ``root`` starts.

    The file may have any name: name and content together decide how it is read.
    """
    text = text_of(path)
    named = ((read, each, each.rpartition("/")[2]) for patterns, read, _ in _READERS for each in patterns.split())
    # a name that says nothing counts with its folder
    read = next((read for read, each, name in named if path.match(each if name in _ANY_NAME else name)), None)
    if is_manifest(path):
        read = kubernetes_commands
    elif re.search(r"^[ \t]*WSGIScriptAlias\s", text, re.MULTILINE):
        read = _each(_httpd)
    elif read is None and re.search(r"^services:", text, re.MULTILINE):
        read = compose_commands
    elif read is None:
        read = _each(_script) if text.startswith("#!") else _BY_SUFFIX.get(path.suffix, _each(_procfile))
    return tuple(located(command) for command in read([path], root) if command.words)


def is_worker(command: DeploymentCommand) -> bool:
    """Tell whether the name of the command's service says that it serves no visitors, as ``worker`` does."""
    return command.service.startswith(_NO_WEB)


def _procfile(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read ``web: gunicorn app:app`` with variables and instances of ``app.json``; workers are left out."""
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


def _platform(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read the values of keys such as ``startCommand``, wherever they stand, with the variables beside them."""
    document = loaded(path, text)
    waiting: list[tuple[object, Mapping[str, str]]] = [(document, {})]
    for node, around in waiting:
        if isinstance(node, list):
            waiting += [(inner, around) for inner in node]
        if not isinstance(node, dict) or str(node.get("type", "")).startswith(_NO_WEB):
            continue
        environment = {**around, **_variables(node)}
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


def _heroku(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read heroku.yml: its processes replace the commands of the images that it builds.

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


def _fly(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read fly.toml: its processes replace the image's command, ``[env]`` overrides the image's variables."""
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
    """Return the image of the Dockerfile that the file at ``path`` names, or of the usual Dockerfile beside it."""
    return image_at(path.parent / str(dockerfile or "Dockerfile"), str(target or ""), given)


def _words(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return split_words(value) if isinstance(value, str) else None


def _variables(node: object) -> dict[str, str]:
    """Return the variables of a node, which are a table, or a list of tables with key and value.

    The value is ``OPEN`` if the file does not say it.
    """
    known: dict[str, str] = {}
    for said in (table_in(node).get(key) for key in _VARIABLES):
        if isinstance(said, dict):
            for name, value in said.items():
                known[str(name)] = literal(value.get("value", OPEN) if isinstance(value, dict) else value)
        for entry in said if isinstance(said, list) else ():
            match entry:
                case {"scope": "BUILD_TIME"}:
                    pass
                case {"fromGroup": _}:
                    known[_WORKERS] = OPEN
                case {"key": name, "value": value} | {"name": name, "value": value}:
                    known[str(name)] = literal(value)
                case {"key": name}:
                    known[str(name)] = OPEN
    return known


def _pyproject(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read [tool.fastapi] entrypoint, and the tasks of task runners."""
    tool = table_in(loaded(path, text), "tool")
    if isinstance(entrypoint := table_in(tool, "fastapi").get("entrypoint"), str):
        yield DeploymentCommand(file=path, words=("fastapi", "run", "--entrypoint", entrypoint))
    for runner, key in (("pdm", "scripts"), ("poe", "tasks"), ("taskipy", "tasks"), ("rye", "scripts")):
        for task in table_in(tool, runner, key).values():
            line = task.get("cmd") if isinstance(task, dict) else task
            if isinstance(line, str):
                yield DeploymentCommand(file=path, words=split_words(line))


def _flaskenv(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read FLASK_APP of .flaskenv, or QUART_APP of .quartenv."""
    program = path.name.removeprefix(".").removesuffix("env")
    if app := (variables_of(path, {}) or {}).get(APP_VARIABLES[program]):
        yield DeploymentCommand(file=path, words=(program, "--app", app, "run"))


def _ini(path: Path, text: str) -> Iterator[DeploymentCommand]:
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
                umask=options.get("umask") or "",
                instances=instances_of(options.get("numprocs")),
                service=section.partition(":")[2],
            )
        if section == "uwsgi":
            words = (word for key, value in options.items() for word in (f"--{key}", value or ""))
            yield DeploymentCommand(file=path, words=("uwsgi", *words))


def _httpd(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read Apache hosts that serve an app by mod_wsgi, as an equivalent command of ``mod_wsgi-express``.

    Source: mod_wsgi's documentation of WSGIDaemonProcess: the default is one process with 15 threads.
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


def _gunicorn(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read wsgi_app, chdir and worker_class of gunicorn.conf.py, if they are literal strings."""
    tree = parse(path)
    settings = {
        target.id: node.value.value
        for node in (tree.body if tree else ())
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }
    if "wsgi_app" in settings:
        flags = {"chdir": "--chdir", "worker_class": "--worker-class"}
        given = [word for key, flag in flags.items() if key in settings for word in (flag, settings[key])]
        yield DeploymentCommand(file=path, words=("gunicorn", *given, settings["wsgi_app"]))


def _python(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read gunicorn's own file, or a program that starts a server."""
    yield from _gunicorn(path, text)
    program = DeploymentCommand(file=path, words=("python", path.name), line=1)
    if any(started_by_code(program, path)) or development_call(path) is not None:
        yield program


def _script(path: Path, text: str) -> Iterator[DeploymentCommand]:
    yield DeploymentCommand(file=path, words=(f"./{path.name}",))


def _line(path: Path, text: str) -> Iterator[DeploymentCommand]:
    """Read a file that holds the command alone. Source: Azure App Service, "Configure a Linux Python app"."""
    yield DeploymentCommand(file=path, words=for_shell(text.strip()))


_Reader = Callable[[Sequence[Path], Path], Iterator[DeploymentCommand]]
"""Function that yields the commands of files, read together if they belong together, of the project in a folder."""


def _each(read: Callable[[Path, str], Iterator[DeploymentCommand]]) -> _Reader:
    return lambda files, _: (command for path in files for command in read(path, text_of(path)))


_READERS: tuple[tuple[str, _Reader, str], ...] = (
    ("pyproject.toml", _each(_pyproject), ""),
    ("Procfile", _each(_procfile), "*/Procfile"),
    ("gunicorn.conf.py */gunicorn.conf.py", _each(_gunicorn), ""),
    (
        "Dockerfile Containerfile *.[Dd]ockerfile Dockerfile[._-]* docker*/**/Dockerfile* "
        "docker*/**/*.[Dd]ockerfile container*/**/*[Dd]ockerfile container*/**/Containerfile "
        "compose/**/Dockerfile deploy*/**/Dockerfile",
        _each(dockerfile_commands),
        "*/Dockerfile */docker*/**/Dockerfile*",
    ),
    (
        "*compose*.y*ml production.y*ml docker*/**/*compose*.y*ml deploy*/**/*compose*.y*ml "
        "container*/**/*compose*.y*ml",
        compose_commands,
        "*/*compose*.y*ml */docker*/**/*compose*.y*ml",
    ),
    ("", kubernetes_commands, ""),
    ("app.y*ml render.y*ml railway.toml railway.json .do/*.y*ml", _each(_platform), ""),
    ("heroku.yml", _each(_heroku), ""),
    ("fly.toml fly.*.toml", _each(_fly), ""),
    (
        "uwsgi.ini */uwsgi.ini supervisor*.conf */supervisor*.conf */*/supervisor*.conf supervisor/*.conf "
        "deploy*/*.conf deploy*/supervisor*/*.conf",
        _each(_ini),
        "",
    ),
    ("*.service */*.service */systemd/*.service */*/systemd/*.service deploy*/**/*.service", systemd_commands, ""),
    (
        "*.conf */*.conf *apache*/**/*.conf deploy*/**/*.conf sites-*/* */sites-*/* *.vhost */*.vhost",
        _each(_httpd),
        "",
    ),
    (".flaskenv .quartenv", _each(_flaskenv), ""),
    ("start.sh startup.sh", _each(_script), ""),
    ("startup.txt", _each(_line), ""),
)
"""Name patterns of files, their reader, and further patterns for the parts of a larger project."""

_BY_SUFFIX: Mapping[str, _Reader] = {
    **dict.fromkeys((".yml", ".yaml", ".json", ".toml"), _each(_platform)),
    ".ini": _each(_ini),
    ".py": _each(_python),
    ".sh": _each(_script),
}
