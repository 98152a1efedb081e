"""Read the commands of compose services, merged as compose does: overlays, ``extends``, ``.env``.

Source: the Compose Specification, chapters 12 (interpolation) to 15 (profiles). Only variables from files are used:
this machine's variables are not those of the deployment's machine.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from ...stacks.native_files import Omission, Weight
from ..project_files import Table, Tagged, line_of, listed, loaded, table_in
from .deployment_command import (
    LIMITED,
    NO_FILE,
    DeploymentCommand,
    instances_of,
    interpolated,
    line_with,
    literal,
    split_words,
    text_of,
    variables_of,
)
from .images import Image, assumed_image, container_commands, image_at

_DEFAULTS = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_OVERRIDES = tuple(
    f"{name}.override.{suffix}" for name in ("compose", "docker-compose") for suffix in ("yml", "yaml")
)
_AT = "\0at"
"""Key in a service for the file and line of each of its other keys."""
_OMISSIONS = "\0lacks"
"""Key in a service for its omissions, such as a missing ``env_file``."""
_LIMITS = ("cpus", "cpu_quota", "cpuset", "mem_limit", "mem_reservation", "cpu_count")
_MADE = "Stackrace does not follow it: give --current the file that docker compose config prints"
_RAW = "Stackrace does not read its format"
_LEFT = "with it they start no server of production, so it is left out"
_ENDS = frozenset({";", "&&", "||", "|", "&"})
"""Words at which compose cuts a command, since no shell runs it."""

_Service = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class _Model:
    files: tuple[Path, ...]
    """Files as ``docker compose -f`` would name them."""
    document: Path
    """The file of these by which people know the deployment."""
    root: Path
    """The project's folder: no file outside it is read."""
    is_second: bool = False
    """True if compose without ``-f`` would read further files."""
    services: dict[str, _Service] = field(default_factory=dict)
    """Services by name: commands are lists of words, variables are tables, paths are complete."""
    read: list[Path] = field(default_factory=list)
    """All files that were read, including those of ``extends``."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of ``.env``."""
    profiles: frozenset[str] = frozenset()
    """Active compose profiles."""
    omissions: list[Omission] = field(default_factory=list)
    """Includes and unused overrides, which concern all services."""

    def has(self, path: Path) -> bool:
        """Tell whether ``path`` is a file of the project."""
        return path.is_relative_to(self.root) and path.is_file()


def compose_commands(files: Sequence[Path], root: Path) -> Iterator[DeploymentCommand]:
    """Yield the commands of the services in compose files; files that compose reads together are merged."""
    for model in models_of(files, root):
        hosts = dict(pair for name, service in model.services.items() for pair in _hosts(name, service))
        images = {name: _image(model, name, service) for name, service in model.services.items()}
        others = frozenset(name for name, image in images.items() if image.path is None)
        for name, service in model.services.items():
            for command in _of_service(model, name, service, images[name]):
                yield replace(command, hosts=hosts, others=others)


def _hosts(name: str, service: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a host name and the service that it reaches: the service's own names, and its links."""
    networks = table_in(service, "networks").values()
    aliases = [str(alias) for each in networks for alias in listed(table_in(each).get("aliases"))]
    yield from ((alias, name) for alias in (name, str(service.get("container_name") or name), *aliases))
    for link in listed(service.get("links")):
        other, colon, alias = str(link).partition(":")
        yield alias if colon else other, other


def _of_service(model: _Model, name: str, service: Mapping[str, Any], image: Image) -> Iterator[DeploymentCommand]:
    at = service[_AT]
    profiles = [str(each) for each in listed(service.get("profiles"))]
    command = DeploymentCommand(
        file=model.document,
        environment=service["environment"],
        env_files=tuple(Path(str(entry["path"])) for entry in service.get("env_file") or ()),
        folder=str(service.get("working_dir") or image.folder),
        service=" ".join((name, *profiles)),
        instances=instances_of(table_in(service, "deploy").get("replicas", service.get("scale"))),
        document=model.document,
        documents=tuple(model.read),
        omissions=(*model.omissions, *service.get(_OMISSIONS, ()), *_held(service, model.document)),
        rank=2 * model.is_second + bool(profiles and not model.profiles & set(profiles)),
    )
    places = [at[key] for key in ("command", "entrypoint") if service.get(key) is not None and key in at]
    command = replace(command, file=places[0][0], line=places[0][1]) if places else command
    yield from container_commands(command, image, service.get("entrypoint"), service.get("command"))


def _held(service: Mapping[str, Any], file: Path) -> Iterator[Omission]:
    limits = table_in(service, "deploy", "resources", "limits")
    said = [(key, key, service[key]) for key in _LIMITS if service.get(key)]
    said += [(key, "deploy", limits[key]) for key in ("cpus", "memory") if limits.get(key)]
    for key, outer, value in said:
        file, first = service[_AT].get(outer, (file, 0))
        pattern = rf"{re.escape(key)}.*{re.escape(str(value))}"
        line = line_with(pattern, text_of(file), max(first, 1)) or first
        yield Omission(file=file, line=line, what=f"{key}: {value}", why=LIMITED)


def _image(model: _Model, name: str, service: Mapping[str, Any]) -> Image:
    """Return the image that a service builds, or that another service builds under the same image name."""
    build, image = service.get("build"), str(service.get("image") or "")
    if not isinstance(build, dict):
        same = (each.get("build") for each in model.services.values() if image and each.get("image") == image)
        build = next((each for each in same if isinstance(each, dict)), None)
    if build is None:
        at = service[_AT].get("image", (model.document, 0))
        words = service.get("command") or service.get("entrypoint")
        assumed = assumed_image(image, name, model.root, at, model.document.parent, has_words=bool(words))
        # if another service builds the assumed Dockerfile, this image is somebody else's
        built = [_dockerfile(model, each["build"]) for each in model.services.values() if each.get("build")]
        return Image() if assumed.path in built else assumed
    dockerfile = _dockerfile(model, build)
    if not model.has(dockerfile):
        return Image()
    return image_at(dockerfile, str(build.get("target") or ""), build.get("args"))


def _dockerfile(model: _Model, build: Mapping[str, Any]) -> Path:
    context = Path(str(build.get("context") or model.document.parent))
    return Path(os.path.normpath(context / str(build.get("dockerfile") or "Dockerfile")))


def models_of(files: Iterable[Path], root: Path) -> list[_Model]:
    """Return the models of the compose ``files``; files that compose reads together are one model.

    A file that only adds to services of the default file is read as an overlay. A file that others extend has no
    model of its own.
    """
    models = [
        model
        for folder in dict.fromkeys(file.parent for file in files)
        for model in _of_folder(folder, files, root)
    ]
    parts = {part for model in models for part in model.read if part not in model.files}
    return [model for model in models if model.document not in parts]


def _of_folder(folder: Path, files: Iterable[Path], root: Path) -> Iterator[_Model]:
    default, override = _first(folder, _DEFAULTS), _first(folder, _OVERRIDES)
    together = tuple(filter(None, (default, override))) if default else ()
    if together:
        yield _model(together, root)
    if default and override:
        alone = _model((default,), root, is_second=True)
        alone.omissions.append(Omission(file=override, line=0, what="overrides the services", why=_LEFT))
        yield alone
    base = default or (_first(folder.parent, _DEFAULTS) if folder.is_relative_to(root) and folder != root else None)
    for file in files:
        if file.parent == folder and file not in (*together, default, override):
            whole = _model((file,), root)
            is_overlay = base is not None and _is_overlay(whole, _model((base,), root))
            yield _model((base, file), root, file) if base and is_overlay else whole


def _first(folder: Path, names: Iterable[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _is_overlay(model: _Model, base: _Model) -> bool:
    """Tell whether ``model`` has a service without ``image`` and ``build`` that ``base`` has, too."""
    return any(
        not service.keys() & {"image", "build"} and name in base.services
        for name, service in model.services.items()
    )


def _model(files: tuple[Path, ...], root: Path, document: Path | None = None, *, is_second: bool = False) -> _Model:
    model = _Model(files=files, document=document or files[0], root=root, is_second=is_second)
    folder = files[0].parent
    model.variables = variables_of(folder / ".env", {}) or {}
    model.profiles = frozenset(filter(None, model.variables.get("COMPOSE_PROFILES", "").split(",")))
    if named := model.variables.get("COMPOSE_FILE") if document is None and not is_second else None:
        model.omissions.append(_omission(folder / ".env", 0, f"COMPOSE_FILE={named}", why=_MADE))
    services: dict[str, Any] = {}
    for file in files:
        whole, read = _services(model, file, folder)
        if whole.get("include"):
            model.omissions.append(_omission(file, line_of(whole, "include"), "include", Weight.PLAIN, _MADE))
        _merge(services, {name: _whole(model, name, read, file, ()) for name in read})
    model.services = {name: service for name, service in services.items() if isinstance(service, dict)}
    for service in model.services.values():
        _take_variables(model, service)
    return model


def _take_variables(model: _Model, service: _Service) -> None:
    """Add the variables of ``env_file`` to a service's ``environment``; ``.env`` gives missing values, if any."""
    variables: dict[str, Any] = {}
    for entry in service.get("env_file") or ():
        path = Path(str(entry["path"]))
        is_read = model.has(path) and not entry.get("format")
        more = variables_of(path, {**model.variables, **variables}) if is_read else None
        if more is None and entry.get("required") is not False:
            file, line = service[_AT].get("env_file", (model.files[0], 0))
            what, why = f"env_file {os.path.relpath(path, model.root)}", _RAW if entry.get("format") else NO_FILE
            omit = _omission(file, line, what, Weight.VARIABLES, why)
            service.setdefault(_OMISSIONS, []).append(omit)
        variables |= more or {}
    for name, value in (service.get("environment") or {}).items():
        variables[name] = model.variables.get(name) if value is None else value
    service["environment"] = {name: value for name, value in variables.items() if value is not None}


def _omission(file: Path, line: int, what: str, weight: Weight = Weight.SIZE, why: str = NO_FILE) -> Omission:
    return Omission(file=file, line=line, what=what, why=why, weight=weight)


def _services(model: _Model, file: Path, folder: Path) -> tuple[Table, dict[str, Any]]:
    """Return the document of ``file`` and its services, unmerged; relative paths start at ``folder``."""
    if file not in model.read:
        model.read.append(file)
    document = loaded(file, text_of(file))
    if not isinstance(document, Table):
        return Table(), {}
    # files of the first version have services only
    services = document.get("services") if "services" in document else document
    return document, {
        str(name): _normal(service, file, folder, model.variables)
        for name, service in (services.items() if isinstance(services, dict) else ())
        if isinstance(service, dict | Tagged) or (service is None and services is not document)
    }


def _normal(service: object, file: Path, folder: Path, known: Mapping[str, str]) -> object:
    """Return a service, or its part under a YAML tag, in its long form and with variables replaced."""
    if isinstance(service, Tagged):
        return Tagged(service.tag, _normal(service.value, file, folder, known))
    if not isinstance(service, dict):
        return None
    made: _Service = {_AT: {}}
    for key, value in service.items():
        value = _put_in(value, known)
        form = _FORMS.get(key, lambda plain, _: plain)
        where = file.parent if key == "extends" else folder
        made[key] = Tagged(value.tag, form(value.value, where)) if isinstance(value, Tagged) else form(value, where)
        made[_AT][key] = (file, line_of(service, key))
    return made


def _put_in(value: Any, known: Mapping[str, str]) -> Any:
    match value:
        case str():
            return interpolated(value, known)
        case Tagged(tag=tag, value=inner):
            return Tagged(tag, _put_in(inner, known))
        case list():
            return [_put_in(each, known) for each in value]
        case dict():
            return {key: _put_in(each, known) for key, each in value.items()}
    return value


def _whole(
    model: _Model,
    name: str,
    services: Mapping[str, Any],
    file: Path,
    seen: tuple[object, ...],
) -> object:
    service = services.get(name)
    named = service.get("extends") if isinstance(service, dict) else None
    if not isinstance(service, dict) or not isinstance(named, dict) or (file, name) in seen:
        return service
    rest = {key: value for key, value in service.items() if key != "extends"}
    other, base = file, services
    if named.get("file"):
        other = Path(os.path.normpath(named["file"]))
        if not model.has(other):
            what = f"extends {os.path.relpath(other, file.parent)}"
            return {**rest, _OMISSIONS: [_omission(file, service[_AT]["extends"][1], what)]}
        base = _services(model, other, other.parent)[1]
    below = _whole(model, str(named.get("service")), base, other, (*seen, (file, name)))
    return _merge(copy.deepcopy(below), rest) if isinstance(below, dict) else rest


def _merge(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge ``over`` into ``base``: tables by key, lists appended; the words of a command are replaced."""
    for key, value in over.items():
        below = base.get(key)
        if isinstance(value, Tagged):
            if value.tag == "!reset":
                base.pop(key, None)
            else:
                base[key] = _untagged(value.value)
        elif isinstance(value, dict):
            base[key] = _merge(below if isinstance(below, dict) else {}, value)
        elif isinstance(value, list) and isinstance(below, list) and key not in ("command", "entrypoint"):
            base[key] = [*below, *value]
        elif value is not None or not isinstance(below, dict):
            base[key] = value
    return base


def _untagged(value: Any) -> Any:
    return _merge({}, value) if isinstance(value, dict) else value


def _command(value: object, _: Path) -> list[str] | None:
    if isinstance(value, str):
        return list(takewhile(lambda word: word not in _ENDS, split_words(value)))
    return [str(word) for word in value] if isinstance(value, list) else None


def _build(value: object, folder: Path) -> object:
    table: dict[str, Any] = dict(value) if isinstance(value, dict) else {"context": value}
    if not isinstance(table.get("context", "."), str):
        return None
    if "context" in table:
        table["context"] = os.path.normpath(folder / table["context"])
    return {**table, "args": _table(table["args"], folder)} if table.get("args") else table


def _table(value: object, _: Path) -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            str(name): each if each is None or isinstance(each, Tagged) else literal(each)
            for name, each in value.items()
        }
    pairs = [str(each).partition("=") for each in listed(value)]
    return {name: each if equals else None for name, equals, each in pairs}


def _env_files(value: object, folder: Path) -> list[dict[str, object]]:
    entries = [each if isinstance(each, dict) else {"path": each} for each in listed(value)]
    return [{**each, "path": os.path.normpath(folder / str(each.get("path")))} for each in entries]


def _extended(value: object, folder: Path) -> dict[str, Any]:
    table = dict(value) if isinstance(value, dict) else {"service": value}
    return {**table, "file": os.path.normpath(folder / str(table["file"])) if table.get("file") else ""}


_FORMS = {
    "build": _build,
    "command": _command,
    "entrypoint": _command,
    "env_file": _env_files,
    "environment": _table,
    "extends": _extended,
    "labels": _table,
}
"""Functions that return the longest form of a value, for the keys that have several forms."""
